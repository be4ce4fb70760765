/* curve.h: a function of one variable as a table of quintic pieces, for loops
 * over millions of weights; maths V6.
 *
 *     double slope, value = xb_curve_at(&curve, t, &slope);
 */
#ifndef XB_VI_CURVE_H
#define XB_VI_CURVE_H

#include "base/ctx.h"

typedef struct xb_curve_point {
    double value, slope, curvature;
} xb_curve_point;

typedef xb_curve_point (*xb_curve_fn)(void *arg, double t);

enum { XB_CURVE_COEFFICIENTS = 6 };

/* value = sum of c[k] s^k, s = (t - start) * inverse_width in [0, 1]: 64 bytes. */
typedef struct xb_curve_piece {
    double start;
    double inverse_width;
    double c[XB_CURVE_COEFFICIENTS];
} xb_curve_piece;

typedef struct xb_curve_table {
    double lower, upper;
    double buckets_per_unit;
    int32_t *first;        /* [buckets + 1] piece in which a bucket begins */
    xb_curve_piece *piece; /* [pieces + 1], the last one starting at INFINITY */
    int64_t pieces;
} xb_curve_table;

/* Pieces between which value, slope and curvature are the function's own; halved
 * until value and slope are within `tolerance` between them too (or too narrow
 * to matter: 2^-40 of a bucket). lower < upper. */
xb_status xb_curve_build(xb_ctx *ctx, xb_curve_table *out, xb_curve_fn function,
                         void *arg, double lower, double upper, double tolerance);
void xb_curve_free(xb_curve_table *curve); /* leaves an empty one; empty is fine */

/* lower <= t < upper. */
static inline double xb_curve_at(const xb_curve_table *curve, double t, double *slope)
{
    int64_t i = curve->first[(int64_t)((t - curve->lower) * curve->buckets_per_unit)];
    while (t >= curve->piece[i + 1].start) i++;
    const xb_curve_piece *p = &curve->piece[i];
    double s = (t - p->start) * p->inverse_width;
    const double *c = p->c;
    double value = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))));
    *slope = p->inverse_width *
             (c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (4 * c[4] + s * (5 * c[5])))));
    return value;
}

#endif
