/* train_show.c: see train_show.h.
 *
 * Numbers are those of the epoch whose weights were kept: the best by the rows held out,
 * else the last. F and the log likelihood of one epoch are noisy (few draws of the
 * weights), so of these the mean over the epochs just before it is told, with its
 * standard error; a twentieth of the second phase, during which little moves. */
#include "train_show.h"

#include <math.h>

#include "print.h"

enum { FEW_ROWS = 10 };

typedef struct summary {
    int64_t row, epoch, epochs; /* row of the trace kept; counted in the second phase */
    int64_t learnt, held;       /* rows of data */
    double f, f_error, log_likelihood, log_likelihood_error;
} summary;

static double cell(const xb_table *trace, int64_t row, const char *column)
{
    return row < 0 ? NAN : xb_table_get(trace, row, xb_table_column_find(trace, column));
}

/* The last one where none was scored; -1: there are no epochs. */
static int64_t kept_row(const xb_table *trace)
{
    int64_t kept = xb_table_row_count(trace) - 1;
    double best = -INFINITY;
    for (int64_t i = 0; i < xb_table_row_count(trace); i++) {
        double score = cell(trace, i, "validation");
        if (!(score > best)) continue;
        best = score;
        kept = i;
    }
    return kept;
}

/* Mean and standard error of a column over `n` rows, the last of them `row`. */
static double mean_before(const xb_table *trace, const char *column, int64_t row,
                          int64_t n, double *error)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++) mean += cell(trace, row - i, column) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double d = cell(trace, row - i, column) - mean;
        square += d * d;
    }
    *error = n > 1 ? sqrt(square / (double)(n * (n - 1))) : NAN;
    return mean;
}

static int64_t rows_of(const xb_model *model, const char *key)
{
    json_t *root = json_loads(xb_model_provenance(model), 0, NULL);
    int64_t rows = json_integer_value(json_object_get(root, key));
    json_decref(root);
    return rows;
}

static summary summarise(const cli_trained *o)
{
    enum { PART = 20, MOST = 20 };
    const xb_table *trace = o->trace;
    summary s = {.row = kept_row(trace),
                 .learnt = rows_of(o->model, "rows"),
                 .held = rows_of(o->model, "rows_held_out")};
    for (int64_t i = 0; i < xb_table_row_count(trace); i++)
        s.epochs += cell(trace, i, "phase") == 2;
    if (cell(trace, s.row, "phase") == 2) s.epoch = (int64_t)cell(trace, s.row, "epoch");
    int64_t n = s.epochs / PART;
    if (n > MOST) n = MOST;
    if (n > s.epoch) n = s.epoch;
    if (n < 1) n = 1;
    s.f = mean_before(trace, "f", s.row, n, &s.f_error);
    s.log_likelihood =
        mean_before(trace, "log_likelihood", s.row, n, &s.log_likelihood_error);
    return s;
}

xb_estimate cli_trained_f(const cli_trained *o)
{
    const summary s = summarise(o);
    return (xb_estimate){s.f, s.f_error};
}

double cli_trained_score(const cli_trained *o)
{
    return cell(o->trace, kept_row(o->trace), "validation");
}

static json_t *noise_json(const cli_trained *o)
{
    json_t *list = json_array();
    for (int i = 0; i < o->noises; i++) {
        const xb_gradient_noise *g = &o->noise[i];
        json_array_append_new(
            list, json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}", "estimator",
                            xb_estimator_name(g->estimator), "antithetic", g->antithetic,
                            "variance_mean", cli_json_real(g->mean.value),
                            "variance_mean_error", cli_json_real(g->mean.std_error),
                            "variance_spread", cli_json_real(g->spread.value),
                            "variance_spread_error", cli_json_real(g->spread.std_error)));
    }
    return list;
}

cli_exit cli_trained_json(cli_session *s, const cli_trained *o)
{
    const xb_model *m = o->model;
    static const char *const columns[] = {"kl", "temperature", "sigma_median",
                                          "validation"};
    const summary sum = summarise(o);
    const struct {
        const char *name;
        double value;
    } means[] = {{"log_likelihood", sum.log_likelihood},
                 {"log_likelihood_error", sum.log_likelihood_error},
                 {"f", sum.f},
                 {"f_error", sum.f_error},
                 {"noise_sd", xb_model_noise_sd(m)}};
    json_t *root = json_object();
    json_object_set_new(root, "model", cli_json_text(o->path));
    json_object_set_new(root, "net", json_string(xb_model_net_text(m)));
    json_object_set_new(root, "law", json_string(xb_law_text(xb_model_law(m))));
    json_object_set_new(root, "likelihood",
                        json_string(xb_likelihood_name(xb_model_likelihood(m))));
    json_object_set_new(root, "epochs", json_integer(xb_table_row_count(o->trace)));
    json_object_set_new(root, "epoch_kept", json_integer(sum.epoch));
    for (int i = 0; i < CLI_COUNT_OF(columns); i++)
        json_object_set_new(root, columns[i],
                            cli_json_real(cell(o->trace, sum.row, columns[i])));
    for (int i = 0; i < CLI_COUNT_OF(means); i++)
        json_object_set_new(root, means[i].name, cli_json_real(means[i].value));
    if (*o->other_net)
        json_object_set_new(root, "net_left",
                            json_pack("{s:s, s:o, s:o}", "net", o->other_net, "f",
                                      cli_json_real(o->other_f.value), "validation",
                                      cli_json_real(o->other_score)));
    if (o->noises) json_object_set_new(root, "gradient_noise", noise_json(o));
    json_object_set_new(root, "settings", json_loads(xb_model_settings(m), 0, NULL));
    json_object_set_new(root, "provenance", json_loads(xb_model_provenance(m), 0, NULL));
    return cli_json_print(s, root);
}

