/* trace.h: the samples of a long trace by their numbers, from a file or from memory. */
#ifndef XB_DATA_TRACE_H
#define XB_DATA_TRACE_H

#include "base/ctx.h"
#include "crossbayes/data.h"

/* `count` samples from number `first` on; *x is valid until the next call. */
xb_status xb_trace_read(xb_ctx *ctx, xb_trace *trace, const double **x, int64_t first,
                        int64_t count);

/* A hash of the file's size and of its first and last bytes, with which ranks compare
 * their files. */
xb_status xb_trace_fingerprint(xb_ctx *ctx, uint64_t *out, xb_trace *trace);

#endif
