/* test_study_scalar.c: the scalar study: its data, the paired sums behind its
 * differences between laws, and the quick study as a whole. */
#include "studytest.h"

#include "study/paired.h"
#include "study/scalar_facts.h"
#include "study/scalar_model.h"

static xb_study *run_quick(int threads, xb_ctx *ctx)
{
    xb_study_options options = xb_study_options_default();
    xb_study *study = NULL;
    options.quick = true;
    xb_ctx_set_threads(ctx, threads);
    assert_ok(ctx, xb_study_run(ctx, &study, "scalar", &options));
    return study;
}

static const xb_table *table(const xb_study *study, const char *name)
{
    const xb_table *t = xb_study_table(study, name);
    if (!t) fail_msg("no table '%s'", name);
    return t;
}

static double cell(const xb_table *t, int64_t row, const char *column)
{
    int c = xb_table_column_find(t, column);
    if (c < 0) fail_msg("no column '%s'", column);
    return xb_table_get(t, row, c);
}

/* ---- data */

static double printed_sd(double x) { return 0.1 * fabs(x < 1 ? x : 1); }
static double max_sd(double x) { return 0.1 * (1 + (x > 1 ? x - 1 : 0)); }

/* The places fill their range; noise over its sd has variance 1 (5 sd of the estimate
 * at n = 4000: 0.11) and mean 0 (0.08). */
static void check_data(xb_noise_scale scale, double (*sd)(double))
{
    enum { N = 4000 };
    static double x[N], y[N];
    xb_ctx *ctx = test_ctx();
    xb_law *gaussian = test_law(ctx, "gaussian");
    for (int set = XB_SCALAR_TRAIN; set <= XB_SCALAR_TEST_OUT; set++) {
        bool out = set == XB_SCALAR_TEST_OUT;
        double sum = 0, square = 0, side = 0, size = 0;
        xb_scalar_draw(x, y, N, 3, (xb_scalar_set)set, scale, gaussian);
        for (int i = 0; i < N; i++) {
            assert_true(out ? fabs(x[i]) >= 1 && fabs(x[i]) <= 1.5 : fabs(x[i]) <= 1);
            double z = (y[i] - sin(2 * M_PI * x[i])) / sd(x[i]);
            sum += z;
            square += z * z;
            side += x[i] > 0;
            size += fabs(x[i]);
        }
        assert_close_floor(sum / N, 0, 0.08, 1);
        assert_close(square / N, 1, 0.12);
        assert_close(side / N, 0.5, 0.08);
        assert_close(size / N, out ? 1.25 : 0.5, 0.05);
    }
    for (double at = -1.4; at < 1.5; at += 0.7)
        assert_close(xb_scalar_noise_sd(at, scale), sd(at), 1e-15);
    xb_law_destroy(gaussian);
    xb_ctx_destroy(ctx);
}

static void data_are_the_printed_law(void **state)
{
    (void)state;
    check_data(XB_NOISE_SCALE_MIN, printed_sd);
    check_data(XB_NOISE_SCALE_MAX, max_sd);
}

/* ---- paired sums */

static xb_model *small_model(xb_ctx *ctx)
{
    enum { N = 200 };
    static double x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = -1 + 2.0 * i / (N - 1);
        y[i] = x[i] * x[i];
    }
    const xb_train_data data = {.x = x, .y = y, .n = N, .features = 1};
    xb_train_options o = xb_train_options_default();
    xb_model *model = NULL;
    o.net = "dense 4, tanh, dense 1";
    o.mle_epochs = o.epochs = 5;
    o.sigma = 0.1;
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &o));
    return model;
}

/* Means and sds are those of the plain draws; a law is 0 from itself; the errors of
 * the gaps are those that many short runs show (40 runs: within 45 % of each other,
 * 4 sd). */
static void paired_sums_are_the_draws(void **state)
{
    (void)state;
    enum { POINTS = 3, DRAWS = 1000, RUNS = 40 };
    static double value[DRAWS * POINTS];
    const double x[POINTS] = {-0.7, 0.1, 2};
    xb_ctx *ctx = test_ctx();
    xb_model *model = small_model(ctx);
    xb_law *gaussian = test_law(ctx, "gaussian");
    xb_law *device = test_law(ctx, "mtj:B=0.15,w=0.5");
    const xb_law *law[] = {gaussian, device, gaussian};
    xb_predict_options o = xb_predict_options_default();
    double sum[2] = {0}, square[2] = {0}, claimed[2] = {0};
    for (int run = 0; run < RUNS; run++) {
        xb_paired p;
        o.seed = (uint64_t)run;
        assert_ok(ctx, xb_paired_run(ctx, &p, model, law, 3, x, POINTS, DRAWS, &o));
        xb_paired_gap g[2] = {xb_paired_mean_gap(&p, 1, 2), xb_paired_sd_gap(&p, 1, 2)};
        for (int i = 0; i < 2; i++) {
            sum[i] += g[i].value / RUNS;
            square[i] += g[i].value * g[i].value / RUNS;
            claimed[i] += g[i].error * g[i].error / RUNS;
        }
        assert_close_floor(xb_paired_sd_gap(&p, 2, 1).value, 0, 0, 1);
        assert_close_floor(xb_paired_mean_gap(&p, 2, 1).error, 0, 0, 1);
        if (run == 0) {
            o.law = device;
            double mean = 0, spread = 0;
            assert_ok(ctx,
                      xb_predict_draws(ctx, value, NULL, model, x, POINTS, 0, DRAWS, &o));
            for (int s = 0; s < DRAWS; s++) mean += value[s * POINTS + 1] / DRAWS;
            for (int s = 0; s < DRAWS; s++)
                spread += pow(value[s * POINTS + 1] - mean, 2) / (DRAWS - 1);
            assert_close(xb_paired_mean(&p, 1, 1), mean, 1e-12);
            assert_close(xb_paired_sd(&p, 1, 1), sqrt(spread), 1e-10);
        }
        xb_paired_free(&p);
    }
    for (int i = 0; i < 2; i++)
        assert_close(sqrt(claimed[i]), sqrt(square[i] - sum[i] * sum[i]), 0.45);
    xb_model_destroy(model);
    xb_law_destroy(gaussian);
    xb_law_destroy(device);
    xb_ctx_destroy(ctx);
}

