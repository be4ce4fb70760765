/* eval_uncertainty.c: see eval_uncertainty.h; maths C24, C25. */
#include "eval_uncertainty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "print.h"

typedef const double *measure_fn(const xb_prediction *p);

/* The last measure exists for ensembles only. */
static const struct {
    const char *name;
    measure_fn *of;
} of_numbers[CLI_MEASURES_MAX] = {{"epistemic", xb_prediction_epistemic},
                                  {"sd", xb_prediction_sd},
                                  {"disagreement", xb_prediction_disagreement}},
  of_classes[CLI_MEASURES_MAX] = {{"information", xb_prediction_information},
                                  {"entropy", xb_prediction_entropy},
                                  {"disagreement", xb_prediction_disagreement}};

static const double *measure_of(const xb_prediction *p, int i)
{
    return xb_prediction_classes(p) > 0 ? of_classes[i].of(p) : of_numbers[i].of(p);
}

static void name_measures(cli_uncertainty *u, const xb_prediction *p)
{
    u->classes = xb_prediction_classes(p) > 0;
    for (int i = 0; i < CLI_MEASURES_MAX && measure_of(p, i); i++) {
        u->measure[i].name = u->classes ? of_classes[i].name : of_numbers[i].name;
        u->measures = i + 1;
    }
}

/* ---- rows of another kind */

static xb_status find_auroc(xb_ctx *ctx, cli_uncertainty *u, const xb_prediction *in,
                            const xb_prediction *out)
{
    xb_status status = XB_OK;
    u->ood_rows = xb_prediction_count(out);
    for (int i = 0; i < u->measures && status == XB_OK; i++)
        status = xb_auroc(ctx, &u->measure[i].auroc, measure_of(in, i),
                          xb_prediction_count(in), measure_of(out, i), u->ood_rows);
    return status;
}

static cli_exit look_at_ood(cli_session *s, cli_uncertainty *u, const xb_model *model,
                            const xb_prediction *in, const xb_predict_options *opt)
{
    cli_inputs other = {0};
    xb_prediction *out = NULL;
    cli_exit code =
        cli_inputs_ask(s, &other, model, cli_text(&s->args, "ood", NULL), false);
    if (code == CLI_DONE) {
        const xb_rows rows = cli_inputs_rows(&other);
        xb_status status = xb_predict_rows(s->ctx, &out, model, &rows, opt);
        if (status == XB_OK) status = find_auroc(s->ctx, u, in, out);
        code = cli_status(s, status);
    }
    xb_prediction_destroy(out);
    cli_inputs_free(&other);
    return code;
}

/* ---- risk against coverage */

/* RMSE, or the share of wrong classes. */
static double as_risk(const cli_uncertainty *u, double loss)
{
    return u->classes ? loss : sqrt(loss);
}

static double area_of(const cli_uncertainty *u, const double *risk, int64_t n)
{
    double area = 0;
    for (int64_t k = 0; k < n; k++) area += as_risk(u, risk[k]) / (double)n;
    return area;
}

static xb_status find_risks(xb_ctx *ctx, cli_uncertainty *u, const xb_prediction *p,
                            const double *loss, double *risk, int64_t n)
{
    double area = 0;
    xb_status status = XB_OK;
    for (int i = 0; i < u->measures && status == XB_OK; i++) {
        cli_measure *m = &u->measure[i];
        status = xb_selective_risk(ctx, risk, &area, measure_of(p, i), loss, n);
        for (int k = 0; status == XB_OK && k < CLI_RISKS; k++) {
            const int64_t first = (k + 1) * n / CLI_RISKS; /* number of rows answered */
            m->risk[k] = as_risk(u, risk[first > 0 ? first - 1 : 0]);
        }
        if (status == XB_OK) m->area = area_of(u, risk, n);
    }
    if (status == XB_OK) status = xb_selective_risk(ctx, risk, &area, loss, loss, n);
    u->area_best = area_of(u, risk, n);
    u->area_chance = as_risk(u, risk[n - 1]);
    return status;
}

static cli_exit look_at_risks(cli_session *s, cli_uncertainty *u, const xb_prediction *p,
                              const xb_scores *scores)
{
    int64_t n = 0;
    const double *each =
        xb_scores_array_get(scores, u->classes ? "hit" : "square_error", &n);
    double *loss = calloc(2 * (size_t)n, sizeof *loss);
    if (!loss) return cli_fail(s, CLI_FAILED, "not enough memory");
    for (int64_t i = 0; i < n; i++) loss[i] = u->classes ? 1 - each[i] : each[i];
    cli_exit code = cli_status(s, find_risks(s->ctx, u, p, loss, loss + n, n));
    free(loss);
    return code;
}

