/* ranks_aside.c: ranks that work together wait for each other many times in a second, and
 * each repeats a part of the work. More of them than a machine has cores would only slow
 * each other down, so the last ones on a machine stand aside: they sleep until the job is
 * over. Sums do not depend on the number of ranks, so the bytes stay the same. Items of
 * work that ranks do alone (work.c) are not concerned. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "work/ranks.h"

static const char ALL[] = "CROSSBAYES_OVERSUBSCRIBE"; /* set: no rank stands aside */

static int64_t ranks_before(const xb_ranks *r, int rank)
{
    int64_t n = 0;
    for (int i = 0; i < rank; i++) n += r->state[i].machine == r->state[rank].machine;
    return n;
}

void xb_ranks_choose_aside(xb_ranks *r)
{
    const char *all = getenv(ALL);
    if (all && *all) return;
    for (int i = 1; i < r->by->size; i++)
        r->aside[i] = ranks_before(r, i) >= r->state[i].cores;
}

static xb_status stand_aside(xb_ctx *ctx, xb_ranks *r)
{
    enum { REST = 50000 }; /* microseconds */
    for (;;) {
        xb_os_lock_take(&r->wire);
        const bool over = xb_rank_dismissed(r);
        xb_os_lock_give(&r->wire);
        if (over) return xb_fail(ctx, XB_E_ELSEWHERE, "rank 0 has the results");
        XB_TRY(xb_progress_tell(ctx, "standing aside", 0, 1));
        r->by->rest(REST);
    }
}

xb_status xb_ranks_sit_down(xb_ctx *ctx, xb_ranks *r)
{
    const int me = r->by->rank;
    if (r->aside[me]) return stand_aside(ctx, r);
    if (r->seat) return XB_OK;
    r->seat = xb_new(ctx, r->by->size, sizeof *r->seat);
    if (!r->seat) return XB_E_MEMORY;
    r->comm.size = 0;
    for (int i = 0; i < r->by->size; i++) {
        if (i == me) r->comm.rank = r->comm.size;
        if (!r->aside[i]) r->seat[r->comm.size++] = i;
    }
    return XB_OK;
}
