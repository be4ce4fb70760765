/* test_table.c: tables in memory and as CSV, written and read back. */
#include "scratch.h"

#include "base/ctx.h"
#include "failalloc.h"

static const char *const names[] = {"x", "y, scaled", "say \"hi\""};

static xb_table *make(xb_ctx *ctx)
{
    xb_table *t = NULL;
    assert_ok(ctx, xb_table_create(ctx, &t, "demo", 3, 3, names));
    for (int64_t i = 0; i < 3; i++) xb_table_set(t, i, 0, (double)i / 10);
    xb_table_set(t, 0, 1, 1.0 / 3);
    xb_table_set(t, 1, 1, -1e-300);
    xb_table_set(t, 1, 2, -INFINITY);
    xb_table_set(t, 2, 2, INFINITY);
    return t;
}

static void cells_are_kept(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_table *t = make(ctx);
    assert_string_equal(xb_table_name(t), "demo");
    assert_int_equal(xb_table_row_count(t), 3);
    assert_int_equal(xb_table_column_count(t), 3);
    for (int k = 0; k < 3; k++) {
        assert_string_equal(xb_table_column_name(t, k), names[k]);
        assert_int_equal(xb_table_column_find(t, names[k]), k);
    }
    assert_int_equal(xb_table_column_find(t, "z"), -1);
    assert_true(xb_table_get(t, 2, 0) == 0.2);
    assert_true(xb_table_get(t, 0, 1) == 1.0 / 3);
    assert_true(isnan(xb_table_get(t, 0, 2))); /* empty until it is set */
    xb_table_destroy(t);
    xb_table_destroy(NULL);
    xb_ctx_destroy(ctx);
}

static void csv_is_written(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_table *t = make(ctx);
    char text[256];
    assert_ok(ctx, xb_table_write_csv(ctx, t, scratch_path(&s, "t.csv")));
    scratch_read(s.path, text, sizeof text);
    assert_string_equal(text, "x,\"y, scaled\",\"say \"\"hi\"\"\"\n"
                              "0,0.3333333333333333,\n"
                              "0.1,-1e-300,-inf\n"
                              "0.2,,inf\n");
    assert_int_equal(xb_table_write_csv(ctx, t, s.dir), XB_E_IO);
    xb_table_destroy(t);
    assert_ok(ctx, xb_table_read_csv(ctx, &t, "demo", s.path));
    assert_true(isnan(xb_table_get(t, 0, 2)) && xb_table_get(t, 1, 2) == -INFINITY &&
                xb_table_get(t, 2, 2) == INFINITY);
    xb_table_destroy(t);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

/* The same doubles come back, bit by bit. */
static void csv_comes_back(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    static const char *const two[] = {"bits", "u # v"};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_table *t = NULL;
    assert_ok(ctx, xb_table_create(ctx, &t, "bits", ROWS, 2, two));
    xb_stream where = {xb_key_make(1, XB_PURPOSE_TEST), 0, 0, 0};
    for (int64_t i = 0; i < ROWS; i++) {
        uint64_t bits = (uint64_t)xb_stream_word(&where, 2 * i) << 32 |
                        xb_stream_word(&where, 2 * i + 1);
        double value;
        memcpy(&value, &bits, sizeof value);
        xb_table_set(t, i, 0, isfinite(value) ? value : -0.0);
        xb_table_set(t, i, 1, xb_stream_uniform(&where, i));
    }
    assert_ok(ctx, xb_table_write_csv(ctx, t, scratch_path(&s, "b.csv")));
    for (int k = 0; k < 2; k++) {
        double *x = NULL;
        int64_t n = 0;
        assert_ok(ctx, xb_column_read(ctx, &x, &n, s.path, two[k]));
        assert_int_equal(n, ROWS);
        for (int64_t i = 0; i < n; i++) {
            double kept = xb_table_get(t, i, k);
            assert_memory_equal(&x[i], &kept, sizeof kept);
        }
        free(x);
    }
    xb_table_destroy(t);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* An empty cell of a lone column is not a blank line, which would be no row. */
static void lone_columns_keep_their_rows(void **state)
{
    (void)state;
    static const char *const one[] = {"x"};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_table *t = NULL;
    char text[64];
    assert_ok(ctx, xb_table_create(ctx, &t, "one", 2, 1, one));
    xb_table_set(t, 1, 0, 5);
    assert_ok(ctx, xb_table_write_csv(ctx, t, scratch_path(&s, "o.csv")));
    scratch_read(s.path, text, sizeof text);
    assert_string_equal(text, "x\n\"\"\n5\n");
    xb_table_destroy(t);
    assert_ok(ctx, xb_table_create(ctx, &t, "none", 0, 1, one));
    assert_ok(ctx, xb_table_write_csv(ctx, t, s.path));
    scratch_read(s.path, text, sizeof text);
    assert_string_equal(text, "x\n");
    xb_table_destroy(t);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void wrong_tables_are_refused(void **state)
{
    (void)state;
    static const char *const twice[] = {"a", "b", "a"}, *const empty[] = {"a", ""};
    xb_ctx *ctx = test_ctx();
    xb_table *t = NULL;
    assert_int_equal(xb_table_create(ctx, &t, "t", 1, 3, twice), XB_E_ARGUMENT);
    assert_int_equal(xb_table_create(ctx, &t, "t", 1, 2, empty), XB_E_ARGUMENT);
    assert_string_equal(xb_ctx_message(ctx), "column 2 of a table has no name");
    assert_int_equal(xb_table_create(ctx, &t, "t", -1, 1, names), XB_E_ARGUMENT);
    assert_int_equal(xb_table_create(ctx, &t, "t", 1, 0, names), XB_E_ARGUMENT);
    assert_int_equal(xb_table_create(ctx, &t, "t", INT64_MAX, 2, names), XB_E_ARGUMENT);
    assert_int_equal(xb_table_create(ctx, &t, "t", INT64_MAX / 2, 2, names), XB_E_MEMORY);
    int k = 0;
    for (; fail_alloc_after(k); k++) {
        xb_status status = xb_table_create(ctx, &t, "t", 2, 2, names);
        if (!fail_alloc_happened()) break;
        assert_int_equal(status, XB_E_MEMORY);
        assert_null(t);
    }
    assert_int_equal(k, 6);
    xb_table_destroy(t);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_kept),
        cmocka_unit_test(csv_is_written),
        cmocka_unit_test(csv_comes_back),
        cmocka_unit_test(lone_columns_keep_their_rows),
        cmocka_unit_test(wrong_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