cli_exit cli_uncertainty_find(cli_session *s, cli_uncertainty *u, const xb_model *model,
                              const xb_rows *rows, const xb_scores *scores,
                              const xb_law *law)
{
    xb_prediction *p = NULL;
    xb_predict_options opt = xb_predict_options_default();
    u->ood = cli_flag(&s->args, "ood");
    u->selective = cli_flag(&s->args, "selective");
    if (!u->ood && !u->selective) return CLI_DONE;
    if (xb_model_target_count(model) > 1)
        return cli_fail(s, CLI_USAGE, "--ood and --selective need a model of one target");
    opt.draws = xb_scores_draws(scores);
    opt.seed = cli_seed(s);
    opt.law = law;
    opt.quantiles = 0;
    opt.quantile = &opt.tolerance; /* this call needs no quantiles */
    cli_exit code = cli_status(s, xb_predict_rows(s->ctx, &p, model, rows, &opt));
    if (code == CLI_DONE) name_measures(u, p);
    if (code == CLI_DONE && u->ood) code = look_at_ood(s, u, model, p, &opt);
    if (code == CLI_DONE && u->selective) code = look_at_risks(s, u, p, scores);
    xb_prediction_destroy(p);
    return code;
}

/* ---- JSON */

static json_t *risks_json(const cli_uncertainty *u)
{
    json_t *root = json_object(), *coverage = json_array();
    for (int k = 0; k < CLI_RISKS; k++)
        json_array_append_new(coverage, json_real((double)(k + 1) / CLI_RISKS));
    json_object_set_new(root, "kept", coverage);
    for (int i = 0; i < u->measures; i++) {
        json_t *risk = json_array();
        for (int k = 0; k < CLI_RISKS; k++)
            json_array_append_new(risk, cli_json_real(u->measure[i].risk[k]));
        json_object_set_new(root, u->measure[i].name,
                            json_pack("{s:o,s:o}", "risk", risk, "area",
                                      cli_json_real(u->measure[i].area)));
    }
    json_object_set_new(root, "area_chance", cli_json_real(u->area_chance));
    json_object_set_new(root, "area_best", cli_json_real(u->area_best));
    return root;
}

void cli_uncertainty_json(json_t *root, const cli_uncertainty *u)
{
    json_t *ood = json_object();
    json_object_set_new(ood, "rows", json_integer(u->ood_rows));
    for (int i = 0; i < u->measures; i++)
        json_object_set_new(
            ood, u->measure[i].name,
            json_pack("{s:o,s:o}", "auroc", cli_json_real(u->measure[i].auroc.value),
                      "auroc_error", cli_json_real(u->measure[i].auroc.std_error)));
    if (u->ood) json_object_set(root, "ood", ood);
    json_decref(ood);
    if (u->selective) json_object_set_new(root, "selective", risks_json(u));
}

/* ---- words */

static void print_ood(const cli_uncertainty *u, const char *file)
{
    char text[64];
    printf("\n  How well uncertainty detects the rows of %s (%lld): area under the ROC "
           "curve (AUROC), 0.5 is chance, 1 is perfect\n",
           file, (long long)u->ood_rows);
    for (int i = 0; i < u->measures; i++) {
        const xb_score a = u->measure[i].auroc;
        cli_format_error(text, sizeof text, a.value, a.std_error);
        printf("    %-14s%s\n", u->measure[i].name, text);
    }
}

/* Columns: the measure, shares of the rows, the area. */
static const int shown[] = {CLI_RISKS, 18, 15, 10, 5};

static void risk_cell(const void *arg, int row, int column, char *out, size_t size)
{
    const cli_uncertainty *u = arg;
    const cli_measure *m = &u->measure[row > 0 ? row - 1 : 0];
    const int last = CLI_COUNT_OF(shown) + 1;
    if (row == 0 && (column == 0 || column == last))
        snprintf(out, size, "%s", column ? "area" : "rows answered");
    else if (row == 0)
        snprintf(out, size, "%d %%", 100 * shown[column - 1] / CLI_RISKS);
    else if (column == 0)
        snprintf(out, size, "%s", m->name);
    else
        snprintf(out, size, "%.3g",
                 column == last ? m->area : m->risk[shown[column - 1] - 1]);
}

static void print_risks(const cli_uncertainty *u)
{
    printf("\n  %s if only the most certain rows are answered, ranked by each measure "
           "of uncertainty:\n\n",
           u->classes ? "Share of wrong classes" : "RMSE");
    cli_print_grid(1 + u->measures, CLI_COUNT_OF(shown) + 2, risk_cell, u);
    printf("\n  area: mean over all shares of rows; %.3g for rows in random order, %.3g "
           "for the best order\n",
           u->area_chance, u->area_best);
}

void cli_uncertainty_print(const cli_uncertainty *u, const char *ood)
{
    if (u->ood) print_ood(u, ood);
    if (u->selective) print_risks(u);
}
