/* count_mass.h: masses of counts: Poisson, and the negative binomial as a Poisson whose
 * rate varies (maths V40, V41). `size` is one over the dispersion; INFINITY: Poisson. */
#ifndef XB_BASE_COUNT_MASS_H
#define XB_BASE_COUNT_MASS_H

/* Counts are kept as floats, which represent all whole numbers up to here. */
#define XB_COUNT_MOST 16777216.0

/* log Gamma(size + k) - log Gamma(size) - k log(size), and its derivative with respect to
 * size; k >= 0, size > 0. 0 for size = INFINITY. */
double xb_log_rising(double size, double k);
double xb_log_rising_slope(double size, double k);
double xb_digamma(double x); /* x > 0 */

/* (V40) exp(log_rate), limited to rates that counts can distinguish: 1e-26 to 1e9. */
double xb_count_rate(double log_rate);
/* Variance of a count. */
double xb_count_variance(double rate, double size);
/* (V40, V41) log P(K = k), k >= 0. */
double xb_count_log_mass(double k, double rate, double size);
/* The range that holds all counts except a share of at most 1e-13. */
typedef struct xb_count_range {
    double low, high;
} xb_count_range;
xb_count_range xb_count_range_of(double rate, double size);
/* The smallest k such that a share of Phi(z) or more of the counts is at most k, where
 * Phi is the normal cdf. */
double xb_count_quantile(double rate, double size, double z);

#endif
