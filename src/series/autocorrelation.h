/* autocorrelation.h: the autocorrelation of a trace that has been checked. */
#ifndef XB_SERIES_AUTOCORRELATION_H
#define XB_SERIES_AUTOCORRELATION_H

#include "base/ctx.h"
#include "series/signal.h"
#include "series/trace_kernels.h"

/* Fails and names the first value that is not finite, if there is one. Also fails if two
 * values are so far apart that their difference is not finite. */
xb_status xb_values_check(xb_ctx *ctx, const double *x, int64_t n, const xb_look *seen);

/* (F8) Works as xb_autocorrelation() does. */
xb_status xb_autocorrelation_signal(xb_ctx *ctx, double *rho, int64_t lags,
                                    const xb_signal *x);

/* (F9) Sums Geyer's sequence of these lags; returns true if it has ended within them. */
bool xb_geyer(double *tau, const double *rho, int64_t lags);

/* The autocorrelation at up to `most` near lags; for a long trace also at multiples of
 * `stride`, up to a quarter of the trace. Free both lists. */
typedef struct xb_memory {
    double *rho; /* [lags] */
    int64_t lags;
    double *coarse; /* [coarse_lags]; NULL: rho has all lags */
    int64_t coarse_lags, stride;
    double tau;
} xb_memory;

/* (F8, F9, F31) */
xb_status xb_memory_find(xb_ctx *ctx, xb_memory *out, const xb_signal *x);

/* (F8, F9) The integrated autocorrelation time and the correlation at lag 1 of n >= 2
 * values with this mean and this range > 0. */
xb_status xb_values_memory(xb_ctx *ctx, double *tau, double *lag1, const double *x,
                           int64_t n, double mean, double range);

#endif
