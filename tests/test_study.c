/* test_study.c: the container of a study (tables, facts, JSON, CSV), the study
 * "quadrature" against the numbers of independent computations, and the
 * built-in noise sample. */
#include "studytest.h"

#include "base/os.h"

#include <sys/stat.h>

#include <jansson.h>

#include "base/ctx.h"
#include "failalloc.h"
#include "crossbayes/energy.h"
#include "crossbayes/reproduce.h"
#include "study/study.h"

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("not JSON: %s", error.text);
    return root;
}

static const char *string_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text) fail_msg("no text under '%s'", key);
    return text;
}

static xb_study *study_of(xb_ctx *ctx, const char *device)
{
    xb_study_options opt = xb_study_options_default();
    opt.device_law = device;
    opt.quick = !test_long();
    xb_study *study = NULL;
    assert_ok(ctx, xb_study_run(ctx, &study, "quadrature", &opt));
    return study;
}

/* ---- the container */

static xb_study *small_study(xb_ctx *ctx)
{
    static const char *const columns[] = {"n", "error"};
    xb_study *study = NULL;
    xb_table *table = NULL;
    xb_ctx_set_origin(ctx, "crossbayes study \"small\"");
    assert_ok(ctx, xb_study_new(ctx, &study, "small", "gaussian", UINT64_MAX));
    for (int t = 0; t < 10; t++) {
        char name[16];
        snprintf(name, sizeof name, "table%d", t);
        assert_ok(ctx, xb_study_new_table(ctx, study, &table, name, 3, 2, columns));
        for (int i = 0; i < 3; i++) {
            xb_table_set(table, i, 0, i);
            xb_table_set(table, i, 1, i == 1 ? NAN : 0.1 * t);
        }
    }
    for (int f = 0; f < 20; f++)
        assert_ok(ctx, xb_study_add_fact(ctx, study, f == 7 ? "seven" : "other", f / 3.0,
                                         f == 7 ? 0.5 : NAN, "fact \"%d\"", f));
    return study;
}

static void container_keeps_what_it_is_given(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study *study = small_study(ctx);
    assert_string_equal(xb_study_name(study), "small");
    assert_int_equal(xb_study_table_count(study), 10);
    assert_ptr_equal(xb_study_table(study, "table4"), xb_study_table_at(study, 4));
    assert_null(xb_study_table(study, "table10"));
    assert_close(xb_table_get(xb_study_table(study, "table4"), 2, 1), 0.4, 1e-15);
    assert_int_equal(xb_study_fact_count(study), 20);
    xb_fact f = xb_study_fact_at(study, 7);
    assert_string_equal(f.name, "seven");
    assert_string_equal(f.text, "fact \"7\"");
    assert_true(f.value == 7 / 3.0 && f.std_error == 0.5);
    assert_true(isnan(xb_study_fact_at(study, 8).std_error));
    xb_study_destroy(study);
    xb_study_destroy(NULL);
    xb_ctx_destroy(ctx);
}

static void check_json(const json_t *root)
{
    const json_t *facts = json_object_get(root, "facts");
    const json_t *tables = json_object_get(root, "tables");
    const json_t *provenance = json_object_get(root, "provenance");
    assert_string_equal(string_at(root, "crossbayes"), "study");
    assert_string_equal(string_at(root, "study"), "small");
    assert_int_equal(json_array_size(facts), 20);
    const json_t *seven = json_array_get(facts, 7);
    assert_string_equal(string_at(seven, "name"), "seven");
    assert_string_equal(string_at(seven, "text"), "fact \"7\"");
    assert_true(json_real_value(json_object_get(seven, "value")) == 7 / 3.0);
    assert_true(json_real_value(json_object_get(seven, "std_error")) == 0.5);
    assert_true(json_is_null(json_object_get(json_array_get(facts, 8), "std_error")));
    assert_int_equal(json_array_size(tables), 10);
    const json_t *last = json_array_get(tables, 9);
    assert_string_equal(string_at(last, "name"), "table9");
    assert_string_equal(string_at(last, "file"), "small_table9.csv");
    assert_int_equal(json_integer_value(json_object_get(last, "rows")), 3);
    const json_t *columns = json_object_get(last, "columns");
    assert_int_equal(json_array_size(columns), 2);
    assert_string_equal(json_string_value(json_array_get(columns, 1)), "error");
    assert_string_equal(string_at(provenance, "version"), xb_version());
    assert_string_equal(string_at(provenance, "command"), "crossbayes study \"small\"");
    assert_string_equal(string_at(provenance, "device"), "gaussian");
    assert_string_equal(string_at(provenance, "seed"), "18446744073709551615");
}

