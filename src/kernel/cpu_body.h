/* cpu_body.h: the `cpu` backend, included once per level.
 * Matrix products and exponentials have vector code of their own; the other kernels
 * are the plain ones, which the compiler turns into vectors at each level. */
#include "kernel/activation_kernel.h"
#include "kernel/array_kernel.h"
#include "kernel/batchnorm_kernel.h"
#include "kernel/cpu_activation.h"
#include "kernel/cpu_array.h"
#include "kernel/cpu_block.h"
#include "kernel/cpu_draw.h"
#include "kernel/cpu_linear.h"
#include "kernel/cpu_local_dense.h"
#include "kernel/maxpool_kernel.h"
#include "kernel/noise_kernel.h"
#include "kernel/cpu_panel.h"

static const xb_kernels XB_OF_LEVEL(xb_kernels) = {
    .name = "cpu-" XB_LEVEL_NAME,
    .fused = XB_LEVEL_FUSED,
    .product = cpu_product,
    .dense_forward = cpu_dense_forward,
    .dense_backward_input = cpu_dense_backward_input,
    .dense_backward_weight = cpu_dense_backward_weight,
    .panel_row = cpu_panel_row,
    .dense_panel = cpu_dense_panel,
    .panel_add = cpu_panel_add,
    .panel_draw_add = cpu_panel_draw_add,
    .dense_backward_params = cpu_dense_backward_params,
    .dense_draw_forward = cpu_dense_draw_forward,
    .dense_draw_backward = cpu_dense_draw_backward,
    .conv_room = cpu_conv_room,
    .conv_forward = cpu_conv_forward,
    .conv_backward_input = cpu_conv_backward_input,
    .conv_backward_weight = cpu_conv_backward_weight,
    .bias_backward = cpu_bias_backward,
    .block = CPU_BLOCK,
    .maxpool_forward = maxpool_forward,
    .maxpool_backward = maxpool_backward,
    .norm_sum = norm_sum,
    .norm_square = norm_square,
    .norm_forward = norm_forward,
    .norm_backward_sum = norm_backward_sum,
    .norm_backward = norm_backward,
    .elu = {cpu_elu_forward, elu_backward},
    .relu = {relu_forward, relu_backward},
    .tanh = {cpu_tanh_forward, tanh_backward},
    .sigmoid = {cpu_sigmoid_forward, sigmoid_backward},
    .theta = theta,
    .multiply = multiply,
    .add = add,
    .add_product = add_product,
    .channel_multiply = channel_multiply,
    .channel_add_product = channel_add_product,
    .flip_theta = flip_theta,
    .flip_add = flip_add,
    .signs = signs,
    .local_forward = cpu_local_forward,
    .local_backward = cpu_local_backward,
    .local_input = cpu_local_input,
    .local_dense_forward = cpu_local_dense_forward,
    .local_dense_params = cpu_local_dense_params,
    .local_dense_input = cpu_local_dense_input,
    .quantise = quantise,
    .quantise_add = quantise_add,
    .quantise_onto = cpu_quantise_onto,
    .bend = bend,
    .panel_bend_add = cpu_panel_bend_add,
    .hold = hold,
    .hold_level = hold_level,
};
