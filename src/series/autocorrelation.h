/* autocorrelation.h: the autocorrelation of a trace that has been checked. */
#ifndef XB_SERIES_AUTOCORRELATION_H
#define XB_SERIES_AUTOCORRELATION_H

#include "base/ctx.h"
#include "series/trace_kernels.h"

/* Fails with the first value that is not finite, if there is one, and if two values are
 * so far apart that their difference is not finite. */
xb_status xb_values_check(xb_ctx *ctx, const double *x, int64_t n, const xb_look *seen);

/* (F8, F9) The integrated autocorrelation time and the correlation at lag 1 of n >= 2
 * values with this mean and this range > 0. */
xb_status xb_values_memory(xb_ctx *ctx, double *tau, double *lag1, const double *x,
                           int64_t n, double mean, double range);

#endif
