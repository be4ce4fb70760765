/* comm.h: between a deal (crossbayes/deal.h) and those who share its items: files
 * (data/share.c, data/merge.c) or the ranks of an MPI program (base/ranks.c). A context
 * without one does everything itself. */
#ifndef XB_BASE_COMM_H
#define XB_BASE_COMM_H

#include "base/ctx.h"
#include "base/os.h"
#include "crossbayes/deal.h"

enum { XB_DEAL_NAME = 32 };

typedef struct xb_deal_item {
    void *result; /* NULL: not here */
    int64_t size;
} xb_deal_item;

typedef struct xb_comm xb_comm;

struct xb_deal {
    char name[XB_DEAL_NAME];
    int64_t number; /* among the deals of the context */
    int64_t count;
    bool everywhere;
    xb_comm *comm;      /* NULL: all items are done here */
    xb_deal_item *item; /* [count] */
    int64_t next;       /* the first that nobody here has asked about */
    xb_os_lock lock;    /* of `item` and `next` */
};

struct xb_comm {
    const char *word;   /* "shares", "ranks" */
    int64_t rank, size; /* this one, counted from 0, of so many */
    int64_t deals;      /* opened so far */
    bool busy;          /* one is open */
    bool everywhere;    /* it can give the results to every process */
    /* An item for this process; the deal's lock is not held. */
    bool (*next)(xb_comm *comm, xb_deal *deal, int64_t *item);
    /* Fills deal->item, or says XB_E_ELSEWHERE. */
    xb_status (*collect)(xb_ctx *ctx, xb_comm *comm, xb_deal *deal);
    void (*destroy)(xb_comm *comm);
};

/* The context's from now on; NULL: none. What it had before is destroyed. */
void xb_comm_set(xb_ctx *ctx, xb_comm *comm);

/* The next item in order, for one process that does them all, or every size-th. */
bool xb_deal_next_here(xb_deal *deal, int64_t *item, int64_t first, int64_t step);

#endif
