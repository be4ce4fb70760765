/* energy.c: the study "energy", the paper's Fig. 4 (and 8, with --device-law ecram): nets
 * 1 -> width^depth -> 1 trained with Gaussian weights to a standard normal output at x =
 * 0, then evaluated under other laws with the same means and standard deviations.
 *
 * Tables (law 1: the device, 2: bimodal, 3..: the user's):
 *
 * - kl: law, seed, depth, width; the KL of its output from the Gaussian's, with its
 * error, theory (G6), n_eff (G4), floor, nearest neighbours
 * - lines: law, depth, width; the same over seeds, to draw
 * - nets: seed, depth, width; moments of the output under Gaussian weights
 * - densities: depth, width, y, target, one column per law (first seed, chosen nets) */
#include <math.h>

#include "study/energy_facts.h"
#include "study/energy_setup.h"

static const int64_t widths[] = {1, 2, 4, 8, 16, 32, 64, 128};
static const int64_t quick_widths[] = {1, 4, 16};
static const int64_t depths[] = {1, 2, 3, 4};

/* The columns are steps, then the numbers of draws: of hidden layers, of outputs, of
 * weights. */
static const xb_net_cells_standard forms[] = {
    [XB_FORM_NORMAL] = {widths, depths, XB_COUNT(widths), 3, 1, 10000, 1 << 16, 1 << 14,
                        2000},
    [XB_FORM_QUICK] = {quick_widths, depths, XB_COUNT(quick_widths), 3, 1, 10000, 1 << 14,
                       1 << 12, 500},
    [XB_FORM_FULL] = {widths, depths, XB_COUNT(widths), 4, 3, 10000, 1 << 19, 1 << 16,
                      8000},
};

/* ---- tables */

static xb_status nets_table(xb_ctx *ctx, xb_study *study, const xb_net_cells *cells)
{
    static const char *const names[] = {
        "seed",     "depth",           "width", "mean",     "sd",
        "skewness", "excess_kurtosis", "n_eff", "top_share"};
    static const xb_cell_number numbers[] = {XB_CELL_MEAN,     XB_CELL_SD,
                                             XB_CELL_SKEWNESS, XB_CELL_KURTOSIS,
                                             XB_CELL_N_EFF,    XB_CELL_TOP_SHARE};
    xb_table *t = NULL;
    XB_TRY(
        xb_study_new_table(ctx, study, &t, "nets", cells->count, XB_COUNT(names), names));
    for (int64_t i = 0; i < cells->count; i++) {
        const xb_cell *cell = &cells->cell[i];
        xb_table_set(t, i, 0, (double)cell->seed);
        xb_table_set(t, i, 1, (double)cell->depth);
        xb_table_set(t, i, 2, (double)cell->width);
        for (int c = 0; c < XB_COUNT(numbers); c++)
            xb_table_set(t, i, 3 + c,
                         xb_cell_get(xb_net_cells_values(cells, i), numbers[c]));
    }
    return XB_OK;
}

/* Over the seeds of one depth and width: the geometric mean, and the range that is drawn,
 * which is lowest to highest, or twice the error if there is one seed. */
typedef struct line_point {
    double kl, low, high, theory, floor, n_eff;
} line_point;

static line_point point_of(const xb_net_cells_setup *s, int law, int64_t first)
{
    const xb_net_cells *cells = &s->cells;
    int64_t stride = (int64_t)s->widths * s->depths;
    line_point p = {.low = INFINITY};
    double log_sum = 0, logs = 0, seeds = s->seeds;
    for (int k = 0; k < s->seeds; k++) {
        const double *v = xb_net_cells_values(cells, first + k * stride);
        double kl = xb_cell_get_law(v, law, XB_CELL_KL);
        double error = xb_cell_get_law(v, law, XB_CELL_KL_ERROR);
        if (kl > 0) log_sum += log(kl), logs++;
        p.low = fmin(p.low, s->seeds > 1 ? kl : kl - 2 * error);
        p.high = fmax(p.high, s->seeds > 1 ? kl : kl + 2 * error);
        p.theory += log(xb_cell_get_law(v, law, XB_CELL_THEORY)) / seeds;
        p.floor += xb_cell_get(v, XB_CELL_FLOOR) / seeds;
        p.n_eff += log(xb_cell_get(v, XB_CELL_N_EFF)) / seeds;
    }
    p.kl = logs > 0 ? exp(log_sum / logs) : NAN;
    p.theory = exp(p.theory);
    p.n_eff = exp(p.n_eff);
    return p;
}

