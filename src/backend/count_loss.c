/* count_loss.c: minus the log-likelihood of counts and its gradients; maths V40, V41.
 * The net's output is the logarithm of the rate, standardised. */
#include <math.h>

#include "backend/host.h"
#include "base/count_mass.h"

double xb_nll_poisson(xb_real *dy, const xb_real *y, const xb_real *count, double centre,
                      double unit, int64_t n, int64_t stride)
{
    double sum = 0;
    for (int64_t i = 0; i < n * stride; i += stride) {
        const double k = (double)count[i], log_rate = centre + unit * (double)y[i];
        const double rate = exp(log_rate);
        sum += rate - k * log_rate + lgamma(k + 1); /* (V40) */
        if (dy) dy[i] = (xb_real)(unit * (rate - k));
    }
    return sum;
}

double xb_nll_negative_binomial(xb_real *dy, double *d_log_dispersion, const xb_real *y,
                                const xb_real *count, double centre, double unit,
                                double log_dispersion, int64_t n, int64_t stride)
{
    const double size = exp(-log_dispersion);
    double sum = 0, by_size = 0;
    for (int64_t i = 0; i < n * stride; i += stride) {
        const double k = (double)count[i], log_rate = centre + unit * (double)y[i];
        const double ratio = exp(log_rate) / size, above = log1p(ratio);
        const double part = ratio / (1 + ratio);
        sum += (k + size) * above - xb_log_rising(size, k) - k * log_rate +
               lgamma(k + 1); /* (V41) */
        by_size += above - (k / size + 1) * part - xb_log_rising_slope(size, k);
        if (dy) dy[i] = (xb_real)(unit * ((k + size) * part - k));
    }
    if (d_log_dispersion) *d_log_dispersion = -size * by_size;
    return sum;
}
