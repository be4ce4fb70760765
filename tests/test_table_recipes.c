/* test_table_recipes.c: tables of any kind from memory and arrays, in models, with rows
 * held out, and where memory runs out. Columns are in test_tables.c. */
#include "tabletest.h"

#include <math.h>

#include "base/ctx.h"
#include "failalloc.h"

/* ---- from memory */

static void columns_in_memory_are_the_same_table(void **state)
{
    (void)state;
    static const char *const town[] = {"Oslo", "Rome", NULL, "Oslo", "", "12.50"};
    static const double age[] = {1, NAN, 3, 4, NAN, 6};
    static const double y[] = {1, 2, 3, 4, 5, 6};
    const xb_column columns[] = {{.name = "town", .values = town, .type = XB_COLUMN_TEXT},
                                 {.name = "age", .values = age},
                                 {.name = "y", .values = y}};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = learning("y");
    xb_frame *f = NULL, *same = NULL, *g = NULL;
    assert_ok(ctx, xb_frame_create(ctx, &f, columns, 3, 6, &opt));
    same = read_text(
        ctx, &s, "town,age,y\nOslo,1,1\nRome,,2\n,3,3\nOslo,4,4\n,,5\n12.5,6,6\n", &opt);
    assert_int_equal(xb_frame_feature_count(f), 6);
    assert_int_equal(xb_frame_feature_count(same), 6);
    for (int64_t i = 0; i < 6; i++) {
        assert_string_equal(xb_frame_feature_name(f, i), xb_frame_feature_name(same, i));
        assert_row_is(f, i, xb_frame_values(same) + 6 * i, 6);
    }
    xb_frame_options later = xb_frame_options_default();
    later.recipe = xb_frame_recipe(f);
    later.id = "y";
    assert_ok(ctx, xb_frame_create(ctx, &g, columns, 3, 6, &later));
    for (int64_t i = 0; i < 6; i++) assert_row_is(g, i, xb_frame_values(f) + 6 * i, 6);
    assert_string_equal(xb_frame_row_name(g, 3), "4");
    xb_frame_destroy(g);
    opt.missing = XB_MISSING_REFUSE;
    g = NULL;
    assert_int_equal(xb_frame_create(ctx, &g, columns, 3, 6, &opt), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "row 2, column 'age' is not a finite"));
    xb_frame_destroy(f);
    xb_frame_destroy(same);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void arrays_may_have_gaps(void **state)
{
    (void)state;
    const double x[] = {1, 10, 0, NAN, 20, 1, 3, 30, 2};
    const int64_t shape[] = {3, 3};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame *f = NULL;
    assert_ok(ctx, xb_npy_write(ctx, scratch_path(&s, "t.npy"), x, XB_F64, shape, 2));
    xb_frame_options opt = learning("3");
    assert_ok(ctx, xb_frame_read(ctx, &f, s.path, &opt));
    assert_names(f, (const char *const[]){"1", "1 missing", "2"}, 3);
    assert_row(f, 1, 2, 1, 20);
    xb_frame_options later = xb_frame_options_default();
    later.recipe = xb_frame_recipe(f);
    xb_frame *g = NULL;
    assert_ok(ctx, xb_frame_read(ctx, &g, s.path, &later));
    assert_row(g, 1, 2, 1, 20);
    xb_frame_destroy(g);
    xb_frame_destroy(f);
    f = NULL;
    opt.missing = XB_MISSING_REFUSE;
    assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_INPUT);
    assert_non_null(
        strstr(xb_ctx_message(ctx), "row 2, column 1 is not a finite number"));
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* ---- in a model */

static xb_model *train_small(xb_ctx *ctx, const xb_frame *frame)
{
    xb_model *model = NULL;
    xb_train_options opt = xb_train_options_default();
    xb_train_data data = xb_train_data_of(frame);
    opt.net = "dense 4, relu, dense 1";
    opt.epochs = opt.mle_epochs = 2;
    assert_ok(ctx, xb_train(ctx, &model, NULL, &data, &opt));
    return model;
}

