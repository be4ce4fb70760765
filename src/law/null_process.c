/* null_process.c: the empirical process with fitted parameters (Durbin 1973),
 * simulated; maths F7.
 *
 * The unit interval is cut into 1024 cells; white noise on them, minus its
 * projection on the constant and on the scores of the fitted parameters, summed
 * up, is the limiting process. Between grid points the true maximum is higher by
 * 0.5826 standard deviations of a step (Chernoff 1965, Siegmund 1985), which is
 * added. Sixteen runs go side by side, in single precision: errors of 1e-5 of
 * the statistics, against 1e-2 from 4000 runs.
 *
 * 5 % points found: KS 1.348 (exact 1.3581), AD 2.52 (2.492); normal with fitted
 * mean and variance: 0.900 (0.895), 0.757 (0.752). 4000 runs: 11 ms for the noise
 * once, 7 ms a family. */
#include "law/null_process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/philox.h"
#include "law/family.h"

enum { LANES = 16, PIECES = XB_NULL_RUNS / LANES, GRID = XB_NULL_GRID };
enum { TABLE_BITS = 12, TABLE = 1 << TABLE_BITS };

static const float OVERSHOOT = 0.5826f; /* -zeta(1/2) / sqrt(2 pi) */

typedef float lanes[LANES];

/* Normal quantiles at the midpoints of 4096 equal masses, scaled to variance
 * one: a draw is then one look-up. */
static xb_status normal_table(xb_ctx *ctx, float *table)
{
    xb_law *law = NULL;
    XB_TRY(xb_law_create(ctx, &law, "gaussian", NULL, 0));
    double value[TABLE / 2], sum = 0;
    for (int i = 0; i < TABLE / 2; i++) {
        value[i] = xb_law_isf(law, (i + 0.5) / TABLE);
        sum += 2 * value[i] * value[i];
    }
    double scale = sqrt(TABLE / sum);
    for (int i = 0; i < TABLE / 2; i++) {
        table[i] = (float)(-scale * value[i]);
        table[TABLE - 1 - i] = -table[i];
    }
    xb_law_destroy(law);
    return XB_OK;
}

typedef struct draw_task {
    float *z;
    const float *table;
    xb_key key;
} draw_task;

/* Two table indices from each word: its upper and its lower half. */
static void draw_piece(void *arg, int64_t piece)
{
    enum { PER_CALL = 8 };
    const draw_task *task = arg;
    float *z = task->z + piece * GRID * LANES;
    for (int64_t i = 0; i < GRID * LANES; i += PER_CALL) {
        const uint32_t counter[4] = {(uint32_t)(i / PER_CALL), 0, (uint32_t)piece, 0};
        uint32_t word[4];
        xb_philox4x32(word, counter, task->key.word);
        for (int w = 0; w < 4; w++) {
            z[i + 2 * w] = task->table[word[w] >> (32 - TABLE_BITS)];
            z[i + 2 * w + 1] = task->table[(word[w] & 0xffff) >> (16 - TABLE_BITS)];
        }
    }
}

xb_status xb_null_noise_make(xb_ctx *ctx, xb_null_noise *out, uint64_t seed)
{
    float table[TABLE];
    XB_TRY(normal_table(ctx, table));
    float *z = xb_new(ctx, (int64_t)PIECES * GRID * LANES, sizeof *z);
    if (!z) return XB_E_MEMORY;
    draw_task task = {z, table, xb_key_make(seed, XB_PURPOSE_BOOTSTRAP)};
    xb_parallel_for(ctx, PIECES, draw_piece, &task);
    out->z = z;
    return XB_OK;
}

void xb_null_noise_free(xb_null_noise *noise)
{
    free(noise->z);
    noise->z = NULL;
}

static double inner(const double *a, const double *b)
{
    double sum = 0;
    for (int j = 0; j < GRID; j++) sum += a[j] * b[j];
    return sum / GRID;
}

/* Takes the parts along the first `n` columns out, twice for good measure. */
static void orthogonalise(double *v, const xb_null_model *m, int n)
{
    for (int pass = 0; pass < 2; pass++)
        for (int p = 0; p < n; p++) {
            double along = inner(v, m->dual[p]) / inner(m->column[p], m->dual[p]);
            for (int j = 0; j < GRID; j++) v[j] -= along * m->column[p][j];
        }
}

