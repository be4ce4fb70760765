/* tagged.h: values in ascending order, each with the group it came from. */
#ifndef XB_COMPARE_TAGGED_H
#define XB_COMPARE_TAGGED_H

#include "base/ctx.h"

typedef struct xb_tagged {
    double x;
    int32_t tag;
    int32_t draw; /* available to the caller */
} xb_tagged;

/* Sorts by a stable merge sort, O(n log n); `spare` has room for n items. There must be
 * no NaN. */
void xb_tagged_sort(xb_tagged *item, xb_tagged *spare, int64_t n);

#endif
