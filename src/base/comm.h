/* comm.h: the communicator of a context: it connects a piece of work (crossbayes/work.h)
 * with the processes that share its items: files (work/share.c, work/merge.c) or the
 * ranks of an MPI program (work/ranks.c). A context without one does everything itself.
 *
 * Ranks may also work together: all make the same calls, each has all results, and the
 * operations below put together again what is divided among them (work in items, rows of
 * a training batch, draws). These never fail: after the first error they do nothing, and
 * xb_comm_check() returns that error. Callers check before they use the numbers. */
#ifndef XB_BASE_COMM_H
#define XB_BASE_COMM_H

#include "base/ctx.h"
#include "base/os.h"
#include "base/tree.h"
#include "crossbayes/work.h"

enum { XB_WORK_NAME = 32 };

typedef struct xb_work_item {
    void *result; /* NULL: the result is not in this process */
    int64_t size;
} xb_work_item;

typedef struct xb_comm xb_comm;

struct xb_work {
    char name[XB_WORK_NAME];
    int64_t number; /* its number among the work of the context */
    int64_t count;
    xb_comm *comm;      /* NULL: all items are done in this process */
    xb_work_item *item; /* [count] */
    int64_t next;       /* the first item not yet handed out in this process */
    xb_os_lock lock;    /* protects `item` and `next` */
};

struct xb_comm {
    const char *word;   /* "shares", "ranks" */
    int64_t rank, size; /* number of this process, from 0, and number of processes */
    int64_t begun;      /* pieces of work opened so far */
    bool busy;          /* a piece of work is open */
    bool together;      /* all ranks make the same calls and get all results */
    bool strict;        /* all ranks work together, and work that is too small to be
                           divided is refused */
    bool broken;        /* an operation was given up: its numbers are meaningless */
    /* Optional: called when a piece of work begins and ends, and when the result of an
     * item is stored. */
    xb_status (*open)(xb_ctx *ctx, xb_comm *comm, xb_work *work);
    void (*close)(xb_comm *comm, xb_work *work);
    void (*put)(xb_comm *comm, xb_work *work, int64_t item);
    /* Finds an item for this process; the work's lock is not held. */
    bool (*next)(xb_comm *comm, xb_work *work, int64_t *item);
    /* Fills work->item, or returns XB_E_ELSEWHERE. */
    xb_status (*collect)(xb_ctx *ctx, xb_comm *comm, xb_work *work);
    void (*destroy)(xb_comm *comm);
    /* Optional, for ranks that can work together. Sends bytes to rank `to` and receives
     * bytes from rank `from`; -1: sends or receives nothing. False: it was given up. */
    bool (*swap)(xb_comm *comm, int64_t to, const void *out, int64_t n, int64_t from,
                 void *in, int64_t m);
    /* Checks that the other ranks are alive; `stopping`: checks thoroughly, because this
     * process was asked to stop, and a rank that died may be the reason. */
    xb_status (*look)(xb_ctx *ctx, xb_comm *comm, bool stopping);
    /* Compares the files read so far with those of the other ranks, once. */
    xb_status (*meet)(xb_ctx *ctx, xb_comm *comm);
};

/* The context owns `comm` from now on; NULL: none. The previous one is destroyed. */
void xb_comm_set(xb_ctx *ctx, xb_comm *comm);

/* The next item in order: from `first` on, every `step`-th. */
bool xb_work_next_here(xb_work *work, int64_t *item, int64_t first, int64_t step);

/* ---- ranks together */

/* The communicator of the context if several ranks work together and no piece of work is
 * open; else NULL. */
xb_comm *xb_comm_together(const xb_ctx *ctx);
/* Whether this process writes the results that all ranks have: it is alone, or it is the
 * first rank. */
bool xb_comm_first(const xb_ctx *ctx);
/* Returns XB_OK, or the reason why an operation was given up. */
xb_status xb_comm_check(xb_ctx *ctx);

/* Before the call, rank r has elements cut[r] .. cut[r + 1] - 1 of `all`, each of `each`
 * bytes; afterwards every rank has all of them. */
void xb_comm_gather(xb_comm *comm, void *all, int64_t each, const int64_t *cut);
/* Copies the bytes of rank 0 to every rank. */
void xb_comm_share(xb_comm *comm, void *bytes, int64_t n);
/* Adds `count` parts in the tree of their numbers (tree.h), part i at slot + i * stride
 * and of n bytes; rank r has parts cut[r] .. cut[r + 1] - 1. Afterwards slot[0] is the
 * sum on every rank; the other slots are overwritten. */
void xb_comm_sum(xb_comm *comm, void *slot, int64_t stride, int64_t n, int64_t count,
                 const int64_t *cut, xb_tree_fn add, void *arg);

/* The same sum in two steps, so that many sums can be exchanged at once. First a rank
 * adds those of its parts that the tree adds before any part of another rank. The parts
 * that hold these sums are left; there are at most XB_COMM_LEFT of them. */
enum { XB_COMM_LEFT = 64 };
void xb_comm_sum_own(const xb_comm *comm, int64_t count, const int64_t *cut,
                     xb_tree_fn add, void *arg);
/* The numbers of the parts that are left to this rank, in their order; returns how many
 * there are. */
int64_t xb_comm_left(const xb_comm *comm, int64_t count, const int64_t *cut,
                     int64_t part[XB_COMM_LEFT]);
/* Then the ranks add what is left: slot i, of n bytes, is the i-th part that is left to
 * this rank, and one more slot is room for those of others. `add` gets numbers of slots.
 * Afterwards slot 0 is the sum on every rank. */
void xb_comm_sum_left(xb_comm *comm, void *slot, int64_t stride, int64_t n, int64_t count,
                      const int64_t *cut, xb_tree_fn add, void *arg);

#endif
