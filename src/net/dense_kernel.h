/* dense_kernel.h: the dense layer in plain C; maths N1. */
#ifndef XB_NET_DENSE_KERNEL_H
#define XB_NET_DENSE_KERNEL_H

#include <string.h>

#include "net/backend.h"

static inline void dense_forward(xb_real *restrict y, const xb_real *x, const xb_real *w,
                                 const xb_real *b, int64_t rows, int64_t in, int64_t out)
{
    for (int64_t r = 0; r < rows; r++, x += in, y += out) {
        for (int64_t o = 0; o < out; o++) y[o] = b ? b[o] : 0;
        for (int64_t i = 0; i < in; i++)
            for (int64_t o = 0; o < out; o++) y[o] += x[i] * w[i * out + o];
    }
}

static inline void dense_backward_input(xb_real *restrict dx, const xb_real *dy,
                                        const xb_real *w, int64_t rows, int64_t in,
                                        int64_t out)
{
    for (int64_t r = 0; r < rows; r++, dx += in, dy += out)
        for (int64_t i = 0; i < in; i++) {
            xb_real sum = 0;
            for (int64_t o = 0; o < out; o++) sum += dy[o] * w[i * out + o];
            dx[i] = sum;
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
