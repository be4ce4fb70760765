/* plan.h: the prediction alone, for who tries many nets. */
#ifndef XB_PLAN_PLAN_H
#define XB_PLAN_PLAN_H

#include "base/ctx.h"
#include "crossbayes/plan.h"

/* Sets predicted, trusted and the layers' KL; with opt->weight_draws > 0 also
 * shares, n_eff and the rule of thumb. */
xb_status xb_plan_predict(xb_ctx *ctx, xb_plan *plan, const xb_net *net,
                          const xb_weights *weights, const xb_real *x, const xb_law *law,
                          const xb_plan_options *opt);

#endif
