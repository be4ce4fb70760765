/* energy_facts.c: the facts of the energy study. The question is what makes the laws
 * agree: KL is fitted by a power of the width and by a power of n_eff, over all cells
 * where it is resolved (three standard errors above 0), and the remaining scatter is
 * given for both; the theory has no free parameter, so its ratio to the measured KL is
 * given. */
#include "study/energy_facts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Theory counts as correct within this factor; a KL counts as measured beyond this many
 * standard errors. */
static const double FACTOR = 3, RESOLVED = 3;
static const double TOLERANCE = 1e-4; /* a KL that is hardly noticeable */

typedef struct about {
    xb_ctx *ctx;
    xb_study *study;
    const xb_net_cells_setup *setup;
    int law;
    const char *name; /* name of the law */
} about;

static const double *values_at(const about *a, int64_t i)
{
    return xb_net_cells_values(&a->setup->cells, i);
}

static double kl_at(const about *a, int64_t i)
{
    return xb_cell_get_law(values_at(a, i), a->law, XB_CELL_KL);
}

static double error_at(const about *a, int64_t i)
{
    return xb_cell_get_law(values_at(a, i), a->law, XB_CELL_KL_ERROR);
}

static bool resolved(const about *a, int64_t i)
{
    return kl_at(a, i) > RESOLVED * error_at(a, i);
}

XB_PRINTF(5, 6)
static xb_status add_fact(const about *a, const char *key, double value, double error,
                          const char *format, ...)
{
    char name[64], text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(name, sizeof name, "%s_%s", a->name, key);
    return xb_study_add_fact(a->ctx, a->study, name, value, error, "%s: %s", a->name,
                             text);
}

/* ---- power laws */

typedef double place_fn(const about *a, int64_t i);

static double width_at(const about *a, int64_t i)
{
    return (double)a->setup->cells.cell[i].width;
}

static double n_eff_at(const about *a, int64_t i)
{
    return xb_cell_get(values_at(a, i), XB_CELL_N_EFF);
}

typedef struct power_law {
    int64_t n;
    double power;
    double scatter; /* factor: exp of the root mean square residual of log KL */
    double scatter_error;
} power_law;

/* Fits log KL by least squares against the logarithm of what `place` returns. */
static power_law fit_power(const about *a, place_fn *place)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (int64_t i = 0; i < a->setup->cells.count; i++) {
        if (!resolved(a, i)) continue;
        double u = log(place(a, i)), v = log(kl_at(a, i));
        n++, x += u, y += v, xx += u * u, xy += u * v, yy += v * v;
    }
    power_law p = {(int64_t)n, NAN, NAN, NAN};
    double spread = xx - x * x / n, both = xy - x * y / n;
    if (n < 4 || !(spread > 0))
        return p; /* two points determine two parameters and leave no scatter to judge */
    p.power = both / spread;
    double residual = sqrt(fmax(0, yy - y * y / n - p.power * both) / (n - 2));
    p.scatter = exp(residual);
    p.scatter_error = p.scatter * residual / sqrt(2 * (n - 2)); /* for normal residuals */
    return p;
}

static xb_status power_facts(const about *a)
{
    power_law width = fit_power(a, width_at), n_eff = fit_power(a, n_eff_at);
    if (isnan(width.power) || isnan(n_eff.power)) return XB_OK;
    XB_TRY(
        add_fact(a, "scatter_width", width.scatter, width.scatter_error,
                 "factor by which KL scatters around width^p with the fitted p = %.2f, "
                 "%lld nets of all depths",
                 width.power, (long long)width.n));
    return add_fact(a, "scatter_n_eff", n_eff.scatter, n_eff.scatter_error,
                    "factor by which KL scatters around n_eff^p with the fitted p = %.2f "
                    "(theory: -2); n_eff is the number of weights that share the output",
                    n_eff.power);
}

/* ---- theory */

static xb_status theory_fact(const about *a)
{
    int64_t all = 0, good = 0;
    double low = INFINITY, high = 0;
    for (int64_t i = 0; i < a->setup->cells.count; i++) {
        if (!resolved(a, i)) continue;
        double ratio =
            kl_at(a, i) / xb_cell_get_law(values_at(a, i), a->law, XB_CELL_THEORY);
        low = fmin(low, ratio), high = fmax(high, ratio);
        good += ratio > 1 / FACTOR && ratio < FACTOR;
        all++;
    }
    if (all == 0) return XB_OK;
    return add_fact(
        a, "theory_share", (double)good / (double)all, NAN,
        "share of %lld resolved nets whose KL is within a factor %g of the leading "
        "order in n_eff (KL over theory: %.2g to %.2g)",
        (long long)all, FACTOR, low, high);
}

/* ---- is it the width? */

/* The next wider net of the same depth and seed; -1: none. Cells are in the order of
 * width. */
static int64_t wider(const about *a, int64_t i)
{
    const xb_cell *cell = a->setup->cells.cell;
    int64_t next = i + 1;
    if (next >= a->setup->cells.count || cell[next].depth != cell[i].depth ||
        cell[next].seed != cell[i].seed || cell[next].width <= cell[i].width)
        return -1;
    return next;
}

/* Whether KL fails to fall significantly. */
static bool stalls(const about *a, int64_t i, int64_t next)
{
    double error = hypot(error_at(a, i), error_at(a, next));
    return kl_at(a, next) > kl_at(a, i) - 2 * error;
}

