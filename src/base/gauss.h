/* gauss.h: from recurrence coefficients to a Gauss rule; maths Q1. Every Gauss rule in
 * the project uses this routine. */
#ifndef XB_BASE_GAUSS_H
#define XB_BASE_GAUSS_H

#include "base/ctx.h"

enum { XB_GAUSS_MAX = 4096 };

/* Monic polynomials p_{k+1} = (x - alpha_k) p_k - beta_k p_{k-1}, beta_0 = the
 * measure's mass. Writes nodes ascending and the logarithm of the weights (the
 * weights themselves may underflow: Laguerre, Hermite). 1 <= n <= XB_GAUSS_MAX,
 * beta_k > 0. `symmetric` enforces x -> -x exactly. */
xb_status xb_gauss(xb_ctx *ctx, double *nodes, double *log_weights, const double *alpha,
                   const double *beta, int64_t n, bool symmetric);

/* Gauss-Legendre on [-1, 1], weight 1. */
xb_status xb_gauss_legendre(xb_ctx *ctx, double *nodes, double *weights, int64_t n);

#endif
