/* selective.c: the risk if only the most certain points are answered; maths C25. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "compare/tagged.h"
#include "crossbayes/compare.h"

static xb_status order(xb_ctx *ctx, xb_tagged *item, xb_tagged *spare,
                       const double *uncertainty, const double *loss, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(uncertainty[i]) || !isfinite(loss[i]))
            return xb_fail(ctx, XB_E_INPUT,
                           "point %lld: uncertainty %g, loss %g, expected finite numbers",
                           (long long)i + 1, uncertainty[i], loss[i]);
        item[i] = (xb_tagged){.x = uncertainty[i], .tag = (int32_t)i};
    }
    xb_tagged_sort(item, spare, n);
    return XB_OK;
}

/* The end of the range of points that are as uncertain as the one at `first`. */
static int64_t ties_end(const xb_tagged *item, int64_t first, int64_t n)
{
    int64_t end = first + 1;
    while (end < n && item[end].x == item[first].x) end++;
    return end;
}

/* (C25) */
static void add_up(double *risk, double *area, const xb_tagged *item, const double *loss,
                   int64_t n)
{
    double sum = 0;
    *area = 0;
    for (int64_t first = 0, end; first < n; first = end) {
        end = ties_end(item, first, n);
        double mean = 0;
        for (int64_t i = first; i < end; i++)
            mean += loss[item[i].tag] / (double)(end - first);
        for (int64_t i = first; i < end; i++) {
            sum += mean;
            risk[i] = sum / (double)(i + 1);
            *area += risk[i] / (double)n;
        }
    }
}

xb_status xb_selective_risk(xb_ctx *ctx, double *risk, double *area,
                            const double *uncertainty, const double *loss, int64_t n)
{
    if (n < 1 || n > INT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld points: expected 1 to 2^31 - 1",
                       (long long)n);
    xb_tagged *item = xb_new(ctx, 2 * n, sizeof *item);
    if (!item) return XB_E_MEMORY;
    xb_status status = order(ctx, item, item + n, uncertainty, loss, n);
    if (status == XB_OK) add_up(risk, area, item, loss, n);
    free(item);
    return status;
}
