/* energy_setup.c: see energy_setup.h. */
#include "study/energy_setup.h"

#include <string.h>

#include <math.h>
#include <stdio.h>

enum { WIDTH_MOST = 4096, DEPTH_MOST = 64, SEEDS_MOST = 1000, LIST_MOST = 64 };

static xb_status check_list(xb_ctx *ctx, const char *what, const int64_t *value, int n,
                            int64_t most)
{
    if (n > LIST_MOST)
        return xb_fail(ctx, XB_E_ARGUMENT, "%d %ss, expected at most %d", n, what,
                       LIST_MOST);
    for (int i = 0; i < n; i++) {
        if (value[i] < 1 || value[i] > most)
            return xb_fail(ctx, XB_E_ARGUMENT, "%s %lld: expected 1 to %lld", what,
                           (long long)value[i], (long long)most);
        for (int j = 0; j < i; j++)
            if (value[j] == value[i])
                return xb_fail(ctx, XB_E_ARGUMENT, "%s %lld is listed twice", what,
                               (long long)value[i]);
    }
    return XB_OK;
}

static xb_status check(xb_ctx *ctx, const xb_study_options *o)
{
    XB_TRY(check_list(ctx, "width", o->width, o->width ? o->widths : 0, WIDTH_MOST));
    XB_TRY(check_list(ctx, "depth", o->depth, o->depth ? o->depths : 0, DEPTH_MOST));
    if (o->seeds < 0 || o->seeds > SEEDS_MOST)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld seeds: expected 1 to %d",
                       (long long)o->seeds, SEEDS_MOST);
    if (o->laws > XB_CELL_LAWS - 3)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld laws besides device and bimodal, expected at most %d",
                       (long long)o->laws, XB_CELL_LAWS - 3);
    if (!(o->n_eff_penalty >= 0) || !isfinite(o->n_eff_penalty))
        return xb_fail(ctx, XB_E_ARGUMENT, "n_eff_penalty is %g, expected 0 or more",
                       o->n_eff_penalty);
    return XB_OK;
}

static xb_status make_laws(xb_ctx *ctx, xb_net_cells_setup *s, xb_cell_plan *plan,
                           const xb_law *device, const xb_study_options *o)
{
    XB_TRY(xb_law_parse(ctx, &s->made[0], "gaussian"));
    XB_TRY(xb_law_parse(ctx, &s->made[2], "bimodal"));
    for (int i = 0; i < o->laws; i++)
        XB_TRY(xb_law_parse(ctx, &s->made[3 + i], o->law[i]));
    plan->laws = 3 + o->laws;
    for (int l = 0; l < plan->laws; l++) plan->law[l] = l == 1 ? device : s->made[l];
    return XB_OK;
}

/* Cells are small, so `auto` means the CPU. */
static const char *trained_on(const xb_ctx *ctx)
{
    const char *backend = xb_ctx_backend(ctx);
    return backend && strcmp(backend, "auto") != 0 ? backend : NULL;
}

static xb_status lay_out(xb_ctx *ctx, xb_net_cells_setup *out, const xb_law *device,
                         const xb_study_options *o, const xb_net_cells_standard *standard)
{
    xb_cell_plan plan = {.kernels_only = o->kernels_only,
                         .steps = standard->steps,
                         .n_eff_penalty = o->n_eff_penalty,
                         .hidden_draws = standard->hidden_draws,
                         .output_draws = standard->output_draws,
                         .share_draws = standard->share_draws,
                         .backend = trained_on(ctx)};
    XB_TRY(make_laws(ctx, out, &plan, device, o));
    out->widths = o->width ? o->widths : standard->widths;
    out->depths = o->depth ? o->depths : standard->depths;
    out->seeds = o->seeds > 0 ? o->seeds : standard->seeds;
    return xb_net_cells_lay_out(
        ctx, &out->cells, &plan, o->width ? o->width : standard->width, out->widths,
        o->depth ? o->depth : standard->depth, out->depths, o->seed, out->seeds);
}

