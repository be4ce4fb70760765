/* auroc.c: how well a measure separates two sets of points: the area under the ROC curve
 * and its error by DeLong, DeLong & Clarke-Pearson (1988); maths C24. Both sets are
 * sorted once, so the cost is O((n + m) log(n + m)). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/calibration.h"
#include "compare/summary.h"
#include "crossbayes/extend.h"

static xb_status sorted_copy(xb_ctx *ctx, double *to, const double *from, int64_t n,
                             const char *name)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(from[i]))
            return xb_fail(ctx, XB_E_INPUT,
                           "%s: value %lld is %g, expected a finite number", name,
                           (long long)i + 1, from[i]);
    memcpy(to, from, (size_t)n * sizeof *to);
    return xb_sort_doubles(ctx, to, n);
}

/* The number of the n ascending values that are below x, or (`equal`) not above it. */
static int64_t count_below(const double *x, int64_t n, double value, bool equal)
{
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const bool below = equal ? x[middle] <= value : x[middle] < value;
        if (below)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The share of the n ascending values below `value`; ties count half. */
static double share_below(const double *x, int64_t n, double value)
{
    const int64_t below = count_below(x, n, value, false);
    const int64_t reached = count_below(x, n, value, true);
    return 0.5 * (double)(below + reached) / (double)n;
}

/* (C24) `placed` has room for the larger of both sets; inside and outside are
 * ascending. */
static xb_score area_of(double *placed, const double *inside, int64_t n,
                        const double *outside, int64_t m)
{
    for (int64_t i = 0; i < m; i++) placed[i] = share_below(inside, n, outside[i]);
    const xb_score over = xb_score_mean(placed, m);
    for (int64_t i = 0; i < n; i++) placed[i] = share_below(outside, m, inside[i]);
    const xb_score under = xb_score_mean(placed, n);
    double error = hypot(over.std_error, under.std_error);
    if (error == 0)
        error = xb_share_error(over.value, n < m ? n : m); /* the sets are completely
                                                              separated */
    return (xb_score){over.value, error, NAN};
}

xb_status xb_auroc(xb_ctx *ctx, xb_score *out, const double *inside, int64_t n,
                   const double *outside, int64_t m)
{
    if (n < 1 || m < 1)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld and %lld values: expected 1 or more of each", (long long)n,
                       (long long)m);
    double *a = xb_new(ctx, 2 * (n + m), sizeof *a);
    if (!a) return XB_E_MEMORY;
    double *b = a + n, *placed = b + m;
    xb_status status = sorted_copy(ctx, a, inside, n, "inside");
    if (status == XB_OK) status = sorted_copy(ctx, b, outside, m, "outside");
    if (status == XB_OK) *out = area_of(placed, a, n, b, m);
    free(a);
    return status;
}