static xb_status width_fact(const about *a)
{
    int64_t steps = 0, stalled = 0;
    for (int64_t i = 0; i < a->setup->cells.count; i++) {
        int64_t next = wider(a, i);
        if (next < 0 || a->setup->cells.cell[i].depth < 2 || !resolved(a, i)) continue;
        steps++;
        stalled += stalls(a, i, next);
    }
    if (steps == 0) return XB_OK;
    return add_fact(
        a, "width_in_vain", (double)stalled / (double)steps, NAN,
        "steps to the next width that did not lower KL significantly, as a share of "
        "%lld, "
        "in nets of two or more layers (above 0: width alone does not suffice)",
        (long long)steps);
}

/* The net with the largest KL among the widest. */
static xb_status widest_fact(const about *a)
{
    const xb_net_cells *cells = &a->setup->cells;
    int64_t widest = 0, worst = -1;
    for (int64_t i = 0; i < cells->count; i++)
        if (cells->cell[i].width > widest) widest = cells->cell[i].width;
    for (int64_t i = 0; i < cells->count; i++)
        if (cells->cell[i].width == widest &&
            (worst < 0 || kl_at(a, i) > kl_at(a, worst)))
            worst = i;
    const xb_cell *c = &cells->cell[worst];
    return add_fact(
        a, "kl_widest", kl_at(a, worst), error_at(a, worst),
        "largest KL among nets of width %lld: depth %lld, seed %llu, with n_eff %.1f",
        (long long)widest, (long long)c->depth, (unsigned long long)c->seed,
        n_eff_at(a, worst));
}

static xb_status needed_fact(const about *a)
{
    xb_moments m = xb_law_moments(a->setup->cells.plan.law[a->law]);
    double b = m.skewness * m.skewness / 12,
           c = m.excess_kurtosis * m.excess_kurtosis / 48;
    double n = (b + sqrt(b * b + 4 * TOLERANCE * c)) / (2 * TOLERANCE); /* (G6) */
    return add_fact(
        a, "n_eff_needed", n, NAN,
        "n_eff above which the leading order of the theory gives a KL below %g",
        TOLERANCE);
}

/* ---- the check */

static xb_status check_fact(const about *a)
{
    double square = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < a->setup->cells.count; i++) {
        const double *v = values_at(a, i);
        double knn = xb_cell_get_law(v, a->law, XB_CELL_KNN);
        double error =
            hypot(xb_cell_get_law(v, a->law, XB_CELL_KNN_ERROR), error_at(a, i));
        if (!(error > 0)) continue;
        double off = (knn - kl_at(a, i)) / error;
        square += off * off, n++;
    }
    if (n == 0) return XB_OK;
    double rms = sqrt(square / (double)n);
    return add_fact(a, "check", rms, rms / sqrt(2 * (double)n),
                    "root mean square of (KL by nearest neighbours - KL by densities) in "
                    "standard errors, %lld nets: 1 if both are correct",
                    (long long)n);
}

/* ---- the nets */

/* Mean of a number over nets with the standard error of that mean. */
static xb_status mean_fact(xb_ctx *ctx, xb_study *study, const xb_net_cells *cells,
                           xb_cell_number number, const char *name, const char *text)
{
    double n = 0, mean = 0, square = 0; /* Welford */
    for (int64_t i = 0; i < cells->count; i++) {
        double value = xb_cell_get(xb_net_cells_values(cells, i), number),
               step = value - mean;
        n++;
        mean += step / n;
        square += step * (value - mean);
    }
    if (isnan(mean)) return XB_OK; /* it was not measured */
    return xb_study_add_fact(ctx, study, name, mean,
                             n > 1 ? sqrt(square / (n - 1) / n) : NAN, "%s", text);
}

static xb_status net_facts(xb_ctx *ctx, xb_study *study, const xb_net_cells *cells)
{
    double mean = 0, low = INFINITY, high = 0;
    for (int64_t i = 0; i < cells->count; i++) {
        const double *v = xb_net_cells_values(cells, i);
        mean = fmax(mean, fabs(xb_cell_get(v, XB_CELL_MEAN)));
        low = fmin(low, xb_cell_get(v, XB_CELL_SD));
        high = fmax(high, xb_cell_get(v, XB_CELL_SD));
    }
    XB_TRY(xb_study_add_fact(ctx, study, "trained_mean", mean, NAN,
                             "largest |mean| of a trained net's output, %lld nets; "
                             "target 0",
                             (long long)cells->count));
    XB_TRY(xb_study_add_fact(ctx, study, "trained_sd", low, NAN,
                             "smallest standard deviation of a trained net's output "
                             "(largest %.3f); target 1",
                             high));
    XB_TRY(mean_fact(ctx, study, cells, XB_CELL_FLOOR, "floor",
                     "KL between two Gaussian runs, mean over nets: smaller values are "
                     "resolved only by common random numbers"));
    return mean_fact(ctx, study, cells, XB_CELL_KNN_FLOOR, "knn_bias",
                     "KL between two Gaussian runs by nearest neighbours, mean over "
                     "nets: the bias of that estimate");
}

static xb_status law_facts(const about *a)
{
    XB_TRY(power_facts(a));
    XB_TRY(width_fact(a));
    XB_TRY(widest_fact(a));
    XB_TRY(theory_fact(a));
    XB_TRY(needed_fact(a));
    return check_fact(a);
}

xb_status xb_energy_facts(xb_ctx *ctx, xb_study *study, const xb_net_cells_setup *setup)
{
    XB_TRY(xb_net_cells_law_facts(ctx, study, &setup->cells.plan));
    XB_TRY(net_facts(ctx, study, &setup->cells));
    for (int l = 1; l < setup->cells.plan.laws; l++)
        XB_TRY(law_facts(&(about){ctx, study, setup, l, xb_net_cells_law_name(l)}));
    return XB_OK;
}
