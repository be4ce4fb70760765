/* test_score.c: scores of many predictives: calibration, propriety, honest Monte Carlo
 * errors, threads, classes, bad input; those of one are in test_score_point.c.
 * Statistical tests fix their seeds; their bands are 4 standard errors (false alarm 6e-5
 * each) unless said otherwise. */
#include "comparetest.h"

#include "failalloc.h"

#include "base/ctx.h"
#include "compare/calibration.h"

/* y ~ N(0.5 z, 1 + ..): the predictive of each point is exact, or too narrow. */
typedef struct forecast {
    int64_t n;
    double *mean, *sd, *y;
} forecast;

static forecast forecast_make(int64_t n, double scale, double shift)
{
    forecast f = {n, new_normals(n, 4), new_normals(n, 5), new_normals(n, 6)};
    for (int64_t i = 0; i < n; i++) {
        double sd = 1 + 0.5 * fabs(f.sd[i]);
        f.y[i] = f.mean[i] + sd * f.y[i];
        f.mean[i] += shift;
        f.sd[i] = scale * sd;
    }
    return f;
}

static number_scores forecast_score(double scale, double shift)
{
    xb_ctx *ctx = test_ctx();
    forecast f = forecast_make(4000, scale, shift);
    xb_mixture p = {f.mean, f.sd, 1, f.n, false};
    number_scores s;
    assert_ok(ctx, score_numbers(ctx, &s, NULL, &p, f.y, NULL));
    free(f.mean), free(f.sd), free(f.y);
    xb_ctx_destroy(ctx);
    return s;
}

static void calibration_is_seen(void **state)
{
    (void)state;
    number_scores s = forecast_score(1, 0);
    print_message("calibrated: area %.4f, floor %.4f; coverage %.4f +- %.4f\n",
                  s.miscalibration_area.value, s.miscalibration_floor, s.coverage.value,
                  s.coverage.std_error);
    assert_at_most(fabs(s.coverage.value - 0.95), 4 * s.coverage.std_error);
    for (int i = 0; i < XB_CALIBRATION_LEVELS; i++)
        assert_at_most(fabs(s.share[i] - s.level[i]), 4 * s.share_error[i]);
    /* the integral of a bridge exceeds 3 times its mean once in a thousand */
    assert_at_most(s.miscalibration_area.value, 3 * s.miscalibration_floor);
    s = forecast_score(0.5, 0); /* area 1/2 - E(2 Phi(|z| / 2) - 1) */
    assert_at_most(fabs(s.miscalibration_area.value - (0.5 - 2 / M_PI * atan(0.5))),
                   4 * s.miscalibration_area.std_error);
    assert_at_most(s.miscalibration_area.std_error, 0.01);
    assert_true(s.coverage.value < 0.7);
}

/* Area of hand-made curves: pit all 1/2 gives share 1 at once, area 1/2; two points
 * with masses 0.2 and 0.6: triangles 0.02 + 0.045 + 0.005 + 0.08. */
static void area_by_hand(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double m[] = {0, 0}, a[] = {1, 1}, y[] = {0, 0};
    xb_mixture p = {m, a, 1, 2, false};
    number_scores s;
    assert_ok(ctx, score_numbers(ctx, &s, NULL, &p, y, NULL));
    assert_close(s.miscalibration_area.value, 0.5, 1e-15);
    y[0] = 0.2533471031357997; /* Phi = 0.6 */
    y[1] = -0.8416212335729143;
    assert_ok(ctx, score_numbers(ctx, &s, NULL, &p, y, NULL));
    assert_close(s.miscalibration_area.value, 0.15, 1e-14);
    assert_true(s.share[18] == 0 && s.share[20] == 0.5 && s.share[60] == 1);
    assert_close(s.miscalibration_floor, 0.31332853432887503 / sqrt(2), 1e-14);
    xb_ctx_destroy(ctx);
}

