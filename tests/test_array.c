/* test_array.c: descriptions of arrays: presets, files honest and hostile, numbers by
 * name, effects alone, correlation as measured; what is exported, and costs. */
#include "arraytest.h"

#include <jansson.h>
#include "crossbar/array.h"

static void presets_are_whole(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    assert_int_equal(xb_array_preset_count(), 4);
    for (int i = 0; i < xb_array_preset_count(); i++) {
        xb_array array;
        assert_ok(ctx, xb_array_fill(ctx, &array, xb_array_preset_name(i)));
        assert_ok(ctx, xb_array_check(ctx, &array));
        assert_true(strlen(xb_array_preset_about(i)) > 10);
        if (array.law[0]) xb_law_destroy(test_law(ctx, array.law));
        int on = 0;
        for (int e = 0; e < xb_array_effect_count(); e++)
            on += xb_array_has_effect(&array, e);
        assert_int_equal(on > 0, i > 0); /* ideal: none */
    }
    xb_array untouched = test_array("mtj");
    assert_int_equal(xb_array_fill(ctx, &untouched, "mjt"), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "did you mean 'mtj'"));
    assert_string_equal(untouched.name, "mtj");
    xb_ctx_destroy(ctx);
}

/* An effect alone is that effect and no other; switched off, nothing is left. */
static void effects_come_alone(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_array array = test_array("mtj");
    array.redraw = XB_REDRAW_OPERATION;
    array.age_s = 100, array.read_noise = 1;
    array.mean_noise_us = 1, array.amp_noise = 0.01, array.temperature_k = 300;
    array.heated_k = 20, array.tc_low = 1e-3;
    snprintf(array.device, sizeof array.device, "device.json");
    for (int e = 0; e < xb_array_effect_count(); e++) {
        assert_true(xb_array_has_effect(&array, e));
        xb_array alone = xb_array_alone(&array, e);
        assert_ok(ctx, xb_array_check(ctx, &alone));
        for (int k = 0; k < xb_array_effect_count(); k++)
            assert_int_equal(xb_array_has_effect(&alone, k), k == e);
        assert_int_equal(alone.rows, array.rows);
        assert_close(alone.g_min_us, array.g_min_us, 0);
    }
    xb_ctx_destroy(ctx);
}

static void numbers_have_names(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_array array = test_array("ideal");
    double value = 0;
    for (int i = 0; i < xb_array_field_count(); i++) {
        xb_array_field f = xb_array_field_at(i);
        assert_ok(ctx, xb_array_get(ctx, &value, &array, f.key));
        assert_true(value >= f.min && value <= f.max);
        assert_ok(ctx, xb_array_set(ctx, &array, f.key, f.max));
        assert_int_equal(xb_array_set(ctx, &array, f.key, NAN), XB_E_INPUT);
        assert_int_equal(xb_array_set(ctx, &array, f.key, f.min - 1), XB_E_INPUT);
    }
    assert_ok(ctx, xb_array_set(ctx, &array, "adc-bits", 7));
    assert_int_equal(array.adc_bits, 7);
    assert_int_equal(xb_array_set(ctx, &array, "adc_bits", 6.5), XB_E_INPUT);
    assert_int_equal(xb_array_set(ctx, &array, "adc_bit", 6), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "did you mean 'adc_bits'"));
    assert_int_equal(array.adc_bits, 7);
    xb_ctx_destroy(ctx);
}

