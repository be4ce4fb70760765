/* kernels_ref.c: every kernel in plain C, in the order of its definition. It is always
 * built, and the other backends are compared with it. */
#include "kernel/activation_kernel.h"
#include "kernel/array_kernel.h"
#include "kernel/batchnorm_kernel.h"
#include "kernel/conv_kernel.h"
#include "kernel/dense_kernel.h"
#include "kernel/local_kernel.h"
#include "kernel/maxpool_kernel.h"
#include "kernel/noise_kernel.h"

static void dense_backward_params(xb_real *dw, xb_real *db, const xb_real *x,
                                  const xb_real *dy, int64_t rows, int64_t in,
                                  int64_t out)
{
    dense_backward_weight(dw, x, dy, rows, in, out);
    bias_backward(db, dy, rows, out);
}

static void local_dense_forward(xb_real *y, xb_real *yy, xb_real *e,
                                const xb_local_layer *l, xb_act f)
{
    dense_forward(y, l->x, l->mu, l->bias, l->rows, l->in, l->out, XB_ACT_NONE);
    dense_forward(l->room, l->xx, l->variance, l->bias_variance, l->rows, l->in, l->out,
                  XB_ACT_NONE);
    local_forward_slope(y, yy, e, l->room, l->rows * l->out, f);
}

static void local_dense_params(xb_real *dw, xb_real *ds, xb_real *e, const xb_real *dy,
                               const xb_local_layer *l)
{
    int64_t size = l->in * l->out;
    for (int64_t i = 0; i < l->rows * l->out; i++) e[i] *= dy[i];
    dense_backward_weight(dw, l->x, dy, l->rows, l->in, l->out);
    dense_backward_weight(ds, l->xx, e, l->rows, l->in, l->out);
    if (!l->bias) return;
    bias_backward(dw + size, dy, l->rows, l->out);
    bias_backward(ds + size, e, l->rows, l->out);
}

static void local_dense_input(xb_real *dx, const xb_real *dy, const xb_real *dv,
                              const xb_local_layer *l, xb_act f)
{
    dense_backward_input(dx, dy, l->mu, NULL, l->rows, l->in, l->out, XB_ACT_NONE);
    dense_backward_input(l->room, dv, l->variance, NULL, l->rows, l->in, l->out,
                         XB_ACT_NONE);
    add_product(dx, l->room, l->x, 1, l->rows * l->in);
    deactivate(dx, l->x, l->rows * l->in, f);
}

const xb_kernels xb_kernels_ref = {
    .name = "ref",
    .product = product,
    .dense_forward = dense_forward,
    .dense_backward_input = dense_backward_input,
    .dense_backward_weight = dense_backward_weight,
    .dense_backward_params = dense_backward_params,
    .conv_room = conv_room,
    .conv_forward = conv_forward,
    .conv_backward_input = conv_backward_input,
    .conv_backward_weight = conv_backward_weight,
    .bias_backward = bias_backward,
    .maxpool_forward = maxpool_forward,
    .maxpool_backward = maxpool_backward,
    .norm_sum = norm_sum,
    .norm_square = norm_square,
    .norm_forward = norm_forward,
    .norm_backward_sum = norm_backward_sum,
    .norm_backward = norm_backward,
    .elu = {elu_forward, elu_backward},
    .relu = {relu_forward, relu_backward},
    .tanh = {tanh_forward, tanh_backward},
    .sigmoid = {sigmoid_forward, sigmoid_backward},
    .theta = theta,
    .multiply = multiply,
    .add = add,
    .add_product = add_product,
    .channel_multiply = channel_multiply,
    .channel_add_product = channel_add_product,
    .flip_theta = flip_theta,
    .flip_add = flip_add,
    .signs = signs,
    .local_forward = local_forward,
    .local_backward = local_backward,
    .local_input = local_input,
    .local_dense_forward = local_dense_forward,
    .local_dense_params = local_dense_params,
    .local_dense_input = local_dense_input,
    .quantise = quantise,
    .quantise_add = quantise_add,
    .quantise_onto = quantise_onto,
    .bend = bend,
    .hold = hold,
    .hold_level = hold_level,
};
