/* split.h: work cut into pieces whose bounds depend on sizes alone, never on the
 * number of threads; partial sums are added in a tree of piece numbers (base/tree.h). */
#ifndef XB_BACKEND_SPLIT_H
#define XB_BACKEND_SPLIT_H

#include "base/ctx.h"

#define XB_SPLIT_ANY INT64_MAX /* pieces: as many as the work is worth */

typedef struct xb_split {
    int64_t total, per, count; /* count pieces of `per`, the last may be short */
} xb_split;

typedef void (*xb_range_fn)(void *arg, int64_t piece, int64_t begin, int64_t end);

/* How many pieces may have `slot` reals of room each: 16 at least, more within 16 MiB. */
int64_t xb_split_slots(int64_t slot);

/* `work` is what one of the total costs, in multiply-adds; at most `most` pieces, and
 * one piece if the whole is not worth a second thread. Up to 256 are cut into 16 pieces
 * at most, more of them into pieces of 16: products want several rows at a time. */
xb_split xb_split_of(int64_t total, int64_t work, int64_t most);
/* The most pieces any total up to this one is cut into: what to have room for. */
int64_t xb_split_most(int64_t total, int64_t work, int64_t most);
void xb_split_run(const xb_ctx *ctx, const xb_split *split, xb_range_fn body, void *arg);

#endif
