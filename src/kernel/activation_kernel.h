/* activation_kernel.h: elu, relu, tanh, sigmoid in plain C; maths N6. Gradients from
 * the output alone, so that the input need not be kept. Outputs may be inputs (the same
 * pointer, hence `ivdep`). */
#ifndef XB_KERNEL_ACTIVATION_KERNEL_H
#define XB_KERNEL_ACTIVATION_KERNEL_H

#include <tgmath.h>

#include "base/compiler.h"
#include "kernel/kernels.h"

static inline void elu_forward(xb_real *y, const xb_real *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : expm1(x[i]);
}
static inline void elu_backward(xb_real *dx, const xb_real *dy, const xb_real *y,
                                int64_t n)
{
    XB_INDEPENDENT
    for (int64_t i = 0; i < n; i++) dx[i] = y[i] > 0 ? dy[i] : dy[i] * (y[i] + 1);
}

static inline void relu_forward(xb_real *y, const xb_real *x, int64_t n)
{
    XB_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = x[i] <= 0 ? 0 : x[i]; /* NaN stays */
}
static inline void relu_backward(xb_real *dx, const xb_real *dy, const xb_real *y,
                                 int64_t n)
{
    XB_INDEPENDENT
    for (int64_t i = 0; i < n; i++) dx[i] = y[i] > 0 ? dy[i] : 0;
}

static inline void tanh_forward(xb_real *y, const xb_real *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] = tanh(x[i]);
}
static inline void tanh_backward(xb_real *dx, const xb_real *dy, const xb_real *y,
                                 int64_t n)
{
    XB_INDEPENDENT
    for (int64_t i = 0; i < n; i++) dx[i] = dy[i] * (1 - y[i] * y[i]);
}

static inline void sigmoid_forward(xb_real *y, const xb_real *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] = 1 / (1 + exp(-x[i]));
}
static inline void sigmoid_backward(xb_real *dx, const xb_real *dy, const xb_real *y,
                                    int64_t n)
{
    XB_INDEPENDENT
    for (int64_t i = 0; i < n; i++) dx[i] = dy[i] * (y[i] * (1 - y[i]));
}

#endif
