/* test_study_retention.c: the quick study of retention as a whole, against the same
 * arrays read by another way; when a loss passes its limit, and which states are quiet,
 * by hand. */
#include "devicetest.h"
#include "studytest.h"

#include "crossbayes/crossbar.h"
#include "study/array_task.h"
#include "study/retention_facts.h"

/* ---- by hand */

/* Of two chips the mean loss is 0.02, 0.06, 0.3 at 1, 10, 100 s: 0.1 is a sixth of the
 * way from 10 to 100. Without the first chip 0.01, 0.02, 0.2: 4/9 of the way; without the
 * second 0.03, 0.1, 0.4: right at 10 s. */
static void a_loss_passes_its_limit(void **state)
{
    (void)state;
    static const double age[] = {1, 10, 100};
    static const double loss[] = {0.03, 0.1, 0.4, 0.01, 0.02, 0.2};
    xb_refresh r = xb_refresh_find(loss, age, 2, 3, 0.1);
    assert_close(r.seconds, 10 * pow(10, 1.0 / 6), 1e-12);
    /* two values a and b: the jackknife's error is |a - b| / 2 */
    const double error = log(10) * (4.0 / 9) / 2;
    assert_close(r.high / r.seconds, exp(error), 1e-9);
    assert_close(r.seconds / r.low, exp(error), 1e-9);
    assert_close(r.half, 10, 1e-12); /* the first chip, one of two */
    r = xb_refresh_find(loss, age, 2, 3, 0.01);
    assert_true(r.seconds == 0 && isnan(r.low));
    r = xb_refresh_find(loss, age, 2, 3, 0.5);
    assert_true(isinf(r.seconds) && isnan(r.high) && isinf(r.half));
    r = xb_refresh_find(loss, age, 2, 3, 0.25); /* the second chip never passes it */
    assert_true(isfinite(r.seconds) && isnan(r.low));
    r = xb_refresh_find(loss, age, 1, 3, 0.2);
    assert_close(r.seconds, 10 * pow(10, 1.0 / 3), 1e-12);
    assert_true(isnan(r.low));
}

/* Spreads are 1, 5 and 1: twice and four times the quietest leave single states, eight
 * times is all of them. */
static void quiet_states_are_a_run(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_device *d = made_device(ctx, "S");
    const xb_state_range r = xb_quiet_range(d);
    assert_close(r.low, 10e-6, 1e-9);
    assert_close(r.high, 100e-6, 1e-9);
    assert_close(r.limit, 8e-6, 1e-9);
    xb_device_destroy(d);
    xb_ctx_destroy(ctx);
}

/* ---- as a whole */

static double at(const xb_study *study, const char *name, int64_t row, const char *column)
{
    const xb_table *t = xb_study_table(study, name);
    if (!t) fail_msg("no table '%s'", name);
    int c = xb_table_column_find(t, column);
    if (c < 0) fail_msg("no column '%s'", column);
    return xb_table_get(t, row, c);
}

static xb_study *run_quick(xb_ctx *ctx, const char *device)
{
    xb_study_options options = xb_study_options_default();
    xb_study *study = NULL;
    options.quick = true;
    options.device = device;
    assert_ok(ctx, xb_study_run(ctx, &study, "retention", &options));
    return study;
}

