/* pass.c: forward and backward through a net.
 *
 * One block of memory is planned when the pass is made: the activations of every
 * layer (activation functions overwrite their input where backward allows), two
 * buffers that the gradient goes through in turn, what batchnorm keeps, and scratch
 * memory that each layer uses while it runs. Nothing is allocated after that, and no
 * noise outlives a layer's call: backward draws it again. */
#include "run/pass.h"

#include <stdlib.h>
#include <string.h>

#include "backend/linear.h"
#include "backend/sums.h"
#include "base/memory.h"
#include "run/chains.h"
#include "run/fuse.h"
#include "run/staged.h"

enum { ALIGN = 64 }; /* bytes: a vector register, a cache line */

void xb_pass_options_init(xb_pass_options *opt, size_t size)
{
    const xb_pass_options standard = {.batch = 100, .gradients = true, .group = 1};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* n reals rounded up to whole cache lines. */
static int64_t padded(int64_t n)
{
    const int64_t line = ALIGN / (int64_t)sizeof(xb_real);
    return (n + line - 1) / line * line;
}

/* Outputs in memory of their own, one after the other; or, when there will be no
 * backward, in two buffers in turn. */
static void place_outputs(xb_pass *pass)
{
    const xb_net *net = pass->net;
    int64_t batch = pass->opt.batch, widest = 0, turn = 0;
    bool held = true; /* the input may not be overwritten: it is the caller's */
    for (int l = 0; l < net->n_layer; l++)
        if (pass->layer[l].ops)
            widest = larger(widest, padded(batch * xb_shape_size(net->layer[l].out)));
    for (int l = 0; l < net->n_layer; l++) {
        if (!pass->layer[l].ops) continue;
        xb_placement place = pass->layer[l].ops->placement;
        bool stay =
            l > 0 && (place == XB_PLACE_ALIAS ||
                      (place == XB_PLACE_OVERWRITE && (!held || !pass->opt.gradients)));
        if (place != XB_PLACE_ALIAS) held = place != XB_PLACE_FRESH;
        if (stay) {
            pass->layer[l].output = pass->layer[l - 1].output;
        } else if (pass->opt.gradients) {
            pass->layer[l].output = pass->n_output;
            pass->n_output += padded(batch * xb_shape_size(net->layer[l].out));
        } else {
            pass->layer[l].output = turn++ % 2 * widest;
            pass->n_output = 2 * widest;
        }
    }
    int64_t input = padded(batch * xb_shape_size(net->input));
    if (pass->opt.gradients) pass->n_gradient = larger(widest, input);
}

static void place_the_rest(xb_pass *pass)
{
    const xb_net *net = pass->net;
    for (int l = 0; l < net->n_layer; l++) {
        const xb_layer *layer = &net->layer[l];
        const xb_layer_ops *ops = pass->layer[l].ops;
        pass->layer[l].keep = pass->n_keep;
        pass->run.first = pass->layer[l].first;
        if (ops && ops->keep) pass->n_keep += padded(ops->keep(&pass->run, layer));
        if (ops && ops->scratch)
            pass->n_scratch =
                larger(pass->n_scratch, padded(ops->scratch(&pass->run, layer)));
    }
}

static void place_chain(xb_pass *pass)
{
    xb_chain *chain = pass->chain;
    for (int i = 0; chain && i < chain->n_link; i++)
        chain->link[i].output = pass->layer[chain->link[i].layer].output;
    if (chain && pass->opt.gradients)
        pass->n_scratch = larger(
            pass->n_scratch, padded(pass->run.backend->chain_scratch(chain, &pass->run)));
}

static xb_status take_memory(xb_ctx *ctx, xb_pass *pass)
{
    int64_t reals =
        pass->n_output + 2 * pass->n_gradient + pass->n_keep + pass->n_scratch;
    if (reals > INT64_MAX / (int64_t)sizeof(xb_real) - ALIGN)
        return xb_fail(ctx, XB_E_MEMORY, "a batch of %lld is more than memory can hold",
                       (long long)pass->opt.batch);
    pass->bytes = (size_t)(reals * (int64_t)sizeof(xb_real));
    const xb_backend *b = pass->run.backend;
    XB_TRY(b->take(b, ctx, &pass->memory, (int64_t)pass->bytes));
    xb_real *p = pass->memory;
    pass->output = p, p += pass->n_output;
    pass->gradient[0] = p, p += pass->n_gradient;
    pass->gradient[1] = p, p += pass->n_gradient;
    pass->keep = p, p += pass->n_keep;
    pass->scratch = pass->run.scratch = p;
    return XB_OK;
}

static xb_status check_options(xb_ctx *ctx, const xb_pass_options *opt)
{
    if (!xb_estimator_at(opt->estimator))
        return xb_fail(ctx, XB_E_ARGUMENT, "unknown estimator number %d",
                       (int)opt->estimator);
    if (opt->batch < 1 || opt->batch > INT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "a batch of %lld: expected 1 to 2^31 - 1",
                       (long long)opt->batch);
    if (opt->group < 1 || opt->group > INT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "groups of %lld examples: expected 1 to 2^31 - 1",
                       (long long)opt->group);
    return XB_OK;
}

/* Tensors are numbered below the two bits that mark their signs (noise.c). */
static xb_status check_first_tensor(xb_ctx *ctx, const xb_net *net, int64_t first)
{
    const int64_t end = INT64_C(1) << 30;
    if (first >= 0 && first <= end - net->n_tensor) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "first_tensor is %lld, expected 0 to 2^30 less the net's tensors",
                   (long long)first);
}

