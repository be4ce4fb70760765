/* test_law_goodness.c: a law that was given against a sample: the level of its p-values,
 * their power, correlation, and that nothing was fitted. */
#include "fittest.h"

#include "fit/fit_results.h"

static xb_goodness_result *judged(xb_ctx *ctx, const xb_law *law, const double *x,
                                  int64_t n, bool independent)
{
    xb_goodness_options o = xb_goodness_options_default();
    xb_goodness_result *r = NULL;
    o.independent = independent;
    assert_ok(ctx, xb_law_goodness(ctx, &r, law, x, n, &o));
    return r;
}

/* Of RUNS samples of the law itself, 5 % are below 0.05 and half below 0.5, within 3.5
 * standard errors: a false alarm in 2000 for each of the eight numbers. */
static void the_level_is_right(void **state)
{
    enum { RUNS = 2000, N = 60 };
    static const char *const laws[] = {"gaussian", "mtj:B=0.15,w=0.5"};
    xb_ctx *ctx = *state;
    for (int l = 0; l < 2; l++) {
        xb_law *law = test_law(ctx, laws[l]);
        int below[2][2] = {{0}};
        for (int run = 0; run < RUNS; run++) {
            double *x = NULL;
            assert_ok(ctx, xb_noise_draw(ctx, &x, law, N, (uint64_t)(l * RUNS + run)));
            xb_goodness_result *r = judged(ctx, law, x, N, true);
            double p[2] = {xb_goodness_result_ks_p(r), xb_goodness_result_ad_p(r)};
            for (int k = 0; k < 2; k++)
                below[k][0] += p[k] < 0.05, below[k][1] += p[k] < 0.5;
            xb_goodness_result_destroy(r);
            xb_free(x);
        }
        for (int k = 0; k < 2; k++) {
            double small = (double)below[k][0] / RUNS, half = (double)below[k][1] / RUNS;
            print_message("%s, %s: %.3f below 0.05, %.3f below 0.5\n", laws[l],
                          k ? "AD" : "KS", small, half);
            assert_close_floor(small, 0.05, 3.5 * sqrt(0.05 * 0.95 / RUNS), 1);
            assert_close_floor(half, 0.5, 3.5 * sqrt(0.25 / RUNS), 1);
        }
        xb_law_destroy(law);
    }
}

/* A mean that is off by a quarter of a standard deviation is seen in nearly all samples
 * of 400 values: the chance of a miss is below 1 % for either test. */
static void a_wrong_law_is_seen(void **state)
{
    enum { RUNS = 100, N = 400 };
    xb_ctx *ctx = *state;
    xb_law *law = test_law(ctx, "gaussian");
    int seen = 0;
    for (int run = 0; run < RUNS; run++) {
        double *x = NULL;
        assert_ok(ctx, xb_noise_draw(ctx, &x, law, N, (uint64_t)run + 1));
        for (int i = 0; i < N; i++) x[i] += 0.25;
        xb_goodness_result *r = judged(ctx, law, x, N, true);
        seen += !xb_goodness_result_fits(r);
        xb_goodness_result_destroy(r);
        xb_free(x);
    }
    print_message("%d of %d seen\n", seen, RUNS);
    assert_true(seen >= 95);
    xb_law_destroy(law);
}

/* Every value five times in a row: worth a fifth. Taken for independent it does not fit;
 * with its correlation it does. */
static void correlation_counts(void **state)
{
    enum { N = 4000, EACH = 5 };
    xb_ctx *ctx = *state;
    xb_law *law = test_law(ctx, "gaussian");
    static double x[N];
    int wrong = 0, right = 0;
    for (int run = 0; run < 40; run++) {
        double *z = NULL;
        assert_ok(ctx, xb_noise_draw(ctx, &z, law, N / EACH, (uint64_t)run + 7));
        for (int i = 0; i < N; i++) x[i] = z[i / EACH] + 1e-9 * i; /* no ties */
        xb_goodness_result *as_is = judged(ctx, law, x, N, true);
        xb_goodness_result *r = judged(ctx, law, x, N, false);
        assert_close(xb_fit_sample_effective(xb_goodness_result_sample(r)), N / EACH,
                     0.3);
        wrong += !xb_goodness_result_fits(as_is);
        right += xb_goodness_result_fits(r);
        xb_goodness_result_destroy(as_is);
        xb_goodness_result_destroy(r);
        xb_free(z);
    }
    print_message("%d of 40 rejected as independent, %d fit\n", wrong, right);
    assert_true(wrong >= 20 && right >= 36);
    xb_law_destroy(law);
}

