/* test_tables.c: tables as people have them: words, missing values, ids, dates, columns
 * that never change; what becomes of them in training, and of later tables by the recipe.
 * tests/fixtures/messy.json is what pandas and scikit-learn make of the same tables. */
#include "scratch.h"

#include <math.h>

#include <jansson.h>

#include "base/ctx.h"
#include "data/date.h"
#include "failalloc.h"

static xb_frame_options learning(const char *target)
{
    xb_frame_options opt = xb_frame_options_default();
    opt.target = target;
    opt.prepare = true;
    return opt;
}

static xb_frame *read_text(xb_ctx *ctx, scratch *s, const char *text,
                           const xb_frame_options *opt)
{
    xb_frame *frame = NULL;
    scratch_write(s, "t.csv", text, strlen(text));
    assert_ok(ctx, xb_frame_read(ctx, &frame, s->path, opt));
    return frame;
}

static void assert_row(const xb_frame *f, int64_t row, const double *expected)
{
    const int64_t n = xb_frame_feature_count(f);
    for (int64_t i = 0; i < n; i++)
        if (xb_frame_values(f)[row * n + i] != expected[i])
            fail_msg("row %lld, '%s' is %g, expected %g", (long long)row,
                     xb_frame_feature_name(f, i), xb_frame_values(f)[row * n + i],
                     expected[i]);
}

static void assert_names(const xb_frame *f, const char *const *names, int64_t n)
{
    assert_int_equal(xb_frame_feature_count(f), n);
    for (int64_t i = 0; i < n; i++)
        assert_string_equal(xb_frame_feature_name(f, i), names[i]);
}

static bool has_note(const xb_frame *f, const char *text)
{
    for (int64_t i = 0; i < xb_frame_note_count(f); i++)
        if (strstr(xb_frame_note_at(f, i), text)) return true;
    return false;
}

static void assert_note(const xb_frame *f, const char *text)
{
    if (has_note(f, text)) return;
    for (int64_t i = 0; i < xb_frame_note_count(f); i++)
        print_message("note: %s\n", xb_frame_note_at(f, i));
    fail_msg("no note says '%s'", text);
}

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
    snprintf(text, sizeof text, "where none were missing: income (%lld of 25)",
             (long long)json_integer_value(json_object_get(peer, "missing_income")));
    assert_note(new, text);
    snprintf(text, sizeof text, "age (%lld of 60)",
             (long long)json_integer_value(json_object_get(peer, "missing_age")));
    assert_note(train, text);
    assert_note(train, "left out (dates or times, which would be days since 1970-01-01):"
                       " when");
    assert_note(train, "left out (numbers of rows, by name and values): id");
    assert_note(train, "another text in most rows, as names and ids have): who");
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
    assert_row(f, 0, (const double[]){1, 0, 0, 1});
    assert_row(f, 1, (const double[]){2, 0, 1, 0});
    assert_row(f, 4, (const double[]){5, 1, 0, 0});
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
    assert_row(g, 0, (const double[]){7, 0, 0, 0});
    assert_row(g, 1, (const double[]){8, 0, 0, 0});
    assert_row(g, 2, (const double[]){3, 1, 0, 0});
    assert_note(g, "words that training did not have, taken as none of them: c (1 cell,"
                   " the first 'green')");
    assert_note(g, "x (1 of 3), c (1 of 3)");
    xb_frame_destroy(g);
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
    assert_row(f, 0, (const double[]){1, 0, 1, 0, 0});
    assert_row(f, 1, (const double[]){3, 1, 0, 1, 0});
    assert_row(f, 2, (const double[]){3, 0, 0, 0, 1});
    assert_row(f, 7, (const double[]){3, 1, 0, 1, 0});
    assert_note(f, "missing values: a (5 of 8), b (2 of 8)");
    assert_true(xb_recipe_column_flagged(xb_frame_recipe(f), 0));
    xb_frame_destroy(f);
    opt.missing = XB_MISSING_REFUSE;
    f = NULL;
    assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "t.csv:3: not a finite number: 'NA'"
                                                " (column 'a')"));
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Rows of this form, where I is the row's number, Y-M-D a date, V a number that repeats.
 */
