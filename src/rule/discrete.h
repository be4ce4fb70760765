/* discrete.h: a law as a sum of point masses, dense enough that the first
 * `order` orthogonal polynomials under both are the same; maths Q6. */
#ifndef XB_RULE_DISCRETE_H
#define XB_RULE_DISCRETE_H

#include "base/ctx.h"
#include "crossbayes/law.h"

enum { XB_DISCRETE_LANES = 8 }; /* n is a multiple; padded with massless points */

typedef struct xb_discrete {
    int64_t n;
    double *x;        /* [n], owns the block */
    double *root;     /* [n], square root of the point's mass, any norm */
    double *log_root; /* [n], its logarithm: exact where the root underflows */
} xb_discrete;

/* The points of a symmetric law are one half: their mirror images are meant too. */
xb_status xb_discrete_make(xb_ctx *ctx, xb_discrete *out, const xb_law *law,
                           int64_t order);
void xb_discrete_free(xb_discrete *points);

#endif
