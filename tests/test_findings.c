/* test_findings.c: verdicts follow the numbers and their errors: made-up studies whose
 * numbers are changed flip their findings from agrees to differs to cannot tell, and the
 * sentences carry the numbers. */
#include "xbtest.h"

#include "base/ctx.h"
#include "study/findings.h"

static xb_study *empty_study(xb_ctx *ctx, const char *name)
{
    xb_study *study = NULL;
    assert_ok(ctx, xb_study_new(ctx, &study, name, "mtj", 1));
    return study;
}

static void put_fact(xb_ctx *ctx, xb_study *study, const char *name, double value,
                     double error)
{
    assert_ok(ctx, xb_study_add_fact(ctx, study, name, value, error, "%s", name));
}

/* The study's finding i, which is of this kind and has this in its text. */
static void assert_finding(const xb_study *study, int i, xb_finding_kind kind,
                           const char *part)
{
    assert_true(i < xb_study_finding_count(study));
    xb_finding f = xb_study_finding_at(study, i);
    if (f.kind != kind || !strstr(f.text, part))
        fail_msg("found %d, '%s'; expected %d, '%s'", f.kind, f.text, kind, part);
    assert_int_equal(strcmp(f.word, "cannot tell") == 0, kind == XB_FINDING_UNCLEAR);
}

static void numbers_are_judged_with_their_errors(void **state)
{
    (void)state;
    static const struct {
        double value, error, limit, errors;
        xb_finding_kind kind;
    } cases[] = {
        {0.5, 0.2, 1, 2, XB_FINDING_AGREES},    {-0.5, 0.2, 1, 2, XB_FINDING_AGREES},
        {0.5, 0.3, 1, 2, XB_FINDING_UNCLEAR},   {1.5, 0.2, 1, 2, XB_FINDING_DIFFERS},
        {-1.5, 0.2, 1, 2, XB_FINDING_DIFFERS},  {1.5, 0.3, 1, 2, XB_FINDING_UNCLEAR},
        {1, 0, 1, 2, XB_FINDING_AGREES},        {1.01, 0, 1, 2, XB_FINDING_DIFFERS},
        {1, NAN, 1, 2, XB_FINDING_UNCLEAR},     {9, NAN, 1, 2, XB_FINDING_UNCLEAR},
        {NAN, 0.1, 1, 2, XB_FINDING_UNCLEAR},   {0.5, INFINITY, 1, 2, XB_FINDING_UNCLEAR},
        {INFINITY, 0, 1, 2, XB_FINDING_DIFFERS}};
    for (int i = 0; i < XB_COUNT(cases); i++)
        assert_int_equal(
            xb_judge(cases[i].value, cases[i].error, cases[i].limit, cases[i].errors),
            cases[i].kind);
    const xb_finding_kind a = XB_FINDING_AGREES, d = XB_FINDING_DIFFERS,
                          u = XB_FINDING_UNCLEAR;
    assert_int_equal(xb_judge_both(a, a), a);
    assert_int_equal(xb_judge_both(a, u), u);
    assert_int_equal(xb_judge_both(u, a), u);
    assert_int_equal(xb_judge_both(u, d), d);
    assert_int_equal(xb_judge_both(d, a), d);
}

/* ---- laws */

