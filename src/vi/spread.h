/* spread.h: sigma and its gradient for whole blocks of weights in plain memory; maths V8.
 */
#ifndef XB_VI_SPREAD_H
#define XB_VI_SPREAD_H

#include "base/ctx.h"
#include "crossbayes/vi.h"

/* sigma[n] from rho[n]; never below FLT_MIN, so that log sigma and 1/sigma are
 * finite. */
void xb_spread_fill(const xb_ctx *ctx, xb_spread spread, float *sigma, const float *rho,
                    int64_t n);

/* gradient[n]: with respect to sigma in, with respect to rho out. */
void xb_spread_chain(const xb_ctx *ctx, xb_spread spread, float *gradient,
                     const float *sigma, int64_t n);

#endif
