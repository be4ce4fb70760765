/* crew.h: ranks that run the layers of one pass together, each on rows of its own (maths
 * M2).
 *
 * The examples of a batch are cut into blocks, as layers worth it are cut into pieces
 * (split.h), and each rank has a run of neighbouring blocks. A layer whose pieces are the
 * blocks is dealt: a rank does its own pieces, and the sums over pieces, of weight
 * gradients and of batchnorm's statistics, are added in the tree of piece numbers by the
 * ranks that have them (sums.h, batchnorm_ops.c). So the bytes are those of one process.
 * Layers that are not dealt are run by every rank on all rows. The time of a step is
 * maths M3. */
#ifndef XB_BACKEND_CREW_H
#define XB_BACKEND_CREW_H

#include "backend/split.h"
#include "base/comm.h"

typedef struct xb_crew {
    xb_comm *comm;
    xb_split blocks;      /* of the batch */
    int64_t *cut;         /* [ranks + 1] first block of each rank */
    int64_t *row;         /* [ranks + 1] the same in rows */
    int64_t first, end;   /* this rank's rows */
    struct xb_sums *sums; /* of weight gradients (sums.h); NULL: a pass has none */
} xb_crew;

struct xb_run;

/* The blocks of a batch: pieces of the smallest size. */
xb_split xb_crew_blocks(int64_t batch);
/* NULL: memory has run out. */
xb_crew *xb_crew_create(xb_ctx *ctx, xb_comm *comm);
void xb_crew_destroy(xb_crew *crew); /* NULL is fine */
/* Deals the blocks of a batch: each rank gets a run of about the same number of rows,
 * rank 0 the first. */
void xb_crew_plan(xb_crew *crew, int64_t batch);

/* Whether these pieces of a batch are its blocks. */
static inline bool xb_crew_fits(const xb_split *split, int64_t batch)
{
    return split->per == xb_crew_blocks(batch).per;
}

/* Runs all pieces, or those of the crew that this rank has. */
void xb_crew_run(const xb_ctx *ctx, const xb_crew *crew, const xb_split *split,
                 xb_range_fn body, void *arg);

#endif
