/* plan.h: the contents of a plan, and the prediction alone, for callers that try many
 * nets. */
#ifndef XB_PLAN_PLAN_H
#define XB_PLAN_PLAN_H

#include "base/ctx.h"
#include "crossbayes/plan.h"

enum { XB_PLAN_WEIGHTS = 5 };

struct xb_plan {
    double n_eff, needed; /* at x; for the tolerance with equal shares */
    /* (A2) Leading order: squared cumulants over powers of n_eff; their sum and the part
     * of each, [3..8]. A rule of thumb: for n_eff below 17 it can be far too low. */
    double rule, by_cumulant[XB_PLAN_ORDER + 1];
    xb_estimate predicted; /* KL(law || Gaussian) of the output, nats (A7) */
    xb_estimate measured;  /* NAN if not requested */
    /* False if much of the predicted KL comes from hidden units with two to five weights,
     * which are too many for the law's own quantile and too few for its cumulants. */
    bool trusted;
    xb_plan_verdict verdict; /* by the measured KL, else by a trusted prediction */
    int layers, weights;     /* how many there are below */
    xb_plan_layer layer[XB_PLAN_LAYERS];    /* random ones, first to last */
    xb_plan_weight weight[XB_PLAN_WEIGHTS]; /* largest shares first */
};

/* xb_plan_create() by value. */
xb_status xb_plan_fill(xb_ctx *ctx, xb_plan *out, const xb_net *net,
                       const xb_weights *weights, const xb_real *x, const xb_law *law,
                       const xb_plan_options *opt);

/* Sets predicted, trusted and the layers' KL; with opt->weight_draws > 0 also
 * shares, n_eff and the rule of thumb. */
xb_status xb_plan_predict(xb_ctx *ctx, xb_plan *plan, const xb_net *net,
                          const xb_weights *weights, const xb_real *x, const xb_law *law,
                          const xb_plan_options *opt);

#endif