/* ---- the study */

static void check_facts(const xb_study *study)
{
    assert_at_most(fact(study, "rmse"), 0.065);
    assert_at_most(fact(study, "rmse_trained"), 0.065);
    assert_close(fact(study, "rmse_ideal"), sqrt(0.01 / 3), 0.1);
    assert_at_most(fact(study, "rmse_ideal"), fact(study, "rmse") + 1e-3);
    assert_at_most(fact(study, "nll"), -1.5);
    assert_at_most(fact(study, "nll_trained"), -1.5);
    assert_at_most(fact(study, "nll_ideal"), fact(study, "nll"));
    assert_close(fact(study, "coverage95"), 0.95, 0.04);
    assert_at_most(fact(study, "sigma_a_error"), 0.01);
    assert_at_most(1.5 * fact(study, "sigma_e"), fact(study, "sigma_e_out"));
    assert_at_most(fact(study, "gap_mean_device_bound"), 0.01);
    assert_at_most(fact(study, "gap_sd_device_bound"), 0.01);
    assert_at_most(fact(study, "gap_mean_bimodal_bound"), 0.01);
    /* the paper's literal setting: sigma stays where it was, the fit drowns */
    assert_close(fact(study, "sigma_median_literal"), 0.05, 0.05);
    assert_true(fact(study, "rmse_literal") > 0.08);
    assert_true(fact(study, "sigma_e_literal") > 10 * fact(study, "sigma_e"));
}

static void check_tables(const xb_study *study)
{
    const xb_table *bands = table(study, "bands"), *scores = table(study, "scores");
    const xb_table *gaps = table(study, "gaps"), *data = table(study, "data");
    int64_t last = xb_table_row_count(bands) - 1;
    assert_close(cell(bands, 0, "x"), -1.5, 0);
    assert_close(cell(bands, last, "x"), 1.5, 0);
    for (int64_t r = 0; r <= last; r++) {
        double sd = cell(bands, r, "epistemic_gaussian");
        double shift = (cell(bands, r, "mean_device") - cell(bands, r, "mean_gaussian"));
        assert_true(sd > 0);
        assert_close_floor(cell(gaps, r, "mean_device"), shift / sd, 1e-9, 1);
        assert_close_floor(cell(gaps, r, "sd_bimodal"),
                           cell(bands, r, "epistemic_bimodal") / sd - 1, 1e-9, 1);
        assert_true(cell(gaps, r, "sd_bimodal_error") > 0);
    }
    assert_int_equal(xb_table_row_count(scores), XB_SCALAR_CASES);
    for (int64_t r = 0; r < XB_SCALAR_IDEAL; r++)
        for (int c = 0; c < xb_table_column_count(scores); c++)
            assert_true(isfinite(xb_table_get(scores, r, c)));
    assert_int_equal(xb_table_row_count(data), 400);
}

/* To the last bit; frees the second. */
static void assert_same_studies(xb_ctx *ctx, const xb_study *one, xb_study *two)
{
    char *a = NULL, *b = NULL;
    assert_ok(ctx, xb_study_json(ctx, &a, one));
    assert_ok(ctx, xb_study_json(ctx, &b, two));
    assert_string_equal(a, b);
    for (int t = 0; t < xb_study_table_count(one); t++) {
        const xb_table *p = xb_study_table_at(one, t), *q = xb_study_table_at(two, t);
        for (int64_t r = 0; r < xb_table_row_count(p); r++)
            for (int c = 0; c < xb_table_column_count(p); c++) {
                double u = xb_table_get(p, r, c), v = xb_table_get(q, r, c);
                assert_memory_equal(&u, &v, sizeof u);
            }
    }
    free(a);
    free(b);
    xb_study_destroy(two);
}

static void quick_study_holds(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    xb_ctx *ctx = test_ctx();
    xb_study *one = run_quick(1, ctx);
    check_facts(one);
    check_tables(one);
    assert_same_studies(ctx, one, run_quick(2, ctx));
    xb_study_destroy(one);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_are_the_printed_law),
        cmocka_unit_test(paired_sums_are_the_draws),
        cmocka_unit_test(quick_study_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
