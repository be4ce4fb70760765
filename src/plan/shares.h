/* shares.h: how much each weight contributes to the output's spread; maths A1, A2. */
#ifndef XB_PLAN_SHARES_H
#define XB_PLAN_SHARES_H

#include "base/ctx.h"
#include "crossbayes/plan.h"
#include "predict/charfn.h"

/* a_k = sigma_k df/dtheta_k, over draws of Gaussian weights. */
typedef struct xb_weight_shares {
    int64_t count;
    double *second;  /* [count] E a_k^2, 0 where a weight is fixed */
    double variance; /* of the output */
} xb_weight_shares;

/* The net ends in a random dense layer with one output. */
xb_status xb_weight_shares_make(xb_ctx *ctx, xb_weight_shares *out, const xb_net *net,
                                const xb_weights *weights, const xb_real *x,
                                const xb_plan_options *opt);
void xb_weight_shares_free(xb_weight_shares *s);

/* (A1) with the spread that elements [from, to) alone make, or all of it. */
double xb_weight_shares_n_eff(const xb_weight_shares *s);
double xb_weight_shares_n_eff_of(const xb_weight_shares *s, int64_t from, int64_t to);

/* n_eff, the rule of thumb, layers and largest weights of a plan. */
xb_status xb_weight_shares_plan(xb_ctx *ctx, xb_plan *plan, const xb_net *net,
                                const xb_weights *weights, const xb_real *x,
                                const xb_charfn *law, const xb_plan_options *opt);

/* (A2) k_n^2 power_n^2 / (2 n!), n = 3..XB_PLAN_ORDER, and their sum; power[n] is the
 * sum of a^n over (the sum of a^2)^(n / 2). */
double xb_weight_shares_rule(double part[XB_PLAN_ORDER + 1], const xb_charfn *law,
                             const double power[XB_PLAN_ORDER + 1]);

#endif