static void a_file_comes_back(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_array array = test_array("ecram"), back;
    array.redraw = XB_REDRAW_INPUT;
    array.sigma_spread = 1.0 / 3;
    array.age_s = 1e4, array.quiet_pairs = 1, array.read_noise = 0.5;
    snprintf(array.device, sizeof array.device, "device.json");
    assert_ok(ctx, xb_array_save(ctx, &array, scratch_path(&s, "a.json")));
    xb_array *parsed = NULL;
    assert_ok(ctx, xb_array_parse(ctx, &parsed, s.path));
    back = *parsed;
    xb_array_destroy(parsed);
    assert_memory_equal(&array.rows, &back.rows, sizeof array - offsetof(xb_array, rows));
    assert_string_equal(array.law, back.law);
    assert_string_equal(array.device, back.device);
    static const char based[] =
        "{\"crossbayes\": \"array\", \"base\": \"mtj\", \"name\": \"mine\","
        " \"adc_bits\": 5, \"redraw\": \"operation\"}";
    assert_ok(ctx, xb_array_read(ctx, &back,
                                 scratch_write(&s, "b.json", based, strlen(based))));
    assert_string_equal(back.name, "mine");
    assert_int_equal(back.adc_bits, 5);
    assert_int_equal(back.mean_levels, test_array("mtj").mean_levels);
    assert_int_equal(back.redraw, XB_REDRAW_OPERATION);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

typedef struct hostile {
    const char *text, *told;
} hostile;

#define ARRAY "{\"crossbayes\": \"array\", "

static void hostile_files_are_refused(void **state)
{
    (void)state;
    static const hostile files[] = {
        {"", "empty file"},
        {"[1]", "expected a JSON object"},
        {"{}", "not an array file"},
        {"{\"crossbayes\": \"law\"}", "this is a law file; an array file was expected"},
        {ARRAY "\"adc_bit\": 3}", "did you mean 'adc_bits'"},
        {ARRAY "\"nonsense_of_a_key\": 3}", "unknown key"},
        {ARRAY "\"adc_bits\": 3, \"adc_bits\": 4}", "not JSON"},
        {ARRAY "\"adc_bits\": 1}", "2 or more"},
        {ARRAY "\"adc_bits\": 3.5}", "whole number"},
        {ARRAY "\"adc_bits\": -1}", "expected 0 to 20"},
        {ARRAY "\"adc_bits\": 1e300}", "expected 0 to 20"},
        {ARRAY "\"adc_bits\": \"8\"}", "expected a number"},
        {ARRAY "\"adc_bits\": null}", "expected a number"},
        {ARRAY "\"rows\": 1e9}", "expected 0 to 65536"},
        {ARRAY "\"g_min_us\": 200}", "g_max_us is 100"},
        {ARRAY "\"sigma_min_us\": 3, \"sigma_max_us\": 2}", "sigma_max_us is 2"},
        {ARRAY "\"stuck_low\": 0.6, \"stuck_high\": 0.6}", "at most 1"},
        {ARRAY "\"mean_levels\": 1}", "2 or more"},
        {ARRAY "\"correlation_time_ns\": 5}", "read_interval_ns"},
        {ARRAY "\"age_s\": 5}", "'age_s' needs 'device'"},
        {ARRAY "\"age_s\": -5, \"device\": \"d.json\"}", "expected 0 to 1e+12"},
        {ARRAY "\"device\": 5}", "'device': expected a text"},
        {ARRAY "\"redraw\": \"never\"}", "network, input or operation"},
        {ARRAY "\"redraw\": 3}", "expected a text"},
        {ARRAY "\"base\": \"sram\"}", "ideal, mtj, ecram or rram"},
        {ARRAY "\"name\": \"a\\u0000b\"}", "not JSON"},
        {ARRAY "\"name\": \"0123456789012345678901234567890123456789\"}",
         "at most 31 letters"},
        {ARRAY "\"sample_interval_ns\": 5, \"correlation_time_ns\": 1}", "one of them"},
        {ARRAY "\"sample_interval_ns\": 5, \"law\": \"no-such-file.json\"}",
         "cannot read"},
        {ARRAY "\"sample_interval_ns\": -5, \"law\": \"x\"}", "more than 0"},
        {ARRAY "\"sample_interval_ns\": 5}", "needs 'law'"},
    };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        xb_array array = {.rows = 17};
        scratch_write(&s, "x.json", files[i].text, strlen(files[i].text));
        assert_int_equal(xb_array_read(ctx, &array, s.path), XB_E_INPUT);
        if (!strstr(xb_ctx_message(ctx), files[i].told))
            fail_msg("%s: '%s' does not say '%s'", files[i].text, xb_ctx_message(ctx),
                     files[i].told);
        assert_int_equal(array.rows, 17);
    }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* tau = 9 samples of 20 ns is rho = 0.8 a sample: a time of -20 / log 0.8 ns. */
static void correlation_comes_from_the_fit(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    static const char law[] = "{\"crossbayes\": \"law\", \"family\": \"gaussian\","
                              " \"fit\": {\"tau\": 9}}";
    static const char plain[] = "{\"crossbayes\": \"law\", \"family\": \"gaussian\"}";
    char text[256];
    scratch_write(&s, "law.json", law, strlen(law));
    snprintf(text, sizeof text,
             ARRAY "\"law\": \"%s\", \"sample_interval_ns\": 20,"
                   " \"read_interval_ns\": 40}",
             s.path);
    xb_array array;
    assert_ok(
        ctx, xb_array_read(ctx, &array, scratch_write(&s, "a.json", text, strlen(text))));
    assert_close(array.correlation_time_ns, -20 / log(0.8), 1e-12);
    assert_close(xb_array_correlation(&array), 0.64, 1e-12);
    xb_law_destroy(test_law(ctx, array.law));
    scratch_write(&s, "plain.json", plain, strlen(plain));
    assert_int_equal(xb_array_set_measured(ctx, &array, s.path, 20), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "no 'fit'"));
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* A trace's correlation lag by lag: read at its own interval, at half and at thrice of
 * it, worth what the sum over lags says; saved, loaded, kept by the effect alone, given
 * up for a correlation time or another law. */
static void reads_follow_the_trace(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    static const char law[] =
        "{\"crossbayes\": \"law\", \"family\": \"gaussian\", \"fit\": {\"tau\": 9},"
        " \"series\": {\"interval_s\": 1e-6, \"correlation\": [0.6, 0.4, 0.2]}}";
    char path[160];
    snprintf(path, sizeof path, "%s", scratch_write(&s, "law.json", law, strlen(law)));
    xb_array array = test_array("ideal");
    array.read_interval_ns = 1000;
    assert_close(xb_array_independent(&array, 100), 100, 1e-12);
    assert_ok(ctx, xb_array_set_measured(ctx, &array, path, 0));
    double r[XB_MEMORY_LAGS];
    xb_array_memory(&array, r);
    assert_close(r[0], 0.6, 1e-12);
    assert_close(r[2], 0.2, 1e-12);
    assert_true(r[3] == 0); /* beyond what was measured */
    /* lags 1, 2, 3, 4 read 0.6, 0.4, 0.3, 0.2, then straight to 0 at 8 */
    const double lag[] = {1, 0.6, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05};
    double sum = 1;
    for (int k = 1; k < 8; k++) sum += 2 * (1 - k / 50.0) * lag[k];
    assert_close(xb_array_independent(&array, 50), 50 / sum, 1e-12);
    array.read_interval_ns = 500;
    xb_array_memory(&array, r);
    assert_close(r[0], 0.8, 1e-12); /* between 1 at lag 0 and 0.6 */
    array.read_interval_ns = 3000;
    xb_array_memory(&array, r);
    assert_close(r[0], 0.3, 1e-12);

    xb_array back = {0};
    assert_ok(ctx, xb_array_save(ctx, &array, scratch_path(&s, "a.json")));
    assert_ok(ctx, xb_array_read(ctx, &back, s.path));
    assert_int_equal(back.memory.lags, 3);
    assert_close(back.memory.interval_ns, 1000, 1e-12);
    assert_int_equal(
        xb_array_alone(&array, xb_array_effect_find("correlation")).memory.lags, 3);
    assert_int_equal(xb_array_alone(&array, xb_array_effect_find("law")).memory.lags, 0);
    assert_ok(ctx, xb_array_set(ctx, &back, "read_interval_ns", 7));
    assert_int_equal(back.memory.lags, 3);
    assert_ok(ctx, xb_array_set(ctx, &back, "correlation_time_ns", 7));
    assert_int_equal(back.memory.lags, 0);
    assert_ok(ctx, xb_array_set_law(ctx, &array, "gaussian"));
    assert_int_equal(array.memory.lags, 0);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* ---- export */

static double *read_tile(xb_ctx *ctx, const char *dir, const char *name, int64_t high,
                         int64_t wide)
{
    char path[512];
    double *v = NULL;
    int64_t shape[8];
    int64_t ndim = 0;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_ok(ctx, xb_npy_read(ctx, &v, shape, &ndim, path));
    assert_int_equal(ndim, 2);
    assert_int_equal(shape[0], high);
    assert_int_equal(shape[1], wide);
    return v;
}

/* Tiles put together give the model's means within half a state. */
static void check_means(xb_ctx *ctx, const char *dir, const xb_model *m,
                        const xb_analog *a)
{
    xb_analog_place p = xb_analog_place_at(a, 0);
    double us = 80 / p.weight_top, step = 80.0 / 31;
    for (int64_t r = 0; r < p.row_tiles; r++)
        for (int64_t c = 0; c < p.column_tiles; c++) {
            char name[64];
            int64_t high = r + 1 < p.row_tiles ? p.rows : p.inputs - r * p.rows;
            int64_t wide = c + 1 < p.column_tiles ? p.columns : p.outputs - c * p.columns;
            snprintf(name, sizeof name, "layer0_r%d_c%d_plus.npy", (int)r, (int)c);
            double *plus = read_tile(ctx, dir, name, high, wide);
            snprintf(name, sizeof name, "layer0_r%d_c%d_minus.npy", (int)r, (int)c);
            double *minus = read_tile(ctx, dir, name, high, wide);
            for (int64_t i = 0; i < high * wide; i++) {
                int64_t at =
                    (r * p.rows + i / wide) * p.outputs + c * p.columns + i % wide;
                double w = (plus[i] - minus[i]) / us;
                assert_true(fabs(w - (double)m->mu[at]) <= 0.51 * step / us);
                assert_true(plus[i] == 20 || minus[i] == 20);
            }
            free(plus), free(minus);
        }
}

static void remove_folder(const char *dir)
{
    xb_os_folder *folder = xb_os_folder_open(dir);
    assert_non_null(folder);
    for (const char *name; (name = xb_os_folder_next(folder)) != NULL;) {
        if (name[0] == '.') continue;
        char path[512];
        xb_os_info info;
        snprintf(path, sizeof path, "%s/%s", dir, name);
        assert_true(xb_os_look(&info, path));
        if (info.kind == XB_OS_FOLDER)
            remove_folder(path);
        else
            assert_true(xb_os_unlink(path));
    }
    xb_os_folder_close(folder);
    assert_true(xb_os_remove_folder(dir));
}

/* numpy and json read all of it, where there is a Python with numpy. */
static void check_with_python(const char *dir)
{
    char command[1200];
    if (system("python3 -c 'import numpy' 2>/dev/null") != 0) {
        print_message("no python3 with numpy: files were read by our own reader only\n");
        return;
    }
    snprintf(command, sizeof command,
             "cd '%s' && python3 -c \"\n"
             "import json, numpy as np\n"
             "a = json.load(open('array.json'))\n"
             "for l in a['layers']:\n"
             "    c = json.load(open('crosssim/layer%%d.json' %% l['layer']))\n"
             "    w = np.load('crosssim/layer%%d_matrix.npy' %% l['layer'])\n"
             "    assert w.shape == (l['outputs'], l['inputs'])\n"
             "    assert abs(np.abs(w).max() - c['core']['mapping']['weights']['max'])"
             " < 1e-6\n"
             "    for t in l['tiles']:\n"
             "        g = np.load(t['plus']) - np.load(t['minus'])\n"
             "        i, j = t['first_input'], t['first_output']\n"
             "        part = w[j:j + t['columns'], i:i + t['rows']].T\n"
             "        assert np.abs(g / l['us_per_weight'] - part).max() < 0.03\n"
             "        assert np.load(t['width']).shape == g.shape\n"
             "\"",
             dir);
    assert_int_equal(system(command), 0);
}

static void what_is_exported_is_the_model(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_model *m = net_model(ctx, "dense 11, relu, dense 1", (xb_shape){1, 1, 5}, 0, 0.05);
    xb_array array = test_array("mtj");
    array.g_min_us = 20, array.g_max_us = 100;
    array.rows = 3, array.columns = 4;
    double *x = net_inputs(m, 8);
    xb_analog *a = test_analog(ctx, m, &array, x, 8);
    assert_ok(ctx, xb_analog_export(ctx, a, scratch_path(&s, "out")));
    check_means(ctx, s.path, m, a);
    check_with_python(s.path);
    remove_folder(s.path);
    scratch_write(&s, "file", "", 0);
    char inside[256];
    snprintf(inside, sizeof inside, "%s/dir", s.path);
    assert_int_equal(xb_analog_export(ctx, a, inside), XB_E_IO);
    assert_false(xb_os_exists(inside));
    xb_analog_destroy(a);
    free(x);
    scratch_remove(&s);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

/* Where there is a Python that has it; PYTHONPATH may say where. */
static void check_with_crosssim(const char *dir)
{
    char command[1200];
    if (system("python3 -c 'import simulator' 2>/dev/null") != 0) {
        print_message("skipped: no python3 with CrossSim\n");
        return;
    }
    snprintf(command, sizeof command,
             "python3 '" XB_SOURCE_DIR "/tests/crosssim_codes.py' '%s'", dir);
    assert_int_equal(system(command), 0);
}

static json_t *crosssim_layer(const scratch *s, int layer)
{
    char path[600];
    snprintf(path, sizeof path, "%s/crosssim/layer%d.json", s->path, layer);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    return root;
}

static double real_of(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* (X25) Ranges of a layer by hand; inputs are never negative after a relu. */
static void check_converters(const scratch *s, const xb_analog *a, int which)
{
    const xb_analog_place p = xb_analog_place_at(a, which);
    json_t *root = crosssim_layer(s, (int)p.layer), *inputs, *adc, *list;
    assert_int_equal(json_unpack(root, "{s:{s:{s:{s:o}}}, s:{s:{s:o}}}", "core",
                                 "mapping", "inputs", "mvm", &inputs, "xbar", "adc",
                                 "mvm", &adc),
                     0);
    assert_int_equal(p.dac_signed, which == 0);
    assert_close(real_of(inputs, "max"), p.dac_range, 1e-12);
    assert_close(real_of(inputs, "min"), which == 0 ? -p.dac_range : 0, 1e-12);
    assert_string_equal(json_string_value(json_object_get(adc, "adc_range_option")),
                        "CALIBRATED");
    list = json_object_get(adc, "calibrated_range");
    const double range = p.adc_range * 0.8 / (p.dac_range * p.weight_top); /* 20..100 */
    assert_int_equal(json_array_size(list), 2);
    assert_close(json_number_value(json_array_get(list, 0)), -range, 1e-12);
    assert_close(json_number_value(json_array_get(list, 1)), range, 1e-12);
    json_decref(root);
}

static void crosssim_has_our_converters(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_model *m = net_model(ctx, "dense 11, relu, dense 1", (xb_shape){1, 1, 5}, 0, 0.05);
    xb_array array = test_array("ideal");
    array.g_min_us = 20, array.g_max_us = 100;
    array.rows = 4, array.columns = 6;
    array.dac_bits = array.adc_bits = 6;
    double *x = net_inputs(m, 8);
    xb_analog *a = test_analog(ctx, m, &array, x, 8);
    assert_ok(ctx, xb_analog_export(ctx, a, scratch_path(&s, "out")));
    for (int i = 0; i < 2; i++) check_converters(&s, a, i);
    check_with_crosssim(s.path);
    xb_analog_destroy(a);
    free(x);
    remove_folder(s.path);
    scratch_remove(&s);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

static void costs_are_the_users(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_costs costs;
    static const char good[] = "{\"crossbayes\": \"costs\", \"read_pj\": 0.5,"
                               " \"adc_pj\": 2, \"note\": \"example\"}";
    assert_ok(
        ctx, xb_costs_load(ctx, &costs, scratch_write(&s, "c.json", good, strlen(good))));
    assert_close(costs.read_pj, 0.5, 0);
    assert_close(costs.dac_pj, 0, 0);
    assert_string_equal(costs.note, "example");
    static const char *const bad[] = {"{\"crossbayes\": \"costs\", \"read_pj\": -1}",
                                      "{\"crossbayes\": \"costs\", \"raed_pj\": 1}",
                                      "{\"crossbayes\": \"costs\", \"note\": 1}",
                                      "{\"read_pj\": 1}"};
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            xb_costs_load(ctx, &costs,
                          scratch_write(&s, "c.json", bad[i], strlen(bad[i]))),
            XB_E_INPUT);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_are_whole),
        cmocka_unit_test(effects_come_alone),
        cmocka_unit_test(numbers_have_names),
        cmocka_unit_test(a_file_comes_back),
        cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test(correlation_comes_from_the_fit),
        cmocka_unit_test(reads_follow_the_trace),
        cmocka_unit_test(what_is_exported_is_the_model),
        cmocka_unit_test(crosssim_has_our_converters),
        cmocka_unit_test(costs_are_the_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
