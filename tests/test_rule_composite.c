/* test_rule_composite.c: composite rules: KL of laws and mixtures against mpmath
 * (fixtures/laws.json), and the floor of the paper's split. */
#include "ruletest.h"
#include "rule/standard.h"

/* ---- composite rules */

static double kl_error(xb_ctx *ctx, const xb_law *law, int64_t n, xb_composite kind,
                       double exact)
{
    xb_rule rule = composite(ctx, law, n, kind);
    assert_true(rule.n <= n || kind == XB_COMPOSITE_SMOOTH);
    double kl = xb_rule_kl_gaussian(&rule, law, xb_law_mean(law), xb_law_sd(law));
    xb_rule_free(&rule);
    return fabs(kl - exact);
}

/* KL to the matched Gaussian of the laws in laws.json, by mpmath. */
static void smooth_gives_kl(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    json_t *root = load(XB_FIXTURES "/laws.json"), *entry;
    size_t i;
    int usual = 0;
    json_array_foreach(json_object_get(root, "laws"), i, entry)
    {
        xb_law *law = test_law(ctx, json_string_value(json_object_get(entry, "law")));
        double exact = number(json_object_get(entry, "kl_gaussian"));
        double b = xb_law_number(law, "B");
        bool golden = b >= 0.02 && b <= 1; /* the others are extremes */
        double error = kl_error(ctx, law, 256, XB_COMPOSITE_SMOOTH, exact);
        assert_at_most(error, golden ? 1e-13 : 1e-11);
        usual += golden;
        xb_law_destroy(law);
    }
    assert_true(usual >= 8);
    json_decref(root);
    xb_ctx_destroy(ctx);
}

/* 0.18927903039369810464: mpmath, 60 digits (golden_densities.json). */
static void mixtures_by_every_rule(void **state)
{
    (void)state;
    const double exact = 0.18927903039369810464;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "bimodal:m=0.9");
    assert_at_most(kl_error(ctx, law, 128, XB_COMPOSITE_TRAPEZOID, exact), 1e-14);
    assert_at_most(kl_error(ctx, law, 256, XB_COMPOSITE_SMOOTH, exact), 1e-14);
    assert_at_most(kl_error(ctx, law, 256, XB_COMPOSITE_MODES, exact), 1e-8);
    assert_at_most(kl_error(ctx, law, 256, XB_COMPOSITE_HERMITE, exact), 1e-5);
    assert_at_most(kl_error(ctx, law, 256, XB_COMPOSITE_LAGUERRE, exact), 1e-5);
    /* at 128 points the paper's choice and Hermite are far behind */
    assert_true(kl_error(ctx, law, 128, XB_COMPOSITE_LAGUERRE, exact) > 1e-7);
    assert_true(kl_error(ctx, law, 128, XB_COMPOSITE_HERMITE, exact) > 1e-7);
    xb_law_destroy(law);
    static const char *const mixtures[] = {"bimodal:m=0", "bimodal:m=0.5",
                                           "bimodal:m=0.9", "bimodal:m=0.99",
                                           "bimodal:m=0.999"};
    for (int l = 0; l < XB_COUNT(mixtures); l++) {
        law = test_law(ctx, mixtures[l]);
        xb_rule fine = composite(ctx, law, 1024, XB_COMPOSITE_TRAPEZOID);
        double reference = xb_rule_kl_gaussian(&fine, law, 0, 1);
        assert_at_most(kl_error(ctx, law, 128, XB_COMPOSITE_TRAPEZOID, reference), 1e-14);
        assert_close_floor(reference, xb_law_kl_gaussian(law), 1e-14, 1);
        xb_rule_free(&fine);
        xb_rule by_mode = composite(ctx, law, 20, XB_COMPOSITE_MODES);
        assert_int_equal(by_mode.n, 20);
        for (int k = 0; k < 20; k += 2)
            assert_close(raw_moment_by(&by_mode, k), xb_law_raw_moment(law, k), 1e-13);
        xb_rule_free(&by_mode);
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* The split rule's floor is set by epsilon, not by the points: the error of two
 * trapezoid points, by mpmath. */
static void split_rule_has_a_floor(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "mtj:B=0.15,w=0.5");
    double variance = xb_law_moments(law).variance, kl = xb_law_kl_gaussian(law);
    static const struct {
        double epsilon, variance_error, kl_error;
    } known[] = {{0.1, 1.5329265e-3, 8.5599894e-2}, {0.01, 2.5787411e-6, 1.6488155e-3}};
    for (int i = 0; i < XB_COUNT(known); i++)
        for (int64_t n = 64; n <= 1024; n *= 4) {
            xb_composite_options opt = xb_composite_options_default();
            opt.epsilon = known[i].epsilon;
            xb_rule rule;
            assert_ok(ctx, xb_rule_fill_composite(ctx, &rule, law, n, XB_COMPOSITE_SPLIT,
                                                  &opt));
            assert_close(fabs(xb_rule_variance(&rule) - variance),
                         known[i].variance_error, 1e-3);
            assert_close(fabs(xb_rule_kl_gaussian(&rule, law, 0, sqrt(variance)) - kl),
                         known[i].kl_error, 1e-3);
            xb_rule_free(&rule);
        }
    /* plain Gauss-Legendre over the kink: halving the step quarters the error */
    double at_64 = kl_error(ctx, law, 64, XB_COMPOSITE_LEGENDRE, kl);
    double at_128 = kl_error(ctx, law, 128, XB_COMPOSITE_LEGENDRE, kl);
    assert_close(at_64 / at_128, 4, 0.1);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* Every kind on every law: a rule of the law, or a refusal that says why. */
static void composites_are_rules(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int l = 0; l < XB_COUNT(LAWS); l++) {
        xb_law *law = test_law(ctx, LAWS[l]);
        bool bounded = isfinite(xb_law_upper(law));
        bool mixture = strcmp(xb_law_family(law), "bimodal") == 0;
        const bool applies[] = {bounded, !bounded, bounded, !bounded,
                                mixture, true,     true};
        for (int kind = 0; kind < XB_COUNT(applies); kind++) {
            xb_rule rule = {0, NULL, NULL};
            xb_status status =
                xb_rule_fill_composite(ctx, &rule, law, 512, (xb_composite)kind, NULL);
            assert_int_equal(status, applies[kind] ? XB_OK : XB_E_ARGUMENT);
            if (status != XB_OK) {
                assert_non_null(strstr(xb_ctx_message(ctx), xb_law_text(law)));
                continue;
            }
            for (int64_t i = 0; i < rule.n; i++) {
                assert_true(rule.weights[i] >= 0);
                assert_true(i == 0 || rule.nodes[i] >= rule.nodes[i - 1]);
                assert_true(rule.nodes[i] >= xb_law_lower(law));
                assert_true(rule.nodes[i] <= xb_law_upper(law));
            }
            if (kind == XB_COMPOSITE_SMOOTH) assert_close(total(&rule), 1, 1e-12);
            xb_rule_free(&rule);
        }
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_gives_kl),
        cmocka_unit_test(mixtures_by_every_rule),
        cmocka_unit_test(split_rule_has_a_floor),
        cmocka_unit_test(composites_are_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