/* (C8) What lies on the level is within. */
static void shares_by_hand(void **state)
{
    (void)state;
    static const double mass[] = {0.25, 0.5, 0.5, 1};
    static const double level[] = {0, 0.25, 0.49, 0.5, 0.99, 1};
    static const double share[] = {0, 0.25, 0.25, 0.75, 0.75, 1};
    for (int i = 0; i < XB_COUNT(level); i++)
        assert_close(xb_calibration_share(mass, XB_COUNT(mass), level[i]), share[i],
                     1e-15);
}

static void truth_scores_best(void **state)
{
    (void)state;
    number_scores best = forecast_score(1, 0);
    static const double scale[] = {0.8, 1.25, 1, 1}, shift[] = {0, 0, 0.25, -0.25};
    for (int i = 0; i < XB_COUNT(scale); i++) {
        number_scores s = forecast_score(scale[i], shift[i]);
        assert_true(s.crps.value > best.crps.value);
        assert_true(s.nll.value > best.nll.value);
        assert_true(s.pinball.value > best.pinball.value);
    }
}

/* Means N(0, 1), noise sd 0.5: the true predictive is N(0, 1.25). Over 4000 sets of
 * three draws the fair score has its mean, the plain one does not. */
static void fair_is_unbiased(void **state)
{
    (void)state;
    enum { N = 4000, S = 3 };
    xb_ctx *ctx = test_ctx();
    double *m = new_normals((int64_t)N * S, 7), sd[N], y[N];
    for (int i = 0; i < N; i++) sd[i] = 0.5, y[i] = 0.7;
    double root = sqrt(1.25), z = 0.7 / root;
    double truth = root * (z * erf(z / M_SQRT2) + 2 * exp(-z * z / 2) / sqrt(2 * M_PI) -
                           1 / sqrt(M_PI));
    xb_mixture p = {m, sd, S, N, true};
    xb_score_options opt = xb_score_options_default();
    number_scores s;
    assert_ok(ctx, score_numbers(ctx, &s, NULL, &p, y, NULL));
    print_message("fair CRPS of 3 draws %.5f +- %.5f, truth %.5f\n", s.crps.value,
                  s.crps.std_error, truth);
    assert_at_most(fabs(s.crps.value - truth), 4 * s.crps.std_error);
    opt.fair = false;
    assert_ok(ctx, score_numbers(ctx, &s, NULL, &p, y, &opt));
    assert_true(s.crps.value - truth > 10 * s.crps.std_error);
    free(m);
    xb_ctx_destroy(ctx);
}

/* 150 runs of 200 draws: the spread of each score over runs is its mc_error. With
 * 150 runs and 20 groups the ratio has a standard error of 6 %. */
static void mc_errors_are_honest(void **state)
{
    (void)state;
    enum { RUNS = 150, S = 200, N = 3, SCORES = 7 };
    xb_ctx *ctx = test_ctx();
    double y[N] = {0.5, 1, -2}, sd[N] = {0.7, 0.2, 1};
    double sum[SCORES] = {0}, square[SCORES] = {0}, claimed[SCORES] = {0};
    for (int r = 0; r < RUNS; r++) {
        double *m = new_normals(S * N, 100 + (uint32_t)r);
        for (int s = 0; s < S; s++) /* the points share the draw, as weights do */
            for (int i = 1; i < N; i++) m[s * N + i] += 0.5 * m[s * N];
        xb_mixture p = {m, sd, S, N, true};
        number_scores o;
        assert_ok(ctx, score_numbers(ctx, &o, NULL, &p, y, NULL));
        const xb_score score[SCORES] = {o.rmse,    o.nll,       o.crps,     o.width,
                                        o.pinball, o.sharpness, o.epistemic};
        for (int j = 0; j < SCORES; j++) {
            sum[j] += score[j].value;
            square[j] += score[j].value * score[j].value;
            claimed[j] += score[j].mc_error * score[j].mc_error / RUNS;
        }
        free(m);
    }
    for (int j = 0; j < SCORES; j++) {
        double variance = (square[j] - sum[j] * sum[j] / RUNS) / (RUNS - 1);
        double ratio = sqrt(claimed[j] / variance);
        print_message("score %d: claimed / true Monte Carlo error %.3f\n", j, ratio);
        assert_true(ratio > 0.76 && ratio < 1.3);
    }
    xb_ctx_destroy(ctx);
}

