/* comm.h: the connection between a deal (crossbayes/deal.h) and the processes that share
 * its items: files (deal/share.c, deal/merge.c) or the ranks of an MPI program
 * (deal/ranks.c). A context without one does everything itself. */
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
    xb_comm *comm;      /* NULL: all items are done here */
    xb_deal_item *item; /* [count] */
    int64_t next;       /* the first item not yet handed out here */
    xb_os_lock lock;    /* of `item` and `next` */
};

struct xb_comm {
    const char *word;   /* "shares", "ranks" */
    int64_t rank, size; /* number of this process, from 0, and number of processes */
    int64_t deals;      /* opened so far */
    bool busy;          /* a deal is open */
    /* Optional: called when a deal begins and ends, and when the result of an item is
     * stored. */
    xb_status (*open)(xb_ctx *ctx, xb_comm *comm, xb_deal *deal);
    void (*close)(xb_comm *comm, xb_deal *deal);
    void (*put)(xb_comm *comm, xb_deal *deal, int64_t item);
    /* Finds an item for this process; the deal's lock is not held. */
    bool (*next)(xb_comm *comm, xb_deal *deal, int64_t *item);
    /* Fills deal->item, or returns XB_E_ELSEWHERE. */
    xb_status (*collect)(xb_ctx *ctx, xb_comm *comm, xb_deal *deal);
    void (*destroy)(xb_comm *comm);
};

/* The context owns `comm` from now on; NULL: none. The previous one is destroyed. */
void xb_comm_set(xb_ctx *ctx, xb_comm *comm);

/* The next item in order, for one process that does them all, or every size-th. */
bool xb_deal_next_here(xb_deal *deal, int64_t *item, int64_t first, int64_t step);

#endif
