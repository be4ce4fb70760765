/* crossbayes/plan.h: will the shape of the weight noise matter to a net's output?
 *
 *     xb_plan_options opt = xb_plan_options_default();
 *     opt.tolerance = 1e-4;
 *     xb_plan *plan = NULL;
 *     if (xb_plan_create(ctx, &plan, net, &weights, x, law, &opt) != XB_OK) ...
 *     printf("%s: %g nats\n", xb_plan_verdict_name(xb_plan_verdict_of(plan)),
 *            xb_plan_predicted(plan).value);
 *     xb_plan_destroy(plan);
 *
 * A law's shape reaches the output only if few weights make most of its variance: a sum
 * of many equal shares is nearly Gaussian whatever the law of its terms. The prediction
 * needs the law's cumulants and a Monte Carlo over hidden units, but no draws of weights;
 * with `measure` the distance is also computed from draws of all weights. Formulas:
 * docs/maths.md, section A.
 */
#ifndef CROSSBAYES_PLAN_H
#define CROSSBAYES_PLAN_H

#include "crossbayes/density.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_plan_options {
    size_t struct_size;
    double tolerance; /* 1e-3: largest KL from the Gaussian's predictive that does not
                         matter, nats */
    bool measure;     /* true (default): also measure by draws of the law
                         (crossbayes/density.h) */
    int64_t draws;    /* 32768: draws of the hidden layers; 0: as in xb_density_options */
    int64_t weight_draws; /* 2048: draws of all weights, for n_eff */
    uint64_t seed;        /* 1 */
    const char *backend;  /* NULL: the context's */
    int64_t output; /* 0: number of the output to plan for, if the net has several */
} xb_plan_options;

XB_OPTIONS(plan);

/* (A1) The effective number of random weights behind the net's one output at x, under
 * Gaussian noise: 1 if one weight makes all of its variance, n if n equal weights do,
 * less than 1 if weights multiply each other's noise. x: [input], one example. opt NULL:
 * the defaults. */
XB_API xb_status xb_plan_find_n_eff(xb_ctx *ctx, double *n_eff, const xb_net *net,
                                    const xb_weights *weights, const xb_real *x,
                                    const xb_plan_options *opt);

/* (A3) For equal shares: the smallest n at which the mean of n draws of the law is within
 * the tolerance of a Gaussian, as a KL in nats. */
XB_API xb_status xb_plan_find_n_eff_needed(xb_ctx *ctx, double *n, const xb_law *law,
                                           double tolerance);

/* A random layer of the net. A frozen value. */
typedef struct xb_plan_layer {
    int64_t layer; /* number in the net, from 0 */
    double
        share;      /* upper bound of the share of the output's variance that disappears
                       without this layer's noise: exact in a linear net, where the shares add
                       up to 1; they add up to more if weights multiply each other's noise */
    double n_eff;   /* effective number of this layer's weights alone */
    xb_estimate kl; /* predicted if this layer alone had the law */
} xb_plan_layer;

/* One weight. A frozen value. */
typedef struct xb_plan_weight {
    int64_t tensor;
    int64_t element; /* index in the tensor */
    double share; /* upper bound of its share of the output's variance, as for a layer */
} xb_plan_weight;

typedef enum xb_plan_verdict {
    XB_PLAN_MET,     /* within the tolerance, noise included */
    XB_PLAN_NOT_MET, /* beyond the tolerance, even after noise is subtracted */
    XB_PLAN_UNSURE   /* too few draws, or an unreliable prediction */
} xb_plan_verdict;

XB_API const char *xb_plan_verdict_name(xb_plan_verdict verdict); /* never NULL */

typedef struct xb_plan xb_plan;

/* The net must consist of dense layers and activations and end in a dense layer; the plan
 * is for its output number opt->output (A20); at most XB_PLAN_LAYERS random layers. x:
 * [input]. */
enum { XB_PLAN_LAYERS = 64 };
XB_API xb_status xb_plan_create(xb_ctx *ctx, xb_plan **out, const xb_net *net,
                                const xb_weights *weights, const xb_real *x,
                                const xb_law *law, const xb_plan_options *opt);
XB_API void xb_plan_destroy(xb_plan *plan); /* NULL is fine */

/* The verdict from the measured KL, or from a trusted prediction if nothing was measured.
 */
XB_API xb_plan_verdict xb_plan_verdict_of(const xb_plan *plan);
/* KL(law || Gaussian) of the output in nats, as predicted (A7) and as measured by draws
 * (NAN if not requested). */
XB_API xb_estimate xb_plan_predicted(const xb_plan *plan);
XB_API xb_estimate xb_plan_measured(const xb_plan *plan);
/* Whether the prediction is reliable. It is not if much of the predicted KL comes from
 * hidden units with two to five weights, which are too many for the law's own quantile
 * and too few for its cumulants; nor under a law without a sixth moment (`student`, nu <=
 * 6), whose far tail adds to the KL outside the range of the densities: predicted and
 * measured are then lower bounds, and the verdict is never XB_PLAN_MET. */
XB_API bool xb_plan_trusted(const xb_plan *plan);
/* The effective number of weights at x, and the number that the tolerance requires with
 * equal shares.
 */
XB_API double xb_plan_n_eff(const xb_plan *plan);
XB_API double xb_plan_n_eff_needed(const xb_plan *plan);
/* (A2) The leading order, squared cumulants over powers of n_eff: their sum, and the part
 * of one cumulant, of order 3 to XB_PLAN_ORDER. This is a rule of thumb, which can be far
 * too low for n_eff below 17. */
enum { XB_PLAN_ORDER = 8 };
XB_API double xb_plan_rule(const xb_plan *plan);
XB_API double xb_plan_rule_part(const xb_plan *plan, int64_t order);
/* The random layers, first to last, and the few weights with the largest shares, largest
 * first. */
XB_API int64_t xb_plan_layer_count(const xb_plan *plan);
XB_API xb_plan_layer xb_plan_layer_at(const xb_plan *plan, int64_t i);
XB_API int64_t xb_plan_weight_count(const xb_plan *plan);
XB_API xb_plan_weight xb_plan_weight_at(const xb_plan *plan, int64_t i);

/* Weights for an untrained net: means 0, standard deviations 1 / sqrt(inputs) of the
 * kernel, so that equal inputs have equal shares; biases 0 and, where random, with a
 * standard deviation of 1 / sqrt(inputs) too. mu, sigma: [param_count]. */
XB_API void xb_plan_equal_shares(const xb_net *net, xb_real *mu, xb_real *sigma);

/* The smallest common width of the hidden layers of `text` (all `dense N` but the last)
 * at which the prediction meets the tolerance, for a net of equal shares at x = 1. 0:
 * none up to XB_PLAN_WIDEST. A frozen value. */
enum { XB_PLAN_WIDEST = 512 };
typedef struct xb_plan_width {
    int64_t width;
    xb_estimate predicted; /* at that width, or at the widest */
} xb_plan_width;

XB_API xb_status xb_plan_find_width(xb_ctx *ctx, xb_plan_width *out, const char *text,
                                    int64_t inputs, const xb_law *law,
                                    const xb_plan_options *opt);

#ifdef __cplusplus
}
#endif
#endif
