/* test_cli_design.c: design as users meet it: the choice, its files, what cannot be
 * reached, and what is refused. */
#include "clitest.h"

#define TRAIN " -q --epochs 2 --mle-epochs 20 --members 1 --net 'dense 4, relu, dense 1'"
#define SPACE " --over draws=4,10 --over adc-bits=3,6,9 --over dac_bits=8 --chips 4"

static void make_model(void)
{
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("train xy.csv -t y -o m.safetensors" TRAIN);
}

static bool flag(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

static void a_design_is_chosen(void **state)
{
    (void)state;
    make_model();
    json_t *root = run_json("design m.safetensors xy.csv --array ideal" SPACE
                            " --keep 'nll<=+50%' -o found --json -q");
    const json_t *designs = json_object_get(root, "designs");
    const json_t *chosen = json_array_get(designs, (size_t)number(root, "chosen"));
    assert_int_equal(json_array_size(designs), 6);
    assert_close(number(root, "arrays"), 3, 0);
    assert_string_equal(json_string_value(json_object_get(chosen, "verdict")), "keeps");
    assert_true(flag(chosen, "finalist"));
    assert_true(number(chosen, "energy_pj_low") < number(chosen, "energy_pj_high"));
    assert_close(number(json_object_get(root, "confirmed"), "chips"), 8, 0);
    const double bits = number(chosen, "adc_bits");
    json_decref(root);
    run_shell("test -s found/design.html -a -s found/design.svg -a -s found/designs.csv");
    run_shell("test $(wc -l < found/designs.csv) -ge 7");
    root = run_json("crossbar m.safetensors xy.csv --array found/array.json --reads 20"
                    " --costs model --json");
    assert_string_equal(json_string_value(json_object_get(root, "array")), "design");
    json_decref(root);
    char line[128];
    snprintf(line, sizeof line, "grep -q '\"adc_bits\": %.0f' found/array.json", bits);
    run_shell(line);
    run_well("design m.safetensors xy.csv --array ideal" SPACE " --keep 'nll<=+50%'");
    assert_non_null(
        strstr(out_text, "The cheapest design that meets the condition: draws "));
    assert_non_null(strstr(out_text, "Pareto front of energy against nll"));
    assert_non_null(strstr(out_text, "confirmed on 8 chips"));
    run_well("design m.safetensors xy.csv --array ideal" SPACE
             " --keep 'nll<=+50%' --minimise time --deadline 1s --yield 1");
    assert_null(strstr(out_text, "best 90 %"));
    assert_null(strstr(err_text, "no effect"));
    run("design m.safetensors xy.csv --array ideal --set dac_bits=8 --over adc_bits=8"
        " --over draws=10 --over tile=64 --keep 'nll<=-5000%' --chips 4 --effort quick");
    assert_non_null(strstr(out_text, "  1 design on 1 array, of which 1 was read"));
    assert_non_null(strstr(err_text, "none of 1 design keeps"));
    assert_non_null(strstr(err_text, "--effort has no effect without --retrain"));
}

/* One line says what can be reached; the front is there nevertheless, an array is not. */
static void what_cannot_be_reached_is_told(void **state)
{
    (void)state;
    make_model();
    assert_int_equal(run("design m.safetensors xy.csv --array ideal" SPACE
                         " --keep 'nll<=-5000%' -o found"),
                     1);
    const char *said = strstr(err_text, "none of 6 designs keeps nll<=-5000% on ");
    assert_non_null(said);
    assert_non_null(strstr(said, "where the digital model has "));
    assert_non_null(strstr(out_text, "front of energy"));
    run_shell("test -s found/design.html -a ! -e found/array.json");
    run_shell("grep -q 'None of 6 designs keeps' found/design.html");
    run_shell("grep -q 'not reachable' found/design.html");
}

/* A limit at the best score itself: the page must not say that nothing reaches it. */
static void what_may_be_reached_is_not_refused(void **state)
{
    (void)state;
    make_model();
    run("design m.safetensors xy.csv --array mtj" SPACE " --keep 'nll<=-5000%' --json");
    json_t *root = json_loads(out_text, 0, NULL);
    const json_t *designs = json_object_get(root, "designs");
    double best = INFINITY;
    for (size_t i = 0; i < json_array_size(designs); i++)
        if (flag(json_array_get(designs, i), "finalist"))
            best = fmin(best, number(json_array_get(designs, i), "score"));
    json_decref(root);
    char line[256];
    snprintf(line, sizeof line,
             "design m.safetensors xy.csv --array mtj" SPACE
             " --keep 'nll<=%.17g' -o open",
             best);
    assert_int_equal(run(line), 1);
    assert_non_null(strstr(err_text, "cannot tell whether one of 6 designs keeps"));
    run_shell("grep -q 'Cannot tell whether one of 6 designs keeps' open/design.html");
    run_shell("! grep -q 'not reachable' open/design.html");
}

static void bad_designs_are_one_line(void **state)
{
    (void)state;
    make_model();
    run_badly("design m.safetensors", "DATA");
    run_badly("design m.safetensors xy.csv --keep 'nll<2'", "SCORE<=LIMIT");
    run_badly("design m.safetensors xy.csv --keep 'accuracy>=1'",
              "unknown score 'accuracy'");
    run_badly("design m.safetensors xy.csv --over adc_bits=0,8", "needs converters");
    run_badly("design m.safetensors xy.csv --set adc_bits=0", "needs converters");
    run_badly("design m.safetensors xy.csv --over bits=4:8", "unknown key");
    run_badly("design m.safetensors xy.csv --over adc_bits", "KEY=FROM:TO");
    run_badly("design m.safetensors xy.csv --over draws=0", "draws is 0");
    run_badly("design m.safetensors xy.csv --set read_v=-1", "'read_v'");
    run_badly("design m.safetensors xy.csv --set adc_bits=8 --over adc_bits=7,8",
              "--set adc_bits=8: --over lists values of this key");
    run_badly("design m.safetensors xy.csv --over g_max_us=-5,100", "'g_max_us'");
    run_badly("design m.safetensors xy.csv --deadline 1ns -o found",
              "no design predicts within 1 ns: the fastest takes");
    run_badly("design m.safetensors xy.csv --deadline -1s", "--deadline");
    run_badly("design m.safetensors xy.csv --chips 2", "--chips");
    run_badly("design m.safetensors missing.csv", "missing.csv");
    run_badly("design m.safetensors xy.csv --array ideal --over tile=5", "converters");
    run_shell("printf 'x,y\\n' > empty.csv");
    run_badly("design m.safetensors empty.csv", "empty.csv");
}

/* Models that are trained again: with the array and without, and of other widths. */
static void models_are_trained_again(void **state)
{
    (void)state;
    make_model();
    json_t *root =
        run_json("design m.safetensors xy.csv --calibration xy.csv --array"
                 " ideal --set dac_bits=8 --over adc_bits=3,8 --over draws=10"
                 " --chips 4 --keep 'nll<=+500%' --retrain --effort quick -o found"
                 " --json -q");
    const json_t *designs = json_object_get(root, "designs");
    assert_int_equal(json_array_size(designs), 4); /* bits and for_array */
    assert_close(number(root, "models"), 2, 0);    /* for 3 bits, and for 8 */
    const json_t *chosen = json_array_get(designs, (size_t)number(root, "chosen"));
    const bool aware = number(chosen, "for_array") == 1;
    json_decref(root);
    run_shell(aware ? "test -s found/model.safetensors"
                    : "test ! -e found/model.safetensors");
    run_well("design m.safetensors xy.csv --calibration xy.csv --array ideal --set"
             " dac_bits=8 --over adc_bits=3,8 --over draws=10 --over width=2,8 --over"
             " n_eff_penalty=0,0.1 --chips 4 --keep 'nll<=+500%' --retrain --effort "
             "quick -o wide");
    assert_non_null(strstr(out_text, "4 models were trained again"));
    run_well("eval wide/model.safetensors xy.csv");
    run_badly("design m.safetensors xy.csv --over width=2,8", "needs --retrain");
    run_badly("design m.safetensors xy.csv --retrain --effort quick",
              "needs --calibration");
    run_badly(
        "design m.safetensors xy.csv --calibration xy.csv --retrain --effort quick --over"
        " width=0",
        "width is 0");
    run_badly(
        "design m.safetensors xy.csv --calibration xy.csv --retrain --effort quick --over"
        " for_array=2",
        "for_array is 2");
    run_shell("cut -d, -f1 xy.csv > x.csv");
    run_badly("design m.safetensors xy.csv --calibration x.csv --retrain --effort quick",
              "x.csv");
}

static void nets_are_trained_for_arrays(void **state)
{
    (void)state;
    make_model();
    run_well(
        "train xy.csv -t y -o a.safetensors --for-array mtj --n-eff-penalty 0.01" TRAIN);
    run_shell("grep -aq 'adc_bits' a.safetensors");
    run_badly("train xy.csv -t y -o b.safetensors --for-array mjt" TRAIN,
              "did you mean 'mtj'");
    run_badly("train xy.csv -t y -o b.safetensors --for-array mtj --cells pair" TRAIN,
              "--for-array");
    run_badly("train xy.csv -t y -o b.safetensors --n-eff-penalty -1" TRAIN,
              "n-eff-penalty");
    run_shell("test ! -e b.safetensors");
}

static void draws_are_told_and_adapted(void **state)
{
    (void)state;
    make_model();
    run_well("predict m.safetensors xy.csv --draws adaptive -o took.csv -q");
    run_shell("head -1 took.csv | grep -q ',q0.975,draws$'");
    run_well("predict m.safetensors xy.csv --draws auto -o needs.csv -q");
    run_shell("head -1 needs.csv | grep -q ',q0.975,draws_needed$'");
    json_t *root = run_json("predict m.safetensors xy.csv --draws adaptive"
                            " --interval-tolerance 0.5 --json");
    const json_t *used = json_object_get(root, "draws_used");
    double sum = 0;
    for (size_t i = 0; i < json_array_size(used); i++)
        sum += json_number_value(json_array_get(used, i));
    assert_int_equal(json_array_size(used), 60);
    assert_close(number(root, "draws_mean"), sum / 60, 1e-12);
    json_decref(root);
    root = run_json("crossbar m.safetensors xy.csv --reads 100 --chips 1 --json");
    const json_t *draws = json_object_get(root, "draws");
    assert_int_equal(json_array_size(json_object_get(draws, "needed")), 60);
    assert_true(number(draws, "mean") >= 32 && number(draws, "mean") <= 100);
    json_decref(root);
    run_well("crossbar m.safetensors xy.csv --reads 100 --chips 1");
    assert_non_null(strstr(out_text, "Reading each row until then takes"));
    run_badly("predict m.safetensors xy.csv --draws some", "'auto' or 'adaptive'");
    run_badly("predict m.safetensors xy.csv --interval-tolerance 0",
              "interval-tolerance");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_design_is_chosen),
        cmocka_unit_test(what_cannot_be_reached_is_told),
        cmocka_unit_test(what_may_be_reached_is_not_refused),
        cmocka_unit_test(bad_designs_are_one_line),
        cmocka_unit_test(models_are_trained_again),
        cmocka_unit_test(nets_are_trained_for_arrays),
        cmocka_unit_test(draws_are_told_and_adapted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