static void check_laws(double p, double fits, double n, xb_finding_kind kind,
                       const char *part)
{
    xb_ctx *ctx = test_ctx();
    xb_study *study = empty_study(ctx, "laws");
    put_fact(ctx, study, "kl_device", 0.0469, NAN);
    put_fact(ctx, study, "excess_kurtosis_device", 0.2, NAN);
    put_fact(ctx, study, "gaussian_p", p, NAN);
    put_fact(ctx, study, "gaussian_fits", fits, NAN);
    put_fact(ctx, study, "effective_samples", n, NAN);
    assert_ok(ctx, xb_find_laws(ctx, study));
    assert_finding(study, 0, kind, part);
    assert_finding(study, 0, kind, "0.0469");
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void gaussian_or_not(void **state)
{
    (void)state;
    check_laws(1e-9, 0, 1e5, XB_FINDING_DIFFERS, "p < 0.001");
    check_laws(1e-9, 0, 20, XB_FINDING_DIFFERS, "are not Gaussian");
    check_laws(0.4, 1, 1e5, XB_FINDING_AGREES, "p = 0.4");
    check_laws(0.4, 1, 13, XB_FINDING_UNCLEAR, "13 independent");
    check_laws(0.4, 0, 1e5, XB_FINDING_UNCLEAR, "does not fit these samples");
    check_laws(0.4, 1, 13, XB_FINDING_UNCLEAR, "These samples neither confirm");
    check_laws(NAN, NAN, NAN, XB_FINDING_UNCLEAR, "");
}

static void rules_and_draws(void **state)
{
    (void)state;
    static const struct {
        double two, kl, single;
        xb_finding_kind rule, draw;
    } cases[] = {{1e-16, 1e-12, 5e-8, XB_FINDING_AGREES, XB_FINDING_AGREES},
                 {1e-6, 1e-12, 5e-3, XB_FINDING_DIFFERS, XB_FINDING_DIFFERS},
                 {1e-16, 1e-3, 1e-6, XB_FINDING_DIFFERS, XB_FINDING_AGREES},
                 {NAN, NAN, NAN, XB_FINDING_UNCLEAR, XB_FINDING_UNCLEAR}};
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_ctx *ctx = test_ctx();
        xb_study *study = empty_study(ctx, "quadrature");
        put_fact(ctx, study, "two_point_cross_entropy_error", cases[i].two, NAN);
        put_fact(ctx, study, "smooth_kl_error", cases[i].kl, NAN);
        put_fact(ctx, study, "device_kl", 0.05, NAN);
        put_fact(ctx, study, "sampler_u_error_float", cases[i].single, NAN);
        put_fact(ctx, study, "sampler_u_error_double", 1e-15, NAN);
        assert_ok(ctx, xb_find_quadrature(ctx, study));
        assert_ok(ctx, xb_find_quantile(ctx, study));
        assert_finding(study, 0, cases[i].rule, "");
        assert_finding(study, 1, cases[i].draw, "");
        xb_study_destroy(study);
        xb_ctx_destroy(ctx);
    }
}

/* ---- nets */

