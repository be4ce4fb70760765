/* test_goodness.c: does the law fit: statistics against their sums, null distributions
 * with fitted parameters against known points and simulation, p-values that are uniform,
 * correlation that is not taken for misfit. */
#include "fittest.h"

#include "base/ctx.h"
#include "fit/goodness.h"
#include "fit/null_process.h"
#include "fit/fit_results.h"

/* p-values of a law's null process at two limits. */
typedef struct null_chances {
    double ks, ad;
} null_chances;

static null_chances null_at(xb_ctx *ctx, const char *text, const xb_fit_family *fit,
                            double ks, double ad)
{
    xb_law *law = test_law(ctx, text);
    xb_null_model *model = malloc(sizeof *model);
    null_chances p;
    assert_ok(ctx, xb_goodness_model(ctx, model, law, fit));
    assert_ok(ctx, xb_null_ks_p(ctx, &p.ks, model, ks, 0));
    assert_ok(ctx, xb_null_ad_p(ctx, &p.ad, model, ad));
    free(model);
    xb_law_destroy(law);
    return p;
}

/* Kolmogorov's series; Anderson & Darling's distribution by 400 terms in numpy. Three
 * standard errors of 4096 runs, which are less than those of a yes or no. */
static void bridge_is_known(void **state)
{
    (void)state;
    static const double ks[] = {0.4, 0.5, 0.6, 0.82757, 1, 1.2238, 1.3581, 1.6276};
    static const double ad[][2] = {{0.3465, 0.899595}, {0.7742, 0.500011},
                                   {1.9330, 0.099995}, {2.4924, 0.049998},
                                   {3.8781, 0.010000}, {5.9694, 0.001000}};
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(ks); i++) {
        double exact = 0;
        for (int k = 1; k < 40; k++)
            exact += (k % 2 ? 2 : -2) * exp(-2 * k * k * ks[i] * ks[i]);
        double p = null_at(ctx, "gaussian", NULL, ks[i], 1).ks;
        assert_close_floor(p, exact, 3 * sqrt(exact * (1 - exact) / 4096) + 3e-4, 1);
    }
    for (int i = 0; i < XB_COUNT(ad); i++) {
        double p = null_at(ctx, "gaussian", NULL, 1, ad[i][0]).ad;
        assert_close_floor(p, ad[i][1], 2e-6, 1);
    }
    xb_ctx_destroy(ctx);
}

/* Both parameters of a normal fitted: KS 0.895 is Stephens' (1974) 5 % point, of
 * simulations of finite samples; AD, and with the mean fitted alone, by 400 terms in
 * numpy (Stephens' 0.752 and 1.105 for 0.05). */
static void normal_points_are_known(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_fit_family fit = {
        .n_named = 2, .name = {"scale", "offset"}, .std_error = {0.1, 0.1}};
    null_chances p = null_at(ctx, "gaussian", &fit, 0.895, 0.752);
    assert_close_floor(p.ks, 0.05, 0.011, 1);
    assert_close_floor(p.ad, 0.049877, 4e-4, 1);
    fit.std_error[0] = NAN; /* mean fitted, variance known: Stephens' case 1 */
    p = null_at(ctx, "gaussian", &fit, 1, 1.105);
    assert_close_floor(p.ad, 0.046851, 4e-5, 1);
    xb_ctx_destroy(ctx);
}

/* mtj, all four parameters fitted, against 80,000 runs of the process on 4096 cells in
 * numpy, yes or no (standard errors below 0.0018). Within three of both. */
static void device_points_are_known(void **state)
{
    (void)state;
    static const double ks[][2] = {{0.35, 0.9871}, {0.45, 0.8536}, {0.55, 0.6134},
                                   {0.65, 0.4078}, {0.75, 0.2649}, {0.85, 0.1680}};
    static const double ad[][2] = {
        {0.15, 0.9282}, {0.3, 0.5029}, {0.5, 0.2128}, {0.8, 0.0718}, {1.2, 0.0186}};
    xb_ctx *ctx = test_ctx();
    xb_fit_family fit = {.n_named = 4,
                         .name = {"B", "w", "scale", "offset"},
                         .std_error = {0.1, 0.1, 0.1, 0.1}};
    for (int i = 0; i < XB_COUNT(ks); i++)
        assert_close_floor(null_at(ctx, "mtj", &fit, ks[i][0], 1).ks, ks[i][1], 0.02, 1);
    for (int i = 0; i < XB_COUNT(ad); i++)
        assert_close_floor(null_at(ctx, "mtj", &fit, 1, ad[i][0]).ad, ad[i][1],
                           i < 3 ? 0.006 : 0.003, 1);
    xb_ctx_destroy(ctx);
}

