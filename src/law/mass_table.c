/* mass_table.c: integrals of a density of which only values are known; maths L40, L41.
 *
 * A cell is halved until Gauss-Legendre with 16 points on it agrees with that on its
 * halves to 1e-13 of its own mass; after DEEP halvings 1e-18 of all mass is enough, so
 * that the subdivision ends at a singular edge. If the support is infinite, cells double
 * outwards until no mass is left; they start at the scale of the density around the
 * outermost point, found from its values at powers of two.
 *
 * Measured against closed forms (tests/test_law_functions.c): tails within 1e-13 relative
 * of smooth densities, within 4e-13 absolute where the density has a square root at an
 * edge. About 2000 evaluations of a smooth density. */
#include "law/mass_table.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/gauss.h"
#include "base/memory.h"

enum { CELLS_MAX = 4096, DEEP = 12, DEPTH_MAX = 60, POINTS = XB_MASS_POINTS };
enum { SCALE_FIRST = -300, SCALE_LAST = 300, DOUBLINGS_MAX = 1000 };
static const double RELATIVE = 1e-13, ABSOLUTE = 1e-18, NOTHING = 1e-300;
static const double FAINT = 1e-290; /* a density below it has lost its digits */

typedef struct maker {
    xb_ctx *ctx;
    xb_mass_table *table;
    const char *name;
    double bad; /* a point where the density is not valid; NAN: none */
} maker;

static double density_at(const xb_mass_table *t, double x)
{
    return t->density.pdf(t->density.arg, x);
}

/* (L40) */
static double integral(const xb_mass_table *t, double from, double to)
{
    double half = 0.5 * (to - from), sum = 0;
    for (int i = 0; i < POINTS; i++)
        sum += t->weight[i] * density_at(t, from + half * (1 + t->node[i]));
    return half * sum;
}

/* The same, noting where the values are impossible. */
static double checked(maker *m, double from, double to)
{
    const xb_mass_table *t = m->table;
    double half = 0.5 * (to - from), sum = 0;
    for (int i = 0; i < POINTS; i++) {
        double x = from + half * (1 + t->node[i]), value = density_at(t, x);
        if (!(value >= 0 && value < INFINITY) && isnan(m->bad)) m->bad = x;
        sum += t->weight[i] * value;
    }
    return half * sum;
}

static xb_status add_cell(maker *m, double from, double to, double mass)
{
    xb_mass_table *t = m->table;
    if (t->cells == CELLS_MAX)
        return xb_fail(m->ctx, XB_E_INPUT,
                       "law '%s': the density is too rough near %g: name the points where"
                       " it has corners or jumps",
                       m->name, from);
    t->edge[t->cells] = from;
    t->edge[t->cells + 1] = to;
    t->mass[t->cells++] = mass;
    return XB_OK;
}

static xb_status split(maker *m, double from, double to, double whole, int depth)
{
    double middle = 0.5 * (from + to);
    double left = checked(m, from, middle), right = checked(m, middle, to);
    double both = left + right, off = fabs(whole - both);
    if (!isnan(m->bad))
        return xb_fail(m->ctx, XB_E_INPUT,
                       "law '%s': the density at %.9g is %g, expected 0 or more and"
                       " finite",
                       m->name, m->bad, density_at(m->table, m->bad));
    bool fine = off <= RELATIVE * both || both < NOTHING || both < FAINT * (to - from) ||
                (depth >= DEEP && off <= ABSOLUTE) || depth == DEPTH_MAX ||
                !(middle > from && middle < to);
    if (fine) return add_cell(m, from, to, both);
    XB_TRY(split(m, from, middle, left, depth + 1));
    return split(m, middle, to, right, depth + 1);
}

static xb_status add_stretch(maker *m, double from, double to)
{
    return split(m, from, to, checked(m, from, to), 0);
}

/* The power of two h at which h q(x +- h) is largest, which is the scale of the mass. */
static double scale_beyond(const xb_mass_table *t, double x, double sign)
{
    double best = 0, scale = 1;
    for (int k = SCALE_FIRST; k <= SCALE_LAST; k++) {
        double h = ldexp(1, k), mass = h * density_at(t, x + sign * h);
        if (mass > best) best = mass, scale = h;
    }
    return scale;
}

/* How far out the cells beyond x go: the ends of doubling stretches. */
static int stretches_beyond(const xb_mass_table *t, double x, double sign,
                            double end[DOUBLINGS_MAX])
{
    double h = scale_beyond(t, x, sign) / 8, last = INFINITY;
    int n = 0;
    for (; n < DOUBLINGS_MAX && isfinite(x + sign * h); h *= 2) {
        end[n++] = x + sign * h;
        double mass = fabs(integral(t, x + sign * h, x + 2 * sign * h));
        bool gone = mass < NOTHING && last < NOTHING;
        last = mass;
        if (gone && n > 8) break;
    }
    return n;
}

