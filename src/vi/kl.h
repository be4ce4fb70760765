/* kl.h: KL of weights in a backend's memory, whose sigma is that of a free parameter rho;
 * see kl.c. */
#ifndef XB_VI_KL_H
#define XB_VI_KL_H

#include "backend/backend.h"

/* As xb_kl_sum over the block's buffers, and the chain rule to rho (V8): grad_sigma holds
 * the gradient by sigma before, that by rho after; mean and precision are set here. A
 * normal prior and sigma = exp(rho) take one look at the weights; its sum of log sigma is
 * then that of rho. `room` [4][n] is the host's, NULL where the backend is. */
/* As xb_kl_sum over the block's buffers; rho is not read. */
double xb_kl_sum_sigma(const xb_backend *b, const xb_ctx *ctx, const xb_kl *kl,
                       const xb_kl_block *block, float *room);
double xb_kl_sum_rho(const xb_backend *b, const xb_ctx *ctx, const xb_kl *kl,
                     xb_spread spread, const xb_kl_block *block, float *room);

#endif