static void same_bytes_at_any_threads(void **state)
{
    (void)state;
    enum { S = 50, N = 131, C = 4 };
    double *m = new_normals(S * N, 8), *y = new_normals(N, 9),
           *p = new_normals(S * N * C, 10);
    double sd[N];
    int64_t label[N];
    for (int i = 0; i < N; i++) sd[i] = 0.3 + 0.01 * i, label[i] = i % C;
    for (int64_t i = 0; i < S * N; i++) {
        double sum = 0;
        for (int c = 0; c < C; c++) sum += p[i * C + c] = exp(p[i * C + c]);
        for (int c = 0; c < C; c++) p[i * C + c] /= sum;
    }
    xb_mixture predictive = {m, sd, S, N, true};
    xb_class_draws draws = {p, S, N, C};
    number_scores r[4];
    class_scores c[4];
    static const int threads[] = {1, 2, 3, 8};
    memset(r, 0, sizeof r), memset(c, 0, sizeof c);
    for (int i = 0; i < 4; i++) {
        xb_ctx *ctx = test_ctx();
        xb_ctx_set_threads(ctx, threads[i]);
        assert_ok(ctx, score_numbers(ctx, &r[i], NULL, &predictive, y, NULL));
        assert_ok(ctx, score_classes(ctx, &c[i], &draws, label, NULL));
        assert_memory_equal(&r[i], &r[0], sizeof r[0]);
        assert_memory_equal(&c[i], &c[0], sizeof c[0]);
        xb_ctx_destroy(ctx);
    }
    free(m), free(y), free(p);
}

static void classes_by_hand(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    /* two draws, three points, two classes; means .7 .3 / .5 .5 / .1 .9 */
    const double p[] = {0.8, 0.2, 1, 0, 0.1, 0.9, 0.6, 0.4, 0, 1, 0.1, 0.9};
    const int64_t label[] = {0, 1, 0};
    xb_class_draws draws = {p, 2, 3, 2};
    class_scores s;
    const int64_t wrong[] = {0, 2, 0};
    assert_int_equal(score_classes(ctx, &s, &draws, wrong, NULL), XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx), "label 2 is 2: expected 0 to 1");
    assert_ok(ctx, score_classes(ctx, &s, &draws, label, NULL));
    assert_close(s.accuracy.value, 1.0 / 3, 1e-15); /* a tie goes to class 0 */
    assert_close(s.nll.value, -(log(0.7) + log(0.5) + log(0.1)) / 3, 1e-14);
    assert_close(s.brier.value, (2 * 0.09 + 2 * 0.25 + 2 * 0.81) / 3, 1e-14);
    assert_close(s.ece.value, (0.3 + 0.5 + 0.9) / 3, 1e-14); /* three bins of one */
    double h7 = -0.7 * log(0.7) - 0.3 * log(0.3), h9 = -0.9 * log(0.9) - 0.1 * log(0.1);
    double h8 = -0.8 * log(0.8) - 0.2 * log(0.2), h6 = -0.6 * log(0.6) - 0.4 * log(0.4);
    assert_close(s.entropy.value, (h7 + log(2) + h9) / 3, 1e-14);
    assert_close(s.information.value, (h7 - 0.5 * (h8 + h6) + log(2)) / 3, 1e-14);
    assert_true(s.bins == 15 && s.bin_accuracy[10] == 1 && s.bin_accuracy[13] == 0);
    assert_close(s.bin_share[7], 1.0 / 3, 1e-15);
    assert_true(isnan(s.bin_confidence[0]));
    /* shaken by both draws' signs the tie turns into a hit in one of four (C20) */
    assert_close(s.accuracy.mc_error, sqrt(3.0 / 16) / 3, 1e-14);
    assert_close(s.accuracy.std_error, sqrt(0.375 * 0.625 / 3), 1e-14); /* (C8) */
    /* three bins of one point; E|hit - p| of one point is 2 p (1 - p) (C21) */
    assert_close(s.ece_floor, 2 * (0.7 * 0.3 + 0.25 + 0.9 * 0.1) / 3, 1e-14);
    const int64_t right[] = {0, 0, 1};
    assert_ok(ctx, score_classes(ctx, &s, &draws, right, NULL));
    assert_true(s.accuracy.value == 1);
    assert_close(s.accuracy.std_error, sqrt(0.875 * 0.125 / 3), 1e-14);
    draws.draws = 1; /* no draws to disagree */
    assert_ok(ctx, score_classes(ctx, &s, &draws, label, NULL));
    assert_true(isnan(s.accuracy.mc_error) && isnan(s.ece.mc_error));
    assert_close_floor(s.information.value, 0, 1e-15, 1);
    assert_true(s.nll.value == INFINITY && isnan(s.nll.mc_error));
    xb_ctx_destroy(ctx);
}

