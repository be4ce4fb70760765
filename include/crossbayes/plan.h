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
 * A law's shape reaches the output only as far as few weights carry it: a sum of many
 * equal shares is Gaussian whatever its terms are. The prediction needs the law's
 * cumulants and a Monte Carlo over hidden units, no draw of weights; `measure` asks for
 * the distance by draws of all weights beside it. Formulas: docs/maths.md, section A.
 */
#ifndef CROSSBAYES_PLAN_H
#define CROSSBAYES_PLAN_H

#include "crossbayes/density.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_plan_options {
    size_t struct_size;
    double tolerance; /* 1e-3: nats from the Gaussian's predictive that do not matter */
    bool measure;     /* true: also by real draws of the law (crossbayes/density.h) */
    int64_t draws;    /* of the hidden layers; 0: as xb_density_options */
    int64_t weight_draws; /* 2048: of all weights, for n_eff */
    uint64_t seed;        /* 1 */
    const char *backend;
    int64_t output; /* 0: of a net with several outputs, the one that is planned for */
} xb_plan_options;

XB_OPTIONS(plan);

/* (A1) The effective number of random weights behind the net's one output at x, under
 * Gaussian noise: 1 where one weight makes all of its spread, n where n equal ones do,
 * less than 1 where weights multiply each other's noise. x: [input], one example. opt
 * NULL: the defaults. */
XB_API xb_status xb_plan_find_n_eff(xb_ctx *ctx, double *n_eff, const xb_net *net,
                                    const xb_weights *weights, const xb_real *x,
                                    const xb_plan_options *opt);

/* (A3) What equal shares need: the smallest n at which the mean of n draws of the law is
 * within the tolerance of a Gaussian, KL in nats. */
XB_API xb_status xb_plan_find_needed(xb_ctx *ctx, double *n, const xb_law *law,
                                     double tolerance);

/* A random layer of the net. A frozen value. */
typedef struct xb_plan_layer {
    int64_t layer; /* of the net, from 0 */
    double share;  /* of the output's variance that goes if its noise does, at most: exact
                     in a linear net, where they add up to 1; they add up to more where
                     weights multiply each other's noise */
    double n_eff;  /* of this layer's weights alone */
    xb_estimate kl; /* predicted if this layer alone had the law */
} xb_plan_layer;

/* One weight. A frozen value. */
typedef struct xb_plan_weight {
    int64_t tensor;
    int64_t element; /* of the tensor */
    double share;    /* of the output's variance, at most, as that of a layer */
} xb_plan_weight;

typedef enum xb_plan_verdict {
    XB_PLAN_MET, /* within the tolerance, noise included */
    XB_PLAN_NOT_MET,
    XB_PLAN_UNSURE /* not enough draws to say, or a prediction not to be trusted */
} xb_plan_verdict;

XB_API const char *xb_plan_verdict_name(xb_plan_verdict verdict); /* never NULL */

typedef struct xb_plan xb_plan;

/* The net has dense layers and activations and ends in a dense layer, of whose outputs
 * opt->output is planned for (A20); at most XB_PLAN_LAYERS random layers. x: [input]. */
enum { XB_PLAN_LAYERS = 64 };
XB_API xb_status xb_plan_create(xb_ctx *ctx, xb_plan **out, const xb_net *net,
                                const xb_weights *weights, const xb_real *x,
                                const xb_law *law, const xb_plan_options *opt);
XB_API void xb_plan_destroy(xb_plan *plan); /* NULL is fine */

/* By the measured KL, else by a trusted prediction. */
XB_API xb_plan_verdict xb_plan_verdict_of(const xb_plan *plan);
/* KL(law || Gaussian) of the output, nats (A7), and by draws: NAN if not asked for. */
XB_API xb_estimate xb_plan_predicted(const xb_plan *plan);
XB_API xb_estimate xb_plan_measured(const xb_plan *plan);
/* Not so where hidden units that two to five weights make, too many for a law's own
 * quantile and too few for its cumulants, make much of the predicted KL; nor under a law
 * without a sixth moment (`student`, nu <= 6), whose far tail adds to the KL beyond the
 * range of densities: predicted and measured are then lower bounds, and the verdict is
 * never XB_PLAN_MET. */
XB_API bool xb_plan_trusted(const xb_plan *plan);
/* The effective number of weights at x, and what the tolerance needs with equal shares.
 */
XB_API double xb_plan_n_eff(const xb_plan *plan);
XB_API double xb_plan_needed(const xb_plan *plan);
/* (A2) Leading order: squared cumulants over powers of n_eff; their sum, and the part of
 * the cumulant of order 3 to XB_PLAN_ORDER. A rule of thumb: for n_eff below 17 it can be
 * far too low. */
enum { XB_PLAN_ORDER = 8 };
XB_API double xb_plan_rule(const xb_plan *plan);
XB_API double xb_plan_rule_part(const xb_plan *plan, int64_t order);
/* The random layers, first to last, and the few weights of the largest shares, the
 * largest first. */
XB_API int64_t xb_plan_layer_count(const xb_plan *plan);
XB_API xb_plan_layer xb_plan_layer_at(const xb_plan *plan, int64_t i);
XB_API int64_t xb_plan_weight_count(const xb_plan *plan);
XB_API xb_plan_weight xb_plan_weight_at(const xb_plan *plan, int64_t i);

/* Weights for a net without any: means 0, standard deviations 1 / sqrt(inputs) of the
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
