/* test_study_facts.c: what studies say of their tables, on tables written here: means and
 * errors over seeds, largest gaps, verdicts, what an array must hold. */
#include "studytest.h"

#include "study/array_facts.h"
#include "study/scalar_facts.h"
#include "study/utkface_facts.h"
#include "study/utkface_model.h"
#include "data/images.h"

/* ---- scalar */

static const char *const score_names[] = {
    "case",    "rmse",    "rmse_error",  "nll",      "coverage95",     "sigma_a_error",
    "sigma_e", "nll_out", "sigma_e_out", "rmse_out", "coverage95_out", "sigma_median"};
enum { SCORES = sizeof score_names / sizeof *score_names };

static const char *const gap_names[] = {"x",
                                        "mean_device",
                                        "mean_device_error",
                                        "sd_device",
                                        "sd_device_error",
                                        "mean_bimodal",
                                        "mean_bimodal_error",
                                        "sd_bimodal",
                                        "sd_bimodal_error"};
enum { GAPS = sizeof gap_names / sizeof *gap_names };

/* Every score of seed s is 10 case + s, its error over points 0.25. */
static void fill_scores(xb_ctx *ctx, xb_study *study, int seeds)
{
    xb_table *t = NULL;
    assert_ok(ctx, xb_study_new_table(ctx, study, &t, "scores", seeds * XB_SCALAR_CASES,
                                      SCORES, score_names));
    for (int s = 0; s < seeds; s++)
        for (int c = 0; c < XB_SCALAR_CASES; c++) {
            int64_t row = s * XB_SCALAR_CASES + c;
            for (int k = 0; k < SCORES; k++) xb_table_set(t, row, k, 10 * c + s);
            xb_table_set(t, row, 0, c);
            xb_table_set(t, row, 2, 0.25);
        }
}

/* Two points; errors of `error`. The columns' gaps: */
static const double gaps[4][2] = {
    {0.004, -0.02}, {0.006, -0.006}, {0.001, 0.001}, {0.05, 0.05}};

static void fill_gaps(xb_ctx *ctx, xb_study *study, double error)
{
    xb_table *t = NULL;
    assert_ok(ctx, xb_study_new_table(ctx, study, &t, "gaps", 2, GAPS, gap_names));
    for (int row = 0; row < 2; row++) {
        xb_table_set(t, row, 0, row - 0.5);
        for (int k = 0; k < 4; k++) {
            xb_table_set(t, row, 1 + 2 * k, gaps[k][row]);
            xb_table_set(t, row, 2 + 2 * k, error);
        }
    }
}

static void scalar_facts_by_hand(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    for (int seeds = 1; seeds <= 4; seeds += 3) {
        xb_study *study = NULL;
        assert_ok(ctx, xb_study_new(ctx, &study, "scalar", "mtj", 1));
        fill_scores(ctx, study, seeds);
        fill_gaps(ctx, study, 0.003);
        assert_ok(ctx, xb_scalar_facts(ctx, study));
        xb_fact f = fact_of(study, "rmse_device"); /* of seeds 0, 1, 2, 3 */
        assert_close(f.value, seeds == 1 ? 10 : 11.5, 1e-14);
        assert_close(f.std_error, seeds == 1 ? 0.25 : sqrt(5.0 / 3 / 4), 1e-14);
        assert_true((isnan(fact_of(study, "nll").std_error) != 0) == (seeds == 1));
        f = fact_of(study, "gap_mean_device_largest");
        assert_close(f.value, -0.02, 1e-15);
        assert_close(f.std_error, 0.003, 1e-15);
        assert_non_null(strstr(f.text, "at x = 0.5"));
        f = fact_of(study, "gap_sd_device_bound"); /* 0.006 + 2 0.003 is above 0.01 */
        assert_close(f.value, 0.012, 1e-14);
        assert_non_null(strstr(f.text, xb_verdict_name(XB_VERDICT_UNRESOLVED)));
        f = fact_of(study, "gap_mean_bimodal_bound");
        assert_non_null(strstr(f.text, xb_verdict_name(XB_VERDICT_SAME)));
        f = fact_of(study, "gap_sd_bimodal_bound");
        assert_non_null(strstr(f.text, xb_verdict_name(XB_VERDICT_DIFFERENT)));
        xb_study_destroy(study);
    }
    xb_ctx_destroy(ctx);
}

