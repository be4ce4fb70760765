/* sample.c: the first look at measured values; maths F1. Cost O(n): one radix
 * sort and three passes, about 10 ms for 1e6 values.
 *
 * Sums are taken of differences from the median scaled by a power of two to below
 * two, so that no square over- or underflows whatever the unit, and an offset of 1e9
 * standard deviations costs no digits of the moments. */
#include "fit/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "series/autocorrelation.h"

static xb_status check(xb_ctx *ctx, xb_look *seen, const double *x, int64_t n)
{
    if (n < XB_SAMPLE_MIN)
        return xb_fail(ctx, XB_E_INPUT, "%lld %s: at least %d are needed",
                       (long long)(n > 0 ? n : 0), xb_plural(n, "sample", "samples"),
                       XB_SAMPLE_MIN);
    *seen = xb_trace_kernels_best()->look(x, n);
    XB_TRY(xb_values_check(ctx, x, n, seen));
    if (seen->min == seen->max)
        return xb_fail(ctx, XB_E_INPUT,
                       "all %lld samples are %g: a law needs at least two distinct"
                       " values",
                       (long long)n, seen->min);
    return XB_OK;
}

/* Powers about the median, which is within a standard deviation of the mean, so
 * converting them to powers about the mean loses hardly any digits. */
static void sum_up(xb_fit_sample *info, const double *sorted, int64_t n)
{
    double width = sorted[n - 1] - sorted[0], middle = sorted[n / 2];
    int exponent = ilogb(width);
    exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
    double sums[XB_POWERS] = {0}, m[5];
    xb_trace_kernels_best()->powers(sums, sorted, n, middle, ldexp(1, -exponent));
    for (int k = 1; k < 5; k++) m[k] = sums[k] / (double)n;
    double d = m[1], variance = m[2] - d * d;
    double third = m[3] - d * (3 * m[2] - 2 * d * d);
    double fourth = m[4] - d * (4 * m[3] - d * (6 * m[2] - 3 * d * d));
    info->min = sorted[0];
    info->max = sorted[n - 1];
    info->mean = middle + ldexp(d, exponent);
    info->sd = ldexp(sqrt(variance), exponent);
    info->skewness = third / (variance * sqrt(variance));
    info->excess_kurtosis = fourth / (variance * variance) - 3;
}

/* (F1) Finds the median of the gaps between distinct values within the central 98 % of
 * the sample; 0 if most values occur only once. */
static xb_status find_step(xb_ctx *ctx, xb_sample *s)
{
    int64_t distinct = 1 + xb_trace_kernels_best()->rises(s->sorted, s->n);
    s->info.distinct = distinct;
    if (distinct > s->n / 2) return XB_OK;
    double *gap = xb_new(ctx, distinct, sizeof *gap);
    if (!gap) return XB_E_MEMORY;
    double low = xb_sample_at(s, 0.01), high = xb_sample_at(s, 0.99);
    int64_t count = 0;
    for (int pass = 0; pass < 2 && count == 0; pass++)
        for (int64_t i = 1; i < s->n; i++) {
            bool inside = s->sorted[i - 1] >= low && s->sorted[i] <= high;
            if (s->sorted[i] > s->sorted[i - 1] && (inside || pass == 1))
                gap[count++] = s->sorted[i] - s->sorted[i - 1];
        }
    xb_status status = xb_sort_doubles(ctx, gap, count);
    if (status == XB_OK) s->step = gap[count / 2];
    free(gap);
    return status;
}

double xb_level_reach(double gap, int64_t distinct)
{
    const double level_spread = 1.0 / 32; /* half-width of a level, in gaps */
    return gap * (distinct <= XB_FEW_LEVELS ? level_spread : 0.5);
}

double xb_level_shape(double v, int64_t distinct)
{
    return distinct <= XB_FEW_LEVELS ? copysign(1 - sqrt(1 - fabs(v)), v) : v;
}

/* How far the equal values i .. j-1 are spread. */
static double reach_of(const xb_sample *s, int64_t i, int64_t j)
{
    double left = i > 0 ? s->sorted[i] - s->sorted[i - 1] : INFINITY;
    double right = j < s->n ? s->sorted[j] - s->sorted[i] : INFINITY;
    return xb_level_reach(fmin(left, right), s->info.distinct);
}

xb_status xb_sample_spread(xb_ctx *ctx, double **out, const xb_sample *s)
{
    double *spread = NULL;
    if (s->step > 0) {
        spread = xb_new(ctx, s->n, sizeof *spread);
        if (!spread) return XB_E_MEMORY;
        memcpy(spread, s->sorted, (size_t)s->n * sizeof *spread);
    }
    for (int64_t i = 0, j; i < s->n && spread; i = j) {
        for (j = i + 1; j < s->n && s->sorted[j] == s->sorted[i];) j++;
        double reach = reach_of(s, i, j), count = (double)(j - i);
        for (int64_t k = i; k < j; k++)
            spread[k] += reach * xb_level_shape((2 * (double)(k - i) + 1) / count - 1,
                                                s->info.distinct);
    }
    *out = spread;
    return XB_OK;
}

double xb_sample_at(const xb_sample *sample, double p)
{
    int64_t i = (int64_t)floor(p * (double)sample->n);
    if (i >= sample->n) i = sample->n - 1;
    return sample->sorted[i];
}

xb_status xb_sample_make(xb_ctx *ctx, xb_sample *out, const double *x, int64_t n)
{
    xb_look seen;
    XB_TRY(check(ctx, &seen, x, n));
    xb_sample s = {.x = x, .n = n};
    s.sorted = xb_room(ctx, n, sizeof *s.sorted);
    if (!s.sorted) return XB_E_MEMORY;
    memcpy(s.sorted, x, (size_t)n * sizeof *x);
    xb_status status = xb_sort_doubles(ctx, s.sorted, n);
    if (status == XB_OK) {
        s.info.n = n;
        s.info.n_effective = (double)n;
        s.info.tau = 1;
        s.info.checksum = seen.checksum;
        sum_up(&s.info, s.sorted, n);
        status = find_step(ctx, &s);
    }
    if (status == XB_OK)
        *out = s;
    else
        xb_sample_free(&s);
    return status;
}

void xb_sample_free(xb_sample *sample)
{
    free(sample->sorted);
    *sample = (xb_sample){0};
}

xb_status xb_sample_memory(xb_ctx *ctx, xb_sample *s)
{
    xb_fit_sample *info = &s->info;
    XB_TRY(xb_values_memory(ctx, &info->tau, &info->lag1, s->x, s->n, info->mean,
                            info->max - info->min));
    /* Anticorrelated values count for no more than independent ones. */
    info->n_effective = (double)s->n / fmax(1, info->tau);
    return XB_OK;
}
