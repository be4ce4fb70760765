/* deal.c: numbered items of work and their results; see crossbayes/deal.h. Who does which
 * item and where results come together is the communicator's (base/comm.h); without one
 * all happens here, by the same calls. */
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"

void xb_comm_set(xb_ctx *ctx, xb_comm *comm)
{
    if (ctx->comm) ctx->comm->destroy(ctx->comm);
    ctx->comm = comm;
}

/* The communicator that the next deal would use. */
static xb_comm *comm_of(const xb_ctx *ctx)
{
    return ctx && ctx->comm && !ctx->comm->busy ? ctx->comm : NULL;
}

int64_t xb_deal_processes(const xb_ctx *ctx)
{
    const xb_comm *comm = comm_of(ctx);
    return comm ? comm->size : 1;
}

bool xb_deal_travels(const xb_ctx *ctx) { return comm_of(ctx) != NULL; }

static xb_status check(xb_ctx *ctx, const xb_comm *comm, const char *name, int64_t count)
{
    if (count < 0)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s: %lld items, expected 0 or more", name,
                       (long long)count);
    if (!comm || comm->together || count >= comm->size) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "%s: %lld %s of work cannot be dealt to %lld %s; use at most %lld",
                   name, (long long)count, xb_plural(count, "item", "items"),
                   (long long)comm->size, comm->word, (long long)count);
}

xb_status xb_deal_open(xb_ctx *ctx, xb_deal **out, const char *name, int64_t count)
{
    xb_comm *comm = comm_of(ctx);
    XB_TRY(check(ctx, comm, name, count));
    xb_deal *deal = xb_new(ctx, 1, sizeof *deal);
    if (!deal) return XB_E_MEMORY;
    deal->item = xb_new(ctx, count, sizeof *deal->item);
    if (!deal->item) {
        free(deal);
        return XB_E_MEMORY;
    }
    snprintf(deal->name, sizeof deal->name, "%s", name);
    deal->count = count;
    deal->comm = comm;
    if (comm) deal->number = comm->deals++, comm->busy = true;
    xb_os_lock_init(&deal->lock);
    const xb_status status = comm && comm->open ? comm->open(ctx, comm, deal) : XB_OK;
    if (status == XB_OK)
        *out = deal;
    else
        xb_deal_close(deal);
    return status;
}

void xb_deal_close(xb_deal *deal)
{
    if (!deal) return;
    if (deal->comm && deal->comm->close) deal->comm->close(deal->comm, deal);
    if (deal->comm) deal->comm->busy = false;
    for (int64_t i = 0; i < deal->count; i++) free(deal->item[i].result);
    free(deal->item);
    xb_os_lock_destroy(&deal->lock);
    free(deal);
}

bool xb_deal_next_here(xb_deal *deal, int64_t *item, int64_t first, int64_t step)
{
    xb_os_lock_take(&deal->lock);
    const int64_t turn = deal->next, left = deal->count - 1 - first;
    const bool more = left >= 0 && turn <= left / step;
    if (more) deal->next++, *item = first + turn * step;
    xb_os_lock_give(&deal->lock);
    return more;
}

bool xb_deal_next(xb_deal *deal, int64_t *item)
{
    if (deal->comm) return deal->comm->next(deal->comm, deal, item);
    return xb_deal_next_here(deal, item, 0, 1);
}

xb_status xb_deal_put(xb_ctx *ctx, xb_deal *deal, int64_t item, const void *result,
                      int64_t size)
{
    if (item < 0 || item >= deal->count || size < 0)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s: item %lld of %lld with %lld bytes",
                       deal->name, (long long)item, (long long)deal->count,
                       (long long)size);
    void *copy = xb_room(ctx, size > 0 ? size : 1, 1);
    if (!copy) return XB_E_MEMORY;
    if (size > 0) memcpy(copy, result, (size_t)size);
    xb_os_lock_take(&deal->lock);
    free(deal->item[item].result);
    deal->item[item] = (xb_deal_item){copy, size};
    xb_os_lock_give(&deal->lock);
    if (deal->comm && deal->comm->put) deal->comm->put(deal->comm, deal, item);
    return XB_OK;
}

static xb_status collect_here(xb_ctx *ctx, const xb_deal *deal)
{
    for (int64_t i = 0; i < deal->count; i++)
        if (!deal->item[i].result)
            return xb_fail(ctx, XB_E_ARGUMENT, "%s: item %lld has no result", deal->name,
                           (long long)i);
    return XB_OK;
}

xb_status xb_deal_collect(xb_ctx *ctx, xb_deal *deal)
{
    if (deal->comm) XB_TRY(deal->comm->collect(ctx, deal->comm, deal));
    return collect_here(ctx, deal);
}

const void *xb_deal_result(const xb_deal *deal, int64_t item, int64_t *size)
{
    *size = deal->item[item].size;
    return deal->item[item].result;
}

xb_status xb_deal_copy(xb_ctx *ctx, const xb_deal *deal, int64_t item, void *to,
                       int64_t size)
{
    const xb_deal_item *r = &deal->item[item];
    if (r->size != size)
        return xb_fail(ctx, XB_E_INPUT,
                       "%s: the result of item %lld has %lld bytes, expected %lld",
                       deal->name, (long long)item, (long long)r->size, (long long)size);
    if (size > 0) memcpy(to, r->result, (size_t)size);
    return XB_OK;
}
