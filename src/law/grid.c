/* grid.c: integrals of a law on its own panels; maths L10, Q8.
 *
 * Gauss-Legendre panel by panel, the end panels of a bounded law mapped by
 * x = edge -+ v^2: densities here vanish at the edge, and q log q then has a
 * t log t end point that plain Gauss-Legendre resolves only as n^-4. Every term
 * of a moment has one sign per half, so nothing cancels at large B. */
#include "law/grid.h"

#include <math.h>
#include <stdlib.h>

#include "base/gauss.h"
#include "base/memory.h"

typedef struct grid_points {
    int64_t n;
    double *x;
    double *mass; /* weight times density */
} grid_points;

typedef struct panel {
    double from, to;
    int mapped; /* -1: at the lower edge, 1: at the upper edge, 0: inside */
} panel;

/* One panel's nodes and masses from Gauss-Legendre on [-1, 1]. */
static void panel_fill(double *x, double *mass, const xb_law *law, panel p,
                       const double *node, const double *weight, int64_t n)
{
    double width = p.to - p.from;
    for (int64_t i = 0; i < n; i++) {
        double r = 0.5 * (1 + node[i]); /* in (0, 1) */
        double w = 0.5 * weight[i] * width;
        if (p.mapped == 0) {
            x[i] = p.from + r * width;
        } else if (p.mapped < 0) {
            x[i] = p.from + r * r * width;
            w *= 2 * r;
        } else {
            x[i] = p.to - (1 - r) * (1 - r) * width;
            w *= 2 * (1 - r);
        }
        mass[i] = w * law->family->pdf(law, x[i]);
    }
}

/* At least `points` nodes per panel. */
static xb_status grid_make(xb_ctx *ctx, grid_points *out, const xb_law *law,
                           int64_t points)
{
    int64_t edges = law->family->panels(law, NULL, 0);
    double *edge = xb_new(ctx, edges + 2 * points, sizeof *edge);
    double *x = xb_new(ctx, 2 * (edges - 1) * points, sizeof *x);
    xb_status status = edge && x ? XB_OK : XB_E_MEMORY;
    double *node = edge ? edge + edges : NULL;
    if (status == XB_OK) status = xb_gauss_legendre(ctx, node, node + points, points);
    if (status != XB_OK) {
        free(edge);
        free(x);
        return status;
    }
    law->family->panels(law, edge, edges);
    grid_points grid = {(edges - 1) * points, x, x + (edges - 1) * points};
    for (int64_t j = 0; j + 1 < edges; j++) {
        int mapped = j == 0 && isfinite(law->lower)           ? -1
                     : j + 2 == edges && isfinite(law->upper) ? 1
                                                              : 0;
        panel p = {edge[j], edge[j + 1], mapped};
        panel_fill(x + j * points, grid.mass + j * points, law, p, node, node + points,
                   points);
    }
    free(edge);
    *out = grid;
    return XB_OK;
}

static void grid_free(grid_points *grid)
{
    free(grid->x);
    *grid = (grid_points){0, NULL, NULL};
}

static double central(const grid_points *grid, double mean, int k)
{
    double sum = 0;
    for (int64_t i = 0; i < grid->n; i++) {
        double d = grid->x[i] - mean, power = grid->mass[i];
        for (int j = 0; j < k; j++) power *= d;
        sum += power;
    }
    return sum;
}

static double entropy_by(const grid_points *grid, const xb_law *law)
{
    if (law->family->entropy) return law->family->entropy(law);
    double sum = 0;
    for (int64_t i = 0; i < grid->n; i++)
        if (grid->mass[i] > 0)
            sum -= grid->mass[i] * law->family->log_pdf(law, grid->x[i]);
    return sum;
}

/* Takes them from the family if it states them; others stay unchanged. */
static void stated_moments(xb_law *law)
{
    const xb_family *f = law->family;
    if (f->moments) {
        f->moments(law, &law->moments);
    } else if (f->raw_moment && law->symmetric) {
        double variance = f->raw_moment(law, 2);
        law->moments.variance = variance;
        law->moments.excess_kurtosis = f->raw_moment(law, 4) / (variance * variance) - 3;
    }
    law->sd = sqrt(law->moments.variance);
}

static xb_status grid_integrals(xb_ctx *ctx, xb_law *law)
{
    enum { FINE = 64, COARSE = 16, MANY = 80 };
    int64_t panels = law->family->panels(law, NULL, 0);
    grid_points grid;
    XB_TRY(grid_make(ctx, &grid, law, panels > MANY ? COARSE : FINE));
    double mass = central(&grid, 0, 0);
    double mean = law->symmetric ? 0 : central(&grid, 0, 1);
    double variance = central(&grid, mean, 2), sd = sqrt(variance);
    law->moments.mean = mean;
    law->moments.variance = variance;
    law->moments.skewness =
        law->symmetric ? 0 : central(&grid, mean, 3) / (variance * sd);
    law->moments.excess_kurtosis = central(&grid, mean, 4) / (variance * variance) - 3;
    law->entropy = entropy_by(&grid, law);
    grid_free(&grid);
    if (!(fabs(mass - 1) < 1e-9) || !(variance > 0) || !isfinite(law->entropy))
        return xb_fail(ctx, XB_E_NUMERIC,
                       "the density of the law %s integrates to %.9g, expected 1",
                       law->family->name, mass);
    return XB_OK;
}

xb_status xb_law_integrals(xb_ctx *ctx, xb_law *law)
{
    const xb_family *f = law->family;
    bool stated = f->entropy && (f->moments || (law->symmetric && f->raw_moment));
    if (stated)
        law->entropy = f->entropy(law);
    else
        XB_TRY(grid_integrals(ctx, law));
    stated_moments(law);
    return XB_OK;
}

double xb_law_raw_moment(const xb_law *law, int64_t k)
{
    enum { LARGEST = 128, BASE_POINTS = 64 };
    if (k < 0 || k > LARGEST) return NAN;
    if (law->family->raw_moment) return law->family->raw_moment(law, (int)k);
    if (law->symmetric && k % 2) return 0;
    grid_points grid;
    if (grid_make(NULL, &grid, law, BASE_POINTS + (int)k) != XB_OK) return NAN;
    double moment = central(&grid, 0, (int)k);
    grid_free(&grid);
    return moment;
}
