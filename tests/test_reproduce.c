/* test_reproduce.c: studies read back from their files, stamps that see what was
 * changed, and runs that are skipped, stopped, killed and repeated to the same bytes. */
#include "scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "crossbayes/extend.h"
#include "base/outfile.h"
#include "crossbayes/studies.h"
#include "failalloc.h"
#include "folder.h"
#include "reproduce/stamp.h"
#include "study/study.h"

/* ---- studies on disk */

static void studies_are_read_back(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b, \"quoted\""};
    const double cells[] = {1.0 / 3, NAN, INFINITY, -INFINITY, -0.0, 5e-324};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_study *study = NULL, *back = NULL;
    xb_table *t = NULL;
    assert_ok(ctx, xb_study_new(ctx, &study, "made-up", "none", UINT64_MAX));
    assert_ok(ctx, xb_study_add_fact(ctx, study, "x", 0.1, 1e-300, "with %d %%", 5));
    assert_ok(ctx, xb_study_add_fact(ctx, study, "y", -1e300, NAN, "exact"));
    assert_ok(ctx, xb_study_add_finding(ctx, study, XB_FINDING_DIFFERS, "a word", "so"));
    assert_ok(ctx, xb_study_new_table(ctx, study, &t, "t", 3, 2, names));
    for (int i = 0; i < 6; i++) xb_table_set(t, i / 2, i % 2, cells[i]);
    assert_ok(ctx, xb_study_set_command(ctx, study, "crossbayes made it"));
    assert_ok(ctx, xb_study_write(ctx, study, s.dir));
    assert_ok(ctx, xb_study_read(ctx, &back, s.dir, "made-up"));
    char *before = NULL, *after = NULL;
    assert_ok(ctx, xb_study_json(ctx, &before, study));
    assert_ok(ctx, xb_study_json(ctx, &after, back));
    assert_string_equal(before, after);
    const xb_table *u = xb_study_table(back, "t");
    assert_string_equal(xb_table_column_name(u, 1), names[1]);
    for (int i = 0; i < 6; i++) {
        double x = xb_table_get(u, i / 2, i % 2);
        assert_true(isnan(cells[i]) ? isnan(x) : memcmp(&x, &cells[i], sizeof x) == 0);
    }
    free(before);
    free(after);
    xb_study_destroy(back);
    back = NULL;
    scratch_write(&s, "made-up_t.csv", "a,b\n1,x\n", 8);
    assert_int_equal(xb_study_read(ctx, &back, s.dir, "made-up"), XB_E_INPUT);
    scratch_write(&s, "made-up_t.csv", "a,b\n1,2\n", 8); /* one row, not three */
    assert_int_equal(xb_study_read(ctx, &back, s.dir, "made-up"), XB_E_INPUT);
    assert_int_equal(xb_study_read(ctx, &back, s.dir, "other"), XB_E_INPUT);
    assert_null(back);
    xb_study_destroy(study);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* ---- stamps */

static bool exists(scratch *s, const char *name)
{
    return access(scratch_path(s, name), F_OK) == 0;
}

static unsigned standing(xb_ctx *ctx, const xb_stamp *stamp)
{
    unsigned there = 0;
    assert_ok(ctx, xb_stamp_check(ctx, &there, stamp));
    return there;
}

