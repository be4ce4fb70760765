/* crossbayes/predict.h: predictions of a model for new inputs.
 *
 *     xb_predict_options opt = xb_predict_options_default();
 *     opt.law = device;                          // another law, the same weights
 *     xb_prediction *p = NULL;
 *     if (xb_predict(ctx, &p, model, x, n, &opt) != XB_OK) ...
 *     printf("%g +- %g\n", xb_prediction_mean(p)[0], xb_prediction_sd(p)[0]);
 *     xb_prediction_destroy(p);
 *
 * Draw s of the weights depends only on (seed, s): it is the same for every input and
 * uses the same random words under every law, so that differences between laws show with
 * far fewer draws than independent draws would need (maths P1). Inputs and results are in
 * the data's own units. Results have the same bytes for any number of threads. Several
 * threads may predict from one model at once, each with a context of its own.
 */
#ifndef CROSSBAYES_PREDICT_H
#define CROSSBAYES_PREDICT_H

#include "crossbayes/data.h"
#include "crossbayes/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_predict_options {
    size_t struct_size;
    const xb_law *law; /* NULL: the model's */
    int64_t draws;     /* weight draws, 1000; 0: as many as `tolerance` requires */
    double tolerance;  /* 0.02: largest Monte Carlo error of the mean, in predictive
                          standard deviations, at each of the first 256 inputs (P5) */
    int64_t max_draws; /* 100000: largest number of draws with draws = 0, 1 or more */
    bool antithetic;   /* draws in pairs of z and -z; needs a symmetric law */
    uint64_t seed;     /* 1 */
    const double *quantile; /* levels in (0, 1); NULL: 0.025, 0.975 */
    int64_t quantiles;      /* number of levels, 0 or more */
    const char *backend;    /* NULL: the context's */
    bool adaptive; /* each input takes as many draws as its interval needs (P32), at most
                      `draws`, or `max_draws` if that is 0 */
    bool draws_needed; /* compute xb_prediction_draws_needed(); adaptive predictions
                          always do */
    double interval_tolerance; /* 0.1: largest Monte Carlo error of the first and the last
                                  quantile, in predictive standard deviations; for classes
                                  `tolerance` applies instead, to the probability of every
                                  class */
} xb_predict_options;

XB_OPTIONS(predict);

typedef struct xb_prediction xb_prediction;

/* x: [n][features], finite, n >= 0, with the features in the order of
 * xb_model_feature_name. A model of a plain table of numbers has one feature for each
 * column. Where columns of words or missing cells became features (xb_model_recipe), x is
 * best made by xb_model_frame_read or xb_model_frame_create: xb_frame_values of the frame
 * is such an x. All arguments are borrowed for the call only. */
XB_API xb_status xb_predict(xb_ctx *ctx, xb_prediction **out, const xb_model *model,
                            const double *x, int64_t n, const xb_predict_options *opt);
/* The same for inputs of any kind; bytes and floats are scaled a few rows at a time. */
XB_API xb_status xb_predict_rows(xb_ctx *ctx, xb_prediction **out, const xb_model *model,
                                 const xb_rows *rows, const xb_predict_options *opt);
XB_API void xb_prediction_destroy(xb_prediction *p); /* NULL is fine */
/* The number of draws that opt->tolerance requires, which opt->draws = 0 would use.
 */
XB_API xb_status xb_predict_draws_needed(xb_ctx *ctx, int64_t *draws,
                                         const xb_model *model, const xb_rows *rows,
                                         const xb_predict_options *opt);

/* Everything that a prediction returns is borrowed from it, and valid until it is
 * destroyed. Arrays are row-major. */
XB_API int64_t xb_prediction_count(const xb_prediction *p); /* n */
XB_API int64_t xb_prediction_draws(const xb_prediction *p);
XB_API int64_t xb_prediction_quantiles(const xb_prediction *p); /* 0 for classes */
XB_API int64_t xb_prediction_classes(const xb_prediction *p);   /* 0 for numbers */
XB_API int64_t xb_prediction_targets(const xb_prediction *p);   /* 1 for classes */
/* The largest Monte Carlo error of a mean in predictive standard deviations (for a class
 * of probability p, in units of sqrt(p (1 - p))); NAN: unknown, with fewer than 4 draws.
 */
XB_API double xb_prediction_mc_error(const xb_prediction *p);

/* [n]: the number of draws that the first and the last quantile of each input need for an
 * error within interval_tolerance (P31); with several targets the largest. NULL: not
 * requested, or fewer than 4 draws of a member. */
XB_API const double *xb_prediction_draws_needed(const xb_prediction *p);
/* [n]: the number of draws that each input took; NULL: all took xb_prediction_draws().
 * Otherwise xb_prediction_draws() is the largest of them. */
XB_API const int64_t *xb_prediction_draws_used(const xb_prediction *p);

/* For targets of numbers, in the target's units, each [n], with several targets
 * [n][targets] (P2, P3); NULL for classes: the mean of the predictive; the standard
 * deviation that comes from the weights (epistemic); that of the data's noise
 * (aleatoric); and that of the whole predictive, whose square is the sum of both squares.
 */
