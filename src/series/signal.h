/* signal.h: the values that the searches examine: an array, or a range of a long trace
 * (data/trace.h), which is divided into pieces by sample number. Whatever depends on all
 * values of a long trace is computed piece by piece, each by the rank that has it, and
 * added in the tree of the piece numbers (M2), so the bytes are those of one process. An
 * array is one piece. */
#ifndef XB_SERIES_SIGNAL_H
#define XB_SERIES_SIGNAL_H

#include "base/ctx.h"
#include "data/trace.h"

enum { XB_SIGNAL_PIECES = 32 };

typedef struct xb_signal {
    const double *x; /* [n]; NULL: the values are in the trace */
    xb_trace *trace; /* borrowed */
    int64_t first, n;
    int64_t pieces;
} xb_signal;

xb_signal xb_signal_of(const double *x, int64_t n);
xb_signal xb_signal_of_trace(xb_trace *trace, int64_t first, int64_t n);
/* Values first .. first + n - 1 of the signal. */
xb_signal xb_signal_part(const xb_signal *s, int64_t first, int64_t n);

/* Reads the values first .. first + count - 1; *x is valid until the next call. */
xb_status xb_signal_read(xb_ctx *ctx, const xb_signal *s, const double **x, int64_t first,
                         int64_t count);

/* Piece p has the values cut(p) .. cut(p + 1) - 1; and whether this process has the
 * piece. */
static inline int64_t xb_signal_cut(const xb_signal *s, int64_t p)
{
    return (int64_t)((__int128)s->n * p / s->pieces);
}
bool xb_signal_mine(const xb_ctx *ctx, const xb_signal *s, int64_t p);

/* Calls `take` for the blocks of the pieces that this process has, in order, with the
 * values at .. at + n - 1 of piece p; x[-1] is the value before them unless at is 0. */
typedef void (*xb_signal_fn)(void *arg, int64_t p, const double *x, int64_t at,
                             int64_t n);
xb_status xb_signal_each(xb_ctx *ctx, const xb_signal *s, xb_signal_fn take, void *arg);

/* Adds the parts of all pieces, slot [pieces] of `bytes` each; afterwards slot[0] is
 * their sum on all ranks, and the other slots are overwritten. */
typedef void (*xb_signal_add)(void *to, const void *from, int64_t bytes);
xb_status xb_signal_sum(xb_ctx *ctx, const xb_signal *s, void *slot, int64_t bytes,
                        xb_signal_add add);
void xb_signal_add_doubles(void *to, const void *from, int64_t bytes);

/* Piece p has elements cut[p] .. cut[p + 1] - 1 of `all`; afterwards all ranks have all
 * of them. */
xb_status xb_signal_gather(xb_ctx *ctx, const xb_signal *s, void *all, int64_t each,
                           const int64_t *cut);

/* Copies every stride-th value to out [n / stride]. */
xb_status xb_signal_every(xb_ctx *ctx, const xb_signal *s, double *out, int64_t stride);

/* Refuses more ranks than pieces, and ranks whose traces differ. */
xb_status xb_signal_check_ranks(xb_ctx *ctx, xb_trace *trace);

#endif
