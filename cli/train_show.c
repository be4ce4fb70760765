/* train_show.c: see train_show.h. */
#include "train_show.h"

#include <math.h>
#include <string.h>

#include "print.h"
#include "scores.h"

enum { FEW_ROWS = 10 };

static json_t *noise_json(const cli_trained *o)
{
    json_t *list = json_array();
    const xb_gradient_noise *g = o->noise;
    for (int64_t i = 0; i < xb_gradient_noise_count(g); i++) {
        const xb_estimate mean = xb_gradient_noise_mean(g, i);
        const xb_estimate spread = xb_gradient_noise_spread(g, i);
        json_array_append_new(
            list, json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}", "estimator",
                            xb_estimator_name(xb_gradient_noise_estimator(g, i)),
                            "antithetic", xb_gradient_noise_antithetic(g, i),
                            "variance_mean", cli_json_real(mean.value),
                            "variance_mean_error", cli_json_real(mean.std_error),
                            "variance_spread", cli_json_real(spread.value),
                            "variance_spread_error", cli_json_real(spread.std_error)));
    }
    return list;
}

static json_t *likelihoods_json(const xb_train_report *r)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < xb_train_report_likelihood_count(r); i++) {
        const xb_estimate f = xb_train_report_likelihood_f(r, i);
        json_array_append_new(
            list,
            json_pack("{s:s, s:o, s:o, s:o}", "likelihood",
                      xb_train_report_likelihood_name(r, i), "f", cli_json_real(f.value),
                      "f_error", cli_json_real(f.std_error), "validation",
                      cli_json_real(xb_train_report_likelihood_score(r, i))));
    }
    return list;
}

static json_t *test_json(const xb_evaluation *test)
{
    json_t *root = json_object();
    json_object_set_new(root, "rows", json_integer(xb_evaluation_rows(test)));
    json_object_set_new(root, "draws", json_integer(xb_evaluation_draws(test)));
    cli_scores_json(root, xb_evaluation_scores(test, 0));
    return root;
}

/* With several targets, each has its own noise. */
static json_t *targets_json(const xb_model *m)
{
    json_t *each = json_array();
    for (int64_t k = 0; k < xb_model_target_count(m); k++) {
        const xb_model_target t = xb_model_target_at(m, k);
        json_array_append_new(each, json_pack("{s:s, s:o}", "target", t.name, "noise_sd",
                                              cli_json_real(t.noise_sd)));
    }
    return each;
}

/* The columns that enter as logarithms. */
static json_t *bent_json(const xb_model *m)
{
    json_t *list = json_array();
    const double *bend = xb_model_input_bend(m);
    for (int64_t j = 0; j < xb_model_feature_count(m); j++)
        if (bend[j] != 0)
            json_array_append_new(list, cli_json_text(xb_model_feature_name(m, j)));
    return list;
}

