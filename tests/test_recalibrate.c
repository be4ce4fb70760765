/* test_recalibrate.c: intervals recalibrated on held-out rows: levels against a closed
 * form, what they do for predictions and scores, and what files keep of them (maths C27).
 */
#include "comparetest.h"
#include "traintest.h"

#include "crossbayes/score.h"
#include "vi/model.h"

enum { N = 4000, FILE_MOST = 1 << 16 };

/* Targets of sd 2 under a predictive of sd 1, or as `sd` says. */
static xb_scores *scores_of(xb_ctx *ctx, double sd, int64_t n, uint32_t run)
{
    static double mean[N], width[N], y[N];
    const xb_stream where = {.key = xb_key_make(11, XB_PURPOSE_TEST), .sample = run};
    const xb_mixture p = {mean, width, 1, n, .sd_shared = true};
    xb_law *gaussian = test_law(ctx, "gaussian");
    xb_scores *s = NULL;
    for (int64_t i = 0; i < n; i++) {
        width[i] = sd;
        y[i] = 2 * xb_law_quantile(gaussian, xb_stream_uniform(&where, i));
    }
    assert_ok(ctx, xb_score_regression(ctx, &s, &p, y, NULL));
    xb_law_destroy(gaussian);
    return s;
}

static xb_model *small_model(xb_ctx *ctx, int64_t members)
{
    xb_train_options opt = quick_options();
    opt.epochs = opt.mle_epochs = 2;
    opt.members = members;
    return train_model(ctx, &opt, false, NULL);
}

static double phi(double z) { return 0.5 * erfc(-z / sqrt(2)); }

/* A target is below the quantile of level phi(2 z) with probability phi(z). Errors of a
 * level are below sqrt(p (1 - p) / n) times the slope, 2 at most: bounds of five. */
