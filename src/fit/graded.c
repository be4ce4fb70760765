/* graded.c: a sample's distances from its offset, replaced by points in cells that
 * shrink towards both ends; maths F14.
 *
 * The log densities of the device families have a peak at distance 0, as narrow as
 * 1e-3, and a logarithm's end just beyond the largest distance: in cells whose width is a
 * fifth of the distance to the nearer of the two, they are polynomials almost to
 * rounding, whatever the parameters. In each cell the values become eight Gauss-Legendre
 * nodes with weights that keep the sums of the powers 0 to 7; cells of eight values or
 * fewer keep their values. Measured: 480 points of 20,000 values, 630 of two million
 * (ecram 700 and 970). */
#include "fit/graded.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "series/trace_kernels.h"

enum { NODES = XB_POWERS, CELLS_MAX = 320, AS_THEY_ARE = 1024 };

/* The ratio of successive cells' distances from an end; the second is for the inner end
 * if the density depends on squares. */
static const double GROWTH = 1.2, SQUARE_GROWTH = 1.1;
static const double INNERMOST = 1e-4;  /* the first cell: a tenth of the thinnest peak */
static const double OUTERMOST = 1e-12; /* the last cell */

static const double NODE[NODES] = {-0.96028985649753623168, -0.79666647741362673959,
                                   -0.52553240991632898582, -0.18343464249564980494,
                                   0.18343464249564980494,  0.52553240991632898582,
                                   0.79666647741362673959,  0.96028985649753623168};

/* What is shared by all cells. */
typedef struct grading {
    const double *sorted;
    int64_t n;
    double offset, largest;
    double growth;
    double lagrange[NODES][NODES]; /* coefficients of the node's polynomial */
    const xb_trace_kernels *kernels;
    xb_points *fine, *rough;
} grading;

/* Sets each polynomial to 1 at its own node and 0 at the others. */
static void set_lagrange(double coefficient[NODES][NODES])
{
    for (int k = 0; k < NODES; k++) {
        double *c = coefficient[k];
        int degree = 0;
        c[0] = 1;
        for (int m = 0; m < NODES; m++) {
            if (m == k) continue;
            double over = 1 / (NODE[k] - NODE[m]);
            c[degree + 1] = 0;
            for (int j = ++degree; j >= 0; j--)
                c[j] = ((j > 0 ? c[j - 1] : 0) - NODE[m] * c[j]) * over;
        }
    }
}

/* The first of the values low .. high - 1 that is not below x. */
static int64_t first_from(const double *sorted, int64_t low, int64_t high, double x)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sorted[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A cell's values: indices from .. to - 1 above the offset, or below it. */
typedef struct stretch {
    int64_t from, to;
} stretch;

static double distance_of(const grading *g, int64_t i)
{
    return fabs(g->sorted[i] - g->offset) / g->largest;
}

static void add_themselves(const grading *g, const stretch *s)
{
    for (int64_t i = s->from; i < s->to; i++) {
        g->fine->x[g->fine->n] = distance_of(g, i);
        g->fine->count[g->fine->n++] = 1;
    }
}

/* (F14) */
static void add_cell(const grading *g, double from, double to, const stretch side[2])
{
    double sums[XB_POWERS] = {0}, middle = 0.5 * (from + to), half = 0.5 * (to - from);
    for (int s = 0; s < 2; s++) {
        double sign = s ? -1 : 1;
        if (side[s].to > side[s].from)
            g->kernels->powers(sums, g->sorted + side[s].from, side[s].to - side[s].from,
                               g->offset + sign * middle * g->largest,
                               sign / (half * g->largest));
    }
    double count = sums[0];
    if (count == 0) return;
    double mean = sums[1] / count, square = sums[2] / count;
    double third = sums[3] / count - 3 * mean * square + 2 * mean * mean * mean;
    xb_points_add(g->rough, count, middle + half * mean,
                  half * half * (square - mean * mean), half * half * half * third, from,
                  to);
    if (count <= NODES) {
        add_themselves(g, &side[0]);
        add_themselves(g, &side[1]);
        return;
    }
    for (int k = 0; k < NODES; k++) {
        double weight = 0;
        for (int j = 0; j < NODES; j++) weight += g->lagrange[k][j] * sums[j];
        g->fine->x[g->fine->n] = middle + half * NODE[k];
        g->fine->count[g->fine->n++] = weight;
    }
}

/* The end of the cell that begins at `from`. */
static double cell_end(double from, double growth)
{
    if (from < INNERMOST) return INNERMOST;
    double grown = from * growth, rest = (1 - from) / GROWTH;
    double to = fmin(grown, 1 - rest);
    return rest > OUTERMOST ? to : 1;
}

static void add_cells(const grading *g)
{
    int64_t centre = first_from(g->sorted, 0, g->n, g->offset);
    int64_t above = centre, below = centre; /* the values that are left: those from
                                               `above` on, and those up to `below` */
    double from = 0;
    while (above < g->n || below > 0) {
        double to = below + g->n - above > NODES ? cell_end(from, g->growth) : 1;
        double reach = to * g->largest;
        bool last = to == 1;
        int64_t high =
            last ? g->n : first_from(g->sorted, above, g->n, g->offset + reach);
        int64_t low = last ? 0 : first_from(g->sorted, 0, below, g->offset - reach);
        const stretch side[2] = {{above, high}, {low, below}};
        add_cell(g, from, to, side);
        above = high, below = low, from = to;
    }
}

static void add_whole(const grading *g)
{
    const stretch all = {0, g->n};
    add_themselves(g, &all);
    for (int64_t i = 0; i < g->n; i++)
        g->rough->x[i] = g->fine->x[i], g->rough->count[i] = 1;
    g->rough->n = g->n;
}

static xb_status make_room(xb_ctx *ctx, xb_points *points, int64_t room, int64_t n)
{
    *points = (xb_points){.x = xb_new(ctx, 2 * room, sizeof *points->x)};
    if (!points->x) return XB_E_MEMORY;
    points->count = points->x + room;
    points->total = (double)n;
    return XB_OK;
}

xb_status xb_graded_make(xb_ctx *ctx, xb_points *fine, xb_points *rough,
                         const double *sorted, int64_t n, double offset, double largest,
                         bool square)
{
    bool whole = n <= AS_THEY_ARE;
    XB_TRY(make_room(ctx, fine, whole ? n : (int64_t)CELLS_MAX * NODES, n));
    xb_status status = make_room(ctx, rough, whole ? n : 2 * CELLS_MAX, n);
    if (status != XB_OK) {
        xb_points_free(fine);
        return status;
    }
    double growth = square ? SQUARE_GROWTH : GROWTH;
    grading g = {sorted, n,    offset, largest, growth, {{0}}, xb_trace_kernels_best(),
                 fine,   rough};
    set_lagrange(g.lagrange);
    if (whole)
        add_whole(&g);
    else
        add_cells(&g);
    return XB_OK;
}
