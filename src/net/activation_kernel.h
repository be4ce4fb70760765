/* activation_kernel.h: elu, relu, tanh, sigmoid in plain C; maths N6. Gradients from
 * the output alone, so that the input need not be kept. */
#ifndef XB_NET_ACTIVATION_KERNEL_H
#define XB_NET_ACTIVATION_KERNEL_H

#include <tgmath.h>

#include "net/backend.h"

static void elu_forward(xb_real *y, const xb_real *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : expm1(x[i]);
}
static void elu_backward(xb_real *dx, const xb_real *dy, const xb_real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dx[i] = y[i] > 0 ? dy[i] : dy[i] * (y[i] + 1);
}

static void relu_forward(xb_real *y, const xb_real *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] = x[i] <= 0 ? 0 : x[i]; /* NaN stays */
}
static void relu_backward(xb_real *dx, const xb_real *dy, const xb_real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dx[i] = y[i] > 0 ? dy[i] : 0;
}

static void tanh_forward(xb_real *y, const xb_real *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] = tanh(x[i]);
}
static void tanh_backward(xb_real *dx, const xb_real *dy, const xb_real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dx[i] = dy[i] * (1 - y[i] * y[i]);
}

static void sigmoid_forward(xb_real *y, const xb_real *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] = 1 / (1 + exp(-x[i]));
}
static void sigmoid_backward(xb_real *dx, const xb_real *dy, const xb_real *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) dx[i] = dy[i] * (y[i] * (1 - y[i]));
}

#endif
