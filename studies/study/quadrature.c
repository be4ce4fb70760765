/* quadrature.c: the study "quadrature", the paper's Fig. 2 and more: variance and KL to
 * the matched Gaussian by every rule against its number of points, for the device law and
 * for the mixture.
 *
 * Tables LAW_QUANTITY_MEASURE, LAW device or bimodal, QUANTITY variance or kl,
 * MEASURE
 *   error  |value - exact|: the law's own variance, and KL by the smooth rule with
 *          as many points as there may be, good to 1e-15
 *   step   (value - value of the order before)^2, the paper's own measure: blind
 *          to an error that more points do not change
 * with a row per n and a column per rule; empty where a rule does not apply or
 * cannot have n points. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "crossbayes/extend.h"
#include "crossbayes/rule.h"
#include "study/findings.h"

typedef enum rule_source { COMPOSITE, GAUSS, WHEELER } rule_source;

static const struct {
    const char *name;
    rule_source source;
    xb_composite kind;
} contenders[] = {
    {"legendre", COMPOSITE, XB_COMPOSITE_LEGENDRE},
    {"hermite", COMPOSITE, XB_COMPOSITE_HERMITE},
    {"paper_split", COMPOSITE, XB_COMPOSITE_SPLIT},
    {"paper_laguerre", COMPOSITE, XB_COMPOSITE_LAGUERRE},
    {"gauss_wheeler", WHEELER, 0},
    {"gauss", GAUSS, 0},
    {"modes", COMPOSITE, XB_COMPOSITE_MODES},
    {"trapezoid", COMPOSITE, XB_COMPOSITE_TRAPEZOID},
    {"smooth", COMPOSITE, XB_COMPOSITE_SMOOTH},
};

enum { RULES = XB_COUNT(contenders), STEP = 2, LARGEST = 256, LARGEST_QUICK = 64 };
enum { VARIANCE, KL, QUANTITIES };
static const char *const quantity_names[] = {"variance", "kl"};

/* A law and its exact values. */
typedef struct subject {
    const char *name;
    const xb_law *law;
    double exact[QUANTITIES];
} subject;

/* The results of the rules for a law. */
typedef struct results {
    const subject *of;
    int64_t rows;
    double (*value)[RULES][QUANTITIES]; /* [rows], NAN where there is none */
} results;

/* ---- computing */

static xb_status rule_make(xb_ctx *ctx, xb_rule **out, const xb_law *law, int rule,
                           int64_t n)
{
    if (contenders[rule].source == COMPOSITE)
        return xb_rule_composite(ctx, out, law, n, contenders[rule].kind, NULL);
    return xb_rule_gauss(ctx, out, law, n,
                         contenders[rule].source == GAUSS ? XB_RECURRENCE_STABLE
                                                          : XB_RECURRENCE_WHEELER);
}

static void rule_apply(double value[QUANTITIES], const xb_rule *rule, const xb_law *law)
{
    value[VARIANCE] = xb_rule_variance(rule);
    value[KL] = xb_rule_kl_gaussian(rule, law, xb_law_mean(law), xb_law_sd(law));
}

/* Values are NAN if the rule does not apply (XB_E_ARGUMENT), breaks down (Wheeler's
 * XB_E_NUMERIC) or cannot have exactly n points. */
static xb_status rule_values(xb_ctx *ctx, double value[QUANTITIES], const xb_law *law,
                             int rule, int64_t n)
{
    value[VARIANCE] = value[KL] = NAN;
    xb_rule *made = NULL;
    xb_status status = rule_make(ctx, &made, law, rule, n);
    if (status == XB_E_ARGUMENT || status == XB_E_NUMERIC) return XB_OK;
    if (status == XB_OK && xb_rule_count(made) == n) rule_apply(value, made, law);
    xb_rule_destroy(made);
    return status;
}

static xb_status subject_make(xb_ctx *ctx, subject *out, const char *name,
                              const xb_law *law)
{
    xb_rule *rule = NULL;
    XB_TRY(xb_rule_composite(ctx, &rule, law, XB_RULE_MAX, XB_COMPOSITE_SMOOTH, NULL));
    *out = (subject){name, law, {0}};
    rule_apply(out->exact, rule, law);
    out->exact[VARIANCE] = xb_law_moments(law).variance;
    out->exact[KL] = xb_rounded_off(out->exact[KL]);
    xb_rule_destroy(rule);
    return XB_OK;
}

static int64_t row_points(int64_t row) { return STEP * (row + 1); }

static xb_status results_fill(xb_ctx *ctx, results *r)
{
    for (int64_t i = 0; i < r->rows; i++) {
        XB_TRY(xb_progress_tell(ctx, "comparing quadratures", i, r->rows));
        for (int rule = 0; rule < RULES; rule++)
            XB_TRY(rule_values(ctx, r->value[i][rule], r->of->law, rule, row_points(i)));
    }
    return XB_OK;
}

