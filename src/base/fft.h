/* fft.h: a small complex Fourier transform. */
#ifndef XB_BASE_FFT_H
#define XB_BASE_FFT_H

#include <complex.h>

#include "base/ctx.h"

/* re + i im for any values of the two: CMPLX of C11, which not every compiler's library
 * has. */
static inline double complex xb_cmplx(double re, double im)
{
    return __builtin_complex(re, im);
}

/* Tables for transforms of n = 2^k points, 1 <= n <= 2^30. */
typedef struct xb_fft {
    int64_t n;
    double complex *root; /* [n / 2] exp(-2 pi i k / n) */
} xb_fft;

xb_status xb_fft_make(xb_ctx *ctx, xb_fft *out, int64_t n);
void xb_fft_free(xb_fft *fft);

/* In place: y_k = sum_j z_j exp(-2 pi i j k / n). */
void xb_fft_forward(const xb_fft *fft, double complex *z);

#endif