static xb_status lines_table(xb_ctx *ctx, xb_study *study, const xb_net_cells_setup *s)
{
    static const char *const names[] = {"law",  "depth",  "width", "kl",   "low",
                                        "high", "theory", "floor", "n_eff"};
    int64_t each = (int64_t)s->widths * s->depths;
    int laws = s->cells.plan.laws - 1;
    xb_table *t = NULL;
    XB_TRY(
        xb_study_new_table(ctx, study, &t, "lines", each * laws, XB_COUNT(names), names));
    for (int l = 1; l <= laws; l++)
        for (int64_t i = 0; i < each; i++) {
            line_point p = point_of(s, l, i);
            const double row[] = {l,
                                  (double)s->cells.cell[i].depth,
                                  (double)s->cells.cell[i].width,
                                  p.kl,
                                  p.low,
                                  p.high,
                                  p.theory,
                                  p.floor,
                                  p.n_eff};
            for (int c = 0; c < XB_COUNT(row); c++)
                xb_table_set(t, (l - 1) * each + i, c, row[c]);
        }
    return XB_OK;
}

/* Narrowest, middle and widest net of the first and of the last depth. */
enum { SHOWN_WIDTHS = 3, SHOWN_DEPTHS = 2 };

static int64_t shown_cell(const xb_net_cells_setup *s, int d, int w)
{
    int depth = d == 0 ? 0 : s->depths - 1;
    int width = w == 0 ? 0 : w == 1 ? s->widths / 3 : s->widths - 1;
    return (int64_t)depth * s->widths + width;
}

static xb_status densities_table(xb_ctx *ctx, xb_study *study,
                                 const xb_net_cells_setup *s)
{
    enum { DEPTH, WIDTH, Y, TARGET, FIRST_LAW };
    const char *names[FIRST_LAW + XB_CELL_LAWS] = {"depth", "width", "y", "target"};
    const xb_cell_plan *plan = &s->cells.plan;
    for (int l = 0; l < plan->laws; l++) names[FIRST_LAW + l] = xb_net_cells_law_name(l);
    xb_table *t = NULL;
    XB_TRY(xb_study_new_table(ctx, study, &t, "densities",
                              SHOWN_DEPTHS * SHOWN_WIDTHS * XB_CELL_CURVE,
                              FIRST_LAW + plan->laws, names));
    int64_t row = 0;
    for (int k = 0; k < SHOWN_DEPTHS * SHOWN_WIDTHS; k++) {
        int64_t i = shown_cell(s, k / SHOWN_WIDTHS, k % SHOWN_WIDTHS);
        for (int p = 0; p < XB_CELL_CURVE; p++, row++) {
            double y = xb_cell_place(p);
            xb_table_set(t, row, DEPTH, (double)s->cells.cell[i].depth);
            xb_table_set(t, row, WIDTH, (double)s->cells.cell[i].width);
            xb_table_set(t, row, Y, y);
            xb_table_set(t, row, TARGET, exp(-0.5 * y * y) / sqrt(2 * M_PI));
            for (int l = 0; l < plan->laws; l++)
                xb_table_set(
                    t, row, FIRST_LAW + l,
                    xb_cell_curve(plan, xb_net_cells_values(&s->cells, i), l)[p]);
        }
    }
    return XB_OK;
}

/* ---- the study */

static xb_status tables(xb_ctx *ctx, xb_study *study, const xb_net_cells_setup *s)
{
    XB_TRY(xb_net_cells_kl_table(ctx, study, &s->cells));
    XB_TRY(lines_table(ctx, study, s));
    XB_TRY(nets_table(ctx, study, &s->cells));
    return densities_table(ctx, study, s);
}

static xb_status run(xb_ctx *ctx, xb_study *study, const xb_law *device,
                     const xb_study_options *opt)
{
    xb_net_cells_setup s;
    xb_status status = xb_net_cells_make(ctx, &s, device, opt, forms);
    if (status == XB_OK) status = tables(ctx, study, &s);
    if (status == XB_OK) status = xb_energy_facts(ctx, study, &s);
    xb_net_cells_setup_free(&s);
    return status;
}

const xb_study_kind xb_study_energy = {
    .name = "energy",
    .about =
        "nets trained to the same output and evaluated under three laws (Fig. 4, Fig. 8)",
    .run = run,
    .find = xb_find_energy,
};
