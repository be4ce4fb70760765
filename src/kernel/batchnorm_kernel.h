/* batchnorm_kernel.h: sums over rows in double and the affine maps of batchnorm,
 * channel by channel; maths N4, N5. One source for all backends. */
#ifndef XB_KERNEL_BATCHNORM_KERNEL_H
#define XB_KERNEL_BATCHNORM_KERNEL_H

#include <string.h>

#include "base/compiler.h"
#include "kernel/kernels.h"

static inline void norm_sum(double *restrict sum, const xb_real *x, int64_t rows,
                            int64_t c)
{
    memset(sum, 0, (size_t)c * sizeof *sum);
    for (int64_t r = 0; r < rows; r++, x += c)
        for (int64_t i = 0; i < c; i++) sum[i] += (double)x[i];
}

static inline void norm_square(double *restrict sum, const xb_real *x,
                               const xb_real *mean, int64_t rows, int64_t c)
{
    memset(sum, 0, (size_t)c * sizeof *sum);
    for (int64_t r = 0; r < rows; r++, x += c)
        for (int64_t i = 0; i < c; i++) {
            double d = (double)(x[i] - mean[i]);
            sum[i] += d * d;
        }
}

static inline void norm_forward(xb_real *y, const xb_real *x,
                                const xb_real *restrict mean,
                                const xb_real *restrict gain,
                                const xb_real *restrict shift, int64_t rows, int64_t c)
{
    for (int64_t r = 0; r < rows; r++, x += c, y += c) {
        XB_INDEPENDENT /* y may be x */
        for (int64_t i = 0; i < c; i++) y[i] = (x[i] - mean[i]) * gain[i] + shift[i];
    }
}

static inline void norm_backward_sum(double *restrict dy_sum, double *restrict dyx_sum,
                                     const xb_real *dy, const xb_real *x,
                                     const xb_real *mean, int64_t rows, int64_t c)
{
    memset(dy_sum, 0, (size_t)c * sizeof *dy_sum);
    memset(dyx_sum, 0, (size_t)c * sizeof *dyx_sum);
    for (int64_t r = 0; r < rows; r++, x += c, dy += c)
        for (int64_t i = 0; i < c; i++) {
            dy_sum[i] += (double)dy[i];
            dyx_sum[i] += (double)dy[i] * (double)(x[i] - mean[i]);
        }
}

static inline void norm_backward(xb_real *dx, const xb_real *dy, const xb_real *x,
                                 const xb_real *restrict mean,
                                 const xb_real *restrict gain, const xb_real *restrict a,
                                 const xb_real *restrict b, int64_t rows, int64_t c)
{
    for (int64_t r = 0; r < rows; r++, x += c, dy += c, dx += c) {
        XB_INDEPENDENT /* dx may be dy */
        for (int64_t i = 0; i < c; i++)
            dx[i] = gain[i] * (dy[i] - a[i] - (x[i] - mean[i]) * b[i]);
    }
}

#endif
