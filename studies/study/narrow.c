/* narrow.c: the study "narrow", the question the paper leaves open: does the shape of the
 * noise matter in narrow, deep nets? It uses nets of the energy study with widths 1 to 8
 * and depths up to 8, and shows what changes with the law: mean, spread and tails of the
 * output. Tables (law 1: the device, 2: bimodal, 3..: the user's):
 *   kl    as in the energy study
 *   gaps  law, seed, depth, width and their ranks, n_eff; then, each with its error,
 *         mean (in standard deviations), sd (relative), skewness, excess_kurtosis, and
 *         the probability beyond 2 and 3 standard deviations (relative): law minus
 * Gaussian */
#include <math.h>
#include <stdio.h>

#include "crossbayes/density.h"
#include "study/energy_setup.h"

static const int64_t widths[] = {1, 2, 3, 4, 6, 8};
static const int64_t depths[] = {1, 2, 3, 4, 6, 8};
static const int64_t quick_widths[] = {1, 2, 4};
static const int64_t quick_depths[] = {1, 4, 8};

/* The columns are steps, then the numbers of draws: of hidden layers, of outputs, of
 * weights. */
static const xb_net_cells_standard forms[] = {
    [XB_FORM_NORMAL] = {widths, depths, XB_COUNT(widths), XB_COUNT(depths), 1, 10000,
                        1 << 17, 0, 2000},
    [XB_FORM_QUICK] = {quick_widths, quick_depths, XB_COUNT(quick_widths),
                       XB_COUNT(quick_depths), 1, 10000, 1 << 13, 0, 500},
    [XB_FORM_FULL] = {widths, depths, XB_COUNT(widths), XB_COUNT(depths), 3, 10000,
                      1 << 19, 0, 8000},
};

/* A difference is significant from this many standard errors, and matters from this size
 * on. */
static const double RESOLVED = 3, MATTERS = 0.05;

/* ---- gaps */

static const struct gap_kind {
    const char *name, *words;
    xb_cell_law_number number;
    xb_cell_number unit; /* the number that it is relative to; XB_CELL_NUMBERS: none */
} kinds[] = {
    {"mean", "mean of the output, in standard deviations", XB_CELL_MEAN_GAP, XB_CELL_SD},
    {"sd", "standard deviation, relative", XB_CELL_SD_GAP, XB_CELL_SD},
    {"skewness", "skewness", XB_CELL_SKEWNESS_GAP, XB_CELL_NUMBERS},
    {"excess_kurtosis", "excess kurtosis", XB_CELL_KURTOSIS_GAP, XB_CELL_NUMBERS},
    {"tail2", "probability beyond 2 standard deviations, relative", XB_CELL_TAIL_2_GAP,
     XB_CELL_TAIL_2},
    {"tail3", "probability beyond 3 standard deviations, relative", XB_CELL_TAIL_3_GAP,
     XB_CELL_TAIL_3},
};

static xb_estimate gap_of(const double *v, int law, const struct gap_kind *kind)
{
    double unit = kind->unit == XB_CELL_NUMBERS ? 1 : xb_cell_get(v, kind->unit);
    return (xb_estimate){xb_cell_get_law(v, law, kind->number) / unit,
                         xb_cell_get_law(v, law, (xb_cell_law_number)(kind->number + 1)) /
                             unit};
}

enum { LAW, SEED, DEPTH, WIDTH, DEPTH_RANK, WIDTH_RANK, N_EFF, FIRST_GAP };
enum { GAP_COLUMNS = FIRST_GAP + 2 * XB_COUNT(kinds) };

static void gap_row(xb_table *t, int64_t row, const xb_net_cells_setup *s, int law,
                    int64_t i)
{
    const xb_cell *cell = &s->cells.cell[i];
    const double *v = xb_net_cells_values(&s->cells, i);
    xb_table_set(t, row, LAW, law);
    xb_table_set(t, row, SEED, (double)cell->seed);
    xb_table_set(t, row, DEPTH, (double)cell->depth);
    xb_table_set(t, row, WIDTH, (double)cell->width);
    xb_table_set(t, row, DEPTH_RANK, (double)(i / s->widths % s->depths));
    xb_table_set(t, row, WIDTH_RANK, (double)(i % s->widths));
    xb_table_set(t, row, N_EFF, xb_cell_get(v, XB_CELL_N_EFF));
    for (int k = 0; k < XB_COUNT(kinds); k++) {
        xb_estimate gap = gap_of(v, law, &kinds[k]);
        xb_table_set(t, row, FIRST_GAP + 2 * k, gap.value);
        xb_table_set(t, row, FIRST_GAP + 2 * k + 1, gap.std_error);
    }
}