/* Sizes that fit are then safe to add and multiply by what a layer may need. */
static xb_status check_sizes(xb_ctx *ctx, const xb_net *net, int64_t batch)
{
    const int64_t most = INT64_C(1) << 40; /* reals, in one layer's output */
    int64_t widest = xb_shape_size(net->input);
    for (int l = 0; l < net->n_layer; l++)
        widest = larger(widest, xb_shape_size(net->layer[l].out));
    if (batch <= most / widest) return XB_OK;
    return xb_fail(ctx, XB_E_MEMORY, "a batch of %lld is more than memory can hold",
                   (long long)batch);
}

xb_status xb_pass_create(xb_ctx *ctx, xb_pass **out, const xb_net *net,
                         const xb_pass_options *opt)
{
    xb_pass_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, pass, &chosen, opt, group));
    opt = &chosen;
    const xb_backend *backend = NULL;
    XB_TRY(check_options(ctx, opt));
    XB_TRY(check_sizes(ctx, net, opt->batch));
    XB_TRY(check_first_tensor(ctx, net, opt->first_tensor));
    chosen.backend =
        xb_backend_for(ctx, opt->backend, net, (double)opt->batch, XB_AUTO_PASS);
    XB_TRY(xb_backend_open(ctx, &backend, opt->backend));
    xb_pass *pass = xb_new(ctx, 1, sizeof *pass);
    if (!pass) return XB_E_MEMORY;
    pass->net = net;
    pass->opt = *opt;
    pass->run = (xb_run){.net = net,
                         .backend = backend,
                         .kernels = xb_kernels_find(xb_backend_chosen(ctx, opt->backend)),
                         .estimator = opt->estimator,
                         .group = opt->group,
                         .first_tensor = (uint32_t)opt->first_tensor,
                         .gradients = opt->gradients,
                         .batch = opt->batch};
    pass->layer = xb_new(ctx, net->n_layer, sizeof *pass->layer);
    xb_status status = pass->layer ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) status = xb_chain_create(ctx, &pass->chain, &pass->run);
    if (status == XB_OK) {
        xb_fuse(pass);
        place_outputs(pass);
        place_the_rest(pass);
        place_chain(pass);
        status = take_memory(ctx, pass);
    }
    if (status != XB_OK) {
        xb_pass_destroy(pass);
        return status;
    }
    *out = pass;
    return XB_OK;
}

void xb_pass_destroy(xb_pass *pass)
{
    if (!pass) return;
    free(pass->chain);
    free(pass->layer);
    xb_crew_destroy(pass->crew);
    xb_staged_destroy(pass->stage, pass->run.backend);
    pass->run.backend->release(pass->run.backend, pass->memory);
    free(pass);
}