XB_API const double *xb_prediction_mean(const xb_prediction *p);
XB_API const double *xb_prediction_epistemic(const xb_prediction *p);
XB_API const double *xb_prediction_aleatoric(const xb_prediction *p);
XB_API const double *xb_prediction_sd(const xb_prediction *p);
/* [n][quantiles], or [n][targets][quantiles], of the predictive (P4), at the levels of
 * opt->quantile and in their order; NULL for classes. */
XB_API const double *xb_prediction_quantile(const xb_prediction *p);

/* For classes (P6): mean probabilities [n][classes], the most probable class [n] (the
 * first if several are equal), the entropy of the probabilities [n] and the mutual
 * information of class and weights [n], in nats; NULL for numbers. */
XB_API const double *xb_prediction_probability(const xb_prediction *p);
XB_API const int64_t *xb_prediction_class(const xb_prediction *p);
XB_API const double *xb_prediction_entropy(const xb_prediction *p);
XB_API const double *xb_prediction_information(const xb_prediction *p);

/* For ensembles, [n], with several targets [n][targets] (P7): the standard deviation
 * between the means of the members, a part of the epistemic one; for classes the mutual
 * information of class and member, a part of `information`. NULL for a single posterior.
 */
XB_API const double *xb_prediction_disagreement(const xb_prediction *p);
/* The share of the epistemic variance (for classes, of the information) that lies between
 * members, over all rows; with several targets the mean of their shares; NAN for a single
 * posterior. */
XB_API double xb_prediction_disagreement_share(const xb_prediction *p);

/* (V43) Adds a Gaussian process over the inputs beside the trained net. It has mean 0,
 * the target's spread and the given length, in standard deviations of a column times the
 * square root of the number of columns. From now on predictions are wider away from
 * `rows`, the training rows. This needs a table and one target of numbers that are not
 * counts. The process is saved with the model and is shared by all members of an
 * ensemble; simulated arrays refuse such a model. Call this before other threads share
 * the model.
 */
XB_API xb_status xb_model_add_process(xb_ctx *ctx, xb_model *model, const xb_rows *rows,
                                      double length);

/* The draws themselves, for scores and distances (crossbayes/compare.h): draws [first,
 * first + count) of those that opt describes (opt->draws is ignored). For numbers,
 * value [count][n] are the net's outputs and sd [n] is the aleatoric standard deviation,
 * which is the same for every draw (for an ensemble the root mean square over members;
 * draw s belongs to member s mod M, P7); with several targets [count][n][targets] and
 * [n][targets]. For classes, value [count][n][classes] are probabilities, and sd is not
 * written. sd may be NULL. */
XB_API xb_status xb_predict_draws(xb_ctx *ctx, double *value, double *sd,
                                  const xb_model *model, const double *x, int64_t n,
                                  int64_t first, int64_t count,
                                  const xb_predict_options *opt);
XB_API xb_status xb_predict_draws_rows(xb_ctx *ctx, double *value, double *sd,
                                       const xb_model *model, const xb_rows *rows,
                                       int64_t first, int64_t count,
                                       const xb_predict_options *opt);

/* ---- how many draws an interval needs
 *
 * From given draws, digital ones or reads of arrays: how many each input's central
 * interval needs, and after how many a run that draws one after another would have
 * stopped. Such a run checks after `first` draws, and then each time the number has grown
 * by half (P30-P32). */

typedef struct xb_stopping_options {
    size_t struct_size;
    double interval;  /* 0.95: probability inside the central interval */
    double tolerance; /* 0.1: largest Monte Carlo error of its ends, in predictive sds */
    int64_t first;    /* 32, 4 or more: draws of each member before the first check */
    int64_t members;  /* 1: number of members, to which the draws belong in turn */
    double worth; /* 1, in (0, 1]: number of independent draws that one draw is worth */
} xb_stopping_options;

XB_OPTIONS(stopping);

typedef struct xb_stopping xb_stopping;

/* value [draws][n]; sd [sds][n], above 0, where draw s has sd number s mod sds. At least
 * 4 draws of each member. */
XB_API xb_status xb_stopping_find(xb_ctx *ctx, xb_stopping **out, const double *value,
                                  const double *sd, int64_t draws, int64_t n, int64_t sds,
                                  const xb_stopping_options *opt);
XB_API void xb_stopping_destroy(xb_stopping *settled); /* NULL is fine */
XB_API int64_t xb_stopping_count(const xb_stopping *settled);
/* Each [n]: the number of draws needed, estimated from all of them; the number of draws
 * after which the interval was settled, or all of them if it never was; and the interval
 * at that time. */
XB_API const double *xb_stopping_draws_needed(const xb_stopping *settled);
XB_API const int64_t *xb_stopping_draws_used(const xb_stopping *settled);
XB_API const double *xb_stopping_low(const xb_stopping *settled);
XB_API const double *xb_stopping_high(const xb_stopping *settled);

#ifdef __cplusplus
}
#endif
#endif
