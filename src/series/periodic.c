/* periodic.c: mains pickup and other lines of a spectrum; maths T7.
 *
 * The periodogram (Hann's window, up to 2^20 values per stretch, averaged over stretches)
 * is compared with the median of its neighbourhood, which noise of any smooth spectrum
 * follows. A line has the frequency, amplitude and phase that explain the most variance
 * under the window. Frequencies of fewer than 64 periods in a stretch are not searched.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fft.h"
#include "base/memory.h"
#include "crossbayes/extend.h"
#include "series/series.h"

enum { SIZE_MAX_LOG = 20, SIZE_MIN = 256, NEAR = 4, AROUND_MIN = 64, AROUND_MAX = 512 };

typedef struct periodogram {
    int64_t size, stretches;
    double *power; /* [size / 2], one-sided density; [pieces] of them until summed */
} periodogram;

static double hann(int64_t i, int64_t n)
{
    double s = sin(M_PI * ((double)i + 0.5) / (double)n);
    return s * s;
}

static void add_stretch(const periodogram *p, double *power, const xb_fft *fft,
                        double complex *z, const double *x, double interval)
{
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < p->size; i++) mean += x[i] / (double)p->size;
    for (int64_t i = 0; i < p->size; i++) {
        double w = hann(i, p->size);
        squares += w * w;
        z[i] = xb_cmplx((x[i] - mean) * w, 0);
    }
    xb_fft_forward(fft, z);
    double unit = 2 * interval / (squares * (double)p->stretches);
    for (int64_t k = 0; k < p->size / 2; k++)
        power[k] += unit * (creal(z[k]) * creal(z[k]) + cimag(z[k]) * cimag(z[k]));
}

/* Adds the stretches that begin in piece i. */
static xb_status add_piece(xb_ctx *ctx, const periodogram *p, const xb_fft *fft,
                           double complex *z, const xb_signal *x, int64_t i,
                           double interval)
{
    const int64_t start = (x->n - p->stretches * p->size) / 2;
    for (int64_t s = 0; s < p->stretches; s++) {
        const int64_t at = start + s * p->size;
        const double *value = NULL;
        if (at < xb_signal_cut(x, i) || at >= xb_signal_cut(x, i + 1)) continue;
        XB_TRY(xb_signal_read(ctx, x, &value, at, p->size));
        add_stretch(p, p->power + i * (p->size / 2), fft, z, value, interval);
        if (!x->x) XB_TRY(xb_progress_tell(ctx, "looking for lines", s, p->stretches));
    }
    return XB_OK;
}

static xb_status periodogram_make(xb_ctx *ctx, periodogram *p, const xb_signal *x,
                                  double interval)
{
    xb_fft fft;
    XB_TRY(xb_fft_make(ctx, &fft, p->size));
    double complex *z = xb_new(ctx, p->size, sizeof *z);
    p->power = xb_new(ctx, x->pieces * (p->size / 2), sizeof *p->power);
    xb_status status = z && p->power ? XB_OK : XB_E_MEMORY;
    for (int64_t i = 0; i < x->pieces && status == XB_OK; i++)
        if (xb_signal_mine(ctx, x, i))
            status = add_piece(ctx, p, &fft, z, x, i, interval);
    if (status == XB_OK)
        status = xb_signal_sum(ctx, x, p->power, p->size / 2 * (int64_t)sizeof *p->power,
                               xb_signal_add_doubles);
    free(z);
    xb_fft_free(&fft);
    return status;
}

/* Finds the median of the neighbours of ordinate k, without k itself and the four on
 * either side, as an estimate of the mean; and the number of these neighbours. */
static xb_status background(xb_ctx *ctx, double *out, int64_t *count,
                            const periodogram *p, int64_t k, double *room)
{
    int64_t half = k < AROUND_MIN ? AROUND_MIN : k > AROUND_MAX ? AROUND_MAX : k, n = 0;
    int64_t last = p->size / 2 - 1;
    if (half > last - k) half = last - k > AROUND_MIN ? last - k : AROUND_MIN;
    for (int64_t j = k - half; j <= k + half; j++)
        if (j > 0 && j <= last && llabs(j - k) > NEAR) room[n++] = p->power[j];
    XB_TRY(xb_sort_doubles(ctx, room, n));
    double ratio = 1 - 1 / (9 * (double)p->stretches);
    double median = p->stretches == 1 ? M_LN2 : ratio * ratio * ratio;
    *out = room[n / 2] / median;
    *count = n;
    return XB_OK;
}

/* (T7) The sum of a Poisson distribution of mean x below K, from its last and largest
 * term on: the first ones are too small for a double if there are many stretches. */
double xb_line_chance(double ratio, int64_t stretches, int64_t count)
{
    /* the variance of a median relative to that of a mean */
    const double of_median = 2.08, n = (double)stretches;
    const double m = (double)count / of_median * n, x = m * log1p(ratio * n / m);
    if (x <= n) return 1; /* no peak: at least 1/2 */
    double term = exp((n - 1) * log(x) - lgamma(n) - x), sum = term;
    for (int64_t j = stretches - 1; j > 0; j--) {
        term *= (double)j / x;
        sum += term;
    }
    return fmin(1, sum);
}

