/* autocorrelation.c: the autocorrelation of a trace and its integrated time; maths F8,
 * F9. A few lags are computed by direct sums, many by Fourier transforms of overlapping
 * stretches whose spectra are added; memory is O(lags), so the trace may have any length.
 * The integrated time multiplies the number of lags by four until Geyer's sequence ends;
 * for white noise eight lags suffice (2 ms for 1e6 values). The error against direct sums
 * is 3e-15. */
#include "series/autocorrelation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fft.h"
#include "base/memory.h"
#include "crossbayes/extend.h"
#include "crossbayes/series.h"

enum { LAGS_MAX = 1 << 26 };

/* The trace, and the numbers that turn it into (x - mean) / range, so that products stay
 * in range whatever the unit is. */
typedef struct trace {
    xb_signal x;
    double centre, inverse;
} trace;

static trace trace_of(const xb_signal *x, double mean, double range)
{
    return (trace){*x, mean, 1 / fmax(range, 1e-300)};
}

xb_status xb_values_check(xb_ctx *ctx, const double *x, int64_t n, const xb_look *seen)
{
    for (int64_t i = 0; i < n && seen->bad; i++)
        if (!isfinite(x[i]))
            return xb_fail(ctx, XB_E_INPUT, "sample %lld is %g, expected a finite number",
                           (long long)i + 1, x[i]);
    if (!isfinite(seen->max - seen->min))
        return xb_fail(ctx, XB_E_INPUT, "the samples span %g to %g: too wide", seen->min,
                       seen->max);
    return XB_OK;
}

typedef struct seen_job {
    xb_look look[XB_SIGNAL_PIECES];
    double sums[XB_SIGNAL_PIECES][XB_POWERS];
    double centre, inverse;
} seen_job;

/* This is an xb_signal_fn. */
static void look_at(void *arg, int64_t p, const double *x, int64_t at, int64_t n)
{
    seen_job *j = arg;
    const xb_look seen = xb_trace_kernels_best()->look(x, n);
    (void)at;
    j->look[p].min = fmin(j->look[p].min, seen.min);
    j->look[p].max = fmax(j->look[p].max, seen.max);
    j->look[p].bad += seen.bad;
}

static void sum_powers(void *arg, int64_t p, const double *x, int64_t at, int64_t n)
{
    seen_job *j = arg;
    (void)at;
    xb_trace_kernels_best()->powers(j->sums[p], x, n, j->centre, j->inverse);
}

static void add_looks(void *to, const void *from, int64_t bytes)
{
    xb_look *seen = to;
    const xb_look *other = from;
    (void)bytes;
    seen->min = fmin(seen->min, other->min), seen->max = fmax(seen->max, other->max);
    seen->bad += other->bad;
}

static xb_status check_seen(xb_ctx *ctx, const xb_signal *x, const xb_look *seen)
{
    if (x->x) return xb_values_check(ctx, x->x, x->n, seen);
    if (!seen->bad) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "%lld samples are not finite numbers",
                   (long long)seen->bad);
}

static xb_status trace_make(xb_ctx *ctx, trace *out, const xb_signal *x)
{
    seen_job j = {.centre = 0};
    if (x->n < 2)
        return xb_fail(ctx, XB_E_INPUT, "%lld %s no autocorrelation", (long long)x->n,
                       xb_plural(x->n, "sample has", "samples have"));
    for (int64_t p = 0; p < x->pieces; p++)
        j.look[p] = (xb_look){.min = INFINITY, .max = -INFINITY};
    XB_TRY(xb_signal_each(ctx, x, look_at, &j));
    XB_TRY(xb_signal_sum(ctx, x, j.look, sizeof *j.look, add_looks));
    XB_TRY(check_seen(ctx, x, j.look));
    double range = j.look->max - j.look->min;
    if (!(range > 0))
        return xb_fail(ctx, XB_E_INPUT,
                       "all samples are %g: they have no autocorrelation", j.look->min);
    j.centre = j.look->min, j.inverse = 1 / fmax(range, 1e-300);
    XB_TRY(xb_signal_each(ctx, x, sum_powers, &j));
    XB_TRY(xb_signal_sum(ctx, x, j.sums, sizeof *j.sums, xb_signal_add_doubles));
    *out = trace_of(x, j.centre + j.sums[0][1] / (double)x->n / j.inverse, range);
    return XB_OK;
}

/* Adds conj(A) B of one stretch to the spectrum, where B is x [count] followed by zeros
 * and A the first `hop` values of it. Both are real, so one transform of A + iB gives
 * both. */