/* ---- tables */

static void put_errors(xb_table *table, const results *r, int quantity)
{
    for (int rule = 0; rule < RULES; rule++)
        for (int64_t i = 0; i < r->rows; i++)
            xb_table_set(table, i, rule + 1,
                         fabs(r->value[i][rule][quantity] - r->of->exact[quantity]));
}

static void put_steps(xb_table *table, const results *r, int quantity)
{
    for (int rule = 0; rule < RULES; rule++) {
        double before = NAN;
        for (int64_t i = 0; i < r->rows; i++) {
            double value = r->value[i][rule][quantity], change = value - before;
            xb_table_set(table, i, rule + 1, change * change);
            if (!isnan(value)) before = value;
        }
    }
}

typedef void put_fn(xb_table *table, const results *r, int quantity);

static xb_status add_table(xb_ctx *ctx, xb_study *study, const results *r, int quantity,
                           const char *measure, put_fn *put)
{
    const char *columns[RULES + 1] = {"n"};
    for (int rule = 0; rule < RULES; rule++) columns[rule + 1] = contenders[rule].name;
    char name[64];
    snprintf(name, sizeof name, "%s_%s_%s", r->of->name, quantity_names[quantity],
             measure);
    xb_table *table = NULL;
    XB_TRY(xb_study_new_table(ctx, study, &table, name, r->rows, RULES + 1, columns));
    for (int64_t i = 0; i < r->rows; i++)
        xb_table_set(table, i, 0, (double)row_points(i));
    put(table, r, quantity);
    return XB_OK;
}

static xb_status add_tables(xb_ctx *ctx, xb_study *study, const results *r)
{
    for (int quantity = 0; quantity < QUANTITIES; quantity++) {
        XB_TRY(add_table(ctx, study, r, quantity, "error", put_errors));
        XB_TRY(add_table(ctx, study, r, quantity, "step", put_steps));
    }
    return XB_OK;
}

static xb_status compare_rules(xb_ctx *ctx, xb_study *study, const subject *of,
                               bool quick)
{
    results r = {of, (quick ? LARGEST_QUICK : LARGEST) / STEP, NULL};
    r.value = xb_new(ctx, r.rows, sizeof *r.value);
    if (!r.value) return XB_E_MEMORY;
    xb_status status = results_fill(ctx, &r);
    if (status == XB_OK) status = add_tables(ctx, study, &r);
    xb_free(r.value);
    return status;
}

/* ---- facts */

typedef struct error_fact {
    const char *name;
    xb_composite kind;
    int quantity;
    int64_t n;
    const char *text;
} error_fact;

static const error_fact device_facts[] = {
    {"paper_split_variance_floor", XB_COMPOSITE_SPLIT, VARIANCE, 1024,
     "error of the device's variance by the paper's split rule (epsilon 0.01, two "
     "trapezoid points) with 1024 points: its floor"},
    {"paper_split_kl_floor", XB_COMPOSITE_SPLIT, KL, 1024,
     "error of the device's KL divergence by the same rule"},
    {"smooth_variance_error", XB_COMPOSITE_SMOOTH, VARIANCE, 128,
     "error of the device's variance by the smooth rule with 128 points"},
    {"smooth_kl_error", XB_COMPOSITE_SMOOTH, KL, 128,
     "error of the device's KL divergence by the smooth rule with 128 points"},
};

static const error_fact bimodal_facts[] = {
    {"bimodal_laguerre_kl_error", XB_COMPOSITE_LAGUERRE, KL, 128,
     "error of the bimodal law's KL divergence by two-sided Gauss-Laguerre, the paper's "
     "choice, with 128 points"},
    {"bimodal_hermite_kl_error", XB_COMPOSITE_HERMITE, KL, 128,
     "error of the bimodal law's KL divergence by plain Gauss-Hermite with 128 points"},
    {"bimodal_modes_kl_error", XB_COMPOSITE_MODES, KL, 128,
     "error of the bimodal law's KL divergence by Gauss-Hermite around each mode with "
     "128 "
     "points"},
    {"bimodal_trapezoid_kl_error", XB_COMPOSITE_TRAPEZOID, KL, 128,
     "error of the bimodal law's KL divergence by the trapezoid rule with 128 points"},
};

/* Facts about rules that do not apply to the law are left out. */
static xb_status add_error_facts(xb_ctx *ctx, xb_study *study, const subject *of,
                                 const error_fact *facts, int count)
{
    for (int i = 0; i < count; i++) {
        const error_fact *f = &facts[i];
        double value[QUANTITIES];
        xb_rule *rule = NULL;
        xb_status status = xb_rule_composite(ctx, &rule, of->law, f->n, f->kind, NULL);
        if (status == XB_E_ARGUMENT) continue;
        XB_TRY(status);
        rule_apply(value, rule, of->law);
        xb_rule_destroy(rule);
        double error = fabs(value[f->quantity] - of->exact[f->quantity]);
        XB_TRY(xb_study_add_fact(ctx, study, f->name, error, NAN, "%s", f->text));
    }
    return XB_OK;
}