/* ---- faces */

/* Two nets under three laws: each is held against its own Gaussian row. */
static void face_facts_by_hand(void **state)
{
    (void)state;
    static const char *const names[] = {"trained", "asked", "rmse", "rmse_error",
                                        "rmse_mc_error"};
    static const double rmse[] = {8, 8.1, 7.7, 9, 9.05, 9.2};
    static const double error[] = {0.1, 0.2, 0.3, 0.1, 0.2, 0.3};
    xb_ctx *ctx = test_ctx();
    xb_study *study = NULL;
    xb_table *t = NULL;
    assert_ok(ctx, xb_study_new(ctx, &study, "utkface", "mtj", 1));
    assert_ok(ctx, xb_study_new_table(ctx, study, &t, "scores", 6, 5, names));
    for (int row = 0; row < 6; row++) {
        xb_table_set(t, row, 2, rmse[row]);
        xb_table_set(t, row, 3, 1000);
        xb_table_set(t, row, 4, error[row]);
    }
    const xb_image_report report = {.files = 9};
    const xb_utkface_results r = {
        .report = &report, .test = 7, .blind = {20, 1}, .mle = {10, 1}};
    assert_ok(ctx, xb_utkface_facts(ctx, study, &r));
    const double percent = 100.0 / XB_UTKFACE_AGE_MAX;
    assert_close(fact_of(study, "rmse_gap").value, -0.3 * percent, 1e-12);
    assert_close(fact_of(study, "rmse_gap").std_error, hypot(0.1, 0.3) * percent, 1e-12);
    assert_close(fact_of(study, "rmse_dev_device").value, 9.05 * percent, 1e-12);
    assert_close(fact_of(study, "rmse_dev_device").std_error, 0.2 * percent, 1e-12);
    assert_close(fact_of(study, "rmse_mean").value, 20 * percent, 1e-12);
    assert_true(fact_of(study, "test").value == 7);
    assert_true(fact_of(study, "images").value == 9);
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

/* ---- arrays */

/* From the harmless end up to the first that is too much; what lies behind it does not
 * count. */
static void the_first_failure_ends_what_is_tolerated(void **state)
{
    (void)state;
    static const char *const names[] = {"bits", "moved"};
    static const double moved[] = {0.05, 0.3, 0.08, 0.02};
    xb_ctx *ctx = test_ctx();
    xb_table *t = NULL;
    assert_ok(ctx, xb_table_create(ctx, &t, "bits", 4, 2, names));
    for (int row = 0; row < 4; row++) {
        xb_table_set(t, row, 0, row + 3);
        xb_table_set(t, row, 1, moved[row]);
    }
    assert_true(xb_array_tolerated(t, 1, false, 0.1) == 5);
    assert_true(xb_array_tolerated(t, 1, true, 0.1) == 3);
    assert_true(xb_array_tolerated(t, 1, false, 1) == 3);
    assert_true(isnan(xb_array_tolerated(t, 1, false, 0.01)));
    xb_table_destroy(t);
    xb_ctx_destroy(ctx);
}

/* (X18) Two blocks of three reads at two points; by hand, in digital sds: means off by
 * 1, 0 and 0, 2, standard deviations by 0, 1 and -1/2, 0. */
static void few_reads_by_hand(void **state)
{
    (void)state;
    const double mean[] = {10, 0}, sd[] = {2, 1};
    const double value[] = {10, -2, 12, 0, 14, 2,  /* means 12, 0; sds 2, 2 */
                            9,  1,  10, 2, 11, 3}; /* means 10, 2; sds 1, 1 */
    double sum = (1 + 0) + (0 + 1) + (0 + 0.25) + (4 + 0);
    assert_close(xb_array_moved(value, 2, 3, mean, sd, 2), sqrt(sum / 4), 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalar_facts_by_hand),
        cmocka_unit_test(face_facts_by_hand),
        cmocka_unit_test(the_first_failure_ends_what_is_tolerated),
        cmocka_unit_test(few_reads_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