static char *many_rows(int rows, const char *head, const char *form)
{
    char *text = malloc((size_t)rows * 96 + 256), *p = text;
    assert_non_null(text);
    p += sprintf(p, "%s\n", head);
    for (int i = 0; i < rows; i++)
        for (const char *f = form; *f; f++) switch (*f) {
            case 'I': p += sprintf(p, "%d", i); break;
            case 'Y': p += sprintf(p, "%d", 2000 + i / 360); break;
            case 'M': p += sprintf(p, "%02d", 1 + i / 30 % 12); break;
            case 'D': p += sprintf(p, "%02d", 1 + i % 28); break;
            case 'V': p += sprintf(p, "%d", i * i % 17); break;
            default: *p++ = *f;
            }
    *p = '\0';
    return text;
}

static void misleading_columns_are_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *head, *form, *note;
    } cases[] = {
        {"row_id,x,y", "I,D.5,V\n", "left out (numbers of rows, by name"},
        {"userId,x,y", "I,D.5,V\n", "by name and values): userId"},
        {",x,y", "I,D.5,V\n", "by name and values): 1"},
        {"t,x,y", "Y-M-D,D,V\n", "left out (dates or times"},
        {"t,x,y", "M/D/Y 12:30,D,V\n", "left out (dates or times"},
        {"t,x,y", "person I,D,V\n", "left out (another text in most rows"},
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
    opt.keep = keep;
    opt.n_keep = 3;
    opt.drop = drop;
    opt.n_drop = 1;
    xb_frame *f = read_text(ctx, &s, text, &opt);
    assert_names(f, (const char *const[]){"id", "when", "c=same"}, 3);
    assert_row(f, 1, (const double[]){1, 10957 + 1.25, 1}); /* 2000-01-02 */
    assert_int_equal(xb_recipe_column_kind(xb_frame_recipe(f), 1), XB_COLUMN_DATES);
    xb_frame_options later = xb_frame_options_default();
    later.recipe = xb_frame_recipe(f);
    xb_frame *g = read_text(ctx, &s, "id,when,c\n5,1970-01-02,same\n6,,\n", &later);
    assert_row(g, 0, (const double[]){5, 1, 1});
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
        opt.keep = (const char *const[]){"c"};
        opt.n_keep = 1;
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
    assert_note(f, "left out (dates or times, which would be days since 1970-01-01): d");
    xb_frame_destroy(f);
    f = NULL;
    opt.keep = (const char *const[]){"d"};
    opt.n_keep = 1;
    assert_ok(ctx, xb_frame_read(ctx, &f, s.path, &opt));
    assert_row(f, 0, (const double[]){0, -25567});         /* 1900-01-01 */
    assert_row(f, 11999, (const double[]){11999, -12526}); /* 1935-09-15 */
    xb_frame_destroy(f);
    f = NULL;
    opt.keep = (const char *const[]){"c"};
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
         ":3: an empty cell, expected a number (column 'y')"},
        {"x,y\na,1\nb,2\n", "z", NULL, NULL,
         ":1: no column 'z'; there are 2 columns: x, y"},
        {"x,y\na,1\nb,2\n", NULL, "z", NULL,
         ":1: no column 'z'; there are 2 columns: x, y"},
        {"x,y\na,1\nb,2\n", NULL, NULL, "z",
         ":1: no column 'z'; there are 2 columns: x, y"},
        {"x,y\na,1\nb,2\n", NULL, "x", NULL, ":1: no column beside the target"},
        {"x,y\na,1\nb,2\n", NULL, "y", NULL, ": column 'y' is the target"},
        {"x,y\n2020-01-01,1\n2020-01-02,2\n", NULL, NULL, NULL,
         ": column 'x' is all there is beside the target, and it is no feature (empty, an"
         " id, dates, or never changing); keep it if it is one"},
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
        opt.keep = &cases[i].keep;
        opt.n_keep = cases[i].keep != NULL;
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
    assert_row(with, 0, (const double[]){1, 0, 7});
    xb_frame *without = read_text(ctx, &s, "5,blue,7\n5,red,8\n", &later);
    assert_row(without, 1, (const double[]){0, 1, 8});
    xb_frame *none = NULL;
    scratch_write(&s, "t.csv", "blue,7\nred,8\n", 13);
    assert_int_equal(xb_frame_read(ctx, &none, s.path, &later), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx),
                           "2 columns, expected 3 without the target,"
                           " or 4 with it"));
    xb_frame_destroy(f);
    xb_frame_destroy(with);
    xb_frame_destroy(without);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

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
        assert_row(f, i, xb_frame_values(same) + 6 * i);
    }
    xb_frame_options later = xb_frame_options_default();
    later.recipe = xb_frame_recipe(f);
    later.id = "y";
    assert_ok(ctx, xb_frame_create(ctx, &g, columns, 3, 6, &later));
    for (int64_t i = 0; i < 6; i++) assert_row(g, i, xb_frame_values(f) + 6 * i);
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
    assert_row(f, 1, (const double[]){2, 1, 20});
    xb_frame_options later = xb_frame_options_default();
    later.recipe = xb_frame_recipe(f);
    xb_frame *g = NULL;
    assert_ok(ctx, xb_frame_read(ctx, &g, s.path, &later));
    assert_row(g, 1, (const double[]){2, 1, 20});
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
    for (int64_t i = 0; i < xb_frame_row_count(b); i++)
        assert_row(a, i, xb_frame_values(b) + i * xb_frame_feature_count(b));
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
    assert_row(f, 0, (const double[]){3, 1});
    assert_row(f, 1, (const double[]){4, 7});
    assert_note(f, "filled as the mean of training, where none were missing: a (1 of 2),"
                   " b (1 of 2)");
    xb_frame_destroy(f);
    f = NULL;
    xb_frame_options strict = xb_frame_options_default();
    strict.missing = XB_MISSING_REFUSE;
    assert_int_equal(xb_model_frame_read(ctx, &f, back, s.path, false, &strict),
                     XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx),
                           "t.csv:2: an empty cell, expected a number (column 'a')"));
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

