/* sample.c: the first look at measured values; maths F1. Cost O(n): one radix
 * sort and three passes, about 25 ms for 1e6 values.
 *
 * Sums are taken of values scaled by a power of two to below one, so that no
 * square over- or underflows whatever the unit; the mean is the sum of a first
 * mean and of the residuals about it, so that an offset of 1e9 standard
 * deviations costs no digits of the moments. */
#include "law/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

static xb_status check(xb_ctx *ctx, const double *x, int64_t n)
{
    if (n < XB_SAMPLE_MIN)
        return xb_fail(ctx, XB_E_INPUT, "%lld samples: at least %d are needed",
                       (long long)(n > 0 ? n : 0), XB_SAMPLE_MIN);
    double min = INFINITY, max = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return xb_fail(ctx, XB_E_INPUT, "sample %lld is %g, expected a finite number",
                           (long long)i + 1, x[i]);
        if (x[i] < min) min = x[i];
        if (x[i] > max) max = x[i];
    }
    if (min == max)
        return xb_fail(ctx, XB_E_INPUT,
                       "all %lld samples are %g: a law needs at least two distinct"
                       " values",
                       (long long)n, min);
    if (!isfinite(max - min))
        return xb_fail(ctx, XB_E_INPUT, "the samples span %g to %g: too wide", min, max);
    return XB_OK;
}

/* FNV-1a taken a double at a time, its high half folded in. */
static uint64_t checksum(const double *x, int64_t n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
        hash ^= hash >> 32;
    }
    return hash;
}

static void sum_up(xb_fit_sample *info, const double *sorted, int64_t n)
{
    int exponent = ilogb(fmax(fabs(sorted[0]), fabs(sorted[n - 1]))) + 1;
    exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
    double unit = ldexp(1, -exponent);
    double middle = sorted[n / 2] * unit; /* near the mean: a first guess */
    double s1 = 0, s2 = 0, s3 = 0, s4 = 0;
    for (int64_t i = 0; i < n; i++) s1 += sorted[i] * unit - middle;
    double mean = middle + s1 / (double)n;
    double rest = (s1 / (double)n) - (mean - middle); /* what rounding took */
    double width = (sorted[n - 1] - sorted[0]) * unit;
    for (int64_t i = 0; i < n; i++) {
        double d = (sorted[i] * unit - mean - rest) / width, d2 = d * d;
        s2 += d2, s3 += d2 * d, s4 += d2 * d2;
    }
    double variance = s2 / (double)n;
    info->min = sorted[0];
    info->max = sorted[n - 1];
    info->mean = ldexp(mean, exponent);
    info->sd = ldexp(sqrt(variance) * width, exponent);
    info->skewness = s3 / (double)n / (variance * sqrt(variance));
    info->excess_kurtosis = s4 / (double)n / (variance * variance) - 3;
}

/* (F1) The middle one of the gaps between distinct values, of those within the
 * central 98 % of the sample; 0 if most values occur once only. */
static xb_status find_step(xb_ctx *ctx, xb_sample *s)
{
    int64_t distinct = 1;
    for (int64_t i = 1; i < s->n; i++) distinct += s->sorted[i] > s->sorted[i - 1];
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

/* Of the run of equal values i .. j-1. */
static double reach_of(const xb_sample *s, int64_t i, int64_t j)
{
    double left = i > 0 ? s->sorted[i] - s->sorted[i - 1] : INFINITY;
    double right = j < s->n ? s->sorted[j] - s->sorted[i] : INFINITY;
    return xb_level_reach(fmin(left, right), s->info.distinct);
}

xb_status xb_sample_spread(xb_ctx *ctx, double **out, const xb_sample *s)
{
    double *spread = xb_new(ctx, s->n, sizeof *spread);
    if (!spread) return XB_E_MEMORY;
    memcpy(spread, s->sorted, (size_t)s->n * sizeof *spread);
    for (int64_t i = 0, j; i < s->n && s->step > 0; i = j) {
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
    XB_TRY(check(ctx, x, n));
    xb_sample s = {.x = x, .n = n};
    s.sorted = xb_new(ctx, n, sizeof *s.sorted);
    if (!s.sorted) return XB_E_MEMORY;
    memcpy(s.sorted, x, (size_t)n * sizeof *x);
    xb_status status = xb_sort_doubles(ctx, s.sorted, n);
    if (status == XB_OK) {
        s.info.n = n;
        s.info.n_effective = (double)n;
        s.info.tau = 1;
        s.info.checksum = checksum(x, n);
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
