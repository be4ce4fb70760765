/* crps_heavy.c: the double sum of the CRPS for components with heavy tails; maths C45.
 *
 * E|X - X'| is the integral of 2 F (1 - F), here in a variable in which the nodes are
 * equidistant among the means and grow by exp(1/2) each beyond them, so that a hundred
 * nodes reach as far as the tail counts. The trapezoid rule is within 1e-8 of the
 * smallest scale (tests/test_student.c), as long as XB_GRID_MAX nodes reach over the
 * means. Where all noise is narrower than that, pairs are summed directly, the difference
 * of two t being taken as a t: within 1e-4. Where only some of it is, nodes are as dense
 * as they may be, and the narrow components are steps. */
#include <float.h>
#include <string.h>

#include "compare/crps.h"

enum {
    MOST = (XB_GRID_MAX - 1) / 2, /* nodes on each side, */
    FEW = 128                     /* where they only start the quantiles */
};

static const double GROWTH = 2; /* nodes per factor of e, beyond the means */

/* (C45) z = centre + step * (u + GROWTH * 2 exp(-edge / GROWTH) sinh(u / GROWTH)). */
typedef struct stretch {
    double centre, step, edge;
    int side; /* nodes on each side */
} stretch;

static double place(const stretch *g, double u)
{
    return g->centre + g->step * (u + GROWTH * (exp((u - g->edge) / GROWTH) -
                                                exp(-(u + g->edge) / GROWTH)));
}

static double slope(const stretch *g, double u)
{
    return g->step * (1 + exp((u - g->edge) / GROWTH) + exp(-(u + g->edge) / GROWTH));
}

/* The finest step that any component asks for. */
static double step_for(const xb_point *p)
{
    const double normal = 0.7, pole = 0.31; /* (C45) */
    double step = INFINITY;
    for (int64_t s = 0; s < p->draws; s++) {
        if (p->inverse[s] == 0) continue;
        const double nu = xb_heavy_of(p->heavy, p->members, s)->degrees;
        step = fmin(step, p->a[s] * fmin(normal, pole * sqrt(nu)));
    }
    return step;
}

static stretch stretch_over(const xb_point *p, int most)
{
    const double margin = 2 * GROWTH, tail_most = 0.5 * most;
    double low = INFINITY, high = -INFINITY, reach = 0;
    for (int64_t s = 0; s < p->draws; s++) {
        low = fmin(low, p->m[s]), high = fmax(high, p->m[s]);
        reach = fmax(reach, p->a[s] * xb_heavy_of(p->heavy, p->members, s)->reach);
    }
    const double half = 0.5 * (high - low), finest = step_for(p);
    const double tail =
        fmin(margin + GROWTH * log1p((half + reach) / (GROWTH * finest)), tail_most);
    const double step = fmax(finest, half / (most - 1 - tail));
    return (stretch){.centre = low + half,
                     .step = step,
                     .edge = half / step + margin,
                     .side = (int)(half / step + tail + 1)};
}

/* Adds to a row the mass of draw s that is on the outer side of each node. */
static void add_component(double *row, const xb_point *p, const stretch *g, int64_t s)
{
    const xb_student_table *heavy = xb_heavy_of(p->heavy, p->members, s);
    const double *at = p->grid.at, scale = p->inverse[s], m = p->m[s];
    for (int k = 0; k <= 2 * g->side; k++) {
        const double inwards = k < g->side ? at[k] - m : m - at[k];
        if (scale == 0) {
            row[k] += inwards > 0 ? 1 : inwards == 0 ? 0.5 : 0;
            continue;
        }
        const double above = xb_student_above(heavy, fabs(inwards) * scale).above;
        row[k] += inwards > 0 ? 1 - above : above;
    }
}

static void fill(xb_grid *grid, const xb_point *p, const stretch *g)
{
    for (int k = 0; k < grid->count; k++) grid->at[k] = place(g, k - g->side);
    memset(grid->all, 0, (size_t)grid->count * sizeof *grid->all);
    for (int b = 0; b < p->groups->count; b++) {
        double *row = grid->group + (int64_t)b * XB_GRID_MAX;
        memset(row, 0, (size_t)grid->count * sizeof *row);
        for (int64_t s = p->groups->start[b]; s < p->groups->start[b + 1]; s++)
            add_component(row, p, g, s);
        for (int k = 0; k < grid->count; k++) grid->all[k] += row[k];
    }
}

/* (C45) E|X - X'| of draws s and t, with their difference taken as a t. */
static double distance(const xb_point *p, int64_t s, int64_t t)
{
    const xb_student_table *one = xb_heavy_of(p->heavy, p->members, s);
    const xb_student_table *other = xb_heavy_of(p->heavy, p->members, t);
    const double mean = p->m[s] - p->m[t];
    const xb_student_table *low = one->degrees < other->degrees ? one : other;
    if (one == other && p->a[s] == p->a[t])
        return xb_student_absolute(one, mean, one->spread / one->size * p->a[s]);
    const double power = 0.5 * (one->power + other->power);
    const double sum =
        pow(one->size * p->a[s], power) + pow(other->size * p->a[t], power);
    return xb_student_absolute(low, mean, pow(sum, 1 / power) / low->size);
}

static void sum_pairs(double *version, const xb_point *p)
{
    const xb_jackknife *g = p->groups;
    memset(version, 0, (size_t)g->versions * sizeof *version);
    for (int b = 0; b < g->count; b++)
        for (int c = 0; c <= b; c++) {
            double sum = 0;
            for (int64_t s = g->start[b]; s < g->start[b + 1]; s++)
                for (int64_t t = g->start[c]; t < g->start[c + 1]; t++)
                    sum += (b == c ? 1 : 2) * distance(p, s, t);
            for (int v = 0; v < g->versions; v++)
                if (v != b + 1 && v != c + 1) version[v] += sum;
        }
}

static void integrate(double *version, const xb_point *p, const stretch *g)
{
    const xb_grid *grid = &p->grid;
    for (int v = 0; v < p->groups->versions; v++) {
        const double *out = v > 0 ? grid->group + (int64_t)(v - 1) * XB_GRID_MAX : NULL;
        const double kept = p->groups->kept[v];
        double sum = 0;
        for (int k = 0; k < grid->count; k++) {
            const double outer = out ? grid->all[k] - out[k] : grid->all[k];
            sum += slope(g, k - g->side) * outer * (kept - outer);
        }
        version[v] = 2 * sum;
    }
}

void xb_crps_pairs_heavy(double *version, xb_point *p)
{
    const double narrow = 100; /* the means' range in units of the noise */
    xb_grid *grid = &p->grid;
    stretch g = stretch_over(p, MOST);
    const bool direct = g.step > step_for(p) && narrow * p->a_max < g.step * MOST;
    if (direct) g = stretch_over(p, FEW);
    grid->count = 2 * g.side + 1;
    fill(grid, p, &g);
    if (direct)
        sum_pairs(version, p);
    else
        integrate(version, p, &g);
    for (int k = g.side; k < grid->count; k++) /* a cdf for the quantiles */
        grid->all[k] = (double)p->draws - grid->all[k];
}
