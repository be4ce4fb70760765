/* test_rule_standard.c: Legendre, Laguerre, Hermite and Lobatto against GSL, mpmath and
 * what defines them; the paper's recurrence (Wheeler's), and where it ends. */
#include "ruletest.h"

#ifdef XB_HAS_GSL
#include <gsl/gsl_integration.h>
#endif

#include "rule/standard.h"

/* ---- the standard rules */

#ifdef XB_HAS_GSL
static void compare_gsl(const xb_rule *rule, const gsl_integration_fixed_type *type,
                        double a, double b, double factor)
{
    gsl_integration_fixed_workspace *w =
        gsl_integration_fixed_alloc(type, (size_t)rule->n, a, b, 0, 0);
    assert_non_null(w);
    const double *x = gsl_integration_fixed_nodes(w);
    const double *weight = gsl_integration_fixed_weights(w);
    double reach = fabs(x[rule->n - 1]), largest = 0;
    for (int64_t i = 0; i < rule->n; i++) largest = fmax(largest, weight[i]);
    for (int64_t i = 0; i < rule->n; i++) {
        assert_close_floor(rule->nodes[i], x[i], 3e-15, reach);
        /* GSL's weights come from eigenvectors: absolute precision only */
        assert_close_floor(rule->weights[i], factor * weight[i], 1e-12, factor * largest);
    }
    gsl_integration_fixed_free(w);
}

static void standard_rules_are_gsls(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 7, 16, 64, 128};
    xb_ctx *ctx = test_ctx();
    for (int j = 0; j < XB_COUNT(sizes); j++) {
        xb_rule rule;
        assert_ok(ctx, xb_rule_fill_legendre(ctx, &rule, sizes[j]));
        compare_gsl(&rule, gsl_integration_fixed_legendre, -1, 1, 1);
        xb_rule_free(&rule);
        assert_ok(ctx, xb_rule_fill_laguerre(ctx, &rule, sizes[j]));
        compare_gsl(&rule, gsl_integration_fixed_laguerre, 0, 1, 1);
        xb_rule_free(&rule);
        assert_ok(ctx, xb_rule_fill_hermite(ctx, &rule, sizes[j]));
        compare_gsl(&rule, gsl_integration_fixed_hermite, 0, 0.5, 1 / sqrt(2 * M_PI));
        xb_rule_free(&rule);
    }
    xb_ctx_destroy(ctx);
}
#else
static void standard_rules_are_gsls(void **state)
{
    (void)state;
    SKIP_WITHOUT("GSL");
}
#endif

/* Four of the 128 points of either rule by mpmath, 60 digits. */
static void unbounded_rules_are_mpmaths(void **state)
{
    (void)state;
    static const struct {
        int i;
        double x, weight;
    } hermite[] = {{64, 0.138570049903069809, 0.109507850805213711},
                   {65, 0.415730860064743376, 0.101426101343037115},
                   {66, 0.69295384155874768, 0.0870039212696967756},
                   {67, 0.970280576387700393, 0.0691150706697107461}},
      laguerre[] = {{0, 0.011251388263675963, 0.0285518444532397286},
                    {1, 0.0592847412690264543, 0.0633502117845051188},
                    {2, 0.145707966594312465, 0.0913083813661343144},
                    {5, 0.635597665781621938, 0.117045739000406722}};
    xb_ctx *ctx = test_ctx();
    xb_rule h, l;
    assert_ok(ctx, xb_rule_fill_hermite(ctx, &h, 128));
    assert_ok(ctx, xb_rule_fill_laguerre(ctx, &l, 128));
    for (int j = 0; j < 4; j++) {
        assert_close(h.nodes[hermite[j].i], hermite[j].x, 1e-15);
        assert_close(h.weights[hermite[j].i], hermite[j].weight, 1e-14);
        /* absolute precision, of a largest node of 486 */
        assert_close_floor(l.nodes[laguerre[j].i], laguerre[j].x, 1e-14, 1);
        assert_close(l.weights[laguerre[j].i], laguerre[j].weight, 2e-13);
    }
    xb_rule_free(&h);
    xb_rule_free(&l);
    xb_ctx_destroy(ctx);
}

/* E x^k: k! under exp(-x), (k - 1)!! under the normal density. */
static void unbounded_rules_are_exact(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int n = 1; n <= 40; n += 13) {
        xb_rule laguerre, hermite;
        assert_ok(ctx, xb_rule_fill_laguerre(ctx, &laguerre, n));
        assert_ok(ctx, xb_rule_fill_hermite(ctx, &hermite, n));
        double factorial = 1, odd_product = 1;
        for (int k = 0; k < 2 * n; k++) {
            if (k > 0) factorial *= k;
            if (k % 2 == 0 && k > 0) odd_product *= k - 1;
            assert_close(raw_moment_by(&laguerre, k), factorial, 1e-12);
            if (k % 2 == 0) assert_close(raw_moment_by(&hermite, k), odd_product, 1e-12);
        }
        xb_rule_free(&laguerre);
        xb_rule_free(&hermite);
    }
    xb_rule large; /* weights below the smallest double stay positive */
    assert_ok(ctx, xb_rule_fill_laguerre(ctx, &large, 1024));
    for (int i = 0; i < 1024; i++) assert_true(large.weights[i] > 0);
    assert_close(total(&large), 1, 1e-13);
    xb_rule_free(&large);
    xb_ctx_destroy(ctx);
}

