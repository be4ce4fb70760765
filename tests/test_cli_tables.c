/* test_cli_tables.c: the program with tables as people have them: what it says, what
 * predictions carry, what is refused. */
#include "clitest.h"

static void make_messy(void)
{
    static const char *const names[] = {"messy.csv", "messy_new.csv"};
    folder_empty(folder);
    for (int i = 0; i < XB_COUNT(names); i++) {
        char path[512], text[8192];
        snprintf(path, sizeof path, XB_FIXTURES "/%s", names[i]);
        make_file(names[i], text, read_file(text, sizeof text, path));
    }
}

/* It works, and says something of the table. */
static void run_and_hear(const char *line)
{
    const int code = run(line);
    if (code != 0) fail_msg("crossbayes %s: exit %d: %s", line, code, err_text);
    if (!*err_text) fail_msg("crossbayes %s: said nothing", line);
}

static void a_messy_table_is_learnt(void **state)
{
    (void)state;
    make_messy();
    run_and_hear("train messy.csv --target y --id who -o m.safetensors --epochs 5"
                 " --mle-epochs 5");
    assert_non_null(strstr(out_text, "from 60 rows, 4 columns (13 features)"));
    assert_non_null(strstr(err_text, "columns of words become 9 features of 0 and 1: town"
                                     " (5 words), size (4 words)"));
    assert_non_null(strstr(err_text, "(--missing refuse makes this an error)"));
    assert_non_null(strstr(err_text, "left out (the same in every row): source"));
    assert_non_null(strstr(err_text, "use --use-anyway COLUMN"));
    run_and_hear("predict m.safetensors messy_new.csv --draws 50 -o p.csv");
    assert_non_null(strstr(err_text, "words that the training data did not have"));
    char path[512], text[256];
    in_folder(path, "p.csv");
    read_file(text, sizeof text, path);
    assert_memory_equal(text, "who,mean,sd,", 12);
    assert_non_null(strstr(text, "\n\"person 0 (new)\nsecond line\","));
    run_and_hear("eval m.safetensors messy_new.csv --draws 50");
    json_t *root = run_json("predict m.safetensors messy_new.csv --draws 50 -q --json");
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "id"), 1)),
                        "person 1");
    json_decref(root);
    run_badly("predict m.safetensors messy_new.csv --missing refuse", "messy_new.csv:");
    run_badly("predict m.safetensors messy_new.csv --id nobody", "no column 'nobody'");
    run_well("predict m.safetensors messy_new.csv --id id --draws 50 -q");
    assert_memory_equal(out_text, "id,mean,", 8);
}

static void rows_are_held_out(void **state)
{
    (void)state;
    make_messy();
    json_t *root = run_json("train messy.csv --target y --test-share 0.2 --epochs 5"
                            " --mle-epochs 5 -o m.safetensors -q --json");
    const json_t *test = json_object_get(root, "test");
    assert_int_equal(json_integer_value(json_object_get(test, "rows")), 12);
    assert_true(json_is_real(json_object_get(test, "rmse")));
    json_decref(root);
    run_and_hear("train messy.csv --target y --test-share 0.2 --epochs 5 --mle-epochs 5"
                 " -o m.safetensors");
    assert_non_null(strstr(out_text, "y from 48 rows"));
    assert_non_null(strstr(out_text, "12 rows held out of training"));
    assert_non_null(strstr(out_text, "    RMSE "));
}

static void wrong_requests_are_one_line(void **state)
{
    (void)state;
    make_messy();
    run_badly("train messy.csv --target y -o m.safetensors --only town --drop size",
              "--only and --drop exclude each other");
    run_badly("train messy.csv --target y -o m.safetensors --drop town,,size",
              "--drop: expected column names");
    run_badly("train messy.csv --target y -o m.safetensors --missing forget",
              "--missing");
    run_badly("train messy.csv --target y -o m.safetensors --missing refuse",
              "messy.csv:");
    run_badly("train messy.csv --target y -o m.safetensors --test-share 0.001",
              "a held-out share of 0.001");
}

/* More rows than are held at a time: the same as of its parts, in a file and on stdout.
 */
static void long_tables_go_by_in_blocks(void **state)
{
    (void)state;
    make_messy();
    run_shell("awk 'BEGIN { print \"n,x,y\"; for (i = 0; i < 70000; i++)"
              " print \"r\" i \",\" i % 977 / 100 \",\" i % 31 }' > long.csv;"
              " head -2001 long.csv > train.csv; head -40001 long.csv > one.csv;"
              " (head -1 long.csv; tail -30000 long.csv) > two.csv");
    run_well("train train.csv --target y --id n --epochs 1 --mle-epochs 1 --net"
             " 'dense 2, relu, dense 1' -o l.safetensors -q");
    run_well("predict l.safetensors long.csv --draws 2 -q -o all.csv");
    run_well("predict l.safetensors one.csv --draws 2 -q -o p1.csv");
    run_well("predict l.safetensors two.csv --draws 2 -q -o p2.csv");
    run_shell("(cat p1.csv; tail -30000 p2.csv) | cmp - all.csv");
    char line[512];
    snprintf(line, sizeof line,
             "%s predict l.safetensors long.csv --draws 2 -q | cmp -"
             " all.csv",
             program());
    run_shell(line);
    run_shell("echo 'r1,red,2' >> long.csv");
    run_badly("predict l.safetensors long.csv --draws 2", "long.csv:70002: not a number");
    run_badly("predict l.safetensors long.csv --draws 2 -o none.csv", "long.csv:70002");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_messy_table_is_learnt),
        cmocka_unit_test(rows_are_held_out),
        cmocka_unit_test(wrong_requests_are_one_line),
        cmocka_unit_test(long_tables_go_by_in_blocks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
