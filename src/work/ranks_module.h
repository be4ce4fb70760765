/* ranks_module.h: what a module that knows MPI (mpi/) provides to this library: it moves
 * bytes from one rank to another, and ends the program in two ways. Nothing else in the
 * project knows MPI. */
#ifndef XB_DEAL_RANKS_MODULE_H
#define XB_DEAL_RANKS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The second is the largest number of bytes of one send. */
enum { XB_RANKS_VERSION = 2, XB_RANKS_PIECE = 1 << 28 };

/* Bytes that are sent to one rank while others are received from another; -1: none. */
typedef struct xb_swap {
    int to, from;
    const void *out;
    void *in;
    int out_size, in_size;
} xb_swap;

/* Any thread may call these functions. Messages from one rank to another arrive in order.
 * Bytes that swap moves are never received by the other functions. */
typedef struct xb_transport {
    size_t struct_size;
    int version;
    int rank, size;
    void (*send)(int to, const void *bytes, int size);
    bool (*waiting)(int *from); /* whether a message has arrived, and from which rank */
    void (*receive)(int from, void *bytes, int size);
    /* Returns false if `give_up`, which is called from time to time, returns true before
     * all bytes have moved. */
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
