/* shares.c: how much each weight contributes to a net's spread, by backward passes; maths
 * A1. Each pass uses one draw of all weights under the Gaussian law.
 *
 * Draws are summed in blocks of a fixed number and the blocks in a binary tree of their
 * numbers (tree.h), so the bytes do not depend on the number of threads. As many blocks
 * are in memory as threads work on, and one more for each doubling beyond. */
#include "plan/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/tree.h"
#include "crossbayes/extend.h"
#include "net/layer.h"
#include "predict/hidden.h"

enum { BLOCK_DRAWS = 64 };
/* Training counts its steps from 0; densities and predictions take the last two. */
#define PLAN_STEP (UINT32_MAX - 2)

/* Sums over the draws of one block or of many. */
typedef struct shares_part {
    double *second;             /* [count] of a_k^2 */
    double mean, square, given; /* of the conditional means; of the variances */
    xb_status status;
} shares_part;

typedef struct shares_job {
    xb_ctx *ctx;
    const xb_net *net;
    const xb_weights *weights;
    const xb_real *x;
    const xb_plan_options *opt;
    const xb_sampler *sampler;
    xb_output_layer last;
    int64_t width, offset; /* of the last kernel */
    int64_t count;         /* parameters */
    int64_t blocks, wide;  /* in all, and at once: a power of two */
    shares_part *part;     /* [parts] */
    int64_t parts;
} shares_job;

/* Blocks first, first + 1, ... into part [0], [1], ... */
typedef struct shares_wave {
    const shares_job *job;
    shares_part *part;
    int64_t first;
} shares_wave;

typedef struct shares_room {
    xb_ctx *ctx;
    xb_pass *pass;
    xb_real *gradient; /* [2][count]: by mu, by sigma */
} shares_room;

static xb_status room_make(shares_room *room, const shares_job *job)
{
    *room = (shares_room){0};
    if (xb_ctx_create(&room->ctx) != XB_OK) return XB_E_MEMORY;
    xb_ctx_set_threads(room->ctx, 1);
    xb_pass_options opt = xb_pass_options_default();
    opt.batch = 1;
    opt.backend = job->opt->backend;
    room->gradient = xb_new(room->ctx, 2 * job->count, sizeof *room->gradient);
    if (!room->gradient) return XB_E_MEMORY;
    return xb_pass_create(room->ctx, &room->pass, job->net, &opt);
}

static void room_free(shares_room *room)
{
    xb_pass_destroy(room->pass);
    xb_ctx_destroy(room->ctx);
    free(room->gradient);
}

/* f and df/dmu of draw s. */
static xb_status one_draw(xb_real *y, shares_room *room, const shares_job *job, int64_t s)
{
    const int64_t count = job->count;
    const xb_noise noise = {.sampler = job->sampler,
                            .key = xb_key_make(job->opt->seed, XB_PURPOSE_WEIGHT),
                            .step = PLAN_STEP,
                            .sample = (uint32_t)s};
    const xb_real one = 1;
    const xb_gradient gradient = {room->gradient, room->gradient + count, NULL};
    memset(room->gradient, 0, (size_t)(2 * count) * sizeof *room->gradient);
    XB_TRY(xb_pass_forward(room->ctx, room->pass, y, job->x, 1, job->weights, &noise,
                           XB_MODE_PREDICT));
    return xb_pass_backward(room->ctx, room->pass, &gradient, &one);
}

static void add_tensor(double *second, const xb_tensor *t, const xb_real *sigma,
                       const xb_real *gradient)
{
    for (int64_t k = t->offset; k < t->offset + t->size; k++) {
        double a = (double)sigma[k] * (double)gradient[k];
        second[k] += a * a;
    }
}

/* Mean and variance of the output given the layers below the last: df/dtheta of the
 * last layer is what theta is multiplied by. */