cli_exit cli_trained_json(cli_session *s, const cli_trained *o)
{
    const xb_model *m = o->model;
    const xb_train_report *r = o->report;
    static const xb_history_column columns[] = {XB_HISTORY_KL, XB_HISTORY_TEMPERATURE,
                                                XB_HISTORY_SIGMA_MEDIAN,
                                                XB_HISTORY_VALIDATION};
    const xb_estimate f = xb_train_report_f(r), l = xb_train_report_log_likelihood(r);
    const struct {
        const char *name;
        double value;
    } means[] = {{"log_likelihood", l.value},
                 {"log_likelihood_error", l.std_error},
                 {"f", f.value},
                 {"f_error", f.std_error},
                 {"noise_sd", xb_model_of_counts(m) ? NAN : xb_model_noise_sd(m)},
                 {"dispersion", xb_model_dispersion(m, 0)},
                 {"noise_degrees", xb_model_noise_degrees(m)},
                 {"gp_length", xb_model_process_length(m)}};
    json_t *root = json_object();
    json_object_set_new(root, "model", cli_json_text(o->path));
    json_object_set_new(root, "net", json_string(xb_model_net_text(m)));
    json_object_set_new(root, "law", json_string(xb_law_text(xb_model_law(m))));
    json_object_set_new(root, "likelihood",
                        json_string(xb_likelihood_name(xb_model_likelihood(m))));
    json_object_set_new(root, "members", json_integer(xb_model_member_count(m)));
    json_object_set_new(root, "rows", json_integer(xb_train_report_row_count(r)));
    json_object_set_new(root, "copies", json_integer(xb_train_report_copy_count(r)));
    json_object_set_new(root, "epochs",
                        json_integer(xb_table_row_count(xb_train_report_history(r))));
    json_object_set_new(root, "epoch_kept", json_integer(xb_train_report_epoch_kept(r)));
    for (int i = 0; i < CLI_COUNT_OF(columns); i++)
        json_object_set_new(root, xb_history_column_name(columns[i]),
                            cli_json_real(xb_train_report_value(r, columns[i])));
    for (int i = 0; i < CLI_COUNT_OF(means); i++)
        json_object_set_new(root, means[i].name, cli_json_real(means[i].value));
    if (xb_model_input_bend(m)) json_object_set_new(root, "logarithms", bent_json(m));
    if (xb_train_report_other_net(r))
        json_object_set_new(
            root, "net_left",
            json_pack("{s:s, s:o, s:o, s:o}", "net", xb_train_report_other_net(r), "f",
                      cli_json_real(xb_train_report_other_f(r).value), "behind_halfway",
                      cli_json_real(xb_train_report_other_behind(r)), "validation",
                      cli_json_real(xb_train_report_other_score(r))));
    if (xb_train_report_likelihood_reason(r)) {
        json_object_set_new(root, "likelihoods_tried", likelihoods_json(r));
        json_object_set_new(root, "likelihood_reason",
                            json_string(xb_train_report_likelihood_reason(r)));
    }
    if (xb_train_report_prior_reason(r))
        json_object_set_new(root, "prior_reason",
                            json_string(xb_train_report_prior_reason(r)));
    if (xb_model_target_count(m) > 1)
        json_object_set_new(root, "targets", targets_json(m));
    if (o->noise) json_object_set_new(root, "gradient_noise", noise_json(o));
    if (o->test) json_object_set_new(root, "test", test_json(o->test));
    json_object_set_new(root, "settings", json_loads(xb_model_settings(m), 0, NULL));
    json_object_set_new(root, "provenance", json_loads(xb_model_provenance(m), 0, NULL));
    return cli_json_print(s, root);
}

/* Prints variances relative to the first estimator's. */
static void format_part(char *out, size_t size, xb_estimate e, xb_estimate first)
{
    cli_format_error(out, size, e.value / first.value, e.std_error / first.value);
}

static void print_noise(const xb_gradient_noise *g)
{
    printf("  gradient variance relative to that of '%s', with equal numbers of draws\n"
           "    %-21s%-22s %s\n",
           xb_estimator_name(xb_gradient_noise_estimator(g, 0)), "estimator",
           "gradient of means", "gradient of sigmas");
    for (int64_t i = 0; i < xb_gradient_noise_count(g); i++) {
        char mean[48], spread[48];
        format_part(mean, sizeof mean, xb_gradient_noise_mean(g, i),
                    xb_gradient_noise_mean(g, 0));
        format_part(spread, sizeof spread, xb_gradient_noise_spread(g, i),
                    xb_gradient_noise_spread(g, 0));
        printf("    %-8s%-13s%-22s %s\n",
               xb_estimator_name(xb_gradient_noise_estimator(g, i)),
               xb_gradient_noise_antithetic(g, i) ? "antithetic" : "", mean, spread);
    }
}

/* Targets that are numbers are learnt standardised, and densities are of those. */
static const char *target_unit(const cli_trained *o)
{
    if (xb_model_class_count(o->model) > 0 || xb_model_of_counts(o->model)) return "";
    const bool several = xb_model_target_count(o->model) > 1;
    return several ? ", standardised targets" : ", standardised target";
}

/* "nats", "per row" and so on, with the unit of the target. */
static void print_density(const cli_trained *o, const char *name, double value,
                          double error, const char *per)
{
    char unit[64];
    snprintf(unit, sizeof unit, "%s%s", per, target_unit(o));
    cli_print_estimate(name, value, error, unit);
}

/* Whether the net that was left has a lower F, but by less than twice the error (V18). */
static bool left_is_lower(const cli_trained *o)
{
    return xb_train_report_held_count(o->report) == 0 &&
           xb_train_report_other_f(o->report).value < xb_train_report_f(o->report).value;
}

