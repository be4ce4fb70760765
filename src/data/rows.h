/* rows.h: rows of inputs of any kind, see crossbayes/data.h. */
#ifndef XB_DATA_ROWS_H
#define XB_DATA_ROWS_H

#include "base/ctx.h"
#include "crossbayes/data.h"

/* The values of a frame will not be needed for a while: where they are in a file, their
 * memory may be used for something else. */
void xb_frame_rest(const xb_frame *frame);

/* One kind of input, and every number finite; else XB_E_INPUT with its place. */
xb_status xb_rows_check(xb_ctx *ctx, const xb_rows *rows);

/* Rows [first, first + n) of them. */
xb_rows xb_rows_part(const xb_rows *rows, int64_t first, int64_t n);

#endif
