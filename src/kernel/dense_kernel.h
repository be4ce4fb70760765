/* dense_kernel.h: the dense layer in plain C; maths N1. The activation beside it is
 * that layer's own kernel, run over the result. */
#ifndef XB_KERNEL_DENSE_KERNEL_H
#define XB_KERNEL_DENSE_KERNEL_H

#include <string.h>

#include "kernel/activation_kernel.h"

static inline void product(const xb_product *p)
{
    const int64_t b_step = p->b_is_transposed ? 1 : p->b_row;
    const int64_t b_column = p->b_is_transposed ? p->b_row : 1;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            xb_real sum = p->bias ? p->bias[j] : 0;
            for (int64_t k = 0; k < p->k; k++)
                sum +=
                    p->a[i * p->a_row + k * p->a_step] * p->b[k * b_step + j * b_column];
            p->c[i * p->c_row + j] = sum;
        }
}

static inline void activate(xb_real *y, int64_t n, xb_act f)
{
    switch (f) {
    case XB_ACT_ELU: elu_forward(y, y, n); break;
    case XB_ACT_RELU: relu_forward(y, y, n); break;
    case XB_ACT_TANH: tanh_forward(y, y, n); break;
    case XB_ACT_SIGMOID: sigmoid_forward(y, y, n); break;
    case XB_ACT_NONE: break;
    }
}

static inline void dense_forward(xb_real *restrict y, const xb_real *x, const xb_real *w,
                                 const xb_real *b, int64_t rows, int64_t in, int64_t out,
                                 xb_act f)
{
    for (int64_t r = 0; r < rows; r++, x += in, y += out) {
        for (int64_t o = 0; o < out; o++) y[o] = b ? b[o] : 0;
        for (int64_t i = 0; i < in; i++)
            for (int64_t o = 0; o < out; o++) y[o] += x[i] * w[i * out + o];
        activate(y, out, f);
    }
}

static inline void deactivate(xb_real *dx, const xb_real *x, int64_t n, xb_act f)
{
    switch (f) {
    case XB_ACT_ELU: elu_backward(dx, dx, x, n); break;
    case XB_ACT_RELU: relu_backward(dx, dx, x, n); break;
    case XB_ACT_TANH: tanh_backward(dx, dx, x, n); break;
    case XB_ACT_SIGMOID: sigmoid_backward(dx, dx, x, n); break;
    case XB_ACT_NONE: break;
    }
}

static inline void dense_backward_input(xb_real *restrict dx, const xb_real *dy,
                                        const xb_real *w, const xb_real *x, int64_t rows,
                                        int64_t in, int64_t out, xb_act f)
{
    for (int64_t r = 0; r < rows; r++, dx += in, dy += out) {
        for (int64_t i = 0; i < in; i++) {
            xb_real sum = 0;
            for (int64_t o = 0; o < out; o++) sum += dy[o] * w[i * out + o];
            dx[i] = sum;
        }
        deactivate(dx, x ? x + r * in : NULL, in, f);
    }
}

static inline void dense_backward_weight(xb_real *restrict dw, const xb_real *x,
                                         const xb_real *dy, int64_t rows, int64_t in,
                                         int64_t out)
{
    memset(dw, 0, (size_t)(in * out) * sizeof *dw);
    for (int64_t r = 0; r < rows; r++, x += in, dy += out)
        for (int64_t i = 0; i < in; i++)
            for (int64_t o = 0; o < out; o++) dw[i * out + o] += x[i] * dy[o];
}

#endif
