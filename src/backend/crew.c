/* crew.c: see crew.h. */
#include "backend/crew.h"

#include <stdlib.h>

#include "backend/sums.h"
#include "base/memory.h"

xb_split xb_crew_blocks(int64_t batch)
{
    const int64_t dear = INT64_C(1) << 30; /* multiply-adds: worth any piece */
    return xb_split_of(batch, dear, XB_SPLIT_ANY);
}

xb_crew *xb_crew_create(xb_ctx *ctx, xb_comm *comm)
{
    xb_crew *crew = xb_new(ctx, 1, sizeof *crew);
    if (!crew) return NULL;
    *crew = (xb_crew){.comm = comm};
    crew->cut = xb_new(ctx, 2 * (comm->size + 1), sizeof *crew->cut);
    if (crew->cut) {
        crew->row = crew->cut + comm->size + 1;
        return crew;
    }
    free(crew);
    return NULL;
}

void xb_crew_destroy(xb_crew *crew)
{
    if (!crew) return;
    xb_sums_destroy(crew->sums);
    free(crew->cut);
    free(crew);
}

void xb_crew_plan(xb_crew *crew, int64_t batch)
{
    const int64_t ranks = crew->comm->size, me = crew->comm->rank;
    crew->blocks = xb_crew_blocks(batch);
    for (int64_t r = 0; r <= ranks; r++) {
        const int64_t per = crew->blocks.per, count = crew->blocks.count;
        int64_t cut = (r * batch + ranks * per / 2) / (ranks * per); /* the nearest */
        if (r > 0 && cut == 0 && count > 0) cut = 1;
        crew->cut[r] = r == ranks || cut > count ? count : cut;
        crew->row[r] = crew->cut[r] * per < batch ? crew->cut[r] * per : batch;
    }
    crew->first = crew->row[me];
    crew->end = crew->row[me + 1];
}

typedef struct part_job {
    const xb_split *split;
    int64_t first; /* piece */
    xb_range_fn body;
    void *arg;
} part_job;

static void run_piece(void *arg, int64_t i)
{
    const part_job *job = arg;
    const int64_t piece = job->first + i, begin = piece * job->split->per;
    const int64_t end = begin + job->split->per, total = job->split->total;
    job->body(job->arg, piece, begin, end < total ? end : total);
}

void xb_crew_run(const xb_ctx *ctx, const xb_crew *crew, const xb_split *split,
                 xb_range_fn body, void *arg)
{
    if (!crew) {
        xb_split_run(ctx, split, body, arg);
        return;
    }
    const int64_t me = crew->comm->rank, first = crew->cut[me];
    part_job job = {split, first, body, arg};
    xb_parallel_for(ctx, crew->cut[me + 1] - first, run_piece, &job);
}
