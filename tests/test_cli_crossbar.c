/* test_cli_crossbar.c: crossbar as users meet it: scores, sweeps, costs, chips, and what
 * it refuses. */
#include "clitest.h"

static void a_crossbar_scores_and_sweeps(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    make_text("costs.json", "{\"crossbayes\": \"costs\", \"adc_pj\": 2}");
    run_well("train xy.csv -t y -o three.safetensors -q --epochs 2 --mle-epochs 2");
    run_badly("crossbar three.safetensors xy.csv --export chip", "--members 1");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 2 --mle-epochs 2"
             " --members 1");
    json_t *root = run_json("crossbar m.safetensors xy.csv --reads 50 --costs costs.json"
                            " --sweep adc-bits=4:8:2 -o sweeps --export chip --threads 1"
                            " --json");
    json_t *cases = json_object_get(root, "cases");
    json_t *sweep = json_array_get(json_object_get(root, "sweeps"), 0);
    /* digital, the mtj's twelve effects, all together */
    assert_int_equal(json_array_size(cases), 14);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(cases, 13), "array")),
        "all together");
    assert_true(number(json_array_get(cases, 13), "nll_mc_error") > 0);
    assert_int_equal(json_array_size(json_object_get(sweep, "cases")), 3);
    assert_close(number(json_array_get(json_object_get(sweep, "cases"), 1), "value"), 6,
                 0);
    json_t *chips =
        json_object_get(json_array_get(json_object_get(sweep, "cases"), 1), "chips");
    assert_close(number(chips, "count"), 8, 0);
    assert_true(number(json_object_get(chips, "nll"), "q95") >
                number(json_object_get(chips, "nll"), "q05"));
    assert_true(number(json_object_get(root, "limits"), "column_ua") > 0);
    json_t *costs = json_object_get(root, "costs");
    assert_close(number(costs, "total_pj"), 2 * number(costs, "adc_conversions"), 1e-12);
    json_decref(root);
    run_shell("test -s sweeps/adc-bits.csv -a -s sweeps/adc-bits.svg");
    run_shell(
        "grep -q ',shape_off,.*,nll_q95,\\|nll_q95,.*,shape_off,' sweeps/adc-bits.csv");
    run_shell("test -s chip/array.json -a -s chip/crosssim/layer0.json");
    run_shell("test -s chip/layer0_bias.npy && grep -q model_hash chip/array.json");
    run_well("crossbar m.safetensors xy.csv --array chip/array.json --reads 20"
             " --chips 1 --threads 1 -q"); /* what was exported is an array */
    assert_non_null(strstr(out_text, "array mtj"));
    run_well("crossbar m.safetensors xy.csv --array ideal --reads 20 --threads 1");
    assert_non_null(strstr(out_text, "same"));
    assert_null(strstr(out_text, "current_limit_ua")); /* there is none */
    run_well("crossbar m.safetensors xy.csv --array ideal --reads 20 --threads 1"
             " --set line_ohm=1e4 --set current_limit_ua=1 --set column_calibration=20");
    assert_non_null(strstr(out_text, "all, no column calibration"));
    assert_non_null(strstr(out_text, "warning: wires take"));
    assert_non_null(strstr(out_text, "current_limit_ua"));
}

static double band(const json_t *object, const char *key, const char *end)
{
    return number(json_object_get(object, key), end);
}