static xb_status add_outside(maker *m, double x, double sign)
{
    double *end = xb_new(m->ctx, DOUBLINGS_MAX, sizeof *end);
    if (!end) return XB_E_MEMORY;
    int n = stretches_beyond(m->table, x, sign, end);
    xb_status status = XB_OK;
    for (int i = 0; i < n && status == XB_OK; i++) {
        double inner = i > 0 ? end[i - 1] : x;
        if (sign > 0) {
            status = add_stretch(m, inner, end[i]);
        } else { /* ascending: the outermost first */
            int k = n - 1 - i;
            status = add_stretch(m, end[k], k > 0 ? end[k - 1] : x);
        }
    }
    xb_free(end);
    return status;
}

/* (L41) Sums from the nearer end. */
static void sum_up(xb_mass_table *t)
{
    t->below[0] = t->above[t->cells] = 0;
    for (int64_t j = 0; j < t->cells; j++) t->below[j + 1] = t->below[j] + t->mass[j];
    for (int64_t j = t->cells; j > 0; j--) t->above[j - 1] = t->above[j] + t->mass[j - 1];
}

static xb_status take_room(xb_ctx *ctx, xb_mass_table *t)
{
    const int64_t n = CELLS_MAX + 1;
    t->edge = xb_new(ctx, 4 * n, sizeof *t->edge);
    if (!t->edge) return XB_E_MEMORY;
    t->mass = t->edge + n, t->below = t->mass + n, t->above = t->below + n;
    return xb_gauss_legendre(ctx, t->node, t->weight, POINTS);
}

static xb_status fill(maker *m, double lower, double upper, const double *points,
                      int64_t count)
{
    const double origin = 0;
    if (count == 0 && isinf(lower) && isinf(upper)) points = &origin, count = 1;
    double first = isfinite(lower) ? lower : count > 0 ? points[0] : upper;
    if (isinf(lower)) XB_TRY(add_outside(m, first, -1));
    double from = first;
    for (int64_t i = 0; i < count; i++) {
        if (points[i] > from) XB_TRY(add_stretch(m, from, points[i]));
        from = points[i];
    }
    if (isinf(upper)) return add_outside(m, from, 1);
    return upper > from ? add_stretch(m, from, upper) : XB_OK;
}

xb_status xb_mass_table_make(xb_ctx *ctx, xb_mass_table *out, const char *name,
                             xb_density_at density, double lower, double upper,
                             const double *points, int64_t count)
{
    xb_mass_table table = {.density = density};
    maker m = {ctx, &table, name, NAN};
    xb_status status = take_room(ctx, &table);
    if (status == XB_OK) status = fill(&m, lower, upper, points, count);
    if (status != XB_OK) {
        xb_mass_table_free(&table);
        return status;
    }
    sum_up(&table);
    *out = table;
    return XB_OK;
}

void xb_mass_table_free(xb_mass_table *table)
{
    xb_free(table->edge);
    table->edge = NULL;
}

/* The last cell that starts at or before x, within the table. */
static int64_t cell_of(const xb_mass_table *t, double x)
{
    int64_t low = 0, high = t->cells;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (t->edge[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double xb_mass_table_tail(const xb_mass_table *t, double x, bool upper)
{
    if (x <= t->edge[0]) return upper ? 1 : 0;
    if (x >= t->edge[t->cells]) return upper ? 0 : 1;
    int64_t j = cell_of(t, x);
    if (upper) return fmin(1, t->above[j + 1] + integral(t, x, t->edge[j + 1]));
    return fmin(1, t->below[j] + integral(t, t->edge[j], x));
}

void xb_mass_table_bracket(const xb_mass_table *t, double v, bool upper, double *from,
                           double *to)
{
    int64_t low = 0, high = t->cells;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        bool before = upper ? t->above[middle] > v : t->below[middle] < v;
        if (before)
            low = middle;
        else
            high = middle;
    }
    *from = t->edge[low];
    *to = t->edge[low + 1];
}

double xb_mass_table_moment(const xb_mass_table *t, double centre, int k,
                            const bool open[2], double *outer)
{
    double sum = 0, all = 0, ends = 0;
    for (int64_t j = 0; j < t->cells; j++) {
        double half = 0.5 * (t->edge[j + 1] - t->edge[j]), part = 0, size = 0;
        for (int i = 0; i < POINTS; i++) {
            double x = t->edge[j] + half * (1 + t->node[i]);
            double term = half * t->weight[i] * density_at(t, x) * pow(x - centre, k);
            part += term, size += fabs(term);
        }
        sum += part, all += size;
        if ((j == 0 && open[0]) || (j + 1 == t->cells && open[1])) ends += size;
    }
    *outer = all > 0 ? ends / all : 0;
    return sum;
}