static void add_output(shares_part *part, const shares_job *job, const xb_real *gradient)
{
    const xb_output_layer *last = &job->last;
    double mean = last->bias_mu, variance = last->bias_sigma * last->bias_sigma;
    for (int64_t k = 0; k < job->width; k++) {
        double h = (double)gradient[job->offset + k], s = (double)last->sigma[k];
        mean += (double)last->mu[k] * h;
        variance += s * s * h * h;
    }
    part->mean += mean, part->square += mean * mean, part->given += variance;
}

static xb_status add_draw(shares_part *part, shares_room *room, const shares_job *job,
                          int64_t s)
{
    xb_real y = 0;
    XB_TRY(one_draw(&y, room, job, s));
    add_output(part, job, room->gradient);
    for (int i = 0; i < xb_net_tensor_count(job->net); i++) {
        const xb_tensor *t = xb_net_tensor_at(job->net, i);
        if (t->stochastic)
            add_tensor(part->second, t, job->weights->sigma, room->gradient);
    }
    return XB_OK;
}

static void run_block(void *arg, int64_t piece)
{
    const shares_wave *wave = arg;
    const shares_job *job = wave->job;
    shares_part *part = &wave->part[piece];
    shares_room room;
    *part = (shares_part){.second = part->second, .status = room_make(&room, job)};
    memset(part->second, 0, (size_t)job->count * sizeof *part->second);
    const int64_t begin = (wave->first + piece) * BLOCK_DRAWS;
    int64_t end = begin + BLOCK_DRAWS;
    if (end > job->opt->weight_draws) end = job->opt->weight_draws;
    for (int64_t s = begin; s < end && part->status == XB_OK; s++)
        part->status = add_draw(part, &room, job, s);
    room_free(&room);
}

static void add_part(void *arg, int64_t to, int64_t from)
{
    const shares_wave *wave = arg;
    shares_part *sum = &wave->part[to];
    const shares_part *part = &wave->part[from];
    sum->mean += part->mean, sum->square += part->square, sum->given += part->given;
    for (int64_t k = 0; k < wave->job->count; k++) sum->second[k] += part->second[k];
    if (sum->status == XB_OK) sum->status = part->status;
}

/* Blocks first .. first + span - 1, those that there are, into part [0]; the parts behind
 * it are overwritten. The span is a power of two, so that it is a tree of its own. */
static void sum_span(const shares_job *job, shares_part *part, int64_t first,
                     int64_t span)
{
    shares_wave wave = {job, part, first};
    int64_t here = job->blocks - first < span ? job->blocks - first : span;
    if (span <= job->wide) {
        xb_parallel_for(job->ctx, here, run_block, &wave);
        xb_tree_add(here, add_part, &wave);
        return;
    }
    sum_span(job, part, first, span / 2);
    if (here <= span / 2) return;
    sum_span(job, part + 1, first + span / 2, span / 2);
    add_part(&wave, 0, 1);
}

void xb_weight_shares_free(xb_weight_shares *s)
{
    free(s->second);
    *s = (xb_weight_shares){0};
}

/* The sums in the first part as means. */
static xb_status finish(xb_weight_shares *out, shares_job *job)
{
    shares_part *all = &job->part[0];
    const double n = (double)job->opt->weight_draws, mean = all->mean / n;
    if (all->status != XB_OK)
        return xb_fail(job->ctx, all->status, "%s", xb_status_text(all->status));
    for (int64_t k = 0; k < job->count; k++) all->second[k] /= n;
    *out = (xb_weight_shares){.count = job->count,
                              .second = all->second,
                              .variance = all->given / n + all->square / n - mean * mean};
    all->second = NULL;
    return XB_OK;
}

static xb_status check(xb_ctx *ctx, const xb_net *net, const xb_weights *weights,
                       const xb_plan_options *opt)
{
    XB_TRY(xb_hidden_check(ctx, net, weights, opt->backend));
    if (opt->weight_draws < 1 || opt->weight_draws > UINT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld weight draws: expected 1 or more",
                       (long long)opt->weight_draws);
    return XB_OK;
}

