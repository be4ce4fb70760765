/* noise_kernel.h: the element by element arithmetic of random weights, and sums over
 * rows; maths N7-N11. One source for all backends. */
#ifndef XB_KERNEL_NOISE_KERNEL_H
#define XB_KERNEL_NOISE_KERNEL_H

#include <string.h>
#include <tgmath.h>

#include "kernel/kernels.h"

static inline void theta(xb_real *restrict out, const xb_real *mu, const xb_real *sigma,
                         const xb_real *z, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = mu[i] + sigma[i] * z[i];
}

static inline void multiply(xb_real *restrict out, const xb_real *a, const xb_real *b,
                            int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = a[i] * b[i];
}

static inline void add(xb_real *restrict sum, const xb_real *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++) sum[i] += a[i];
}

static inline void add_product(xb_real *restrict sum, const xb_real *a, const xb_real *b,
                               xb_real factor, int64_t n)
{
    for (int64_t i = 0; i < n; i++) sum[i] += factor * (a[i] * b[i]);
}

static inline void bias_backward(xb_real *restrict db, const xb_real *dy, int64_t rows,
                                 int64_t c)
{
    memset(db, 0, (size_t)c * sizeof *db);
    for (int64_t r = 0; r < rows; r++, dy += c)
        for (int64_t i = 0; i < c; i++) db[i] += dy[i];
}

static inline void channel_multiply(xb_real *restrict out, const xb_real *x,
                                    const xb_real *r, int64_t rows, int64_t pixels,
                                    int64_t c)
{
    for (int64_t n = 0; n < rows; n++, r += c)
        for (int64_t p = 0; p < pixels; p++, x += c, out += c)
            for (int64_t i = 0; i < c; i++) out[i] = x[i] * r[i];
}

static inline void channel_add_product(xb_real *restrict out, const xb_real *x,
                                       const xb_real *r, int64_t rows, int64_t pixels,
                                       int64_t c)
{
    for (int64_t n = 0; n < rows; n++, r += c)
        for (int64_t p = 0; p < pixels; p++, x += c, out += c)
            for (int64_t i = 0; i < c; i++) out[i] += x[i] * r[i];
}

static inline void flip_theta(xb_real *restrict out, const xb_real *mu,
                              const xb_real *noise, const xb_real *r, const xb_real *s,
                              int64_t positions, int64_t cin, int64_t cout)
{
    for (int64_t p = 0; p < positions; p++)
        for (int64_t c = 0; c < cin; c++, out += cout, mu += cout, noise += cout)
            for (int64_t i = 0; i < cout; i++) out[i] = mu[i] + noise[i] * (r[c] * s[i]);
}

static inline void flip_add(xb_real *restrict dw, xb_real *restrict ds, const xb_real *g,
                            const xb_real *r, const xb_real *s, int64_t positions,
                            int64_t cin, int64_t cout)
{
    for (int64_t p = 0; p < positions; p++)
        for (int64_t c = 0; c < cin; c++, dw += cout, ds += cout, g += cout)
            for (int64_t i = 0; i < cout; i++) {
                dw[i] += g[i];
                ds[i] += g[i] * (r[c] * s[i]);
            }
}

static inline void signs(xb_real *restrict sign, const uint32_t *word, int64_t n)
{
    for (int64_t i = 0; i < n; i++) sign[i] = (xb_real)(1 - 2 * (int32_t)(word[i] >> 31));
}

#endif
