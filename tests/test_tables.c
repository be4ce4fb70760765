/* test_tables.c: tables as people have them: words, missing values, ids, dates, columns
 * that never change; what becomes of them in training, and of later tables by the recipe.
 * tests/fixtures/messy.json is what pandas and scikit-learn make of the same tables. */
#include "tabletest.h"

#include <math.h>

#include <jansson.h>

#include "base/ctx.h"
#include "data/date.h"

/* ---- against pandas and scikit-learn */

static void assert_features(const xb_frame *f, const json_t *expected)
{
    const char *name = NULL;
    json_t *column = NULL;
    int64_t i = 0, n = xb_frame_feature_count(f);
    assert_int_equal(n, json_object_size(expected));
    json_object_foreach((json_t *)(uintptr_t)expected, name, column)
    {
        assert_string_equal(xb_frame_feature_name(f, i), name); /* in this order */
        assert_int_equal(json_array_size(column), xb_frame_row_count(f));
        for (int64_t r = 0; r < xb_frame_row_count(f); r++)
            assert_close(xb_frame_values(f)[r * n + i],
                         json_number_value(json_array_get(column, (size_t)r)), 1e-13);
        i++;
    }
}

static void peers_make_the_same_features(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    json_t *peer = json_load_file(XB_FIXTURES "/messy.json", 0, NULL);
    assert_non_null(peer);
    xb_frame *train = NULL, *new = NULL;
    xb_frame_options opt = learning("y");
    assert_ok(ctx, xb_frame_read(ctx, &train, XB_FIXTURES "/messy.csv", &opt));
    assert_features(train, json_object_get(peer, "train"));
    xb_frame_options later = xb_frame_options_default();
    later.recipe = xb_frame_recipe(train);
    later.id = "who";
    assert_ok(ctx, xb_frame_read(ctx, &new, XB_FIXTURES "/messy_new.csv", &later));
    assert_features(new, json_object_get(peer, "new"));
    char text[128];
    snprintf(text, sizeof text, "town (%lld cells, the first 'Lima')",
             (long long)json_integer_value(json_object_get(peer, "unknown")));
    assert_note(new, text);
    snprintf(text, sizeof text, "none were missing in training): income (%lld of 25)",
             (long long)json_integer_value(json_object_get(peer, "missing_income")));
    assert_note(new, text);
    snprintf(text, sizeof text, "age (%lld of 60)",
             (long long)json_integer_value(json_object_get(peer, "missing_age")));
    assert_note(train, text);
    assert_note(train,
                "left out (dates or times, which would become days since 1970-01-01):"
                " when");
    assert_note(train, "left out (row numbers, judging by name and values): id");
    assert_note(train, "a different text in most rows, like names and ids): who");
    assert_note(train, "left out (the same in every row): source");
    assert_int_equal(xb_frame_left_out(train), 4);
    assert_string_equal(xb_frame_id(new), "who");
    assert_string_equal(xb_frame_row_name(new, 0), "person 0 (new)\nsecond line");
    assert_string_equal(xb_frame_row_name(new, 1), "person 1");
    xb_frame_destroy(new);
    xb_frame_destroy(train);
    json_decref(peer);
    xb_ctx_destroy(ctx);
}

/* ---- columns */

