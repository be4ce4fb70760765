/* test_cli_targets.c: several targets, and weights made of cells, as users meet them:
 * what train, predict, eval and crossbar say, and what is refused. */
#include "clitest.h"

#define QUICK " --epochs 60 --mle-epochs 60 --rate 0.01 --net 'dense 6, relu, dense 2' "

/* x,u,v: u = 2 x, v = 100 - 30 x, each with noise; 120 rows. */
static void make_pairs(void)
{
    run_shell("awk 'BEGIN { srand(3); print \"x,u,v\"; for (i = 0; i < 120; i++) {"
              " x = rand(); print x \",\" 2 * x + 0.2 * rand() \",\""
              " 100 - 30 * x + 5 * rand() } }' > pairs.csv");
}

static void each_target_has_its_columns(void **state)
{
    (void)state;
    folder_empty(folder);
    make_pairs();
    run_well("train pairs.csv --target u,v -o m.safetensors" QUICK);
    assert_non_null(strstr(out_text, "u,v from 120 rows, 1 column"));
    assert_non_null(strstr(out_text, "in units of v"));
    run_well("predict m.safetensors pairs.csv -o p.csv");
    run_shell("head -1 p.csv | grep -qx 'u_mean,u_sd,u_epistemic,u_aleatoric,u_q0.025,"
              "u_q0.975,v_mean,v_sd,v_epistemic,v_aleatoric,v_q0.025,v_q0.975'");
    run_shell("awk -F, 'NR > 1 && ($1 < -1 || $1 > 4 || $7 < 60 || $7 > 115) { exit 1 }'"
              " p.csv");
    run_well("eval m.safetensors pairs.csv --law gaussian --law mtj --draws 100");
    assert_non_null(strstr(out_text, "\n  v\n"));
    assert_non_null(strstr(out_text, "all 2 targets together"));
    json_t *root = run_json("eval m.safetensors pairs.csv --draws 100 --json");
    const json_t *law = json_array_get(json_object_get(root, "laws"), 0);
    const json_t *each = json_object_get(law, "targets");
    assert_int_equal(json_array_size(each), 2);
    assert_string_equal(words(json_array_get(each, 1), "target"), "v");
    assert_true(number(json_array_get(each, 1), "rmse") >
                5 * number(json_array_get(each, 0), "rmse"));
    assert_null(json_object_get(law, "rmse"));
    assert_close(number(law, "nll"),
                 number(json_array_get(each, 0), "nll") +
                     number(json_array_get(each, 1), "nll"),
                 0.2);
    json_decref(root);
    run_well("eval m.safetensors m.safetensors pairs.csv --draws 50");
    assert_non_null(strstr(out_text, "joint density of 2 targets"));
    run_well("crossbar m.safetensors pairs.csv --reads 20");
    assert_null(strstr(out_text, "none"));
    run_shell("tail -n +2 pairs.csv > bare.csv && cut -d, -f1 bare.csv > inputs.csv");
    run_well("train bare.csv --target 2,3 -o bare.safetensors" QUICK);
    run_well("predict bare.safetensors bare.csv -o a.csv");
    run_well("predict bare.safetensors inputs.csv -o b.csv");
    run_shell("cmp a.csv b.csv");
}

static void bad_targets_are_one_line(void **state)
{
    (void)state;
    folder_empty(folder);
    make_pairs();
    run_badly("train pairs.csv --target u,u -o m.safetensors", "'u' is listed twice");
    run_badly("train pairs.csv --target u,w -o m.safetensors", "no column 'w'");
    run_shell("printf 'c,v,x\\nred,1,2\\nblue,2,3\\n' > words.csv");
    run_badly("train words.csv --target c,v -o m.safetensors",
              "words.csv:2: not a number: 'red' (column 'c'): several targets must all");
    run_shell("rm words.csv");
    run_badly("train pairs.csv --target u,v --classes -o m.safetensors",
              "2 targets of classes");
    run_badly("train pairs.csv --target u,v --net 'dense 1' -o m.safetensors",
              "end it with 'dense 2'");
    run_badly("train pairs.csv --target u,v --likelihood softmax -o m.safetensors",
              "softmax does not suit");
    assert_int_equal(folder_count(folder), 1);
}

/* Read noise of 1 uS at 10 uS, 3 uS at 90 uS. */
static const char device_file[] =
    "{\"crossbayes\": \"device\", \"unit\": \"S\", \"times_s\": [], \"states\": [],"
    " \"cells\": 0, \"states_left_out\": 0, \"cells_left_out\": 0, \"ranks\": [0, 0.002,"
    " 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, "
    "0.8,"
    " 0.85, 0.9, 0.925, 0.95, 0.965, 0.98, 0.99, 0.995, 0.998, 1], \"traces\": ["
    "{\"label\": 0, \"conductance\": 1e-5, \"width\": 1e-6, \"width_error\": 0,"
    " \"independent\": 0}, {\"label\": 1, \"conductance\": 9e-5, \"width\": 3e-6,"
    " \"width_error\": 0, \"independent\": 0}]}";

static void cells_are_told_and_refused(void **state)
{
    (void)state;
    folder_empty(folder);
    make_pairs();
    run_well("train pairs.csv -t u,v --cells pair --law laplace -o m.safetensors" QUICK);
    assert_non_null(strstr(out_text, "cells               pair:signs=1/-1,range=0.4/4"));
    run_well("crossbar m.safetensors pairs.csv --reads 20");
    assert_non_null(strstr(out_text, "weights are made of cells"));
    run_badly("crossbar m.safetensors pairs.csv --reads 20 --export d", "made of cells");
    run_well("eval m.safetensors pairs.csv --draws 50");
    run_badly("train pairs.csv -t u,v --cells four -o n.safetensors", "four");
    run_badly("train pairs.csv -t u,v --cells pair:range=4/1 -o n.safetensors",
              "the range is empty");
    run_badly("train pairs.csv -t u,v --cells pair:width=0.1/-0.1 -o n.safetensors",
              "the width is");
    run_badly("train pairs.csv -t u,v --cells pair:wide=1 -o n.safetensors", "wide");
    run_badly("train pairs.csv -t u,v --cells pair --sigma 1 -o n.safetensors",
              "--sigma and --cells exclude each other");
    run_badly("train pairs.csv -t u,v --device d.json -o n.safetensors",
              "--device needs --cells");
    make_text("d.json", device_file);
    run_well(
        "train pairs.csv -t u,v --cells pair --device d.json -o m.safetensors" QUICK);
    assert_non_null(strstr(out_text, "range=1e-05/9e-05"));
    assert_non_null(strstr(out_text, "width=1e-06/3e-06,at=1e-05/9e-05"));
    run_badly("train pairs.csv -t u,v --cells pair --device pairs.csv -o n.safetensors",
              "pairs.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_target_has_its_columns),
        cmocka_unit_test(bad_targets_are_one_line),
        cmocka_unit_test(cells_are_told_and_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
