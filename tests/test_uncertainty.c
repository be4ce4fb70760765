/* test_uncertainty.c: what uncertainty is good for: AUROC against scikit-learn and a
 * closed form, its error, risk against coverage, and coverage where a model knows least
 * (maths C24-C26). */
#include "comparetest.h"

enum { MOST = 400 };

static double rounded(double x, double steps) { return rint(x * steps) / steps; }

/* tests/fixtures/make_auroc.py */
static void auroc_is_that_of_scikit_learn(void **state)
{
    (void)state;
    static const struct {
        int n, m;
        double shift, steps, area;
    } cases[] = {
        {40, 30, 0.5, 1000000, 0.6883333333333334},
        {7, 90, -0.3, 10, 0.3785714285714286},
        {25, 25, 0.0, 1, 0.4864},
    };
    xb_ctx *ctx = test_ctx();
    for (int c = 0; c < XB_COUNT(cases); c++) {
        double in[MOST], out[MOST];
        xb_score a, b;
        for (int i = 0; i < cases[c].n; i++)
            in[i] = rounded(sin(1 + 1.7 * i), cases[c].steps);
        for (int i = 0; i < cases[c].m; i++)
            out[i] = rounded(cos(2 + 2.3 * i) + cases[c].shift, cases[c].steps);
        assert_ok(ctx, xb_auroc(ctx, &a, in, cases[c].n, out, cases[c].m));
        assert_ok(ctx, xb_auroc(ctx, &b, out, cases[c].m, in, cases[c].n));
        assert_close(a.value, cases[c].area, 1e-12);
        assert_close(a.value + b.value, 1, 1e-12);
        assert_close(a.std_error, b.std_error, 1e-9);
    }
    xb_ctx_destroy(ctx);
}

static double normal(const xb_stream *where, int64_t i)
{
    double sum = -6;
    for (int k = 0; k < 12; k++) sum += xb_stream_uniform(where, 12 * i + k);
    return sum;
}

/* Two normals one sd apart: A = Phi(1 / sqrt 2) = 0.7602. 300 runs of 60 and 90 points:
 * the mean to 0.0023, bounds of five; DeLong's error is the spread of the runs within 20
 * % (five errors of a standard deviation). */
static void auroc_is_the_closed_form(void **state)
{
    (void)state;
    enum { RUNS = 300, N = 60, M = 90 };
    xb_ctx *ctx = test_ctx();
    double sum = 0, square = 0, error = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        const xb_stream where = {.key = xb_key_make(3, XB_PURPOSE_TEST), .sample = run};
        double in[N], out[M];
        xb_score a;
        for (int i = 0; i < N; i++) in[i] = normal(&where, i);
        for (int i = 0; i < M; i++) out[i] = 1 + normal(&where, N + i);
        assert_ok(ctx, xb_auroc(ctx, &a, in, N, out, M));
        sum += a.value / RUNS, square += a.value * a.value / RUNS;
        error += a.std_error * a.std_error / RUNS;
    }
    assert_true(fabs(sum - 0.5 * erfc(-0.5)) < 0.0115);
    assert_close(sqrt(error), sqrt(square - sum * sum), 0.2);
    xb_ctx_destroy(ctx);
}

static void edges_of_auroc(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const double low[] = {1, 2, 3}, high[] = {4, 5, 6, 7}, bad[] = {1, NAN};
    xb_score a;
    assert_ok(ctx, xb_auroc(ctx, &a, low, 3, high, 4));
    assert_true(a.value == 1 && a.std_error > 0.1); /* three points are no proof */
    assert_ok(ctx, xb_auroc(ctx, &a, low, 3, low, 3));
    assert_close(a.value, 0.5, 1e-12);
    assert_ok(ctx, xb_auroc(ctx, &a, low, 1, low, 1));
    assert_true(a.value == 0.5);
    assert_int_equal(xb_auroc(ctx, &a, low, 0, high, 4), XB_E_ARGUMENT);
    assert_int_equal(xb_auroc(ctx, &a, bad, 2, high, 4), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "inside: value 2"));
    xb_ctx_destroy(ctx);
}

/* By hand: losses 4, 2, 0, 2 in the order of uncertainty 1, 2, 2, 3; the two that tie
 * share 1. */
static void risk_is_the_mean_of_the_most_certain(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const double uncertainty[] = {2, 1, 3, 2}, loss[] = {2, 4, 2, 0};
    const double expected[] = {4, 2.5, 2, 2};
    double risk[4], area = 0;
    assert_ok(ctx, xb_selective_risk(ctx, risk, &area, uncertainty, loss, 4));
    for (int i = 0; i < 4; i++) assert_close(risk[i], expected[i], 1e-12);
    assert_close(area, 10.5 / 4, 1e-12);
    const double same[] = {1, 1, 1, 1};
    assert_ok(ctx, xb_selective_risk(ctx, risk, &area, same, loss, 4));
    assert_close(area, 2, 1e-12); /* chance: the mean loss */
    assert_ok(ctx, xb_selective_risk(ctx, risk, &area, loss, loss, 4));
    assert_close(area, (0 + 1 + 4.0 / 3 + 2) / 4, 1e-12); /* at best */
    assert_int_equal(xb_selective_risk(ctx, risk, &area, same, loss, 0), XB_E_ARGUMENT);
    const double bad[] = {1, INFINITY, 1, 1};
    assert_int_equal(xb_selective_risk(ctx, risk, &area, bad, loss, 4), XB_E_INPUT);
    xb_ctx_destroy(ctx);
}

/* Points of small and of large spread; all targets of the first are inside, those of the
 * second as `far` says. The quarter that counts is the most uncertain, and no other. */
static void the_least_known_quarter_is_looked_at(void **state)
{
    (void)state;
    enum { N = 40, DRAWS = 50 };
    static double mean[DRAWS * N], sd[N], y[N];
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < N; i++) {
        const bool wide = i % 4 == 1;
        sd[i] = 0.1;
        y[i] = wide && i < 20 ? 100 : 0; /* five of the ten wide ones are missed */
        for (int s = 0; s < DRAWS; s++)
            mean[s * N + i] = (wide ? 2 : 0.5 + 0.001 * i) * sin(1 + 2.7 * s);
    }
    const xb_mixture p = {mean, sd, DRAWS, N, .sd_shared = true};
    xb_scores *s = NULL;
    assert_ok(ctx, xb_score_regression(ctx, &s, &p, y, NULL));
    const xb_score few = xb_scores_get(s, "coverage_uncertain");
    assert_close(few.value, 0.5, 1e-12);
    assert_close(few.std_error, sqrt(0.25 / 10), 0.05);
    assert_close(xb_scores_get(s, "coverage").value, 35.0 / 40, 1e-12);
    int64_t n = 0;
    const double *spread = xb_scores_array_get(s, "epistemic", &n);
    assert_int_equal(n, N);
    assert_close(spread[1] / spread[4], 2 / 0.504, 1e-9);
    xb_scores_destroy(s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auroc_is_that_of_scikit_learn),
        cmocka_unit_test(auroc_is_the_closed_form),
        cmocka_unit_test(edges_of_auroc),
        cmocka_unit_test(risk_is_the_mean_of_the_most_certain),
        cmocka_unit_test(the_least_known_quarter_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
