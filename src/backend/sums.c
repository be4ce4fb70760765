/* sums.c: see sums.h. Memory has one slot for each part that can be left to a rank, and
 * one for those of others; a slot has the numbers of several layers side by side. It is
 * bounded: if a layer finds no room, the sums so far are exchanged first. All ranks find
 * that at the same layer, because it depends on the net alone. */
#include "backend/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { ROOM = 1 << 20 }; /* reals of a slot, unless one layer needs more */

/* A sum that is put off. */
typedef struct later_sum {
    xb_op op;
    xb_sum_fn use;
    int64_t at; /* in a slot */
} later_sum;

struct xb_sums {
    const xb_kernels *kernels;
    int64_t width, used; /* reals of a slot */
    xb_real *slot;
    later_sum *later; /* [layers] */
    int n_later;
};

/* Reals of the weight gradients of a layer under any estimator: of mu and of sigma. */
static int64_t layer_size(const xb_net *net, const xb_layer *layer)
{
    int64_t n = 0;
    for (int i = 0; i < layer->tensors; i++) n += net->tensor[layer->tensor + i].size;
    return 2 * n;
}

static int64_t width_for(const xb_net *net)
{
    int64_t all = 0, largest = 0;
    for (int l = 0; l < net->n_layer; l++) {
        const int64_t n = layer_size(net, &net->layer[l]);
        all += n;
        if (n > largest) largest = n;
    }
    const int64_t some = all < ROOM ? all : ROOM;
    return largest > some ? largest : some;
}

/* Two subtrees of each size may be left to a rank, and there is room for one more part.
 */
static int64_t slots_for(int64_t batch)
{
    enum { FEW = 16 }; /* blocks that a small batch may have, whatever its size */
    const int64_t blocks = xb_crew_blocks(batch).count;
    int64_t slots = 1;
    for (int64_t size = 1; size < (blocks > FEW ? blocks : FEW); size *= 2) slots += 2;
    return slots;
}

xb_status xb_sums_create(xb_ctx *ctx, xb_crew *crew, const xb_net *net, int64_t batch)
{
    xb_sums *s = xb_new(ctx, 1, sizeof *s);
    if (!s) return XB_E_MEMORY;
    *s = (xb_sums){.width = width_for(net)};
    crew->sums = s;
    s->later = xb_new(ctx, net->n_layer, sizeof *s->later);
    s->slot = xb_room(ctx, slots_for(batch) * s->width, sizeof *s->slot);
    return s->later && s->slot ? XB_OK : XB_E_MEMORY;
}

void xb_sums_destroy(xb_sums *s)
{
    if (!s) return;
    free(s->later);
    xb_free(s->slot);
    free(s);
}

/* This is an xb_tree_fn. */
static void add_slot(void *arg, int64_t to, int64_t from)
{
    const xb_sums *s = arg;
    s->kernels->add(s->slot + to * s->width, s->slot + from * s->width, s->used);
}

void xb_sums_finish(xb_crew *crew)
{
    xb_sums *s = crew->sums;
    const int64_t each = (int64_t)sizeof *s->slot;
    if (s->n_later == 0) return;
    xb_comm_sum_left(crew->comm, s->slot, s->width * each, s->used * each,
                     crew->blocks.count, crew->cut, add_slot, s);
    for (int i = 0; i < s->n_later; i++) {
        const later_sum *l = &s->later[i];
        l->use(&l->op, s->slot + l->at, true);
    }
    s->n_later = 0;
    s->used = 0;
}

void xb_sums_put(const xb_op *op, const xb_real *slot, int64_t stride, int64_t count,
                 int64_t n, xb_sum_fn use)
{
    xb_crew *crew = op->run->crew;
    xb_sums *s = crew->sums;
    int64_t left[XB_COMM_LEFT];
    if (s->used + n > s->width) xb_sums_finish(crew);
    const int64_t parts = xb_comm_left(crew->comm, count, crew->cut, left);
    for (int64_t i = 0; i < parts; i++)
        memcpy(s->slot + i * s->width + s->used, slot + left[i] * stride,
               (size_t)n * sizeof *slot);
    s->kernels = op->run->kernels;
    s->later[s->n_later++] = (later_sum){*op, use, s->used};
    s->used += n;
}
