/* The ledger of files: what was read is not written over, by any name; outputs are
 * planned before they are written; a folder of results is replaced as a whole. Every
 * command is walked through by tests/fault/outputs.py. */
#include "base/files.h"

#include <unistd.h>

#include "base/outfile.h"
#include "crossbayes/crossbayes.h"
#include "failalloc.h"
#include "folder.h"
#include "scratch.h"
#include "unixtest.h"

static const char numbers[] = "1\n2\n3\n";

/* A file of numbers, read by the context. */
static void read_numbers(xb_ctx *ctx, const char *path)
{
    double *x = NULL;
    int64_t n = 0;
    assert_ok(ctx, xb_column_read(ctx, &x, &n, path, NULL));
    free(x);
}

/* The message has both parts. */
static void assert_says(const xb_ctx *ctx, const char *one, const char *other)
{
    const char *message = xb_ctx_message(ctx);
    if (!strstr(message, one) || !strstr(message, other))
        fail_msg("'%s' and '%s' are not in: %s", one, other, message);
}

static void assert_holds(const char *path, const char *text)
{
    char found[64];
    scratch_read(path, found, sizeof found);
    assert_string_equal(found, text);
}

/* ---- what was read */

static void what_was_read_is_not_written(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    char input[128], path[128];
    snprintf(input, sizeof input, "%s", scratch_write(&s, "in.csv", numbers, 6));
    read_numbers(ctx, input);
    snprintf(path, sizeof path, "%s", scratch_path(&s, "soft"));
    if (ON_UNIX) {
        assert_int_equal(symlink("in.csv", path), 0);
        assert_int_equal(link(input, scratch_path(&s, "hard")), 0);
    }
    static const char *const names[] = {"in.csv", "./in.csv", "soft", "hard"};
    for (int i = 0; i < (ON_UNIX ? XB_COUNT(names) : 2); i++) {
        assert_int_equal(xb_outfile_text(ctx, scratch_path(&s, names[i]), "lost"),
                         XB_E_ARGUMENT);
        assert_says(ctx, "would overwrite the input", "in.csv");
    }
    assert_holds(input, numbers);
    assert_int_equal(xb_files_written_count(ctx), 0);
    xb_ctx_destroy(ctx);
    ctx = test_ctx(); /* one that has not read it */
    assert_ok(ctx, xb_outfile_text(ctx, input, "new"));
    assert_string_equal(xb_files_written_name(ctx, 0), input);
    assert_int_equal(xb_files_written_count(ctx), 1);
    xb_ctx_destroy(ctx);
    assert_int_equal(scratch_remove(&s), ON_UNIX ? 3 : 1);
}

