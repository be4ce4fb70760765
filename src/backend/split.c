/* split.c: see split.h. */
#include "backend/split.h"

#include "crossbayes/extend.h"

/* Multiply-adds worth a piece: some 20 microseconds, what starting a thread costs. */
enum { PIECE_WORK = 1 << 19 };

enum { FEW = 16, ROWS = 16, SLOTS = 1 << 22 }; /* pieces; of the total; reals */

typedef struct split_job {
    const xb_split *split;
    xb_range_fn body;
    void *arg;
} split_job;

static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t worth_a_piece(int64_t work)
{
    return quotient_up(PIECE_WORK, work > 0 ? work : 1);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t xb_split_slots(int64_t slot)
{
    return slot > 0 ? larger(FEW, SLOTS / slot) : XB_SPLIT_ANY;
}

xb_split xb_split_of(int64_t total, int64_t work, int64_t most)
{
    int64_t rows = smaller(quotient_up(total, FEW), ROWS);
    int64_t per = larger(worth_a_piece(work), rows);
    if (most < total) per = larger(per, quotient_up(total, most));
    return (xb_split){total, per, quotient_up(total, per)};
}

int64_t xb_split_most(int64_t total, int64_t work, int64_t most)
{
    int64_t count = smaller(quotient_up(total, worth_a_piece(work)), most);
    return smaller(count, larger(FEW, quotient_up(total, ROWS)));
}

static void run_piece(void *arg, int64_t piece)
{
    const split_job *job = arg;
    int64_t begin = piece * job->split->per, end = begin + job->split->per;
    job->body(job->arg, piece, begin, end < job->split->total ? end : job->split->total);
}

void xb_split_run(const xb_ctx *ctx, const xb_split *split, xb_range_fn body, void *arg)
{
    split_job job = {split, body, arg};
    if (split->count == 1)
        run_piece(&job, 0);
    else
        xb_parallel_for(ctx, split->count, run_piece, &job);
}
