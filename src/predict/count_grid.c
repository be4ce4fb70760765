/* count_grid.c: the cdf of a mixture of counts (maths P20).
 *
 * Every whole number up to 256 is a node, so the cdf is exact there except for 1e-13 at
 * the ends. Beyond, the distance between nodes is a sixteenth of the standard deviation
 * of a law of this mean, which is the narrowest possible there. Between nodes masses are
 * summed by the Euler-Maclaurin formula with their slopes, and the cdf is linear,
 * accurate to 2e-4 (tests/test_counts.c). If the draws span more nodes than there is room
 * for, the distance is doubled until they fit. */
#include "predict/count_grid.h"

#include <math.h>
#include <string.h>

#include "base/count_mass.h"

int64_t xb_count_grid_room(int groups)
{
    return (int64_t)XB_COUNT_NODES * (4 + groups) + groups;
}

xb_count_grid xb_count_grid_in(double *room, int groups)
{
    return (xb_count_grid){.at = room,
                           .mass = room + XB_COUNT_NODES,
                           .rise = room + 2 * XB_COUNT_NODES,
                           .ratio = room + 3 * XB_COUNT_NODES,
                           .below = room + 4 * XB_COUNT_NODES,
                           .self = room + (int64_t)XB_COUNT_NODES * (4 + groups),
                           .groups = groups};
}

/* ---- nodes */

static xb_count_range whole_range(const xb_count_draws *d)
{
    xb_count_range all = {INFINITY, 0};
    for (int64_t s = 0; s < d->draws; s++) {
        const xb_count_range one = xb_count_range_of(d->rate[s], d->size[s % d->members]);
        all.low = fmin(all.low, one.low);
        all.high = fmax(all.high, one.high);
    }
    return all;
}

static double largest_size(const xb_count_draws *d)
{
    double most = 0;
    for (int64_t m = 0; m < d->members; m++) most = fmax(most, d->size[m]);
    return most;
}

/* The node after k; stops at y - 1 and y on the way. */
static double next_node(double k, double share, double size, double y)
{
    const double all = 256; /* numbers below it are nodes */
    const double step = floor(share * sqrt(xb_count_variance(k, size)));
    double next = k + (k < all ? 1 : fmax(1, step));
    if (k < y && next > y) next = y;
    if (k < y - 1 && next > y - 1) next = y - 1;
    return next;
}

/* false: there is no room for them. */
static bool place(xb_count_grid *g, xb_count_range range, double share, double size,
                  double y)
{
    g->count = 0;
    for (double k = range.low;; k = next_node(k, share, size, y)) {
        if (g->count == XB_COUNT_NODES) return false;
        g->at[g->count++] = k;
        if (k >= range.high) return true;
    }
}

static void place_nodes(xb_count_grid *g, const xb_count_draws *d, double y)
{
    const xb_count_range range = whole_range(d);
    const double size = largest_size(d), inside = isnan(y) ? -1 : y;
    double share = 1.0 / 16;
    while (!place(g, range, share, size, inside)) share *= 2;
}

/* ---- masses */

/* log P(K = at) = mass + at A - B for a draw's A and B; its slope is rise + A. */
static void fill_tables(xb_count_grid *g, double size)
{
    for (int j = 0; j < g->count; j++) {
        const double k = g->at[j];
        g->mass[j] = xb_log_rising(size, k) - lgamma(k + 1);
        g->rise[j] =
            (isinf(size) ? 0 : xb_digamma(size + k) - log(size)) - xb_digamma(k + 1);
        if (j > 0 && k - g->at[j - 1] == 1)
            g->ratio[j] = (isinf(size) ? 1 : (size + k - 1) / size) / k;
    }
}

static int first_node(const xb_count_grid *g, double low)
{
    int from = 0, to = g->count;
    while (from < to) {
        const int middle = (from + to) / 2;
        if (g->at[middle] < low)
            from = middle + 1;
        else
            to = middle;
    }
    return from > 0 ? from - 1 : 0;
}

