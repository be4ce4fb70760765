/* test_table_blocks.c: long and wide tables: rows a block at a time, numbers in a file in
 * place of memory, thousands of columns. */
#include "scratch.h"

#include "base/ctx.h"
#include "data/rows.h"
#include "data/store.h"

enum { ROWS = 1000 };

static void write_table(scratch *s, int rows)
{
    FILE *f = fopen(scratch_path(s, "t.csv"), "w");
    assert_non_null(f);
    fprintf(f, "who,town,a,b,y\n");
    for (int i = 0; i < rows; i++) {
        fprintf(f, "p%d,%s,", i, i % 3 == 0 ? "Oslo" : i % 3 == 1 ? "Rome" : "?");
        if (i % 5 != 2) fprintf(f, "%d.5", i * 7 % 31);
        fprintf(f, ",%d,%d\n", i, i % 11);
    }
    fclose(f);
}

/* What was given so far. */
typedef struct taken {
    double *value; /* [rows][features] */
    char last[16];
    int64_t rows, blocks, most;
} taken;

static bool take(void *arg, const xb_frame *block)
{
    taken *t = arg;
    const int64_t n = xb_frame_row_count(block), width = xb_frame_feature_count(block);
    assert_int_equal(xb_frame_first(block), t->rows);
    memcpy(t->value + t->rows * width, xb_frame_values(block),
           (size_t)(n * width) * sizeof(double));
    if (n > 0 && xb_frame_id(block))
        snprintf(t->last, sizeof t->last, "%s", xb_frame_row_name(block, n - 1));
    t->rows += n;
    t->blocks++;
    return t->blocks != t->most;
}

static void compare_blocks(xb_ctx *ctx, const char *path, const xb_recipe *recipe,
                           int64_t block)
{
    xb_frame_options opt = xb_frame_options_default();
    xb_frame *whole = NULL, *rest = NULL;
    opt.recipe = recipe;
    opt.id = "who";
    assert_ok(ctx, xb_frame_read(ctx, &whole, path, &opt));
    const int64_t width = xb_frame_feature_count(whole);
    taken t = {.value = calloc((size_t)(ROWS * width), sizeof(double))};
    opt.block = block;
    opt.on_block = take;
    opt.on_block_arg = &t;
    assert_ok(ctx, xb_frame_read(ctx, &rest, path, &opt));
    assert_int_equal(t.blocks, ROWS / block);
    take(&t, rest);
    assert_int_equal(t.rows, ROWS);
    assert_memory_equal(t.value, xb_frame_values(whole),
                        (size_t)(ROWS * width) * sizeof(double));
    assert_string_equal(t.last, "p999");
    assert_int_equal(xb_frame_note_count(rest), xb_frame_note_count(whole));
    for (int64_t i = 0; i < xb_frame_note_count(rest); i++)
        assert_string_equal(xb_frame_note_at(rest, i), xb_frame_note_at(whole, i));
    xb_frame_destroy(rest);
    xb_frame_destroy(whole);
    free(t.value);
}

static void blocks_are_the_whole_table(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 7, 100, 999, 1000, 5000};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = xb_frame_options_default();
    xb_frame *train = NULL, *none = NULL;
    write_table(&s, ROWS);
    opt.prepare = true;
    opt.target = "y";
    assert_ok(ctx, xb_frame_read(ctx, &train, s.path, &opt));
    for (int i = 0; i < XB_COUNT(sizes); i++)
        compare_blocks(ctx, s.path, xb_frame_recipe(train), sizes[i]);
    taken t = {.value = calloc((size_t)ROWS * 10, sizeof(double)), .most = 2};
    xb_frame_options later = xb_frame_options_default();
    later.recipe = xb_frame_recipe(train);
    later.block = 100;
    later.on_block = take;
    later.on_block_arg = &t;
    assert_int_equal(xb_frame_read(ctx, &none, s.path, &later), XB_E_CANCELLED);
    assert_int_equal(t.rows, 200);
    assert_null(none);
    free(t.value);
    xb_frame_destroy(train);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* An array of 100,000 rows is more than one block of reading. */