static void print_choice(const cli_trained *o)
{
    const xb_train_report *r = o->report;
    const xb_estimate f = xb_train_report_other_f(r);
    const double behind = xb_train_report_other_behind(r);
    char text[64];
    printf("  %-20sover '%s', ", "chosen", xb_train_report_other_net(r));
    if (isfinite(behind)) {
        printf("given up halfway because its F was %.0f nats higher\n", behind);
        return;
    }
    if (xb_train_report_held_count(r) > 0) {
        cli_format_plain(text, sizeof text, xb_train_report_other_score(r));
        printf("which has a log density of %s per held-out row%s\n", text,
               target_unit(o));
        return;
    }
    cli_format_error(text, sizeof text, f.value, f.std_error);
    printf("which has F %s nats%s%s\n", text, target_unit(o),
           left_is_lower(o) ? ", lower, but by less than twice the error" : "");
}

/* Numbers of the second phase, if there is one. */
static void print_elbo(const cli_trained *o)
{
    const xb_train_report *r = o->report;
    const double n = (double)xb_train_report_row_count(r);
    const xb_estimate f = xb_train_report_f(r), l = xb_train_report_log_likelihood(r);
    print_density(o, "log likelihood", l.value / n, l.std_error / n,
                  "nats per training row");
    cli_print_estimate("KL", xb_train_report_value(r, XB_HISTORY_KL), NAN,
                       "nats, KL(posterior‖prior)");
    print_density(o, "F", f.value, f.std_error, "nats");
    cli_print_fact("median sigma", xb_train_report_value(r, XB_HISTORY_SIGMA_MEDIAN), 3,
                   "");
}

/* Prints the scores that exist; several targets together have few. */
static void print_test_scores(const xb_scores *s, const char *of)
{
    if (of) printf("    %s\n", of);
    for (int i = 0; i < cli_score_count(s); i++) {
        const cli_score row = cli_score_at(s, i);
        char text[64];
        if (isnan(row.score.value)) continue;
        cli_format_error(text, sizeof text, row.score.value, row.score.std_error);
        printf("    %-20s%s", row.name, text);
        if (!isnan(row.chance)) printf(", chance %.2g", row.chance);
        putchar('\n');
    }
}

/* Rows that training never saw. */
static void print_test(const xb_evaluation *test)
{
    const xb_scores *s = xb_evaluation_scores(test, 0);
    const int64_t rows = xb_evaluation_rows(test), targets = xb_scores_target_count(s);
    char name[CLI_SHOWN];
    printf("  test                %lld %s held out of training\n", (long long)rows,
           xb_plural(rows, "row", "rows"));
    for (int64_t k = 0; targets > 1 && k < targets; k++)
        print_test_scores(xb_scores_target_at(s, k),
                          cli_shown(name, xb_scores_target_name(s, k)));
    print_test_scores(s, targets > 1 ? "all targets together" : NULL);
    printf("    ±: standard error over rows\n");
    cli_print_score_words(targets > 1 ? xb_scores_target_at(s, 0) : s, "    ");
    cli_print_doubts(s);
}

/* The error is the standard error of an sd estimated from n residuals. */
static void print_noise_sd(const cli_trained *o, int64_t k)
{
    const xb_model_target t = xb_model_target_at(o->model, k);
    const double n = (double)xb_train_report_row_count(o->report);
    const bool several = xb_model_target_count(o->model) > 1;
    char unit[CLI_SHOWN + 32], name[CLI_SHOWN];
    const double dispersion = xb_model_dispersion(o->model, k);
    if (dispersion > 0)
        cli_print_fact("dispersion", dispersion, 3,
                       "of the counts: their variance is mean + dispersion × mean²");
    if (isnan(t.noise_sd) || xb_model_of_counts(o->model)) return;
    snprintf(unit, sizeof unit, several ? "in units of %s" : "in the target's units",
             cli_shown(name, t.name));
    cli_print_estimate("noise sd", t.noise_sd, t.noise_sd / sqrt(2 * n), unit);
    if (isfinite(xb_model_noise_degrees(o->model)))
        cli_print_fact("degrees of freedom", xb_model_noise_degrees(o->model), 3,
                       "of Student's t, the law of the noise");
}

