/* cells_ops.c: weights made of cells (maths V31), cut into pieces by their number alone;
 * one weight at a time in kernel/cells_kernel.h. */
#include "backend/host.h"
#include "crossbayes/extend.h"

enum { PIECE = 1 << 12 };

static void fill_piece(void *arg, int64_t piece)
{
    const xb_cell_block *k = arg;
    const int64_t end = (piece + 1) * PIECE;
    for (int64_t i = piece * PIECE; i < end && i < k->n; i++)
        xb_cell_weight(k->curve, k->state + i, k->stride, k->mu + i, k->sigma + i);
}

void xb_host_cells_fill(const xb_backend *b, const xb_ctx *ctx,
                        const xb_cell_block *block)
{
    (void)b;
    xb_cell_block job = *block;
    xb_parallel_for(ctx, (block->n + PIECE - 1) / PIECE, fill_piece, &job);
}

static void chain_piece(void *arg, int64_t piece)
{
    const xb_cell_block *k = arg;
    const int64_t end = (piece + 1) * PIECE;
    for (int64_t i = piece * PIECE; i < end && i < k->n; i++)
        xb_cell_gradient(k->curve, k->d_state + i, k->state + i, k->stride,
                         (double)k->d_mu[i], k->d_sigma ? (double)k->d_sigma[i] : 0);
}

void xb_host_cells_chain(const xb_backend *b, const xb_ctx *ctx,
                         const xb_cell_block *block)
{
    (void)b;
    xb_cell_block job = *block;
    xb_parallel_for(ctx, (block->n + PIECE - 1) / PIECE, chain_piece, &job);
}
