/* count_mass.c: log masses and quantiles of counts; maths V40, V41.
 *
 * The ratio Gamma(size + k)/Gamma(size) size^k comes from Stirling's series from size =
 * 10 on, where nothing cancels however large the size is, and from log Gamma below.
 * Against SciPy's poisson and nbinom: log masses to 2e-11 of their size or 1e-9
 * (tests/test_counts.c). A quantile sums masses from the lower end. For standard
 * deviations beyond 200, where that takes long, it is the quantile of the gamma law of
 * the same mean and variance by Wilson and Hilferty (1931), within 2 % of the standard
 * deviation if that is below the mean. */
#include "base/count_mass.h"

#include <math.h>

static const double LARGE = 10; /* from here on Stirling's series has 12 digits */

/* log Gamma(x) minus its leading terms, x >= LARGE. */
static double stirling(double x)
{
    const double q = 1 / (x * x);
    return (1.0 / 12 - q * (1.0 / 360 - q * (1.0 / 1260 - q * (1.0 / 1680)))) / x;
}

/* digamma(x) - log(x), x >= LARGE. */
static double digamma_rest(double x)
{
    const double q = 1 / (x * x);
    return -0.5 / x - q * (1.0 / 12 - q * (1.0 / 120 - q * (1.0 / 252 - q / 240)));
}

double xb_digamma(double x)
{
    double sum = 0;
    for (; x < LARGE; x += 1) sum -= 1 / x;
    return sum + log(x) + digamma_rest(x);
}

double xb_log_rising(double size, double k)
{
    if (isinf(size) || k == 0) return 0;
    if (size < LARGE) return lgamma(size + k) - lgamma(size) - k * log(size);
    return (size + k - 0.5) * log1p(k / size) - k + stirling(size + k) - stirling(size);
}

double xb_log_rising_slope(double size, double k)
{
    if (isinf(size) || k == 0) return 0;
    if (size < LARGE) return xb_digamma(size + k) - xb_digamma(size) - k / size;
    return log1p(k / size) - k / size + digamma_rest(size + k) - digamma_rest(size);
}

double xb_count_rate(double log_rate)
{
    const double least = -60, most = 20.72326583694641; /* log 1e9 */
    return exp(fmin(fmax(log_rate, least), most));
}

double xb_count_variance(double rate, double size) { return rate + rate * (rate / size); }

double xb_count_log_mass(double k, double rate, double size)
{
    const double above = isinf(size) ? rate : (k + size) * log1p(rate / size);
    return xb_log_rising(size, k) + k * log(rate) - above - lgamma(k + 1); /* (V41) */
}

/* The upper tail falls at least as fast as a geometric one of length 1 + rate/size. */
xb_count_range xb_count_range_of(double rate, double size)
{
    const double reach = 9 * sqrt(xb_count_variance(rate, size));
    const double tail = 40 + 35 * (rate / size);
    return (xb_count_range){fmax(0, floor(rate - reach)), ceil(rate + reach + tail)};
}

static double gamma_quantile(double mean, double variance, double z)
{
    const double part = variance / (9 * mean * mean);
    return round(mean * pow(fmax(0, 1 - part + z * sqrt(part)), 3));
}

/* Sums the masses from the lower end, by the ratio of neighbouring masses. */
double xb_count_quantile(double rate, double size, double z)
{
    const double most = 200, variance = xb_count_variance(rate, size);
    if (variance > most * most) return gamma_quantile(rate, variance, z);
    const double level = 0.5 * erfc(-z * M_SQRT1_2);
    const xb_count_range range = xb_count_range_of(rate, size);
    const double step = isinf(size) ? rate : rate / (1 + rate / size);
    double k = range.low, mass = exp(xb_count_log_mass(k, rate, size)), sum = mass;
    while (sum < level && k < range.high) {
        mass *= step * (isinf(size) ? 1 : 1 + k / size) / (k + 1);
        sum += mass;
        k += 1;
    }
    return k;
}
