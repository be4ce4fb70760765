/* density_stats.c: numbers from the blocks' densities and moments, each with its error;
 * maths E9, E10.
 *
 * A number is computed from all blocks and from all but one, for each. The jackknife
 * then gives its standard error and removes the bias of order one over the number of
 * draws: without this, the bias of KL, which is of second order in the densities' noise
 * and never negative, would dominate if the laws agree. */
#include <math.h>
#include <string.h>

#include "predict/density.h"

/* A number from all blocks (without < 0) or from all but one. */
typedef double number_fn(const xb_densities *d, int without, int law, int other);

static xb_estimate jackknife(const xb_densities *d, number_fn *number, int law, int other)
{
    double all = number(d, -1, law, other), blocks = d->blocks, sum = 0, square = 0;
    for (int b = 0; b < d->blocks; b++) {
        double change = number(d, b, law, other) - all;
        sum += change, square += change * change;
    }
    double mean = sum / blocks; /* (E9) */
    return (xb_estimate){all - (blocks - 1) * mean,
                         sqrt(fmax(0, (blocks - 1) / blocks * (square - sum * mean)))};
}

/* ---- KL */

/* Below this part of its peak a density is rounding of the Fourier transform. */
static const double FLOOR = 1e-13;

static double peak_of(const double *p, int64_t n)
{
    double peak = 0;
    for (int64_t i = 0; i < n; i++) peak = fmax(peak, p[i]);
    return peak;
}

/* The density of all blocks but one at point i. */
static double left(const xb_densities *d, int without, int law, int64_t i)
{
    double all = d->value[law * d->count + i];
    if (without < 0) return all;
    double part = xb_densities_part(d, without, law)[i];
    return all + (all - part) / (d->blocks - 1);
}

/* (E8) p log(p/q) - p + q: the same integral, and no term is negative. */
static double kl_number(const xb_densities *d, int without, int law, int other)
{
    double sum = 0, floor = FLOOR * peak_of(d->value + other * d->count, d->count);
    for (int64_t i = 0; i < d->count; i++) {
        double p = fmax(left(d, without, law, i), floor);
        double q = fmax(left(d, without, other, i), floor);
        double x = (p - q) / q;
        sum += q * (fabs(x) < 1e-4 ? x * x * (0.5 - x / 6) : (1 + x) * log1p(x) - x);
    }
    return sum * d->step;
}

xb_estimate xb_densities_kl(const xb_densities *d, int64_t law, int64_t other)
{
    return jackknife(d, kl_number, law, other);
}

/* ---- moments */

typedef struct shape {
    double mean, sd, skewness, excess_kurtosis;
} shape;

static shape shape_of(const xb_densities *d, int without, int law)
{
    double m[XB_DENSITY_MOMENTS] = {0};
    int blocks = without < 0 ? d->blocks : d->blocks - 1;
    for (int b = 0; b < d->blocks; b++)
        for (int n = 0; b != without && n < XB_DENSITY_MOMENTS; n++)
            m[n] += xb_densities_part_moment(d, b, law)[n] / blocks;
    double v = m[1] - m[0] * m[0]; /* (E10) */
    double third = m[2] - 3 * m[0] * m[1] + 2 * m[0] * m[0] * m[0];
    double fourth =
        m[3] - 4 * m[0] * m[2] + 6 * m[0] * m[0] * m[1] - 3 * m[0] * m[0] * m[0] * m[0];
    return (shape){d->centre + m[0], sqrt(v), third / (v * sqrt(v)),
                   fourth / (v * v) - 3};
}

/* A number that describes the shape under a law, minus that under `other` unless `other`
 * is negative. */
#define SHAPE_NUMBER(NAME)                                                               \
    static double NAME##_number(const xb_densities *d, int without, int law, int other)  \
    {                                                                                    \
        double value = shape_of(d, without, law).NAME;                                   \
        return other < 0 ? value : value - shape_of(d, without, other).NAME;             \
    }
SHAPE_NUMBER(mean)
SHAPE_NUMBER(sd)
SHAPE_NUMBER(skewness)
SHAPE_NUMBER(excess_kurtosis)

static xb_output_moments moments(const xb_densities *d, int law, int other)
{
    return (xb_output_moments){
        .mean = jackknife(d, mean_number, law, other),
        .sd = jackknife(d, sd_number, law, other),
        .skewness = jackknife(d, skewness_number, law, other),
        .excess_kurtosis = jackknife(d, excess_kurtosis_number, law, other),
    };
}

xb_output_moments xb_densities_moments(const xb_densities *d, int64_t law)
{
    return moments(d, law, -1);
}

xb_output_moments xb_densities_gap(const xb_densities *d, int64_t law)
{
    return moments(d, law, 0);
}
