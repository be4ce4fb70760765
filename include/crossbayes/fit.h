/* crossbayes/fit.h: fits laws to measured samples and tests whether they fit.
 *
 *     xb_fit_options opt = xb_fit_options_default();
 *     xb_fit *fit = NULL;
 *     if (xb_fit_run(ctx, &fit, x, n, &opt) == XB_OK)
 *         xb_fit_save(ctx, fit, "law.json");
 *     xb_fit_destroy(fit);
 *
 * Every requested family is fitted by maximum likelihood and tested for goodness of fit;
 * the p-values allow for the fitted parameters and for correlated samples. The best
 * family by AIC among those that fit is chosen. If no parametric family fits, `empirical`
 * is chosen and the verdict says so.
 */
#ifndef CROSSBAYES_FIT_H
#define CROSSBAYES_FIT_H

#include "crossbayes/law.h"
#include "crossbayes/series.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum xb_optimiser { XB_OPTIMISER_NEWTON = 0, XB_OPTIMISER_ADAM = 1 } xb_optimiser;
typedef enum xb_criterion { XB_CRITERION_AIC = 0, XB_CRITERION_BIC = 1 } xb_criterion;

XB_API const char *xb_optimiser_name(xb_optimiser optimiser); /* "newton", "adam" */
XB_API xb_status xb_optimiser_parse(xb_ctx *ctx, xb_optimiser *out, const char *text);
XB_API const char *xb_criterion_name(xb_criterion criterion); /* "aic", "bic" */
XB_API xb_status xb_criterion_parse(xb_ctx *ctx, xb_criterion *out, const char *text);

typedef struct xb_fit xb_fit;

typedef struct xb_fit_options {
    size_t struct_size;
    const char *family; /* NULL: all families, of which the criterion chooses one */
    xb_optimiser optimiser;
    xb_criterion criterion;
    double adam_rate;    /* 1e-3 */
    double fixed_scale;  /* > 0: the given half-width of the support, which is then not
                            fitted */
    double fixed_offset; /* used when has_fixed_offset; else the sample mean */
    bool has_fixed_offset;
    const char *unit;        /* NULL or e.g. "S"; kept in the law file */
    const char *source;      /* NULL or the file's name; kept as provenance */
    double level;            /* 0.01: up to this p-value a family does not fit */
    uint64_t seed;           /* 0: seed of the simulated null distributions */
    const xb_series *series; /* NULL, or the trace whose stationary part the samples are;
                                its findings are kept in the law file */
    const xb_fit *whole; /* NULL, or the fit of the whole trace, which is kept in the law
                            file, too */
} xb_fit_options;

XB_OPTIONS(fit);

/* (F12) Does a family fit? */
typedef enum xb_fit_decision {
    XB_FIT_NO,         /* a test of distance, tails, skewness or kurtosis rejects it */
    XB_FIT_YES,        /* no test rejects it */
    XB_FIT_CANNOT_TELL /* no test rejects it, but there are too few independent samples to
                          do so */
} xb_fit_decision;

XB_API const char *xb_fit_decision_name(xb_fit_decision decision); /* "no", "yes", ... */

/* The outcome of a fit: the short form of the verdict. */
typedef enum xb_fit_outcome {
    XB_FIT_FITS,      /* the chosen family fits */
    XB_FIT_EMPIRICAL, /* no parametric family fits; the empirical law is chosen and fits
                       */
    XB_FIT_NOTHING,   /* not even the empirical law fits; it is chosen nevertheless */
    XB_FIT_REFUSED,   /* the requested family does not fit */
    XB_FIT_DIVERGED,  /* the requested family did not converge */
    XB_FIT_UNTESTED   /* too few independent samples to test any law */
} xb_fit_outcome;

/* x: 8 or more finite values in time order, not all the same, borrowed for the call; else
 * XB_E_INPUT. opt NULL: the defaults. That no family fits is a result, not a failure. */
