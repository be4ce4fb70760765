/* pieces.h: the quantile of a law as polynomial pieces in s = sqrt(2 v), in double
 * precision; maths D6, D7. draw_scalar.h describes a piece. */
#ifndef XB_DRAW_PIECES_H
#define XB_DRAW_PIECES_H

#include "draw/draw_scalar.h"
#include "law/family.h"

xb_status xb_pieces_build(xb_ctx *ctx, xb_pieces *out, const xb_law *law, bool upper);
void xb_pieces_free(xb_pieces *p);

/* G(v), 0 < v <= 1/2. */
double xb_pieces_eval(const xb_pieces *p, double v);

#endif
