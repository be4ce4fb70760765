/* ranks_together.c: numbers between ranks that work together (base/comm.h): swaps over
 * the transport, a check of the other ranks, and the results of shared work for all
 * ranks. A rank that waits for numbers also notices when the job is over. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "work/ranks.h"

/* ---- checking the other ranks */

static bool is_over(xb_ranks *r)
{
    const bool first = r->comm.rank == 0;
    xb_os_lock *lock = first ? &r->lock : &r->wire;
    xb_os_lock_take(lock);
    const bool over = first ? r->failed != XB_OK : xb_rank_dismissed(r);
    xb_os_lock_give(lock);
    return over;
}

static bool give_up(void *arg) { return is_over(arg); }

static xb_status look_at_others(xb_ctx *ctx, xb_ranks *r, bool stopping)
{
    xb_os_lock_take(&r->lock);
    if (stopping) xb_rank_watch(r);
    const xb_status failed = r->failed;
    xb_os_lock_give(&r->lock);
    if (failed != XB_OK) r->comm.broken = true;
    return failed == XB_OK ? XB_OK : xb_fail(ctx, failed, "%s", r->message);
}

static xb_status look(xb_ctx *ctx, xb_comm *comm, bool stopping)
{
    const double pause = 0.02; /* seconds */
    xb_ranks *r = (xb_ranks *)comm;
    if (comm->rank == 0) return look_at_others(ctx, r, stopping);
    const double now = xb_os_seconds();
    if (!comm->broken && now - r->looked < pause) return XB_OK;
    r->looked = now;
    if (!comm->broken && !is_over(r)) return XB_OK;
    comm->broken = true;
    return xb_fail(ctx, XB_E_ELSEWHERE, "rank 0 has ended");
}

/* ---- numbers */

static int piece_of(int64_t left)
{
    return left < XB_RANKS_PIECE ? (int)left : XB_RANKS_PIECE;
}

static bool swap(xb_comm *comm, int64_t to, const void *out, int64_t n, int64_t from,
                 void *in, int64_t m)
{
    xb_ranks *r = (xb_ranks *)comm;
    const char *give = out;
    char *take = in;
    for (bool done = false; !done;) {
        const xb_swap piece = {.to = to >= 0 && n > 0 ? r->seat[to] : -1,
                               .from = from >= 0 && m > 0 ? r->seat[from] : -1,
                               .out = give,
                               .in = take,
                               .out_size = piece_of(n),
                               .in_size = piece_of(m)};
        if (!r->by->swap(&piece, give_up, r)) return false;
        give += piece.to >= 0 ? piece.out_size : 0, n -= piece.out_size;
        take += piece.from >= 0 ? piece.in_size : 0, m -= piece.in_size;
        done = n <= 0 && m <= 0;
    }
    return true;
}

void xb_ranks_make_together(xb_ranks *r)
{
    r->comm.swap = swap;
    r->comm.look = look;
}

/* ---- results of a piece of work */

/* Shares the sizes of all results, -1 for a missing one, and then their bytes. */
static xb_status share_items(xb_ctx *ctx, xb_comm *comm, xb_work *work)
{
    int64_t *size = xb_new(ctx, work->count, sizeof *size), all = 0, at = 0;
    if (!size) return XB_E_MEMORY;
    for (int64_t i = 0; i < work->count; i++) size[i] = work->item[i].size;
    xb_comm_share(comm, size, work->count * (int64_t)sizeof *size);
    for (int64_t i = 0; i < work->count; i++) all += size[i];
    char *bytes = comm->broken ? NULL : xb_room(ctx, all > 0 ? all : 1, 1);
    for (int64_t i = 0; bytes && comm->rank == 0 && i < work->count; at += size[i++])
        if (size[i] > 0) memcpy(bytes + at, work->item[i].result, (size_t)size[i]);
    if (bytes) xb_comm_share(comm, bytes, all);
    xb_status status = comm->broken ? xb_comm_check(ctx) : bytes ? XB_OK : XB_E_MEMORY;
    for (int64_t i = at = 0;
         status == XB_OK && bytes && comm->rank != 0 && i < work->count;
         at += size[i++]) {
        free(work->item[i].result);
        work->item[i] = (xb_work_item){xb_room(ctx, size[i] + 1, 1), size[i]};
        if (!work->item[i].result) status = XB_E_MEMORY;
        if (status == XB_OK) memcpy(work->item[i].result, bytes + at, (size_t)size[i]);
    }
    free(bytes);
    free(size);
    return status;
}

xb_status xb_ranks_spread(xb_ctx *ctx, xb_ranks *r, xb_work *work)
{
    if (r->comm.broken) return xb_comm_check(ctx);
    return share_items(ctx, &r->comm, work);
}