/* A confidence on an edge counts below it; the error of ECE is that of gaps with the sign
 * of their bin. Confidences .5 .5 .8 .8, the first two wrong: bins with excesses of 1 and
 * of -.4. */
static void bins_by_hand(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const double p[] = {0.5, 0.5, 0.5, 0.5, 0.8, 0.2, 0.8, 0.2};
    const int64_t label[] = {1, 1, 0, 0};
    xb_class_draws draws = {p, 1, 4, 2};
    class_scores s;
    xb_score_options opt = xb_score_options_default();
    opt.bins = 10;
    assert_ok(ctx, score_classes(ctx, &s, &draws, label, &opt));
    assert_close(s.bin_share[4], 0.5, 1e-15);
    assert_close(s.bin_share[7], 0.5, 1e-15);
    assert_close(s.ece.value, 0.35, 1e-14);
    /* gaps .5 .5 .2 .2, mean .35 */
    assert_close(s.ece.std_error, sqrt(4 * 0.15 * 0.15 / 3 / 4), 1e-13);
    xb_scores *fine = NULL; /* many bins, of which two have points */
    int64_t bins = 0;
    opt.bins = 1000;
    assert_ok(ctx, xb_score_classes(ctx, &fine, &draws, label, &opt));
    const double *share = xb_scores_array_get(fine, "bin_share", &bins);
    assert_int_equal(bins, 1000);
    assert_true(share[499] == 0.5 && share[799] == 0.5 && share[999] == 0);
    assert_close(xb_scores_get(fine, "ece").value, 0.35, 1e-14);
    xb_scores_destroy(fine);
    fine = NULL;
    opt.bins = 0;
    assert_int_equal(xb_score_classes(ctx, &fine, &draws, label, &opt), XB_E_ARGUMENT);
    assert_null(fine);
    xb_ctx_destroy(ctx);
}

static void difference_knows_the_pairs(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const double a[] = {1, 2, 9}, b[] = {0, 1, 5}, bad[] = {0, NAN, 5};
    xb_score d;
    assert_ok(ctx, xb_score_difference(ctx, &d, a, b, 3));
    assert_close(d.value, 2, 1e-15);
    assert_close(d.std_error, 1, 1e-15); /* 1 1 4: sd sqrt 3 */
    assert_ok(ctx, xb_score_difference(ctx, &d, a, b, 1));
    assert_true(d.value == 1 && isnan(d.std_error));
    assert_int_equal(xb_score_difference(ctx, &d, a, bad, 3), XB_E_INPUT);
    assert_int_equal(xb_score_difference(ctx, &d, a, b, 0), XB_E_ARGUMENT);
    xb_ctx_destroy(ctx);
}