double xb_count_sum(double from, double to, double h)
{
    return h * from + 0.5 * (to - from) * (h + 1);
}

double xb_count_pairs(double from, double to, double h, double n)
{
    const double d = to - from;
    const double squares =
        h * from * from + from * d * (h + 1) + d * d * (h + 1) * (2 * h + 1) / (6 * h);
    return n * xb_count_sum(from, to, h) - squares;
}

/* (P20) Masses of one draw into the row of its group. */
static void add_draw(const xb_count_grid *g, double *row, double *self, double rate,
                     double size)
{
    const double above = isinf(size) ? 0 : log1p(rate / size);
    const double a = log(rate) - above, b = isinf(size) ? rate : size * above;
    const xb_count_range range = xb_count_range_of(rate, size);
    const double ratio = exp(a), lost = 1e-280; /* too small to start the recurrence */
    double f = 0, slope = 0, sum = 0;
    const int first = first_node(g, range.low);
    for (int j = first; j < g->count; j++) {
        const double k = g->at[j], h = j > first ? k - g->at[j - 1] : 1;
        const double next =
            h == 1 && f > lost ? f * (ratio * g->ratio[j]) : exp(g->mass[j] + k * a - b);
        const double next_slope = next * (g->rise[j] + a);
        const double mass = h == 1 ? next
                                   : 0.5 * (h * (f + next) + next - f) +
                                         (h * h - 1) / 12 * (slope - next_slope);
        row[j] += mass;
        if (self) *self += 2 * xb_count_pairs(sum, sum + mass, h, 1);
        sum += mass;
        f = next, slope = next_slope;
        if (k > range.high) break;
    }
}

void xb_count_grid_make(xb_count_grid *g, const xb_count_draws *d, const int64_t *start,
                        double y)
{
    const bool pairs = !isnan(y); /* needed for scores */
    place_nodes(g, d, y);
    memset(g->below, 0, sizeof *g->below * XB_COUNT_NODES * (size_t)g->groups);
    memset(g->self, 0, sizeof *g->self * (size_t)g->groups);
    for (int64_t m = 0; m < d->members; m++) {
        fill_tables(g, d->size[m]);
        for (int b = 0; b < g->groups; b++) {
            const int64_t first = (m - start[b] % d->members + d->members) % d->members;
            for (int64_t s = start[b] + first; s < start[b + 1]; s += d->members)
                add_draw(g, g->below + (int64_t)b * XB_COUNT_NODES,
                         pairs ? &g->self[b] : NULL, d->rate[s], d->size[m]);
        }
    }
    for (int b = 0; b < g->groups; b++)
        for (int j = 1; j < g->count; j++)
            g->below[(int64_t)b * XB_COUNT_NODES + j] +=
                g->below[(int64_t)b * XB_COUNT_NODES + j - 1];
}

double xb_count_grid_below(const xb_count_grid *g, int j, int without)
{
    double sum = 0;
    for (int b = 0; b < g->groups; b++)
        if (b != without) sum += g->below[(int64_t)b * XB_COUNT_NODES + j];
    return sum;
}

double xb_count_grid_quantile(const xb_count_grid *g, double want, int without)
{
    const double least = want * (1 - 1e-12); /* rounding alone is not a step */
    int low = -1, high = g->count - 1;       /* becomes the first node with that mass */
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        *(xb_count_grid_below(g, middle, without) < least ? &low : &high) = middle;
    }
    if (low < 0) return g->at[high];
    const double h = g->at[high] - g->at[low];
    const double from = xb_count_grid_below(g, low, without);
    const double rise = xb_count_grid_below(g, high, without) - from;
    const double part = rise > 0 ? ceil(h * (least - from) / rise) : h;
    return g->at[low] + fmin(fmax(part, 1), h);
}