static void json_says_it_all(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study *study = small_study(ctx);
    char *text = NULL;
    assert_ok(ctx, xb_study_json(ctx, &text, study));
    json_t *root = parse(text);
    check_json(root);
    json_decref(root);
    free(text);
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void read_text(char *out, size_t size, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s is not there", path);
    size_t n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    fclose(f);
}

static void files_are_written(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study *study = small_study(ctx);
    char dir[] = "/tmp/xb-study-XXXXXX", sub[64], path[128], text[8192];
    assert_true(xb_os_make_new_folder(dir));
    snprintf(sub, sizeof sub, "%s/made/here", dir);
    assert_ok(ctx, xb_study_write(ctx, study, sub));
    snprintf(path, sizeof path, "%s/small.json", sub);
    read_text(text, sizeof text, path);
    json_t *root = parse(text);
    check_json(root);
    json_decref(root);
    unlink(path);
    for (int t = 0; t < 10; t++) {
        snprintf(path, sizeof path, "%s/small_table%d.csv", sub, t);
        read_text(text, sizeof text, path);
        if (t == 5) assert_string_equal(text, "n,error\n0,0.5\n1,\n2,0.5\n");
        unlink(path);
    }
    assert_int_equal(rmdir(sub), 0); /* nothing else was left */
    snprintf(path, sizeof path, "%s/made", dir);
    rmdir(path);
    rmdir(dir);
    assert_int_equal(xb_study_write(ctx, study, "/dev/null/x"), XB_E_IO);
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study *study = NULL;
    xb_study_options opt = xb_study_options_default();
    assert_int_equal(xb_study_run(ctx, &study, "alchemy", &opt), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "alchemy"));
    opt.device_law = "mtj:B=-1";
    assert_int_equal(xb_study_run(ctx, &study, "quadrature", &opt), XB_E_INPUT);
    assert_null(study);
    opt.device_law = NULL, opt.device = "device.json"; /* not silently ignored */
    assert_int_equal(xb_study_run(ctx, &study, "quadrature", &opt), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "a device file was given"));
    bool found = false;
    for (int i = 0; i < xb_study_count(); i++) {
        assert_true(strlen(xb_study_about_at(i)) > 10);
        found = found || strcmp(xb_study_name_at(i), "quadrature") == 0;
    }
    assert_true(found);
    xb_ctx_destroy(ctx);
}

static bool stop_at_once(void *arg, const xb_progress *event)
{
    (void)event;
    ++*(int *)arg;
    return false;
}

static void studies_stop_on_request(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study *study = NULL;
    int calls = 0;
    xb_ctx_set_progress(ctx, stop_at_once, &calls);
    assert_int_equal(xb_study_run(ctx, &study, "quadrature", NULL), XB_E_CANCELLED);
    assert_null(study);
    assert_int_equal(calls, 1);
    xb_ctx_destroy(ctx);
}

/* ---- the study "quadrature" */

static double cell(const xb_study *study, const char *table, int n, const char *column)
{
    const xb_table *t = xb_study_table(study, table);
    if (!t) fail_msg("no table '%s'", table);
    int c = xb_table_column_find(t, column);
    if (c < 0) fail_msg("no column '%s' in '%s'", column, table);
    for (int64_t i = 0; i < xb_table_row_count(t); i++)
        if (xb_table_get(t, i, 0) == n) return xb_table_get(t, i, c);
    fail_msg("no row for n = %d in '%s'", n, table);
    return NAN;
}

