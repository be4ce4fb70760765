/* surrogate.h: simulated noise of a given spectrum, as means of blocks, with which the
 * searches for jumps and trends are compared. */
#ifndef XB_SERIES_SURROGATE_H
#define XB_SERIES_SURROGATE_H

#include <complex.h>

#include "base/fft.h"
#include "series/welch.h"

typedef struct xb_surrogate {
    int64_t blocks;
    xb_fft fft; /* for at least twice as many blocks, because what it makes is periodic */
    double *amplitude; /* [fft.n] */
    double complex *z; /* [fft.n] */
    xb_key key;
} xb_surrogate;

/* (T5) Prepares means of `block` samples, which are `interval` seconds apart. */
xb_status xb_surrogate_make(xb_ctx *ctx, xb_surrogate *out, const xb_log_spectrum *s,
                            int64_t blocks, int64_t block, double interval,
                            uint64_t seed);
void xb_surrogate_free(xb_surrogate *s);

/* Makes two independent traces, [blocks] each; `pair` counts from 0. */
void xb_surrogate_pair(xb_surrogate *s, double *a, double *b, int64_t pair);

#endif