static xb_status gaps_table(xb_ctx *ctx, xb_study *study, const xb_net_cells_setup *s)
{
    static const char *const names[GAP_COLUMNS] = {"law",
                                                   "seed",
                                                   "depth",
                                                   "width",
                                                   "depth_rank",
                                                   "width_rank",
                                                   "n_eff",
                                                   "mean",
                                                   "mean_error",
                                                   "sd",
                                                   "sd_error",
                                                   "skewness",
                                                   "skewness_error",
                                                   "excess_kurtosis",
                                                   "excess_kurtosis_error",
                                                   "tail2",
                                                   "tail2_error",
                                                   "tail3",
                                                   "tail3_error"};
    int laws = s->cells.plan.laws - 1;
    xb_table *t = NULL;
    XB_TRY(xb_study_new_table(ctx, study, &t, "gaps", s->cells.count * laws, GAP_COLUMNS,
                              names));
    for (int l = 1; l <= laws; l++)
        for (int64_t i = 0; i < s->cells.count; i++)
            gap_row(t, (l - 1) * s->cells.count + i, s, l, i);
    return XB_OK;
}

/* ---- facts */

static xb_status gap_fact(xb_ctx *ctx, xb_study *study, const xb_net_cells_setup *s,
                          int law, const struct gap_kind *kind)
{
    const xb_net_cells *cells = &s->cells;
    int64_t seen = 0, matter = 0, worst = 0;
    double largest = -1, n_eff = 0;
    for (int64_t i = 0; i < cells->count; i++) {
        const double *v = xb_net_cells_values(cells, i);
        xb_estimate gap = gap_of(v, law, kind);
        double size = fabs(gap.value);
        bool sure = size > RESOLVED * gap.std_error;
        seen += sure;
        if (sure && size > MATTERS) {
            matter++;
            n_eff = fmax(n_eff, xb_cell_get(v, XB_CELL_N_EFF));
        }
        if (sure && size > largest) largest = size, worst = i;
    }
    xb_estimate gap = gap_of(xb_net_cells_values(cells, worst), law, kind);
    char name[64], most[64] = "";
    snprintf(name, sizeof name, "%s_%s", xb_net_cells_law_name(law), kind->name);
    if (matter > 0)
        snprintf(most, sizeof most, " (all with n_eff below %.2g)", n_eff * 1.05);
    return xb_study_add_fact(ctx, study, name, gap.value, gap.std_error,
                             "%s: largest change of the %s (width %lld, depth %lld); "
                             "significant in %lld of %lld nets, above %g in %lld%s",
                             xb_net_cells_law_name(law), kind->words,
                             (long long)cells->cell[worst].width,
                             (long long)cells->cell[worst].depth, (long long)seen,
                             (long long)cells->count, MATTERS, (long long)matter, most);
}

static xb_status kl_fact(xb_ctx *ctx, xb_study *study, const xb_net_cells *cells, int law)
{
    int64_t worst = 0, seen = 0;
    for (int64_t i = 0; i < cells->count; i++) {
        const double *v = xb_net_cells_values(cells, i);
        double kl = xb_cell_get_law(v, law, XB_CELL_KL);
        seen += kl > RESOLVED * xb_cell_get_law(v, law, XB_CELL_KL_ERROR);
        if (kl > xb_cell_get_law(xb_net_cells_values(cells, worst), law, XB_CELL_KL))
            worst = i;
    }
    const double *v = xb_net_cells_values(cells, worst);
    char name[64];
    snprintf(name, sizeof name, "%s_kl", xb_net_cells_law_name(law));
    return xb_study_add_fact(
        ctx, study, name, xb_cell_get_law(v, law, XB_CELL_KL),
        xb_cell_get_law(v, law, XB_CELL_KL_ERROR),
        "%s: largest KL(law‖Gaussian) of the output (width %lld, depth %lld, n_eff "
        "%.2g); significant in %lld of %lld nets",
        xb_net_cells_law_name(law), (long long)cells->cell[worst].width,
        (long long)cells->cell[worst].depth, xb_cell_get(v, XB_CELL_N_EFF),
        (long long)seen, (long long)cells->count);
}

static xb_status facts(xb_ctx *ctx, xb_study *study, const xb_net_cells_setup *s)
{
    XB_TRY(xb_net_cells_law_facts(ctx, study, &s->cells.plan));
    for (int l = 1; l < s->cells.plan.laws; l++) {
        XB_TRY(kl_fact(ctx, study, &s->cells, l));
        for (int k = 0; k < XB_COUNT(kinds); k++)
            XB_TRY(gap_fact(ctx, study, s, l, &kinds[k]));
    }
    return XB_OK;
}

/* ---- the study */

static xb_status run(xb_ctx *ctx, xb_study *study, const xb_law *device,
                     const xb_study_options *opt)
{
    xb_net_cells_setup s;
    xb_status status = xb_net_cells_make(ctx, &s, device, opt, forms);
    if (status == XB_OK) status = xb_net_cells_kl_table(ctx, study, &s.cells);
    if (status == XB_OK) status = gaps_table(ctx, study, &s);
    if (status == XB_OK) status = facts(ctx, study, &s);
    xb_net_cells_setup_free(&s);
    return status;
}

const xb_study_kind xb_study_narrow = {
    .name = "narrow",
    .about = "narrow, deep nets: where the shape of the noise matters",
    .run = run,
    .find = xb_find_narrow,
};