static void words_become_features(void **state)
{
    (void)state;
    static const char text[] = "x,c,y\n1,red,1\n2,blue,2\n3,red,3\n4,1.50,4\n5,1.5,5\n";
    static const char *const names[] = {"x", "c=1.5", "c=blue", "c=red"};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = learning("y");
    xb_frame *f = read_text(ctx, &s, text, &opt);
    assert_names(f, names, 4);
    assert_row(f, 0, 1, 0, 0, 1);
    assert_row(f, 1, 2, 0, 1, 0);
    assert_row(f, 4, 5, 1, 0, 0);
    assert_note(f, "a column of words becomes 3 features of 0 and 1: c (3 words)");
    const xb_recipe *r = xb_frame_recipe(f);
    assert_int_equal(xb_recipe_column_count(r), 2);
    assert_int_equal(xb_recipe_column_kind(r, 1), XB_COLUMN_WORDS);
    assert_int_equal(xb_recipe_word_count(r, 1), 3);
    assert_string_equal(xb_recipe_word_name(r, 1, 2), "red");
    assert_int_equal(xb_recipe_column_find(r, "c"), 1);
    assert_int_equal(xb_recipe_column_find(r, "y"), -1);
    assert_close(xb_recipe_column_fill(r, 0), 3, 1e-15);
    /* another order of columns, an unknown word, a missing one */
    xb_frame_options later = xb_frame_options_default();
    later.recipe = r;
    xb_frame *g = read_text(ctx, &s, "c,z,x\ngreen,9,7\n?,9,8\n1.5e0,9,\n", &later);
    assert_row(g, 0, 7, 0, 0, 0);
    assert_row(g, 1, 8, 0, 0, 0);
    assert_row(g, 2, 3, 1, 0, 0);
    assert_note(g, "words that the training data did not have, encoded as none of the "
                   "known words: c (1 cell,"
                   " the first 'green')");
    assert_note(g, "x (1 of 3), c (1 of 3)");
    xb_frame_destroy(g);
    xb_frame_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Numbers that came before the first word are words of their own. */
static void numbers_become_words_where_words_follow(void **state)
{
    (void)state;
    static const char *const names[] = {"c=1", "c=2.5", "c=L", "c=XL"};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = learning("y");
    xb_frame *f =
        read_text(ctx, &s, "c,y\n2.5,1\n1.0,2\nXL,3\nL,4\nXL,5\n2.50,6\nL,7\n", &opt);
    assert_names(f, names, 4);
    assert_row(f, 0, 0, 1, 0, 0);
    assert_row(f, 1, 1, 0, 0, 0);
    assert_row(f, 2, 0, 0, 0, 1);
    assert_row(f, 5, 0, 1, 0, 0);
    xb_frame_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void missing_values_are_filled_and_flagged(void **state)
{
    (void)state;
    static const char text[] =
        "a,b,y\n1,x,1\nNA,y,2\n3,,3\n?,x,4\nnull,y,5\n5,N/A,6\nNaN,x,7\n,y,8\n";
    static const char *const names[] = {"a", "a missing", "b=x", "b=y", "b missing"};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = learning("y");
    xb_frame *f = read_text(ctx, &s, text, &opt);
    assert_names(f, names, 5);
    assert_row(f, 0, 1, 0, 1, 0, 0);
    assert_row(f, 1, 3, 1, 0, 1, 0);
    assert_row(f, 2, 3, 0, 0, 0, 1);
    assert_row(f, 7, 3, 1, 0, 1, 0);
    assert_note(f, "missing values: a (5 of 8), b (2 of 8)");
    assert_true(xb_recipe_column_flagged(xb_frame_recipe(f), 0));
    xb_frame_destroy(f);
    opt.missing = XB_MISSING_REFUSE;
    f = NULL;
    assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "t.csv:3: a missing value (column 'a')"));
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void misleading_columns_are_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *head, *form, *note;
    } cases[] = {
        {"row_id,x,y", "I,D.5,V\n", "left out (row numbers, judging by name"},
        {"userId,x,y", "I,D.5,V\n", "by name and values): userId"},
        {",x,y", "I,D.5,V\n", "by name and values): column 1"},
        {"t,x,y", "Y-M-D,D,V\n", "left out (dates or times"},
        {"t,x,y", "M/D/Y 12:30,D,V\n", "left out (dates or times"},
        {"t,x,y", "person I,D,V\n", "left out (a different text in most rows"},
        {"t,x,y", "same,D,V\n", "left out (the same in every row): t"},
        {"t,x,y", "1e3,D,V\n", "left out (the same in every row): t"},
        {"t,x,y", ",D,V\n", "left out (empty): t"},
        {"t,x,y", "caf\xE9,D,V\n", "left out (text that is not UTF-8): t"},
    };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = learning("y");
    for (int i = 0; i < XB_COUNT(cases); i++) {
        char *text = many_rows(60, cases[i].head, cases[i].form);
        xb_frame *f = read_text(ctx, &s, text, &opt);
        assert_note(f, cases[i].note);
        assert_names(f, (const char *const[]){"x"}, 1);
        free(text);
        xb_frame_destroy(f);
    }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* What only looks alike stays: whole numbers under another name, ids that repeat, few
 * rows, few words, numbers of a header without names. */
