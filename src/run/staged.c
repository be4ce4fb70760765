/* staged.c: the caller's weights, inputs and gradients copied into the backend's memory
 * and back, for backends whose memory is not the caller's. All of it stays in the pass: a
 * backward pass finds the weights and inputs of its forward pass there. Callers with many
 * steps use buffers instead (run/pass.h). */
#include "run/staged.h"

#include <stdlib.h>

#include "base/memory.h"

/* Buffers, parts of `memory`; [param_count] if not said. */
struct xb_staged {
    void *memory;
    xb_real *mu, *sigma, *d_mu, *d_sigma;
    xb_real *state;  /* [state_count] */
    xb_real *x, *dx; /* [batch][input] */
    xb_real *y, *dy; /* [batch][output] */
    xb_real *room;   /* the host's, [2][batch][output] */
};

static int64_t bytes_of(int64_t n) { return n * (int64_t)sizeof(xb_real); }

static xb_status stage_create(xb_ctx *ctx, xb_staged **out, const xb_pass *pass)
{
    const xb_backend *b = pass->run.backend;
    int64_t p = pass->net->param_count, states = pass->net->state_count;
    int64_t in = pass->opt.batch * xb_shape_size(pass->net->input);
    int64_t to = pass->opt.batch * xb_shape_size(xb_net_output(pass->net));
    xb_staged *s = xb_new(ctx, 1, sizeof *s);
    if (!s) return XB_E_MEMORY;
    s->room = xb_new(ctx, 2 * to, sizeof *s->room);
    xb_status status = s->room ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK)
        status = b->take(b, ctx, &s->memory, bytes_of(4 * p + states + 2 * in + 2 * to));
    if (status != XB_OK) {
        xb_staged_destroy(s, b);
        return status;
    }
    xb_real *at = s->memory;
    s->mu = at, s->sigma = at + p, s->d_mu = at + 2 * p, s->d_sigma = at + 3 * p;
    s->state = at + 4 * p;
    s->x = s->state + states, s->dx = s->x + in;
    s->y = s->dx + in, s->dy = s->y + to;
    *out = s;
    return XB_OK;
}

void xb_staged_destroy(xb_staged *stage, const xb_backend *backend)
{
    if (!stage) return;
    backend->release(backend, stage->memory);
    free(stage->room);
    free(stage);
}

static void put(const xb_backend *b, xb_real *to, const xb_real *from, int64_t n)
{
    if (from) b->put(b, to, from, bytes_of(n));
}

static void get(const xb_backend *b, xb_real *to, const xb_real *from, int64_t n)
{
    if (to) b->get(b, to, from, bytes_of(n));
}

/* Copies weights and inputs into the backend; creates the stage if necessary. */
static xb_status bring(xb_ctx *ctx, xb_pass *pass, xb_weights *staged, const xb_real *x,
                       int64_t batch, const xb_weights *weights)
{
    const xb_net *net = pass->net;
    const xb_backend *b = pass->run.backend;
    if (!pass->stage) XB_TRY(stage_create(ctx, &pass->stage, pass));
    xb_staged *s = pass->stage;
    put(b, s->mu, weights->mu, net->param_count);
    put(b, s->sigma, weights->sigma, net->param_count);
    put(b, s->state, weights->state, net->state_count);
    put(b, s->x, x, batch * xb_shape_size(net->input));
    *staged = (xb_weights){s->mu, weights->sigma ? s->sigma : NULL,
                           weights->state ? s->state : NULL,
                           weights->new_state ? s->state : NULL};
    return XB_OK;
}

static int64_t outputs_of(const xb_pass *pass)
{
    return pass->run.batch * xb_shape_size(xb_net_output(pass->net));
}

xb_status xb_staged_forward(xb_ctx *ctx, xb_pass *pass, xb_real *y, const xb_real *x,
                            int64_t batch, const xb_weights *weights,
                            const xb_noise *noise, xb_mode mode)
{
    const xb_backend *b = pass->run.backend;
    xb_weights staged;
    XB_TRY(bring(ctx, pass, &staged, x, batch, weights));
    xb_staged *s = pass->stage;
    XB_TRY(xb_pass_forward_within(ctx, pass, s->y, s->x, batch, &staged, noise, mode));
    get(b, y, s->y, outputs_of(pass));
    if (mode == XB_MODE_TRAIN && batch > 0)
        get(b, weights->new_state, s->state, pass->net->state_count);
    return xb_backend_check(b, ctx);
}

xb_status xb_staged_backward(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                             const xb_real *dy)
{
    const xb_backend *b = pass->run.backend;
    xb_staged *s = pass->stage;
    int64_t p = pass->net->param_count;
    const xb_gradient staged = {s->d_mu, gradient->sigma ? s->d_sigma : NULL,
                                gradient->x ? s->dx : NULL};
    put(b, s->d_mu, gradient->mu, p);
    put(b, s->d_sigma, gradient->sigma, p);
    put(b, s->dy, dy, outputs_of(pass));
    XB_TRY(xb_pass_backward_within(ctx, pass, &staged, s->dy));
    get(b, gradient->mu, s->d_mu, p);
    get(b, gradient->sigma, s->d_sigma, p);
    get(b, gradient->x, s->dx, pass->run.batch * xb_shape_size(pass->net->input));
    return xb_backend_check(b, ctx);
}

static void zero(xb_real *x, int64_t n)
{
    for (int64_t i = 0; x && i < n; i++) x[i] = 0;
}

xb_status xb_staged_step(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                         bool fresh, const xb_real *x, int64_t batch,
                         const xb_weights *weights, const xb_noise *noise,
                         xb_loss_fn loss, void *arg)
{
    if (!pass->stage) XB_TRY(stage_create(ctx, &pass->stage, pass));
    xb_real *y = pass->stage->room;
    XB_TRY(xb_staged_forward(ctx, pass, y, x, batch, weights, noise, XB_MODE_TRAIN));
    xb_real *dy = y + outputs_of(pass);
    if (fresh) zero(gradient->mu, pass->net->param_count);
    if (fresh) zero(gradient->sigma, pass->net->param_count);
    if (batch > 0 && !loss(arg, dy, y, batch)) {
        pass->done = false;
        return xb_pass_stopped(ctx);
    }
    xb_status status = xb_pass_backward(ctx, pass, gradient, dy);
    pass->done = false;
    return status;
}
