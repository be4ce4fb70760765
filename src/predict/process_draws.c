/* process_draws.c: draws of the Gaussian process beside a net, on top of the net's own
 * (maths P22). Draw s is one function over the inputs, which does not depend on the
 * inputs requested or on threads. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "data/rows.h"
#include "predict/process_draws.h"
#include "vi/process.h"

enum { N = XB_PROCESS_FEATURES, ROWS = 32, STREAM = 1005 };

typedef struct work {
    const xb_process_draws *in;
    const float *e; /* [count][N] */
    float *z;       /* [pieces][ROWS][columns] */
    int64_t pieces;
} work;

static float dot(const float *a, const float *b)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < N; i++) sum += a[i] * b[i];
    return sum;
}

/* (P22) Rows first .. first + rows - 1. */
static void add_rows(const work *w, float *z, int64_t first, int64_t rows)
{
    const xb_process_draws *in = w->in;
    const xb_process *p = in->model->process;
    float psi[ROWS][N];
    xb_model_take_rows(in->model, z, in->rows, first, rows);
    for (int64_t i = 0; i < rows; i++) {
        double phi[N];
        xb_process_features(phi, p, z + i * p->columns);
        xb_process_solve(phi, p);
        for (int j = 0; j < N; j++) psi[i][j] = (float)phi[j];
    }
    const double unit = in->model->y_sd[0];
    for (int64_t s = 0; s < in->count; s++)
        for (int64_t i = 0; i < rows; i++) {
            const int64_t at = s * in->rows->n + first + i;
            const float more = dot(psi[i], w->e + s * N);
            if (in->raw) in->raw[at] += more;
            if (in->value) in->value[at] += unit * (double)more;
        }
}

static void run_piece(void *arg, int64_t piece)
{
    const work *w = arg;
    const int64_t n = w->in->rows->n, end = (piece + 1) * n / w->pieces;
    float *z = w->z + piece * ROWS * w->in->model->features;
    for (int64_t row = piece * n / w->pieces; row < end; row += ROWS)
        add_rows(w, z, row, end - row < ROWS ? end - row : ROWS);
}

/* Normal numbers of draws first, first + 1, ... */
static xb_status fill(xb_ctx *ctx, float *e, const xb_process_draws *in)
{
    xb_law *law = NULL;
    xb_sampler *normal = NULL;
    XB_TRY(xb_law_parse(ctx, &law, "gaussian"));
    xb_status status = xb_sampler_create(ctx, &normal, law, NULL);
    xb_law_destroy(law);
    for (int64_t s = 0; s < in->count && status == XB_OK; s++) {
        const xb_stream where = {.key = xb_key_make(in->seed, XB_PURPOSE_SAMPLE),
                                 .tensor = STREAM,
                                 .sample = (uint32_t)(in->first + s)};
        xb_sampler_fill(normal, e + s * N, N, &where, 0);
    }
    xb_sampler_destroy(normal);
    return status;
}

xb_status xb_process_add(xb_ctx *ctx, const xb_process_draws *in)
{
    const int64_t threads = xb_ctx_threads(ctx), n = in->rows->n;
    work w = {.in = in, .pieces = threads < n ? threads : n};
    float *e = xb_new(ctx, in->count * N, sizeof *e);
    w.z = xb_new(ctx, w.pieces * ROWS * in->model->features, sizeof *w.z);
    w.e = e;
    xb_status status = e && w.z ? fill(ctx, e, in) : XB_E_MEMORY;
    if (status == XB_OK) xb_parallel_for(ctx, w.pieces, run_piece, &w);
    free(e);
    free(w.z);
    return status;
}
