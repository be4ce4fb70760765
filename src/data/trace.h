/* trace.h: the samples of a long trace by their numbers, from a file or from memory. */
#ifndef XB_DATA_TRACE_H
#define XB_DATA_TRACE_H

#include "base/ctx.h"
#include "crossbayes/data.h"

/* `count` samples from number `first` on; *x is valid until the next call. */
xb_status xb_trace_read(xb_ctx *ctx, xb_trace *trace, const double **x, int64_t first,
                        int64_t count);

/* Of the size of the file and of its first and last bytes, to compare what ranks have. */
xb_status xb_trace_fingerprint(xb_ctx *ctx, uint64_t *out, xb_trace *trace);

#endif