xb_status xb_net_cells_make(xb_ctx *ctx, xb_net_cells_setup *out, const xb_law *device,
                            const xb_study_options *o, const xb_net_cells_standard *form)
{
    xb_net_cells_form which = o->quick  ? XB_FORM_QUICK
                              : o->full ? XB_FORM_FULL
                                        : XB_FORM_NORMAL;
    *out = (xb_net_cells_setup){0};
    XB_TRY(check(ctx, o));
    XB_TRY(lay_out(ctx, out, device, o, &form[which]));
    return xb_net_cells_run(ctx, &out->cells, o->cells);
}

void xb_net_cells_setup_free(xb_net_cells_setup *s)
{
    xb_net_cells_free(&s->cells);
    for (int l = 0; l < XB_CELL_LAWS; l++) xb_law_destroy(s->made[l]);
}

const char *xb_net_cells_law_name(int law)
{
    static const char *const names[XB_CELL_LAWS] = {
        "gaussian", "device", "bimodal", "law3", "law4", "law5", "law6", "law7"};
    return names[law];
}

xb_status xb_net_cells_law_facts(xb_ctx *ctx, xb_study *study, const xb_cell_plan *plan)
{
    for (int l = 1; l < plan->laws; l++) {
        char name[32];
        xb_moments m = xb_law_moments(plan->law[l]);
        snprintf(name, sizeof name, "law_%s", xb_net_cells_law_name(l));
        XB_TRY(xb_study_add_fact(
            ctx, study, name, xb_law_kl_gaussian(plan->law[l]), NAN,
            "KL(law‖Gaussian) of the law %s itself (skewness %.3g, excess kurtosis %.3g)",
            xb_law_text(plan->law[l]), m.skewness, m.excess_kurtosis));
    }
    return XB_OK;
}

/* ---- table kl */

enum {
    LAW,
    SEED,
    DEPTH,
    WIDTH,
    N_EFF,
    N_EFF_PLAN,
    TOP_SHARE,
    KL,
    KL_ERROR,
    THEORY,
    FLOOR,
    KNN,
    KNN_ERROR,
    KNN_FLOOR,
    COLUMNS
};

static void kl_row(xb_table *t, int64_t row, const xb_cell *cell, const double *v,
                   int law)
{
    const double number[COLUMNS] = {
        [LAW] = law,
        [SEED] = (double)cell->seed,
        [DEPTH] = (double)cell->depth,
        [WIDTH] = (double)cell->width,
        [N_EFF] = xb_cell_get(v, XB_CELL_N_EFF),
        [N_EFF_PLAN] = xb_cell_get(v, XB_CELL_N_EFF_A1),
        [TOP_SHARE] = xb_cell_get(v, XB_CELL_TOP_SHARE),
        [KL] = xb_cell_get_law(v, law, XB_CELL_KL),
        [KL_ERROR] = xb_cell_get_law(v, law, XB_CELL_KL_ERROR),
        [THEORY] = xb_cell_get_law(v, law, XB_CELL_THEORY),
        [FLOOR] = xb_cell_get(v, XB_CELL_FLOOR),
        [KNN] = xb_cell_get_law(v, law, XB_CELL_KNN),
        [KNN_ERROR] = xb_cell_get_law(v, law, XB_CELL_KNN_ERROR),
        [KNN_FLOOR] = xb_cell_get(v, XB_CELL_KNN_FLOOR),
    };
    for (int c = 0; c < COLUMNS; c++) xb_table_set(t, row, c, number[c]);
}

xb_status xb_net_cells_kl_table(xb_ctx *ctx, xb_study *study, const xb_net_cells *cells)
{
    static const char *const names[COLUMNS] = {
        "law", "seed",     "depth",  "width", "n_eff", "n_eff_plan", "top_share",
        "kl",  "kl_error", "theory", "floor", "knn",   "knn_error",  "knn_floor"};
    int laws = cells->plan.laws - 1;
    xb_table *t = NULL;
    XB_TRY(xb_study_new_table(ctx, study, &t, "kl", cells->count * laws, COLUMNS, names));
    for (int l = 1; l <= laws; l++)
        for (int64_t i = 0; i < cells->count; i++)
            kl_row(t, (l - 1) * cells->count + i, &cells->cell[i],
                   xb_net_cells_values(cells, i), l);
    return XB_OK;
}