const xb_backend *xb_pass_backend(const xb_pass *pass) { return pass->run.backend; }
int64_t xb_pass_bytes(const xb_pass *pass) { return (int64_t)pass->bytes; }

static xb_status check_noise(xb_ctx *ctx, const xb_pass *pass, const xb_noise *noise)
{
    const xb_law *law = xb_sampler_law(noise->sampler);
    const xb_estimator_kind *kind = xb_estimator_at(pass->opt.estimator);
    if (kind->symmetric && !xb_law_is_symmetric(law))
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "estimator %s needs a symmetric law, not %s; shared and example take "
            "any law",
            kind->name, xb_law_text(law));
    if (noise->antithetic && !xb_law_is_symmetric(law))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "antithetic pairs need a symmetric law, not %s", xb_law_text(law));
    if (kind->gaussian && !xb_law_is_gaussian(law))
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "estimator %s needs the gaussian law, not %s; shared and example take "
            "any law",
            kind->name, xb_law_text(law));
    if (noise->first < 0 || noise->first > XB_STREAM_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "the first example is number %lld, expected 0 to 2^34",
                       (long long)noise->first);
    return XB_OK;
}

/* The last element needed from any stream must exist. */
static xb_status check_reach(xb_ctx *ctx, const xb_pass *pass, const xb_noise *noise,
                             int64_t batch)
{
    long long end = noise->first + batch;
    for (int i = 0; i < pass->net->n_tensor; i++) {
        const xb_tensor *t = &pass->net->tensor[i];
        int64_t each = larger(t->size, xb_shape_size(pass->net->layer[t->layer].out));
        if (t->stochastic && end > XB_STREAM_MAX / each)
            return xb_fail(ctx, XB_E_ARGUMENT,
                           "example %lld is beyond the noise that tensor %s has", end,
                           t->name);
    }
    return XB_OK;
}

static xb_status check_forward(xb_ctx *ctx, const xb_pass *pass, int64_t batch,
                               const xb_weights *weights, const xb_noise *noise,
                               xb_mode mode)
{
    if (batch < 0 || batch > pass->opt.batch)
        return xb_fail(ctx, XB_E_ARGUMENT, "a batch of %lld: this pass takes 0 to %lld",
                       (long long)batch, (long long)pass->opt.batch);
    if (pass->net->state_count > 0 && !weights->state)
        return xb_fail(ctx, XB_E_ARGUMENT, "the net has batchnorm and needs its state");
    if (pass->net->state_count > 0 && mode == XB_MODE_TRAIN && !weights->new_state)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "the net has batchnorm: training needs new_state to write to");
    if (!noise) return XB_OK;
    if (!weights->sigma && xb_net_stochastic_count(pass->net) > 0)
        return xb_fail(ctx, XB_E_ARGUMENT, "noise is given without sigma");
    XB_TRY(check_noise(ctx, pass, noise));
    return check_reach(ctx, pass, noise, batch);
}

/* ---- ranks that run it together */

static bool is_linear(const xb_layer *layer)
{
    return layer->kind == &xb_layer_conv || layer->kind == &xb_layer_dense;
}

/* The number of first layers whose rows can be dealt to ranks; 0 if no layer with a
 * product is among them. Layers without work of their own (part of a block, or done by
 * the layer below) are skipped, so the last dealt layer is one that runs. */
static int dealt_layers(const xb_pass *pass)
{
    const xb_net *net = pass->net;
    int dealt = 0;
    bool product = false;
    for (int l = 0; l < net->n_layer; l++) {
        const xb_pass_layer *here = &pass->layer[l];
        if (!here->ops || here->done_below) continue;
        if (!here->ops->deals || !here->ops->deals(&pass->run, &net->layer[l])) break;
        for (int i = here->first; i <= l; i++) product |= is_linear(&net->layer[i]);
        dealt = l + 1;
    }
    return product ? dealt : 0;
}