static void statistics_are_the_sums(void **state)
{
    (void)state;
    static const char *const laws[] = {"mtj", "ecram", "bimodal:m=0.98", "gaussian"};
    enum { N = 30000 };
    xb_ctx *ctx = test_ctx();
    for (int l = 0; l < XB_COUNT(laws); l++) {
        double *x = draw(ctx, laws[l], N, 8, 0.01, 1.01), ks = 0, ad = 0;
        qsort(x, N, sizeof *x, compare_doubles);
        for (int i = 0; i < 700; i++) x[9000 + i] = x[9000]; /* a level among others */
        xb_law *law = test_law(ctx, laws[l]);
        for (int i = 0; i < N; i++) {
            double u = xb_law_cdf(law, x[i]);
            ks = fmax(ks, fmax(u - i / (double)N, (i + 1) / (double)N - u));
            double v = xb_law_survival(law, x[N - 1 - i]);
            ad -= (2 * i + 1) * (log(fmax(u, 1e-16)) + log(fmax(v, 1e-16))) / N;
        }
        xb_goodness g;
        xb_goodness_statistics(&g, law, x, N);
        assert_close(g.ks, ks, 1e-8);
        assert_close(g.ad, ad - N, 1e-8);
        xb_law_destroy(law);
        free(x);
    }
    xb_ctx_destroy(ctx);
}

/* p-values of fitted laws are uniform when the law is right. Of 100 the number
 * below 0.1 is 10 +- 3; outside 3 .. 20 once in a thousand. */
static void p_values_are_uniform(void **state)
{
    (void)state;
    enum { N = 2000, RUNS = 100 };
    xb_ctx *ctx = test_ctx();
    int ks = 0, ad = 0;
    for (int i = 0; i < RUNS; i++) {
        double *x = draw(ctx, "mtj", N, 1000 + (uint64_t)i, 0, 1);
        xb_fit *fit = run(ctx, x, N, "mtj");
        const xb_fit_family *f = xb_fit_family_at(fit, 0);
        ks += f->ks_p < 0.1;
        ad += f->ad_p < 0.1;
        xb_fit_destroy(fit);
        free(x);
    }
    assert_in_range(ks, 3, 20);
    assert_in_range(ad, 3, 20);
    xb_ctx_destroy(ctx);
}

static void wrong_families_are_rejected(void **state)
{
    (void)state;
    enum { N = 100000 };
    xb_ctx *ctx = test_ctx();
    double *x = draw(ctx, "mtj", N, 6, 0, 1);
    xb_fit *fit = run(ctx, x, N, "gaussian");
    const xb_fit_family *f = xb_fit_family_at(fit, 0);
    assert_true(f->ks_p < 0.001 && f->ad_p < 0.001 && !f->fits);
    assert_string_equal(xb_law_family(xb_fit_law(fit)), "gaussian");
    assert_non_null(
        strstr(xb_fit_verdict(fit), "The requested family, 'gaussian', does not fit"));
    xb_fit_destroy(fit);
    free(x);
    xb_ctx_destroy(ctx);
}

/* A correlated Gaussian is a Gaussian: the tests must not take correlation for
 * misfit, and errors of the mean must grow by sqrt(tau). */
static void correlation_is_allowed_for(void **state)
{
    (void)state;
    enum { N = 50000, RUNS = 6 };
    xb_ctx *ctx = test_ctx();
    int fits = 0;
    for (int r = 0; r < RUNS; r++) {
        double *x = draw(ctx, "gaussian", N, 40 + (uint64_t)r, 0, 1);
        for (int i = 1; i < N; i++) x[i] += 0.9 * x[i - 1];
        xb_fit *fit = run(ctx, x, N, "gaussian");
        const xb_fit_family *f = xb_fit_family_at(fit, 0);
        const xb_fit_sample *s = xb_fit_sample_info(fit);
        fits += f->fits;
        assert_close(s->lag1, 0.9, 0.02);
        assert_close(s->n_effective, N / 19.0, 0.25);
        assert_close(error_of(f, "offset"), s->sd / sqrt(s->n_effective), 1e-12);
        double deviance = -2 * f->log_likelihood * s->n_effective / N;
        assert_close(f->aic, deviance + 2 * 2, 1e-14);
        assert_close(f->bic, deviance + 2 * log(s->n_effective), 1e-14);
        assert_non_null(strstr(xb_fit_verdict(fit), "correlated"));
        xb_fit_destroy(fit);
        free(x);
    }
    assert_true(fits >= RUNS - 1);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bridge_is_known),
        cmocka_unit_test(normal_points_are_known),
        cmocka_unit_test(device_points_are_known),
        cmocka_unit_test(statistics_are_the_sums),
        cmocka_unit_test(p_values_are_uniform),
        cmocka_unit_test(wrong_families_are_rejected),
        cmocka_unit_test(correlation_is_allowed_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