/* Room for a wave, and for the other half of each span that is wider. */
static xb_status make_parts(shares_job *job, int64_t *span)
{
    const int64_t threads = xb_ctx_threads(job->ctx);
    job->blocks = (job->opt->weight_draws + BLOCK_DRAWS - 1) / BLOCK_DRAWS;
    for (job->wide = 1; job->wide < threads && job->wide < job->blocks;) job->wide *= 2;
    job->parts = job->wide;
    for (*span = job->wide; *span < job->blocks; *span *= 2) job->parts++;
    job->part = xb_new(job->ctx, job->parts, sizeof *job->part);
    for (int64_t i = 0; job->part && i < job->parts; i++) {
        job->part[i].second = xb_new(job->ctx, job->count, sizeof *job->part->second);
        if (!job->part[i].second) return XB_E_MEMORY;
    }
    return job->part ? XB_OK : XB_E_MEMORY;
}

static void free_parts(shares_job *job)
{
    for (int64_t i = 0; job->part && i < job->parts; i++) free(job->part[i].second);
    free(job->part);
}

static xb_status run(xb_weight_shares *out, shares_job *job)
{
    xb_ctx *ctx = job->ctx;
    xb_law *gaussian = NULL;
    xb_sampler *sampler = NULL;
    int64_t span = 0;
    xb_status status = xb_law_parse(ctx, &gaussian, "gaussian");
    if (status == XB_OK) status = xb_sampler_create(ctx, &sampler, gaussian, NULL);
    if (status == XB_OK) status = make_parts(job, &span);
    if (status == XB_OK) {
        job->sampler = sampler;
        sum_span(job, job->part, 0, span);
        status = finish(out, job);
    }
    free_parts(job);
    xb_sampler_destroy(sampler);
    xb_law_destroy(gaussian);
    return status;
}

xb_status xb_weight_shares_make(xb_ctx *ctx, xb_weight_shares *out, const xb_net *net,
                                const xb_weights *weights, const xb_real *x,
                                const xb_plan_options *opt)
{
    XB_TRY(check(ctx, net, weights, opt));
    const xb_layer *last = &net->layer[net->n_layer - 1];
    shares_job job = {.ctx = ctx,
                      .net = net,
                      .weights = weights,
                      .x = x,
                      .opt = opt,
                      .last = xb_output_layer_of(net, weights),
                      .width = last->in.c,
                      .offset = net->tensor[last->tensor].offset,
                      .count = xb_net_param_count(net)};
    return run(out, &job);
}

static double squares(const xb_weight_shares *s, int64_t from, int64_t to)
{
    double sum = 0;
    for (int64_t k = from; k < to; k++) sum += s->second[k] * s->second[k];
    return sum;
}

double xb_weight_shares_n_eff(const xb_weight_shares *s)
{
    return s->variance * s->variance / squares(s, 0, s->count); /* (A1) */
}

double xb_weight_shares_n_eff_of(const xb_weight_shares *s, int64_t from, int64_t to)
{
    double sum = 0;
    for (int64_t k = from; k < to; k++) sum += s->second[k];
    return sum * sum / squares(s, from, to);
}

xb_status xb_plan_find_n_eff(xb_ctx *ctx, double *n_eff, const xb_net *net,
                             const xb_weights *weights, const xb_real *x,
                             const xb_plan_options *opt)
{
    xb_plan_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, plan, &chosen, opt, backend));
    xb_weight_shares shares;
    XB_TRY(xb_weight_shares_make(ctx, &shares, net, weights, x, &chosen));
    double value = xb_weight_shares_n_eff(&shares);
    xb_weight_shares_free(&shares);
    if (!isfinite(value))
        return xb_fail(ctx, XB_E_ARGUMENT, "no random weight changes the output here");
    *n_eff = value;
    return XB_OK;
}
