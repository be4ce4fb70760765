/* comm.c: gathers, shares and sums of numbers that are spread over ranks; see comm.h.
 * Everything is made of swaps: a rank sends bytes to one rank while it receives others.
 *
 * With R ranks a gather takes log2 R successive swaps, and so does a share; a sum takes
 * at most as many as its tree is deep, and then those of a share. Which rank adds which
 * two parts follows from the parts' numbers alone, so a sum has the same bytes for any R
 * (maths M2). A rank with neighbouring parts adds them alone as far as they are whole
 * subtrees; at most two subtrees of each size are left. How long a step of training takes
 * with them: maths M3. */
#include "base/comm.h"

xb_comm *xb_comm_together(const xb_ctx *ctx)
{
    xb_comm *c = ctx ? ctx->comm : NULL;
    return c && c->together && c->size > 1 && !c->busy ? c : NULL;
}

bool xb_comm_first(const xb_ctx *ctx)
{
    return !ctx || !ctx->comm || !ctx->comm->together || ctx->comm->rank == 0;
}

xb_status xb_comm_check(xb_ctx *ctx)
{
    xb_comm *c = ctx->comm;
    if (!c || !c->broken) return XB_OK;
    XB_TRY(c->look(ctx, c, true));
    return xb_fail(ctx, XB_E_ELSEWHERE, "rank 0 has ended");
}

static void swap(xb_comm *c, int64_t to, const void *out, int64_t n, int64_t from,
                 void *in, int64_t m)
{
    if (n == 0) to = -1;
    if (m == 0) from = -1;
    if (c->broken || (to < 0 && from < 0)) return;
    if (!c->swap(c, to, out, n, from, in, m)) c->broken = true;
}

/* ---- gather */

/* The elements of ranks first .. first + count - 1, which must not go beyond the last
 * rank. */
static void *part_of(void *all, int64_t each, const int64_t *cut, int64_t first,
                     int64_t count, int64_t *bytes)
{
    *bytes = (cut[first + count] - cut[first]) * each;
    return (char *)all + cut[first] * each;
}

typedef struct range {
    int64_t first, count; /* a range of ranks */
} range;

/* Part k of ranks first .. first + count - 1, counted cyclically: up to the last rank,
 * then from 0 on. */
static range turn(int64_t size, int64_t first, int64_t count, int k)
{
    const int64_t before = first + count <= size ? count : size - first;
    return k == 0 ? (range){first, before} : (range){0, count - before};
}

/* Rank r already has the elements of ranks r .. r + have - 1. It receives as many from
 * rank r + have and sends its own to rank r - have. */
static void double_up(xb_comm *c, void *all, int64_t each, const int64_t *cut,
                      int64_t have)
{
    const int64_t size = c->size, count = have <= size - have ? have : size - have;
    const int64_t from = (c->rank + have) % size, to = (c->rank + size - have) % size;
    for (int k = 0; k < 2; k++) {
        const range gives = turn(size, c->rank, count, k);
        const range gets = turn(size, from, count, k);
        int64_t n = 0, m = 0;
        const void *out = part_of(all, each, cut, gives.first, gives.count, &n);
        void *in = part_of(all, each, cut, gets.first, gets.count, &m);
        swap(c, to, out, n, from, in, m);
    }
}

void xb_comm_gather(xb_comm *comm, void *all, int64_t each, const int64_t *cut)
{
    for (int64_t have = 1; have < comm->size; have *= 2)
        double_up(comm, all, each, cut, have);
}

/* ---- share */

void xb_comm_share(xb_comm *comm, void *bytes, int64_t n)
{
    int64_t step = 1;
    while (step < comm->size) step *= 2;
    for (step /= 2; step > 0; step /= 2) {
        const int64_t place = comm->rank % (2 * step);
        if (place == 0 && comm->rank + step < comm->size)
            swap(comm, comm->rank + step, bytes, n, -1, NULL, 0);
        else if (place == step)
            swap(comm, -1, NULL, 0, comm->rank - step, bytes, n);
    }
}

/* ---- sum */

