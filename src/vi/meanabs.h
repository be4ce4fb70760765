/* meanabs.h: A(t) = E|t + z| of a standardised law; maths V4. What Laplace
 * priors need, and by V6 any prior with a spike. */
#ifndef XB_VI_MEANABS_H
#define XB_VI_MEANABS_H

#include "crossbayes/law.h"
#include "vi/curve.h"

xb_status xb_meanabs_make(xb_ctx *ctx, xb_meanabs *out, const xb_law *law);
void xb_meanabs_free(xb_meanabs *table);

#endif
