/* shares.c: how much each weight contributes to a net's spread, by backward passes; maths
 * A1. Each pass uses one draw of all weights under the Gaussian law. */
#include "plan/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "net/layer.h"
#include "predict/hidden.h"

enum { PIECES = 16 };
/* Training counts its steps from 0; densities and predictions take the last two. */
#define PLAN_STEP (UINT32_MAX - 2)

/* Sums over the draws of one piece. */
typedef struct shares_part {
    xb_shares sum;
    double mean, square, given; /* of the conditional means; of the variances */
} shares_part;

typedef struct shares_job {
    const xb_net *net;
    const xb_weights *weights;
    const xb_real *x;
    const xb_plan_options *opt;
    const xb_sampler *sampler;
    xb_output_layer last;
    int64_t width, offset; /* of the last kernel */
    shares_part part[PIECES];
    xb_status status[PIECES];
} shares_job;

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
    room->gradient =
        xb_new(room->ctx, 2 * xb_net_param_count(job->net), sizeof *room->gradient);
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
    int64_t count = xb_net_param_count(job->net);
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

static void add_tensor(xb_shares *sum, const xb_tensor *t, const xb_real *sigma,
                       const xb_real *gradient)
{
    for (int64_t k = t->offset; k < t->offset + t->size; k++) {
        double a = (double)sigma[k] * (double)gradient[k];
        sum->second[k] += a * a;
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

static void run_piece(void *arg, int64_t piece)
{
    shares_job *job = arg;
    shares_part *part = &job->part[piece];
    shares_room room;
    xb_status status = room_make(&room, job);
    int64_t begin = piece * job->opt->weight_draws / PIECES;
    int64_t end = (piece + 1) * job->opt->weight_draws / PIECES;
    for (int64_t s = begin; s < end && status == XB_OK; s++) {
        xb_real y = 0;
        status = one_draw(&y, &room, job, s);
        add_output(part, job, room.gradient);
        for (int i = 0; i < xb_net_tensor_count(job->net); i++) {
            const xb_tensor *t = xb_net_tensor_at(job->net, i);
            if (t->stochastic)
                add_tensor(&part->sum, t, job->weights->sigma, room.gradient);
        }
    }
    job->status[piece] = status;
    room_free(&room);
}

void xb_shares_free(xb_shares *s)
{
    free(s->second);
    *s = (xb_shares){0};
}

static xb_status part_make(xb_ctx *ctx, xb_shares *s, int64_t count)
{
    s->count = count;
    s->second = xb_new(ctx, count, sizeof *s->second);
    return s->second ? XB_OK : XB_E_MEMORY;
}

/* Sums over draws -> means, in part 0. */
static xb_status add_up(xb_ctx *ctx, shares_job *job)
{
    shares_part *all = &job->part[0];
    double n = (double)job->opt->weight_draws;
    for (int p = 0; p < PIECES; p++)
        if (job->status[p] != XB_OK)
            return xb_fail(ctx, job->status[p], "%s", xb_status_text(job->status[p]));
    for (int p = 1; p < PIECES; p++) {
        const shares_part *part = &job->part[p];
        all->mean += part->mean, all->square += part->square, all->given += part->given;
        for (int64_t k = 0; k < all->sum.count; k++)
            all->sum.second[k] += part->sum.second[k];
    }
    for (int64_t k = 0; k < all->sum.count; k++) all->sum.second[k] /= n;
    double mean = all->mean / n;
    all->sum.variance = all->given / n + all->square / n - mean * mean;
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

static xb_status run(xb_ctx *ctx, shares_job *job)
{
    xb_law *gaussian = NULL;
    xb_sampler *sampler = NULL;
    xb_status status = xb_law_parse(ctx, &gaussian, "gaussian");
    if (status == XB_OK) status = xb_sampler_create(ctx, &sampler, gaussian, NULL);
    for (int p = 0; p < PIECES && status == XB_OK; p++)
        status = part_make(ctx, &job->part[p].sum, xb_net_param_count(job->net));
    if (status == XB_OK) {
        job->sampler = sampler;
        xb_parallel_for(ctx, PIECES, run_piece, job);
        status = add_up(ctx, job);
    }
    xb_sampler_destroy(sampler);
    xb_law_destroy(gaussian);
    return status;
}

xb_status xb_shares_make(xb_ctx *ctx, xb_shares *out, const xb_net *net,
                         const xb_weights *weights, const xb_real *x,
                         const xb_plan_options *opt)
{
    XB_TRY(check(ctx, net, weights, opt));
    const xb_layer *last = &net->layer[net->n_layer - 1];
    shares_job job = {.net = net,
                      .weights = weights,
                      .x = x,
                      .opt = opt,
                      .last = xb_output_layer_of(net, weights),
                      .width = last->in.c,
                      .offset = net->tensor[last->tensor].offset};
    xb_status status = run(ctx, &job);
    for (int p = 1; p < PIECES; p++) xb_shares_free(&job.part[p].sum);
    if (status == XB_OK)
        *out = job.part[0].sum;
    else
        xb_shares_free(&job.part[0].sum);
    return status;
}

static double squares(const xb_shares *s, int64_t from, int64_t to)
{
    double sum = 0;
    for (int64_t k = from; k < to; k++) sum += s->second[k] * s->second[k];
    return sum;
}

double xb_shares_n_eff(const xb_shares *s)
{
    return s->variance * s->variance / squares(s, 0, s->count); /* (A1) */
}

double xb_shares_n_eff_of(const xb_shares *s, int64_t from, int64_t to)
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
    xb_shares shares;
    XB_TRY(xb_shares_make(ctx, &shares, net, weights, x, &chosen));
    double value = xb_shares_n_eff(&shares);
    xb_shares_free(&shares);
    if (!isfinite(value))
        return xb_fail(ctx, XB_E_ARGUMENT, "no random weight changes the output here");
    *n_eff = value;
    return XB_OK;
}
