/* crossbayes/fit.h: from measured samples to a law one can trust.
 *
 *     xb_fit_options opt = xb_fit_options_default();
 *     xb_fit *fit = NULL;
 *     if (xb_fit_run(ctx, &fit, x, n, &opt) == XB_OK)
 *         xb_fit_save(ctx, fit, "law.json");
 *     xb_fit_destroy(fit);
 *
 * Every family asked for is fitted by maximum likelihood, judged by goodness
 * of fit with p-values that know the parameters were fitted and the samples are
 * correlated, and the best by AIC is chosen. If none of the parametric families
 * fits, the choice is `empirical` and the verdict says so.
 */
#ifndef CROSSBAYES_FIT_H
#define CROSSBAYES_FIT_H

#include "crossbayes/law.h"
#include "crossbayes/series.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum xb_optimizer { XB_OPTIMIZER_NEWTON = 0, XB_OPTIMIZER_ADAM = 1 } xb_optimizer;
typedef enum xb_criterion { XB_CRITERION_AIC = 0, XB_CRITERION_BIC = 1 } xb_criterion;

typedef struct xb_fit xb_fit;

typedef struct xb_fit_options {
    size_t struct_size;
    const char *family; /* NULL: all, chosen by the criterion */
    xb_optimizer optimizer;
    xb_criterion criterion;
    double adam_rate;    /* 1e-3 */
    double fixed_scale;  /* > 0: the support's half-width is given, not fitted */
    double fixed_offset; /* used when has_fixed_offset; else the sample mean */
    bool has_fixed_offset;
    const char *unit;        /* NULL or e.g. "S"; kept in the law file */
    const char *source;      /* NULL or the file's name; kept as provenance */
    double level;            /* 0.01: below this p-value a family does not fit */
    uint64_t seed;           /* of the simulated null distributions */
    const xb_series *series; /* NULL or the trace that the samples are the stationary part
                                of; its findings are kept in the law file */
    const xb_fit *whole;     /* NULL or the fit of the whole trace; kept beside */
} xb_fit_options;

XB_OPTIONS(fit);

#define XB_FIT_FAMILY_MAX 16
#define XB_FIT_NAMED_MAX 26 /* eight levels: position, weight and width of each */

/* One family's fit. Parameters in `name` order: the family's own, then "scale"
 * and "offset" in the user's units. */
typedef struct xb_fit_family {
    char family[16];
    bool converged;
    int iterations;
    int n_param; /* of the likelihood, for AIC */
    int n_named;
    char name[XB_FIT_NAMED_MAX][8]; /* "w", "B", "m", "scale", "offset" */
    double value[XB_FIT_NAMED_MAX];
    double std_error[XB_FIT_NAMED_MAX]; /* from the observed information; NAN if fixed */
    double gradient_norm; /* largest |d loglik / d log-parameter| / n at the end */
    double log_likelihood;
    double aic, bic; /* with the effective number of samples */
    double ks, ks_p; /* Kolmogorov-Smirnov */
    double ad, ad_p; /* Anderson-Darling */
    bool fits;       /* both p-values above the level, and close to the sample where
                        correlation leaves too few values for a test (F12) */
} xb_fit_family;

typedef struct xb_fit_sample {
    int64_t n;
    double n_effective; /* n / integrated autocorrelation time, at most n */
    double tau;         /* integrated autocorrelation time, samples */
    double lag1;        /* autocorrelation at lag 1 */
    double min, max, mean, sd, skewness, excess_kurtosis;
    int64_t distinct;  /* distinct values: few means a coarse converter */
    uint64_t checksum; /* of the values, for provenance */
} xb_fit_sample;

/* What came out: the verdict's short form. */
typedef enum xb_fit_outcome {
    XB_FIT_FITS,      /* the chosen family does */
    XB_FIT_EMPIRICAL, /* no parametric family; the empirical law is chosen and fits */
    XB_FIT_NOTHING,   /* not even the empirical law, which is chosen all the same */
    XB_FIT_REFUSED,   /* the family asked for does not fit */
    XB_FIT_DIVERGED   /* the family asked for did not converge */
} xb_fit_outcome;

XB_API xb_status xb_fit_run(xb_ctx *ctx, xb_fit **out, const double *x, int64_t n,
                            const xb_fit_options *opt);
XB_API void xb_fit_destroy(xb_fit *fit);

XB_API const xb_fit_sample *xb_fit_sample_info(const xb_fit *fit);
XB_API int xb_fit_family_count(const xb_fit *fit);
XB_API const xb_fit_family *xb_fit_family_at(const xb_fit *fit, int i);
XB_API int xb_fit_chosen(const xb_fit *fit);        /* index into the above */
XB_API const xb_law *xb_fit_law(const xb_fit *fit); /* borrowed */
/* The law fitted for family i, with its place in the user's units; borrowed. */
XB_API const xb_law *xb_fit_law_at(const xb_fit *fit, int64_t i);
XB_API const char *xb_fit_verdict(const xb_fit *fit); /* one or two sentences */
XB_API xb_fit_outcome xb_fit_outcome_of(const xb_fit *fit);
/* "fits", "no family fits", "nothing fits", "does not fit", "did not converge". */
XB_API const char *xb_fit_outcome_text(xb_fit_outcome outcome);

/* The law file: law, standard errors, diagnostics, provenance. Atomic. */
XB_API xb_status xb_fit_save(xb_ctx *ctx, const xb_fit *fit, const char *path);
/* The same as text; xb_free() it. */
XB_API xb_status xb_fit_json(xb_ctx *ctx, char **out, const xb_fit *fit);

/* Autocorrelation at lags 0..lags-1 (lags <= n); 1 at lag 0. */
XB_API xb_status xb_autocorrelation(xb_ctx *ctx, double *rho, int64_t lags,
                                    const double *x, int64_t n);
/* (F9) Integrated autocorrelation time by Geyer's initial monotone sequence;
 * 1 for white noise. */
XB_API xb_status xb_autocorrelation_time(xb_ctx *ctx, double *tau, const double *x,
                                         int64_t n);

#ifdef __cplusplus
}
#endif
#endif
