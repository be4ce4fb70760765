/* ranks.h: the ranks of an MPI program as a communicator (base/comm.h), and the messages
 * between them. Rank 0 hands out items and collects results; a separate thread answers
 * the others, so that rank 0 can compute like them.
 *
 * A message is a head followed by its bytes. Ranks send PLACE, JOIN, INPUTS, ASK, RESULT,
 * DONE and END to rank 0; it sends GO, GIVE and STOP to them. Numbers that ranks swap
 * while they work together (base/comm.h) use a separate channel. */
#ifndef XB_DEAL_RANKS_H
#define XB_DEAL_RANKS_H

#include "base/comm.h"
#include "work/ranks_module.h"

typedef enum xb_rank_word {
    XB_RANK_PLACE,  /* its machine and the number of its cores */
    XB_RANK_JOIN,   /* build and command line */
    XB_RANK_INPUTS, /* files that were read, with their checksums */
    XB_RANK_ASK,    /* request for an item of the work */
    XB_RANK_RESULT, /* result of an item */
    XB_RANK_DONE,   /* no more items of a piece of work */
    XB_RANK_END,    /* exit code and error message of the rank */
    XB_RANK_GO,     /* permission to begin, or the code to end with */
    XB_RANK_GIVE,   /* an item; -1: there are no more */
    XB_RANK_STOP    /* request to end soon, whatever the rank is doing */
} xb_rank_word;

typedef struct xb_rank_head {
    int64_t word, work, item, size;
} xb_rank_head;

typedef struct xb_rank_message {
    xb_rank_head head;
    int from;
    char *bytes; /* [head.size] and a NUL; free() it */
} xb_rank_message;

/* What rank 0 knows about another rank. */
typedef struct xb_rank_state {
    char *joined, *inputs; /* texts; NULL: not received yet */
    int64_t done;          /* number of pieces of work for which it needs no more items */
    int64_t asked;         /* the work whose items it waits for; -1: none */
    bool ended, blamed;    /* it has left; it has failed */
    int64_t code;          /* its exit code, once it has left */
    int64_t process;       /* its number on this machine; 0: it is on another one */
    uint64_t machine;
    int64_t cores; /* of its machine */
} xb_rank_state;

typedef struct xb_ranks {
    xb_comm comm;
    const xb_transport *by;
    xb_os_lock wire; /* held while a message is sent or an item is requested */
    double looked;   /* time of the last check of the other ranks, s */
    bool met;        /* inputs were compared */
    int64_t process; /* rank 0's number on this machine; 0: it is on another one */
    bool *aside;     /* [by->size] ranks that leave it to others to work together */
    int *seat; /* [comm.size] the others, in their order, while they do; else NULL */
    /* rank 0 alone, under `lock`: */
    xb_os_lock lock;
    xb_rank_state *state; /* [size] */
    xb_work *work;        /* the open one; NULL: none */
    int64_t opened;       /* pieces of work so far */
    char *inputs;         /* of rank 0 */
    bool stopping;        /* no rank gets further items */
    bool died;            /* a rank has ended without a message */
    int64_t stop_code;    /* of a rank that was asked to stop; 0: none was */
    xb_status failed;     /* the first failure of a rank, and its line */
    char message[XB_MESSAGE_MAX];
    xb_os_thread server;
    bool serving, leave;
} xb_ranks;

/* ranks_wire.c */
void xb_rank_send(xb_ranks *r, int to, xb_rank_head head, const void *bytes);
/* Receives the next message, which `waiting` has announced. False: memory has run out. */
bool xb_rank_receive(xb_ranks *r, xb_rank_message *out, int from);
/* Waits for a message of rank 0. False: memory has run out, or rank 0 has ended. */
bool xb_rank_await(xb_ranks *r, xb_rank_message *out);
/* For ranks other than 0: whether rank 0 wants this one to end, or has ended itself. The
 * caller holds the wire. */
bool xb_rank_dismissed(xb_ranks *r);

/* ranks_server.c: the thread of rank 0. */
bool xb_rank_serve(xb_ranks *r);
void xb_rank_serve_end(xb_ranks *r);
/* With the lock held: sends items of the open piece of work to the ranks that wait for
 * them; compares the inputs of all ranks. */
void xb_rank_answer(xb_ranks *r);
void xb_rank_compare_inputs(xb_ranks *r);
void xb_rank_blame(xb_ranks *r, int rank, xb_status status, const char *why);
/* With the lock held: blames ranks of this machine that have died. */
void xb_rank_watch(xb_ranks *r);
/* With the lock held: the next item of the open piece of work. */
bool xb_rank_next_item(xb_ranks *r, int64_t work, int64_t *item);

/* ranks_aside.c: ranks that outnumber the cores of their machine. Rank 0 chooses them
 * once all have joined. */
void xb_ranks_choose_aside(xb_ranks *r);
/* This rank has its seat among those that work together; one that stands aside waits
 * here until the job is over, and then returns XB_E_ELSEWHERE. */
xb_status xb_ranks_sit_down(xb_ctx *ctx, xb_ranks *r);
/* Whether rank 0 waits for this rank's part of work that ranks do together. */
static inline bool xb_rank_takes_part(const xb_ranks *r, int rank)
{
    return !r->comm.together || !r->aside[rank];
}

/* ranks_together.c: numbers between ranks that work together. */
void xb_ranks_make_together(xb_ranks *r);
/* Sends all results of a piece of work from rank 0 to all ranks. */
xb_status xb_ranks_spread(xb_ctx *ctx, xb_ranks *r, xb_work *work);

#endif