static void quadrature_shows_the_floor(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study *study = study_of(ctx, NULL);
    assert_int_equal(xb_study_table_count(study), 8);
    /* the trapezoid's own error, by mpmath */
    assert_close(fact(study, "paper_split_variance_floor"), 2.5787411e-6, 1e-6);
    assert_close(fact(study, "paper_split_kl_floor"), 1.6488155e-3, 1e-5);
    assert_close(cell(study, "device_kl_error", 64, "paper_split"), 1.65e-3, 0.02);
    assert_close(cell(study, "device_variance_error", 64, "paper_split"), 2.5787411e-6,
                 1e-6);
    /* and the paper's measure does not see it */
    assert_at_most(cell(study, "device_variance_step", 64, "paper_split"), 1e-28);
    assert_at_most(cell(study, "device_kl_step", 64, "paper_split"), 1e-9);
    assert_at_most(cell(study, "device_kl_error", 64, "smooth"), 1e-9);
    assert_at_most(cell(study, "device_variance_error", 64, "smooth"), 1e-15);
    assert_at_most(fact(study, "smooth_kl_error"), 1e-12);
    assert_at_most(fact(study, "smooth_variance_error"), 1e-15);
    assert_at_most(fact(study, "two_point_cross_entropy_error"), 1e-14);
    assert_in_range((int)fact(study, "wheeler_breaks_at"), 13, 40);
    assert_close_floor(fact(study, "device_kl"), 0.048105646196122854576, 1e-15, 1);
    assert_close_floor(fact(study, "bimodal_kl"), 0.18927903039369810464, 1e-15, 1);
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void quadrature_tables_are_consistent(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study *study = study_of(ctx, "mtj:B=0.15,w=0.5");
    assert_at_most(cell(study, "device_variance_error", 2, "gauss"), 1e-15);
    assert_at_most(cell(study, "device_variance_error", 20, "gauss_wheeler"), 1e-5);
    assert_true(isnan(cell(study, "device_variance_error", 30, "gauss_wheeler")));
    assert_true(isnan(cell(study, "device_kl_error", 16, "hermite")));
    assert_true(isnan(cell(study, "device_kl_error", 16, "paper_laguerre")));
    assert_true(isnan(cell(study, "bimodal_kl_error", 16, "legendre")));
    assert_true(isnan(cell(study, "bimodal_kl_error", 16, "paper_split")));
    assert_at_most(cell(study, "bimodal_variance_error", 4, "modes"), 1e-15);
    assert_at_most(cell(study, "bimodal_kl_error", 64, "trapezoid"), 1e-8);
    assert_true(cell(study, "bimodal_kl_error", 64, "paper_laguerre") > 1e-5);
    assert_at_most(fact(study, "bimodal_trapezoid_kl_error"), 1e-14);
    assert_true(fact(study, "bimodal_laguerre_kl_error") > 1e-7);
    assert_true(
        isnan(cell(study, "device_kl_step", 2, "legendre"))); /* no order before */
    /* four panels: multiples of four only, a step goes from one to the next */
    assert_true(isnan(cell(study, "device_kl_error", 6, "smooth")));
    assert_true(cell(study, "device_kl_step", 8, "smooth") > 0);
    /* a step is the square of the difference: both errors on one side here */
    double now = cell(study, "device_kl_error", 32, "legendre");
    double before = cell(study, "device_kl_error", 30, "legendre");
    assert_close(cell(study, "device_kl_step", 32, "legendre"),
                 (now - before) * (now - before), 1e-6);
    for (int t = 0; t < 8; t++) {
        const xb_table *table = xb_study_table_at(study, t);
        assert_int_equal(xb_table_column_count(table), 10);
        for (int64_t i = 0; i < xb_table_row_count(table); i++)
            for (int c = 0; c < 10; c++) assert_false(xb_table_get(table, i, c) < 0);
    }
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

static void quadrature_takes_any_device(void **state)
{
    (void)state;
    static const char *const devices[] = {"ecram:B=0.1,w=0.6", "gaussian"};
    xb_ctx *ctx = test_ctx();
    for (int d = 0; d < 2; d++) {
        xb_study *study = study_of(ctx, devices[d]);
        bool bounded = d == 0;
        assert_true((fact_place(study, "paper_split_kl_floor") >= 0) == bounded);
        assert_at_most(fact(study, "smooth_kl_error"), 1e-11);
        assert_at_most(cell(study, "device_variance_error", 2, "gauss"), 1e-15);
        xb_study_destroy(study);
    }
    xb_ctx_destroy(ctx);
}

static void same_bytes_for_any_thread_count(void **state)
{
    (void)state;
    char *text[2];
    for (int i = 0; i < 2; i++) {
        xb_ctx *ctx = test_ctx();
        xb_ctx_set_threads(ctx, i == 0 ? 1 : 5);
        xb_study *study = study_of(ctx, NULL);
        assert_ok(ctx, xb_study_json(ctx, &text[i], study));
        xb_study_destroy(study);
        xb_ctx_destroy(ctx);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

/* The first allocations of a run, and those of its facts and tables. */
static void memory_may_run_out(void **state)
{
    (void)state;
    enum { TRIED = 120 };
    static const char *const column[] = {"n"};
    xb_ctx *ctx = test_ctx();
    xb_study *study = NULL;
    xb_table *table = NULL;
    for (int k = 0; k < TRIED; k++) {
        fail_alloc_after(k);
        assert_int_equal(xb_study_run(ctx, &study, "quadrature", NULL), XB_E_MEMORY);
        assert_true(fail_alloc_happened());
        assert_null(study);
    }
    assert_ok(ctx, xb_study_new(ctx, &study, "small", "gaussian", 1));
    fail_alloc_after(0);
    assert_int_equal(xb_study_add_fact(ctx, study, "a", 1, NAN, "b"), XB_E_MEMORY);
    for (int k = 0; k < 3; k++) {
        fail_alloc_after(k);
        assert_int_equal(xb_study_new_table(ctx, study, &table, "t", 1, 1, column),
                         XB_E_MEMORY);
    }
    fail_alloc_happened(); /* no more failing */
    assert_int_equal(xb_study_fact_count(study), 0);
    assert_int_equal(xb_study_table_count(study), 0);
    xb_study_destroy(study);
    xb_ctx_destroy(ctx);
}

/* ---- the built-in sample */

static void builtin_noise_is_the_reference_device(void **state)
{
    (void)state;
    enum { N = 50000 };
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "mtj:B=0.15,w=0.5");
    double *one = NULL, *many = NULL, mean = 0, square = 0, deviation = 0;
    xb_ctx_set_threads(ctx, 1);
    assert_ok(ctx, xb_builtin_noise(ctx, &one, N, 7));
    xb_ctx_set_threads(ctx, 4);
    assert_ok(ctx, xb_builtin_noise(ctx, &many, N, 7));
    assert_memory_equal(one, many, N * sizeof *one);
    free(many);
    assert_ok(ctx, xb_builtin_noise(ctx, &many, 100, 8));
    assert_true(one[0] != many[0] && one[99] != many[99]);
    for (int i = 0; i < N; i++) {
        assert_true(fabs(one[i]) < 1);
        mean += one[i] / N;
        square += one[i] * one[i] / N;
        deviation += xb_law_cdf(law, one[i]) / N;
    }
    /* fixed seed; five standard errors, false alarm 6e-7 each */
    assert_at_most(fabs(mean), 5 * 0.347 / sqrt(N));
    assert_at_most(fabs(square - 0.12042944), 5 * 0.12042944 * sqrt(2.232 / N));
    assert_at_most(fabs(deviation - 0.5), 5 * sqrt(1 / 12.0 / N));
    assert_int_equal(xb_builtin_noise(ctx, &many, 0, 1), XB_E_ARGUMENT);
    free(one);
    free(many);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* Options of the studies' library grow as those of the core do. */
static void literals_are_no_options(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const xb_study_options study = {.seed = 1};
    const xb_energy_options energy = {.width = 4};
    const xb_reproduce_options reproduce = {.seed = 1};
    assert_int_equal(xb_study_run(ctx, NULL, "laws", &study), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "use xb_study_options_default()"));
    assert_int_equal(xb_study_plan(ctx, "laws", &study, "x", "y"), XB_E_ARGUMENT);
    assert_int_equal(xb_energy_train(ctx, NULL, &energy), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "use xb_energy_options_default()"));
    assert_int_equal(xb_reproduce(ctx, NULL, "x", &reproduce), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "use xb_reproduce_options_default()"));
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(container_keeps_what_it_is_given),
        cmocka_unit_test(json_says_it_all),
        cmocka_unit_test(files_are_written),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(literals_are_no_options),
        cmocka_unit_test(studies_stop_on_request),
        cmocka_unit_test(quadrature_shows_the_floor),
        cmocka_unit_test(quadrature_tables_are_consistent),
        cmocka_unit_test(quadrature_takes_any_device),
        cmocka_unit_test(same_bytes_for_any_thread_count),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(builtin_noise_is_the_reference_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
