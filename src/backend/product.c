/* product.c: a product of matrices for programs (crossbayes/extend.h). Threads take
 * blocks of columns, whose bounds depend on the sizes alone: a block packs its own part
 * of B, and no element of C is shared. */
#include "base/ctx.h"
#include "base/level.h"
#include "kernel/kernels.h"

enum {
    WIDTH = 64,     /* columns of a block: two strips of the widest kernels */
    WORTH = 1 << 20 /* multiply-adds that are worth a second thread */
};

static void block(void *arg, int64_t piece)
{
    xb_product p = *(const xb_product *)arg;
    const int64_t from = piece * WIDTH;
    p.n = p.n - from < WIDTH ? p.n - from : WIDTH;
    p.c += from;
    p.b += p.b_is_transposed ? from * p.b_row : from;
    if (p.bias) p.bias += from;
    xb_level_at(0)->net->product(&p);
}

void xb_product_run(const xb_ctx *ctx, const xb_product *p)
{
    xb_product own = *p;
    const int64_t blocks = (p->n + WIDTH - 1) / WIDTH;
    if (p->m * p->n * p->k >= WORTH)
        xb_parallel_for(ctx, blocks, block, &own);
    else
        for (int64_t i = 0; i < blocks; i++) block(&own, i);
}