static int64_t owner_of(const xb_comm *c, const int64_t *cut, int64_t part)
{
    int64_t rank = 0;
    while (rank + 1 < c->size && part >= cut[rank + 1]) rank++;
    return rank;
}

typedef struct sum_job {
    xb_comm *comm;
    char *slot;
    int64_t stride, n, count;
    const int64_t *cut;
    bool left; /* ranks have added their own parts, and slots are those that are left */
    xb_tree_fn add;
    void *arg;
} sum_job;

/* Whether one rank has all parts that the addition of `from` to `to` puts together. */
static bool is_own_pair(const xb_comm *c, const int64_t *cut, int64_t count, int64_t to,
                        int64_t from)
{
    const int64_t end = 2 * from - to;
    return owner_of(c, cut, to) == owner_of(c, cut, (end < count ? end : count) - 1);
}

/* The end of the largest subtree that begins at part `first` and has no part from `end`
 * on; a subtree may reach beyond the last part. */
static int64_t subtree_end(int64_t first, int64_t end, int64_t count)
{
    int64_t size = 1;
    while (first % (2 * size) == 0 && size < count &&
           (first + 2 * size <= end || end == count))
        size *= 2;
    return first + size < end ? first + size : end;
}

int64_t xb_comm_left(const xb_comm *comm, int64_t count, const int64_t *cut,
                     int64_t part[XB_COMM_LEFT])
{
    const int64_t end = cut[comm->rank + 1];
    int64_t n = 0;
    for (int64_t p = cut[comm->rank]; p < end; p = subtree_end(p, end, count))
        part[n++] = p;
    return n;
}

/* The slot of a part. A part of another rank has the one behind those that are left. */
static int64_t slot_of(const sum_job *j, int64_t part)
{
    int64_t left[XB_COMM_LEFT], i = 0;
    if (!j->left) return part;
    const int64_t n = xb_comm_left(j->comm, j->count, j->cut, left);
    while (i < n && left[i] != part) i++;
    return i;
}

/* This is an xb_tree_fn: sends part `from` to the rank that has `to`, which adds it. */
static void add_part(void *arg, int64_t to, int64_t from)
{
    const sum_job *j = arg;
    xb_comm *c = j->comm;
    const int64_t a = owner_of(c, j->cut, to), b = owner_of(c, j->cut, from);
    if (c->rank != a && c->rank != b) return;
    if (j->left && is_own_pair(c, j->cut, j->count, to, from)) return;
    const int64_t at = slot_of(j, from);
    char *part = j->slot + at * j->stride;
    if (a != b && c->rank == b) swap(c, a, part, j->n, -1, NULL, 0);
    if (a != b && c->rank == a) swap(c, -1, NULL, 0, b, part, j->n);
    if (c->rank == a && !c->broken) j->add(j->arg, slot_of(j, to), at);
}

static void sum_parts(sum_job *job)
{
    xb_tree_add(job->count, add_part, job);
    xb_comm_share(job->comm, job->slot, job->n);
}

void xb_comm_sum(xb_comm *comm, void *slot, int64_t stride, int64_t n, int64_t count,
                 const int64_t *cut, xb_tree_fn add, void *arg)
{
    sum_parts(&(sum_job){comm, slot, stride, n, count, cut, false, add, arg});
}

void xb_comm_sum_left(xb_comm *comm, void *slot, int64_t stride, int64_t n, int64_t count,
                      const int64_t *cut, xb_tree_fn add, void *arg)
{
    sum_parts(&(sum_job){comm, slot, stride, n, count, cut, true, add, arg});
}

void xb_comm_sum_own(const xb_comm *comm, int64_t count, const int64_t *cut,
                     xb_tree_fn add, void *arg)
{
    const int64_t first = cut[comm->rank], end = cut[comm->rank + 1];
    for (int64_t step = 1; step < count; step *= 2) {
        const int64_t pair = 2 * step;
        for (int64_t at = (first + pair - 1) / pair * pair;
             at + step < end && (at + pair <= end || end == count); at += pair)
            add(arg, at, at + step);
    }
}
