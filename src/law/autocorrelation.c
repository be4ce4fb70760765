/* autocorrelation.c: how strongly a trace remembers itself; maths F8, F9.
 *
 * A few lags by direct sums, many by Fourier transforms of overlapping stretches
 * whose spectra are added: memory O(lags), so any length of trace will do. The
 * integrated time doubles its lags until Geyer's sequence ends; white noise is
 * done after eight (8 ms for 1e6 values). Error against direct sums 3e-15. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/fit.h"
#include "base/fft.h"

enum { DIRECT_LAGS = 16, FIRST_LAGS = 8, LAGS_MAX = 1 << 26 };

/* The trace as (x - mean) / range: products stay in range whatever the unit. */
typedef struct trace {
    double *d; /* [n] */
    int64_t n;
} trace;

static xb_status trace_make(xb_ctx *ctx, trace *out, const double *x, int64_t n)
{
    if (n < 2)
        return xb_fail(ctx, XB_E_INPUT, "%lld samples have no autocorrelation",
                       (long long)n);
    double min = INFINITY, max = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return xb_fail(ctx, XB_E_INPUT, "sample %lld is %g, expected a finite number",
                           (long long)i + 1, x[i]);
        min = fmin(min, x[i]), max = fmax(max, x[i]);
    }
    double range = max - min;
    if (!(range > 0) || !isfinite(range))
        return xb_fail(ctx, XB_E_INPUT, "all samples are %g: no autocorrelation", min);
    double *d = xb_new(ctx, n, sizeof *d);
    if (!d) return XB_E_MEMORY;
    for (int64_t i = 0; i < n; i++) sum += d[i] = (x[i] - min) / range;
    for (int64_t i = 0; i < n; i++) d[i] -= sum / (double)n;
    *out = (trace){d, n};
    return XB_OK;
}

/* Four sums side by side: an add need not wait for the one before. */
static double lagged_sum(const double *d, int64_t n, int64_t lag)
{
    double s[4] = {0, 0, 0, 0};
    int64_t i = 0, last = n - lag;
    for (; i + 4 <= last; i += 4)
        for (int j = 0; j < 4; j++) s[j] += d[i + j] * d[i + j + lag];
    for (; i < last; i++) s[0] += d[i] * d[i + lag];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

static void direct(double *sum, int64_t lags, const trace *t)
{
    for (int64_t k = 0; k < lags; k++) sum[k] = lagged_sum(t->d, t->n, k);
}

/* Adds conj(A) B of one stretch to the spectrum: A its first `hop` values, B all
 * of it. Both real, so one transform of A + iB gives the two. */
static void add_stretch(double complex *spectrum, double complex *z, const xb_fft *fft,
                        const trace *t, int64_t start, int64_t hop)
{
    int64_t n = fft->n;
    for (int64_t i = 0; i < n; i++) {
        double b = start + i < t->n ? t->d[start + i] : 0;
        z[i] = CMPLX(i < hop ? b : 0, b);
    }
    xb_fft_forward(fft, z);
    for (int64_t k = 0; k < n; k++) {
        double complex p = z[k], q = conj(z[k ? n - k : 0]);
        double complex a = 0.5 * (p + q), ib = 0.5 * (p - q);
        double complex b = CMPLX(cimag(ib), -creal(ib));
        spectrum[k] += CMPLX(creal(a) * creal(b) + cimag(a) * cimag(b),
                             creal(a) * cimag(b) - cimag(a) * creal(b));
    }
}

static xb_status by_transform(xb_ctx *ctx, double *sum, int64_t lags, const trace *t)
{
    int64_t n = 1;
    while (n < 4 * lags && n < t->n + lags) n *= 2;
    if (n < 2 * lags) n *= 2;
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
    if (lags <= DIRECT_LAGS)
        direct(rho, lags, t);
    else
        XB_TRY(by_transform(ctx, rho, lags, t));
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
    free(t.d);
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

xb_status xb_autocorrelation_time(xb_ctx *ctx, double *tau, const double *x, int64_t n)
{
    trace t;
    XB_TRY(trace_make(ctx, &t, x, n));
    int64_t most = n < LAGS_MAX ? n : LAGS_MAX;
    double *rho = xb_new(ctx, most, sizeof *rho);
    xb_status status = rho ? XB_OK : XB_E_MEMORY;
    bool ended = false;
    double value = 1;
    for (int64_t lags = FIRST_LAGS; status == XB_OK && !ended; lags *= 4) {
        int64_t used = lags < most ? lags : most;
        status = correlate(ctx, rho, used, &t);
        if (status == XB_OK) ended = geyer(&value, rho, used) || used == most;
    }
    free(rho);
    free(t.d);
    if (status == XB_OK) *tau = value > 0 ? value : 1 / (double)n;
    return status;
}