static void arrays_come_in_blocks(void **state)
{
    (void)state;
    enum { LONG = 100000, WIDTH = 3, BLOCK = 4096, GAP = 1000 };
    static const int64_t shape[] = {LONG, WIDTH};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame *train = NULL, *rest = NULL;
    double *x = calloc((size_t)LONG * WIDTH, sizeof *x);
    taken t = {.value = calloc((size_t)LONG * WIDTH, sizeof(double))};
    for (int64_t i = 0; i < LONG * WIDTH; i++) x[i] = (double)(i * 7919 % 104729);
    x[GAP * WIDTH] = NAN; /* so that there is a recipe */
    assert_ok(ctx, xb_npy_write(ctx, scratch_path(&s, "x.npy"), x, XB_F64, shape, 2));
    xb_frame_options opt = xb_frame_options_default();
    opt.prepare = true;
    opt.target = "3";
    assert_ok(ctx, xb_frame_read(ctx, &train, s.path, &opt));
    xb_frame_options later = xb_frame_options_default();
    later.recipe = xb_frame_recipe(train);
    later.block = BLOCK;
    later.on_block = take;
    later.on_block_arg = &t;
    assert_ok(ctx, xb_frame_read(ctx, &rest, s.path, &later));
    assert_int_equal(t.blocks, LONG / BLOCK);
    take(&t, rest);
    assert_int_equal(t.rows, LONG);
    assert_int_equal(xb_frame_feature_count(train), WIDTH); /* two columns and a mark */
    assert_memory_equal(t.value, xb_frame_values(train),
                        (size_t)LONG * WIDTH * sizeof *t.value);
    for (int64_t i = 0; i < LONG; i++) {
        assert_true(t.value[i * WIDTH] == x[i * WIDTH] || i == GAP);
        assert_true(t.value[i * WIDTH + 1] == (i == GAP));
        assert_true(t.value[i * WIDTH + 2] == x[i * WIDTH + 1]);
    }
    x[(LONG - 1) * WIDTH] = INFINITY;
    assert_ok(ctx, xb_npy_write(ctx, s.path, x, XB_F64, shape, 2));
    xb_frame_destroy(rest);
    rest = NULL;
    t.rows = t.blocks = 0;
    assert_int_equal(xb_frame_read(ctx, &rest, s.path, &later), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "row 100000, column 1 is not a finite"));
    assert_null(rest);
    xb_frame_destroy(train);
    free(t.value);
    free(x);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Numbers stay where they are put, on both sides of the limit. */
static void fill_store(xb_ctx *ctx, xb_store *s, int64_t limit)
{
    for (int64_t n = 0; n < 5000; n++) {
        assert_ok(ctx, xb_store_grow(ctx, s, n + 1, limit));
        s->at[n] = (double)n;
    }
    xb_store_rest(s);
    for (int64_t n = 0; n < 5000; n++) assert_true(s->at[n] == (double)n);
}

static void large_tables_go_to_a_file(void **state)
{
    (void)state;
#if defined(__EMSCRIPTEN__)
    print_message("skipped: %s: no file can be mapped there\n", __func__);
    skip();
#endif
    xb_ctx *ctx = test_ctx();
    xb_store s = {0};
    fill_store(ctx, &s, 5000);
    assert_null(s.file);
    xb_store_free(&s);
    fill_store(ctx, &s, 700);
    assert_non_null(s.file);
    assert_int_equal(xb_store_grow(ctx, &s, INT64_MAX / 16, 700), XB_E_MEMORY);
    xb_store_free(&s);
    xb_ctx_destroy(ctx);
}

#if !defined(_WIN32) /* where the folder is not told by TMPDIR */
static void large_tables_stay_in_memory_without_a_folder(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_store s = {0};
    const char *folder = getenv("TMPDIR");
    char *before = folder ? strdup(folder) : NULL;
    setenv("TMPDIR", "/nowhere", 1); /* then memory is all there is */
    fill_store(ctx, &s, 700);
    assert_null(s.file);
    xb_store_free(&s);
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
    xb_ctx_destroy(ctx);
}
#endif

static void tables_may_be_wide(void **state)
{
    (void)state;
    enum { COLUMNS = 5000, LINES = 4 };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    FILE *f = fopen(scratch_path(&s, "wide.csv"), "w");
    assert_non_null(f);
    for (int i = 0; i <= LINES; i++)
        for (int k = 0; k < COLUMNS; k++) {
            if (i == 0) fprintf(f, "\"column %d, of many\"", k);
            if (i > 0 && k % 10 == 3) fprintf(f, "%s", i % 2 ? "odd" : "even");
            if (i > 0 && k % 10 != 3) fprintf(f, "%d", i * k + i);
            fputs(k == COLUMNS - 1 ? "\r\n" : ",", f);
        }
    fclose(f);
    xb_frame_options opt = xb_frame_options_default(), later = opt;
    xb_frame *frame = NULL, *again = NULL;
    opt.prepare = true;
    opt.target = "column 4999, of many";
    assert_ok(ctx, xb_frame_read(ctx, &frame, s.path, &opt));
    assert_int_equal(xb_frame_feature_count(frame), COLUMNS - 1 + COLUMNS / 10);
    assert_int_equal(xb_frame_row_count(frame), LINES);
    later.recipe = xb_frame_recipe(frame);
    assert_ok(ctx, xb_frame_read(ctx, &again, s.path, &later));
    assert_memory_equal(xb_frame_values(again), xb_frame_values(frame),
                        (size_t)(LINES * xb_frame_feature_count(frame)) * sizeof(double));
    for (int64_t i = 0; i < xb_frame_note_count(frame); i++)
        assert_true(strlen(xb_frame_note_at(frame, i)) < 512);
    xb_frame_destroy(again);
    xb_frame_destroy(frame);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_the_whole_table),
        cmocka_unit_test(arrays_come_in_blocks),
        cmocka_unit_test(large_tables_go_to_a_file),
#if !defined(_WIN32)
        cmocka_unit_test(large_tables_stay_in_memory_without_a_folder),
#endif
        cmocka_unit_test(tables_may_be_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