static void stamps_see_changes(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    const xb_stamp stamp = {s.dir, "laws", "build 1, seed 1"};
    const xb_stamp other = {s.dir, "laws", "build 1, seed 2"};
    char text[4096];
    assert_int_equal(standing(ctx, &stamp), 0); /* none */
    scratch_write(&s, "laws.json", "{}", 2);
    scratch_write(&s, "laws_x.csv", "1\n", 2);
    scratch_write(&s, "notes.txt", "mine", 4);
    assert_ok(ctx, xb_stamp_write(ctx, &stamp, 3));
    assert_int_equal(standing(ctx, &stamp), 3);
    assert_int_equal(standing(ctx, &other), 0); /* another option */
    scratch_write(&s, "notes.txt", "mine, still", 11);
    assert_int_equal(standing(ctx, &stamp), 3); /* not its business */
    scratch_write(&s, "laws_x.csv", "2\n", 2);  /* same size */
    assert_int_equal(standing(ctx, &stamp), 0);
    scratch_write(&s, "laws_x.csv", "1\n", 2);
    assert_int_equal(standing(ctx, &stamp), 3);
    unlink(scratch_path(&s, "laws_x.csv"));
    assert_int_equal(standing(ctx, &stamp), 0);
    scratch_write(&s, "laws_x.csv", "1\n", 2);
    size_t size = scratch_read(scratch_path(&s, "stamp.json"), text, sizeof text);
    for (size_t cut = 0; cut + 3 < size; cut += 7) { /* the last bytes are "}\n" */
        scratch_write(&s, "stamp.json", text, cut);
        assert_int_equal(standing(ctx, &stamp), 0);
    }
    scratch_write(&s, "stamp.json", text, size);
    assert_int_equal(standing(ctx, &stamp), 3);
    scratch_write(&s, "laws.svg.tmp-a1b2c3", "half", 4);
    assert_int_equal(mkdir(scratch_path(&s, ".figure-a1b2c3"), 0777), 0);
    xb_sweep(s.dir);
    assert_int_equal(folder_count(s.dir), 4);
    folder_empty(s.dir);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Memory that is out says nothing about what is there: neither that it does not stand,
 * nor that it may be thrown away. */
static void want_of_memory_loses_nothing(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    const xb_stamp stamp = {s.dir, "laws", "build 1, seed 1"};
    xb_status status = XB_E_MEMORY;
    scratch_write(&s, "laws.json", "{}", 2);
    assert_ok(ctx, xb_stamp_write(ctx, &stamp, 3));
    for (int k = 0; status == XB_E_MEMORY && fail_alloc_after(k); k++) {
        unsigned there = 0;
        status = xb_stamp_check(ctx, &there, &stamp);
        assert_true(!fail_alloc_happened() || status == XB_E_MEMORY);
        assert_int_equal(there, status == XB_OK ? 3 : 0);
    }
    assert_ok(ctx, status);
    folder_empty(s.dir);
    assert_ok(ctx, xb_stamp_work_open(ctx, s.dir, "seed 1\n"));
    scratch_write(&s, "net.safetensors", "hours", 5);
    status = XB_E_MEMORY;
    for (int k = 0; status == XB_E_MEMORY && fail_alloc_after(k); k++) {
        status = xb_stamp_work_open(ctx, s.dir, "seed 1\n");
        (void)fail_alloc_happened();
        assert_true(exists(&s, "net.safetensors"));
    }
    assert_ok(ctx, status);
    folder_empty(s.dir);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* What a new run does not make goes, after all that it makes is there. */
static void older_files_go_last(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    const xb_stamp stamp = {s.dir, "laws", "build 1, seed 1"};
    xb_older older = {0};
    scratch_write(&s, "laws.json", "{}", 2);
    scratch_write(&s, "laws_old.csv", "1\n", 2);
    scratch_write(&s, "notes.txt", "mine", 4);
    assert_int_equal(mkdir(scratch_path(&s, "laws_mine"), 0777), 0); /* no study's file */
    scratch_write(&s, "laws_mine/thesis.txt", "years", 5);
    scratch_write(&s, "laws.svg.tmp-a1b2c3", "half", 4);
    assert_ok(ctx, xb_older_note(ctx, &older, &stamp));
    assert_int_equal(folder_count(s.dir), 4); /* only what is half-written is gone */
    assert_ok(ctx, xb_outfile_text(ctx, scratch_path(&s, "laws.json"), "{}"));
    assert_ok(ctx, xb_outfile_text(ctx, scratch_path(&s, "laws_new.csv"), "1\n"));
    xb_older_remove(&older, &stamp);
    assert_true(exists(&s, "laws.json") && exists(&s, "laws_new.csv"));
    assert_true(exists(&s, "notes.txt") && !exists(&s, "laws_old.csv"));
    assert_true(exists(&s, "laws_mine/thesis.txt"));
    assert_ok(ctx, xb_stamp_write(ctx, &stamp, 1));
    assert_int_equal(standing(ctx, &stamp), 1);
    xb_older_free(&older);
    folder_empty(s.dir);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void work_is_kept_or_begun_anew(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    assert_ok(ctx, xb_stamp_work_open(ctx, s.dir, "one\n"));
    scratch_write(&s, "net", "weights", 7);
    scratch_write(&s, "net.tmp-x1x1x1", "wei", 3);
    assert_ok(ctx, xb_stamp_work_open(ctx, s.dir, "one\n"));
    assert_true(exists(&s, "net"));
    assert_false(exists(&s, "net.tmp-x1x1x1"));
    assert_ok(ctx, xb_stamp_work_open(ctx, s.dir, "one, longer\n"));
    assert_false(exists(&s, "net"));
    scratch_write(&s, "net", "weights", 7);
    unlink(scratch_path(&s, "made-for.txt")); /* a folder of someone else's */
    assert_int_equal(xb_stamp_work_open(ctx, s.dir, "one\n"), XB_E_INPUT);
    assert_true(exists(&s, "net"));
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* ---- runs */

/* Sum over all files of a folder and those in it: names and bytes, in whatever order
 * they come. `root` is cut off the names. */
static uint64_t tree_sum(const char *dir, size_t root)
{
    uint64_t sum = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        char path[1024];
        int64_t bytes = 0;
        assert_true(snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < 1024);
        uint64_t hash = xb_hash_bytes(0, path + root, strlen(path + root));
        if (e->d_type == DT_DIR)
            hash += tree_sum(path, root);
        else
            assert_int_equal(xb_file_hash(NULL, &hash, &bytes, path), XB_OK);
        sum += hash;
    }
    closedir(d);
    return sum;
}

static uint64_t tree_of(const char *dir) { return tree_sum(dir, strlen(dir)); }

static xb_reproduce_options quick(unsigned figures)
{
    xb_reproduce_options o = xb_reproduce_options_default();
    o.effort = XB_EFFORT_QUICK;
    o.formats = XB_FIGURE_SVG;
    o.figures = figures;
    return o;
}

static xb_figure_state run(xb_ctx *ctx, const char *dir, const xb_reproduce_options *o,
                           int figure)
{
    xb_reproduction *r = NULL;
    assert_ok(ctx, xb_reproduce(ctx, &r, dir, o));
    xb_figure_state state = xb_reproduction_figure(r, figure);
    for (int i = 0; i < xb_reproduction_count(r); i++)
        assert_true(strlen(xb_reproduction_claim(r, i).number) > 0);
    xb_reproduction_destroy(r);
    return state;
}

static void remove_tree(scratch *s)
{
    folder_empty(s->dir);
    scratch_remove(s);
}

/* The page names claims by what they say, not by their keys. */
static void assert_sentences(xb_ctx *ctx, scratch *s, const xb_reproduce_options *o)
{
    enum { PAGE = 1 << 22 };
    char *page = malloc(PAGE);
    assert_true(scratch_read(scratch_path(s, "index.html"), page, PAGE) < PAGE - 1);
    const char *end = strstr(page, "</nav>");
    assert_non_null(end);
    assert_non_null(strstr(page, " cannot be decided."));
    *strstr(page, "<main>") = '\0'; /* the top: headline and list of findings */
    int absent = 0;
    for (const char *p = page; (p = strstr(p, "<p class=\"verdict\">Not made yet.</p>"));
         p++)
        absent++;
    assert_int_equal(absent, XB_PAPER_FIGURES - 1);
    assert_non_null(strstr(page, "claims of the paper agree with our numbers.</p>"));
    xb_reproduction *r = NULL;
    assert_ok(ctx, xb_reproduce(ctx, &r, s->dir, o));
    for (int i = 0; i < xb_reproduction_count(r); i++) {
        xb_claim c = xb_reproduction_claim(r, i);
        if (strchr(c.id, '-') && strstr(page, c.id)) fail_msg("the page says %s", c.id);
    }
    assert_non_null(strstr(page, "“The device&#39;s noise is not quite Gaussian.”"));
    xb_reproduction_destroy(r);
    free(page);
}

/* Fig. 1 again and again: only what changed is made, and always to the same bytes. */
static void what_is_done_is_kept(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_reproduce_options o = quick(1u << 1);
    xb_ctx_set_threads(ctx, 1);
    assert_int_equal(run(ctx, s.dir, &o, 1), XB_FIGURE_MADE);
    uint64_t whole = tree_of(s.dir);
    assert_sentences(ctx, &s, &o);
    xb_ctx_set_threads(ctx, 3);
    assert_int_equal(run(ctx, s.dir, &o, 1), XB_FIGURE_KEPT);
    assert_true(tree_of(s.dir) == whole);
    scratch_write(&s, "fig1/laws_densities.csv", "x\n1\n", 4);
    assert_int_equal(run(ctx, s.dir, &o, 1), XB_FIGURE_MADE);
    assert_true(tree_of(s.dir) == whole);
    assert_int_equal(truncate(scratch_path(&s, "fig1/stamp.json"), 100), 0);
    assert_int_equal(run(ctx, s.dir, &o, 1), XB_FIGURE_MADE);
    assert_true(tree_of(s.dir) == whole);
    o.formats |= XB_FIGURE_PNG; /* drawn again, not computed again */
    assert_int_equal(run(ctx, s.dir, &o, 1), XB_FIGURE_MADE);
    assert_true(exists(&s, "fig1/laws.png"));
    o.seed = 2;
    assert_int_equal(run(ctx, s.dir, &o, 1), XB_FIGURE_MADE);
    o.figures = 1u << 7; /* Fig. 1 is there and is told of */
    assert_int_equal(run(ctx, s.dir, &o, 1), XB_FIGURE_KEPT);
    assert_int_equal(run(ctx, s.dir, &o, 3), XB_FIGURE_ABSENT);
    remove_tree(&s);
    xb_ctx_destroy(ctx);
}

static bool stop_at_third(void *arg, const xb_progress *event)
{
    int *events = arg;
    assert_true(event->done >= 0 && event->done <= event->total);
    return ++*events < 3;
}

static void a_stopped_run_leaves_no_page(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_reproduce_options o = quick(1u << 2);
    xb_reproduction *r = NULL;
    int events = 0;
    xb_ctx_set_progress(ctx, stop_at_third, &events);
    assert_int_equal(xb_reproduce(ctx, &r, s.dir, &o), XB_E_CANCELLED);
    assert_null(r);
    assert_int_equal(events, 3);
    assert_false(exists(&s, "index.html"));
    assert_false(exists(&s, "fig2/stamp.json"));
    remove_tree(&s);
    xb_ctx_destroy(ctx);
}

/* Before anything is done: the faces' name goes into commands and JSON at the end. */
static void impossible_runs_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"it's", "faces\xff"};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_reproduction *r = NULL;
    xb_reproduce_options o = quick(1u << 9);
    assert_int_equal(xb_reproduce(ctx, &r, s.dir, &o), XB_E_ARGUMENT);
    for (int i = 0; i < XB_COUNT(names); i++) {
        o = quick(1u << 1);
        assert_int_equal(mkdir(scratch_path(&s, names[i]), 0777), 0);
        o.faces = s.path;
        assert_int_equal(xb_reproduce(ctx, &r, s.dir, &o), XB_E_ARGUMENT);
        assert_non_null(strstr(xb_ctx_message(ctx), "UTF-8"));
    }
    remove_tree(&s);
    xb_ctx_destroy(ctx);
}

/* The program, killed after `ms`, or left alone (ms < 0). True if it came to its end. */
static bool run_program(const char *dir, int ms)
{
    extern char **environ;
    char program[4096], out[128];
    snprintf(program, sizeof program, "%s", getenv("XB_PROGRAM"));
    snprintf(out, sizeof out, "%s", dir);
    char name[] = "reproduce", only[] = "--only", which[] = "laws,quadrature",
         effort[] = "--quick", to[] = "-o", format[] = "--format",
         svg[] = "svg,pdf"; /* a PDF has a date */
    char *const argv[] = {program, name, effort, only, which, format, svg, to, out, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t pid = 0;
    int status = 0;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    assert_int_equal(posix_spawn(&pid, program, &quiet, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&quiet);
    if (ms >= 0) {
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
        kill(pid, SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Killed at ever later times until it comes through: the files are those of a run that
 * was left alone. */
static void a_killed_run_goes_on(void **state)
{
    (void)state;
    if (!getenv("XB_PROGRAM") || SANITIZED) {
        print_message("skipped: a killed run (no program, or a sanitised one)\n");
        return;
    }
    scratch whole = scratch_make(), cut = scratch_make();
    assert_true(run_program(whole.dir, -1));
    for (int ms = 50; ms < 60000 && !run_program(cut.dir, ms); ms *= 2) {
    }
    assert_true(run_program(cut.dir, -1));
    assert_true(tree_of(cut.dir) == tree_of(whole.dir));
    remove_tree(&whole);
    remove_tree(&cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(studies_are_read_back),
        cmocka_unit_test(stamps_see_changes),
        cmocka_unit_test(want_of_memory_loses_nothing),
        cmocka_unit_test(older_files_go_last),
        cmocka_unit_test(work_is_kept_or_begun_anew),
        cmocka_unit_test(what_is_done_is_kept),
        cmocka_unit_test(a_stopped_run_leaves_no_page),
        cmocka_unit_test(impossible_runs_are_refused),
        cmocka_unit_test(a_killed_run_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
