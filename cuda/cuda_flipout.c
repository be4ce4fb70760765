/* cuda_flipout.c: one draw for the batch, whose signs change from example to example
 * (Wen et al. 2018); maths N10. Scratch: z [n], sigma z [n], then over the batch x r
 * [in], dx' [in], t [out], signs r [cin] and s [cout], then dw [slices][n]. */
#include "cuda_linear.h"

/* As in backend/noise.c: the two highest bits distinguish signs from draws. */
#define SIGNS_IN (UINT32_C(1) << 30)
#define SIGNS_OUT (UINT32_C(1) << 31)

typedef struct turned {
    float *z, *noise, *xr, *dxr, *t, *r, *s, *dw;
} turned;

static int64_t scratch(const xbc_linear *op)
{
    int64_t each = 2 * op->in + op->out + op->cin + op->cout;
    return (2 + xbc_slices_most(op)) * op->n + op->run->batch * each;
}

static void signs(const xbc_linear *op, float *sign, uint32_t side, int64_t channels)
{
    const xb_run *run = op->run;
    const xb_stream where = xbc_stream(run, (uint32_t)op->layer->tensor | side);
    xbc_signs(sign, &where, run->noise.first * channels, run->batch * channels);
}

/* Makes the draw, the signs, and x times its signs. */
static turned turn(const xbc_linear *op, const float *x)
{
    int64_t batch = op->run->batch;
    turned k = {.z = op->run->scratch};
    k.noise = k.z + op->n;
    k.xr = k.noise + op->n;
    k.dxr = k.xr + batch * op->in;
    k.t = k.dxr + batch * op->in;
    k.r = k.t + batch * op->out;
    k.s = k.r + batch * op->cin;
    k.dw = k.s + batch * op->cout;
    xbc_op_panels(op, k.z, NULL, 0, 1);
    xbc_scaled(op, k.noise, k.z);
    signs(op, k.r, SIGNS_IN, op->cin);
    signs(op, k.s, SIGNS_OUT, op->cout);
    xbc_channels(k.xr, x, k.r, batch, op->in / op->cin, op->cin, false);
    return k;
}

static void forward(const xbc_linear *op, float *y, const float *x)
{
    turned k = turn(op, x);
    xbc_by_weights(op, y, x, op->mu);
    xbc_by_weights(op, k.t, k.xr, k.noise);
    xbc_channels(y, k.t, k.s, op->run->batch, op->out / op->cout, op->cout,
                 true); /* (N10) */
}

static void backward(const xbc_linear *op, float *dx, const float *dy, const float *x)
{
    turned k = turn(op, x);
    int64_t batch = op->run->batch;
    xbc_channels(k.t, dy, k.s, batch, op->out / op->cout, op->cout, false);
    xbc_add_mu(op, k.dw, xbc_by_params(op, k.dw, x, dy));
    xbc_add_sigma(op, k.dw, k.z, 0, xbc_by_params(op, k.dw, k.xr, k.t), 1);
    if (!dx) return;
    xbc_by_input(op, dx, dy, op->mu);
    xbc_by_input(op, k.dxr, k.t, k.noise);
    xbc_channels(dx, k.dxr, k.r, batch, op->in / op->cin, op->cin, true);
}

const xbc_estimator xbc_flipout = {
    .scratch = scratch, .forward = forward, .backward = backward};
