/* parallel.h: a loop over independent pieces.
 *
 * The caller cuts the work into pieces whose bounds do not depend on the number
 * of threads, and adds partial results in the order of the pieces: then the
 * bytes are the same for any number of threads. */
#ifndef XB_BASE_PARALLEL_H
#define XB_BASE_PARALLEL_H

#include "base/ctx.h"

typedef void (*xb_piece_fn)(void *arg, int64_t piece);

/* Calls body(arg, p) for 0 <= p < pieces, each exactly once, in any order, by the caller
 * and up to xb_ctx_threads(ctx) - 1 threads besides; by fewer where they cannot be
 * started. A body may run a loop of its own, with threads of its own. */
void xb_parallel_for(const xb_ctx *ctx, int64_t pieces, xb_piece_fn body, void *arg);

#endif