/* The same rows whatever else is in the table; the others and they are all there is, each
 * in its order; nothing is learnt from them. */
static void rows_are_held_out_by_the_seed(void **state)
{
    (void)state;
    enum { ROWS = 60, HELD = 15 };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char *numbers = many_rows(ROWS, "n,x,y", "I,D.5,V\n");
    char *words = many_rows(ROWS, "n,c,y", "I,wV,V\n");
    xb_frame_options opt = learning("y");
    opt.test_share = 0.25;
    opt.test_seed = 7;
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
    int64_t first = row_of(f, ROWS - HELD);
    xb_frame_destroy(f);
    opt.test_seed = 8;
    f = read_text(ctx, &s, numbers, &opt);
    bool same = true;
    for (int64_t i = ROWS - HELD; i < ROWS; i++) same &= row_of(f, i) == row_of(g, i);
    assert_false(same);
    xb_frame_destroy(f);
    xb_frame_destroy(g);
    /* a word and a gap that only a row held out has */
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
    opt.test_seed = 7;
    f = read_text(ctx, &s, numbers, &opt);
    static const char *const names[] = {"n", "c=u", "c=v", "a"};
    assert_names(f, names, 4);
    assert_int_equal(row_of(f, ROWS - HELD), first);
    assert_true(xb_frame_values(f)[(ROWS - HELD) * 4 + 1] == 0);
    assert_true(xb_frame_values(f)[(ROWS - HELD) * 4 + 2] == 0);
    assert_close(xb_frame_values(f)[(ROWS - HELD) * 4 + 3],
                 xb_recipe_column_fill(xb_frame_recipe(f), 2), 1e-15);
    xb_frame_destroy(f);
    f = NULL;
    opt.test_share = 0.01;
    assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_INPUT);
    assert_non_null(
        strstr(xb_ctx_message(ctx), "a share of 0.01 held out of 60 rows is 0"));
    free(numbers);
    free(words);
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

static void memory_may_run_out(void **state)
{
    (void)state;
    static const char text[] = "a,b,when,y\n1,x,2020-01-01,1\n,y,2020-01-02,2\n3,?,2020-"
                               "01-04,3\n4,x,1999-02-03,4\n";
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = learning("y"), later = xb_frame_options_default();
    opt.keep = (const char *const[]){"when"};
    opt.n_keep = 1;
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
        cmocka_unit_test(peers_make_the_same_features),
        cmocka_unit_test(words_become_features),
        cmocka_unit_test(missing_values_are_filled_and_flagged),
        cmocka_unit_test(misleading_columns_are_left_out),
        cmocka_unit_test(features_are_not_left_out),
        cmocka_unit_test(columns_are_chosen_by_the_user),
        cmocka_unit_test(words_have_a_limit),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(tables_without_names_keep_their_order),
        cmocka_unit_test(columns_in_memory_are_the_same_table),
        cmocka_unit_test(arrays_may_have_gaps),
        cmocka_unit_test(models_remember_the_table),
        cmocka_unit_test(plain_models_fill_with_their_means),
        cmocka_unit_test(rows_are_held_out_by_the_seed),
        cmocka_unit_test(dates_are_read),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
