/* weighted_sum.c: the characteristic function of a sum of independent scaled draws;
 * maths E4-E6.
 *
 * Terms so small that a_k t stays within reach of the cumulant series share one
 * polynomial in t whose coefficients are power sums; the few large ones are factors of
 * their own. For a Gaussian law all is one factor. Frequencies are equally spaced, so
 * the phase of the mean turns by a fixed angle: no sines in the loop. */
#include "predict/weighted_sum.h"

#include <math.h>

/* exp(-DECAY^2 / 2) = 2e-17: where a factor of standard deviation s has s t > DECAY it
 * is nothing beside 1. */
static const double DECAY = 8.75, NOTHING = 1e-16;

static double sum_of_squares(const double *a, int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += a[k] * a[k];
    return sum;
}

/* The variance of the terms within reach up to frequency t. */
static double small_variance(const double *a, int64_t n, double limit)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += fabs(a[k]) <= limit ? a[k] * a[k] : 0;
    return sum;
}

/* (E6) The frequency to which the factor of the small terms alone matters: the larger
 * it is, the fewer terms are small; the least consistent one. */
static double cutoff_of(const double *a, int64_t n, const xb_charfn *law, double variance,
                        double t_most)
{
    double t = fmin(t_most, DECAY / sqrt(variance));
    if (law->gaussian) return t;
    while (t < t_most) {
        double small = small_variance(a, n, law->reach / t);
        double next = fmin(t_most, DECAY / sqrt(small));
        if (next <= t * (1 + 1e-9)) break;
        t = next;
    }
    return t;
}

static void split_terms(xb_sum_law *sum, const double *a, int64_t n, double limit,
                        int most, int stride)
{
    for (int64_t k = 0; k < n; k++) {
        if (fabs(a[k]) > limit) {
            sum->large[sum->n_large++] = a[k];
            continue;
        }
        double factor = stride == 2 ? a[k] * a[k] : a[k], power = factor;
        for (int m = stride; m <= most; m += stride, power *= factor)
            sum->power[m] += power;
    }
}

void xb_sum_law_make(xb_sum_law *sum, double *large, double mean, const double *a,
                     int64_t n, const xb_charfn *law, double t_most)
{
    *sum = (xb_sum_law){.mean = mean, .large = large, .variance = sum_of_squares(a, n)};
    sum->cutoff = cutoff_of(a, n, law, sum->variance, t_most);
    if (law->gaussian)
        sum->power[2] = sum->variance;
    else
        split_terms(sum, a, n, law->reach / sum->cutoff, XB_CUMULANTS,
                    law->symmetric ? 2 : 1);
}

/* exp(i t mean - t^2 variance / 2) by turning and shrinking from one t to the next. */
static void add_gaussian(double *re, double *im, const xb_sum_law *sum, double dt,
                         int64_t last)
{
    double turn_c = cos(dt * sum->mean), turn_s = sin(dt * sum->mean), c = 1, s = 0;
    double each = exp(-sum->variance * dt * dt), ratio = sqrt(each), size = 1;
    for (int64_t j = 0; j <= last; j++) {
        re[j] += size * c, im[j] += size * s;
        double next = c * turn_c - s * turn_s;
        s = s * turn_c + c * turn_s, c = next;
        size *= ratio, ratio *= each;
    }
}

/* (E4) log of the small terms' factor: real and imaginary part at t. */
static double series_even(const xb_sum_law *sum, const xb_charfn *law, double t)
{
    double tt = -t * t, value = 0;
    for (int n = XB_CUMULANTS; n >= 2; n -= 2)
        value = (value + law->series[n] * sum->power[n]) * tt;
    return value;
}

static double series_odd(const xb_sum_law *sum, const xb_charfn *law, double t)
{
    double tt = -t * t, value = 0;
    for (int n = XB_CUMULANTS - 1; n >= 3; n -= 2)
        value = value * tt + law->series[n] * sum->power[n];
    return value * tt * t;
}

static xb_complex times(xb_complex a, xb_complex b)
{
    return (xb_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static xb_complex large_factors(const xb_sum_law *sum, const xb_charfn *law, double t)
{
    xb_complex product = {1, 0};
    for (int64_t k = 0; k < sum->n_large; k++)
        product = times(product, xb_charfn_at(law, sum->large[k] * t));
    return product;
}

/* Whether nothing is left of the sum's characteristic function from t on. */
static bool faded(const xb_sum_law *sum, const xb_charfn *law, double t, double small)
{
    double bound = small;
    for (int64_t k = 0; k < sum->n_large && bound > NOTHING; k++) {
        double at = fabs(sum->large[k]) * t / law->step;
        bound *= at < (double)law->cells ? law->envelope[(int64_t)at] : 0;
    }
    return bound <= NOTHING;
}

enum { LOOK = 8 }; /* frequencies between two looks whether all has faded */

static void add_general(double *re, double *im, const xb_sum_law *sum,
                        const xb_charfn *law, double dt, int64_t last)
{
    xb_complex turn = {cos(dt * sum->mean), sin(dt * sum->mean)}, phase = {1, 0};
    for (int64_t j = 0; j <= last; j++, phase = times(phase, turn)) {
        double t = dt * (double)j, size = exp(series_even(sum, law, t));
        if (j % LOOK == LOOK - 1 && faded(sum, law, t, size)) return;
        xb_complex value = times(phase, large_factors(sum, law, t));
        if (!law->symmetric) {
            double angle = series_odd(sum, law, t);
            value = times(value, (xb_complex){cos(angle), sin(angle)});
        }
        re[j] += size * value.re, im[j] += size * value.im;
    }
}

void xb_sum_law_add(double *re, double *im, const xb_sum_law *sum, const xb_charfn *law,
                    double dt, int64_t count)
{
    double steps = sum->cutoff / dt;
    int64_t last = steps < (double)count ? (int64_t)steps : count;
    if (law->gaussian)
        add_gaussian(re, im, sum, dt, last);
    else
        add_general(re, im, sum, law, dt, last);
}

void xb_sum_law_add_moments(double moment[4], const xb_sum_law *sum, const xb_charfn *law,
                            const double *a, int64_t n, double centre)
{
    double cubes = 0, fourths = 0, m = sum->mean - centre, v = sum->variance;
    for (int64_t k = 0; k < n; k++) {
        cubes += a[k] * a[k] * a[k];
        fourths += a[k] * a[k] * a[k] * a[k];
    }
    double k3 = law->skewness * cubes, k4 = law->excess_kurtosis * fourths;
    moment[0] += m;
    moment[1] += m * m + v;
    moment[2] += m * m * m + 3 * m * v + k3;
    moment[3] += m * m * m * m + 6 * m * m * v + 4 * m * k3 + 3 * v * v + k4;
}
