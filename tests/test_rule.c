/* test_rule.c: Gauss rules of laws against mpmath (fixtures/gauss_rules.json), closed
 * forms and what defines them: exactness, orthonormality, positive weights. The
 * standard rules are in test_rule_standard.c, composite ones in test_rule_composite.c. */
#include "ruletest.h"

#include "base/gauss.h"
#include "base/memory.h"
#include "failalloc.h"
#include "law/family.h"
#include "rule/standard.h"

/* ---- against mpmath */

/* The nodes >= 0 of a symmetric rule and their weights. */
static void compare_rule(const xb_rule *rule, const json_t *nodes, const json_t *weights)
{
    int64_t n = rule->n, half = (n + 1) / 2;
    assert_int_equal(json_array_size(nodes), half);
    for (int64_t i = 0; i < half; i++) {
        int64_t up = n / 2 + i, down = half - 1 - i;
        double x = number(json_array_get(nodes, (size_t)i));
        double w = number(json_array_get(weights, (size_t)i));
        assert_close(rule->nodes[up], x, NODE_ERROR);
        assert_close(rule->weights[up], w, WEIGHT_ERROR);
        assert_true(rule->nodes[down] == -rule->nodes[up]);
        assert_true(rule->weights[down] == rule->weights[up]);
    }
}

static void gauss_rules_are_mpmaths(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    json_t *root = load(XB_FIXTURES "/gauss_rules.json"), *entry;
    size_t i;
    json_array_foreach(json_object_get(root, "rules"), i, entry)
    {
        xb_law *law = test_law(ctx, json_string_value(json_object_get(entry, "law")));
        xb_rule rule = gauss(ctx, law, json_integer_value(json_object_get(entry, "n")));
        compare_rule(&rule, json_object_get(entry, "nodes"),
                     json_object_get(entry, "weights"));
        xb_rule_free(&rule);
        xb_law_destroy(law);
    }
    assert_int_equal(i, 80);
    json_decref(root);
    xb_ctx_destroy(ctx);
}

/* All rules to 64 points, where the golden values are at hand. */
static void gauss_rules_are_golden(void **state)
{
    (void)state;
    const char *dir = test_data_dir();
    if (!dir) skip();
    char path[4200], family[16];
    snprintf(path, sizeof path, "%s/golden/golden_quadrature.json", dir);
    xb_ctx *ctx = test_ctx();
    json_t *root = load(path), *entry, *golden;
    const char *name, *n;
    json_object_foreach(root, name, entry)
    {
        double value[2];
        xb_law *law = NULL;
        assert_int_equal(sscanf(name, "%15[a-z]_B%lf_w%lf", family, value, value + 1), 3);
        assert_ok(ctx, xb_law_create(ctx, &law, family, value, 2));
        json_object_foreach(json_object_get(entry, "rules"), n, golden)
        {
            xb_rule rule = gauss(ctx, law, atoi(n));
            compare_rule(&rule, json_object_get(golden, "nodes_nonneg"),
                         json_object_get(golden, "weights"));
            xb_rule_free(&rule);
        }
        xb_law_destroy(law);
    }
    json_decref(root);
    xb_ctx_destroy(ctx);
}

static void high_orders_are_mpmaths(void **state)
{
    (void)state;
    enum { N = 256 };
    xb_ctx *ctx = test_ctx();
    json_t *root = load(XB_FIXTURES "/gauss_rules.json"), *entry, *k;
    size_t i, j;
    json_array_foreach(json_object_get(root, "beta"), i, entry)
    {
        double alpha[N], beta[N];
        xb_law *law = test_law(ctx, json_string_value(json_object_get(entry, "law")));
        assert_ok(ctx,
                  xb_rule_recurrence(ctx, alpha, beta, law, N, XB_RECURRENCE_STABLE));
        assert_true(beta[0] == 1);
        json_array_foreach(json_object_get(entry, "k"), j, k)
        {
            const json_t *expected = json_array_get(json_object_get(entry, "beta"), j);
            assert_close(beta[json_integer_value(k)], number(expected), 2e-14);
        }
        for (int l = 0; l < N; l++) assert_true(alpha[l] == 0);
        xb_law_destroy(law);
    }
    assert_int_equal(i, 19);
    json_decref(root);
    xb_ctx_destroy(ctx);
}

