/* crossbayes/plan.h: how much the shape of weight noise can matter to a net's output.
 *
 *     double n_eff;
 *     xb_plan_n_eff(ctx, &n_eff, net, &weights, x, NULL);
 *
 * A law's shape reaches the output only as far as few weights carry it: a sum of many
 * equal shares is Gaussian whatever its terms are. Formulas: docs/maths.md, section A.
 */
#ifndef CROSSBAYES_PLAN_H
#define CROSSBAYES_PLAN_H

#include "crossbayes/net.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_plan_options {
    int64_t draws; /* of the weights, for n_eff, 1024 */
    uint64_t seed; /* 1 */
    const char *backend;
} xb_plan_options;

XB_API xb_plan_options xb_plan_options_default(void);

/* (A1) The effective number of random weights behind the net's one output at x, under
 * Gaussian noise: 1 where one weight makes all of its spread, n where n equal ones do.
 * x: [input], one example. opt NULL: the defaults. */
XB_API xb_status xb_plan_n_eff(xb_ctx *ctx, double *n_eff, const xb_net *net,
                               const xb_weights *weights, const xb_real *x,
                               const xb_plan_options *opt);

#ifdef __cplusplus
}
#endif
#endif
