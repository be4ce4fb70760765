/* work.c: numbered items of work and their results; see crossbayes/work.h. The
 * communicator (base/comm.h) decides which process does which item and where results are
 * collected; without one everything happens in this process, by the same calls. */
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

void xb_comm_set(xb_ctx *ctx, xb_comm *comm)
{
    if (ctx->comm) ctx->comm->destroy(ctx->comm);
    ctx->comm = comm;
}

/* The communicator that the next work would use. */
static xb_comm *comm_of(const xb_ctx *ctx)
{
    return ctx && ctx->comm && !ctx->comm->busy ? ctx->comm : NULL;
}

int64_t xb_work_processes(const xb_ctx *ctx)
{
    const xb_comm *comm = comm_of(ctx);
    return comm ? comm->size : 1;
}

bool xb_work_is_sent(const xb_ctx *ctx) { return comm_of(ctx) != NULL; }

static xb_status check(xb_ctx *ctx, const xb_comm *comm, const char *name, int64_t count)
{
    if (count < 0)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s: %lld items, expected 0 or more", name,
                       (long long)count);
    if (!comm || comm->together || count >= comm->size) return XB_OK;
    return xb_fail(
        ctx, XB_E_ARGUMENT,
        "%s: %lld %s of work cannot be divided among %lld %s; use at most %lld", name,
        (long long)count, xb_plural(count, "item", "items"), (long long)comm->size,
        comm->word, (long long)count);
}

xb_status xb_work_open(xb_ctx *ctx, xb_work **out, const char *name, int64_t count)
{
    xb_comm *comm = comm_of(ctx);
    XB_TRY(check(ctx, comm, name, count));
    xb_work *work = xb_new(ctx, 1, sizeof *work);
    if (!work) return XB_E_MEMORY;
    work->item = xb_new(ctx, count, sizeof *work->item);
    if (!work->item) {
        free(work);
        return XB_E_MEMORY;
    }
    snprintf(work->name, sizeof work->name, "%s", name);
    work->count = count;
    work->comm = comm;
    if (comm) work->number = comm->begun++, comm->busy = true;
    xb_os_lock_init(&work->lock);
    const xb_status status = comm && comm->open ? comm->open(ctx, comm, work) : XB_OK;
    if (status == XB_OK)
        *out = work;
    else
        xb_work_close(work);
    return status;
}

void xb_work_close(xb_work *work)
{
    if (!work) return;
    if (work->comm && work->comm->close) work->comm->close(work->comm, work);
    if (work->comm) work->comm->busy = false;
    for (int64_t i = 0; i < work->count; i++) free(work->item[i].result);
    free(work->item);
    xb_os_lock_destroy(&work->lock);
    free(work);
}

bool xb_work_next_here(xb_work *work, int64_t *item, int64_t first, int64_t step)
{
    xb_os_lock_take(&work->lock);
    const int64_t turn = work->next, left = work->count - 1 - first;
    const bool more = left >= 0 && turn <= left / step;
    if (more) work->next++, *item = first + turn * step;
    xb_os_lock_give(&work->lock);
    return more;
}

bool xb_work_next(xb_work *work, int64_t *item)
{
    if (work->comm) return work->comm->next(work->comm, work, item);
    return xb_work_next_here(work, item, 0, 1);
}

xb_status xb_work_put(xb_ctx *ctx, xb_work *work, int64_t item, const void *result,
                      int64_t size)
{
    if (item < 0 || item >= work->count || size < 0)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s: item %lld of %lld with %lld bytes",
                       work->name, (long long)item, (long long)work->count,
                       (long long)size);
    void *copy = xb_room(ctx, size > 0 ? size : 1, 1);
    if (!copy) return XB_E_MEMORY;
    if (size > 0) memcpy(copy, result, (size_t)size);
    xb_os_lock_take(&work->lock);
    free(work->item[item].result);
    work->item[item] = (xb_work_item){copy, size};
    xb_os_lock_give(&work->lock);
    if (work->comm && work->comm->put) work->comm->put(work->comm, work, item);
    return XB_OK;
}

static xb_status collect_here(xb_ctx *ctx, const xb_work *work)
{
    for (int64_t i = 0; i < work->count; i++)
        if (!work->item[i].result)
            return xb_fail(ctx, XB_E_ARGUMENT, "%s: item %lld has no result", work->name,
                           (long long)i);
    return XB_OK;
}

xb_status xb_work_collect(xb_ctx *ctx, xb_work *work)
{
    if (work->comm) XB_TRY(work->comm->collect(ctx, work->comm, work));
    return collect_here(ctx, work);
}

const void *xb_work_result(const xb_work *work, int64_t item, int64_t *size)
{
    *size = work->item[item].size;
    return work->item[item].result;
}

xb_status xb_work_copy(xb_ctx *ctx, const xb_work *work, int64_t item, void *to,
                       int64_t size)
{
    const xb_work_item *r = &work->item[item];
    if (r->size != size)
        return xb_fail(ctx, XB_E_INPUT,
                       "%s: the result of item %lld has %lld bytes, expected %lld",
                       work->name, (long long)item, (long long)r->size, (long long)size);
    if (size > 0) memcpy(to, r->result, (size_t)size);
    return XB_OK;
}