typedef struct prior {
    double mean, sd;
} prior;

static double log_prior(void *arg, double x)
{
    const prior *p = arg;
    double z = (x - p->mean) / p->sd;
    return -0.5 * z * z - log(p->sd * sqrt(2 * M_PI));
}

/* (Q7) Largest error of E log N(x; mean, sd) by two points, relative to the size
 * of its terms. */
static double cross_entropy_error(const xb_law *law, const xb_rule *two)
{
    static const prior priors[] = {{0, 1}, {0.5, 0.1}, {-2, 3}};
    double worst = 0;
    for (int i = 0; i < XB_COUNT(priors); i++) {
        prior p = priors[i];
        double d = xb_law_mean(law) - p.mean, twice = 2 * p.sd * p.sd;
        double norm = -0.5 * log(M_PI * twice);
        double square = (xb_law_moments(law).variance + d * d) / twice;
        double error = fabs(xb_rule_expect(two, log_prior, &p) - (norm - square));
        worst = fmax(worst, error / (fabs(norm) + square));
    }
    return worst;
}

static xb_status add_gauss_facts(xb_ctx *ctx, xb_study *study, const xb_law *law)
{
    xb_rule *rule = NULL;
    XB_TRY(xb_rule_gauss(ctx, &rule, law, 2, XB_RECURRENCE_STABLE));
    double error = cross_entropy_error(law, rule);
    xb_rule_destroy(rule);
    XB_TRY(xb_study_add_fact(ctx, study, "two_point_cross_entropy_error", error, NAN,
                             "largest relative error of the device's cross entropy with "
                             "three Gaussians by its Gauss rule of two points"));
    int64_t n = 0;
    xb_status status = XB_OK;
    while (status == XB_OK) {
        status = xb_rule_gauss(ctx, &rule, law, ++n, XB_RECURRENCE_WHEELER);
        if (status == XB_OK) xb_rule_destroy(rule);
    }
    if (status != XB_E_NUMERIC) return status;
    return xb_study_add_fact(
        ctx, study, "wheeler_breaks_at", (double)n, NAN,
        "number of points at which Wheeler's algorithm on the device's raw moments, the "
        "paper's method for the Gauss rule, breaks down");
}

static xb_status add_exact_facts(xb_ctx *ctx, xb_study *study, const subject *device,
                                 const subject *bimodal)
{
    XB_TRY(xb_study_add_fact(ctx, study, "device_variance", device->exact[VARIANCE], NAN,
                             "variance of %s", xb_law_text(device->law)));
    XB_TRY(xb_study_add_fact(ctx, study, "device_kl", device->exact[KL], NAN,
                             "KL(%s‖Gaussian of its mean and variance)",
                             xb_law_text(device->law)));
    return xb_study_add_fact(ctx, study, "bimodal_kl", bimodal->exact[KL], NAN,
                             "KL(%s‖standard Gaussian)", xb_law_text(bimodal->law));
}

static xb_status compare_laws(xb_ctx *ctx, xb_study *study, const xb_law *device_law,
                              const xb_law *bimodal_law, bool quick)
{
    subject device, bimodal;
    XB_TRY(subject_make(ctx, &device, "device", device_law));
    XB_TRY(subject_make(ctx, &bimodal, "bimodal", bimodal_law));
    XB_TRY(compare_rules(ctx, study, &device, quick));
    XB_TRY(compare_rules(ctx, study, &bimodal, quick));
    XB_TRY(add_exact_facts(ctx, study, &device, &bimodal));
    XB_TRY(add_error_facts(ctx, study, &device, device_facts, XB_COUNT(device_facts)));
    XB_TRY(add_error_facts(ctx, study, &bimodal, bimodal_facts, XB_COUNT(bimodal_facts)));
    return add_gauss_facts(ctx, study, device_law);
}

static xb_status run(xb_ctx *ctx, xb_study *study, const xb_law *device,
                     const xb_study_options *opt)
{
    xb_law *bimodal = NULL;
    XB_TRY(xb_law_parse(ctx, &bimodal, "bimodal:m=0.9"));
    xb_status status = compare_laws(ctx, study, device, bimodal, opt->quick);
    xb_law_destroy(bimodal);
    return status;
}

const xb_study_kind xb_study_quadrature = {
    .name = "quadrature",
    .about =
        "variance and KL by standard quadrature rules, the paper's and ours (Fig. 2)",
    .run = run,
    .find = xb_find_quadrature,
};
