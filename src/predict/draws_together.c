/* draws_together.c: the outputs under many draws in few calls of a backend that makes
 * them at once (backend.h, `draws`); the draws are the same as one by one (draws.c), the
 * method that ensembles use because their draws alternate between members. A slab has as
 * many rows, then as many draws, as SLAB_REALS outputs and weights allow. */
#include <stdlib.h>

#include "base/memory.h"
#include "predict/draws.h"
#include "run/pass.h"

enum { SLAB_REALS = 1 << 26 };

typedef struct slab {
    int64_t rows, draws; /* at most */
    void *memory;        /* the backend's: x, y, theta */
    float *x, *y, *theta;
    float *room; /* the host's side of the larger of x and y */
    xb_pass *pass;
} slab;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

bool xb_draws_together_suit(const xb_draw_slab *job)
{
    const xb_backend *b = job->backend;
    return b->draws && !job->model->member && b->draws_suit(job->model->net);
}

static xb_status open_slab(xb_ctx *ctx, slab *s, const xb_draw_slab *job)
{
    const xb_backend *b = job->backend;
    int64_t params = xb_net_param_count(job->model->net), features = job->model->features;
    s->rows = larger(1, smaller(job->rows->n, SLAB_REALS / job->outputs));
    s->draws = larger(
        1, smaller(job->count, SLAB_REALS / larger(s->rows * job->outputs, params)));
    int64_t x = (s->rows * features + 15) / 16 * 16,
            y = (s->draws * s->rows * job->outputs + 15) / 16 * 16;
    xb_pass_options opt = xb_pass_options_default();
    opt.backend = job->opt->backend;
    opt.batch = 1;
    opt.gradients = false;
    XB_TRY(xb_pass_create(ctx, &s->pass, job->model->net, &opt));
    XB_TRY(
        b->take(b, ctx, &s->memory, (x + y + s->draws * params) * (int64_t)sizeof *s->x));
    s->x = s->memory, s->y = s->x + x, s->theta = s->y + y;
    s->room = xb_new(ctx, larger(x, y), sizeof *s->room);
    return s->room ? XB_OK : XB_E_MEMORY;
}

static void close_slab(slab *s, const xb_backend *b)
{
    xb_pass_destroy(s->pass);
    b->release(b, s->memory);
    free(s->room);
}

/* Where the outputs of draw `d` go, from row `row` on. */
static void hand_out(const xb_draw_slab *job, const float *y, int64_t d, int64_t row,
                     int64_t rows)
{
    int64_t at = (d * job->rows->n + row) * job->outputs, n = rows * job->outputs;
    for (int64_t i = 0; job->raw && i < n; i++) job->raw[at + i] = y[i];
    if (job->value) xb_predict_values(job->model, job->value + at, y, rows);
}

/* Draws first .. first + count - 1 of rows that are in s->x already. */
static xb_status some_draws(xb_ctx *ctx, slab *s, const xb_draw_slab *job, int64_t row,
                            int64_t rows, int64_t first, int64_t count)
{
    const xb_backend *b = job->backend;
    const xb_noise noise = {.sampler = job->sampler,
                            .key = xb_key_make(job->opt->seed, XB_PURPOSE_WEIGHT),
                            .step = XB_PREDICT_STEP,
                            .sample = (uint32_t)(job->first + first),
                            .antithetic = job->opt->antithetic};
    XB_TRY(xb_pass_draws_within(ctx, s->pass, s->y, s->x, s->theta, rows, &job->weights,
                                &noise, count));
    const float *y =
        xb_host_got(b, s->y, s->room, count * rows * job->outputs * (int64_t)sizeof *y);
    XB_TRY(xb_backend_check(b, ctx));
    for (int64_t d = 0; d < count; d++)
        hand_out(job, y + d * rows * job->outputs, first + d, row, rows);
    return XB_OK;
}

static xb_status run_slabs(xb_ctx *ctx, slab *s, const xb_draw_slab *job)
{
    const xb_backend *b = job->backend;
    const int64_t n = job->rows->n, each = job->model->features * (int64_t)sizeof(float);
    for (int64_t row = 0; row < n; row += s->rows) {
        int64_t rows = smaller(s->rows, n - row);
        float *x = xb_host_side(b, s->x, s->room);
        xb_model_take_rows(job->model, x, job->rows, row, rows);
        xb_host_sent(b, s->x, x, rows * each);
        for (int64_t d = 0; d < job->count; d += s->draws)
            XB_TRY(
                some_draws(ctx, s, job, row, rows, d, smaller(s->draws, job->count - d)));
        XB_TRY(xb_progress_tell(ctx, "predicting", row + rows, n));
    }
    return XB_OK;
}

xb_status xb_draws_together(xb_ctx *ctx, const xb_draw_slab *job)
{
    slab s = {0};
    xb_status status = open_slab(ctx, &s, job);
    if (status == XB_OK) status = run_slabs(ctx, &s, job);
    close_slab(&s, job->backend);
    return status;
}
