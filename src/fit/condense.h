/* condense.h: a large sample as a few thousand weighted points that have the
 * same sums of smooth functions, for likelihoods; maths F2. */
#ifndef XB_FIT_CONDENSE_H
#define XB_FIT_CONDENSE_H

#include "base/ctx.h"

typedef struct xb_points {
    int64_t n;
    double *x;     /* [n] ascending by group */
    double *count; /* [n] number of values that the point represents */
    double total;  /* sum of `count` */
} xb_points;

/* Makes points from n ascending values. Small samples are taken unchanged; large ones are
 * divided into groups that shrink to one value towards both ends. */
xb_status xb_points_make(xb_ctx *ctx, xb_points *out, const double *sorted, int64_t n);
void xb_points_free(xb_points *points);

/* (F2) Appends the two-point rule of `count` values in [from, to] with these central
 * moments; one point if the rule would leave the interval. The caller has made room for
 * it. */
void xb_points_add(xb_points *points, double count, double mean, double variance,
                   double third, double from, double to);

#endif