static void a_crossbar_has_costs(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    make_text("slow.json", "{\"crossbayes\": \"array\", \"base\": \"mtj\","
                           " \"read_ns\": 200}");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 2 --mle-epochs 2"
             " --net 'dense 4, relu, dense 1'");
    double cells[2], prediction[2];
    for (int i = 0; i < 2; i++) {
        json_t *root = run_json(i ? "crossbar m.safetensors xy.csv --reads 40"
                                    " --array slow.json --costs model --json"
                                  : "crossbar m.safetensors xy.csv --reads 20"
                                    " --costs model --json");
        const json_t *designs =
            json_object_get(json_object_get(root, "costs"), "designs");
        const json_t *array = json_array_get(designs, 0);
        const json_t *layer = json_array_get(json_object_get(array, "layers"), 0);
        assert_int_equal(json_array_size(designs), 3);
        assert_close(number(array, "draws"), i ? 40 : 20, 0);
        assert_close(band(array, "prediction_pj", "high"),
                     number(array, "draws") * band(array, "draw_pj", "high"), 1e-12);
        assert_close(number(array, "prediction_ns"),
                     number(array, "draws") * number(array, "draw_ns"), 1e-12);
        assert_true(band(layer, "adc_pj", "low") < band(layer, "adc_pj", "high"));
        assert_close(number(json_array_get(designs, 2), "draws"), 1, 0);
        cells[i] = band(layer, "cells_pj", "low");
        prediction[i] = band(array, "prediction_pj", "low");
        json_decref(root);
    }
    assert_close(cells[1], 100 * cells[0], 1e-9); /* 200 ns instead of 2 */
    assert_true(prediction[1] > 2 * prediction[0]);
    run_well("crossbar m.safetensors xy.csv --reads 20 --costs model -o bill");
    run_shell("test -s bill/costs.svg -a -s bill/costs.png -a -s bill/costs.csv");
    run_shell("head -1 bill/costs.csv | grep -q '^design,layer,part,energy_pj_low'");
    run_well("crossbar m.safetensors xy.csv --reads 20 --costs model");
    assert_non_null(strstr(out_text, "\n  layer 1 ")); /* as plan counts them */
    assert_null(strstr(out_text, "\n  layer 0 "));
    assert_non_null(strstr(out_text, "all layers"));
    assert_non_null(strstr(out_text, "digital accelerator, digital sampling"));
    assert_null(strstr(out_text, "waits between reads"));
    run_well("crossbar m.safetensors xy.csv --reads 20 --array ecram --costs model");
    assert_non_null(strstr(out_text, "waits between reads"));
    run_badly("crossbar m.safetensors xy.csv --array ideal --costs model",
              "costs need converters: 'dac_bits' is 0");
    run_badly("crossbar m.safetensors xy.csv --set read_v=0 --costs model",
              "'read_v' is 0, expected");
}

static int64_t chips_of(const json_t *root, const char *name)
{
    size_t i;
    json_t *one;
    json_array_foreach(
        json_object_get(root, "cases"), i,
        one) if (strcmp(json_string_value(json_object_get(one, "array")), name) ==
                 0) return (int64_t)number(json_object_get(one, "chips"), "count");
    return -1;
}

/* Eight chips of all together; with --chips of the effects too that differ. Chip 1 is
 * the same with others and alone, and ± says what it is of. */
static void a_crossbar_is_told_over_chips(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 2 --mle-epochs 2");
    json_t *root = run_json("crossbar m.safetensors xy.csv --reads 20 --json");
    assert_int_equal(chips_of(root, "all together"), 8);
    assert_int_equal(chips_of(root, "stuck"), 1);
    json_decref(root);
    root = run_json("crossbar m.safetensors xy.csv --reads 20 --chips 3 --chip 5 --json");
    assert_int_equal(chips_of(root, "all together"), 3);
    assert_int_equal(chips_of(root, "stuck"), 3);
    assert_int_equal(chips_of(root, "adc"), 1);
    double sum = 0;
    for (int chip = 5; chip < 8; chip++) {
        char command[128];
        snprintf(command, sizeof command,
                 "crossbar m.safetensors xy.csv --reads 20 --chips 1 --chip %d --json",
                 chip);
        json_t *alone = run_json(command);
        sum += number(json_array_get(json_object_get(alone, "cases"), 13), "nll");
        json_decref(alone);
    }
    json_t *all = json_array_get(json_object_get(root, "cases"), 13);
    json_t *nll = json_object_get(json_object_get(all, "chips"), "nll");
    assert_close(number(nll, "mean"), sum / 3, 1e-12);
    assert_close(number(nll, "mean_error"), number(nll, "sd") / sqrt(3), 1e-12);
    json_decref(root);
    run_well("crossbar m.safetensors xy.csv --reads 20 --chips 3 --chip 5");
    assert_non_null(strstr(out_text, "over reads of chip 5"));
    assert_non_null(strstr(out_text, "Over 3 chips, 5 to 7"));
    assert_non_null(strstr(out_text, "of 3 chips)"));
    assert_non_null(strstr(out_text, "±: standard error over chips"));
    run_well("crossbar m.safetensors xy.csv --reads 20 --array ideal");
    assert_non_null(strstr(out_text, "nothing on this array differs from chip to chip"));
}

