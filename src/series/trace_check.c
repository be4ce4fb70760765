/* trace_check.c: refuses columns that are not noise: constants, times, indexes, counters;
 * maths T1, T2. This catches a wrong column of a table. */
#include <math.h>

#include "crossbayes/extend.h"
#include "series/series.h"

static xb_status check_finite(xb_ctx *ctx, const double *x, int64_t n)
{
    if (n < XB_SERIES_MIN)
        return xb_fail(ctx, XB_E_INPUT, "%lld %s: at least %d are needed",
                       (long long)(n > 0 ? n : 0), xb_plural(n, "sample", "samples"),
                       XB_SERIES_MIN);
    double low = x[0], high = x[0];
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return xb_fail(ctx, XB_E_INPUT, "sample %lld is %g, expected a finite number",
                           (long long)i + 1, x[i]);
        low = fmin(low, x[i]), high = fmax(high, x[i]);
    }
    if (!isfinite(high - low))
        return xb_fail(ctx, XB_E_INPUT, "the samples span %g to %g: too wide", low, high);
    if (low == high)
        return xb_fail(ctx, XB_E_INPUT,
                       "all %lld samples are %g: a law needs at least two distinct"
                       " values",
                       (long long)n, low);
    return XB_OK;
}

/* (T1) */
xb_status xb_trace_check(xb_ctx *ctx, const double *x, int64_t n)
{
    const double nearly_all = 0.9;
    int64_t rises = 0, falls = 0, same_step = 0;
    XB_TRY(check_finite(ctx, x, n));
    double step = x[1] - x[0], tolerance = 1e-9 * fabs(step);
    for (int64_t i = 1; i < n; i++) {
        double d = x[i] - x[i - 1];
        rises += d > 0;
        falls += d < 0;
        same_step += fabs(d - step) <= tolerance;
    }
    if ((rises == 0 || falls == 0) && rises + falls >= XB_SERIES_MIN - 1)
        return xb_fail(ctx, XB_E_INPUT,
                       "the samples only %s, from %g to %g, as a time, an index or a"
                       " sorted list does: expected noise in the order it was measured",
                       rises ? "increase" : "decrease", x[0], x[n - 1]);
    if (step != 0 && (double)same_step >= nearly_all * (double)(n - 1))
        return xb_fail(ctx, XB_E_INPUT,
                       "%lld of %lld samples are %g more than the one before, as in a "
                       "counter: expected noise",
                       (long long)same_step, (long long)n - 1, step);
    return XB_OK;
}

/* (T2) The mean interval, if no single one is far from it. A time of few digits is off by
 * its rounding at both ends. */
xb_status xb_series_interval_of(xb_ctx *ctx, double *interval, const double *time,
                                int64_t n)
{
    const double jitter = 0.01;
    if (n < 2)
        return xb_fail(ctx, XB_E_INPUT, "%lld %s no interval", (long long)n,
                       xb_plural(n, "time has", "times have"));
    double mean = (time[n - 1] - time[0]) / (double)(n - 1);
    for (int64_t i = 1; i < n; i++)
        if (!(time[i] > time[i - 1]))
            return xb_fail(ctx, XB_E_INPUT,
                           "time %lld is %.10g after %.10g: expected times that increase",
                           (long long)i + 1, time[i], time[i - 1]);
    double drift = 0, most = fmax(jitter * mean, 4e-16 * fabs(time[n - 1]));
    for (int64_t i = 1; i < n; i++) {
        double expected = time[0] + (double)i * mean, step = time[i] - time[i - 1];
        drift = fabs(time[i] - expected);
        if (fabs(step - mean) <= most) continue;
        if (fabs(step - mean) <= 0.5 * mean && drift <= 0.5 * mean)
            continue; /* rounded */
        return xb_fail(ctx, XB_E_INPUT,
                       "the interval before time %lld is %.4g, on average it is %.4g:"
                       " expected regular times",
                       (long long)i + 1, step, mean);
    }
    *interval = mean;
    return XB_OK;
}
