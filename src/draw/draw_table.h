/* draw_table.h: builds the quantile as float polynomials on equal cells of s = sqrt(2 v),
 * which the vector kernels read; maths D8, D9. draw_scalar.h describes the contents of a
 * table. */
#ifndef XB_DRAW_DRAW_TABLE_H
#define XB_DRAW_DRAW_TABLE_H

#include "draw/pieces.h"

/* half[0] is the lower half, half[1] the upper one (the same pieces, mirrored, if the law
 * is symmetric). */
xb_status xb_table_build(xb_ctx *ctx, xb_draw_table *out, const xb_law *law,
                         const xb_pieces *half, xb_affine affine);

/* The fast path for one word, with fused multiply-adds; NAN in a slow cell.
 * This is the reference that the vector kernels reproduce bit for bit. */
static inline float xb_table_value(const xb_draw_table *t, uint32_t word)
{
    float r;
    int rows = t->columns == XB_COLUMNS_WIDE ? 1 : 2;
    int column = xb_table_column(&r, word, t->columns, t->halves);
    return xb_table_signed(xb_polynomial(t->row[column * rows], t->degree, r), word);
}

#endif
