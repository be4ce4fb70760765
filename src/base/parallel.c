/* parallel.c: see parallel.h. */
#include "base/parallel.h"

void xb_parallel_for(const xb_ctx *ctx, int64_t pieces, xb_piece_fn body, void *arg)
{
    int threads = xb_ctx_threads(ctx);
    if (threads > pieces) threads = pieces > 0 ? (int)pieces : 1;
    if (threads == 1) { /* not even a team of one: OpenMP would allocate it each time */
        for (int64_t piece = 0; piece < pieces; piece++) body(arg, piece);
        return;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t piece = 0; piece < pieces; piece++) body(arg, piece);
}