static void features_are_not_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *head, *form;
        int rows;
    } cases[] = {
        {"step,x,y", "I,D.5,V\n", 60}, {"id,x,y", "V,D.5,V\n", 60},
        {"id,x,y", "I.5,D.5,V\n", 60}, {"id,x,y", "I,D.5,V\n", 8},
        {"7,8,9", "I,D.5,V\n", 60},
    };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = learning("3");
    for (int i = 0; i < XB_COUNT(cases); i++) {
        char *text = many_rows(cases[i].rows, cases[i].head, cases[i].form);
        xb_frame *f = read_text(ctx, &s, text, &opt);
        assert_int_equal(xb_frame_feature_count(f), 2);
        assert_null(xb_frame_recipe(f));
        assert_int_equal(xb_frame_note_count(f), 0);
        free(text);
        xb_frame_destroy(f);
    }
    char *text = many_rows(12, "n,x,y", "word I,D,V\n");
    xb_frame *f = read_text(ctx, &s, text, &opt);
    assert_int_equal(xb_frame_feature_count(f), 13); /* twelve words are few */
    free(text);
    xb_frame_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void columns_are_chosen_by_the_user(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char *text = many_rows(60, "id,when,x,c,y", "I,Y-M-D 06:00,D.5,same,V\n");
    xb_frame_options opt = learning("y");
    const char *const keep[] = {"when", "id", "c"}, *const drop[] = {"x"};
    opt.use_anyway = keep;
    opt.n_use_anyway = 3;
    opt.drop = drop;
    opt.n_drop = 1;
    xb_frame *f = read_text(ctx, &s, text, &opt);
    assert_names(f, (const char *const[]){"id", "when", "c=same"}, 3);
    assert_row(f, 1, 1, 10957 + 1.25, 1); /* 2000-01-02 */
    assert_int_equal(xb_recipe_column_kind(xb_frame_recipe(f), 1), XB_COLUMN_DATES);
    xb_frame_options later = xb_frame_options_default();
    later.recipe = xb_frame_recipe(f);
    xb_frame *g = read_text(ctx, &s, "id,when,c\n5,1970-01-02,same\n6,,\n", &later);
    assert_row(g, 0, 5, 1, 1);
    xb_frame_destroy(g);
    g = NULL;
    scratch_write(&s, "t.csv", "id,when,c\n5,soon,same\n", 22);
    assert_int_equal(xb_frame_read(ctx, &g, s.path, &later), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "t.csv:2: 'soon' (column 'when'),"
                                                " expected a date"));
    xb_frame_destroy(f);
    opt = learning("y");
    opt.id = "id";
    const char *const only[] = {"x", "c"};
    opt.columns = only;
    opt.n_columns = 2;
    f = read_text(ctx, &s, text, &opt);
    assert_names(f, (const char *const[]){"x", "c=same"}, 2);
    assert_string_equal(xb_recipe_id(xb_frame_recipe(f)), "id");
    xb_frame_destroy(f);
    free(text);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Different texts beyond a limit: left out, or refused where they are to be kept. */