/* KL of the device at widths 1, 4 and 16, depths 1 and 2; bimodal ten times that. */
static void check_energy(const double kl[3], double error, xb_finding_kind kind,
                         const char *part, const char *bimodal)
{
    static const char *const columns[] = {"law",   "depth", "width",
                                          "n_eff", "kl",    "kl_error"};
    xb_ctx *ctx = test_ctx();
    xb_study *study = empty_study(ctx, "energy");
    xb_table *t = NULL;
    assert_ok(ctx, xb_study_new_table(ctx, study, &t, "kl", 12, 6, columns));
    for (int row = 0; row < 12; row++) {
        int law = 1 + row / 6, depth = 1 + row / 3 % 2, w = row % 3;
        double factor = (law == 2 ? 10 : 1) * (depth == 2 ? 1.5 : 1);
        const double cell[] = {law, depth,          w == 0 ? 1 : w == 1 ? 4 : 16,
                               2.5, factor * kl[w], error};
        for (int c = 0; c < 6; c++) xb_table_set(t, row, c, cell[c]);
    }
    assert_ok(ctx, xb_find_energy(ctx, study));
    assert_finding(study, 0, kind, part);
    assert_finding(study, 0, kind, bimodal);
    assert_finding(study, 0, kind, "depth 2"); /* the worst */
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void width_is_enough_or_not(void **state)
{
    (void)state;
    check_energy((double[]){1e-2, 2e-4, 3e-5}, 1e-6, XB_FINDING_AGREES, "from width 4 on",
                 "needs width 16");
    check_energy((double[]){1e-2, 2e-4, 3e-5}, 1e-6, XB_FINDING_AGREES,
                 "(3.000 ± 0.010)e-04", "");
    check_energy((double[]){4e-5, 2e-5, 3e-5}, 1e-6, XB_FINDING_AGREES, "from width 1 on",
                 "needs width 1");
    check_energy((double[]){1e-2, 5e-3, 2e-3}, 1e-6, XB_FINDING_DIFFERS, "up to width 16",
                 "still matters at width 16");
    check_energy((double[]){1e-2, 2e-4, 8e-4}, 1e-3, XB_FINDING_UNCLEAR, "at width 16",
                 "still matters");
    check_energy((double[]){1e-2, 2e-4, -3e-4}, 1e-5, XB_FINDING_AGREES,
                 "; below 0 by more than its error", "");
    check_energy((double[]){1e-2, 2e-4, -3e-4}, 2e-4, XB_FINDING_UNCLEAR,
                 "threshold 0.001).", "");
    /* not enough at 16 though it is at 4: only what holds from there on counts */
    check_energy((double[]){1e-2, 2e-4, 3e-3}, 1e-6, XB_FINDING_DIFFERS, "up to width 16",
                 "");
}

static void check_narrow(double tail, double error, xb_finding_kind kind,
                         const char *part)
{
    static const char *const columns[] = {"law",   "depth", "width",
                                          "n_eff", "tail2", "tail2_error"};
    xb_ctx *ctx = test_ctx();
    xb_study *study = empty_study(ctx, "narrow");
    xb_table *t = NULL;
    assert_ok(ctx, xb_study_new_table(ctx, study, &t, "gaps", 3, 6, columns));
    const double cell[3][6] = {{1, 1, 1, 1.5, tail, error},
                               {1, 1, 2, 3.5, tail / 100, error / 100},
                               {2, 1, 1, 9.5, 0.9, 0.01}}; /* bimodal: not asked */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 6; c++) xb_table_set(t, r, c, cell[r][c]);
    assert_ok(ctx, xb_find_narrow(ctx, study));
    assert_finding(study, 0, kind, part);
    assert_finding(study, 0, kind, "width 1, depth 1");
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void tails_matter_or_not(void **state)
{
    (void)state;
    check_narrow(0.2, 0.01, XB_FINDING_DIFFERS, "20.0 ± 1.0 %");
    check_narrow(-0.2, 0.01, XB_FINDING_DIFFERS, "1 of 2 nets (n_eff up to 1.5)");
    check_narrow(0.02, 0.001, XB_FINDING_AGREES, "0 of 2 nets the change");
    check_narrow(0.06, 0.01, XB_FINDING_UNCLEAR, "may or may not");
}

/* ---- tasks */

static void check_scalar(double rmse, double mean, double error, xb_finding_kind learnt,
                         xb_finding_kind same)
{
    xb_ctx *ctx = test_ctx();
    xb_study *study = empty_study(ctx, "scalar");
    put_fact(ctx, study, "rmse", rmse, 0.001);
    put_fact(ctx, study, "rmse_ideal", 0.058, NAN);
    put_fact(ctx, study, "coverage95", 0.96, NAN);
    put_fact(ctx, study, "coverage95_out", 0.4, NAN);
    put_fact(ctx, study, "gap_mean_device_rms", mean, error);
    put_fact(ctx, study, "gap_sd_device_rms", 0.001, 0.0001);
    assert_ok(ctx, xb_find_scalar(ctx, study));
    assert_finding(study, 0, learnt, "40 % outside, where the net is overconfident");
    assert_finding(study, 1, same, "0.00100 ± 0.00010");
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void learnt_and_same_or_not(void **state)
{
    (void)state;
    check_scalar(0.0585, 0.001, 0.001, XB_FINDING_AGREES, XB_FINDING_AGREES);
    check_scalar(0.2, 0.05, 0.001, XB_FINDING_DIFFERS, XB_FINDING_DIFFERS);
    check_scalar(0.064, 0.009, 0.001, XB_FINDING_UNCLEAR, XB_FINDING_UNCLEAR);
    check_scalar(NAN, NAN, NAN, XB_FINDING_UNCLEAR, XB_FINDING_UNCLEAR);
}

static void check_faces(double coverage, double n, double gap, double error,
                        xb_finding_kind calibrated, xb_finding_kind same)
{
    static const char *const columns[] = {"coverage95", "miscalibration_area",
                                          "miscalibration_area_mc",
                                          "miscalibration_floor"};
    xb_ctx *ctx = test_ctx();
    xb_study *study = empty_study(ctx, "utkface");
    xb_table *t = NULL;
    assert_ok(ctx, xb_study_new_table(ctx, study, &t, "scores", 1, 4, columns));
    const double cell[] = {coverage, 0.0275, 0.0028, 0.03};
    for (int c = 0; c < 4; c++) xb_table_set(t, 0, c, cell[c]);
    put_fact(ctx, study, "test", n, NAN);
    put_fact(ctx, study, "rmse_gap", gap, error);
    put_fact(ctx, study, "rmse_gaussian", 8, 0.05);
    assert_ok(ctx, xb_find_utkface(ctx, study));
    assert_finding(study, 0, calibrated, "0.0275 ± 0.0028");
    assert_finding(study, 1, same, "8 %");
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void calibrated_or_not(void **state)
{
    (void)state;
    check_faces(0.96, 100, 0.02, 0.08, XB_FINDING_AGREES, XB_FINDING_AGREES);
    check_faces(0.96, 10000, 1, 0.08, XB_FINDING_DIFFERS, XB_FINDING_DIFFERS);
    check_faces(0.80, 100, -0.4, 0.08, XB_FINDING_DIFFERS, XB_FINDING_UNCLEAR);
    check_faces(NAN, 100, NAN, NAN, XB_FINDING_UNCLEAR, XB_FINDING_UNCLEAR);
}

static void check_array(double scalar, double table, double bits, xb_finding_kind kind,
                        const char *part)
{
    xb_ctx *ctx = test_ctx();
    xb_study *study = empty_study(ctx, "array");
    put_fact(ctx, study, "shape_device_scalar", scalar, 0.01);
    put_fact(ctx, study, "shape_device_table", table, 0.01);
    put_fact(ctx, study, "adc_bits_scalar", 7, NAN);
    put_fact(ctx, study, "adc_bits_table", bits, NAN);
    put_fact(ctx, study, "mean_levels_scalar", 256, NAN);
    put_fact(ctx, study, "mean_levels_table", 64, NAN);
    assert_ok(ctx, xb_find_array(ctx, study));
    assert_finding(study, 0, kind, part);
    assert_finding(study, 0, kind, "256 states");
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void shape_on_arrays_or_not(void **state)
{
    (void)state;
    check_array(0.02, 0.03, 9, XB_FINDING_AGREES, "0.030 ± 0.010 sd");
    check_array(0.02, 0.03, 9, XB_FINDING_AGREES, "9 ADC bits");
    check_array(0.02, 0.3, 5, XB_FINDING_DIFFERS, "7 ADC bits");
    check_array(0.09, 0.03, NAN, XB_FINDING_UNCLEAR, "more ADC bits than were tried");
}

static void check_retention(double loss, double seconds, xb_finding_kind kind,
                            const char *word, const char *part)
{
    static const char *const refresh[] = {"way", "loss", "seconds", "low", "high"};
    static const char *const scores[] = {"age_s", "loss_all"};
    xb_ctx *ctx = test_ctx();
    xb_study *study = empty_study(ctx, "retention");
    xb_table *t = NULL;
    put_fact(ctx, study, "loss", 0.1, NAN);
    put_fact(ctx, study, "loss_all", loss, 0.01);
    put_fact(ctx, study, "measured_s", 10000, NAN);
    assert_ok(ctx, xb_study_new_table(ctx, study, &t, "refresh", 3, 5, refresh));
    xb_table_set(t, 0, 2, seconds);
    xb_table_set(t, 0, 3, seconds / 2);
    xb_table_set(t, 0, 4, seconds * 2);
    assert_ok(ctx, xb_study_new_table(ctx, study, &t, "scores", 2, 2, scores));
    xb_table_set(t, 0, 0, 0.01);
    xb_table_set(t, 0, 1, loss / 2);
    xb_table_set(t, 1, 0, 1e6);
    assert_ok(ctx, xb_find_retention(ctx, study));
    assert_finding(study, 0, kind, part);
    assert_string_equal(xb_study_finding_at(study, 0).word, word);
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void arrays_keep_or_forget(void **state)
{
    (void)state;
    check_retention(0.02, NAN, XB_FINDING_AGREES, "keeps",
                    "not be refreshed within 1000000 s");
    check_retention(-0.2, NAN, XB_FINDING_AGREES, "keeps", "-0.200 ± 0.010 nats");
    check_retention(0.2, 30, XB_FINDING_DIFFERS, "forgets", "every 30 s (15 s to 60 s)");
    check_retention(0.2, 2458, XB_FINDING_DIFFERS, "forgets",
                    "every 2500 s (1200 s to 4900 s)");
    check_retention(0.11, 30, XB_FINDING_UNCLEAR, "cannot tell",
                    "nor clearly beyond 0.1");
    check_retention(0.3, NAN, XB_FINDING_DIFFERS, "forgets", "refreshed before 10 ms");
}

/* Every study of the table says something, also when it was given nothing. */
static void empty_studies_do_no_harm(void **state)
{
    (void)state;
    static xb_study_find_fn *const find[] = {
        xb_find_laws,    xb_find_quadrature, xb_find_quantile,
        xb_find_energy,  xb_find_narrow,     xb_find_scalar,
        xb_find_utkface, xb_find_array,      xb_find_retention};
    for (int i = 0; i < XB_COUNT(find); i++) {
        xb_ctx *ctx = test_ctx();
        xb_study *study = empty_study(ctx, "nothing");
        assert_ok(ctx, find[i](ctx, study));
        for (int f = 0; f < xb_study_finding_count(study); f++)
            assert_int_equal(xb_study_finding_at(study, f).kind, XB_FINDING_UNCLEAR);
        xb_study_destroy(study);
        xb_ctx_destroy(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_judged_with_their_errors),
        cmocka_unit_test(gaussian_or_not),
        cmocka_unit_test(rules_and_draws),
        cmocka_unit_test(width_is_enough_or_not),
        cmocka_unit_test(tails_matter_or_not),
        cmocka_unit_test(learnt_and_same_or_not),
        cmocka_unit_test(calibrated_or_not),
        cmocka_unit_test(shape_on_arrays_or_not),
        cmocka_unit_test(arrays_keep_or_forget),
        cmocka_unit_test(empty_studies_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
