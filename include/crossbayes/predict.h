/* crossbayes/predict.h: what a model says of new inputs.
 *
 *     xb_predict_options opt = xb_predict_options_default();
 *     opt.law = device;                          // another law, the same weights
 *     xb_prediction *p = NULL;
 *     if (xb_predict(ctx, &p, model, x, n, &opt) != XB_OK) ...
 *     printf("%g +- %g\n", xb_prediction_mean(p)[0], xb_prediction_sd(p)[0]);
 *     xb_prediction_destroy(p);
 *
 * Draw s of the weights is a function of (seed, s) alone: the same for every input, and
 * under two laws the same random words, so that differences between laws are seen at
 * far fewer draws than independent ones would need (maths P1). Inputs and results are in
 * the data's own units. The same bytes for any number of threads.
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
    const xb_law *law;      /* NULL: the model's */
    int64_t samples;        /* weight draws, 1000; 0: as many as `tolerance` asks for */
    double tolerance;       /* 0.02: Monte Carlo error of the mean over the predictive's
                               standard deviation, at each of the first 256 inputs (P5) */
    int64_t most;           /* 100000: draws at which samples = 0 gives up, 1 or more */
    bool antithetic;        /* draws in pairs of z and -z; symmetric laws */
    uint64_t seed;          /* 1 */
    const double *quantile; /* levels in (0, 1); NULL: 0.025, 0.975 */
    int64_t quantiles;      /* how many, 0 or more */
    const char *backend;    /* NULL: the fastest */
    bool adaptive; /* each input takes as many draws as its interval needs (P32), at most
                      `samples`, or `most` where that is 0 */
    bool needs;    /* xb_prediction_needed() is wanted; adaptive ones have it */
    double interval_tolerance; /* 0.1: Monte Carlo error of the first and the last
                                  quantile over the predictive's standard deviation; of
                                  classes that of `tolerance`, of every class */
} xb_predict_options;

XB_OPTIONS(predict);

typedef struct xb_prediction xb_prediction;

/* x: [n][features], finite. n >= 0. */
XB_API xb_status xb_predict(xb_ctx *ctx, xb_prediction **out, const xb_model *model,
                            const double *x, int64_t n, const xb_predict_options *opt);
/* The same of inputs of any kind; bytes and floats are scaled a few rows at a time. */
XB_API xb_status xb_predict_rows(xb_ctx *ctx, xb_prediction **out, const xb_model *model,
                                 const xb_rows *rows, const xb_predict_options *opt);
XB_API void xb_prediction_destroy(xb_prediction *p); /* NULL is fine */
/* How many draws opt->tolerance asks for, which is what opt->samples = 0 predicts with.
 */
XB_API xb_status xb_predict_draws_enough(xb_ctx *ctx, int64_t *draws,
                                         const xb_model *model, const xb_rows *rows,
                                         const xb_predict_options *opt);

XB_API int64_t xb_prediction_count(const xb_prediction *p); /* n */
XB_API int64_t xb_prediction_draws(const xb_prediction *p);
XB_API int64_t xb_prediction_quantiles(const xb_prediction *p); /* 0 for classes */
XB_API int64_t xb_prediction_classes(const xb_prediction *p);   /* 0 for numbers */
XB_API int64_t xb_prediction_targets(const xb_prediction *p);   /* 1 for classes */
/* Largest Monte Carlo error of a mean (a class's probability p) over the predictive's
 * standard deviation (sqrt(p (1 - p))); NAN: unknown, fewer than 4 draws. */
XB_API double xb_prediction_error(const xb_prediction *p);

/* Draws that each input's quantiles need, the first and the last of them, for an error
 * within interval_tolerance, [n] (P31); of several targets the most. NULL: not asked for,
 * or fewer than 4 draws of a member. */
XB_API const double *xb_prediction_needed(const xb_prediction *p);
/* Draws that each input took, [n]; NULL: all took xb_prediction_draws(), which is the
 * most of them else. */