/* Chip 2 of the first way after 100 s, as an assay scores it. */
static double by_assay(xb_ctx *ctx, const char *device)
{
    static const xb_array_sizes sizes = {.reads = 100};
    xb_study_options study = xb_study_options_default();
    xb_array_task task;
    xb_assay *assay = NULL;
    xb_assay_result *result = NULL;
    xb_array *array = NULL;
    xb_analog_options analog = xb_analog_options_default();
    xb_assay_options opt = xb_assay_options_default();
    analog.chip = 3; /* the seed of the study is chip 0's */
    opt.reads = 100;
    opt.analog = &analog;
    assert_ok(ctx, xb_array_task_table(ctx, &task, &study, &sizes));
    assert_ok(ctx, xb_array_preset(ctx, &array, "ideal"));
    assert_ok(ctx, xb_array_set_device(ctx, array, device));
    assert_ok(ctx, xb_array_set(ctx, array, "g_min_us", 10));
    assert_ok(ctx, xb_array_set(ctx, array, "g_max_us", 100));
    assert_ok(ctx, xb_array_set(ctx, array, "age_s", 100));
    assert_ok(ctx, xb_assay_create(ctx, &assay, task.model, task.test_x, task.test_y,
                                   task.n_test, &opt));
    assert_ok(ctx, xb_assay_run(ctx, &result, assay, array));
    const double nll = xb_scores_get(xb_assay_result_scores(result), "nll").value;
    xb_assay_result_destroy(result);
    xb_assay_destroy(assay);
    xb_array_destroy(array);
    xb_array_task_free(&task);
    return nll;
}

static void the_study_says_what_it_must(void **state)
{
    (void)state;
    enum { AGES = 5, CHIPS = 4, ALL_AGES = AGES + 1 };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char device[256];
    snprintf(device, sizeof device, "%s", device_file(ctx, &s, "S"));
    xb_study *study = run_quick(ctx, device);
    assert_int_equal(xb_table_row_count(xb_study_table(study, "scores")), AGES);
    assert_int_equal(xb_table_row_count(xb_study_table(study, "chips")),
                     3 * CHIPS * ALL_AGES);
    for (int k = 0; k < AGES; k++) {
        assert_close(at(study, "scores", k, "age_s"), pow(100, k - 1), 1e-12);
        assert_true(at(study, "scores", k, "extrapolated") == (k > 2)); /* 100 s */
    }
    /* right after programming an array is the digital model, but for rounding */
    for (int way = 0; way < 3; way++)
        assert_close(at(study, "chips", way * CHIPS * ALL_AGES, "rmse"),
                     fact(study, "rmse_digital"), 1e-3);
    /* chip 2 (of 0 ..), 100 s: the fourth of its six ages */
    assert_close(at(study, "chips", 2 * ALL_AGES + 3, "nll"), by_assay(ctx, device),
                 1e-6);
    double mean = 0;
    for (int c = 0; c < CHIPS; c++)
        mean += (at(study, "chips", c * ALL_AGES + 3, "nll") -
                 at(study, "chips", c * ALL_AGES, "nll")) /
                CHIPS;
    assert_close(at(study, "scores", 2, "loss_all"), mean, 1e-9);
    assert_close(fact(study, "loss_all"), mean, 1e-9);
    assert_true(mean > 0); /* cells move by several per cent of the range */
    assert_true(at(study, "scores", 4, "rmse_all") > at(study, "scores", 0, "rmse_all"));
    assert_int_equal(xb_study_finding_count(study), 3);
    char *one = NULL, *two = NULL;
    assert_ok(ctx, xb_study_json(ctx, &one, study));
    xb_study_destroy(study);
    xb_ctx_set_threads(ctx, 3);
    study = run_quick(ctx, device);
    assert_ok(ctx, xb_study_json(ctx, &two, study));
    assert_string_equal(one, two);
    xb_free(one), xb_free(two);
    xb_study_destroy(study);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void what_is_no_device_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study_options options = xb_study_options_default();
    xb_study *study = NULL;
    assert_int_equal(xb_study_run(ctx, &study, "retention", &options), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "needs a device file"));
    options.device = "/no/such/device.json";
    assert_int_equal(xb_study_run(ctx, &study, "retention", &options), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "/no/such/device.json"));
    assert_null(study);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_passes_its_limit),
        cmocka_unit_test(quiet_states_are_a_run),
        cmocka_unit_test(the_study_says_what_it_must),
        cmocka_unit_test(what_is_no_device_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