/* Returns the sums of x cos and x sin under the window. */
static double complex project(const double *x, int64_t n, double mean, double omega)
{
    double re = 0, im = 0, weights = 0, c = 1, s = 0;
    double cs = cos(omega), sn = sin(omega);
    for (int64_t i = 0; i < n; i++) {
        if (i % 1024 == 0) c = cos(omega * (double)i), s = sin(omega * (double)i);
        double w = hann(i, n), y = w * (x[i] - mean), next = c * cs - s * sn;
        re += y * c, im += y * s, weights += w;
        s = s * cs + c * sn, c = next;
    }
    return xb_cmplx(2 * re / weights, 2 * im / weights);
}

static double strength(const double *x, int64_t n, double mean, double omega)
{
    double complex z = project(x, n, mean, omega);
    return creal(z) * creal(z) + cimag(z) * cimag(z);
}

/* Finds the frequency of the largest amplitude within one ordinate, by golden section. */
static double refine(const double *x, int64_t n, double mean, double low, double high)
{
    const double golden = 0.6180339887498949;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double fa = strength(x, n, mean, a), fb = strength(x, n, mean, b);
    for (int i = 0; i < 24; i++) {
        if (fa > fb) {
            high = b, b = a, fb = fa, a = high - golden * (high - low);
            fa = strength(x, n, mean, a);
        } else {
            low = a, a = b, fa = fb, b = low + golden * (high - low);
            fb = strength(x, n, mean, b);
        }
    }
    return 0.5 * (low + high);
}

static double mean_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] - x[0];
    return x[0] + sum / (double)n;
}

static xb_line measure(const double *x, int64_t used, double interval, int64_t size,
                       int64_t k, double noise, double p)
{
    const double of_hann = 1.5;
    double mean = mean_of(x, used), step = 2 * M_PI / (double)size;
    double omega = refine(x, used, mean, ((double)k - 1) * step, ((double)k + 1) * step);
    return (xb_line){omega / (2 * M_PI * interval), sqrt(strength(x, used, mean, omega)),
                     sqrt(of_hann * noise / ((double)used * interval)), p};
}

static int stronger(const void *a, const void *b)
{
    double x = ((const xb_line *)a)->amplitude, y = ((const xb_line *)b)->amplitude;
    return (x < y) - (x > y);
}

static xb_status search(xb_ctx *ctx, xb_line *line, int64_t *lines, const xb_signal *x,
                        double interval, double level, const periodogram *p)
{
    const double *start = NULL;
    int64_t most = INT64_C(1) << SIZE_MAX_LOG, used = x->n < most ? x->n : most;
    XB_TRY(xb_signal_read(ctx, x, &start, 0, used));
    double room[2 * AROUND_MAX + 1];
    int64_t last = p->size / 2 - 1, first = AROUND_MIN, found = 0;
    for (int64_t k = first; k < last && found < XB_LINES_MAX; k++) {
        bool peak = p->power[k] >= p->power[k - 1] && p->power[k] > p->power[k + 1];
        if (!peak) continue;
        double noise = 0;
        int64_t count = 0;
        XB_TRY(background(ctx, &noise, &count, p, k, room));
        double one = xb_line_chance(p->power[k] / noise, p->stretches, count);
        double any = fmin(1, one * (double)(last - first));
        if (any > level) continue;
        line[found++] = measure(start, used, interval, p->size, k, noise, any);
        k += NEAR;
    }
    *lines = found;
    return XB_OK;
}

xb_status xb_lines_find(xb_ctx *ctx, xb_line *line, int64_t *lines, const xb_signal *x,
                        double interval, double level)
{
    periodogram p = {.size = SIZE_MIN};
    *lines = 0;
    if (x->n < SIZE_MIN) return XB_OK;
    while (2 * p.size <= x->n && p.size < INT64_C(1) << SIZE_MAX_LOG) p.size *= 2;
    p.stretches = x->n / p.size;
    xb_status status = periodogram_make(ctx, &p, x, interval);
    if (status == XB_OK) status = search(ctx, line, lines, x, interval, level, &p);
    if (status == XB_OK) qsort(line, (size_t)*lines, sizeof *line, stronger);
    free(p.power);
    return status;
}

/* Amplitude and phase are fitted again in every stretch, because the frequency is not
 * known well enough for a whole long trace. */
void xb_lines_remove(double *x, int64_t n, double interval, const xb_line *line,
                     int64_t lines)
{
    int64_t stretch = INT64_C(1) << SIZE_MAX_LOG, pieces = (n + stretch - 1) / stretch;
    for (int64_t k = 0; k < pieces; k++) {
        int64_t from = n * k / pieces, count = n * (k + 1) / pieces - from;
        for (int64_t j = 0; j < lines; j++) {
            double omega = 2 * M_PI * line[j].frequency * interval;
            double complex z = project(x + from, count, mean_of(x + from, count), omega);
            for (int64_t i = 0; i < count; i++)
                x[from + i] -=
                    creal(z) * cos(omega * (double)i) + cimag(z) * sin(omega * (double)i);
        }
    }
}