static void words_have_a_limit(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    for (int words = XB_WORDS_MAX; words <= XB_WORDS_MAX + 1; words++) {
        FILE *file = fopen(scratch_path(&s, "many.csv"), "w");
        fprintf(file, "x,c,y\n");
        for (int i = 0; i < 1000; i++) fprintf(file, "%d,w%d,%d\n", i, i % words, i % 7);
        fclose(file);
        xb_frame *f = NULL;
        xb_frame_options opt = learning("y");
        assert_ok(ctx, xb_frame_read(ctx, &f, s.path, &opt));
        const bool within = words == XB_WORDS_MAX;
        assert_int_equal(xb_frame_feature_count(f), within ? 1 + words : 1);
        if (!within)
            assert_note(f, "left out (too many different words, more than 256): c");
        xb_frame_destroy(f);
        opt.use_anyway = (const char *const[]){"c"};
        opt.n_use_anyway = 1;
        assert_ok(ctx, xb_frame_read(ctx, &f, s.path, &opt));
        assert_int_equal(xb_frame_feature_count(f), 1 + words);
        xb_frame_destroy(f);
    }
    FILE *file = fopen(scratch_path(&s, "many.csv"), "w");
    fprintf(file, "x,c,d,y\n");
    for (int i = 0; i < 12000; i++)
        fprintf(file, "%d,w%d,%04d-%02d-%02d,%d\n", i, i, 1900 + i / 336, 1 + i / 28 % 12,
                1 + i % 28, i % 7);
    fclose(file);
    xb_frame *f = NULL;
    xb_frame_options opt = learning("y");
    assert_ok(ctx, xb_frame_read(ctx, &f, s.path, &opt));
    assert_names(f, (const char *const[]){"x"}, 1);
    assert_note(f,
                "left out (dates or times, which would become days since 1970-01-01): d");
    xb_frame_destroy(f);
    f = NULL;
    opt.use_anyway = (const char *const[]){"d"};
    opt.n_use_anyway = 1;
    assert_ok(ctx, xb_frame_read(ctx, &f, s.path, &opt));
    assert_row(f, 0, 0, -25567);         /* 1900-01-01 */
    assert_row(f, 11999, 11999, -12526); /* 1935-09-15 */
    xb_frame_destroy(f);
    f = NULL;
    opt.use_anyway = (const char *const[]){"c"};
    assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "column 'c' is to be kept, but it has"
                                                " more than 10000 different words"));
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *keep, *drop, *id, *message;
    } cases[] = {
        {"x,y\n1,1\n2,2\n3x,3\n4,4\n", NULL, NULL, NULL,
         ":4: not a number: '3x' (column 'x', which has more numbers than texts: correct"
         " the cell, leave the column out, or keep it as words)"},
        {"x,y\n1,1\ninf,2\n", NULL, NULL, NULL,
         ":3: not a finite number: 'inf' (column 'x')"},
        {"x,z,y\n1,1,1\n2,2,\n", NULL, NULL, NULL,
         ":3: the target is missing (column 'y'): a target is not filled in, so complete"
         " the cell or remove the row"},
        {"area,y\n1,1\n2,2\n", NULL, "aera", NULL,
         ":1: no column 'aera' (did you mean 'area'?); there are 2 columns: area, y"},
        {"x,y\na,1\nb,2\n", "z", NULL, NULL,
         ":1: no column 'z'; there are 2 columns: x, y"},
        {"x,y\na,1\nb,2\n", NULL, "z", NULL,
         ":1: no column 'z'; there are 2 columns: x, y"},
        {"x,y\na,1\nb,2\n", NULL, NULL, "z",
         ":1: no column 'z'; there are 2 columns: x, y"},
        {"x,y\na,1\nb,2\n", NULL, "x", NULL, ":1: there is no column besides the target"},
        {"x,y\na,1\nb,2\n", NULL, "y", NULL, ": column 'y' is the target, not a feature"},
        {"x,y\n2020-01-01,1\n2020-01-02,2\n", NULL, NULL, NULL,
         ": column 'x' is the only column besides the target, and it does not look like "
         "a feature (it is empty, an id, dates, or never changes); name it to use it "
         "anyway"},
        {"x,y\n1/2/2020,1\n3/2/2020,2\n", "x", NULL, NULL,
         ": column 'x' is to be kept, but its dates can be read in two ways: write them "
         "as"
         " 2020-12-31"},
        {"c,c=a,y\na,1,1\nb,2,2\n", NULL, NULL, NULL, ": two features named 'c=a'"},
    };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_frame *f = NULL;
        xb_frame_options opt = learning("y");
        opt.use_anyway = &cases[i].keep;
        opt.n_use_anyway = cases[i].keep != NULL;
        opt.drop = &cases[i].drop;
        opt.n_drop = cases[i].drop != NULL;
        opt.id = cases[i].id;
        scratch_write(&s, "t.csv", cases[i].text, strlen(cases[i].text));
        assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_INPUT);
        assert_null(f);
        assert_string_equal(xb_ctx_message(ctx) + strlen(s.path), cases[i].message);
    }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Without names columns are found by their numbers, or by their order without a target.
 */
