/* bins.c: see bins.h. The width is that of Freedman and Diaconis (1981), 2 IQR n^(-1/3),
 * with a smaller spread in place of the IQR if peaks are narrow; the number of bins stays
 * between 20 and 160. A converter gives few distinct values at equal distances; bins that
 * do not hold whole steps would look like a comb. */
#include "study/bins.h"

#include <math.h>
#include <stdlib.h>

#include "crossbayes/extend.h"

enum { BINS_MIN = 20, BINS_MAX = 160, REPEATS = 10, GAPS_MIN = 8 };

/* The shortest interval with a quarter of the values in it. */
static double shortest_quarter(const double *x, int64_t n)
{
    double shortest = x[n - 1] - x[0];
    for (int64_t i = 0; i + n / 4 < n; i++)
        shortest = fmin(shortest, x[i + n / 4] - x[i]);
    return shortest;
}

/* With two narrow peaks the quartiles give their distance, not their width. A quarter of
 * a normal sample lies within IQR / 2.1; the shortest quarter is used only if it is IQR /
 * 3.2 or less. */
static double plain_width(const double *x, int64_t n)
{
    const double narrow = 3.2;
    double range = x[n - 1] - x[0], iqr = x[3 * n / 4] - x[n / 4];
    double spread = fmin(iqr, narrow * shortest_quarter(x, n));
    double width = 2 * spread / cbrt((double)n);
    return fmin(fmax(width, range / BINS_MAX), range / BINS_MIN);
}

/* The gaps between neighbouring distinct values, ascending. */
static xb_status find_gaps(xb_ctx *ctx, double **out, int64_t *count, const double *x,
                           int64_t n)
{
    int64_t distinct = 1;
    for (int64_t i = 1; i < n; i++) distinct += x[i] > x[i - 1];
    double *gaps = xb_new(ctx, distinct, sizeof *gaps);
    if (!gaps) return XB_E_MEMORY;
    int64_t used = 0;
    for (int64_t i = 1; i < n; i++)
        if (x[i] > x[i - 1]) gaps[used++] = x[i] - x[i - 1];
    xb_status status = xb_sort_doubles(ctx, gaps, used);
    if (status != XB_OK) {
        xb_free(gaps);
        return status;
    }
    *out = gaps;
    *count = used;
    return XB_OK;
}

/* The converter's step; 0 if the values do not look like multiples of one. */
static xb_status find_step(xb_ctx *ctx, double *step, const double *x, int64_t n)
{
    const double same = 0.02; /* relative: values are printed with few digits */
    double *gaps = NULL;
    int64_t count = 0;
    XB_TRY(find_gaps(ctx, &gaps, &count, x, n));
    *step = 0;
    if (count >= GAPS_MIN && count <= n / REPEATS) {
        double low = gaps[count / 20], middle = gaps[count / 2],
               high = gaps[3 * count / 4];
        if (high - low <= same * middle) *step = middle;
    }
    xb_free(gaps);
    return XB_OK;
}

xb_status xb_bins_choose(xb_ctx *ctx, xb_bins *out, const double *sorted, int64_t n,
                         double centre)
{
    if (n < 2 || !(sorted[n - 1] > sorted[0]))
        return xb_fail(ctx, XB_E_ARGUMENT, "a histogram needs two distinct values");
    double step = 0, width = plain_width(sorted, n);
    XB_TRY(find_step(ctx, &step, sorted, n));
    double low = sorted[0] - step / 2;
    if (step > 0)
        width = step * ceil(width / step);
    else /* half-odd multiples of the width away from the centre */
        low = centre + width * (floor((low - centre) / width + 0.5) - 0.5);
    *out = (xb_bins){low, width, (int64_t)floor((sorted[n - 1] - low) / width) + 1};
    return XB_OK;
}

double xb_bins_middle(const xb_bins *bins, int64_t k)
{
    return bins->low + ((double)k + 0.5) * bins->width;
}

void xb_bins_density(double *density, const xb_bins *bins, const double *sorted,
                     int64_t n)
{
    int64_t i = 0;
    for (int64_t k = 0; k < bins->count; k++) {
        int64_t first = i;
        double end = bins->low + (double)(k + 1) * bins->width;
        while (i < n && (sorted[i] < end || k + 1 == bins->count)) i++;
        density[k] = (double)(i - first) / ((double)n * bins->width);
    }
}