static void levels_are_the_closed_form(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = small_model(ctx, 1);
    xb_scores *held = scores_of(ctx, 1, N, 1);
    assert_null(xb_model_calibration(m));
    assert_ok(ctx, xb_model_calibrate(ctx, m, held));
    static const double z[] = {-1.2815515655446004, -0.6744897501960817, 0,
                               0.6744897501960817, 1.2815515655446004};
    static const int level[] = {10, 25, 50, 75, 90};
    for (int i = 0; i < XB_COUNT(z); i++)
        assert_true(fabs(xb_model_calibration(m)[level[i] - 1] - phi(2 * z[i])) <
                    5 * 2 * 0.5 / sqrt(N));
    for (int i = 1; i < XB_CALIBRATION_LEVELS; i++)
        assert_true(xb_model_calibration(m)[i] >= xb_model_calibration(m)[i - 1]);
    xb_scores_destroy(held);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Overconfident before, right after: on the rows themselves by halves, and on new ones.
 * Errors of coverage are 0.0034, twice that with those of the levels: bounds of five. */
static void coverage_becomes_right(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = small_model(ctx, 1);
    xb_scores *held = scores_of(ctx, 1, N, 1), *fresh = scores_of(ctx, 1, N, 2);
    xb_score coverage, area;
    assert_true(fabs(xb_scores_get(held, "coverage").value - (1 - 2 * phi(-0.98))) <
                0.04);
    assert_ok(ctx, xb_score_calibrated(ctx, &coverage, &area, held, NULL, 0.95));
    assert_true(fabs(coverage.value - 0.95) < 0.035);
    assert_true(area.value < 0.2 * xb_scores_get(held, "miscalibration_area").value);
    assert_ok(ctx, xb_model_calibrate(ctx, m, held));
    assert_ok(ctx, xb_score_calibrated(ctx, &coverage, &area, fresh, m, 0.95));
    assert_true(fabs(coverage.value - 0.95) < 0.035);
    assert_true(area.value < 0.2 * xb_scores_get(fresh, "miscalibration_area").value);
    xb_scores_destroy(fresh);
    xb_scores_destroy(held);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* What predicts well is left alone but for noise. */
static void the_right_stays_right(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = small_model(ctx, 1);
    xb_scores *held = scores_of(ctx, 2, N, 3);
    assert_ok(ctx, xb_model_calibrate(ctx, m, held));
    for (int i = 0; i < XB_CALIBRATION_LEVELS; i++)
        assert_true(fabs(xb_model_calibration(m)[i] - 0.01 * (i + 1)) < 2.5 / sqrt(N));
    xb_scores_destroy(held);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* A prediction's quantile is the one of the level that takes its place; the file keeps
 * it, of an ensemble too, and means do not move. */
static void predictions_and_files_follow(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    rows r = make_rows(false);
    for (int64_t members = 1; members < 3; members++) {
        xb_model *m = small_model(ctx, members), *again = NULL;
        xb_scores *held = scores_of(ctx, 1, N, 1);
        xb_prediction *plain = NULL, *p = NULL;
        xb_predict_options opt = xb_predict_options_default();
        double level[2] = {0.1, 0.755};
        assert_ok(ctx, xb_model_calibrate(ctx, m, held));
        const double *q = xb_model_calibration(m);
        double instead[2] = {q[9], 0.5 * (q[74] + q[75])};
        scratch s = scratch_make();
        assert_ok(ctx, xb_model_save(ctx, m, scratch_path(&s, "m.safetensors")));
        assert_ok(ctx, xb_model_load(ctx, &again, s.path));
        assert_memory_equal(xb_model_calibration(again), q,
                            XB_CALIBRATION_LEVELS * sizeof *q);
        opt.quantile = level;
        opt.quantiles = 2;
        assert_ok(ctx, xb_predict(ctx, &p, again, r.x, 5, &opt));
        free(again->calibration);
        again->calibration = NULL;
        opt.quantile = instead;
        assert_ok(ctx, xb_predict(ctx, &plain, again, r.x, 5, &opt));
        for (int i = 0; i < 10; i++)
            assert_close(xb_prediction_quantile(p)[i], xb_prediction_quantile(plain)[i],
                         1e-6);
        assert_memory_equal(xb_prediction_mean(p), xb_prediction_mean(plain),
                            5 * sizeof(double));
        xb_prediction_destroy(plain);
        xb_prediction_destroy(p);
        xb_scores_destroy(held);
        xb_model_destroy(again);
        xb_model_destroy(m);
        assert_int_equal(scratch_remove(&s), 1);
    }
    xb_ctx_destroy(ctx);
}

/* Levels that are squares: straight lines between the knots, 0 and 1 at the ends. */
static void levels_between_knots_are_on_lines(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = small_model(ctx, 1);
    double level[XB_CALIBRATION_LEVELS];
    for (int i = 0; i < XB_CALIBRATION_LEVELS; i++) level[i] = pow(0.01 * (i + 1), 2);
    assert_close(xb_model_calibrated_level(m, 0.015), 0.015, 0); /* none yet */
    assert_ok(ctx, xb_model_set_calibration(ctx, m, level));
    assert_close(xb_model_calibrated_level(m, 0.005), 0.5e-4, 1e-9);
    for (int i = 1; i < XB_CALIBRATION_LEVELS; i++)
        assert_close(xb_model_calibrated_level(m, 0.01 * i + 0.005),
                     0.5 * (level[i - 1] + level[i]), 1e-9);
    assert_close(xb_model_calibrated_level(m, 0.995), 0.5 * (0.9801 + 1), 1e-9);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void what_cannot_be_recalibrated_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_model *m = small_model(ctx, 1);
    xb_scores *few = scores_of(ctx, 1, 49, 1), *enough = scores_of(ctx, 1, 50, 1);
    xb_scores *classes = NULL;
    xb_score coverage, area;
    assert_int_equal(xb_model_calibrate(ctx, m, few), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "49 rows"));
    assert_int_equal(xb_score_calibrated(ctx, &coverage, &area, few, m, 0.95),
                     XB_E_ARGUMENT);
    const double p[] = {0.5, 0.5};
    const int64_t label = 1;
    const xb_class_draws in = {p, 1, 1, 2};
    assert_ok(ctx, xb_score_classes(ctx, &classes, &in, &label, NULL));
    assert_int_equal(xb_model_calibrate(ctx, m, classes), XB_E_ARGUMENT);
    assert_null(xb_model_calibration(m));
    double level[XB_CALIBRATION_LEVELS];
    for (int i = 0; i < XB_CALIBRATION_LEVELS; i++) level[i] = 0.01 * (i + 1);
    level[50] = 0.2; /* not ascending */
    assert_int_equal(xb_model_set_calibration(ctx, m, level), XB_E_INPUT);
    level[50] = NAN;
    assert_int_equal(xb_model_set_calibration(ctx, m, level), XB_E_INPUT);
    assert_ok(ctx, xb_model_calibrate(ctx, m, enough));
    assert_non_null(xb_model_calibration(m));
    xb_scores_destroy(classes);
    xb_scores_destroy(few);
    xb_scores_destroy(enough);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_the_closed_form),
        cmocka_unit_test(coverage_becomes_right),
        cmocka_unit_test(the_right_stays_right),
        cmocka_unit_test(predictions_and_files_follow),
        cmocka_unit_test(levels_between_knots_are_on_lines),
        cmocka_unit_test(what_cannot_be_recalibrated_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