static void models_remember_the_table(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame *train = NULL, *a = NULL, *b = NULL;
    xb_model *back = NULL;
    xb_frame_options opt = learning("y");
    opt.id = "who";
    assert_ok(ctx, xb_frame_read(ctx, &train, XB_FIXTURES "/messy.csv", &opt));
    xb_model *model = train_small(ctx, train);
    assert_ok(ctx, xb_model_save(ctx, model, scratch_path(&s, "m.safetensors")));
    assert_ok(ctx, xb_model_load(ctx, &back, s.path));
    assert_int_equal(xb_recipe_feature_count(xb_model_recipe(back)),
                     xb_frame_feature_count(train));
    assert_ok(ctx, xb_model_frame_read(ctx, &a, back, XB_FIXTURES "/messy_new.csv", true,
                                       NULL));
    assert_ok(ctx, xb_model_frame_read(ctx, &b, model, XB_FIXTURES "/messy_new.csv",
                                       false, NULL));
    assert_string_equal(xb_frame_id(a), "who"); /* as in training */
    assert_string_equal(xb_frame_row_name(a, 2), "person 2");
    assert_non_null(xb_frame_target(a));
    assert_null(xb_frame_target(b));
    const int64_t n = xb_frame_feature_count(b);
    for (int64_t i = 0; i < xb_frame_row_count(b); i++)
        assert_row_is(a, i, xb_frame_values(b) + i * n, n);
    xb_frame_destroy(a);
    xb_frame_destroy(b);
    xb_frame_destroy(train);
    xb_model_destroy(back);
    xb_model_destroy(model);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* A model of plain numbers has no recipe in its file, and fills with its means. */
static void plain_models_fill_with_their_means(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = learning("y");
    xb_frame *train = read_text(ctx, &s, "a,b,y\n1,5,1\n2,7,2\n6,9,2\n", &opt);
    assert_null(xb_frame_recipe(train));
    xb_model *model = train_small(ctx, train), *back = NULL;
    char bytes[4096];
    assert_ok(ctx, xb_model_save(ctx, model, scratch_path(&s, "m.safetensors")));
    assert_true(scratch_read(s.path, bytes, sizeof bytes) > 8); /* a size, then JSON */
    assert_non_null(strstr(bytes + 8, "\"features\""));
    assert_null(strstr(bytes + 8, "\"table\""));
    assert_ok(ctx, xb_model_load(ctx, &back, s.path));
    scratch_write(&s, "t.csv", "b,a\n1,\n?,4\n", 11);
    xb_frame *f = NULL;
    assert_ok(ctx, xb_model_frame_read(ctx, &f, back, s.path, false, NULL));
    assert_row(f, 0, 3, 1);
    assert_row(f, 1, 4, 7);
    assert_note(
        f, "filled with the training mean (none were missing in training): a (1 of 2),"
           " b (1 of 2)");
    xb_frame_destroy(f);
    f = NULL;
    xb_frame_options strict = xb_frame_options_default();
    strict.missing = XB_MISSING_REFUSE;
    assert_int_equal(xb_model_frame_read(ctx, &f, back, s.path, false, &strict),
                     XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "t.csv:2: a missing value (column 'a')"));
    xb_frame_destroy(train);
    xb_model_destroy(back);
    xb_model_destroy(model);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* ---- rows held out */

static int64_t row_of(const xb_frame *f, int64_t i)
{
    return (int64_t)xb_frame_values(f)[i * xb_frame_feature_count(f)];
}

enum { ROWS = 60, HELD = 15 };

static xb_frame_options holding_out(uint64_t seed)
{
    xb_frame_options opt = learning("y");
    opt.test_share = (double)HELD / ROWS;
    opt.test_seed = seed;
    return opt;
}

/* The same rows whatever else is in the table; the others and they are all there is, each
 * in its order. */
static void rows_are_held_out_by_the_seed(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char *numbers = many_rows(ROWS, "n,x,y", "I,D.5,V\n");
    char *words = many_rows(ROWS, "n,c,y", "I,wV,V\n");
    xb_frame_options opt = holding_out(7);
    xb_frame *f = read_text(ctx, &s, numbers, &opt), *g = read_text(ctx, &s, words, &opt);
    assert_int_equal(xb_frame_test_count(f), HELD);
    assert_int_equal(xb_train_data_of(f).n, ROWS - HELD);
    bool there[ROWS] = {false};
    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t row = row_of(f, i);
        assert_int_equal(row_of(g, i), row);
        assert_false(there[row]);
        there[row] = true;
        if (i > 0 && i != ROWS - HELD) assert_true(row > row_of(f, i - 1));
        assert_true(xb_frame_target(f)[i] == (double)(row * row % 17));
    }
    xb_frame_destroy(f);
    opt = holding_out(8);
    f = read_text(ctx, &s, numbers, &opt);
    bool same = true;
    for (int64_t i = ROWS - HELD; i < ROWS; i++) same &= row_of(f, i) == row_of(g, i);
    assert_false(same);
    xb_frame_destroy(f);
    f = NULL;
    opt.test_share = 0.01;
    assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_INPUT);
    assert_non_null(
        strstr(xb_ctx_message(ctx), "a held-out share of 0.01 of 60 rows is 0"));
    for (int i = 0; i < 3; i++) {
        opt.test_share = (double[]){-0.1, 1, NAN}[i];
        assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_ARGUMENT);
        assert_non_null(strstr(xb_ctx_message(ctx), "expected 0 or more, and below 1"));
    }
    xb_frame_destroy(g);
    free(numbers);
    free(words);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* A word and a gap that only a row held out has. */
