/* spline_groups.c: the groups of values that `empirical` is fitted to; maths L23. Values
 * from a converter come in steps. The law must not follow this comb, so a value that
 * occurs often is spread over the interval that the converter rounded to it, by a
 * golden-ratio sequence (deterministic, even). Two or three distinct values are taken as
 * levels, not steps, and spread only a little.
 *
 * Then the values are grouped: edges at 1/1024 quantiles, so that every mode is
 * resolved, and as many evenly spaced in asinh((x - median) / spread), so that
 * long tails and gaps are. A group is far narrower than a spline cell, and its mean
 * represents it. Cost: O(n log groups), 20 ms for 1e6 values. */
#include "fit/spline_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"

enum { GRID = XB_GROUPS_MAX / 2, LEVELS_MAX = 4096, BLOCKS = 4 * XB_FOLDS };

static const double GOLDEN = 0.61803398874989485;

typedef struct working {
    double *y;      /* [n] standardised, spread, in time order */
    double *sorted; /* [n] the same, ascending */
    double *level;  /* [levels] distinct values, standardised */
    int64_t levels;
    int64_t n;
} working;

static void working_free(working *w)
{
    free(w->y);
    free(w->level);
}

static int64_t find_last_not_above(const double *edge, int64_t n, double y)
{
    const double *base = edge; /* branch-free: the compiler makes it a cmov */
    while (n > 1) {
        int64_t half = n / 2;
        base = base[half] <= y ? base + half : base;
        n -= half;
    }
    return base - edge;
}

/* How far the values of a level may be spread to either side. */
static double level_reach(const working *w, int64_t j)
{
    double left = j > 0 ? w->level[j] - w->level[j - 1] : INFINITY;
    double right = j + 1 < w->levels ? w->level[j + 1] - w->level[j] : INFINITY;
    return xb_level_reach(fmin(left, right), w->levels);
}

static xb_status spread_levels(xb_ctx *ctx, working *w)
{
    w->level = xb_new(ctx, w->levels, sizeof *w->level);
    if (!w->level) return XB_E_MEMORY;
    int64_t count = 0;
    for (int64_t i = 0; i < w->n && count < w->levels; i++)
        if (i == 0 || w->sorted[i] > w->sorted[i - 1]) w->level[count++] = w->sorted[i];
    w->levels = count; /* standardising may have merged neighbours */
    for (int64_t i = 0; i < w->n; i++) {
        double turn = (double)i * GOLDEN;
        double even = 2 * (turn - floor(turn)) - 1; /* in [-1, 1) */
        int64_t j = find_last_not_above(w->level, w->levels, w->y[i]);
        w->y[i] += level_reach(w, j) * xb_level_shape(even, w->levels);
    }
    memcpy(w->sorted, w->y, (size_t)w->n * sizeof *w->y);
    return xb_sort_doubles(ctx, w->sorted, w->n);
}

static xb_status prepare(xb_ctx *ctx, working *w, const xb_sample *s)
{
    *w = (working){.n = s->n, .levels = s->info.distinct};
    w->y = xb_new(ctx, 2 * s->n, sizeof *w->y);
    if (!w->y) return XB_E_MEMORY;
    w->sorted = w->y + s->n;
    for (int64_t i = 0; i < s->n; i++) {
        w->y[i] = (s->x[i] - s->info.mean) / s->info.sd;
        w->sorted[i] = (s->sorted[i] - s->info.mean) / s->info.sd;
    }
    return s->step > 0 && w->levels <= LEVELS_MAX ? spread_levels(ctx, w) : XB_OK;
}

/* Half the width of the central half of the sample, or of a larger part if that half is a
 * single value; large enough that rounding does not merge knots. */
static double spread_of(const working *w)
{
    static const double tail[] = {0.25, 0.1, 0.02, 0};
    const double least = 1e-9;
    double range = w->sorted[w->n - 1] - w->sorted[0], width = 0;
    for (int i = 0; i < XB_COUNT(tail) && width == 0; i++) {
        int64_t low = (int64_t)(tail[i] * (double)(w->n - 1));
        width = w->sorted[w->n - 1 - low] - w->sorted[low];
    }
    return fmax(0.5 * width, least * range);
}

/* (L23) How close knots may be: three of a converter's steps, if that is still
 * fine; a quarter of a level's width; never below a thousandth of the spread. */
static double resolution_of(const working *w, double step, double spread)
{
    const double steps = 3, fine = 0.6, finest = 1e-3;
    double least = finest * spread;
    if (w->levels <= XB_FEW_LEVELS)
        return fmax(least, 0.5 * xb_level_reach(step, w->levels));
    return fmax(least, fmax(step, fmin(steps * step, fine * spread)));
}

/* The converter's step at y: the distance of the levels around it, unless that is
 * a gap between values rather than a step. */
static double step_at(const working *w, double typical, double y)
{
    const double gap = 20;
    if (!w->level || w->levels <= XB_FEW_LEVELS) return typical;
    int64_t j = find_last_not_above(w->level, w->levels - 1, y);
    double step = w->level[j + 1] - w->level[j];
    return step < gap * typical ? step : typical;
}

