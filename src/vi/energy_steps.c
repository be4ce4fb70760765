/* energy_steps.c: trains a net until its output is a standard normal, many steps in one
 * call of a backend that has `steps`; maths G1-G4. A single step is xb_pass_step with
 * xb_energy_loss. */
#include <stdlib.h>
#include <string.h>

#include "backend/steps.h"
#include "base/memory.h"
#include "run/chains.h"
#include "vi/adam.h"

enum { STEPS_MOST = 1024 };

void xb_energy_steps_options_init(xb_energy_steps_options *opt, size_t size)
{
    const xb_energy_steps_options standard = {
        .draws = 100, .rate = 1e-3, .count = 1, .total = 10000};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

/* A run of steps; `buffer` holds all that the backend needs. */
typedef struct steps_run {
    xb_ctx *ctx;
    const xb_backend *backend;
    xb_energy_steps_options opt;
    const xb_energy_state *state;
    const xb_net *net;
    int64_t p;
    xb_chain *chain;
    xb_step_tensor *tensor;
    xb_one_step *step;
    xb_step_sums *sums;
    xb_law *law;
    xb_sampler *sampler;
    float *buffer; /* B: [mu][rho], moments [2 p] each, sigma */
    void *room;    /* B */
} steps_run;

static xb_status check(xb_ctx *ctx, const xb_energy_steps_options *o)
{
    const bool good = o->draws >= 2 && o->draws <= INT32_MAX && o->rate > 0 &&
                      o->first >= 0 && o->count >= 1 && o->count <= STEPS_MOST &&
                      o->first <= INT32_MAX && o->first + o->count <= o->total;
    if (good) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "steps %lld to %lld of %lld with %lld draws: expected 1 to %d steps"
                   " within them, and 2 draws or more",
                   (long long)o->first, (long long)(o->first + o->count - 1),
                   (long long)o->total, (long long)o->draws, STEPS_MOST);
}

static xb_adam_options adam_of(const steps_run *w)
{
    xb_adam_options adam = xb_adam_options_default();
    adam.rate = w->opt.rate;
    return adam;
}

static void plan(const steps_run *w)
{
    const xb_schedule falling = {.kind = XB_SCHEDULE_COSINE};
    const xb_adam_options adam = adam_of(w);
    for (int64_t i = 0; i < w->opt.count; i++) {
        const int64_t number = w->opt.first + i;
        const double rate = xb_schedule_at(&falling, number, w->opt.total);
        w->step[i] = (xb_one_step){.rows = w->opt.draws,
                                   .number = (uint32_t)number,
                                   .scale = 1,
                                   .rate = xb_adam_corrected(&adam, number + 1, rate)};
    }
    for (int i = 0; i < xb_net_tensor_count(w->net); i++)
        w->tensor[i] = (xb_step_tensor){
            .moves = true, .random = xb_net_tensor_at(w->net, i)->stochastic};
}

static xb_many_steps steps_of(const steps_run *w)
{
    const xb_adam_options adam = adam_of(w);
    return (xb_many_steps){.chain = w->chain,
                           .tensor = w->tensor,
                           .net = w->net,
                           .estimator = XB_ESTIMATOR_LOCAL,
                           .sampler = w->sampler,
                           .key = w->opt.key,
                           .batch = w->opt.draws,
                           .energy = true,
                           .theta = w->buffer,
                           .first = w->buffer + 2 * w->p,
                           .second = w->buffer + 4 * w->p,
                           .sigma = w->buffer + 6 * w->p,
                           .rho = w->p,
                           .adam = xb_adam_rates_of(&adam, 0),
                           .sigma_rate = 1,
                           .count = w->opt.count,
                           .step = w->step,
                           .sums = w->sums};
}

/* Copies each array to its place in the buffer, or back to the caller's. */
static void move(const steps_run *w, bool back)
{
    const xb_backend *b = w->backend;
    const xb_energy_state *s = w->state;
    float *const host[] = {s->mu, s->rho, s->first, s->second, s->sigma};
    const int64_t at[] = {0, 1, 2, 4, 6}, count[] = {1, 1, 2, 2, 1};
    for (int i = 0; i < XB_COUNT(host); i++) {
        float *there = w->buffer + at[i] * w->p;
        const int64_t bytes = count[i] * w->p * (int64_t)sizeof *there;
        if (back)
            b->get(b, host[i], there, bytes);
        else
            b->put(b, there, host[i], bytes);
    }
}

static xb_status take(steps_run *w, int64_t room)
{
    const xb_backend *b = w->backend;
    void *buffer = NULL;
    XB_TRY(b->take(b, w->ctx, &w->room, room));
    XB_TRY(b->take(b, w->ctx, &buffer, 7 * w->p * (int64_t)sizeof *w->buffer));
    w->buffer = buffer;
    return XB_OK;
}

static xb_status run(steps_run *w, int64_t *done)
{
    w->tensor = xb_new(w->ctx, xb_net_tensor_count(w->net), sizeof *w->tensor);
    w->step = xb_new(w->ctx, w->opt.count, sizeof *w->step);
    w->sums = xb_new(w->ctx, w->opt.count, sizeof *w->sums);
    if (!w->tensor || !w->step || !w->sums) return XB_E_MEMORY;
    XB_TRY(xb_chain_links(w->ctx, &w->chain, w->net));
    if (!w->chain || w->chain->n_link == 0) return XB_OK;
    XB_TRY(xb_law_parse(w->ctx, &w->law, "gaussian"));
    XB_TRY(xb_sampler_create(w->ctx, &w->sampler, w->law, NULL));
    plan(w);
    xb_many_steps steps = steps_of(w);
    const int64_t room = w->backend->steps_room(&steps);
    if (room == 0) return XB_OK;
    XB_TRY(take(w, room));
    steps = steps_of(w);
    move(w, false);
    const int64_t count = w->backend->steps(&steps, w->room);
    XB_TRY(xb_backend_check(w->backend, w->ctx));
    move(w, true);
    XB_TRY(xb_backend_check(w->backend, w->ctx));
    *done = count;
    return XB_OK;
}

static void let_go(const steps_run *w)
{
    w->backend->release(w->backend, w->room);
    w->backend->release(w->backend, w->buffer);
    xb_sampler_destroy(w->sampler);
    xb_law_destroy(w->law);
    free(w->chain), free(w->tensor), free(w->step), free(w->sums);
}

xb_status xb_energy_steps(xb_ctx *ctx, int64_t *done, const xb_energy_state *state,
                          const xb_net *net, const xb_energy_steps_options *opt)
{
    steps_run w = {.ctx = ctx, .state = state, .net = net, .p = xb_net_param_count(net)};
    XB_TRY(XB_OPTIONS_READ(ctx, energy_steps, &w.opt, opt, total));
    XB_TRY(check(ctx, &w.opt));
    XB_TRY(xb_backend_open(ctx, &w.backend, w.opt.backend));
    *done = 0;
    if (!w.backend->steps) return XB_OK;
    const xb_status status = run(&w, done);
    let_go(&w);
    return status;
}