static void assert_refused(xb_ctx *ctx, const xb_mixture *p, const double *y,
                           const xb_score_options *opt, xb_status status,
                           const char *says)
{
    xb_scores *s = NULL;
    assert_int_equal(xb_score_regression(ctx, &s, p, y, opt), status);
    assert_null(s);
    if (!strstr(xb_ctx_message(ctx), says))
        fail_msg("'%s' does not say '%s'", xb_ctx_message(ctx), says);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double m[] = {1, 2, 3, 4}, a[] = {1, 1, 1, 1}, y[] = {1, 2};
    xb_mixture p = {m, a, 2, 2, false};
    xb_score_options opt = xb_score_options_default();
    m[3] = NAN;
    assert_refused(ctx, &p, y, NULL, XB_E_INPUT, "mean of draw 2 at point 2 is nan");
    m[3] = 1, a[2] = -1;
    assert_refused(ctx, &p, y, NULL, XB_E_INPUT, "deviation of draw 2 at point 1 is -1");
    a[2] = 1, y[0] = INFINITY;
    assert_refused(ctx, &p, y, NULL, XB_E_INPUT, "target 1 is inf");
    y[0] = 1, opt.interval = 1;
    assert_refused(ctx, &p, y, &opt, XB_E_ARGUMENT, "interval 1");
    opt = xb_score_options_default(), opt.quantiles = 0;
    assert_refused(ctx, &p, y, &opt, XB_E_ARGUMENT, "0 quantile levels");
    p.draws = 0;
    assert_refused(ctx, &p, y, NULL, XB_E_ARGUMENT, "draws: 0, points: 2; ");
    const double c[] = {0.5, 0.6}, n[] = {NAN, 1}, good[] = {0.5, 0.5};
    const int64_t label[] = {1}, wrong[] = {2};
    xb_class_draws draws = {c, 1, 1, 2};
    class_scores s;
    assert_int_equal(score_classes(ctx, &s, &draws, label, NULL), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "add up to 1.1"));
    draws.p = n;
    assert_int_equal(score_classes(ctx, &s, &draws, label, NULL), XB_E_INPUT);
    draws.p = good;
    assert_int_equal(score_classes(ctx, &s, &draws, wrong, NULL), XB_E_INPUT);
    assert_int_equal(score_classes(ctx, &s, &draws, label, NULL), XB_OK);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_threads(ctx, 1);
    double m[] = {1, 2, 3, 4}, y[] = {1, 2}, p[] = {0.5, 0.5};
    int64_t label[] = {1};
    xb_mixture predictive = {.mean = m, .draws = 2, .n = 2};
    xb_class_draws draws = {p, 1, 1, 2};
    for (int classes = 0; classes < 2; classes++) {
        bool failed = true;
        for (int k = 0; failed && fail_alloc_after(k); k++) {
            xb_scores *s = NULL;
            xb_status status = classes
                                   ? xb_score_classes(ctx, &s, &draws, label, NULL)
                                   : xb_score_regression(ctx, &s, &predictive, y, NULL);
            failed = fail_alloc_happened();
            assert_ran_out(ctx, failed, status, s, k);
            assert_true(failed || k >= 6);
            xb_scores_destroy(s);
        }
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calibration_is_seen),
        cmocka_unit_test(area_by_hand),
        cmocka_unit_test(shares_by_hand),
        cmocka_unit_test(truth_scores_best),
        cmocka_unit_test(fair_is_unbiased),
        cmocka_unit_test(mc_errors_are_honest),
        cmocka_unit_test(same_bytes_at_any_threads),
        cmocka_unit_test(classes_by_hand),
        cmocka_unit_test(bins_by_hand),
        cmocka_unit_test(difference_knows_the_pairs),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
