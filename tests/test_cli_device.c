/* test_cli_device.c: `device`, and commands that take its file: campaigns and traces by
 * state, the page, and one clear line for what cannot be. */
#include "clitest.h"

/* 40 cells in each of two states, 50 and 90 uS, read at 0 and 100 s. */
static void make_campaign(const char *name, double first)
{
    char text[16384];
    size_t used = (size_t)sprintf(text, "cell,level,time_s,conductance_S\n");
    for (int i = 0; i < 80; i++) {
        const double g = i < 40 ? 50 : 90;
        used += (size_t)sprintf(text + used, "%d,%d,0,%ge-6\n%d,%d,100,%ge-6\n", i,
                                i / 40, g, i, i / 40, i ? g - 0.1 * (i % 7) : first);
    }
    make_text(name, text);
}

static void make_trace(const char *name, const char *law, double mean, int seed)
{
    char line[256];
    snprintf(line, sizeof line, "sample %s -n 2000 --seed %d -o z.csv -q", law, seed);
    run_well(line);
    snprintf(line, sizeof line,
             "awk 'NR > 1 { print %ge-6 + 2e-7 * $1 }' z.csv > %s; rm z.csv", mean, name);
    run_shell(line);
}

static void make_inputs(void)
{
    folder_empty(folder);
    make_campaign("cells.csv", 50.3);
    make_trace("level1.csv", "gaussian", 50, 1);
    make_trace("level2.csv", "gaussian", 90, 2);
    make_line("line.csv", 40);
    run_shell("cut -d, -f1,2 line.csv > xy.csv; gzip -k cells.csv");
    run_well("train xy.csv -t y -o m.safetensors -q --net 'dense 3, relu, dense 1'"
             " --epochs 2 --mle-epochs 2");
}

static void a_device_goes_all_the_way(void **state)
{
    (void)state;
    make_inputs();
    run_well("device cells.csv -o plain.json -q");
    run_well("device cells.csv.gz -o packed.json -q");
    run_shell("sed 's/cells.csv.gz/cells.csv/g; s/packed/plain/g' packed.json | cmp -"
              " plain.json");
    run_well(
        "device cells.csv level2.csv level1.csv --sample-rate 400Hz -o both.json --report"
        " page --format svg");
    assert_non_null(strstr(out_text, "80 cells in 2 states"));
    assert_non_null(strstr(out_text, "read noise of 2 traces"));
    assert_non_null(strstr(out_text, "shapes of the states do not differ"));
    run_shell("grep -q 'state' page/device.html && grep -q '<svg' page/device.html");
    run_shell("test $(wc -l < page/relaxation.csv) = 3 && test -s page/traces.csv");
    run_well("crossbar m.safetensors xy.csv --array ideal --set g_min_us=50.1 --set"
             " g_max_us=89.9 --device both.json --age 100s --reads 20");
}

#define RANGE " --set g_min_us=50 --set g_max_us=90"

static void an_array_ages(void **state)
{
    (void)state;
    make_inputs();
    run_well("device cells.csv level2.csv level1.csv -o both.json -q");
    run_well("crossbar m.safetensors xy.csv --array ideal --reads 20 --set g_min_us=50.1"
             " --set g_max_us=89.9 --device both.json --age 1e6s --set quiet_pairs=1");
    assert_non_null(strstr(out_text, "1000000 s after programming"));
    assert_non_null(strstr(out_text, "later than the last time measured (100 s)"));
    assert_non_null(strstr(out_text, "the read noise measured for their states"));
    assert_non_null(strstr(out_text, "spreads least"));
    run_well("plan both.json --net 'dense 4, relu, dense 1'");
}

/* Programming errors come with the file, in the place of the array's own, unless a number
 * of them is set; a model of cells ages on the states that it was trained for. */
static void what_was_measured_is_used(void **state)
{
    (void)state;
    make_inputs();
    run_well("device cells.csv level2.csv level1.csv -o both.json -q");
    run_well("crossbar m.safetensors xy.csv --array ideal --reads 20 --device"
             " both.json --set g_min_us=50.1 --set g_max_us=89.9");
    assert_non_null(
        strstr(out_text, "programming errors are those measured for each state"));
    assert_non_null(strstr(out_text, "program error"));
    run_well("crossbar m.safetensors xy.csv --array ideal --reads 20 --device both.json"
             " --set g_min_us=50.1 --set g_max_us=89.9 --set program-by-state=0");
    assert_null(strstr(out_text, "writes miss"));
    run_well("train xy.csv -t y --cells pair --device both.json -o tied.safetensors -q"
             " --net 'dense 3, relu, dense 1' --epochs 2 --mle-epochs 2");
    run_well("crossbar tied.safetensors xy.csv --array ideal --reads 20 --device"
             " both.json --age 100s --set line_ohm=1");
    assert_non_null(strstr(out_text, "relaxation"));
    assert_non_null(strstr(out_text, "  line  "));
    assert_null(strstr(out_text, "mean devices have"));
    assert_null(strstr(out_text, "noise devices"));
}

