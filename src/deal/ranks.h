/* ranks.h: the ranks of an MPI program as a communicator (base/comm.h), and the messages
 * between them. Rank 0 hands out items and collects; a thread of its own answers, so that
 * it can compute like the others.
 *
 * A message is a head and then its bytes. Ranks send JOIN, INPUTS, ASK, RESULT, DONE and
 * END to rank 0; it sends GO and GIVE to them. */
#ifndef XB_DEAL_RANKS_H
#define XB_DEAL_RANKS_H

#include "base/comm.h"
#include "deal/ranks_module.h"

typedef enum xb_rank_word {
    XB_RANK_JOIN,   /* build and command line */
    XB_RANK_INPUTS, /* files that were read, with their checksums */
    XB_RANK_ASK,    /* for an item of a deal */
    XB_RANK_RESULT, /* of an item */
    XB_RANK_DONE,   /* no more items of a deal */
    XB_RANK_END,    /* its exit code and what went wrong */
    XB_RANK_GO,     /* to begin, or to end with a code */
    XB_RANK_GIVE,   /* an item; -1: there are no more */
    XB_RANK_WORDS
} xb_rank_word;

typedef struct xb_rank_head {
    int64_t word, deal, item, size;
} xb_rank_head;

typedef struct xb_rank_message {
    xb_rank_head head;
    int from;
    char *bytes; /* [head.size] and a NUL; free() it */
} xb_rank_message;

/* What rank 0 knows of another. */
typedef struct xb_rank_state {
    char *joined, *inputs; /* texts; NULL: not told yet */
    int64_t done;          /* deals that it has no more items of */
    int64_t asked;         /* the deal whose items it waits for; -1: none */
    bool ended, blamed;    /* it has left; it went wrong there */
    int64_t code;          /* then */
} xb_rank_state;

typedef struct xb_ranks {
    xb_comm comm;
    const xb_transport *by;
    xb_os_lock wire; /* a message goes out, or an item is asked for */
    /* rank 0 alone, under `lock`: */
    xb_os_lock lock;
    xb_rank_state *state; /* [size] */
    xb_deal *deal;        /* that is open */
    int64_t opened;       /* deals so far */
    char *inputs;         /* of rank 0 */
    bool stopping;        /* no items for anyone */
    xb_status failed;     /* the first failure of a rank, and its line */
    char message[XB_MESSAGE_MAX];
    xb_os_thread server;
    bool serving, leave;
} xb_ranks;

/* ranks_wire.c */
void xb_rank_send(xb_ranks *r, int to, xb_rank_head head, const void *bytes);
/* The next message, which `waiting` has told of. False: memory has run out. */
bool xb_rank_receive(xb_ranks *r, xb_rank_message *out, int from);
/* Waits for one from rank 0. */
bool xb_rank_await(xb_ranks *r, xb_rank_message *out);

/* ranks_server.c: the thread of rank 0. */
bool xb_rank_serve(xb_ranks *r);
void xb_rank_serve_end(xb_ranks *r);
/* With the lock held: items of the open deal to those that wait for them, and what is
 * wrong with somebody's inputs. */
void xb_rank_answer(xb_ranks *r);
void xb_rank_compare_inputs(xb_ranks *r);
void xb_rank_blame(xb_ranks *r, int rank, xb_status status, const char *why);
/* With the lock held: the next item of the open deal. */
bool xb_rank_next_item(xb_ranks *r, int64_t deal, int64_t *item);

#endif
