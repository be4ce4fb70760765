/* welch.c: the power spectral density of a trace; maths T8.
 *
 * The trace is divided into stretches of a power of two, each of which shares half of its
 * values with the next. The mean of a stretch is subtracted, and a Hann window applied.
 * The ordinates of a stretch are averaged in bins whose edges have a ratio of at
 * least 1.2, and the bins over stretches by mean or median. Memory is O(stretch), at most
 * 2^18 values, so the trace may have any length. The difference from SciPy's welch is
 * 1e-12 (tests). */
#include "series/welch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fft.h"
#include "base/memory.h"

enum { STRETCH_MAX = 1 << 18, FIRST_BIN = 2, STRETCHES_MAX = 1 << 12, LOW = 3 };

/* Bin b holds the ordinates edge[b] <= k < edge[b + 1]. */
typedef struct binning {
    int64_t bins, edge[XB_SPECTRUM_BINS + 1];
} binning;

static binning choose_bins(int64_t size)
{
    const double ratio = 1.2;
    binning b = {0};
    int64_t last = size / 2; /* the ordinate of Nyquist's frequency is left out */
    b.edge[0] = FIRST_BIN;
    while (b.bins < XB_SPECTRUM_BINS && b.edge[b.bins] < last) {
        int64_t next = (int64_t)ceil((double)b.edge[b.bins] * ratio);
        if (last - next < (next - b.edge[b.bins]) / 2) next = last;
        b.edge[++b.bins] = next < last ? next : last;
    }
    return b;
}

typedef struct worker {
    xb_fft fft;
    double complex *z; /* [size] */
    double *window;    /* [size] */
    double unit;       /* factor from |z|^2 to a one-sided density */
} worker;

static void worker_free(worker *w)
{
    xb_fft_free(&w->fft);
    free(w->z);
    free(w->window);
}

static xb_status worker_make(xb_ctx *ctx, worker *w, int64_t size, double interval)
{
    XB_TRY(xb_fft_make(ctx, &w->fft, size));
    w->z = xb_new(ctx, size, sizeof *w->z);
    w->window = xb_new(ctx, size, sizeof *w->window);
    if (!w->z || !w->window) return XB_E_MEMORY;
    double squares = 0;
    for (int64_t i = 0; i < size; i++) {
        double s = sin(M_PI * (double)i / (double)size);
        w->window[i] = s * s;
        squares += w->window[i] * w->window[i];
    }
    w->unit = 2 * interval / squares;
    return XB_OK;
}

/* (T8) Averages the ordinates of one stretch in bins. */
static void stretch_bins(double *out, worker *w, const binning *b, const double *x)
{
    int64_t size = w->fft.n;
    double mean = 0;
    for (int64_t i = 0; i < size; i++) mean += x[i];
    mean /= (double)size;
    for (int64_t i = 0; i < size; i++)
        w->z[i] = xb_cmplx((x[i] - mean) * w->window[i], 0);
    xb_fft_forward(&w->fft, w->z);
    for (int64_t j = 0; j < b->bins; j++) {
        double sum = 0;
        for (int64_t k = b->edge[j]; k < b->edge[j + 1]; k++)
            sum += creal(w->z[k]) * creal(w->z[k]) + cimag(w->z[k]) * cimag(w->z[k]);
        out[j] = w->unit * sum / (double)(b->edge[j + 1] - b->edge[j]);
    }
}

/* The number of independent ordinates of a bin in one stretch; Hann's window makes
 * neighbours correlated. */
static double ordinates(const binning *b, int64_t j)
{
    const double alike = 1.5;
    return fmax(1, (double)(b->edge[j + 1] - b->edge[j]) / alike);
}

/* The number of independent stretches that are worth as much as these, which share
 * halves. */
static double stretches_worth(int64_t stretches)
{
    const double shared = 1.056;
    return (double)stretches / shared;
}

static double average(double *value, int64_t n, xb_welch_mean mean, double freedom)
{
    if (mean == XB_WELCH_MEAN) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += value[i];
        return sum / (double)n;
    }
    /* Insertion sort, because there are few values. */
    for (int64_t i = 1; i < n; i++)
        for (int64_t k = i; k > 0 && value[k] < value[k - 1]; k--) {
            double swap = value[k];
            value[k] = value[k - 1], value[k - 1] = swap;
        }
    double middle = n % 2 ? value[n / 2] : 0.5 * (value[n / 2 - 1] + value[n / 2]);
    double ratio = 1 - 1 / (9 * freedom); /* Wilson's approximation of the median of a
                                             mean of exponentials */
    return middle / (ratio * ratio * ratio);
}

/* The position at which stretch i begins. */
static int64_t start_of(int64_t i, int64_t n, int64_t size, int64_t stretches)
{
    return stretches > 1 ? (n - size) / (stretches - 1) * i : 0;
}

/* Averages the stretches that begin in this process's pieces in bins: row [stretches] of
 * XB_SPECTRUM_BINS; cut [pieces + 1] is the first stretch of each piece. */