/* A unit in the name of the column of times counts. */
static void times_have_units(void **state)
{
    (void)state;
    make_inputs();
    run_shell("awk -F, -v OFS=, 'NR == 1 { $3 = \"t_ms\" } NR > 1 { $3 *= 1000 } 1'"
              " cells.csv > ms.csv");
    run_well("device cells.csv -o s.json -q");
    run_well("device ms.csv --time t_ms -o ms.json -q");
    run_shell("for f in s ms; do sed '/command/d; /source/d' $f.json > $f.txt; done;"
              " cmp s.txt ms.txt");
    run_shell("sed 1s/t_ms/t_us/ ms.csv > us.csv");
    run_well("device us.csv --time t_us -o us.json -q");
    run_shell("sed '/command/d; /source/d' us.json > us.txt; ! cmp -s us.txt ms.txt");
}

static void mistakes_are_one_line(void **state)
{
    (void)state;
    make_inputs();
    make_campaign("negative.csv", -3);
    make_text("one.csv", "cell,level,time_s,conductance_S\n1,1,0,5e-5\n1,1,1,4e-5\n");
    make_text("back.csv", "t,g\n3,1e-5\n2,2e-5\n1,1.5e-5\n0,1e-5\n");
    run_shell("awk 'NR > 1 { print 2e-7 * (NR % 7) - 1e-4 }' level1.csv > below3.csv");
    run_shell("cp level1.csv other1.csv");
    run_well("device cells.csv -o device.json -q");
    run_shell("head -c 900 device.json > half.json");
    run_well("device level1.csv level2.csv -o noise.json -q");
    assert_int_equal(run("device cells.csv --sample-rate 400Hz"), 0);
    assert_non_null(strstr(err_text, "--sample-rate has no effect on a campaign"));
    assert_int_equal(run("device level1.csv --state level"), 0);
    assert_non_null(strstr(err_text, "--state has no effect on traces"));
    run_well("device cells.csv level1.csv --state level --sample-rate 400Hz");
    assert_null(strstr(err_text, "no effect"));
    run_badly("study retention --device noise.json --quick -o r",
              "has the relaxation of 0 states, expected 2 or more");
    run_badly("device negative.csv -o x.json",
              "expected a conductance of 0 or more, not -");
    run_badly(
        "device one.csv -o x.json",
        "no state has 20 cells and 8 readings at each time; the largest has 1 cell");
    run_badly("device one.csv --min-cells 30 -o x.json", "no state has 30 cells");
    run_badly("device level1.csv back.csv -o x.json", "back.csv: column 't'");
    run_badly("device level1.csv below3.csv -o x.json", "the mean of the trace is -");
    run_badly("device level1.csv other1.csv -o x.json", "are both state 1");
    run_badly("device cells.csv negative.csv -o x.json", "expected at most one");
    run_badly("device level1.csv none.csv -o x.json", "none.csv");
    run_badly("crossbar m.safetensors xy.csv --device half.json --age 1s", "half.json");
    run_badly("plan half.json --net 'dense 4, relu, dense 1'", "not JSON");
    run_badly("crossbar m.safetensors xy.csv --read-interval 0s",
              "--read-interval: '0s': expected more than 0");
    run_badly("crossbar m.safetensors xy.csv --device device.json --age 1s",
              "states were measured from 50 to 90 µS, but the array uses 50 to 125 µS");
    run_badly("crossbar m.safetensors xy.csv --device device.json --age -1s" RANGE,
              "'age_s' is -1");
    run_badly("crossbar m.safetensors xy.csv --device device.json --age soon" RANGE,
              "--age: 'soon'");
    run_badly("crossbar m.safetensors xy.csv --age 1s", "missing --device FILE");
    run_badly("crossbar m.safetensors xy.csv --set age_s=1", "'age_s' needs 'device'");
    run_well("train xy.csv -t y --cells pair --device noise.json -o tied.safetensors -q"
             " --net 'dense 3, relu, dense 1' --epochs 2 --mle-epochs 2");
    run_well("crossbar tied.safetensors xy.csv --array ideal --reads 20 --device"
             " noise.json" RANGE);
    run_badly("crossbar tied.safetensors xy.csv --device device.json --age 1s --set"
              " quiet_pairs=1" RANGE,
              "their states were learnt");
    run_badly("crossbar tied.safetensors xy.csv --device device.json --age 1s",
              "states were measured from 50 to 90 µS, but the array uses 50 to 125 µS");
    run_badly("study retention -o x", "missing --device FILE");
    run_badly("study retention --device half.json -o x", "half.json");
    run_badly("demo --device half.json -o x", "half.json");
    run_badly("demo --device noise.json -o x",
              "noise.json: fewer than 2 states have relaxation");
    run_badly("plan device.json --net 'dense 1'", "no law of its read noise");
    run_shell("test ! -e x.json && test ! -e x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_goes_all_the_way), cmocka_unit_test(an_array_ages),
        cmocka_unit_test(what_was_measured_is_used), cmocka_unit_test(times_have_units),
        cmocka_unit_test(mistakes_are_one_line),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
