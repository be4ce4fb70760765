/* pieces.h: the quantile of a law as polynomial pieces in s = sqrt(2 v), in
 * double precision; maths D6, D7. */
#ifndef XB_DRAW_PIECES_H
#define XB_DRAW_PIECES_H

#include "law/family.h"

enum { XB_PIECE_DEGREE = 15, XB_PIECES_MAX = 4096, XB_PIECE_INDEX = 64 };

/* On [from, to] in s: x = origin + r-polynomial, times s in the first piece of a
 * bounded law (x - edge is analytic in s and vanishes there). r in [-1, 1]. */
typedef struct xb_piece {
    double from, to;
    double middle, inverse_half; /* r = (s - middle) * inverse_half */
    double origin;
    bool times_s;
    double coef[XB_PIECE_DEGREE + 1]; /* ascending powers of r */
} xb_piece;

/* One half of a law: tail mass v in (0, 1/2], lower or upper. */
typedef struct xb_pieces {
    const xb_law *law; /* borrowed; answers below pieces[0].from itself */
    bool upper;
    int64_t n;
    xb_piece *piece;               /* [n], ascending in s, the last ends at 1 */
    int32_t index[XB_PIECE_INDEX]; /* the piece each 64th of [0, 1] begins in */
    double u_error;                /* worst |Q(G(u)) - u| seen while building */
} xb_pieces;

xb_status xb_pieces_build(xb_ctx *ctx, xb_pieces *out, const xb_law *law, bool upper);
void xb_pieces_free(xb_pieces *p);

/* G(v), 0 < v <= 1/2. */
double xb_pieces_eval(const xb_pieces *p, double v);

#endif
