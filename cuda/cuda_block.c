/* cuda_block.c: conv, relu and maxpool as one step (run/fuse.c), without noise or with
 * one draw of the weights for the batch, as in the estimator `shared`; maths N8, N18.
 * From forward to backward it keeps the places, a byte each. Scratch: theta [n], z
 * [n], dw [slices][n]. */
#include "cuda_linear.h"

/* A block's last layer is its maxpool. */
static const xb_layer *conv_of(const xb_layer *last) { return last - 2; }

static xbc_block block_of(const xbc_linear *op, const xb_layer *last)
{
    return (xbc_block){.conv = op->win,
                       .ph = (int)last->window.oh,
                       .pw = (int)last->window.ow,
                       .rows = op->run->batch};
}

/* Without tensor cores small images give too few threads, and the layers' own kernels
 * cut their products finer. In small batches the number of launches decides, and a
 * block needs fewer. */
enum { PIXELS_LEAST = 100, ROWS_FEW = 8 };

static bool fuses(const xb_run *run, const xb_layer *last)
{
    const xbc_linear op = xbc_linear_of(run, conv_of(last), false);
    const xbc_block block = block_of(&op, last);
    return run->batch < ROWS_FEW || last->window.h * last->window.w >= PIXELS_LEAST ||
           xbc_block_suits(&block);
}

static int64_t keep(const xb_run *run, const xb_layer *last)
{
    int64_t bytes = run->batch * last->out.h * last->out.w * last->out.c;
    return run->gradients ? (bytes + 3) / 4 : 0;
}

static int64_t scratch(const xb_run *run, const xb_layer *last)
{
    const xbc_linear op = xbc_linear_of(run, conv_of(last), false);
    const xbc_block block = block_of(&op, last);
    return (2 + (run->gradients ? xbc_block_slices(&block) : 0)) * op.n;
}

/* The block with its input and its weights: mu, or a draw. */
static xbc_block ready(const xbc_linear *op, const xb_layer *last, const float *x)
{
    xbc_block block = block_of(op, last);
    block.w = xbc_shared_weights(op);
    block.bias = op->bias ? block.w + op->size : NULL;
    block.x = x;
    if (op->run->gradients) block.place = (uint8_t *)op->run->keep;
    return block;
}

static void forward_of(const xbc_linear *op, const xb_layer *last, float *y,
                       const float *x)
{
    xbc_block block = ready(op, last, x);
    block.y = y;
    xbc_block_forward(&block);
}

static void forward(const xb_run *run, const xb_layer *last, xb_real *y, const xb_real *x)
{
    const xbc_linear op = xbc_linear_of(run, conv_of(last), false);
    XBC_INSIDE(forward_of(&op, last, y, x));
}

static void backward_of(const xbc_linear *op, const xb_layer *last, float *dx,
                        const float *dy, const float *x)
{
    xbc_block block = ready(op, last, x);
    const float *z = op->run->scratch + op->n;
    block.dy = dy, block.dx = dx;
    block.dw = op->run->scratch + 2 * op->n;
    xbc_block_weight(&block);
    xbc_add_mu(op, block.dw, xbc_block_slices(&block));
    if (block.w != op->mu) xbc_add_sigma(op, block.dw, z, 0, xbc_block_slices(&block), 1);
    if (dx) xbc_block_input(&block);
}

static void backward(const xb_run *run, const xb_layer *last, xb_real *dx,
                     const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)y;
    const xbc_linear op = xbc_linear_of(run, conv_of(last), false);
    XBC_INSIDE(backward_of(&op, last, dx, dy, x));
}

/* ---- with the batchnorm before it, if there is no backward pass: x is normalised as
 * it is read. Kept and scratch memory is the batchnorm's, then the block's. */

static const xb_layer *norm_of(const xb_layer *last) { return conv_of(last) - 1; }

static bool norm_fuses(const xb_run *run, const xb_layer *last)
{
    const xbc_linear op = xbc_linear_of(run, conv_of(last), false);
    const xbc_block block = block_of(&op, last);
    return !run->gradients && op.cin % 16 == 0 && xbc_block_suits(&block);
}

static int64_t norm_keep(const xb_run *run, const xb_layer *last)
{
    return xbc_norm_keep(run, norm_of(last));
}

/* A multiple of a cache line's floats. */
static int64_t norm_room(const xb_run *run, const xb_layer *last)
{
    return (xbc_norm_scratch(run, norm_of(last)) + 31) / 32 * 32;
}

static int64_t norm_scratch(const xb_run *run, const xb_layer *last)
{
    return norm_room(run, last) + scratch(run, last);
}

static void norm_forward_of(const xb_run *run, const xb_layer *last, float *y,
                            const float *x)
{
    const xbc_norm norm = xbc_norm_of(run, norm_of(last));
    xb_run rest = *run;
    rest.scratch += norm_room(run, last);
    const xbc_linear op = xbc_linear_of(&rest, conv_of(last), false);
    xbc_block block = ready(&op, last, x);
    block.y = y, block.shift = norm.shift;
    block.mean = norm.keep, block.gain = norm.keep + 2 * norm.c;
    xbc_norm_ready(&norm, x);
    xbc_block_forward(&block);
}

static void norm_forward(const xb_run *run, const xb_layer *last, xb_real *y,
                         const xb_real *x)
{
    XBC_INSIDE(norm_forward_of(run, last, y, x));
}

const xb_layer_ops xbc_norm_block_ops = {.fuses = norm_fuses,
                                         .placement = XB_PLACE_FRESH,
                                         .keep = norm_keep,
                                         .scratch = norm_scratch,
                                         .forward = norm_forward};

const xb_layer_ops xbc_block_ops = {.fuses = fuses,
                                    .placement = XB_PLACE_FRESH,
                                    .keep = keep,
                                    .scratch = scratch,
                                    .forward = forward,
                                    .backward = backward};
