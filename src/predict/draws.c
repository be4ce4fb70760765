/* draws.c: the model's outputs under many draws of its weights (maths P1).
 *
 * The draws are cut into a fixed number of pieces; each has a pass and a context of its
 * own, so results do not depend on how many threads there are. The weights of a small
 * net are drawn once for all inputs, which then go through all layers in tiles that stay
 * in the first cache. Of a large net each layer is drawn when it runs, for a chunk of
 * inputs wide enough that this costs little. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "net/pass.h"
#include "predict/predict.h"
#include "vi/model.h"

enum { PIECES = 16, TILE = 96, CHUNK = 256, SMALL_NET = 1 << 15 }; /* parameters */

typedef struct worker {
    xb_ctx *ctx;
    xb_pass *pass;
    int64_t rows; /* at a time */
    float *out;   /* [rows][outputs] */
    float *theta; /* a small net's weights */
    xb_status status;
} worker;

typedef struct draw_job {
    const xb_model *model;
    const xb_predict_options *opt;
    const xb_sampler *sampler;
    const float *x; /* [n][features] */
    double *value;
    int64_t n, first, count, outputs;
    worker worker[PIECES];
} draw_job;

void xb_predict_values(const xb_model *m, double *value, const float *out, int64_t rows)
{
    int64_t outputs = xb_model_outputs(m);
    if (m->likelihood != XB_LIKELIHOOD_SOFTMAX) {
        for (int64_t i = 0; i < rows; i++)
            value[i] = m->y_mean + m->y_sd * (double)out[i];
        return;
    }
    for (int64_t i = 0; i < rows; i++, out += outputs, value += outputs) {
        double top = (double)out[0], sum = 0;
        for (int64_t k = 1; k < outputs; k++) top = fmax(top, (double)out[k]);
        for (int64_t k = 0; k < outputs; k++) sum += value[k] = exp((double)out[k] - top);
        for (int64_t k = 0; k < outputs; k++) value[k] /= sum;
    }
}

static bool is_small(const xb_net *net) { return xb_net_param_count(net) <= SMALL_NET; }

/* All inputs under draw s. */
static xb_status one_draw(draw_job *job, worker *w, int64_t s)
{
    const xb_model *m = job->model;
    const xb_weights weights = {m->mu, m->sigma, m->state};
    const xb_weights drawn = {w->theta, NULL, m->state};
    const xb_noise noise = {.sampler = job->sampler,
                            .key = xb_key_make(job->opt->seed, XB_PURPOSE_WEIGHT),
                            .step = XB_PREDICT_STEP,
                            .sample = (uint32_t)(job->first + s),
                            .antithetic = job->opt->antithetic};
    if (w->theta) XB_TRY(xb_pass_draw(w->ctx, w->pass, w->theta, &weights, &noise));
    for (int64_t row = 0; row < job->n; row += w->rows) {
        int64_t rows = job->n - row < w->rows ? job->n - row : w->rows;
        XB_TRY(xb_pass_forward(w->ctx, w->pass, w->out, job->x + row * m->features, rows,
                               w->theta ? &drawn : &weights, w->theta ? NULL : &noise,
                               XB_MODE_PREDICT));
        xb_predict_values(m, job->value + (s * job->n + row) * job->outputs, w->out,
                          rows);
    }
    return XB_OK;
}

static void run_piece(void *arg, int64_t piece)
{
    draw_job *job = arg;
    worker *w = &job->worker[piece];
    int64_t begin = piece * job->count / PIECES, end = (piece + 1) * job->count / PIECES;
    for (int64_t s = begin; s < end && w->status == XB_OK; s++)
        w->status = one_draw(job, w, s);
}

static xb_status hire(xb_ctx *ctx, worker *w, const draw_job *job)
{
    const xb_net *net = job->model->net;
    w->rows = is_small(net) ? TILE : CHUNK;
    xb_pass_options opt = xb_pass_options_default();
    opt.backend = job->opt->backend;
    opt.batch = w->rows;
    opt.gradients = false;
    opt.estimator = XB_ESTIMATOR_SHARED;
    w->out = xb_new(ctx, w->rows * job->outputs, sizeof *w->out);
    if (!w->out) return XB_E_MEMORY;
    if (is_small(net)) {
        w->theta = xb_new(ctx, xb_net_param_count(net), sizeof *w->theta);
        if (!w->theta) return XB_E_MEMORY;
    }
    if (xb_ctx_create(&w->ctx) != XB_OK)
        return xb_fail(ctx, XB_E_MEMORY, "not enough memory for a context");
    xb_ctx_set_threads(w->ctx, 1);
    return xb_pass_create(ctx, &w->pass, net, &opt);
}