static void add_stretch(double complex *spectrum, double complex *z, const xb_fft *fft,
                        const trace *t, const double *x, int64_t count, int64_t hop)
{
    int64_t n = fft->n;
    for (int64_t i = 0; i < n; i++) {
        double b = i < count ? (x[i] - t->centre) * t->inverse : 0;
        z[i] = xb_cmplx(i < hop ? b : 0, b);
    }
    xb_fft_forward(fft, z);
    for (int64_t k = 0; k < n; k++) {
        double complex p = z[k], q = conj(z[k ? n - k : 0]);
        double complex a = 0.5 * (p + q), ib = 0.5 * (p - q);
        double complex b = xb_cmplx(cimag(ib), -creal(ib));
        spectrum[k] += xb_cmplx(creal(a) * creal(b) + cimag(a) * cimag(b),
                                creal(a) * cimag(b) - cimag(a) * creal(b));
    }
}

/* Adds the stretches that begin in piece p. */
static xb_status add_piece(xb_ctx *ctx, double complex *spectrum, double complex *z,
                           const xb_fft *fft, const trace *t, int64_t p, int64_t hop)
{
    const xb_signal *x = &t->x;
    int64_t start = (xb_signal_cut(x, p) + hop - 1) / hop * hop;
    for (; start < xb_signal_cut(x, p + 1); start += hop) {
        const double *value = NULL;
        const int64_t count = x->n - start < fft->n ? x->n - start : fft->n;
        XB_TRY(xb_signal_read(ctx, x, &value, start, count));
        add_stretch(spectrum, z, fft, t, value, count, hop);
    }
    return x->x ? XB_OK : xb_progress_tell(ctx, "correlating", p, x->pieces);
}

/* Adds the spectra of all stretches: those of each piece go to spectrum [pieces][n], and
 * spectrum[0] is their sum in the end. */
static xb_status add_stretches(xb_ctx *ctx, double complex *spectrum, double complex *z,
                               const xb_fft *fft, const trace *t, int64_t hop)
{
    const xb_signal *x = &t->x;
    for (int64_t p = 0; p < x->pieces; p++)
        if (xb_signal_mine(ctx, x, p))
            XB_TRY(add_piece(ctx, spectrum + p * fft->n, z, fft, t, p, hop));
    return xb_signal_sum(ctx, x, spectrum, fft->n * (int64_t)sizeof *spectrum,
                         xb_signal_add_doubles);
}

static xb_status by_transform(xb_ctx *ctx, double *sum, int64_t lags, const trace *t)
{
    /* It becomes 2 or more, since there are at least as many values as lags. */
    int64_t n = 1;
    while (n < 4 * lags && n < t->x.n + lags) n *= 2;
    xb_fft fft;
    XB_TRY(xb_fft_make(ctx, &fft, n));
    double complex *spectrum = xb_new(ctx, (t->x.pieces + 1) * n, sizeof *spectrum);
    if (!spectrum) {
        xb_fft_free(&fft);
        return XB_E_MEMORY;
    }
    /* With this hop, lag k < lags never extends beyond the stretch. */
    int64_t hop = n - lags + 1;
    xb_status status =
        add_stretches(ctx, spectrum, spectrum + t->x.pieces * n, &fft, t, hop);
    xb_fft_forward(&fft, spectrum); /* transforms conj(A) B, so lag k is at n - k */
    for (int64_t k = 0; k < lags; k++)
        sum[k] = creal(spectrum[k ? n - k : 0]) / (double)n;
    free(spectrum);
    xb_fft_free(&fft);
    return status;
}

/* (F8) */
static xb_status correlate(xb_ctx *ctx, double *rho, int64_t lags, const trace *t)
{
    double first[XB_LAGS];
    if (lags <= XB_LAGS && t->x.x) {
        xb_trace_kernels_best()->lags(first, t->x.x, t->x.n, t->centre, t->inverse);
        memcpy(rho, first, (size_t)lags * sizeof *rho);
    } else {
        XB_TRY(by_transform(ctx, rho, lags, t));
    }
    double variance = rho[0];
    for (int64_t k = 0; k < lags; k++) rho[k] /= variance;
    return XB_OK;
}

xb_status xb_autocorrelation(xb_ctx *ctx, double *rho, int64_t lags, const double *x,
                             int64_t n)
{
    const xb_signal s = xb_signal_of(x, n);
    return xb_autocorrelation_signal(ctx, rho, lags, &s);
}

xb_status xb_autocorrelation_signal(xb_ctx *ctx, double *rho, int64_t lags,
                                    const xb_signal *x)
{
    int64_t n = x->n, most = n < LAGS_MAX ? n : LAGS_MAX;
    if (lags < 1 || lags > most)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld lags of %lld samples: expected 1 to %lld", (long long)lags,
                       (long long)n, (long long)most);
    trace t;
    XB_TRY(trace_make(ctx, &t, x));
    double *sums = xb_new(ctx, lags, sizeof *sums);
    xb_status status = sums ? correlate(ctx, sums, lags, &t) : XB_E_MEMORY;
    if (status == XB_OK) memcpy(rho, sums, (size_t)lags * sizeof *sums);
    free(sums);
    return status;
}

