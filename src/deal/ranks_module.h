/* ranks_module.h: what a module that knows MPI gives this library (mpi/): bytes from one
 * rank to another, and the two ways to end. Nothing else of the project knows MPI. */
#ifndef XB_DEAL_RANKS_MODULE_H
#define XB_DEAL_RANKS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { XB_RANKS_VERSION = 1, XB_RANKS_PIECE = 1 << 28 }; /* bytes of a send at most */

/* Any thread may call. Messages from one rank to another arrive in their order. */
typedef struct xb_transport {
    size_t struct_size;
    int version;
    int rank, size;
    void (*send)(int to, const void *bytes, int size);
    bool (*waiting)(int *from); /* whether a message is there, and whose */
    void (*receive)(int from, void *bytes, int size);
    void (*rest)(int microseconds);
    void (*finish)(void);
    void (*abort)(int code); /* does not return; all ranks end */
} xb_transport;

/* A module's one exported function: joins the other ranks, once. NULL: `why` says what is
 * wrong. */
#define XB_RANKS_ENTRY "xb_ranks_module"
typedef const xb_transport *(*xb_ranks_fn)(int version, char *why, size_t size);

#endif