/* Variances as parts of the first one's. */
static void print_noise(const cli_trained *o)
{
    printf("  gradient noise  by estimator, %s = 1, at equal draws: means, sigmas\n",
           xb_estimator_name(o->noise[0].estimator));
    for (int i = 0; i < o->noises; i++) {
        const xb_gradient_noise *g = &o->noise[i], *first = &o->noise[0];
        char mean[48], spread[48];
        cli_format_error(mean, sizeof mean, g->mean.value / first->mean.value,
                         g->mean.std_error / first->mean.value);
        cli_format_error(spread, sizeof spread, g->spread.value / first->spread.value,
                         g->spread.std_error / first->spread.value);
        printf("    %-8s%-13s%-22s %s\n", xb_estimator_name(g->estimator),
               g->antithetic ? "antithetic" : "", mean, spread);
    }
}

/* Targets that are numbers are learnt standardised, and densities are of those. */
static const char *target_unit(const cli_trained *o)
{
    return xb_model_classes(o->model) > 0 ? "" : ", standardised target";
}

/* "nats", "per row" and so on, with the unit of the target. */
static void print_density(const cli_trained *o, const char *name, double value,
                          double error, const char *per)
{
    char unit[64];
    snprintf(unit, sizeof unit, "%s%s", per, target_unit(o));
    cli_print_estimate(name, value, error, unit);
}

static void print_choice(const cli_trained *o, bool held)
{
    char text[64];
    if (held)
        cli_format_plain(text, sizeof text, o->other_score);
    else
        cli_format_error(text, sizeof text, o->other_f.value, o->other_f.std_error);
    printf("  %-20sover %s: %s %s%s\n", "chosen", o->other_net, held ? "validation" : "F",
           text, target_unit(o));
}

/* Of the second phase: without one there are none. */
static void print_elbo(const cli_trained *o, const summary *sum)
{
    const double n = (double)sum->learnt;
    print_density(o, "log likelihood", sum->log_likelihood / n,
                  sum->log_likelihood_error / n, "nats per row");
    cli_print_estimate("KL", cell(o->trace, sum->row, "kl"), NAN,
                       "nats, KL(weights‖prior)");
    print_density(o, "F", sum->f, sum->f_error, "nats");
    cli_print_fact("median sigma", cell(o->trace, sum->row, "sigma_median"), 3, "");
}

void cli_trained_print(const cli_trained *o)
{
    const xb_model *m = o->model;
    const xb_net *net = xb_model_net(m);
    const summary sum = summarise(o);
    const double n = (double)sum.learnt;
    char target[CLI_SHOWN];
    printf("%s: %s from %lld %s, %lld %s\n", o->path,
           cli_shown(target, xb_model_target_name(m)), (long long)sum.learnt,
           xb_plural(sum.learnt, "row", "rows"), (long long)xb_model_features(m),
           xb_plural(xb_model_features(m), "column", "columns"));
    printf("  net                 %s\n", xb_model_net_text(m));
    if (*o->other_net) print_choice(o, sum.held > 0);
    printf("  weights             %lld, %lld of them random, law %s\n",
           (long long)xb_net_param_count(net), (long long)xb_net_stochastic_count(net),
           xb_law_text(xb_model_law(m)));
    if (sum.held > 0)
        printf("  kept                epoch %lld of %lld, the best by %lld %s held out\n",
               (long long)sum.epoch, (long long)sum.epochs, (long long)sum.held,
               xb_plural(sum.held, "row", "rows"));
    if (sum.epochs > 0) print_elbo(o, &sum);
    if (xb_model_likelihood(m) == XB_LIKELIHOOD_GAUSSIAN)
        cli_print_estimate("noise sd", xb_model_noise_sd(m), /* error: of n residuals */
                           xb_model_noise_sd(m) / sqrt(2 * n), "in the target's units");
    if (sum.held > 0)
        print_density(o, "validation", cell(o->trace, sum.row, "validation"), NAN,
                      "log density per held-out row");
    if (o->noises) print_noise(o);
    if (sum.learnt < FEW_ROWS)
        printf("  %lld rows are few: uncertainties are mostly the prior's\n",
               (long long)sum.learnt);
}
