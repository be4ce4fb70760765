/* sort.h: ascending order for arrays of doubles without NaN. */
#ifndef XB_BASE_SORT_H
#define XB_BASE_SORT_H

#include "base/ctx.h"

/* Radix sort, O(n); needs room for a copy. */
xb_status xb_sort_doubles(xb_ctx *ctx, double *x, int64_t n);

#endif
