/* test_study_laws.c: the study of laws, its histogram, and the built-in sample. */
#include "studytest.h"

#include "base/ctx.h"
#include "study/bins.h"

static xb_study *run_laws(xb_ctx *ctx, const xb_study_options *options)
{
    xb_study *study = NULL;
    assert_ok(ctx, xb_study_run(ctx, &study, "laws", options));
    return study;
}

static const xb_table *table(const xb_study *study, const char *name)
{
    const xb_table *t = xb_study_table(study, name);
    if (!t) fail_msg("no table '%s'", name);
    return t;
}

/* Mass, mean and variance of a tabulated density, equidistant points. */
static void integrate(double out[3], const xb_table *t, const char *column)
{
    int c = xb_table_column_find(t, column);
    assert_true(c > 0);
    out[0] = out[1] = out[2] = 0;
    double h = xb_table_get(t, 1, 0) - xb_table_get(t, 0, 0);
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        double x = xb_table_get(t, r, 0), p = xb_table_get(t, r, c) * h;
        out[0] += p;
        out[1] += p * x;
        out[2] += p * x * x;
    }
}

/* n = 20000: the standard error of a variance is 1 % of it, of a mean 0.0025. */
static void builtin_sample_is_the_device(void **state)
{
    (void)state;
    enum { N = 20000 };
    xb_ctx *ctx = test_ctx();
    double *x = NULL, *again = NULL, sum = 0, squares = 0;
    xb_ctx_set_threads(ctx, 1);
    assert_ok(ctx, xb_builtin_noise(ctx, &x, N, 5));
    xb_ctx_set_threads(ctx, 3);
    assert_ok(ctx, xb_builtin_noise(ctx, &again, N, 5));
    assert_memory_equal(x, again, N * sizeof *x);
    xb_law *law = test_law(ctx, "mtj:B=0.15,w=0.5");
    xb_stream where = {xb_key_make(5, XB_PURPOSE_DATA), 0, 0, 0};
    assert_close(x[17], xb_law_quantile(law, xb_stream_uniform(&where, 17)), 0);
    for (int i = 0; i < N; i++) {
        assert_true(x[i] > -1 && x[i] < 1);
        sum += x[i];
        squares += x[i] * x[i];
    }
    assert_at_most(fabs(sum / N), 0.0125);
    assert_close(squares / N, 0.12042944341332077, 0.05);
    xb_law_destroy(law);
    free(x);
    free(again);
    assert_int_equal(xb_builtin_noise(ctx, &x, 0, 5), XB_E_ARGUMENT);
    xb_ctx_destroy(ctx);
}

static void laws_have_one_variance(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study_options options = xb_study_options_default();
    options.quick = true;
    xb_study *study = run_laws(ctx, &options);
    double g[3], d[3], b[3], h[3], f[3];
    integrate(g, table(study, "densities"), "gaussian");
    integrate(d, table(study, "densities"), "device");
    integrate(b, table(study, "densities"), "bimodal");
    const double *all[] = {g, d, b};
    for (int i = 0; i < 3; i++) {
        assert_close(all[i][0], 1, 1e-3); /* four sd to each side */
        assert_at_most(fabs(all[i][1]), 1e-6);
        assert_close(all[i][2], d[2], 2e-3);
    }
    integrate(h, table(study, "histogram"), "density");
    integrate(f, table(study, "histogram"), "fit");
    assert_close(h[0], 1, 1e-12);
    assert_close(f[0], 1, 0.01);
    assert_close(h[2], f[2], 0.05);
    assert_close(fact_of(study, "samples").value, 20000, 0);
    xb_fact w = fact_of(study, "fit_w"), bb = fact_of(study, "fit_B");
    assert_at_most(fabs(w.value - 0.5), 5 * w.std_error);
    assert_at_most(fabs(bb.value - 0.15), 5 * bb.std_error);
    assert_close(fact_of(study, "kl_device").value, 0.0481, 0.15);
    assert_close(fact_of(study, "excess_kurtosis_bimodal").value, -1.3122, 1e-12);
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void samples_may_be_the_users(void **state)
{
    (void)state;
    enum { N = 4000 };
    xb_ctx *ctx = test_ctx();
    double *x = NULL;
    assert_ok(ctx, xb_builtin_noise(ctx, &x, N, 9));
    for (int i = 0; i < N; i++) x[i] = 3e-6 + 1e-7 * x[i];
    xb_study_options options = xb_study_options_default();
    options.noise = x;
    options.noise_n = N;
    xb_study *study = run_laws(ctx, &options);
    assert_close(fact_of(study, "samples").value, N, 0);
    assert_close(fact_of(study, "fit_scale").value, 1e-7, 0.05);
    assert_close(fact_of(study, "fit_offset").value, 3e-6, 0.01);
    double h[3];
    integrate(h, table(study, "histogram"), "density");
    assert_close(h[0], 1, 1e-12);
    assert_close(h[1], 3e-6, 0.01);
    xb_study_destroy(study);
    xb_study *none = NULL;
    options.noise_n = 3;
    assert_int_equal(xb_study_run(ctx, &none, "laws", &options), XB_E_INPUT);
    assert_null(none);
    free(x);
    xb_ctx_destroy(ctx);
}

/* A flat sample of a converter: every bin but the last holds as many codes. */
static void bins_hold_whole_steps(void **state)
{
    (void)state;
    enum { N = 30000, CODES = 300 };
    const double step = 1.77e-8;
    xb_ctx *ctx = test_ctx();
    static double x[N], density[N];
    for (int i = 0; i < N; i++) x[i] = 5e-6 + step * (i / (N / CODES));
    xb_bins bins;
    assert_ok(ctx, xb_bins_choose(ctx, &bins, x, N, 5.1e-6));
    xb_bins_density(density, &bins, x, N);
    for (int64_t k = 0; k + 1 < bins.count; k++)
        assert_close(density[k], density[0], 1e-9);
    assert_close(bins.width / step, round(bins.width / step), 1e-6);
    xb_ctx_destroy(ctx);
}

static void bins_are_centred(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double x[1000], density[1000], sum = 0;
    for (int i = 0; i < 1000; i++) x[i] = sqrt(i);
    xb_bins bins;
    assert_ok(ctx, xb_bins_choose(ctx, &bins, x, 1000, 7.25));
    double k = (7.25 - bins.low) / bins.width - 0.5;
    assert_close(k, round(k), 1e-9);
    xb_bins_density(density, &bins, x, 1000);
    for (int64_t i = 0; i < bins.count; i++) sum += density[i] * bins.width;
    assert_close(sum, 1, 1e-12);
    double same[] = {2, 2, 2};
    assert_int_equal(xb_bins_choose(ctx, &bins, same, 3, 0), XB_E_ARGUMENT);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtin_sample_is_the_device),
        cmocka_unit_test(laws_have_one_variance),
        cmocka_unit_test(samples_may_be_the_users),
        cmocka_unit_test(bins_hold_whole_steps),
        cmocka_unit_test(bins_are_centred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
