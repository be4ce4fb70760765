/* trace_kernels.h: the loops over every value of a trace, sorted or in time order, as
 * kernels for the current machine. trace_kernels_body.h is their one source; it uses no
 * fused operations and sums in a fixed number of lanes, so all levels give the same bytes
 * (tests/test_fit_kernels.c). */
#ifndef XB_SERIES_TRACE_KERNELS_H
#define XB_SERIES_TRACE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/level.h"

enum { XB_LAGS = 8, XB_POWERS = 8 };

/* A first look at the values; NaN and infinite values are only counted. */
typedef struct xb_look {
    double min, max;
    int64_t bad;
    uint64_t checksum;
} xb_look;

typedef struct xb_trace_kernels {
    const char *level;
    xb_look (*look)(const double *x, int64_t n);
    /* The number of values that differ from the one before; x is sorted, n >= 1. */
    int64_t (*rises)(const double *x, int64_t n);
    /* (F8) Sums d_i d_{i+k} for k < XB_LAGS, d = (x - centre) * inverse. */
    void (*lags)(double *sums, const double *x, int64_t n, double centre, double inverse);
    /* Adds up r^0 .. r^7, r = (x - centre) * inverse. */
    void (*powers)(double *sums, const double *x, int64_t n, double centre,
                   double inverse);
} xb_trace_kernels;

extern const xb_trace_kernels xb_trace_kernels_plain;

/* The i-th kernels that this machine supports, the fastest first; NULL: no more. */
static inline const xb_trace_kernels *xb_trace_kernels_at(int i)
{
    return xb_level_at(i) ? xb_level_at(i)->trace : NULL;
}
static inline const xb_trace_kernels *xb_trace_kernels_best(void)
{
    return xb_level_at(0)->trace;
}

#endif
