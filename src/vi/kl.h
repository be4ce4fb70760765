/* kl.h: KL of weights whose sigma is that of a free parameter rho; see kl.c. */
#ifndef XB_VI_KL_H
#define XB_VI_KL_H

#include "base/ctx.h"
#include "crossbayes/vi.h"

/* As xb_kl_sum, and the chain rule to rho (V8): gradient holds that by sigma before, that
 * by rho after. A normal prior and sigma = exp(rho) take one look at the weights; its sum
 * of log sigma is then that of rho. */
double xb_kl_sum_rho(const xb_ctx *ctx, const xb_kl *kl, xb_spread spread, float *grad_mu,
                     float *gradient, const float *mu, const float *sigma,
                     const float *rho, int64_t n, double weight);

#endif