XB_API xb_status xb_fit_run(xb_ctx *ctx, xb_fit **out, const double *x, int64_t n,
                            const xb_fit_options *opt);
XB_API void xb_fit_destroy(xb_fit *fit); /* NULL is fine */

/* The families that were fitted, 0 <= i < xb_fit_family_count(). Everything that a fit
 * returns is borrowed from it. */
typedef struct xb_fit_family xb_fit_family;

XB_API int64_t xb_fit_family_count(const xb_fit *fit);
XB_API const xb_fit_family *xb_fit_family_at(const xb_fit *fit, int64_t i);
XB_API int64_t xb_fit_family_find(const xb_fit *fit, const char *name); /* -1: none */
XB_API int64_t xb_fit_chosen(const xb_fit *fit);    /* index of the chosen family */
XB_API const xb_law *xb_fit_law(const xb_fit *fit); /* borrowed */
/* The fitted law of family i, with its placement in the user's units; borrowed. */
XB_API const xb_law *xb_fit_law_at(const xb_fit *fit, int64_t i);
XB_API const char *xb_fit_verdict(const xb_fit *fit); /* one or two sentences */
XB_API xb_fit_outcome xb_fit_outcome_of(const xb_fit *fit);
/* "fits", "no family fits", "nothing fits", "does not fit", "did not converge", "cannot
 * be tested". */
XB_API const char *xb_fit_outcome_name(xb_fit_outcome outcome);

/* ---- one family's fit */

XB_API const char *xb_fit_family_name(const xb_fit_family *f); /* "mtj" */
XB_API bool xb_fit_family_converged(const xb_fit_family *f);
XB_API int64_t xb_fit_family_iterations(const xb_fit_family *f);
/* Largest |d log-likelihood / d log-parameter| / n at the end. */
XB_API double xb_fit_family_gradient_norm(const xb_fit_family *f);

/* Named parameters: the family's own, then "scale" and "offset" in the user's units. The
 * standard error is from the observed information; it is NAN for a parameter that was
 * given. */
XB_API int64_t xb_fit_family_param_count(const xb_fit_family *f);
XB_API const char *xb_fit_family_param_name(const xb_fit_family *f, int64_t i);
XB_API double xb_fit_family_param_value(const xb_fit_family *f, int64_t i);
XB_API double xb_fit_family_param_error(const xb_fit_family *f, int64_t i);
XB_API int64_t xb_fit_family_param_find(const xb_fit_family *f,
                                        const char *name); /* -1: none */

XB_API double xb_fit_family_log_likelihood(const xb_fit_family *f);
/* The number of free parameters, which the two criteria below penalise; the criteria use
 * the effective number of samples. */
XB_API int64_t xb_fit_family_free_count(const xb_fit_family *f);
XB_API double xb_fit_family_aic(const xb_fit_family *f);
XB_API double xb_fit_family_bic(const xb_fit_family *f);

/* Kolmogorov-Smirnov and Anderson-Darling with their p-values. */
XB_API double xb_fit_family_ks(const xb_fit_family *f);
XB_API double xb_fit_family_ks_p(const xb_fit_family *f);
XB_API double xb_fit_family_ad(const xb_fit_family *f);
XB_API double xb_fit_family_ad_p(const xb_fit_family *f);
/* p-values of skewness and kurtosis: the share of simulated samples of the law that are
 * as far from its own value (F18). */
XB_API double xb_fit_family_skewness_p(const xb_fit_family *f);
XB_API double xb_fit_family_kurtosis_p(const xb_fit_family *f);
XB_API xb_fit_decision xb_fit_family_decision(const xb_fit_family *f);
XB_API bool xb_fit_family_fits(const xb_fit_family *f); /* the decision is yes */

/* ---- the sample itself */

typedef struct xb_fit_sample xb_fit_sample;

