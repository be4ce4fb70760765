/* quiet.c: an array that uses only states that move little (maths X22). A weight is a
 * difference of two conductances, so most of them can be had from quiet states alone,
 * even where the states between are loud: of all pairs with that difference the quietest
 * is taken. States are evenly spaced: those of the array, or so many that the steps do
 * not show. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbar/cells.h"

enum { STATES = 1025, SEARCHED = 4096 };

/* How far cells of a state have spread at the last time that was measured, uS. */
static double spread_us(const xb_aged *aged, double g_us)
{
    const double last =
        xb_device_time_at(aged->device, xb_device_time_count(aged->device) - 1);
    return aged->us * xb_device_moved(aged->device, g_us / aged->us, last).spread;
}

/* A state whose spread is the limit belongs to the quiet ones. */
static bool is_quiet(const xb_array *a, double spread)
{
    return spread <= a->quiet_us * (1 + 1e-9);
}

/* The range of the array to its first and last quiet state. */
static xb_status narrow(xb_ctx *ctx, xb_array *a, const xb_aged *aged)
{
    const double from = a->g_min_us, step = (a->g_max_us - from) / (SEARCHED - 1);
    double low = NAN, high = NAN, best = from;
    for (int i = 0; i < SEARCHED; i++) {
        const double g = i < SEARCHED - 1 ? from + step * i : a->g_max_us;
        if (spread_us(aged, g) < spread_us(aged, best)) best = g;
        if (!is_quiet(a, spread_us(aged, g))) continue;
        if (isnan(low)) low = g;
        high = g;
    }
    if (!(high > low))
        return xb_fail(ctx, XB_E_INPUT,
                       "no states from %.4g to %.4g µS spread by at most %.3g µS"
                       " (quiet_us): the quietest, at %.4g µS, spreads by %.3g µS",
                       from, a->g_max_us, a->quiet_us, best, spread_us(aged, best));
    a->g_min_us = low;
    a->g_max_us = high;
    return XB_OK;
}

/* The lower state of the quietest pair k apart; -1: there is none. */
static int32_t quietest(const double *spread, const xb_array *a, int64_t n, int64_t k)
{
    int32_t best = -1;
    double least = INFINITY;
    for (int64_t i = 0; i + k < n; i++) {
        const double sum = spread[i] * spread[i] + spread[i + k] * spread[i + k];
        if (!is_quiet(a, spread[i]) || !is_quiet(a, spread[i + k]) || sum >= least)
            continue;
        best = (int32_t)i;
        least = sum;
    }
    return best;
}

/* Where no pair is k apart, that of the nearest k; of two the smaller. */
static void fill_gaps(xb_quiet *q)
{
    for (int64_t k = 0; k < q->n; k++)
        for (int64_t d = 0; d < q->n; d++) {
            const int64_t less = k - d, more = k + d;
            q->apart[k] = (int32_t)(less >= 0 && q->first[less] >= 0 ? less : more);
            if (q->apart[k] < q->n && q->first[q->apart[k]] >= 0) break;
        }
}

xb_status xb_quiet_make(xb_ctx *ctx, xb_quiet *out, xb_array *a, const xb_aged *aged)
{
    XB_TRY(narrow(ctx, a, aged));
    xb_quiet q = {.n = a->mean_levels > 0 ? a->mean_levels : STATES, .low = a->g_min_us};
    q.step = (a->g_max_us - a->g_min_us) / (double)(q.n - 1);
    q.first = xb_new(ctx, q.n, sizeof *q.first);
    q.apart = xb_new(ctx, q.n, sizeof *q.apart);
    double *spread = xb_new(ctx, q.n, sizeof *spread);
    if (!q.first || !q.apart || !spread) {
        free(q.first);
        free(q.apart);
        free(spread);
        return XB_E_MEMORY;
    }
    for (int64_t i = 0; i < q.n; i++)
        spread[i] =
            spread_us(aged, i < q.n - 1 ? q.low + q.step * (double)i : a->g_max_us);
    for (int64_t k = 0; k < q.n; k++) q.first[k] = quietest(spread, a, q.n, k);
    fill_gaps(&q);
    free(spread);
    *out = q;
    return XB_OK;
}

/* (X22) One difference as a pair; the part of a step that is left goes to one of them. */
static void pair_of(double *high, double *low, double apart, const xb_quiet *q, bool any)
{
    int64_t wanted = (int64_t)rint(apart / q->step);
    if (wanted > q->n - 1) wanted = q->n - 1;
    const int64_t k = q->apart[wanted], i = q->first[k];
    const double rest = any && k == wanted ? apart - q->step * (double)k : 0;
    const bool top = i + k == q->n - 1;
    *high = q->low + q->step * (double)(i + k) + (top ? 0 : rest);
    *low = q->low + q->step * (double)i - (top ? rest : 0);
}

void xb_cells_quiet(xb_cells *c, const xb_array *a, const xb_quiet *quiet)
{
    const bool any = a->mean_levels == 0;
    for (int64_t i = 0; i < c->in * c->out; i++) {
        const double apart = c->plus[i] - c->minus[i];
        if (apart >= 0)
            pair_of(&c->plus[i], &c->minus[i], apart, quiet, any);
        else
            pair_of(&c->minus[i], &c->plus[i], -apart, quiet, any);
    }
}
