/* split.c: see split.h. */
#include "backend/split.h"

#include "base/parallel.h"

/* Multiply-adds worth a piece: some 20 microseconds, what starting a thread costs. */
enum { PIECE_WORK = 1 << 19 };

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

xb_split xb_split_of(int64_t total, int64_t work, int64_t most)
{
    int64_t per = worth_a_piece(work);
    int64_t least = quotient_up(total, most < XB_SPLIT_MAX ? most : XB_SPLIT_MAX);
    if (per < least) per = least;
    return (xb_split){total, per, quotient_up(total, per)};
}

int64_t xb_split_most(int64_t total, int64_t work, int64_t most)
{
    int64_t count = quotient_up(total, worth_a_piece(work));
    if (count > most) count = most;
    return count < XB_SPLIT_MAX ? count : XB_SPLIT_MAX;
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
