/* shares.h: how much of the output's spread each weight makes; maths A1, A2. */
#ifndef XB_PLAN_SHARES_H
#define XB_PLAN_SHARES_H

#include "base/ctx.h"
#include "crossbayes/plan.h"

/* a_k = sigma_k df/dtheta_k, over draws of Gaussian weights. */
typedef struct xb_shares {
    int64_t count;
    double *second;        /* [count] E a_k^2, 0 where a weight is fixed */
    double *fourth;        /* [count] E a_k^4 */
    double mean, variance; /* of the output */
} xb_shares;

xb_status xb_shares_make(xb_ctx *ctx, xb_shares *out, const xb_net *net,
                         const xb_weights *weights, const xb_real *x,
                         const xb_plan_options *opt);
void xb_shares_free(xb_shares *s);

double xb_shares_n_eff(const xb_shares *s);

#endif