static void nothing_is_learnt_from_rows_held_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char *numbers = many_rows(ROWS, "n,x,y", "I,D.5,V\n");
    const xb_frame_options opt = holding_out(7);
    xb_frame *f = read_text(ctx, &s, numbers, &opt);
    const int64_t first = row_of(f, ROWS - HELD);
    xb_frame_destroy(f);
    char *p = numbers + sprintf(numbers, "n,c,a,y\n");
    for (int64_t i = 0; i < ROWS; i++)
        p += sprintf(p, "%d,%s,%s,%d\n", (int)i,
                     i == first ? "once"
                     : i % 2    ? "u"
                                : "v",
                     i == first ? ""
                     : i % 3    ? "5"
                                : "6",
                     (int)i % 7);
    f = read_text(ctx, &s, numbers, &opt);
    static const char *const names[] = {"n", "c=u", "c=v", "a"};
    assert_names(f, names, 4);
    assert_int_equal(row_of(f, ROWS - HELD), first);
    assert_true(xb_frame_values(f)[(ROWS - HELD) * 4 + 1] == 0);
    assert_true(xb_frame_values(f)[(ROWS - HELD) * 4 + 2] == 0);
    assert_close(xb_frame_values(f)[(ROWS - HELD) * 4 + 3],
                 xb_recipe_column_fill(xb_frame_recipe(f), 2), 1e-15);
    xb_frame_destroy(f);
    free(numbers);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    static const char text[] = "a,b,when,y\n1,x,2020-01-01,1\n,y,2020-01-02,2\n3,?,2020-"
                               "01-04,3\n4,x,1999-02-03,4\n";
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = learning("y"), later = xb_frame_options_default();
    opt.use_anyway = (const char *const[]){"when"};
    opt.n_use_anyway = 1;
    opt.test_share = 0.3;
    xb_frame *whole = read_text(ctx, &s, text, &opt);
    later.recipe = xb_frame_recipe(whole);
    later.id = "b";
    for (int apply = 0; apply < 2; apply++)
        for (int k = 0; fail_alloc_after(k); k++) {
            xb_frame *f = NULL;
            xb_status status = xb_frame_read(ctx, &f, s.path, apply ? &later : &opt);
            bool happened = fail_alloc_happened();
            xb_frame_destroy(f);
            if (!happened) {
                assert_int_equal(status, XB_OK);
                assert_true(k > 10);
                break;
            }
            assert_int_equal(status, XB_E_MEMORY);
            assert_null(f);
        }
    fail_alloc_after(-1);
    xb_frame_destroy(whole);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_in_memory_are_the_same_table),
        cmocka_unit_test(arrays_may_have_gaps),
        cmocka_unit_test(models_remember_the_table),
        cmocka_unit_test(plain_models_fill_with_their_means),
        cmocka_unit_test(rows_are_held_out_by_the_seed),
        cmocka_unit_test(nothing_is_learnt_from_rows_held_out),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