/* Plans for the batch and noise of the current run. */
static void plan_crew(xb_pass *pass)
{
    if (!pass->crew) return;
    xb_crew_plan(pass->crew, pass->run.batch);
    pass->dealt = pass->run.batch > 0 ? dealt_layers(pass) : 0;
}

xb_status xb_pass_join(xb_ctx *ctx, xb_pass *pass, xb_comm *comm)
{
    if (pass->chain || !pass->run.backend->host || !pass->opt.gradients) return XB_OK;
    pass->crew = xb_crew_create(ctx, comm);
    if (!pass->crew) return XB_E_MEMORY;
    return xb_sums_create(ctx, pass->crew, pass->net, pass->opt.batch);
}

bool xb_pass_is_dealt(xb_pass *pass, int64_t batch)
{
    pass->run.batch = batch;
    plan_crew(pass);
    return pass->dealt > 0;
}

void xb_pass_rows(xb_pass *pass, int64_t batch, int64_t *begin, int64_t *end)
{
    const bool dealt = pass->crew && xb_pass_is_dealt(pass, batch);
    *begin = dealt ? pass->crew->first : 0;
    *end = dealt ? pass->crew->end : batch;
}

/* Collects what the ranks have written, each for its own rows, so that every rank has all
 * rows. */
static void gather_rows(const xb_pass *pass, xb_real *y, int l)
{
    const int64_t size = xb_shape_size(pass->net->layer[l].out);
    xb_comm_gather(pass->crew->comm, y, size * (int64_t)sizeof *y, pass->crew->row);
}

static void set_run(xb_pass *pass, xb_ctx *ctx, int64_t batch, const xb_weights *weights,
                    const xb_noise *noise, xb_mode mode)
{
    xb_run *run = &pass->run;
    run->ctx = ctx, run->batch = batch, run->weights = *weights, run->mode = mode;
    run->noise = noise ? *noise : (xb_noise){0};
    plan_crew(pass);
}

xb_status xb_pass_draw_within(xb_ctx *ctx, xb_pass *pass, xb_real *theta,
                              const xb_weights *weights, const xb_noise *noise)
{
    XB_TRY(check_forward(ctx, pass, 0, weights, noise, XB_MODE_PREDICT));
    set_run(pass, ctx, 0, weights, noise, XB_MODE_PREDICT);
    pass->done = false;
    pass->run.backend->draw(&pass->run, theta);
    return XB_OK;
}

xb_status xb_pass_draws_within(xb_ctx *ctx, xb_pass *pass, xb_real *y, const xb_real *x,
                               xb_real *theta, int64_t batch, const xb_weights *weights,
                               const xb_noise *noise, int64_t count)
{
    XB_TRY(check_forward(ctx, pass, 0, weights, noise, XB_MODE_PREDICT));
    set_run(pass, ctx, batch, weights, noise, XB_MODE_PREDICT);
    pass->done = false;
    pass->run.backend->draws(&pass->run, y, x, theta, count);
    return XB_OK;
}

/* The settings of a run that a layer needs besides the batch. */
static void set_layer(xb_pass *pass, int l)
{
    const xb_pass_layer *here = &pass->layer[l];
    pass->run.crew = l < pass->dealt ? pass->crew : NULL;
    pass->run.first = here->first;
    pass->run.keep = pass->keep + here->keep;
    pass->run.above = here->above;
    pass->run.below = here->below;
}

/* Runs layer by layer and returns the net's outputs. */
static const xb_real *forward_layers(xb_pass *pass)
{
    const xb_real *x = pass->x;
    for (int l = 0; l < pass->net->n_layer; l++) {
        const xb_pass_layer *here = &pass->layer[l];
        if (!here->ops || here->done_below) continue;
        xb_real *to = pass->output + here->output;
        set_layer(pass, l);
        here->ops->forward(&pass->run, &pass->net->layer[l], to, x);
        if (l + 1 == pass->dealt) gather_rows(pass, to, l);
        x = to;
    }
    return x;
}

static int64_t output_bytes(const xb_pass *pass)
{
    return pass->run.batch * xb_shape_size(xb_net_output(pass->net)) *
           (int64_t)sizeof(xb_real);
}

