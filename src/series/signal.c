/* signal.c: see signal.h. A long trace is read in blocks of 2^18 values, so that a pass
 * over it needs a few MiB of memory, whatever its length. */
#include "series/signal.h"

#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "crossbayes/extend.h"

enum { BLOCK = 1 << 18 };

xb_signal xb_signal_of(const double *x, int64_t n)
{
    return (xb_signal){.x = x, .n = n, .pieces = 1};
}

xb_signal xb_signal_of_trace(xb_trace *trace, int64_t first, int64_t n)
{
    return (xb_signal){NULL, trace, first, n, XB_SIGNAL_PIECES};
}

xb_signal xb_signal_part(const xb_signal *s, int64_t first, int64_t n)
{
    xb_signal part = *s;
    part.n = n;
    if (s->x)
        part.x += first;
    else
        part.first += first;
    return part;
}

xb_status xb_signal_read(xb_ctx *ctx, const xb_signal *s, const double **x, int64_t first,
                         int64_t count)
{
    if (!s->x) return xb_trace_read(ctx, s->trace, x, s->first + first, count);
    *x = s->x + first;
    return XB_OK;
}

/* ---- ranks */

/* An array is whole on every rank. */
static xb_comm *ranks_of(const xb_ctx *ctx, const xb_signal *s)
{
    return s->pieces > 1 ? xb_comm_together(ctx) : NULL;
}

/* The first piece of a rank. */
static int64_t first_piece(const xb_signal *s, const xb_comm *c, int64_t rank)
{
    return s->pieces * rank / c->size;
}

bool xb_signal_mine(const xb_ctx *ctx, const xb_signal *s, int64_t p)
{
    const xb_comm *c = ranks_of(ctx, s);
    return !c || (p >= first_piece(s, c, c->rank) && p < first_piece(s, c, c->rank + 1));
}

xb_status xb_signal_check_ranks(xb_ctx *ctx, xb_trace *trace)
{
    xb_comm *c = xb_comm_together(ctx);
    uint64_t mine = 0;
    if (!c) return XB_OK;
    if (c->size > XB_SIGNAL_PIECES)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a trace is cut into %d pieces, which cannot be divided among "
                       "%lld ranks; use at most %d",
                       XB_SIGNAL_PIECES, (long long)c->size, XB_SIGNAL_PIECES);
    XB_TRY(xb_trace_fingerprint(ctx, &mine, trace));
    uint64_t first = mine;
    xb_comm_share(c, &first, sizeof first);
    XB_TRY(xb_comm_check(ctx));
    if (first == mine) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT, "the trace differs from that of rank 0");
}

/* ---- passes */

/* Passes on one block of piece p; an array is one block. */
static xb_status take_block(xb_ctx *ctx, const xb_signal *s, int64_t p, int64_t at,
                            int64_t n, xb_signal_fn take, void *arg)
{
    const double *x = NULL;
    const int64_t before = at > 0;
    XB_TRY(xb_signal_read(ctx, s, &x, at - before, n + before));
    take(arg, p, x + before, at, n);
    return XB_OK;
}

xb_status xb_signal_each(xb_ctx *ctx, const xb_signal *s, xb_signal_fn take, void *arg)
{
    for (int64_t p = 0; p < s->pieces; p++) {
        if (!xb_signal_mine(ctx, s, p)) continue;
        const int64_t end = xb_signal_cut(s, p + 1), most = s->x ? s->n : BLOCK;
        for (int64_t at = xb_signal_cut(s, p); at < end; at += most) {
            const int64_t n = end - at < most ? end - at : most;
            XB_TRY(take_block(ctx, s, p, at, n, take, arg));
            if (!s->x) XB_TRY(xb_progress_tell(ctx, "reading the trace", at, s->n));
        }
    }
    return XB_OK;
}

/* ---- sums and lists of all pieces */

typedef struct sum_job {
    char *slot;
    int64_t bytes;
    xb_signal_add add;
} sum_job;

/* This is an xb_tree_fn. */
static void add_slots(void *arg, int64_t to, int64_t from)
{
    const sum_job *j = arg;
    j->add(j->slot + to * j->bytes, j->slot + from * j->bytes, j->bytes);
}

xb_status xb_signal_sum(xb_ctx *ctx, const xb_signal *s, void *slot, int64_t bytes,
                        xb_signal_add add)
{
    sum_job job = {slot, bytes, add};
    xb_comm *c = ranks_of(ctx, s);
    if (!c) {
        xb_tree_add(s->pieces, add_slots, &job);
        return XB_OK;
    }
    int64_t cut[XB_SIGNAL_PIECES + 1];
    for (int64_t r = 0; r <= c->size; r++) cut[r] = first_piece(s, c, r);
    xb_comm_sum(c, slot, bytes, bytes, s->pieces, cut, add_slots, &job);
    return xb_comm_check(ctx);
}

void xb_signal_add_doubles(void *to, const void *from, int64_t bytes)
{
    double *sum = to;
    const double *part = from;
    for (int64_t i = 0; i < bytes / (int64_t)sizeof *sum; i++) sum[i] += part[i];
}

xb_status xb_signal_gather(xb_ctx *ctx, const xb_signal *s, void *all, int64_t each,
                           const int64_t *cut)
{
    xb_comm *c = ranks_of(ctx, s);
    int64_t of_rank[XB_SIGNAL_PIECES + 1];
    if (!c) return XB_OK;
    for (int64_t r = 0; r <= c->size; r++) of_rank[r] = cut[first_piece(s, c, r)];
    xb_comm_gather(c, all, each, of_rank);
    return xb_comm_check(ctx);
}

typedef struct every_job {
    double *out;
    int64_t stride, count;
} every_job;

/* This is an xb_signal_fn. */
static void take_every(void *arg, int64_t p, const double *x, int64_t at, int64_t n)
{
    const every_job *j = arg;
    int64_t i = (at + j->stride - 1) / j->stride;
    (void)p;
    for (; i < j->count && i * j->stride < at + n; i++) j->out[i] = x[i * j->stride - at];
}

xb_status xb_signal_every(xb_ctx *ctx, const xb_signal *s, double *out, int64_t stride)
{
    every_job job = {out, stride, s->n / stride};
    int64_t cut[XB_SIGNAL_PIECES + 1];
    for (int64_t p = 0; p <= s->pieces; p++) {
        const int64_t i = (xb_signal_cut(s, p) + stride - 1) / stride;
        cut[p] = i < job.count ? i : job.count;
    }
    XB_TRY(xb_signal_each(ctx, s, take_every, &job));
    return xb_signal_gather(ctx, s, out, sizeof *out, cut);
}
