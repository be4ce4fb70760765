/* quiet.c: weights as pairs of states that move little (maths X22). A weight is a
 * difference of two conductances, and many pairs have the same difference. The quietest
 * of these pairs is taken, while (X1) takes the one in which one device is at its lowest.
 * States are evenly spaced: those of the array, or enough of them to make the steps
 * negligible. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbar/cells.h"

enum { STATES = 1025 };

/* The spread of cells of a state at the last measured time, uS. */
static double spread_us(const xb_aged *aged, double g_us)
{
    const double last =
        xb_device_time_at(aged->device, xb_device_time_count(aged->device) - 1);
    return aged->us * xb_device_moved(aged->device, g_us / aged->us, last).spread;
}

/* (X22) The lower state of the quietest pair k steps apart. */
static int32_t quietest(const double *spread, int64_t n, int64_t k)
{
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t i = 0; i + k < n; i++) {
        const double sum = spread[i] * spread[i] + spread[i + k] * spread[i + k];
        if (sum >= least) continue;
        best = i;
        least = sum;
    }
    return (int32_t)best;
}

xb_status xb_quiet_make(xb_ctx *ctx, xb_quiet *out, const xb_array *a,
                        const xb_aged *aged)
{
    xb_quiet q = {.n = a->mean_levels > 0 ? a->mean_levels : STATES, .low = a->g_min_us};
    q.step = (a->g_max_us - a->g_min_us) / (double)(q.n - 1);
    q.first = xb_new(ctx, q.n, sizeof *q.first);
    double *spread = xb_new(ctx, q.n, sizeof *spread);
    if (!q.first || !spread) {
        free(q.first);
        free(spread);
        return XB_E_MEMORY;
    }
    for (int64_t i = 0; i < q.n; i++)
        spread[i] = spread_us(aged, q.low + q.step * (double)i);
    for (int64_t k = 0; k < q.n; k++) q.first[k] = quietest(spread, q.n, k);
    free(spread);
    *out = q;
    return XB_OK;
}

/* Represents one difference as a pair; the remaining fraction of a step goes to the
 * device that has room for it. */
static void pair_of(double *high, double *low, double apart, const xb_quiet *q)
{
    const int64_t k = (int64_t)rint(fmin(apart / q->step, (double)(q->n - 1)));
    const int64_t i = q->first[k];
    const double rest = apart - q->step * (double)k;
    const bool top = i + k == q->n - 1;
    *high = q->low + q->step * (double)(i + k) + (top ? 0 : rest);
    *low = q->low + q->step * (double)i - (top ? rest : 0);
}

void xb_cells_quiet(xb_cells *c, const xb_quiet *quiet)
{
    for (int64_t i = 0; i < c->in * c->out; i++) {
        const double apart = c->plus[i] - c->minus[i];
        if (apart >= 0)
            pair_of(&c->plus[i], &c->minus[i], apart, quiet);
        else
            pair_of(&c->minus[i], &c->plus[i], -apart, quiet);
    }
}
