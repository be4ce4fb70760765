/* curve.h: making the table of a function of one variable; maths V6. Looking into it:
 * kernel/cross_kernel.h.
 *
 *     double slope, value = xb_curve_at(&curve, t, &slope);
 */
#ifndef XB_VI_CURVE_H
#define XB_VI_CURVE_H

#include "base/ctx.h"
#include "kernel/cross_kernel.h"

typedef struct xb_curve_point {
    double value, slope, curvature;
} xb_curve_point;

typedef xb_curve_point (*xb_curve_fn)(void *arg, double t);

/* Pieces between which value, slope and curvature are the function's own; halved
 * until value and slope are within `tolerance` between them too (or too narrow
 * to matter: 2^-40 of a bucket). lower < upper. */
xb_status xb_curve_build(xb_ctx *ctx, xb_curve_table *out, xb_curve_fn function,
                         void *arg, double lower, double upper, double tolerance);
void xb_curve_free(xb_curve_table *curve); /* leaves an empty table; an empty one may be
                                              passed */

#endif
