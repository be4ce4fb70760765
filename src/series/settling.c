/* settling.c: a start-up transient; maths T3.
 *
 * The first m samples are compared with the eight times m that follow, and this contrast
 * with the same contrast everywhere else in the trace. Under stationary noise, or noise
 * whose increments are stationary, the first contrast is as likely as any other to be the
 * largest, whatever the law and the spectrum. So the level is exact, and no noise has to
 * be simulated. Transients that are much longer than the largest scale, a thousandth of a
 * trace of 1e6 samples, are jumps or drift, which jumps.c finds. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "series/series.h"

enum { SHORTEST = 8, AFTER = 8, SCALES = 24, MOST = 1 << 22 };

/* prefix[i] is the sum of the first i values. */
static double contrast(const double *prefix, int64_t at, int64_t m)
{
    double first = (prefix[at + m] - prefix[at]) / (double)m;
    double next = (prefix[at + m * (AFTER + 1)] - prefix[at + m]) / (double)(m * AFTER);
    return first - next;
}

static int64_t places(int64_t n, int64_t m) { return (n - m * AFTER) / m; }

/* The number of scales that can be tested at once: each needs scales / level places. */
static int count_scales(int64_t n, double level)
{
    int scales = 0;
    while (scales < SCALES) {
        int64_t m = (int64_t)SHORTEST << scales;
        if ((double)places(n, m) * level < scales + 1) break;
        scales++;
    }
    return scales;
}

/* (T3) Whether the first contrast of this scale is larger than all but `share` of the
 * others. */
static bool stands_out(const double *prefix, int64_t n, int64_t m, double share)
{
    int64_t total = places(n, m), beyond = 0;
    double first = fabs(contrast(prefix, 0, m));
    for (int64_t j = 0; j < total; j++)
        beyond += fabs(contrast(prefix, j * m, m)) >= first;
    return (double)beyond <= share * (double)total;
}

/* Finds the median of |mean of m samples - centre| over the trace. */
static xb_status typical(xb_ctx *ctx, double *out, double *centre, const double *prefix,
                         int64_t n, int64_t m)
{
    int64_t count = n / m;
    double *mean = xb_new(ctx, count, sizeof *mean);
    if (!mean) return XB_E_MEMORY;
    for (int64_t j = 0; j < count; j++)
        mean[j] = (prefix[(j + 1) * m] - prefix[j * m]) / (double)m;
    xb_status status = xb_sort_doubles(ctx, mean, count);
    *centre = mean[count / 2];
    for (int64_t j = 0; j < count; j++) mean[j] = fabs(mean[j] - *centre);
    if (status == XB_OK) status = xb_sort_doubles(ctx, mean, count);
    *out = mean[count / 2];
    free(mean);
    return status;
}

/* Finds where the transient ends: at the first run of SHORTEST samples that is on the
 * other side of what follows, or no farther from it than twice the usual distance. What
 * follows is as long as the part that is left out, and at least 64 samples. */
static int64_t end_of(const double *prefix, int64_t n, double usual)
{
    double side = 0;
    int64_t i = 0;
    for (; i + SHORTEST < n / 2; i += SHORTEST) {
        int64_t far = i + SHORTEST < 64 ? 64 : i + SHORTEST;
        double next = (prefix[i + SHORTEST + far] - prefix[i + SHORTEST]) / (double)far;
        double here = (prefix[i + SHORTEST] - prefix[i]) / SHORTEST - next;
        if (i == 0) side = here;
        if (here * side <= 0 || fabs(here) <= 2 * usual) break;
    }
    return i;
}

static xb_status find(xb_ctx *ctx, int64_t *out, const double *prefix, int64_t n,
                      double level)
{
    int scales = count_scales(n, level);
    int64_t end = 0;
    for (int k = 0; k < scales; k++) {
        int64_t m = (int64_t)SHORTEST << k;
        if (!stands_out(prefix, n, m, level / scales)) continue;
        double usual = 0, centre = 0;
        XB_TRY(typical(ctx, &usual, &centre, prefix, n, SHORTEST));
        int64_t found = end_of(prefix, n, usual);
        end = found > m ? found : m;
        break;
    }
    *out = end;
    return XB_OK;
}

xb_status xb_settling_find(xb_ctx *ctx, int64_t *out, const double *x, int64_t n,
                           double level)
{
    if (n > MOST)
        n = MOST; /* only the start matters, and this is enough to judge it by */
    double *prefix = xb_room(ctx, n + 1, sizeof *prefix);
    if (!prefix) return XB_E_MEMORY;
    prefix[0] = 0;
    for (int64_t i = 0; i < n; i++) prefix[i + 1] = prefix[i] + (x[i] - x[n / 2]);
    xb_status status = find(ctx, out, prefix, n, level);
    free(prefix);
    return status;
}