/* ---- what defines a Gauss rule */

static void gauss_rules_are_sound(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 17, 128, 256};
    xb_ctx *ctx = test_ctx();
    for (int l = 0; l < XB_COUNT(LAWS); l++) {
        xb_law *law = test_law(ctx, LAWS[l]);
        for (int j = 0; j < XB_COUNT(sizes); j++) {
            xb_rule rule = gauss(ctx, law, sizes[j]);
            for (int64_t i = 0; i < rule.n; i++) {
                assert_true(rule.weights[i] > 0);
                assert_true(i == 0 || rule.nodes[i] > rule.nodes[i - 1]);
            }
            assert_true(rule.nodes[0] > xb_law_lower(law));
            assert_true(rule.nodes[rule.n - 1] < xb_law_upper(law));
            assert_close(total(&rule), 1, 1e-14);
            xb_rule_free(&rule);
        }
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* Moments to degree 2n - 1; the next one is missed by the product of the betas. */
static void gauss_rules_are_exact(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 5, 8, 16, 31};
    xb_ctx *ctx = test_ctx();
    for (int l = 0; l < XB_COUNT(LAWS); l++) {
        xb_law *law = test_law(ctx, LAWS[l]);
        for (int j = 0; j < XB_COUNT(sizes); j++) {
            int n = sizes[j];
            xb_rule rule = gauss(ctx, law, n);
            for (int k = 0; k < 2 * n; k += 2)
                assert_close(raw_moment_by(&rule, k), xb_law_raw_moment(law, k), 1e-12);
            for (int k = 1; k < 2 * n; k += 2)
                assert_true(fabs(raw_moment_by(&rule, k)) <=
                            1e-15 * raw_moment_by(&rule, k - 1) * rule.nodes[n - 1]);
            double alpha[32], beta[32], missed = 1;
            assert_ok(ctx, xb_rule_recurrence(ctx, alpha, beta, law, n + 1, 0));
            for (int k = 1; k <= n; k++) missed *= beta[k];
            double even = xb_law_raw_moment(law, 2 * n);
            assert_close_floor(even - raw_moment_by(&rule, 2 * n), missed, 1e-9,
                               1e-4 * even);
            xb_rule_free(&rule);
        }
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* Orthonormal polynomials p[0..n-1] at x. */
static void polynomials(double *p, double x, const double *alpha, const double *beta,
                        int n)
{
    p[0] = 1;
    for (int k = 0; k + 1 < n; k++)
        p[k + 1] = ((x - alpha[k]) * p[k] - (k > 0 ? sqrt(beta[k]) * p[k - 1] : 0)) /
                   sqrt(beta[k + 1]);
}

enum { GRAM = 48 };

/* Largest |<p_j, p_k> - delta_jk| by a rule of the law. */
static double gram_error(const xb_rule *rule, const double *alpha, const double *beta)
{
    static double gram[GRAM][GRAM];
    memset(gram, 0, sizeof gram);
    for (int64_t i = 0; i < rule->n; i++) {
        double p[GRAM];
        polynomials(p, rule->nodes[i], alpha, beta, GRAM);
        for (int j = 0; j < GRAM; j++)
            for (int k = 0; k < GRAM; k++) gram[j][k] += rule->weights[i] * p[j] * p[k];
    }
    double worst = 0;
    for (int j = 0; j < GRAM; j++)
        for (int k = 0; k < GRAM; k++) worst = fmax(worst, fabs(gram[j][k] - (j == k)));
    return worst;
}

static void polynomials_are_orthonormal(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int l = 0; l < XB_COUNT(LAWS); l++) {
        double alpha[GRAM], beta[GRAM];
        xb_law *law = test_law(ctx, LAWS[l]);
        assert_ok(ctx, xb_rule_recurrence(ctx, alpha, beta, law, GRAM, 0));
        xb_rule rule = gauss(ctx, law, GRAM);
        assert_at_most(gram_error(&rule, alpha, beta), 1e-12);
        xb_rule_free(&rule);
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* More points than a double can weigh: bimodal with m = 0 is the Gaussian. */
static void thousands_of_points(void **state)
{
    (void)state;
    int64_t n = test_long() ? XB_RULE_MAX : 1500;
    xb_ctx *ctx = test_ctx();
    double *alpha = xb_new(ctx, 2 * n, sizeof *alpha), *beta = alpha + n;
    assert_non_null(alpha);
    xb_law *law = test_law(ctx, "bimodal:m=0");
    assert_ok(ctx, xb_rule_recurrence(ctx, alpha, beta, law, n, XB_RECURRENCE_STABLE));
    for (int64_t k = 1; k < n; k++) assert_close(beta[k], (double)k, 1e-12);
    xb_law_destroy(law);
    law = test_law(ctx, "mtj:B=0.15,w=0.5");
    xb_rule rule = gauss(ctx, law, n);
    assert_close(total(&rule), 1, 1e-14);
    assert_close(xb_rule_variance(&rule), xb_law_moments(law).variance, 1e-14);
    assert_true(rule.nodes[0] > -1 && rule.nodes[n - 1] < 1);
    xb_rule_free(&rule);
    xb_law_destroy(law);
    free(alpha);
    xb_ctx_destroy(ctx);
}

/* ---- a family of this test: polynomial bumps, symmetric or not, with or without
 * a gap, in many panels or in one */

enum { ONE_BUMP, TWO_BUMPS, PARABOLA };

static double bump_pdf(const xb_law *law, double x)
{
    if (law->k[0] == ONE_BUMP) return x > 0 && x < 1 ? 12 * x * (1 - x) * (1 - x) : 0;
    if (law->k[0] == PARABOLA) return fabs(x) < 1 ? 0.75 * (1 - x) * (1 + x) : 0;
    double share = x < 3 ? 0.3 : 0.7, y = x < 3 ? x : x - 5;
    return y > 0 && y < 1 ? share * 6 * y * (1 - y) : 0;
}

static double bump_log_pdf(const xb_law *law, double x) { return log(bump_pdf(law, x)); }

/* Mass of 6 y (1 - y) below y; then of the law on either side of x. */
static double bump_below(double y)
{
    y = fmin(fmax(y, 0), 1);
    return y * y * (3 - 2 * y);
}

static double bump_tail(const xb_law *law, double x, bool upper)
{
    double y = fmin(fmax(x, 0), 1);
    double below = law->k[0] == ONE_BUMP ? y * y * (6 - 8 * y + 3 * y * y)
                                         : 0.3 * bump_below(x) + 0.7 * bump_below(x - 5);
    return upper ? 1 - below : below;
}

static int64_t bump_panels(const xb_law *law, double *out, int64_t capacity)
{
    int bumps = law->k[0] == ONE_BUMP ? 1 : 2, steps = bumps == 1 ? 200 : 20;
    int64_t n = 0;
    if (law->k[0] == PARABOLA) {
        n = xb_panel_add(out, capacity, n, -1);
        return xb_panel_add(out, capacity, n, 1);
    }
    for (int b = 0; b < bumps; b++)
        for (int i = 0; i <= steps; i++)
            n = xb_panel_add(out, capacity, n, 5 * b + (double)i / steps);
    return n;
}

static xb_status bump_setup(xb_ctx *ctx, xb_law *law)
{
    (void)ctx;
    law->symmetric = law->k[0] == PARABOLA;
    law->lower = law->symmetric ? -1 : 0;
    law->upper = law->k[0] == TWO_BUMPS ? 6 : 1;
    return XB_OK;
}

static const xb_family bump_family = {
    .name = "bump",
    .setup = bump_setup,
    .pdf = bump_pdf,
    .log_pdf = bump_log_pdf,
    .tail = bump_tail,
    .panels = bump_panels,
};

static xb_law *bump_law(xb_ctx *ctx, int bumps)
{
    xb_law *law = xb_new(ctx, 1, sizeof *law);
    assert_non_null(law);
    law->family = &bump_family;
    law->k[0] = bumps;
    assert_ok(ctx, xb_law_finish(ctx, &law, law));
    return law;
}

/* x (1 - x)^2 on [0, 1] is Jacobi's weight with exponents 2 and 1. */
static void one_bump_is_jacobi(void **state)
{
    (void)state;
    enum { N = 256 };
    const double a = 2, b = 1;
    xb_ctx *ctx = test_ctx();
    xb_law *law = bump_law(ctx, ONE_BUMP);
    double alpha[N], beta[N];
    assert_ok(ctx, xb_rule_recurrence(ctx, alpha, beta, law, N, XB_RECURRENCE_STABLE));
    for (int k = 0; k < N; k++) {
        double s = 2 * k + a + b;
        double centre = k == 0 ? (b - a) / (a + b + 2) : (b * b - a * a) / (s * (s + 2));
        double square =
            4 * k * (k + a) * (k + b) * (k + a + b) / (s * s * (s + 1) * (s - 1));
        assert_close(alpha[k], 0.5 * (1 + centre), 2e-14);
        assert_close(beta[k], k == 0 ? 1 : 0.25 * square, 1e-14);
    }
    xb_rule rule = gauss(ctx, law, N);
    assert_close(total(&rule), 1, 1e-14);
    assert_close(xb_rule_variance(&rule), 0.04, 1e-13); /* of Beta(2, 3) */
    assert_true(rule.nodes[0] > 0 && rule.nodes[N - 1] < 1);
    xb_rule_free(&rule);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* A symmetric law whose only panel is the whole support: 0 is split all the same. */
static void parabola_in_one_panel(void **state)
{
    (void)state;
    enum { N = 64 };
    xb_ctx *ctx = test_ctx();
    xb_law *law = bump_law(ctx, PARABOLA);
    double alpha[N], beta[N];
    assert_ok(ctx, xb_rule_recurrence(ctx, alpha, beta, law, N, XB_RECURRENCE_STABLE));
    for (int k = 1; k < N; k++) /* Jacobi's weight with exponents 1 and 1 */
        assert_close(beta[k], k * (k + 2.0) / ((2.0 * k + 1) * (2.0 * k + 3)), 1e-14);
    xb_rule smooth = composite(ctx, law, 64, XB_COMPOSITE_SMOOTH);
    assert_int_equal(smooth.n, 64);
    assert_close(total(&smooth), 1, 1e-14);
    xb_law *same = test_law(ctx, "mtj:B=0.15,w=0");
    assert_close_floor(xb_rule_kl_gaussian(&smooth, law, 0, sqrt(0.2)),
                       xb_law_kl_gaussian(same), 1e-11, 1);
    xb_rule_free(&smooth);
    xb_law_destroy(same);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void two_bumps_and_a_gap(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = bump_law(ctx, TWO_BUMPS);
    double alpha[GRAM], beta[GRAM];
    assert_ok(ctx, xb_rule_recurrence(ctx, alpha, beta, law, GRAM, 0));
    assert_close(alpha[0], 0.3 * 0.5 + 0.7 * 5.5, 1e-14);
    /* an independent rule: Gauss-Legendre on either bump */
    double x[60], w[60], nodes[120], weights[120];
    assert_ok(ctx, xb_gauss_legendre(ctx, x, w, 60));
    for (int i = 0; i < 120; i++) {
        nodes[i] = (i < 60 ? 0 : 5) + 0.5 * (1 + x[i % 60]);
        weights[i] = 0.5 * w[i % 60] * bump_pdf(law, nodes[i]);
    }
    xb_rule independent = {120, nodes, weights};
    assert_at_most(gram_error(&independent, alpha, beta), 1e-12);
    xb_rule rule = gauss(ctx, law, 256);
    for (int i = 0; i < 256; i++) assert_true(rule.weights[i] > 0);
    assert_true(rule.nodes[0] > 0 && rule.nodes[255] < 6);
    assert_close(total(&rule), 1, 1e-14);
    xb_rule_free(&rule);
    xb_rule smooth = composite(ctx, law, 800, XB_COMPOSITE_SMOOTH);
    assert_close(total(&smooth), 1, 1e-14);
    assert_close(xb_rule_kl_gaussian(&smooth, law, xb_law_mean(law), xb_law_sd(law)),
                 xb_law_kl_gaussian(law), 1e-7); /* zeros inside are not mapped */
    xb_rule_free(&smooth);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* A law made from skewed samples: spline panels, no symmetry. */
static void empirical_laws_have_rules(void **state)
{
    (void)state;
    enum { SAMPLES = 3000 };
    xb_ctx *ctx = test_ctx();
    double *x = NULL;
    xb_law *law = NULL;
    assert_ok(ctx, xb_builtin_noise(ctx, &x, SAMPLES, 3));
    for (int i = 0; i < SAMPLES; i++) x[i] = exp(2 * x[i]);
    assert_ok(ctx, xb_law_from_samples(ctx, &law, x, SAMPLES));
    double alpha[GRAM], beta[GRAM];
    assert_ok(ctx, xb_rule_recurrence(ctx, alpha, beta, law, GRAM, 0));
    assert_close_floor(alpha[0], xb_law_mean(law), 1e-14, xb_law_sd(law));
    assert_close(beta[1], xb_law_moments(law).variance, 1e-13);
    xb_rule fine = composite(ctx, law, 4096, XB_COMPOSITE_SMOOTH);
    assert_at_most(gram_error(&fine, alpha, beta), 1e-11);
    assert_close(xb_rule_kl_gaussian(&fine, law, xb_law_mean(law), xb_law_sd(law)),
                 xb_law_kl_gaussian(law), 1e-12);
    xb_rule rule = gauss(ctx, law, 256);
    for (int i = 0; i < 256; i++) assert_true(rule.weights[i] > 0);
    assert_true(rule.nodes[0] > xb_law_lower(law));
    assert_true(rule.nodes[255] < xb_law_upper(law));
    assert_close(total(&rule), 1, 1e-14);
    xb_rule_free(&fine);
    xb_rule_free(&rule);
    xb_law_destroy(law);
    free(x);
    xb_ctx_destroy(ctx);
}

/* ---- cross entropy by two points (Q7) */

typedef struct normal {
    double mean, sd;
} normal;

static double log_normal(void *arg, double x)
{
    const normal *p = arg;
    double z = (x - p->mean) / p->sd;
    return -0.5 * z * z - log(p->sd * sqrt(2 * M_PI));
}

static void cross_entropy_at(const xb_law *law, const xb_rule *rule)
{
    static const normal priors[] = {{0, 1}, {0.7, 0.2}, {-3, 5}, {100, 0.01}};
    double mean = xb_law_mean(law), variance = xb_law_moments(law).variance;
    for (int i = 0; i < XB_COUNT(priors); i++) {
        normal p = priors[i];
        double s2 = p.sd * p.sd, d = mean - p.mean;
        double norm = -0.5 * log(2 * M_PI * s2), square = (variance + d * d) / (2 * s2);
        assert_close_floor(xb_rule_expect(rule, log_normal, &p), norm - square, 1e-14,
                           fabs(norm) + square);
    }
}

static void two_points_give_cross_entropy(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int l = 0; l <= XB_COUNT(LAWS); l++) {
        xb_law *law =
            l < XB_COUNT(LAWS) ? test_law(ctx, LAWS[l]) : bump_law(ctx, ONE_BUMP);
        xb_rule rule = gauss(ctx, law, 2);
        cross_entropy_at(law, &rule);
        xb_rule_free(&rule);
        assert_ok(ctx, xb_rule_fill_gauss(ctx, &rule, law, 2, XB_RECURRENCE_WHEELER));
        cross_entropy_at(law, &rule);
        xb_rule_free(&rule);
        rule = gauss(ctx, law, 1); /* one point is not enough */
        normal prior = {0.5, 1};
        double one = xb_rule_expect(&rule, log_normal, &prior);
        xb_rule_free(&rule);
        rule = gauss(ctx, law, 2);
        double two = xb_rule_expect(&rule, log_normal, &prior);
        assert_close(one - two, 0.5 * xb_law_moments(law).variance, 1e-9);
        xb_rule_free(&rule);
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* ---- what is refused */

static void refuse(xb_ctx *ctx, xb_status status, const char *expected)
{
    assert_int_equal(status, XB_E_ARGUMENT);
    if (!strstr(xb_ctx_message(ctx), expected))
        fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), expected);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "mtj:B=0.15,w=0.5");
    xb_rule out = {42, NULL, NULL};
    double a, b;
    refuse(ctx, xb_rule_fill_legendre(ctx, &out, 0),
           "Legendre rule of 0 points: expected 1");
    refuse(ctx, xb_rule_fill_laguerre(ctx, &out, -3), "of -3 points");
    refuse(ctx, xb_rule_fill_hermite(ctx, &out, XB_RULE_MAX + 1),
           "4097 points: expected 1");
    refuse(ctx, xb_rule_fill_lobatto(ctx, &out, 1), "expected 2 to 4096");
    refuse(ctx, xb_rule_fill_gauss(ctx, &out, law, 0, 0), "Gauss rule of 0 points");
    refuse(ctx, xb_rule_fill_gauss(ctx, &out, law, INT64_MAX, 0), "expected 1 to 4096");
    refuse(ctx, xb_rule_recurrence(ctx, &a, &b, law, 0, 0), "of 0 points");
    refuse(ctx, xb_rule_fill_composite(ctx, &out, law, 0, XB_COMPOSITE_SMOOTH, NULL),
           "smooth rule of 0 points");
    refuse(ctx, xb_rule_fill_composite(ctx, &out, law, 1, XB_COMPOSITE_TRAPEZOID, NULL),
           "expected 2");
    refuse(ctx, xb_rule_fill_composite(ctx, &out, law, 8, (xb_composite)99, NULL), "99");
    xb_composite_options opt = xb_composite_options_default();
    opt.epsilon = 1;
    refuse(ctx, xb_rule_fill_composite(ctx, &out, law, 8, XB_COMPOSITE_SPLIT, &opt),
           "epsilon is 1");
    opt.epsilon = NAN;
    refuse(ctx, xb_rule_fill_composite(ctx, &out, law, 8, XB_COMPOSITE_SPLIT, &opt),
           "epsilon is nan");
    opt = xb_composite_options_default();
    opt.trapezoid_points = 7;
    refuse(ctx, xb_rule_fill_composite(ctx, &out, law, 8, XB_COMPOSITE_SPLIT, &opt),
           "7 trapezoid points, expected 2 to 6");
    assert_int_equal(out.n, 42);
    xb_rule empty = {0, NULL, NULL};
    xb_rule_free(&empty);
    assert_true(xb_rule_variance(&empty) == 0);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static xb_status make_any(xb_ctx *ctx, xb_rule *out, const xb_law *law, int which)
{
    if (which < 2)
        return xb_rule_fill_gauss(ctx, out, law, 20, (xb_recurrence_method)which);
    return xb_rule_fill_composite(ctx, out, law, 20, (xb_composite)(which - 2), NULL);
}

/* Every allocation of every rule fails once: told, nothing leaked or touched. */
static void memory_may_run_out(void **state)
{
    (void)state;
    static const char *const laws[] = {"mtj:B=0.001,w=1", "bimodal:m=0.9", "gaussian"};
    xb_ctx *ctx = test_ctx();
    int failures = 0;
    for (int l = 0; l < XB_COUNT(laws); l++) {
        xb_law *law = test_law(ctx, laws[l]);
        for (int which = 0; which < 9; which++)
            for (int k = 0; fail_alloc_after(k); k++) {
                xb_rule rule = {0, NULL, NULL};
                xb_status status = make_any(ctx, &rule, law, which);
                if (!fail_alloc_happened()) {
                    xb_rule_free(&rule);
                    break;
                }
                assert_int_equal(status, XB_E_MEMORY);
                assert_null(rule.nodes);
                failures++;
            }
        xb_law_destroy(law);
    }
    assert_true(failures > 80);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gauss_rules_are_mpmaths),
        cmocka_unit_test(gauss_rules_are_golden),
        cmocka_unit_test(high_orders_are_mpmaths),
        cmocka_unit_test(gauss_rules_are_sound),
        cmocka_unit_test(gauss_rules_are_exact),
        cmocka_unit_test(polynomials_are_orthonormal),
        cmocka_unit_test(thousands_of_points),
        cmocka_unit_test(one_bump_is_jacobi),
        cmocka_unit_test(parabola_in_one_panel),
        cmocka_unit_test(two_bumps_and_a_gap),
        cmocka_unit_test(empirical_laws_have_rules),
        cmocka_unit_test(two_points_give_cross_entropy),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