static void tables_without_names_keep_their_order(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = learning("2");
    xb_frame *f = read_text(ctx, &s, "5,1,red,1\n5,2,blue,2\n5,3,red,4\n", &opt);
    static const char *const names[] = {"3=blue", "3=red", "4"};
    assert_names(f, names, 3);
    xb_frame_options later = xb_frame_options_default();
    later.recipe = xb_frame_recipe(f);
    xb_frame *with = read_text(ctx, &s, "5,9,blue,7\n5,9,red,8\n", &later);
    assert_row(with, 0, 1, 0, 7);
    xb_frame *without = read_text(ctx, &s, "5,blue,7\n5,red,8\n", &later);
    assert_row(without, 1, 0, 1, 8);
    xb_frame *none = NULL;
    scratch_write(&s, "t.csv", "blue,7\nred,8\n", 13);
    assert_int_equal(xb_frame_read(ctx, &none, s.path, &later), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx),
                           "2 columns, expected 3 without the target,"
                           " or 4 with it"));
    scratch_write(&s, "t.csv", "a,b,c,d,e\n5,9,blue,7,1\n", 23); /* other columns */
    assert_int_equal(xb_frame_read(ctx, &none, s.path, &later), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "5 columns, expected 3 without"));
    xb_frame_destroy(f);
    xb_frame_destroy(with);
    xb_frame_destroy(without);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* ---- dates */

static void dates_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        xb_date_form form;
        double days;
    } cases[] = {
        {"1970-01-01", XB_DATE_CLEAR, 0},
        {"2000-02-29", XB_DATE_CLEAR, 11016},
        {"1900-01-01", XB_DATE_CLEAR, -25567},
        {"2024/3/1", XB_DATE_CLEAR, 19783},
        {"1.3.2024", XB_DATE_CLEAR, 19783},
        {"2024-03-01 06:00", XB_DATE_CLEAR, 19783.25},
        {"2024-03-01T06:00:00Z", XB_DATE_CLEAR, 19783.25},
        {"2024-03-01T06:00:00.5+06:00", XB_DATE_CLEAR, 19783 + 0.5 / 86400},
        {"2024-03-01T06:00:00-0600", XB_DATE_CLEAR, 19783.5},
        {"18:00", XB_DATE_CLEAR, 0.75},
        {"18:00:36", XB_DATE_CLEAR, 0.75 + 36.0 / 86400},
        {"3/1/2024", XB_DATE_TWOFOLD, 19783},
        {"31/1/2024", XB_DATE_TWOFOLD, 19753},
        {"2023-02-29", XB_DATE_NONE, 0},
        {"1900-02-29", XB_DATE_NONE, 0},
        {"2023-13-01", XB_DATE_NONE, 0},
        {"2023-01", XB_DATE_NONE, 0},
        {"2023-01-01x", XB_DATE_NONE, 0},
        {"2023-01/01", XB_DATE_NONE, 0},
        {"12-34-56", XB_DATE_NONE, 0},
        {"555-12-1234", XB_DATE_NONE, 0},
        {"25:00", XB_DATE_NONE, 0},
        {"12:61", XB_DATE_NONE, 0},
        {"2024-03-01 06:00+99:00", XB_DATE_NONE, 0},
        {"red", XB_DATE_NONE, 0},
        {"", XB_DATE_NONE, 0},
    };
    for (int i = 0; i < XB_COUNT(cases); i++) {
        double days = 0;
        if (xb_date_parse(&days, cases[i].text) != cases[i].form)
            fail_msg("'%s' is taken for form %d", cases[i].text,
                     (int)xb_date_parse(&days, cases[i].text));
        if (cases[i].form != XB_DATE_NONE) assert_close(days, cases[i].days, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_make_the_same_features),
        cmocka_unit_test(words_become_features),
        cmocka_unit_test(numbers_become_words_where_words_follow),
        cmocka_unit_test(missing_values_are_filled_and_flagged),
        cmocka_unit_test(misleading_columns_are_left_out),
        cmocka_unit_test(features_are_not_left_out),
        cmocka_unit_test(columns_are_chosen_by_the_user),
        cmocka_unit_test(words_have_a_limit),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(tables_without_names_keep_their_order),
        cmocka_unit_test(dates_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
