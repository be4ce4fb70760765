/* meanabs.h: A(t) = E|t + z| of a standardised law; maths V4. What Laplace
 * priors need, and by V6 any prior with a spike. */
#ifndef XB_VI_MEANABS_H
#define XB_VI_MEANABS_H

#include <math.h>

#include "crossbayes/law.h"
#include "vi/curve.h"

typedef struct xb_meanabs {
    xb_curve_table curve; /* between the ends of the law; outside, A is |t| */
} xb_meanabs;

xb_status xb_meanabs_make(xb_ctx *ctx, xb_meanabs *out, const xb_law *law);
void xb_meanabs_free(xb_meanabs *table);

static inline double xb_meanabs_at(const xb_meanabs *table, double t, double *slope)
{
    if (t >= table->curve.lower && t < table->curve.upper)
        return xb_curve_at(&table->curve, t, slope);
    *slope = t > 0 ? 1 : -1;
    return fabs(t);
}

#endif