void xb_null_model_start(xb_null_model *model)
{
    model->n = 1;
    for (int j = 0; j < GRID; j++) model->column[0][j] = model->dual[0][j] = 1;
}

void xb_null_model_add(xb_null_model *m, const double *score)
{
    const double nothing = 1e-6; /* of its own size left: already there */
    if (m->n == XB_NULL_COLUMNS) return;
    double *v = m->column[m->n];
    memcpy(v, score, GRID * sizeof *v);
    double before = sqrt(inner(v, v));
    orthogonalise(v, m, m->n);
    double norm = sqrt(inner(v, v));
    if (!(norm > nothing * before)) return;
    for (int j = 0; j < GRID; j++) v[j] /= norm;
    memcpy(m->dual[m->n], v, GRID * sizeof *v);
    m->n++;
}

void xb_null_model_add_other(xb_null_model *m, const double *score,
                             const double *influence)
{
    if (m->n == XB_NULL_COLUMNS) return;
    double *v = m->column[m->n], *d = m->dual[m->n];
    memcpy(v, score, GRID * sizeof *v);
    memcpy(d, influence, GRID * sizeof *d);
    orthogonalise(v, m, m->n);
    orthogonalise(d, m, m->n);
    double size = inner(v, d); /* 1 in the limit: the influence of a mean is x */
    if (!(size > 0)) return;
    for (int j = 0; j < GRID; j++) v[j] /= size;
    m->n++;
}

typedef struct run_task {
    float *ks, *ad;
    const xb_null_noise *noise;
    int n;
    float column[XB_NULL_COLUMNS][GRID]; /* over sqrt(grid) */
    float dual[XB_NULL_COLUMNS][GRID];   /* over grid */
    float weight[GRID];                  /* of W^2 at the right end of each cell */
} run_task;

/* (F7) Sixteen runs. */
static void run_piece(void *arg, int64_t piece)
{
    const run_task *t = arg;
    const lanes *z = (const lanes *)(t->noise->z + piece * GRID * LANES);
    const float step = 1 / sqrtf(GRID);
    lanes c[XB_NULL_COLUMNS] = {{0}}, w = {0}, largest = {0}, sum = {0};
    for (int j = 0; j < GRID; j++)
        for (int p = 0; p < t->n; p++)
            for (int l = 0; l < LANES; l++) c[p][l] += t->dual[p][j] * z[j][l];
    for (int j = 0; j < GRID; j++) {
        for (int l = 0; l < LANES; l++) w[l] += step * z[j][l];
        for (int p = 0; p < t->n; p++)
            for (int l = 0; l < LANES; l++) w[l] -= c[p][l] * t->column[p][j];
        for (int l = 0; l < LANES; l++) {
            float size = fabsf(w[l]);
            largest[l] = size > largest[l] ? size : largest[l];
            sum[l] += t->weight[j] * w[l] * w[l];
        }
    }
    for (int l = 0; l < LANES; l++) {
        t->ks[piece * LANES + l] = largest[l] + OVERSHOOT * step;
        t->ad[piece * LANES + l] = sum[l];
    }
}

xb_status xb_null_run(xb_ctx *ctx, float *ks, float *ad, const xb_null_noise *noise,
                      const xb_null_model *model)
{
    run_task *t = xb_new(ctx, 1, sizeof *t);
    if (!t) return XB_E_MEMORY;
    t->ks = ks, t->ad = ad, t->noise = noise, t->n = model->n;
    for (int p = 0; p < model->n; p++)
        for (int j = 0; j < GRID; j++) {
            t->column[p][j] = (float)(model->column[p][j] / sqrt(GRID));
            t->dual[p][j] = (float)(model->dual[p][j] / GRID);
        }
    for (int j = 0; j + 1 < GRID; j++) {
        double u = (j + 1.0) / GRID;
        t->weight[j] = (float)(1 / (GRID * u * (1 - u)));
    }
    xb_parallel_for(ctx, PIECES, run_piece, t);
    free(t);
    return XB_OK;
}