/* (V21) */
static void print_bent(const xb_model *m)
{
    const double *bend = xb_model_input_bend(m);
    char name[CLI_SHOWN];
    int64_t shown = 0, more = 0;
    printf("  logarithms of       ");
    for (int64_t j = 0; j < xb_model_feature_count(m); j++) {
        if (bend[j] == 0) continue;
        if (shown == 5) more++;
        if (shown == 5) continue;
        printf("%s%s", shown++ > 0 ? ", " : "",
               cli_shown(name, xb_model_feature_name(m, j)));
    }
    if (more > 0) printf(" and %lld more", (long long)more);
    printf(", whose values are skewed (--skewed keep takes them as they are)\n");
}

/* (V22) */
static void print_copies(int64_t n)
{
    printf(
        "  left out            %lld %s of other rows: equal in every column, and at least"
        " nearly\n                      in the target (--keep-copies learns from them "
        "too)\n",
        (long long)n, xb_plural(n, "copy", "copies"));
}

/* The text of cells with six digits of each number; the model file has all of them. */
static void print_cells(const char *text)
{
    enum { DIGITS = 6, LONG = 10 };
    printf("  cells               ");
    while (*text) {
        const size_t length = strcspn(text, ":=/,");
        char *end = NULL;
        const double value = strtod(text, &end);
        if (length > LONG && end == text + length)
            printf("%.*g", DIGITS, value);
        else
            printf("%.*s", (int)length, text);
        text += length;
        if (*text) putchar(*text++);
    }
    putchar('\n');
}

void cli_trained_print(const cli_trained *o)
{
    const xb_model *m = o->model;
    const xb_net *net = xb_model_net(m);
    const xb_train_report *r = o->report;
    const int64_t learnt = xb_train_report_row_count(r);
    const int64_t held = xb_train_report_held_count(r);
    char target[CLI_SHOWN];
    const int64_t features = xb_model_feature_count(m);
    const int64_t columns =
        xb_model_recipe(m) ? xb_recipe_column_count(xb_model_recipe(m)) : features;
    const char *name = xb_model_target_name(m);
    const bool numbered = !name[strspn(name, "0123456789")]; /* a table without names */
    printf("%s: %s%s from %lld %s, %lld %s", o->path, numbered ? "column " : "",
           cli_shown(target, name), (long long)learnt, xb_plural(learnt, "row", "rows"),
           (long long)columns, xb_plural(columns, "column", "columns"));
    if (columns != features) printf(" (%lld features)", (long long)features);
    putchar('\n');
    if (xb_train_report_copy_count(r) > 0) print_copies(xb_train_report_copy_count(r));
    printf("  net                 %s\n", xb_model_net_text(m));
    if (xb_train_report_other_net(r)) print_choice(o);
    if (xb_model_input_bend(m)) print_bent(m);
    printf("  weights             %lld, %lld of them random, law %s\n",
           (long long)xb_net_param_count(net), (long long)xb_net_stochastic_count(net),
           xb_law_text(xb_model_law(m)));
    if (xb_model_cells(m)) print_cells(xb_weight_cells_text(xb_model_cells(m)));
    if (xb_train_report_likelihood_reason(r))
        printf("  likelihood          %s, chosen: %s\n",
               xb_likelihood_name(xb_model_likelihood(m)),
               xb_train_report_likelihood_reason(r));
    if (xb_train_report_prior_reason(r))
        printf("  prior               fitted: %s\n", xb_train_report_prior_reason(r));
    if (isfinite(xb_model_process_length(m)))
        printf(
            "  Gaussian process    added to the net, length scale %g × √features sds\n",
            xb_model_process_length(m));
    if (xb_model_member_count(m) > 1)
        printf("  members             %lld posteriors, predicted as one mixture; numbers "
               "below are the first one's\n",
               (long long)xb_model_member_count(m));
    if (held > 0)
        printf("  kept                epoch %lld of %lld, the best on %lld %s held out\n",
               (long long)xb_train_report_epoch_kept(r),
               (long long)xb_train_report_epoch_count(r), (long long)held,
               xb_plural(held, "row", "rows"));
    if (xb_train_report_epoch_count(r) > 0) print_elbo(o);
    for (int64_t k = 0; k < xb_model_target_count(m); k++) print_noise_sd(o, k);
    if (held > 0)
        print_density(o, "validation", xb_train_report_value(r, XB_HISTORY_VALIDATION),
                      NAN, "log density per held-out row");
    if (o->noise) print_noise(o->noise);
    if (o->test) print_test(o->test);
    if (learnt < FEW_ROWS)
        printf("  %lld rows are few: uncertainties come mostly from the prior\n",
               (long long)learnt);
}