static void dismiss(worker *w)
{
    xb_pass_destroy(w->pass);
    xb_ctx_destroy(w->ctx);
    free(w->theta);
    free(w->out);
}

static xb_status run_workers(xb_ctx *ctx, draw_job *job)
{
    xb_status status = XB_OK;
    for (int i = 0; i < PIECES && status == XB_OK; i++)
        status = hire(ctx, &job->worker[i], job);
    if (status == XB_OK) xb_parallel_for(ctx, PIECES, run_piece, job);
    for (int i = 0; i < PIECES; i++) {
        worker *w = &job->worker[i];
        if (status == XB_OK && w->status != XB_OK)
            status = xb_fail(ctx, w->status, "%s", xb_ctx_message(w->ctx));
        dismiss(w);
    }
    return status;
}

/* (P3) The aleatoric standard deviation of every input. */
static xb_status noise_sd(xb_ctx *ctx, double *sd, const xb_model *m, const float *x,
                          int64_t n)
{
    if (!m->noise_net) {
        for (int64_t i = 0; i < n; i++) sd[i] = m->y_sd * exp(m->noise_log_sd);
        return XB_OK;
    }
    float raw[CHUNK];
    xb_pass *pass = NULL;
    xb_pass_options opt = xb_pass_options_default();
    opt.batch = CHUNK;
    opt.gradients = false;
    const xb_weights weights = {m->noise_mu, NULL, NULL};
    XB_TRY(xb_pass_create(ctx, &pass, m->noise_net, &opt));
    xb_status status = XB_OK;
    for (int64_t row = 0; row < n && status == XB_OK; row += CHUNK) {
        int64_t rows = n - row < CHUNK ? n - row : CHUNK;
        status = xb_pass_forward(ctx, pass, raw, x + row * m->features, rows, &weights,
                                 NULL, XB_MODE_PREDICT);
        for (int64_t i = 0; status == XB_OK && i < rows; i++)
            sd[row + i] =
                m->y_sd * xb_sd_of(XB_SD_SOFTPLUS, XB_NOISE_LEAST, (double)raw[i]);
    }
    xb_pass_destroy(pass);
    return status;
}

static xb_status check(xb_ctx *ctx, const xb_model *m, const double *x, int64_t n,
                       int64_t first, int64_t count)
{
    if (n < 0 || first < 0 || count < 0 || first + count > UINT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld inputs and %lld draws: expected 0 or more, below 2^32 draws",
                       (long long)n, (long long)count);
    for (int64_t i = 0; i < n * m->features; i++)
        if (!isfinite(x[i]))
            return xb_fail(ctx, XB_E_INPUT, "row %lld, feature %lld is not finite",
                           (long long)(i / m->features + 1),
                           (long long)(i % m->features + 1));
    return XB_OK;
}

static xb_status with_sampler(xb_ctx *ctx, draw_job *job, double *sd)
{
    const xb_model *m = job->model;
    xb_sampler *sampler = NULL;
    const xb_law *law = job->opt->law ? job->opt->law : m->law;
    if (sd && m->likelihood != XB_LIKELIHOOD_SOFTMAX)
        XB_TRY(noise_sd(ctx, sd, m, job->x, job->n));
    if (job->count == 0) return XB_OK;
    XB_TRY(xb_sampler_create(ctx, &sampler, law, NULL));
    job->sampler = sampler;
    xb_status status = run_workers(ctx, job);
    xb_sampler_destroy(sampler);
    return status;
}

xb_status xb_predict_draws(xb_ctx *ctx, double *value, double *sd, const xb_model *model,
                           const double *x, int64_t n, int64_t first, int64_t count,
                           const xb_predict_options *opt)
{
    XB_TRY(check(ctx, model, x, n, first, count));
    float *scaled = xb_new(ctx, n * model->features, sizeof *scaled);
    if (!scaled) return XB_E_MEMORY;
    xb_model_scale_inputs(model, scaled, x, n);
    draw_job job = {.model = model,
                    .opt = opt,
                    .x = scaled,
                    .value = value,
                    .n = n,
                    .first = first,
                    .count = count,
                    .outputs = xb_model_outputs(model)};
    xb_status status = with_sampler(ctx, &job, sd);
    free(scaled);
    return status;
}
