/* backend_ref.c: every kernel in plain C, in the order of its definition. Always
 * built; what the other backends are compared with. */
#include "net/activation_kernel.h"
#include "net/array_kernel.h"
#include "net/batchnorm_kernel.h"
#include "net/conv_kernel.h"
#include "net/dense_kernel.h"
#include "net/local_kernel.h"
#include "net/maxpool_kernel.h"
#include "net/noise_kernel.h"

static void dense_backward_params(xb_real *dw, xb_real *db, const xb_real *x,
                                  const xb_real *dy, int64_t rows, int64_t in,
                                  int64_t out)
{
    dense_backward_weight(dw, x, dy, rows, in, out);
    bias_backward(db, dy, rows, out);
}

const xb_backend xb_backend_ref = {
    .name = "ref",
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
    .signs = signs,
    .local_forward = local_forward,
    .local_forward_slope = local_forward_slope,
    .local_backward = local_backward,
    .local_input = local_input,
    .quantise = quantise,
    .quantise_add = quantise_add,
    .quantise_onto = quantise_onto,
    .bend = bend,
    .hold = hold,
};
