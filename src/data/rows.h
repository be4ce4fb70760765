/* rows.h: rows of inputs of any kind, see crossbayes/data.h. */
#ifndef XB_DATA_ROWS_H
#define XB_DATA_ROWS_H

#include "base/ctx.h"
#include "crossbayes/data.h"

/* One kind of input, and every number finite; else XB_E_INPUT with its place. */
xb_status xb_rows_check(xb_ctx *ctx, const xb_rows *rows);

/* Rows [first, first + n) of them. */
xb_rows xb_rows_part(const xb_rows *rows, int64_t first, int64_t n);

#endif
