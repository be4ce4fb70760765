/* trace_check.c: refuses columns that are not noise: constants, times, row numbers,
 * counters; maths T1, T2. This catches a wrong column of a table. */
#include <math.h>

#include "crossbayes/extend.h"
#include "series/series.h"

typedef struct checked {
    double low, high;
    int64_t bad; /* the first value that is not finite; -1: none */
    double bad_value;
    int64_t rises, falls, same_step;
} checked;

typedef struct check_job {
    double step, tolerance;
    checked piece[XB_SIGNAL_PIECES];
} check_job;

/* This is an xb_signal_fn. */
static void look(void *arg, int64_t p, const double *x, int64_t at, int64_t n)
{
    check_job *job = arg;
    checked *c = &job->piece[p];
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            if (c->bad < 0) c->bad = at + i, c->bad_value = x[i];
            continue;
        }
        c->low = fmin(c->low, x[i]), c->high = fmax(c->high, x[i]);
    }
    for (int64_t i = at > 0 ? 0 : 1; i < n; i++) {
        double d = x[i] - x[i - 1];
        c->rises += d > 0;
        c->falls += d < 0;
        c->same_step += fabs(d - job->step) <= job->tolerance;
    }
}

static void add_checked(void *to, const void *from, int64_t bytes)
{
    checked *c = to;
    const checked *other = from;
    (void)bytes;
    if (c->bad < 0) c->bad = other->bad, c->bad_value = other->bad_value;
    c->low = fmin(c->low, other->low), c->high = fmax(c->high, other->high);
    c->rises += other->rises, c->falls += other->falls;
    c->same_step += other->same_step;
}

static xb_status check_finite(xb_ctx *ctx, const checked *c, int64_t n)
{
    if (c->bad >= 0)
        return xb_fail(ctx, XB_E_INPUT, "sample %lld is %g, expected a finite number",
                       (long long)c->bad + 1, c->bad_value);
    if (!isfinite(c->high - c->low))
        return xb_fail(ctx, XB_E_INPUT, "the samples span %g to %g: too wide", c->low,
                       c->high);
    if (c->low == c->high)
        return xb_fail(ctx, XB_E_INPUT,
                       "all %lld samples are %g: a law needs at least two distinct"
                       " values",
                       (long long)n, c->low);
    return XB_OK;
}

static xb_status judge(xb_ctx *ctx, const checked *c, int64_t n, double step,
                       double first, double last)
{
    const double nearly_all = 0.9;
    XB_TRY(check_finite(ctx, c, n));
    if ((c->rises == 0 || c->falls == 0) && c->rises + c->falls >= XB_SERIES_MIN - 1)
        return xb_fail(ctx, XB_E_INPUT,
                       "the samples only %s, from %g to %g, as a time, an index or a"
                       " sorted list does: expected noise in the order it was measured",
                       c->rises ? "increase" : "decrease", first, last);
    if (step != 0 && (double)c->same_step >= nearly_all * (double)(n - 1))
        return xb_fail(ctx, XB_E_INPUT,
                       "%lld of %lld samples are %g more than the one before, as in a "
                       "counter: expected noise",
                       (long long)c->same_step, (long long)n - 1, step);
    return XB_OK;
}

/* (T1) */
xb_status xb_trace_check(xb_ctx *ctx, const xb_signal *s)
{
    const double *x = NULL;
    if (s->n < XB_SERIES_MIN)
        return xb_fail(ctx, XB_E_INPUT, "%lld %s: at least %d are needed",
                       (long long)(s->n > 0 ? s->n : 0),
                       xb_plural(s->n, "sample", "samples"), XB_SERIES_MIN);
    check_job job;
    for (int64_t p = 0; p < s->pieces; p++)
        job.piece[p] = (checked){.low = INFINITY, .high = -INFINITY, .bad = -1};
    XB_TRY(xb_signal_read(ctx, s, &x, 0, 2));
    double first = x[0];
    job.step = x[1] - x[0], job.tolerance = 1e-9 * fabs(job.step);
    XB_TRY(xb_signal_each(ctx, s, look, &job));
    XB_TRY(xb_signal_sum(ctx, s, job.piece, sizeof *job.piece, add_checked));
    XB_TRY(xb_signal_read(ctx, s, &x, s->n - 1, 1));
    return judge(ctx, job.piece, s->n, job.step, first, x[0]);
}

/* (T2) Finds the mean interval, if no single interval is far from it. A time that is
 * printed with few digits is rounded at both ends of an interval. */
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
            return xb_fail(
                ctx, XB_E_INPUT,
                "time %lld is %.10g and time %lld is %.10g: expected times that"
                " increase",
                (long long)i, time[i - 1], (long long)i + 1, time[i]);
    double drift = 0, most = fmax(jitter * mean, 4e-16 * fabs(time[n - 1]));
    for (int64_t i = 1; i < n; i++) {
        double expected = time[0] + (double)i * mean, step = time[i] - time[i - 1];
        drift = fabs(time[i] - expected);
        if (fabs(step - mean) <= most) continue;
        if (fabs(step - mean) <= 0.5 * mean && drift <= 0.5 * mean)
            continue; /* within the rounding */
        return xb_fail(ctx, XB_E_INPUT,
                       "the interval before time %lld is %.4g, on average it is %.4g:"
                       " expected regular times",
                       (long long)i + 1, step, mean);
    }
    *interval = mean;
    return XB_OK;
}