/* (F9) */
bool xb_geyer(double *tau, const double *rho, int64_t lags)
{
    double sum = 0, smallest = INFINITY;
    for (int64_t k = 0; 2 * k + 1 < lags; k++) {
        double pair = rho[2 * k] + rho[2 * k + 1];
        if (pair <= 0) {
            *tau = 2 * sum - 1;
            return true;
        }
        smallest = fmin(smallest, pair);
        sum += smallest;
    }
    *tau = 2 * sum - 1;
    return false;
}

/* Finds tau and the correlations at the first two lags. */
static xb_status remember(xb_ctx *ctx, double *tau, double rho[2], const trace *t)
{
    int64_t most = t->x.n < LAGS_MAX ? t->x.n : LAGS_MAX, room = 0;
    double *list = NULL;
    xb_status status = XB_OK;
    bool ended = false;
    double value = 1;
    for (int64_t lags = XB_LAGS; status == XB_OK && !ended; lags *= 4) {
        int64_t used = lags < most ? lags : most;
        status = xb_grow(ctx, (void **)&list, &room, used, sizeof *list);
        if (status == XB_OK) status = correlate(ctx, list, used, t);
        if (status == XB_OK) ended = xb_geyer(&value, list, used) || used == most;
    }
    if (status == XB_OK) {
        *tau = value > 0 ? value : 1 / (double)t->x.n;
        memcpy(rho, list, 2 * sizeof *rho);
    }
    free(list);
    return status;
}

static xb_status time_of(xb_ctx *ctx, double *tau, const xb_signal *x)
{
    trace t;
    double rho[2];
    XB_TRY(trace_make(ctx, &t, x));
    return remember(ctx, tau, rho, &t);
}

xb_status xb_autocorrelation_time(xb_ctx *ctx, double *tau, const double *x, int64_t n)
{
    const xb_signal s = xb_signal_of(x, n);
    return time_of(ctx, tau, &s);
}

xb_status xb_values_memory(xb_ctx *ctx, double *tau, double *lag1, const double *x,
                           int64_t n, double mean, double range)
{
    double rho[2];
    const xb_signal s = xb_signal_of(x, n);
    trace t = trace_of(&s, mean, range);
    XB_TRY(remember(ctx, tau, rho, &t));
    *lag1 = rho[1];
    return XB_OK;
}

/* ---- near and far lags */

enum { NEAR_MAX = 1 << 18, NEAR_LONG = 1 << 14, LONG = 1 << 21 };

static xb_status measure(xb_ctx *ctx, double **rho, int64_t *lags, const xb_signal *x,
                         int64_t most)
{
    *lags = x->n / 4 + 1 < most ? x->n / 4 + 1 : most;
    *rho = xb_new(ctx, *lags, sizeof **rho);
    if (!*rho) return XB_E_MEMORY;
    return xb_autocorrelation_signal(ctx, *rho, *lags, x);
}

static xb_status measure_far(xb_ctx *ctx, xb_memory *m, const xb_signal *x)
{
    m->stride = (x->n + LONG / 2 - 1) / (LONG / 2);
    const int64_t count = x->n / m->stride;
    double *some = xb_room(ctx, count, sizeof *some);
    if (!some) return XB_E_MEMORY;
    xb_status status = xb_signal_every(ctx, x, some, m->stride);
    const xb_signal far = xb_signal_of(some, count);
    if (status == XB_OK)
        status = measure(ctx, &m->coarse, &m->coarse_lags, &far, NEAR_MAX);
    free(some);
    return status;
}

/* (F31) The time from the near lags; if their sequence has not ended, the far lags
 * continue it, each of which counts for `stride` lags. */
static double time_from(const xb_memory *m, int64_t n)
{
    double tau = 1;
    if (!xb_geyer(&tau, m->rho, m->lags)) {
        double before = 2 * m->rho[m->lags - 1], sum = 0;
        const int64_t from = (m->lags + m->stride - 1) / m->stride;
        const double first = (double)(from * m->stride - m->lags);
        for (int64_t k = from; k < m->coarse_lags && m->coarse[k] > 0; k++) {
            before = fmin(before, 2 * m->coarse[k]);
            sum += before *
                   (k == from ? first + 0.5 * (double)m->stride : (double)m->stride);
        }
        tau += sum;
    }
    return tau > 0 ? tau : 1 / (double)n;
}

xb_status xb_memory_find(xb_ctx *ctx, xb_memory *out, const xb_signal *x)
{
    const bool is_long = x->n > LONG;
    xb_memory m = {.stride = 1};
    xb_status status = measure(ctx, &m.rho, &m.lags, x, is_long ? NEAR_LONG : NEAR_MAX);
    if (status == XB_OK && is_long) status = measure_far(ctx, &m, x);
    if (status == XB_OK && x->x) status = time_of(ctx, &m.tau, x);
    if (status == XB_OK && !x->x) m.tau = time_from(&m, x->n);
    if (status == XB_OK) {
        *out = m;
        return XB_OK;
    }
    free(m.rho);
    free(m.coarse);
    return status;
}
