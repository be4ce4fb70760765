/* ranks_module.h: what a module that knows MPI gives this library (mpi/): bytes from one
 * rank to another, and the two ways to end. Nothing else of the project knows MPI. */
#ifndef XB_DEAL_RANKS_MODULE_H
#define XB_DEAL_RANKS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { XB_RANKS_VERSION = 2, XB_RANKS_PIECE = 1 << 28 }; /* bytes of a send at most */

/* Bytes out to one rank while others come in from another; -1: none. */
typedef struct xb_swap {
    int to, from;
    const void *out;
    void *in;
    int out_size, in_size;
} xb_swap;

/* Any thread may call. Messages from one rank to another arrive in their order. What
 * swap moves does not meet what the others move. */
typedef struct xb_transport {
    size_t struct_size;
    int version;
    int rank, size;
    void (*send)(int to, const void *bytes, int size);
    bool (*waiting)(int *from); /* whether a message is there, and whose */
    void (*receive)(int from, void *bytes, int size);
    /* False where `give_up`, which is asked now and then, says so before all bytes have
     * moved. */
    bool (*swap)(const xb_swap *swap, bool (*give_up)(void *arg), void *arg);
    void (*rest)(int microseconds);
    void (*finish)(void);
    void (*abort)(int code); /* does not return; all ranks end */
} xb_transport;

/* A module's one exported function: joins the other ranks, once. NULL: `why` says what is
 * wrong. */
#define XB_RANKS_ENTRY "xb_ranks_module"
typedef const xb_transport *(*xb_ranks_fn)(int version, char *why, size_t size);

#endif
