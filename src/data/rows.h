/* rows.h: rows of inputs of any kind, see crossbayes/data.h. */
#ifndef XB_DATA_ROWS_H
#define XB_DATA_ROWS_H

#include "base/ctx.h"
#include "crossbayes/data.h"

/* Says that the values of a frame will not be needed for a while, so that their memory
 * may be reused if they are in a file. */
void xb_frame_rest(const xb_frame *frame);

/* Checks that there is one kind of input and that every number is finite; else XB_E_INPUT
 * with the position. */
xb_status xb_rows_check(xb_ctx *ctx, const xb_rows *rows);

/* Returns rows [first, first + n). */
xb_rows xb_rows_part(const xb_rows *rows, int64_t first, int64_t n);

#endif
