/* empirical.h: the law made of M-splines, from its knots and weights. */
#ifndef XB_LAW_EMPIRICAL_H
#define XB_LAW_EMPIRICAL_H

#include "law/family.h"

enum { XB_EMPIRICAL_KNOTS_MAX = 4096 };

/* n_knots strictly ascending knots, n_knots - 4 >= 1 weights >= 0, not all zero
 * (they are scaled to sum one; knots of zero weight at either end are dropped).
 * Place 0, 1. */
xb_status xb_empirical_make(xb_ctx *ctx, xb_law **out, const double *knots,
                            const double *weights, int64_t n_knots);

#endif
