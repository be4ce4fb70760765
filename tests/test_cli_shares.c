/* test_cli_shares.c: --share and merge as users meet them: the bytes of one run, and what
 * is refused. */
#include "clitest.h"

/* Every share of `line`, which ends in "-o NAME", then all of them merged. */
static void run_shares(const char *command, const char *name, int of)
{
    char text[512];
    for (int k = 1; k <= of; k++) {
        snprintf(text, sizeof text, "%s -o %s --share %d/%d", command, name, k, of);
        run_well(text);
        assert_string_equal(out_text, "");
    }
    int used = snprintf(text, sizeof text, "merge");
    for (int k = of; k >= 1; k--)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s.%d-of-%d.share",
                         name, k, of);
    run_well(text);
}

/* One run and its merged shares: the same files and the same words. */
static void check_same(const char *command, const char *name, int of)
{
    char text[512];
    snprintf(text, sizeof text, "%s -o %s", command, name);
    run_well(text);
    char *said = strdup(out_text);
    snprintf(text, sizeof text, "rm -rf whole && mv %s whole", name);
    run_shell(text);
    run_shares(command, name, of);
    assert_string_equal(out_text, said);
    free(said);
    snprintf(text, sizeof text, "diff -r %s whole && rm -r %s *.share", name, name);
    run_shell(text);
}

static void make_model(void)
{
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 2 --mle-epochs 2");
}

static void merged_predictions_are_those_of_one_run(void **state)
{
    (void)state;
    make_model();
    for (int of = 1; of <= (SANITIZED ? 2 : 3); of++)
        check_same("predict m.safetensors xy.csv --draws 40", "p.csv", of);
    check_same("predict m.safetensors xy.csv --draws auto --tolerance 0.2 --threads 2",
               "p.csv", SANITIZED ? 2 : 7);
    run_shell("head -3 xy.csv > two.csv"); /* draws are dealt; of many, row by row */
    if (test_long())
        check_same("predict m.safetensors two.csv --draws 4200000 --threads 2", "p.csv",
                   2);
    check_same("predict m.safetensors two.csv --draws 40", "p.csv", 3);
    make_text("kinds.csv", "x,kind\n0,a\n1,b\n2,a\n3,b\n4,a\n5,b\n6,c\n7,c\n");
    run_well("train kinds.csv -t kind -o k.safetensors -q --epochs 2 --mle-epochs 2");
    check_same("predict k.safetensors kinds.csv --draws 20", "p.csv", SANITIZED ? 2 : 5);
    run_well("predict m.safetensors xy.csv --draws 20 -o p.csv --share=1/1");
    run_well("merge p.csv.1-of-1.share --json -q");
    assert_non_null(strstr(out_text, "\"n\": 60"));
}

static void merged_sweeps_and_studies_are_those_of_one_run(void **state)
{
    (void)state;
    make_model();
    check_same("crossbar m.safetensors xy.csv --reads 20 --sweep adc-bits=4:6"
               " --format svg --array ideal",
               "sweep", 3);
    OPTIMISED_ONLY();
    check_same("study energy --quick --widths 1,2 --depths 1 --seeds 1 --format svg",
               "nets", 2);
    if (test_long()) check_same("study array --quick --format svg", "arrays", 3);
}

static void a_killed_share_goes_on_from_its_cells(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    folder_empty(folder);
    static const char share[] =
        "study energy --quick --widths 1,2 --depths 1 --seeds 1 -o nets --share 1/2";
    run_well(share);
    run_shell("mv nets.1-of-2.share first && test -s"
              " nets/nets/width2_depth1_seed1.safetensors");
    run_shell("test ! -e nets/nets/width1_depth1_seed1.safetensors"); /* the other's */
    run_well(share);
    run_shell("cmp first nets.1-of-2.share");
}

/* The scripts for Slurm, with the variables that it would set. */
static void slurm_examples_run(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    make_model();
    char text[768];
    run_well("predict m.safetensors xy.csv -o whole.csv --draws 500 --threads 1");
    for (int k = 1; k <= 2; k++) {
        snprintf(text, sizeof text,
                 "PATH=$(dirname %.200s):$PATH SLURM_ARRAY_TASK_ID=%d SHARES=2 DRAWS=500"
                 " SLURM_CPUS_PER_TASK=1 sh %s/examples/slurm/array.sh m.safetensors"
                 " xy.csv pred.csv 2>/dev/null",
                 program(), k, XB_SOURCE_DIR);
        run_shell(text);
    }
    snprintf(
        text, sizeof text,
        "PATH=$(dirname %.200s):$PATH sh %s/examples/slurm/merge.sh pred.csv >/dev/null"
        " 2>&1 && cmp pred.csv whole.csv",
        program(), XB_SOURCE_DIR);
    run_shell(text);
}

static void wrong_use_is_refused(void **state)
{
    (void)state;
    make_model();
    static const char predict[] = "predict m.safetensors xy.csv --draws 20 -o p.csv";
    char text[512];
    static const char *const bad[] = {"0/2", "3/2", "1", "1/2/3", "a/b", "1/0", "-1/2"};
    for (int i = 0; i < (int)(sizeof bad / sizeof *bad); i++) {
        snprintf(text, sizeof text, "%s --share=%s", predict, bad[i]);
        run_badly(text, "expected K/N");
    }
    snprintf(text, sizeof text, "%s --share 1/21", predict); /* of 20 draws */
    run_badly(
        text,
        "60 rows and 20 draws cannot be divided among 21 processes; use at most 20");
    run_badly("study energy --quick --widths 1 --depths 1 -o e --share 1/2",
              "nets: 1 item of work cannot be divided among 2 shares; use at most 1");
    run_badly("study laws --quick -o laws --share 1/2",
              "--share is an option of the studies energy, narrow, array and retention, "
              "not of laws");
    run_badly("fit xy.csv --share 1/2", "unknown option");
    snprintf(text, sizeof text, "%s --share 1/2", predict);
    run_well(text);
    run_badly("merge p.csv.1-of-2.share", "missing share 2 of 2");
    run_badly("merge p.csv.1-of-2.share --seed 3", "--seed was set by");
    run_badly("merge xy.csv", "xy.csv");
    run_badly("merge", "missing argument");
    snprintf(text, sizeof text, "%s --share 2/2", predict);
    run_well(text);
    run_shell("echo 9,9 >> xy.csv");
    run_badly("merge p.csv.1-of-2.share p.csv.2-of-2.share", "xy.csv is not as it was");
    run_shell("test ! -e p.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_predictions_are_those_of_one_run),
        cmocka_unit_test(merged_sweeps_and_studies_are_those_of_one_run),
        cmocka_unit_test(a_killed_share_goes_on_from_its_cells),
        cmocka_unit_test(slurm_examples_run),
        cmocka_unit_test(wrong_use_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