/* (F10) by plain sums. */
static void plain_statistics(double *ks, double *ad, const xb_law *law, double *x, int n)
{
    double sum = 0;
    *ks = 0;
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && x[j] < x[j - 1]; j--) {
            double t = x[j];
            x[j] = x[j - 1], x[j - 1] = t;
        }
    for (int i = 0; i < n; i++) {
        double u = xb_law_cdf(law, x[i]), v = xb_law_survival(law, x[n - 1 - i]);
        *ks = fmax(*ks, fmax(u - (double)i / n, (i + 1.0) / n - u));
        sum += (2 * i + 1) * (log(u) + log(v));
    }
    *ad = -n - sum / n;
}

/* The statistics are those of the given law, not of a fitted one; and a fitted law that
 * is judged as if it had been known looks better than it is. */
static void known_is_not_fitted(void **state)
{
    enum { N = 500 };
    xb_ctx *ctx = *state;
    xb_law *law = test_law(ctx, "gaussian");
    double *x = NULL, ks, ad;
    xb_fit *fit = NULL;
    xb_fit_options o = xb_fit_options_default();
    o.family = "gaussian";
    assert_ok(ctx, xb_noise_draw(ctx, &x, law, N, 3));
    xb_goodness_result *r = judged(ctx, law, x, N, false);
    assert_ok(ctx, xb_fit_run(ctx, &fit, x, N, &o));
    assert_int_equal(xb_goodness_result_outside(r), 0);
    plain_statistics(&ks, &ad, law, x, N);
    assert_close(xb_goodness_result_ks(r), ks, 1e-9);
    assert_close(xb_goodness_result_ad(r), ad, 1e-6);
    xb_goodness_result_destroy(r);
    const xb_fit_family *f = xb_fit_family_at(fit, 0);
    double scale = xb_fit_family_param_value(f, xb_fit_family_param_find(f, "scale"));
    double offset = xb_fit_family_param_value(f, xb_fit_family_param_find(f, "offset"));
    for (int i = 0; i < N; i++) x[i] = (x[i] - offset) / scale;
    r = judged(ctx, law, x, N, true);
    assert_close(xb_goodness_result_ad(r), xb_fit_family_ad(f), 1e-6);
    assert_true(xb_goodness_result_ad_p(r) > xb_fit_family_ad_p(f));
    assert_true(xb_goodness_result_ks_p(r) > xb_fit_family_ks_p(f));
    xb_goodness_result_destroy(r);
    xb_fit_destroy(fit);
    xb_free(x);
    xb_law_destroy(law);
}

static double even_pdf(void *arg, double x) { return (void)arg, (void)x, 1; }

/* A law of functions, values beyond its support, and what is refused. */
static void any_law_and_bad_input(void **state)
{
    enum { N = 200 };
    xb_ctx *ctx = *state;
    xb_law_functions_options even = xb_law_functions_options_default();
    xb_law *law = NULL;
    static double x[N];
    even.pdf = even_pdf, even.lower = 0, even.upper = 1;
    assert_ok(ctx, xb_law_from_functions(ctx, &law, "even", &even));
    for (int i = 0; i < N; i++) x[i] = (i * 61 % N + 0.5) / N;
    xb_goodness_result *r = judged(ctx, law, x, N, true);
    assert_close(xb_goodness_result_ks(r), 0.5 / N, 1e-9);
    assert_true(xb_goodness_result_ks_p(r) == 1 && xb_goodness_result_fits(r));
    xb_goodness_result_destroy(r);
    x[0] = -1, x[1] = 7;
    r = judged(ctx, law, x, N, true);
    assert_int_equal(xb_goodness_result_outside(r), 2);
    xb_goodness_result_destroy(r);
    r = NULL;
    assert_int_equal(xb_law_goodness(ctx, &r, law, x, 3, NULL), XB_E_INPUT);
    x[5] = NAN;
    assert_int_equal(xb_law_goodness(ctx, &r, law, x, N, NULL), XB_E_INPUT);
    x[5] = 0.5;
    xb_goodness_options o = xb_goodness_options_default();
    o.level = 1;
    assert_int_equal(xb_law_goodness(ctx, &r, law, x, N, &o), XB_E_ARGUMENT);
    assert_null(r);
    xb_law_destroy(law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_level_is_right),    cmocka_unit_test(a_wrong_law_is_seen),
        cmocka_unit_test(correlation_counts),    cmocka_unit_test(known_is_not_fitted),
        cmocka_unit_test(any_law_and_bad_input),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
