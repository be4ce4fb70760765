/* test_study_array.c: the quick study of arrays as a whole: what must hold whatever the
 * numbers, the same bytes at any number of threads, and a user's own table. */
#include "scratch.h"
#include "studytest.h"

static xb_study *run_quick(xb_ctx *ctx, const char *data)
{
    xb_study_options options = xb_study_options_default();
    xb_study *study = NULL;
    options.quick = true;
    options.data = data;
    assert_ok(ctx, xb_study_run(ctx, &study, "array", &options));
    return study;
}

static double at(const xb_study *study, const char *name, int64_t row, const char *column)
{
    const xb_table *t = xb_study_table(study, name);
    if (!t) fail_msg("no table '%s'", name);
    if (row < 0) row += xb_table_row_count(t);
    int c = xb_table_column_find(t, column);
    if (c < 0) fail_msg("no column '%s'", column);
    return xb_table_get(t, row, c);
}

/* The worst setting of each imperfection moves the predictive more than the best one,
 * and more than the device's shape does. */
static void check_order(const xb_study *study, const char *task)
{
    static const char *const fine_last[] = {"adc_bits", "mean_levels", "sigma_levels"};
    static const char *const fine_first[] = {"program_error", "correlation"};
    char moved[32], shape[64];
    snprintf(moved, sizeof moved, "moved_%s", task);
    snprintf(shape, sizeof shape, "shape_device_%s", task);
    for (int i = 0; i < 3; i++) {
        double worst = at(study, fine_last[i], 0, moved);
        assert_true(worst > 3 * at(study, fine_last[i], -1, moved));
        assert_true(worst > 3 * fact(study, shape));
    }
    for (int i = 0; i < 2; i++)
        assert_true(at(study, fine_first[i], -1, moved) >
                    3 * at(study, fine_first[i], 0, moved));
    assert_true(at(study, "sigma_min_us", -1, moved) >=
                at(study, "sigma_min_us", 0, moved));
}

/* 100 independent reads: the mean moves by 1/10, the sd by 1/sqrt 200 of an sd by chance
 * for a normal predictive: sqrt(0.01 + 0.005) = 0.122. */
static void the_study_says_what_it_must(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study *study = run_quick(ctx, NULL);
    check_order(study, "scalar");
    check_order(study, "table");
    assert_close(at(study, "correlation", 0, "noise_table"), 0.122, 0.3);
    assert_true(at(study, "correlation", -1, "moved_table") > 0.5);
    assert_true(fact(study, "adc_bits_table") >= 3);
    char *one = NULL, *two = NULL;
    assert_ok(ctx, xb_study_json(ctx, &one, study));
    xb_ctx_set_threads(ctx, 3);
    xb_study *again = SANITIZED ? NULL : run_quick(ctx, NULL);
    if (!again) {
        print_message("skipped: the study by three threads under sanitizers\n");
        free(one);
        xb_study_destroy(study);
        xb_ctx_destroy(ctx);
        return;
    }
    assert_ok(ctx, xb_study_json(ctx, &two, again));
    assert_string_equal(one, two);
    free(one), free(two);
    xb_study_destroy(study);
    xb_study_destroy(again);
    xb_ctx_destroy(ctx);
}

static void tables_that_will_not_do_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_study_options options = xb_study_options_default();
    xb_study *study = NULL;
    static const char few[] = "a,b\n1,2\n3,4\n";
    options.quick = true;
    options.data = scratch_write(&s, "few.csv", few, strlen(few));
    assert_int_equal(xb_study_run(ctx, &study, "array", &options), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "expected 50 or more"));
    options.target = "c";
    assert_int_equal(xb_study_run(ctx, &study, "array", &options), XB_E_INPUT);
    options.data = "/no/such/file.csv";
    assert_int_equal(xb_study_run(ctx, &study, "array", &options), XB_E_INPUT);
    assert_null(study);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_study_says_what_it_must),
        cmocka_unit_test(tables_that_will_not_do_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
