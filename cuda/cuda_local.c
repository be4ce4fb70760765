/* cuda_local.c: noise on the layer's outputs (Kingma et al. 2015); maths N11. As in
 * backend/estimator_local.c, dense layers keep v and conv layers compute it again.
 * Scratch: sigma^2 [n], then over the batch x^2 [in] (later its gradient), e [out]
 * (later dv), v [out] if it is not kept, then dw [slices][n]. */
#include "cuda_linear.h"

typedef struct spread {
    float *variance, *xx, *e, *v, *dw;
} spread;

static int64_t scratch(const xbc_linear *op)
{
    return (1 + xbc_slices_most(op)) * op->n + op->run->batch * (op->in + 2 * op->out);
}

static int64_t keep(const xbc_linear *op)
{
    return op->dense ? op->run->batch * op->out : 0;
}

/* Computes the variance of the outputs, unless it was kept, and their noise. */
static spread spread_of(const xbc_linear *op, const float *x, bool kept)
{
    const xb_run *run = op->run;
    int64_t batch = run->batch;
    spread k = {.variance = run->scratch};
    k.xx = k.variance + op->n;
    k.e = k.xx + batch * op->in;
    k.v = op->dense ? run->keep : k.e + batch * op->out;
    k.dw = k.e + 2 * batch * op->out;
    xbc_scaled(op, k.variance, op->sigma);
    xbc_multiply(k.xx, x, x, batch * op->in);
    if (!kept) xbc_by_weights(op, k.v, k.xx, k.variance);
    const xbc_draws job = {.source = xbc_source_of(run->noise.sampler),
                           .where = xbc_stream(run, (uint32_t)op->layer->tensor),
                           .first = run->noise.first * op->out,
                           .count = batch * op->out,
                           .size = batch * op->out,
                           .negate = xbc_negates(run),
                           .z = k.e};
    xbc_draw(&job);
    return k;
}

static void forward(const xbc_linear *op, float *y, const float *x)
{
    spread k = spread_of(op, x, false);
    xbc_by_weights(op, y, x, op->mu);
    xbc_local_forward(y, k.v, k.e, op->run->batch * op->out); /* (N11) */
}

static void backward(const xbc_linear *op, float *dx, const float *dy, const float *x)
{
    spread k = spread_of(op, x, op->dense);
    int64_t batch = op->run->batch;
    xbc_local_backward(k.e, dy, k.v, k.e, batch * op->out);
    xbc_add_mu(op, k.dw, xbc_by_params(op, k.dw, x, dy));
    xbc_add_sigma(op, k.dw, op->sigma, 0, xbc_by_params(op, k.dw, k.xx, k.e), 2);
    if (!dx) return;
    xbc_by_input(op, dx, dy, op->mu);
    xbc_by_input(op, k.xx, k.e, k.variance);
    xbc_local_input(dx, k.xx, x, batch * op->in);
}

const xbc_estimator xbc_local = {
    .scratch = scratch, .keep = keep, .forward = forward, .backward = backward};