static void find_resolution(xb_groups *g, const working *w, double step, double spread)
{
    const double digits = 0x1p-22; /* relative to x, so that a cell holds many doubles */
    for (int64_t j = 0; j < g->n; j++) {
        double middle = 0.5 * (g->edge[j] + g->edge[j + 1]);
        g->resolution[j] = fmax(resolution_of(w, step_at(w, step, middle), spread),
                                digits * fabs(middle));
    }
}

/* (L23) The distance over which the density may fall to zero at either end: the
 * reach of the first 3 + log2(n) values, short where the sample ends abruptly. */
static void find_ramps(xb_groups *g, const working *w)
{
    int64_t m = 3 + (int64_t)ceil(log2((double)w->n)); /* 6 values for a sample of 8 */
    g->ramp[0] = fmax(w->sorted[m] - w->sorted[0], g->resolution[0]);
    g->ramp[1] =
        fmax(w->sorted[w->n - 1] - w->sorted[w->n - 1 - m], g->resolution[g->n - 1]);
}

/* The union of both grids, ascending, without repeats; (L23). */
static void lay_edges(xb_groups *g, const working *w, double middle, double spread)
{
    double first = asinh((w->sorted[0] - middle) / spread);
    double last = asinh((w->sorted[w->n - 1] - middle) / spread);
    double top = w->sorted[w->n - 1];
    g->edge[0] = w->sorted[0];
    int64_t count = 1, quantile = 1, even = 1;
    while (quantile < GRID || even < GRID) {
        double a = quantile < GRID ? w->sorted[quantile * w->n / GRID] : INFINITY;
        double turn = first + (last - first) * (double)even / GRID;
        double b = even < GRID ? middle + spread * sinh(turn) : INFINITY;
        double next = fmin(a, b);
        if (a <= b)
            quantile++;
        else
            even++;
        if (next > g->edge[count - 1] && next < top) g->edge[count++] = next;
    }
    g->edge[count] = top;
    g->n = count;
    int64_t i = 1; /* values not above the edge */
    for (int64_t e = 0; e <= count; e++) {
        while (i < w->n && w->sorted[i] <= g->edge[e]) i++;
        double part = 0; /* on the way to the next value */
        if (i < w->n)
            part = (g->edge[e] - w->sorted[i - 1]) / (w->sorted[i] - w->sorted[i - 1]);
        double seen = ((double)(i - 1) + part) / (double)(w->n - 1);
        g->even[e] = (asinh((g->edge[e] - middle) / spread) - first) / (last - first);
        g->blend[e] = 0.5 * (seen + g->even[e]);
    }
    g->blend[0] = g->even[0] = 0;
    g->blend[count] = g->even[count] = 1;
}

/* Blocks of time go to the folds in turn. */
static void count_values(xb_groups *g, const working *w)
{
    int64_t blocks = w->n < BLOCKS ? w->n : BLOCKS;
    for (int64_t b = 0; b < blocks; b++) {
        int fold = (int)(b % XB_FOLDS);
        for (int64_t i = b * w->n / blocks; i < (b + 1) * w->n / blocks; i++) {
            int64_t j = find_last_not_above(g->edge, g->n, w->y[i]);
            g->held[j][fold]++;
            g->mean[j] += w->y[i] - g->edge[j];
        }
    }
}

/* Adds up, and removes empty groups from `mean` and `held` (not from the edges). */
static void finish(xb_groups *g)
{
    for (int64_t j = 0; j < g->n; j++) {
        for (int fold = 0; fold < XB_FOLDS; fold++) {
            g->held[j][XB_FOLDS] += g->held[j][fold];
            g->total[fold] += g->held[j][fold];
        }
        g->total[XB_FOLDS] += g->held[j][XB_FOLDS];
        double count = g->held[j][XB_FOLDS];
        double middle = 0.5 * (g->edge[j + 1] - g->edge[j]);
        g->mean[j] = g->edge[j] + (count > 0 ? g->mean[j] / count : middle);
    }
}

xb_status xb_groups_make(xb_ctx *ctx, xb_groups *out, const xb_sample *sample)
{
    xb_groups g = {0};
    working w;
    xb_status status = prepare(ctx, &w, sample);
    if (status == XB_OK) {
        g.edge = xb_new(ctx, 5 * (XB_GROUPS_MAX + 1), sizeof *g.edge);
        g.held = xb_new(ctx, XB_GROUPS_MAX, sizeof *g.held);
        if (!g.edge || !g.held) status = XB_E_MEMORY;
    }
    if (status == XB_OK) {
        g.blend = g.edge + XB_GROUPS_MAX + 1;
        g.even = g.blend + XB_GROUPS_MAX + 1;
        g.mean = g.even + XB_GROUPS_MAX + 1;
        g.resolution = g.mean + XB_GROUPS_MAX + 1;
        double spread = spread_of(&w);
        g.few_levels = w.levels <= XB_FEW_LEVELS;
        lay_edges(&g, &w, w.sorted[w.n / 2], spread);
        find_resolution(&g, &w, sample->step / sample->info.sd, spread);
        find_ramps(&g, &w);
        count_values(&g, &w);
        finish(&g);
        *out = g;
    } else {
        xb_groups_free(&g);
    }
    working_free(&w);
    return status;
}

void xb_groups_free(xb_groups *groups)
{
    free(groups->edge);
    free(groups->held);
    *groups = (xb_groups){0};
}
