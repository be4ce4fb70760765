/* fit_results.h: the results of a fit inside the library; users read them with the
 * functions of crossbayes/fit.h. */
#ifndef XB_FIT_RESULTS_H
#define XB_FIT_RESULTS_H

#include "crossbayes/fit.h"

enum {
    XB_FIT_FAMILY_MAX = 16,
    XB_FIT_NAMED_MAX = 26 /* eight levels: position, weight and width of each */
};

/* The fit of one family. Parameters are in the order of `name`: the family's own, then
 * "scale" and "offset" in the user's units. */
struct xb_fit_family {
    char family[16];
    bool converged;
    int iterations;
    int n_param; /* number of parameters that AIC counts */
    int n_named;
    char name[XB_FIT_NAMED_MAX][8]; /* "w", "B", "m", "scale", "offset" */
    double value[XB_FIT_NAMED_MAX];
    double std_error[XB_FIT_NAMED_MAX]; /* from the observed information; NAN if fixed */
    double gradient_norm; /* largest |d loglik / d log-parameter| / n at the end */
    double log_likelihood;
    double aic, bic;               /* with the effective number of samples */
    double ks, ks_p;               /* Kolmogorov-Smirnov */
    double ad, ad_p;               /* Anderson-Darling */
    bool fits;                     /* the decision is yes */
    double skewness_p, kurtosis_p; /* share of simulated samples that are as far from the
                                      law's value (F18) */
    xb_fit_decision decision;      /* (F12) */
};

struct xb_fit_sample {
    int64_t n;
    double n_effective; /* n / integrated autocorrelation time, at most n */
    double tau;         /* integrated autocorrelation time, samples */
    double lag1;        /* autocorrelation at lag 1 */
    double min, max, mean, sd, skewness, excess_kurtosis;
    int64_t distinct;  /* distinct values: few means a coarse converter */
    uint64_t checksum; /* checksum of the values, for provenance */
    double sd_error, skewness_error, excess_kurtosis_error; /* (F17) */
};

#endif
