/* fit_kernels.h: the loops of a fit that touch every value or every run, as kernels for
 * the current machine; those that traces also use are in series/trace_kernels.h.
 * fit_kernels_body.h is their one source; it uses no fused operations and sums in a fixed
 * number of lanes, so all levels give the same bytes (tests/test_fit_kernels.c). */
#ifndef XB_FIT_KERNELS_H
#define XB_FIT_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/level.h"
#include "crossbayes/random.h"
#include "fit/null_process.h"

enum { XB_NULL_LANES = 16, XB_NULL_TABLE = 1024 };

/* (F7) The numbers that the runs of null_process.c need; columns that do not exist are 0.
 */
typedef struct xb_null_path {
    float dual[XB_NULL_COLUMNS][XB_NULL_CELLS];   /* per cell, multiplied by its noise */
    float column[XB_NULL_COLUMNS][XB_NULL_CELLS]; /* integral up to the cell's end */
    float unseen[XB_NULL_COLUMNS][XB_NULL_COLUMNS]; /* a root of the covariance that cells
                                                       do not contain */
    float table[XB_NULL_TABLE];                     /* standard normal quantiles */
    xb_key key;
    float limit;
    int columns; /* number of columns that exist */
} xb_null_path;

/* A distribution function between two values: c0 + r (c1 + r (c2 + r c3)),
 * r = (x - x0) * inverse. */
typedef struct xb_cubic {
    double x0, inverse, c[4];
} xb_cubic;

/* Sums over the sorted values first .. first + n - 1 out of `total`, with u_i the cubic
 * at the i-th value: the least and the largest u_i - i / total, and (F10)'s sum of (2i +
 * 1) log u_i + (2 (total - i) - 1) log(1 - u_i). */
typedef struct xb_misfit {
    double least, largest, sum;
} xb_misfit;

enum { XB_MISFIT_UNIT = 8 }; /* number of values that are processed together */

typedef struct xb_fit_kernels {
    const char *level;
    /* Adds to `to`. n is a multiple of XB_MISFIT_UNIT, and all u_i and 1 - u_i are within
     * a factor of two of those at r = 1/2. */
    void (*misfit)(xb_misfit *to, const xb_cubic *cubic, const double *x, int64_t n,
                   int64_t first, int64_t total);
    /* The probabilities that runs first .. first + 15 pass the limit. */
    void (*null_runs)(float *chance, const xb_null_path *path, uint32_t first);
} xb_fit_kernels;

extern const xb_fit_kernels xb_fit_kernels_plain;

/* The i-th kernels that this machine supports, the fastest first; NULL: no more. */
static inline const xb_fit_kernels *xb_fit_kernels_at(int i)
{
    return xb_level_at(i) ? xb_level_at(i)->fit : NULL;
}
static inline const xb_fit_kernels *xb_fit_kernels_best(void)
{
    return xb_level_at(0)->fit;
}

#endif