static void lobatto_is_exact(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_rule rule;
    for (int n = 2; n <= 60; n += n < 6 ? 1 : 9) {
        assert_ok(ctx, xb_rule_fill_lobatto(ctx, &rule, n));
        assert_true(rule.nodes[0] == -1 && rule.nodes[n - 1] == 1);
        assert_close(rule.weights[0], 2.0 / (n * (n - 1.0)), 1e-13);
        for (int k = 0; k <= 2 * n - 3; k++)
            assert_close_floor(raw_moment_by(&rule, k), k % 2 ? 0 : 2.0 / (k + 1), 5e-15,
                               1);
        double next = raw_moment_by(&rule, 2 * n - 2) - 2.0 / (2 * n - 1);
        if (n <= 16) assert_true(next > 1e-12); /* and no further */
        xb_rule_free(&rule);
    }
    assert_ok(ctx, xb_rule_fill_lobatto(ctx, &rule, 3)); /* Simpson */
    assert_true(rule.nodes[1] == 0);
    assert_close(rule.weights[0], 1.0 / 3, 1e-15);
    assert_close(rule.weights[1], 4.0 / 3, 1e-15);
    xb_rule_free(&rule);
    xb_ctx_destroy(ctx);
}

/* ---- the paper's way to the recurrence, and where it ends */

static double wheeler_error(xb_ctx *ctx, const xb_law *law, int n)
{
    xb_rule ours = gauss(ctx, law, n), wheeler;
    assert_ok(ctx, xb_rule_fill_gauss(ctx, &wheeler, law, n, XB_RECURRENCE_WHEELER));
    double worst = 0;
    for (int i = 0; i < n; i++)
        if (ours.nodes[i] != 0)
            worst = fmax(worst, fabs(wheeler.nodes[i] / ours.nodes[i] - 1));
    xb_rule_free(&ours);
    xb_rule_free(&wheeler);
    return worst;
}

static int wheeler_breaks_at(xb_ctx *ctx, const xb_law *law)
{
    for (int n = 1; n <= 64; n++) {
        double alpha[64], beta[64] = {-1};
        xb_status status =
            xb_rule_recurrence(ctx, alpha, beta, law, n, XB_RECURRENCE_WHEELER);
        if (status == XB_OK) continue;
        assert_int_equal(status, XB_E_NUMERIC);
        assert_true(beta[0] == -1); /* untouched */
        char order[32];
        snprintf(order, sizeof order, "breaks down at order %d", n);
        assert_non_null(strstr(xb_ctx_message(ctx), order));
        return n;
    }
    return 65;
}

static void wheeler_breaks(void **state)
{
    (void)state;
    static const char *const laws[] = {"mtj:B=0.15,w=0.5",   "mtj:B=0.05,w=0.3",
                                       "mtj:B=0.5,w=0.8",    "ecram:B=0.1,w=0.6",
                                       "ecram:B=0.02,w=0.4", "ecram:B=1,w=0.7"};
    xb_ctx *ctx = test_ctx();
    for (int l = 0; l < XB_COUNT(laws); l++) {
        xb_law *law = test_law(ctx, laws[l]);
        int order = wheeler_breaks_at(ctx, law);
        assert_in_range(order, 13, 40);
        double at_3 = wheeler_error(ctx, law, 3), at_10 = wheeler_error(ctx, law, 10);
        double at_20 = wheeler_error(ctx, law, 20);
        assert_at_most(at_3, 1e-14);
        assert_true(at_10 > 1e-13 && at_10 < 1e-10);
        assert_true(at_20 > 1e-7 && at_20 < 1e-3);
        xb_rule rule = {7, NULL, NULL};
        assert_int_equal(xb_rule_fill_gauss(ctx, &rule, law, 200, XB_RECURRENCE_WHEELER),
                         XB_E_NUMERIC);
        assert_true(rule.n == 7);
        xb_law_destroy(law);
    }
    for (int l = 0; l < XB_COUNT(LAWS); l++) { /* no law gets to 64 */
        xb_law *law = test_law(ctx, LAWS[l]);
        assert_in_range(wheeler_breaks_at(ctx, law), 13, 63);
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_rules_are_gsls),
        cmocka_unit_test(unbounded_rules_are_mpmaths),
        cmocka_unit_test(unbounded_rules_are_exact),
        cmocka_unit_test(lobatto_is_exact),
        cmocka_unit_test(wheeler_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