static xb_status fill_rows(xb_ctx *ctx, double *row, int64_t *cut, worker *w,
                           const binning *b, const xb_signal *x, int64_t stretches)
{
    const int64_t size = w->fft.n;
    int64_t s = 0;
    cut[0] = 0;
    for (int64_t p = 0; p < x->pieces; p++) {
        const bool mine = xb_signal_mine(ctx, x, p);
        for (; s < stretches; s++) {
            const double *value = NULL;
            const int64_t start = start_of(s, x->n, size, stretches);
            if (start >= xb_signal_cut(x, p + 1)) break;
            if (!mine) continue;
            XB_TRY(xb_signal_read(ctx, x, &value, start, size));
            stretch_bins(row + s * XB_SPECTRUM_BINS, w, b, value);
            if (!x->x) XB_TRY(xb_progress_tell(ctx, "taking spectra", s, stretches));
        }
        cut[p + 1] = s;
    }
    return XB_OK;
}

/* Averages every stretch in bins, ordered bin after bin. */
static xb_status fill_stretches(xb_ctx *ctx, double *of, worker *w, const binning *b,
                                const xb_signal *x, int64_t stretches)
{
    int64_t cut[XB_SIGNAL_PIECES + 1];
    double *row = xb_new(ctx, stretches, XB_SPECTRUM_BINS * sizeof *row);
    if (!row) return XB_E_MEMORY;
    xb_status status = fill_rows(ctx, row, cut, w, b, x, stretches);
    if (status == XB_OK)
        status = xb_signal_gather(ctx, x, row, XB_SPECTRUM_BINS * sizeof *row, cut);
    for (int64_t s = 0; s < stretches; s++)
        for (int64_t j = 0; j < b->bins; j++)
            of[j * stretches + s] = row[s * XB_SPECTRUM_BINS + j];
    free(row);
    return status;
}

static void set_spectrum(xb_log_spectrum *out, double *of, const binning *b, int64_t size,
                         int64_t stretches, double interval, xb_welch_mean mean)
{
    /* the variance of a median relative to that of a mean */
    const double of_median = M_PI / 2;
    double step = 1 / ((double)size * interval);
    out->bins = b->bins;
    for (int64_t j = 0; j < b->bins; j++) {
        double low = (double)b->edge[j], high = (double)(b->edge[j + 1] - 1);
        double freedom = ordinates(b, j);
        out->frequency[j] = step * sqrt(low * high);
        out->power[j] = average(of + j * stretches, stretches, mean, freedom);
        out->weight[j] = freedom * stretches_worth(stretches) /
                         (mean == XB_WELCH_MEDIAN ? of_median : 1);
    }
}

xb_status xb_welch(xb_ctx *ctx, xb_log_spectrum *out, const double *x, int64_t n,
                   double interval, int64_t parts, xb_welch_mean mean)
{
    const xb_signal s = xb_signal_of(x, n);
    return xb_welch_signal(ctx, out, &s, interval, parts, mean);
}

xb_status xb_welch_signal(xb_ctx *ctx, xb_log_spectrum *out, const xb_signal *x,
                          double interval, int64_t parts, xb_welch_mean mean)
{
    const int64_t n = x->n;
    int64_t size = 16;
    while (2 * size <= n / parts && 2 * size <= STRETCH_MAX) size *= 2;
    if (n < size)
        return xb_fail(ctx, XB_E_INPUT, "%lld samples are too few for a spectrum",
                       (long long)n);
    int64_t stretches = n / size * 2 - 1;
    if (stretches > STRETCHES_MAX) stretches = STRETCHES_MAX;
    binning b = choose_bins(size);
    worker w = {{0}, NULL, NULL, 0};
    double *of = NULL;
    xb_status status = worker_make(ctx, &w, size, interval);
    if (status == XB_OK) {
        of = xb_new(ctx, b.bins * stretches, sizeof *of);
        status = of ? XB_OK : XB_E_MEMORY;
    }
    if (status == XB_OK) status = fill_stretches(ctx, of, &w, &b, x, stretches);
    if (status == XB_OK) set_spectrum(out, of, &b, size, stretches, interval, mean);
    free(of);
    worker_free(&w);
    return status;
}

/* The line of log power over log frequency within a decade of the lowest bin, because one
 * bin alone is known only to a quarter. The slope is limited to between f^-2 and f^0. */
static double low_line(const xb_log_spectrum *s, double frequency)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, sw = 0;
    for (int64_t j = 0; j < s->bins && s->frequency[j] <= 10 * s->frequency[0]; j++) {
        double u = log(s->frequency[j] / s->frequency[0]), w = s->weight[j];
        double v = log(fmax(s->power[j], 1e-300));
        sw += w, sx += w * u, sy += w * v, sxx += w * u * u, sxy += w * u * v;
    }
    double spread = sw * sxx - sx * sx;
    double slope = spread > 0 ? (sw * sxy - sx * sy) / spread : 0;
    slope = fmin(0, fmax(-2, slope));
    return exp((sy - slope * sx) / sw + slope * log(frequency / s->frequency[0]));
}

double xb_spectrum_at(const xb_log_spectrum *s, double f)
{
    int64_t last = s->bins - 1;
    if (f >= s->frequency[last]) return s->power[last];
    if (f <= LOW * s->frequency[0]) return low_line(s, f);
    int64_t j = 0;
    while (f > s->frequency[j + 1]) j++;
    double t = log(f / s->frequency[j]) / log(s->frequency[j + 1] / s->frequency[j]);
    double a = log(fmax(s->power[j], 1e-300)), b = log(fmax(s->power[j + 1], 1e-300));
    return exp(a + t * (b - a));
}
