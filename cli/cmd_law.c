/* cmd_law.c: `crossbayes law`: prints the numbers of a law. All of them refer to the law
 * as parametrised, on its own support. */
#include <math.h>
#include <string.h>

#include "commands.h"
#include "law_samples.h"
#include "print.h"

/* One requested quantile. It is computed from the tail that keeps its digits. */
typedef struct quantile_answer {
    double u, one_minus_u;
    double x;
    double x_from_edge; /* distance to the nearer edge; INFINITY: there is no edge */
} quantile_answer;

static quantile_answer answer_quantile(const xb_law *law, cli_item item)
{
    double u = item.from_one ? 1 - item.value : item.value;
    double v = item.from_one ? item.value : 1 - item.value;
    return (quantile_answer){
        .u = u,
        .one_minus_u = v,
        .x = item.from_one ? xb_law_isf(law, v) : xb_law_quantile(law, u),
        .x_from_edge =
            fmin(xb_law_quantile_from_edge(law, u), xb_law_isf_from_edge(law, v)),
    };
}

/* ---- JSON */

static const char *const parameters[] = {"A", "B",  "C",       "w",    "m",
                                         "s", "nu", "epsilon", "delta"};

static json_t *summary_json(const xb_law *law)
{
    xb_moments moments = xb_law_moments(law);
    xb_law_place place = xb_law_placement(law);
    json_t *root = json_object();
    json_object_set_new(root, "family", json_string(xb_law_family(law)));
    json_object_set_new(root, "text", json_string(xb_law_text(law)));
    for (int i = 0; i < CLI_COUNT_OF(parameters); i++)
        json_object_set_new(root, parameters[i],
                            cli_json_real(xb_law_number(law, parameters[i])));
    json_object_set_new(root, "mean", cli_json_real(moments.mean));
    json_object_set_new(root, "variance", cli_json_real(moments.variance));
    json_object_set_new(root, "skewness", cli_json_real(moments.skewness));
    json_object_set_new(root, "excess_kurtosis", cli_json_real(moments.excess_kurtosis));
    json_object_set_new(root, "entropy", cli_json_real(xb_law_entropy(law)));
    json_object_set_new(root, "kl_gaussian", cli_json_real(xb_law_kl_gaussian(law)));
    json_t *support = json_array();
    json_array_append_new(support, cli_json_real(xb_law_lower(law)));
    json_array_append_new(support, cli_json_real(xb_law_upper(law)));
    json_object_set_new(root, "support", support);
    json_object_set_new(root, "offset", cli_json_real(place.offset));
    json_object_set_new(root, "scale", cli_json_real(place.scale));
    json_object_set_new(root, "unit", cli_json_text(place.unit));
    return root;
}

static json_t *quantiles_json(const xb_law *law, const cli_value *asked)
{
    json_t *list = json_array();
    for (int i = 0; i < asked->n_items; i++) {
        quantile_answer a = answer_quantile(law, asked->items[i]);
        json_t *one = json_object();
        json_object_set_new(one, "u", cli_json_real(a.u));
        json_object_set_new(one, "one_minus_u", cli_json_real(a.one_minus_u));
        json_object_set_new(one, "x", cli_json_real(a.x));
        json_object_set_new(one, "x_from_edge", cli_json_real(a.x_from_edge));
        json_array_append_new(list, one);
    }
    return list;
}

typedef double (*law_function)(const xb_law *law, double x);