XB_API const int64_t *xb_prediction_used(const xb_prediction *p);

/* A target of numbers, each [n], of several targets [n][targets] (P2, P3); NULL for
 * classes. */
XB_API const double *xb_prediction_mean(const xb_prediction *p);
XB_API const double *xb_prediction_epistemic(const xb_prediction *p);
XB_API const double *xb_prediction_aleatoric(const xb_prediction *p);
XB_API const double *xb_prediction_sd(const xb_prediction *p); /* both together */
/* [n][quantiles], or [n][targets][quantiles], of the predictive (P4). */
XB_API const double *xb_prediction_quantile(const xb_prediction *p);

/* Classes (P6): mean probabilities [n][classes], the most probable class [n] (the first
 * of several), entropy of the probabilities [n] and the mutual information of class and
 * weights [n], nats; NULL for numbers. */
XB_API const double *xb_prediction_probability(const xb_prediction *p);
XB_API const int64_t *xb_prediction_class(const xb_prediction *p);
XB_API const double *xb_prediction_entropy(const xb_prediction *p);
XB_API const double *xb_prediction_information(const xb_prediction *p);

/* Ensembles, [n], of several targets [n][targets] (P7): the standard deviation between
 * the means of the members, a part of the epistemic one; for classes the information
 * between class and member, a part of `information`. NULL for a single posterior. */
XB_API const double *xb_prediction_disagreement(const xb_prediction *p);
/* Over all rows, the share of the epistemic variance (of the information) that lies
 * between members, of several targets the mean of theirs; NAN for a single posterior. */
XB_API double xb_prediction_disagreement_share(const xb_prediction *p);

/* The draws themselves, for scores and distances (crossbayes/compare.h), draws
 * [first, first + count) of those that opt describes (opt->samples is not read).
 * Numbers: value [count][n], the net's outputs, and sd [n], the aleatoric standard
 * deviation, which no draw changes (of an ensemble the root mean square over members;
 * draw s is member s mod M's, P7); of several targets [count][n][targets] and
 * [n][targets]. Classes: value [count][n][classes], probabilities;
 * sd is not written. sd may be NULL. */
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
 * Of draws that are there, digital ones or reads of arrays: how many each input's central
 * interval needs, and where draws that come one after the other would have stopped.
 * Looked at after `first` draws and then after half as many again each time (P30-P32). */

typedef struct xb_settle_options {
    size_t struct_size;
    double interval;  /* 0.95: share of the central interval */
    double tolerance; /* 0.1: Monte Carlo error of its ends over the predictive's sd */
    int64_t first;    /* 32, 4 or more: draws of each member before the first look */
    int64_t members;  /* 1: whom the draws are dealt over, one by one */
    double worth;     /* 1, in (0, 1]: independent draws that a draw is worth */
} xb_settle_options;

XB_OPTIONS(settle);

typedef struct xb_settled xb_settled;

/* value [draws][n], sd [sds][n], above 0: draw s has the sd of number s mod sds. At least
 * 4 draws of each member. */
XB_API xb_status xb_settle_draws(xb_ctx *ctx, xb_settled **out, const double *value,
                                 const double *sd, int64_t draws, int64_t n, int64_t sds,
                                 const xb_settle_options *opt);
XB_API void xb_settled_destroy(xb_settled *settled); /* NULL is fine */
XB_API int64_t xb_settled_count(const xb_settled *settled);
/* Each [n]: draws that are needed, judged by all of them; draws after which the interval
 * was settled, all of them where it never was; and the interval at that time. */
XB_API const double *xb_settled_needed(const xb_settled *settled);
XB_API const int64_t *xb_settled_used(const xb_settled *settled);
XB_API const double *xb_settled_low(const xb_settled *settled);
XB_API const double *xb_settled_high(const xb_settled *settled);

#ifdef __cplusplus
}
#endif
#endif