static xb_chain_room chain_room(const xb_pass *pass)
{
    return (xb_chain_room){pass->x, pass->output, {pass->gradient[0], pass->gradient[1]}};
}

static const xb_real *forward_chain(const xb_pass *pass)
{
    const xb_chain_room room = chain_room(pass);
    return pass->run.backend->chain_forward(pass->chain, &pass->run, &room);
}

xb_status xb_pass_forward_within(xb_ctx *ctx, xb_pass *pass, xb_real *y, const xb_real *x,
                                 int64_t batch, const xb_weights *weights,
                                 const xb_noise *noise, xb_mode mode)
{
    const xb_backend *b = pass->run.backend;
    XB_TRY(check_forward(ctx, pass, batch, weights, noise, mode));
    set_run(pass, ctx, batch, weights, noise, mode);
    pass->x = x;
    pass->done = pass->opt.gradients;
    bool chain = pass->chain && !pass->opt.gradients && !noise;
    if (batch > 0)
        b->copy(b, y, chain ? forward_chain(pass) : forward_layers(pass),
                output_bytes(pass));
    return XB_OK;
}

int xb_pass_broken_layer(const xb_pass *pass)
{
    const xb_backend *b = pass->run.backend;
    for (int l = 0; l < pass->net->n_layer; l++) {
        const xb_pass_layer *here = &pass->layer[l];
        int64_t n = pass->run.batch * xb_shape_size(pass->net->layer[l].out);
        if (!here->ops || here->done_below) continue;
        if (!b->finite(b, pass->output + here->output, n)) return l;
    }
    return -1;
}

/* The lowest layer whose backward pass is needed. */
static int lowest(const xb_net *net, bool want_x)
{
    int l = 0;
    while (!want_x && l < net->n_layer && net->layer[l].tensors == 0) l++;
    return l;
}

static xb_status check_backward(xb_ctx *ctx, const xb_pass *pass,
                                const xb_gradient *gradient)
{
    if (!pass->done)
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "the backward pass needs a forward pass that was made for gradients");
    if (pass->run.noise.sampler && !gradient->sigma &&
        xb_net_stochastic_count(pass->net) > 0)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "noise is given, but there is no array for sigma's gradient");
    return XB_OK;
}

static bool of_its_own(xb_placement place)
{
    return place == XB_PLACE_FRESH || place == XB_PLACE_HELD;
}

static const xb_real *input_of(const xb_pass *pass, const xb_pass_layer *here)
{
    return here->first > 0 ? pass->output + pass->layer[here->first - 1].output : pass->x;
}

/* From the gradient with respect to the outputs, in gradient[0]. */
static void backward_layers(xb_pass *pass, xb_real *dx)
{
    const xb_net *net = pass->net;
    int turn = 0, stop = lowest(net, dx != NULL);
    for (int l = net->n_layer - 1; l >= stop; l--) {
        const xb_pass_layer *here = &pass->layer[l];
        if (!here->ops || here->slope_above) continue;
        const xb_real *y = pass->output + here->output, *from = pass->gradient[turn];
        if (of_its_own(here->ops->placement)) turn = 1 - turn;
        bool wanted = here->first > stop || dx;
        set_layer(pass, l);
        here->ops->backward(&pass->run, &net->layer[l],
                            wanted ? pass->gradient[turn] : NULL, from,
                            input_of(pass, here), y);
    }
    if (pass->crew) xb_sums_finish(pass->crew);
    const xb_backend *b = pass->run.backend;
    if (dx)
        b->copy(b, dx, pass->gradient[turn],
                pass->run.batch * xb_shape_size(net->input) * (int64_t)sizeof *dx);
}

xb_status xb_pass_backward_within(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                                  const xb_real *dy)
{
    const xb_backend *b = pass->run.backend;
    XB_TRY(check_backward(ctx, pass, gradient));
    pass->run.ctx = ctx, pass->run.gradient = *gradient;
    if (pass->run.batch == 0) return XB_OK;
    b->copy(b, pass->gradient[0], dy, output_bytes(pass));
    backward_layers(pass, gradient->x);
    return XB_OK;
}

