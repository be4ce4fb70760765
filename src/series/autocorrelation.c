/* autocorrelation.c: the autocorrelation of a trace and its integrated time; maths F8,
 * F9. A few lags are computed by direct sums, many by Fourier transforms of overlapping
 * stretches whose spectra are added; memory is O(lags), so the trace may have any length.
 * The integrated time takes four times the lags until Geyer's sequence ends; white noise
 * is done after eight (2 ms for 1e6 values). Error against direct sums 3e-15. */
#include "series/autocorrelation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fft.h"
#include "base/memory.h"
#include "crossbayes/extend.h"
#include "crossbayes/series.h"

enum { LAGS_MAX = 1 << 26 };

/* The trace, and how it becomes (x - mean) / range: products stay in range whatever
 * the unit. */
typedef struct trace {
    const double *x; /* [n] */
    int64_t n;
    double centre, inverse;
} trace;

static trace trace_of(const double *x, int64_t n, double mean, double range)
{
    return (trace){x, n, mean, 1 / fmax(range, 1e-300)};
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

static xb_status trace_make(xb_ctx *ctx, trace *out, const double *x, int64_t n)
{
    if (n < 2)
        return xb_fail(ctx, XB_E_INPUT, "%lld %s no autocorrelation", (long long)n,
                       xb_plural(n, "sample has", "samples have"));
    xb_look seen = xb_trace_kernels_best()->look(x, n);
    XB_TRY(xb_values_check(ctx, x, n, &seen));
    double range = seen.max - seen.min, sums[XB_POWERS] = {0};
    if (!(range > 0))
        return xb_fail(ctx, XB_E_INPUT,
                       "all samples are %g: they have no autocorrelation", seen.min);
    trace t = trace_of(x, n, seen.min, range);
    xb_trace_kernels_best()->powers(sums, x, n, t.centre, t.inverse);
    *out = trace_of(x, n, seen.min + sums[1] / (double)n / t.inverse, range);
    return XB_OK;
}

/* Adds conj(A) B of one stretch to the spectrum: A its first `hop` values, B all
 * of it. Both real, so one transform of A + iB gives the two. */
static void add_stretch(double complex *spectrum, double complex *z, const xb_fft *fft,
                        const trace *t, int64_t start, int64_t hop)
{
    int64_t n = fft->n;
    for (int64_t i = 0; i < n; i++) {
        bool there = start + i < t->n;
        double b = there ? (t->x[start + i] - t->centre) * t->inverse : 0;
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

static xb_status by_transform(xb_ctx *ctx, double *sum, int64_t lags, const trace *t)
{
    int64_t n = 1; /* then at least 2 lags: there are no more of them than values */
    while (n < 4 * lags && n < t->n + lags) n *= 2;
    xb_fft fft;
    XB_TRY(xb_fft_make(ctx, &fft, n));
    double complex *spectrum = xb_new(ctx, 2 * n, sizeof *spectrum);
    if (!spectrum) {
        xb_fft_free(&fft);
        return XB_E_MEMORY;
    }
    int64_t hop = n - lags + 1; /* lag k < lags never runs past the stretch */
    for (int64_t start = 0; start < t->n; start += hop)
        add_stretch(spectrum, spectrum + n, &fft, t, start, hop);
    xb_fft_forward(&fft, spectrum); /* of conj(A) B: lag k comes out at n - k */
    for (int64_t k = 0; k < lags; k++)
        sum[k] = creal(spectrum[k ? n - k : 0]) / (double)n;
    free(spectrum);
    xb_fft_free(&fft);
    return XB_OK;
}

/* (F8) */
static xb_status correlate(xb_ctx *ctx, double *rho, int64_t lags, const trace *t)
{
    double first[XB_LAGS];
    if (lags <= XB_LAGS) {
        xb_trace_kernels_best()->lags(first, t->x, t->n, t->centre, t->inverse);
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
    int64_t most = n < LAGS_MAX ? n : LAGS_MAX;
    if (lags < 1 || lags > most)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld lags of %lld samples: expected 1 to %lld", (long long)lags,
                       (long long)n, (long long)most);
    trace t;
    XB_TRY(trace_make(ctx, &t, x, n));
    double *sums = xb_new(ctx, lags, sizeof *sums);
    xb_status status = sums ? correlate(ctx, sums, lags, &t) : XB_E_MEMORY;
    if (status == XB_OK) memcpy(rho, sums, (size_t)lags * sizeof *sums);
    free(sums);
    return status;
}

/* (F9) True when the sequence has ended within these lags. */
static bool geyer(double *tau, const double *rho, int64_t lags)
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

/* tau and the first two lags. */
static xb_status remember(xb_ctx *ctx, double *tau, double rho[2], const trace *t)
{
    int64_t most = t->n < LAGS_MAX ? t->n : LAGS_MAX, room = 0;
    double *list = NULL;
    xb_status status = XB_OK;
    bool ended = false;
    double value = 1;
    for (int64_t lags = XB_LAGS; status == XB_OK && !ended; lags *= 4) {
        int64_t used = lags < most ? lags : most;
        status = xb_grow(ctx, (void **)&list, &room, used, sizeof *list);
        if (status == XB_OK) status = correlate(ctx, list, used, t);
        if (status == XB_OK) ended = geyer(&value, list, used) || used == most;
    }
    if (status == XB_OK) {
        *tau = value > 0 ? value : 1 / (double)t->n;
        memcpy(rho, list, 2 * sizeof *rho);
    }
    free(list);
    return status;
}

xb_status xb_autocorrelation_time(xb_ctx *ctx, double *tau, const double *x, int64_t n)
{
    trace t;
    double rho[2];
    XB_TRY(trace_make(ctx, &t, x, n));
    return remember(ctx, tau, rho, &t);
}

xb_status xb_values_memory(xb_ctx *ctx, double *tau, double *lag1, const double *x,
                           int64_t n, double mean, double range)
{
    double rho[2];
    trace t = trace_of(x, n, mean, range);
    XB_TRY(remember(ctx, tau, rho, &t));
    *lag1 = rho[1];
    return XB_OK;
}
