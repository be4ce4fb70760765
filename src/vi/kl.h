/* kl.h: KL of weights in a backend's memory; see kl.c. */
#ifndef XB_VI_KL_H
#define XB_VI_KL_H

#include "backend/backend.h"

/* Places the tables for sums on this backend, once, before the first sum; they are freed
 * with the KL, which must be destroyed before the backend. */
xb_status xb_kl_place(xb_ctx *ctx, xb_kl *kl, const xb_backend *b);

/* Works as xb_kl_sum does, over the block's buffers; mean, precision and cross are set
 * here, and rho is not read. */
double xb_kl_sum_sigma(const xb_backend *b, const xb_ctx *ctx, const xb_kl *kl,
                       const xb_kl_block *block);
/* The same and the chain rule to rho (V8): grad_sigma holds the gradient with respect to
 * sigma before the call, and with respect to rho afterwards. A normal prior with sigma =
 * exp(rho) needs one pass over the weights; the sum of log sigma is then that of rho. */
double xb_kl_sum_rho(const xb_backend *b, const xb_ctx *ctx, const xb_kl *kl,
                     xb_sigma_transform transform, const xb_kl_block *block);

/* For a normal prior: its mean and precision, and the constant of every weight that
 * backends leave out. False: the prior is not normal. */
bool xb_kl_normal(const xb_kl *kl, double *mean, double *precision, double *constant);

#endif