static void clear_gradient(const xb_pass *pass, const xb_gradient *gradient)
{
    const xb_backend *b = pass->run.backend;
    int64_t bytes = pass->net->param_count * (int64_t)sizeof(xb_real);
    b->clear(b, gradient->mu, bytes);
    if (gradient->sigma) b->clear(b, gradient->sigma, bytes);
}

xb_status xb_pass_stopped(xb_ctx *ctx)
{
    return xb_fail(ctx, XB_E_CANCELLED, "the loss function asked to stop");
}

xb_status xb_pass_step_around(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                              bool fresh, const xb_real *x, int64_t batch,
                              const xb_weights *weights, const xb_noise *noise,
                              xb_loss_fn loss, void *arg)
{
    XB_TRY(check_forward(ctx, pass, batch, weights, noise, XB_MODE_TRAIN));
    set_run(pass, ctx, batch, weights, noise, XB_MODE_TRAIN);
    pass->x = x;
    pass->done = pass->opt.gradients;
    XB_TRY(check_backward(ctx, pass, gradient));
    pass->done = false;
    pass->run.gradient = *gradient;
    if (pass->chain && !gradient->x && batch > 0) {
        const xb_chain_room room = chain_room(pass);
        return pass->run.backend->chain_step(pass->chain, &pass->run, &room, fresh, loss,
                                             arg)
                   ? XB_OK
                   : xb_pass_stopped(ctx);
    }
    if (fresh) clear_gradient(pass, gradient);
    if (batch == 0) return XB_OK;
    if (!loss(arg, pass->gradient[0], forward_layers(pass), batch))
        return xb_pass_stopped(ctx);
    backward_layers(pass, gradient->x);
    return XB_OK;
}

typedef struct loss_job {
    const xb_backend *backend;
    const xb_loss *loss;
    double value;
} loss_job;

static bool find_loss(void *arg, xb_real *dy, const xb_real *y, int64_t batch)
{
    loss_job *job = arg;
    job->value = job->backend->loss(job->backend, job->loss, dy, y, batch);
    return true;
}

xb_status xb_pass_step_within(xb_ctx *ctx, xb_pass *pass, double *value,
                              const xb_gradient *gradient, bool fresh, const xb_real *x,
                              int64_t batch, const xb_weights *weights,
                              const xb_noise *noise, const xb_loss *loss)
{
    loss_job job = {pass->run.backend, loss, 0};
    XB_TRY(xb_pass_step_around(ctx, pass, gradient, fresh, x, batch, weights, noise,
                               find_loss, &job));
    *value = job.value;
    return XB_OK;
}

/* ---- with the caller's memory */

xb_status xb_pass_forward(xb_ctx *ctx, xb_pass *pass, xb_real *y, const xb_real *x,
                          int64_t batch, const xb_weights *weights, const xb_noise *noise,
                          xb_mode mode)
{
    if (pass->run.backend->host)
        return xb_pass_forward_within(ctx, pass, y, x, batch, weights, noise, mode);
    XB_TRY(check_forward(ctx, pass, batch, weights, noise, mode));
    return xb_staged_forward(ctx, pass, y, x, batch, weights, noise, mode);
}

xb_status xb_pass_backward(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                           const xb_real *dy)
{
    if (pass->run.backend->host) return xb_pass_backward_within(ctx, pass, gradient, dy);
    XB_TRY(check_backward(ctx, pass, gradient));
    return xb_staged_backward(ctx, pass, gradient, dy);
}

xb_status xb_pass_step(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                       bool fresh, const xb_real *x, int64_t batch,
                       const xb_weights *weights, const xb_noise *noise, xb_loss_fn loss,
                       void *arg)
{
    if (pass->run.backend->host)
        return xb_pass_step_around(ctx, pass, gradient, fresh, x, batch, weights, noise,
                                   loss, arg);
    XB_TRY(check_forward(ctx, pass, batch, weights, noise, XB_MODE_TRAIN));
    return xb_staged_step(ctx, pass, gradient, fresh, x, batch, weights, noise, loss,
                          arg);
}