XB_API const xb_fit_sample *xb_fit_sample_info(const xb_fit *fit);
XB_API int64_t xb_fit_sample_count(const xb_fit_sample *s); /* values */
/* The integrated autocorrelation time in samples, 1 for white noise; the effective number
 * of samples, which is the count divided by that time and at most the count; and the
 * autocorrelation at lag 1. */
XB_API double xb_fit_sample_tau(const xb_fit_sample *s);
XB_API double xb_fit_sample_effective(const xb_fit_sample *s);
XB_API double xb_fit_sample_lag1(const xb_fit_sample *s);
XB_API double xb_fit_sample_min(const xb_fit_sample *s);
XB_API double xb_fit_sample_max(const xb_fit_sample *s);
XB_API double xb_fit_sample_mean(const xb_fit_sample *s);
XB_API double xb_fit_sample_sd(const xb_fit_sample *s);
XB_API double xb_fit_sample_skewness(const xb_fit_sample *s);
XB_API double xb_fit_sample_excess_kurtosis(const xb_fit_sample *s);
/* Standard errors of the last three, for any law (F17). */
XB_API double xb_fit_sample_sd_error(const xb_fit_sample *s);
XB_API double xb_fit_sample_skewness_error(const xb_fit_sample *s);
XB_API double xb_fit_sample_excess_kurtosis_error(const xb_fit_sample *s);
/* Number of distinct values; few of them indicate a coarse converter. */
XB_API int64_t xb_fit_sample_distinct(const xb_fit_sample *s);
XB_API uint64_t xb_fit_sample_checksum(const xb_fit_sample *s); /* checksum of the
                                                                   values */

/* Writes the law file, with standard errors, diagnostics and provenance, atomically. */
XB_API xb_status xb_fit_save(xb_ctx *ctx, const xb_fit *fit, const char *path);
/* The same as text; xb_free() it. */
XB_API xb_status xb_fit_json(xb_ctx *ctx, char **out, const xb_fit *fit);

/* ---- testing a law that is given, not fitted
 *
 *     xb_goodness_result *r = NULL;
 *     if (xb_law_goodness(ctx, &r, law, x, n, NULL) != XB_OK) ...
 *     if (xb_goodness_result_fits(r)) ...
 *     xb_goodness_result_destroy(r);
 *
 * Kolmogorov-Smirnov and Anderson-Darling for a law whose parameters were fixed before
 * the samples were seen. Their null distributions are wider than after a fit, so test a
 * fitted law with xb_fit_run(), not with this function. The law is placed as
 * xb_law_placement() says.
 */
typedef struct xb_goodness_options {
    size_t struct_size;
    double level;     /* 0.01: up to this p-value the law does not fit */
    bool independent; /* the samples are known to be independent; false: their effective
                         number follows from the autocorrelation (F9) */
} xb_goodness_options;

XB_OPTIONS(goodness);

typedef struct xb_goodness_result xb_goodness_result;

/* x in time order, n >= 8 finite values, not all the same. */
XB_API xb_status xb_law_goodness(xb_ctx *ctx, xb_goodness_result **out, const xb_law *law,
                                 const double *x, int64_t n,
                                 const xb_goodness_options *opt);
XB_API void xb_goodness_result_destroy(xb_goodness_result *r); /* NULL is fine */
XB_API double xb_goodness_result_ks(const xb_goodness_result *r);
XB_API double xb_goodness_result_ks_p(const xb_goodness_result *r);
XB_API double xb_goodness_result_ad(const xb_goodness_result *r);
XB_API double xb_goodness_result_ad_p(const xb_goodness_result *r); /* never below 1e-6 */
XB_API bool xb_goodness_result_fits(
    const xb_goodness_result *r); /* both above the level */
/* Number of values outside the law's support. */
XB_API int64_t xb_goodness_result_outside(const xb_goodness_result *r);
/* Statistics of the sample, borrowed. */
XB_API const xb_fit_sample *xb_goodness_result_sample(const xb_goodness_result *r);

#ifdef __cplusplus
}
#endif
#endif
