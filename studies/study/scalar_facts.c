/* scalar_facts.c: facts of the scalar study, derived from its tables: scores averaged
 * over seeds with the standard error of that mean (of one seed: with the error over its
 * test points), and differences between laws with the verdict of C17: same within 1 % of
 * sigma_e, different, or not resolved. */
#include "study/scalar_facts.h"

#include <math.h>
#include <stdio.h>

#include "crossbayes/compare.h"

static const double TOLERANCE = 0.01; /* in units of sigma_e */

/* ---- scores */

static const struct score_fact {
    const char *name;
    xb_scalar_case which;
    const char *column, *text;
} score_facts[] = {
    {"rmse", XB_SCALAR_GAUSSIAN, "rmse", "RMSE on test data in the training range"},
    {"rmse_ideal", XB_SCALAR_IDEAL, "rmse",
     "oracle RMSE on the same data: the truth as the prediction"},
    {"nll", XB_SCALAR_GAUSSIAN, "nll", "NLL in range, nats per point"},
    {"nll_ideal", XB_SCALAR_IDEAL, "nll",
     "oracle NLL on the same data: the true mean and noise as the prediction"},
    {"coverage95", XB_SCALAR_GAUSSIAN, "coverage95",
     "share of test data in the central 95 % interval, in range"},
    {"sigma_a_error", XB_SCALAR_GAUSSIAN, "sigma_a_error",
     "mean absolute error of the aleatoric sd in range"},
    {"sigma_e", XB_SCALAR_GAUSSIAN, "sigma_e", "mean epistemic sd in range"},
    {"sigma_e_out", XB_SCALAR_GAUSSIAN, "sigma_e_out",
     "mean epistemic sd outside, 1 < |x| <= 1.5"},
    {"rmse_out", XB_SCALAR_GAUSSIAN, "rmse_out", "RMSE on test data outside the range"},
    {"nll_out", XB_SCALAR_GAUSSIAN, "nll_out",
     "NLL outside: mean-field weights are overconfident there"},
    {"coverage95_out", XB_SCALAR_GAUSSIAN, "coverage95_out",
     "share of test data in the 95 % interval, outside"},
    {"sigma_median", XB_SCALAR_GAUSSIAN, "sigma_median",
     "median sd of a weight, scaled data"},
    {"rmse_device", XB_SCALAR_DEVICE, "rmse", "RMSE in range, device law swapped in"},
    {"nll_device", XB_SCALAR_DEVICE, "nll", "NLL in range, device law swapped in"},
    {"rmse_bimodal", XB_SCALAR_BIMODAL, "rmse", "RMSE in range, bimodal law swapped in"},
    {"nll_bimodal", XB_SCALAR_BIMODAL, "nll", "NLL in range, bimodal law swapped in"},
    {"rmse_trained", XB_SCALAR_TRAINED, "rmse",
     "RMSE in range, trained with the device law and evaluated under it"},
    {"nll_trained", XB_SCALAR_TRAINED, "nll",
     "trained with the device law: NLL in range"},
    {"coverage95_trained", XB_SCALAR_TRAINED, "coverage95",
     "trained with the device law: coverage in range"},
    {"sigma_e_trained", XB_SCALAR_TRAINED, "sigma_e",
     "trained with the device law: mean epistemic sd in range"},
    {"sigma_e_out_trained", XB_SCALAR_TRAINED, "sigma_e_out",
     "trained with the device law: mean epistemic sd outside"},
    {"rmse_literal", XB_SCALAR_LITERAL, "rmse",
     "RMSE in range with the paper's literal setting (softplus, sigma 0.05, one draw per "
     "batch, 10 epochs after 100 of ordinary training, temperature exp(-i/1000))"},
    {"nll_literal", XB_SCALAR_LITERAL, "nll", "literal setting: NLL in range"},
    {"coverage95_literal", XB_SCALAR_LITERAL, "coverage95",
     "literal setting: coverage in range"},
    {"sigma_e_literal", XB_SCALAR_LITERAL, "sigma_e",
     "literal setting: mean epistemic sd in range"},
    {"sigma_median_literal", XB_SCALAR_LITERAL, "sigma_median",
     "literal setting: median sd of a weight, which starts at 0.05"},
};