static void warnings_are_said_once(void)
{
    static const char *const said[] = {"independent samples", "not independent draws"};
    for (int i = 0; i < 2; i++) {
        const char *first = strstr(err_text, said[i]);
        assert_non_null(first);
        assert_null(strstr(first + 1, said[i]));
    }
}

/* However often an array's law is loaded, each of its warnings is said once. */
static void notices_are_said_once(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_shell("awk 'BEGIN { s = 1; print \"x\"; for (i = 0; i < 3000; i++) {"
              " s = (s * 16807) % 2147483647; x = 0.995 * x + s / 2147483647 - 0.5;"
              " print x } }' > walk.csv");
    run_well("fit walk.csv --segment all -o walk.json -q");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 2 --mle-epochs 2");
    assert_int_equal(run("crossbar m.safetensors xy.csv --reads 20 --law walk.json"), 0);
    warnings_are_said_once();
    run_well("train xy.csv -t y --law walk.json -o own.safetensors -q --epochs 2"
             " --mle-epochs 2");
    assert_int_equal(run("eval own.safetensors xy.csv"), 0); /* models keep them */
    warnings_are_said_once();
}

static void bad_crossbars_are_one_line(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    make_text("bad.json", "{\"crossbayes\": \"array\", \"adc_bit\": 3}");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 1 --mle-epochs 1");
    run_badly("crossbar m.safetensors xy.csv --array mjt",
              "unknown array 'mjt': expected ideal, mtj, ecram, rram or a JSON file; did"
              " you mean 'mtj'?");
    run_badly("crossbar m.safetensors xy.csv --array bad.json", "bad.json: unknown key");
    run_badly("crossbar m.safetensors xy.csv --set adc_bits=4:5", "KEY=NUMBER");
    run_badly("crossbar m.safetensors xy.csv --set adc_bits=1", "2 or more");
    run_badly("crossbar m.safetensors xy.csv --sweep adc_bits", "KEY=FROM:TO");
    run_badly("crossbar m.safetensors xy.csv --sweep adc_bits=9:3", "FROM:TO:STEP");
    run_badly("crossbar m.safetensors xy.csv --sweep adc_bits=0:99", "more than 64");
    run_badly("crossbar m.safetensors xy.csv --sweep noise=1:2", "unknown key");
    run_badly(
        "crossbar m.safetensors xy.csv --sweep adc_bits=4:5 --sweep adc-bits=6 -o d",
        "adc-bits is swept twice");
    run_badly("crossbar m.safetensors xy.csv --chips 0", "--chips: 0 is out of range");
    run_badly("crossbar m.safetensors xy.csv --redraw never", "never");
    run_badly("crossbar m.safetensors missing.csv", "missing.csv");
    run_badly("crossbar m.safetensors xy.csv --costs bad.json --export chip",
              "this is an array file; a costs file was expected");
    run_badly("crossbar m.safetensors xy.csv --calibration bad.json", "bad.json");
    run_shell("test ! -e chip"); /* nothing half-written */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crossbar_scores_and_sweeps),
        cmocka_unit_test(a_crossbar_has_costs),
        cmocka_unit_test(a_crossbar_is_told_over_chips),
        cmocka_unit_test(notices_are_said_once),
        cmocka_unit_test(bad_crossbars_are_one_line),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