static json_t *points_json(const xb_law *law, const cli_value *asked, law_function f)
{
    json_t *list = json_array();
    for (int i = 0; i < asked->n_items; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "x", cli_json_real(asked->items[i].value));
        json_object_set_new(one, "value", cli_json_real(f(law, asked->items[i].value)));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *rule_json(const xb_rule *rule)
{
    json_t *nodes = json_array(), *weights = json_array(), *root = json_object();
    for (int64_t i = 0; i < xb_rule_count(rule); i++) {
        json_array_append_new(nodes, cli_json_real(xb_rule_nodes(rule)[i]));
        json_array_append_new(weights, cli_json_real(xb_rule_weights(rule)[i]));
    }
    json_object_set_new(root, "nodes", nodes);
    json_object_set_new(root, "weights", weights);
    return root;
}

static cli_exit print_json(cli_session *s, const xb_law *law, const xb_rule *rule,
                           const xb_goodness_result *goodness)
{
    const cli_value *quantile = cli_get(&s->args, "quantile");
    const cli_value *cdf = cli_get(&s->args, "cdf"), *pdf = cli_get(&s->args, "pdf");
    json_t *root = summary_json(law);
    if (quantile->given)
        json_object_set_new(root, "quantile", quantiles_json(law, quantile));
    if (cdf->given) json_object_set_new(root, "cdf", points_json(law, cdf, xb_law_cdf));
    if (pdf->given) json_object_set_new(root, "pdf", points_json(law, pdf, xb_law_pdf));
    if (rule) json_object_set_new(root, "rule", rule_json(rule));
    if (goodness) json_object_set_new(root, "goodness", cli_goodness_json(s, goodness));
    return cli_json_print(s, root);
}

/* ---- text */

static const char *family_about(const xb_law *law)
{
    for (int i = 0; i < xb_law_family_count(); i++)
        if (strcmp(xb_law_family_name(i), xb_law_family(law)) == 0)
            return xb_law_family_about(i);
    return "";
}

/* Writes the offset to the place of the scale's sixth digit. */
static void format_beside(char *out, size_t size, double offset, double scale)
{
    enum { DIGITS = 6, MOST = 15 };
    const double place = floor(log10(scale)) - (DIGITS - 1);
    const double first = offset == 0 ? place : floor(log10(fabs(offset)));
    const double digits = fmin(fmax(first - place + 1, 1), MOST);
    snprintf(out, size, "%.*g", (int)digits, offset);
}

static void print_place(const xb_law *law)
{
    xb_law_place place = xb_law_placement(law);
    if (place.offset == 0 && place.scale == 1 && !*place.unit) return;
    xb_si_unit u = xb_si_unit_for(fmax(place.scale, fabs(place.offset)), place.unit);
    char offset[64];
    const double scale = place.scale / u.factor;
    format_beside(offset, sizeof offset, fabs(place.offset) / u.factor, scale);
    printf("  %-20sx * %.6g %c %s%s%s\n", "in your units", scale,
           place.offset < 0 ? '-' : '+', offset, *u.text ? " " : "", u.text);
}

/* Replaces values that differ from 0 only by rounding with 0. */
static double without_rounding(double value, double scale)
{
    const double rounding = 1e-13;
    return fabs(value) > rounding * scale ? value : 0;
}

static void print_summary(const xb_law *law)
{
    enum { DIGITS = 6 };
    xb_moments moments = xb_law_moments(law);
    printf("%s\n  %s\n\n", xb_law_text(law), family_about(law));
    for (int i = 0; i < CLI_COUNT_OF(parameters); i++)
        if (!isnan(xb_law_number(law, parameters[i])))
            cli_print_fact(parameters[i], xb_law_number(law, parameters[i]), DIGITS, "");
    if (isfinite(xb_law_lower(law)) || isfinite(xb_law_upper(law)))
        printf("  %-20s%g to %g\n", "support", xb_law_lower(law), xb_law_upper(law));
    else
        printf("  %-20sunbounded\n", "support");
    print_place(law);
    cli_print_fact("mean", without_rounding(moments.mean, xb_law_sd(law)), DIGITS, "");
    cli_print_fact("variance", moments.variance, DIGITS, "");
    cli_print_fact("standard deviation", xb_law_sd(law), DIGITS, "");
    cli_print_fact("skewness", without_rounding(moments.skewness, 1), DIGITS, "");
    cli_print_fact("excess kurtosis", moments.excess_kurtosis, DIGITS, "");
    cli_print_fact("entropy", xb_law_entropy(law), DIGITS, "nats");
    cli_print_fact("KL", xb_law_kl_gaussian(law), DIGITS, "nats, KL(law‖Gaussian)");
}

static void print_quantiles(const xb_law *law, const cli_value *asked)
{
    if (!asked->given) return;
    printf("\n  %-24s%-24s%s\n", "u", "quantile", "distance to the nearer edge");
    for (int i = 0; i < asked->n_items; i++) {
        quantile_answer a = answer_quantile(law, asked->items[i]);
        char u[40];
        snprintf(u, sizeof u, "%s%.12g", asked->items[i].from_one ? "1-" : "",
                 asked->items[i].value);
        /* Adding 0.0 turns -0 into 0. */
        printf("  %-24s%-24.16g%.16g\n", u, a.x + 0.0, a.x_from_edge);
    }
}

static void print_points(const xb_law *law, const cli_value *asked, const char *name,
                         law_function f)
{
    if (!asked->given) return;
    printf("\n  %-24s%s\n", "x", name);
    for (int i = 0; i < asked->n_items; i++)
        printf("  %-24.12g%.16g\n", asked->items[i].value, f(law, asked->items[i].value));
}

static void print_rule(const xb_rule *rule)
{
    if (!rule) return;
    printf("\n  %-24s%s\n", "node", "weight");
    for (int64_t i = 0; i < xb_rule_count(rule); i++)
        printf("  %-24.16g%.16g\n", xb_rule_nodes(rule)[i], xb_rule_weights(rule)[i]);
}

static cli_exit print_text(cli_session *s, const xb_law *law, const xb_rule *rule,
                           const xb_goodness_result *goodness)
{
    print_summary(law);
    print_quantiles(law, cli_get(&s->args, "quantile"));
    print_points(law, cli_get(&s->args, "cdf"), "cdf", xb_law_cdf);
    print_points(law, cli_get(&s->args, "pdf"), "pdf", xb_law_pdf);
    print_rule(rule);
    if (goodness) cli_show_goodness(s, goodness, law);
    return CLI_DONE;
}

/* ---- the command */

static cli_exit run(cli_session *s)
{
    xb_law *law = NULL;
    xb_rule *rule = NULL;
    xb_status status = xb_law_parse(s->ctx, &law, s->args.arg[0]);
    int64_t points = (int64_t)cli_count(&s->args, "rule", 0);
    if (status == XB_OK && points > 0)
        status = xb_rule_gauss(s->ctx, &rule, law, points, XB_RECURRENCE_STABLE);
    xb_goodness_result *goodness = NULL;
    cli_exit code = cli_status(s, status);
    if (code == CLI_DONE) code = cli_law_samples(s, &goodness, law);
    if (code == CLI_DONE)
        code = (cli_json(s) ? print_json : print_text)(s, law, rule, goodness);
    xb_goodness_result_destroy(goodness);
    xb_rule_destroy(rule);
    xb_law_destroy(law);
    return code;
}

void cli_help_families(FILE *out)
{
    fprintf(out, "\nLAW is a family with parameters, or a law file:\n");
    for (int i = 0; i < xb_law_family_count(); i++)
        fprintf(out, "  %-13s%s\n", xb_law_family_name(i), xb_law_family_about(i));
}

static const cli_option options[] = {
    {"quantile", 0, CLI_MASSES, "U,..",
     "quantile of each probability U; for the upper tail write e.g. 1-1e-20", 0, 0},
    {"cdf", 0, CLI_NUMBERS, "X,..", "probability below X, for each X", 0, 0},
    {"pdf", 0, CLI_NUMBERS, "X,..", "density at X, for each X", 0, 0},
    {"rule", 0, CLI_COUNT, "N",
     "Gauss quadrature rule of N points, with the law as its weight function", 1,
     XB_RULE_MAX},
    {"samples", 0, CLI_PATH, "FILE",
     "file of measured samples to test the law against, not those it was fitted to; "
     "offset "
     "and scale are those of "
     "the law file, 0 and 1 for a family",
     0, 0},
    {"column", 'c', CLI_TEXT, "COLUMN", "column of the samples, by name or number from 1",
     0, 0},
    {"level", 0, CLI_NUMBER, "P",
     "significance threshold: the law does not fit if a p-value is at or below it [0.01]",
     1e-6, 0.5},
};

const cli_command cli_command_law = {
    .name = "law",
    .group = "What is my device's noise?",
    .about =
        "moments, quantiles, densities and quadrature of a law; a test against samples",
    .usage = "LAW [options]",
    .example = "crossbayes law mtj:B=0.15,w=0.5 --quantile 0.01,0.5,1-1e-20 --rule 5\n"
               "crossbayes sample mtj:B=0.15,w=0.5 -n 1e4 -o noise.csv\n"
               "crossbayes law mtj:B=0.15,w=0.5 --samples noise.csv",
    .options = options,
    .n_options = CLI_COUNT_OF(options),
    .min_args = 1,
    .max_args = 1,
    .more = cli_help_families,
    .run = run,
};