static void what_was_written_may_be_read_and_written(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    const char *path = scratch_path(&s, "own.csv");
    for (int i = 0; i < 200; i++) {
        assert_ok(ctx, xb_outfile_text(ctx, path, numbers));
        read_numbers(ctx, path);
    }
    assert_ok(ctx, xb_files_input(ctx, path));
    assert_ok(ctx, xb_outfile_text(ctx, path, numbers));
    assert_int_equal(xb_files_written_count(ctx), 1);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* What an earlier run has left, to go on from, is no input; unless it is one. The second
 * file may have the inode of the first, which is gone. */
static void what_a_run_goes_on_from_is_its_own(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    const char *path = scratch_write(&s, "state.csv", numbers, 6);
    assert_ok(ctx, xb_files_own(ctx, path));
    read_numbers(ctx, path);
    assert_ok(ctx, xb_outfile_text(ctx, path, numbers));
    path = scratch_write(&s, "in.csv", numbers, 6);
    read_numbers(ctx, path);
    assert_int_equal(xb_files_own(ctx, path), XB_E_ARGUMENT);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* As many as a folder of images has. */
static void many_files_are_told_apart(void **state)
{
    (void)state;
    enum { MANY = 2000 };
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    char name[32];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%d", i);
        scratch_write(&s, name, numbers, 6);
        if (i % 2 == 0) assert_ok(ctx, xb_files_input(ctx, s.path));
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(xb_files_plan(ctx, scratch_path(&s, name), NULL),
                         i % 2 ? XB_OK : XB_E_ARGUMENT);
    }
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* ---- plans */

static void plans_are_refused_before_the_work(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    char input[128];
    snprintf(input, sizeof input, "%s", scratch_write(&s, "in.csv", numbers, 6));
    assert_ok(ctx, xb_files_input(ctx, input));
    assert_int_equal(xb_files_plan(ctx, input, "the first table"), XB_E_ARGUMENT);
    assert_says(ctx, "the first table would overwrite", "which is an input");
    assert_int_equal(xb_files_plan(ctx, s.dir, NULL), XB_E_ARGUMENT);
    assert_says(ctx, s.dir, "is a directory");
    assert_int_equal(xb_files_plan(ctx, scratch_path(&s, "no/a"), NULL), XB_E_ARGUMENT);
    assert_says(ctx, "the folder ", "/no does not exist; create it first");
    assert_ok(ctx, xb_files_plan(ctx, scratch_path(&s, "a"), "first"));
    assert_ok(ctx, xb_files_plan(ctx, s.path, "first"));
    assert_ok(ctx, xb_files_plan(ctx, s.path, NULL));
    assert_int_equal(xb_files_plan(ctx, scratch_path(&s, "./a"), "second"),
                     XB_E_ARGUMENT);
    assert_says(ctx, "first and second would both write", "a; choose another name");
    assert_int_equal(folder_count(s.dir), 1);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* The input comes second. */
static void inputs_are_held_against_plans(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    double *x = NULL;
    int64_t n = 0;
    const char *path = scratch_write(&s, "t_1.csv", numbers, 6);
    assert_ok(ctx, xb_files_plan_in(ctx, s.dir, "t_*.csv", "the tables"));
    assert_int_equal(xb_column_read(ctx, &x, &n, path, NULL), XB_E_ARGUMENT);
    assert_says(ctx, "the tables would overwrite", "which is an input");
    path = scratch_write(&s, "u_1.csv", numbers, 6);
    read_numbers(ctx, path);
    char deep[160];
    snprintf(deep, sizeof deep, "%s/deep", path);
    assert_int_equal(xb_files_plan_in(ctx, path, "*", NULL), XB_E_ARGUMENT);
    assert_int_equal(xb_files_plan_in(ctx, deep, "*", NULL), XB_E_ARGUMENT);
    assert_says(ctx, "u_1.csv is a file", "expected a folder");
    assert_ok(ctx, xb_files_plan_in(ctx, scratch_path(&s, "new/deep"), "*", NULL));
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

static void what_was_not_planned_is_a_mistake(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_files_plan_only(ctx);
    assert_int_equal(xb_outfile_text(ctx, scratch_path(&s, "a"), "a"), XB_E_IO);
    assert_says(ctx, "internal error", "was not planned");
    assert_ok(ctx, xb_files_plan(ctx, s.path, NULL));
    assert_ok(ctx, xb_files_plan_in(ctx, s.dir, "b_*", NULL));
    assert_ok(ctx, xb_outfile_text(ctx, s.path, "a"));
    assert_ok(ctx, xb_outfile_text(ctx, scratch_path(&s, "b_1"), "b"));
    assert_int_equal(xb_outfile_text(ctx, scratch_path(&s, "c"), "c"), XB_E_IO);
    xb_ctx_destroy(ctx);
    assert_int_equal(scratch_remove(&s), 2);
}

/* ---- stages */

static void write_staged(xb_ctx *ctx, const xb_stage *stage, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", xb_stage_dir(stage), name);
    assert_ok(ctx, xb_outfile_text(ctx, path, "new"));
}

static void a_stage_replaces_all_or_nothing(void **state)
{
    (void)state;
    scratch s = scratch_make();
    char a[128], page[128];
    snprintf(a, sizeof a, "%s", scratch_write(&s, "a", "old", 3));
    snprintf(page, sizeof page, "%s", scratch_write(&s, "page", "old", 3));
    for (int publish = 0; publish < 2; publish++) {
        xb_ctx *ctx = test_ctx();
        xb_stage *stage = NULL;
        assert_ok(ctx, xb_stage_open(ctx, &stage, s.dir));
        write_staged(ctx, stage, "page");
        write_staged(ctx, stage, "a");
        assert_holds(a, "old");
        assert_holds(page, "old");
        assert_int_equal(xb_files_written_count(ctx), 0);
        if (publish)
            assert_ok(ctx,
                      xb_stage_publish(ctx, stage, (const char *const[]){"page", NULL}));
        else
            xb_stage_discard(ctx, stage);
        assert_holds(a, publish ? "new" : "old");
        assert_holds(page, publish ? "new" : "old");
        assert_int_equal(folder_count(s.dir), 2); /* no stage */
        assert_int_equal(xb_files_written_count(ctx) > 1, publish);
        xb_ctx_destroy(ctx);
    }
    scratch_remove(&s);
}

/* The older page goes even if there is no new one; a folder in the way stops it before.
 */
static void a_stage_has_its_last_word_last(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_stage *stage = NULL;
    scratch_write(&s, "page", "old", 3);
    assert_true(xb_os_make_folder(scratch_path(&s, "b")));
    assert_ok(ctx, xb_stage_open(ctx, &stage, s.dir));
    write_staged(ctx, stage, "a");
    write_staged(ctx, stage, "b");
    assert_int_equal(xb_stage_publish(ctx, stage, (const char *const[]){"page", NULL}),
                     XB_E_IO);
    assert_says(ctx, "b: is a directory", "file name");
    assert_holds(scratch_path(&s, "page"), "old");
    assert_int_equal(folder_count(s.dir), 2);
    assert_int_equal(rmdir(scratch_path(&s, "b")), 0);
    assert_ok(ctx, xb_stage_open(ctx, &stage, s.dir));
    write_staged(ctx, stage, "a");
    assert_ok(ctx, xb_stage_publish(ctx, stage, (const char *const[]){"page", NULL}));
    assert_int_equal(access(scratch_path(&s, "page"), F_OK), -1);
    xb_ctx_destroy(ctx);
    assert_int_equal(scratch_remove(&s), 1);
}

static void a_stage_spares_inputs_too(void **state)
{
    (void)state;
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_stage *stage = NULL;
    char path[256];
    read_numbers(ctx, scratch_write(&s, "in.csv", numbers, 6));
    assert_ok(ctx, xb_stage_open(ctx, &stage, s.dir));
    snprintf(path, sizeof path, "%s/in.csv", xb_stage_dir(stage));
    assert_int_equal(xb_outfile_text(ctx, path, "lost"), XB_E_ARGUMENT);
    assert_says(ctx, "would overwrite the input", "in.csv");
    xb_stage_discard(ctx, stage);
    xb_ctx_destroy(ctx);
    assert_int_equal(scratch_remove(&s), 1);
}

/* ---- memory */

static xb_status use_all(xb_ctx *ctx, const char *dir, const char *input)
{
    xb_stage *stage = NULL;
    char path[256];
    XB_TRY(xb_files_input(ctx, input));
    XB_TRY(xb_files_plan_in(ctx, dir, "o*", "here"));
    XB_TRY(xb_files_plan(ctx, input, NULL) == XB_E_MEMORY ? XB_E_MEMORY : XB_OK);
    XB_TRY(xb_stage_open(ctx, &stage, dir));
    snprintf(path, sizeof path, "%s/out", xb_stage_dir(stage));
    xb_status status = xb_outfile_text(ctx, path, "new");
    if (status == XB_OK)
        return xb_stage_publish(ctx, stage, (const char *const[]){"out", NULL});
    xb_stage_discard(ctx, stage);
    return status;
}

static void memory_that_is_out_leaves_the_old(void **state)
{
    (void)state;
    scratch s = scratch_make();
    char input[128], out[128];
    snprintf(input, sizeof input, "%s", scratch_write(&s, "in.csv", numbers, 6));
    snprintf(out, sizeof out, "%s", scratch_write(&s, "out", "old", 3));
    int failed = 0;
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_ctx *ctx = NULL;
        xb_status status = xb_ctx_create(&ctx);
        if (status == XB_OK) status = use_all(ctx, s.dir, input);
        bool happened = fail_alloc_happened();
        assert_int_equal(folder_count(s.dir), 2);
        assert_holds(out, status == XB_OK ? "new" : "old");
        xb_ctx_destroy(ctx);
        if (!happened) {
            assert_int_equal(status, XB_OK);
            break;
        }
        failed += status == XB_E_MEMORY;
    }
    assert_true(failed > 10);
    assert_holds(input, numbers);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_read_is_not_written),
        cmocka_unit_test(what_was_written_may_be_read_and_written),
        cmocka_unit_test(what_a_run_goes_on_from_is_its_own),
        cmocka_unit_test(many_files_are_told_apart),
        cmocka_unit_test(plans_are_refused_before_the_work),
        cmocka_unit_test(inputs_are_held_against_plans),
        cmocka_unit_test(what_was_not_planned_is_a_mistake),
        cmocka_unit_test(a_stage_replaces_all_or_nothing),
        cmocka_unit_test(a_stage_has_its_last_word_last),
        cmocka_unit_test(a_stage_spares_inputs_too),
        cmocka_unit_test(memory_that_is_out_leaves_the_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
