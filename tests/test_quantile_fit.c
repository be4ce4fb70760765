/* test_quantile_fit.c: the one-polynomial quantiles that the study "quantile" compares.
 */
#include "studytest.h"

#include "study/brent.h"
#include "study/quantile_fit.h"

static double cubic(const void *arg, double x)
{
    return x * x * x - *(const double *)arg;
}

static void brent_finds_roots(void **state)
{
    (void)state;
    for (double a = -8; a <= 8; a += 0.37)
        assert_close_floor(xb_brent(cubic, &a, -3, 3, 1e-15), cbrt(a), 1e-14, 1);
}

static double fit_error(xb_ctx *ctx, const xb_law *law, xb_quantile_kind kind, int degree)
{
    xb_quantile_fit *fit = NULL;
    assert_ok(ctx, xb_quantile_fit_create(ctx, &fit, law, kind, degree, true));
    double error = xb_quantile_fit_u_error(fit);
    xb_quantile_fit_destroy(fit);
    return error;
}

/* The smallest degree with u-error below 2^-24, as an independent prototype
 * (SciPy) found it; 41 stands for more than 40. */
static void paper_fits_converge_as_known(void **state)
{
    (void)state;
    static const struct {
        const char *law;
        int degree[3]; /* direct, corrected, spectral */
    } known[] = {
        {"mtj:B=0.15,w=0.5", {41, 18, 17}},
        {"mtj:B=0.5,w=0.8", {41, 26, 8}},
        {"mtj:B=0.05,w=0.3", {41, 32, 41}},
        {"ecram:B=0.1,w=0.6", {41, 26, 25}},
    };
    xb_ctx *ctx = test_ctx();
    for (int j = 0; j < XB_COUNT(known); j++) {
        xb_law *law = test_law(ctx, known[j].law);
        for (int kind = 0; kind < 3; kind++) {
            int degree = 1;
            while (degree <= 40 &&
                   fit_error(ctx, law, (xb_quantile_kind)kind, degree) >= 0x1p-24)
                degree++;
            assert_int_equal(degree, known[j].degree[kind]);
        }
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

static void corrected_fit_is_refused_where_useless(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "mtj:B=0.01,w=1");
    xb_quantile_fit *fit = NULL;
    assert_int_equal(
        xb_quantile_fit_create(ctx, &fit, law, XB_QUANTILE_CORRECTED, 10, false),
        XB_E_NUMERIC);
    assert_null(fit);
    assert_non_null(strstr(xb_ctx_message(ctx), "leaves the support"));
    xb_law_destroy(law);
    law = test_law(ctx, "gaussian");
    assert_int_equal(
        xb_quantile_fit_create(ctx, &fit, law, XB_QUANTILE_DIRECT, 10, false),
        XB_E_ARGUMENT);
    xb_law_destroy(law);
    law = test_law(ctx, "mtj");
    assert_int_equal(xb_quantile_fit_create(ctx, &fit, law, XB_QUANTILE_DIRECT, 0, false),
                     XB_E_ARGUMENT);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* log q - log N(0, variance), of a draw within the support. */
static double log_ratio(const xb_law *law, double x)
{
    const double inside = 1 - 1e-12, y = fmin(fmax(x, -inside), inside);
    const double variance = xb_law_moments(law).variance;
    return xb_law_log_pdf(law, y) + 0.5 * y * y / variance +
           0.5 * log(2 * M_PI * variance);
}

/* The bias of a fit of degree 10 by the midpoint rule in s, v = s^2/2. */
static double bias_of(xb_ctx *ctx, const xb_law *law, xb_quantile_kind kind)
{
    enum { POINTS = 200000 };
    xb_quantile_fit *fit = NULL;
    assert_ok(ctx, xb_quantile_fit_create(ctx, &fit, law, kind, 10, true));
    double sum = 0;
    for (int i = 0; i < POINTS; i++) {
        double s = (i + 0.5) / POINTS, v = 0.5 * s * s;
        sum += 2 * s / POINTS *
               (log_ratio(law, xb_quantile_fit_eval(fit, v)) -
                log_ratio(law, xb_law_quantile(law, v)));
    }
    xb_quantile_fit_destroy(fit);
    return sum;
}

static void the_study_has_the_bias_and_both_tails(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study *study = NULL;
    xb_study_options o = xb_study_options_default();
    o.quick = true;
    o.device_law = "mtj:B=0.15,w=0.5";
    assert_ok(ctx, xb_study_run(ctx, &study, "quantile", &o));
    xb_law *law = test_law(ctx, o.device_law);
    assert_close(fact(study, "bias_corrected"), bias_of(ctx, law, XB_QUANTILE_CORRECTED),
                 1e-4);
    assert_close(fact(study, "bias_spectral"), bias_of(ctx, law, XB_QUANTILE_SPECTRAL),
                 1e-4);
    const xb_table *t = xb_study_table(study, "sampler");
    assert_non_null(t);
    double largest[5] = {0};
    for (int64_t r = 0; r < xb_table_row_count(t); r++)
        for (int c = 1; c < 5; c++) largest[c] = fmax(largest[c], xb_table_get(t, r, c));
    for (int c = 1; c < 5; c++) { /* each tail has an error, and a small one */
        assert_at_most(largest[c], c < 3 ? 5e-7 : 1e-9);
        assert_true(largest[c] > 0);
    }
    xb_law_destroy(law);
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brent_finds_roots),
        cmocka_unit_test(paper_fits_converge_as_known),
        cmocka_unit_test(the_study_has_the_bias_and_both_tails),
        cmocka_unit_test(corrected_fit_is_refused_where_useless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
