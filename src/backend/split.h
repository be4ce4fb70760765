/* split.h: work cut into pieces whose bounds depend on sizes alone, never on the
 * number of threads; partial sums are added in the order of the pieces. */
#ifndef XB_BACKEND_SPLIT_H
#define XB_BACKEND_SPLIT_H

#include "base/ctx.h"

enum { XB_SPLIT_MAX = 16 }; /* pieces */

typedef struct xb_split {
    int64_t total, per, count; /* count pieces of `per`, the last may be short */
} xb_split;

typedef void (*xb_range_fn)(void *arg, int64_t piece, int64_t begin, int64_t end);

/* `work` is what one of the total costs, in multiply-adds; at most `most` pieces, and
 * one piece if the whole is not worth a second thread. */
xb_split xb_split_of(int64_t total, int64_t work, int64_t most);
/* The most pieces any total up to this one is cut into: what to have room for. */
int64_t xb_split_most(int64_t total, int64_t work, int64_t most);
void xb_split_run(const xb_ctx *ctx, const xb_split *split, xb_range_fn body, void *arg);

#endif