static xb_status score_fact(xb_ctx *ctx, xb_study *study, const struct score_fact *f)
{
    const xb_table *t = xb_study_table(study, "scores");
    int column = xb_table_column_find(t, f->column),
        which = xb_table_column_find(t, "case");
    char name[48];
    snprintf(name, sizeof name, "%s_error", f->column);
    int by_points = xb_table_column_find(t, name);   /* -1: this score has none */
    double n = 0, mean = 0, square = 0, error = NAN; /* Welford */
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        if (xb_table_get(t, r, which) != (double)f->which) continue;
        if (by_points >= 0) error = xb_table_get(t, r, by_points);
        double value = xb_table_get(t, r, column), step = value - mean;
        n++;
        mean += step / n;
        square += step * (value - mean);
    }
    if (n > 1) error = sqrt(square / (n - 1) / n);
    return xb_study_add_fact(ctx, study, f->name, mean, error, "%s", f->text);
}

/* ---- gaps */

typedef struct gap {
    double rms, noise, largest, largest_error, largest_at;
} gap;

/* (C17) over all points and seeds. */
static gap gap_read(const xb_table *t, int column)
{
    gap g = {0};
    double n = (double)xb_table_row_count(t), square = 0, variance = 0;
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        double value = xb_table_get(t, r, column), error = xb_table_get(t, r, column + 1);
        square += value * value / n;
        variance += error * error / n;
        if (r > 0 && fabs(value) <= fabs(g.largest)) continue;
        g.largest = value;
        g.largest_error = error;
        g.largest_at = xb_table_get(t, r, xb_table_column_find(t, "x"));
    }
    g.rms = sqrt(square);
    g.noise = sqrt(variance);
    return g;
}

static xb_verdict gap_verdict(const gap *g)
{
    if (g->rms + 2 * g->noise <= TOLERANCE) return XB_VERDICT_SAME;
    return g->rms - 2 * g->noise > TOLERANCE ? XB_VERDICT_DIFFERENT
                                             : XB_VERDICT_UNRESOLVED;
}

/* kind: "mean" or "sd". */
static xb_status gap_facts(xb_ctx *ctx, xb_study *study, const char *kind,
                           const char *law)
{
    const xb_table *t = xb_study_table(study, "gaps");
    char column[32], name[48];
    snprintf(column, sizeof column, "%s_%s", kind, law);
    gap g = gap_read(t, xb_table_column_find(t, column));
    snprintf(name, sizeof name, "gap_%s_largest", column);
    XB_TRY(
        xb_study_add_fact(ctx, study, name, g.largest, g.largest_error,
                          "%s law: largest difference of its %s from the Gaussian "
                          "law's, in epistemic sds, over all x and seeds (at x = %.3g)",
                          law, kind, g.largest_at));
    snprintf(name, sizeof name, "gap_%s_rms", column);
    XB_TRY(xb_study_add_fact(ctx, study, name, g.rms, g.noise,
                             "%s law, %s: root mean square of that difference, which "
                             "includes the Monte Carlo noise given beside it",
                             law, kind));
    snprintf(name, sizeof name, "gap_%s_bound", column);
    return xb_study_add_fact(ctx, study, name, g.rms + 2 * g.noise, NAN,
                             "%s law, %s: upper bound of the true root mean square at 95 "
                             "%% confidence, compared with %g epistemic sds: %s",
                             law, kind, TOLERANCE, xb_verdict_name(gap_verdict(&g)));
}

xb_status xb_scalar_facts(xb_ctx *ctx, xb_study *study)
{
    for (int i = 0; i < XB_COUNT(score_facts); i++)
        XB_TRY(score_fact(ctx, study, &score_facts[i]));
    XB_TRY(gap_facts(ctx, study, "mean", "device"));
    XB_TRY(gap_facts(ctx, study, "sd", "device"));
    XB_TRY(gap_facts(ctx, study, "mean", "bimodal"));
    return gap_facts(ctx, study, "sd", "bimodal");
}
