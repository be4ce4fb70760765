/* test_frame.c: tables of features and targets: text and NPY, numbers and
 * classes, and what is said of tables that cannot be used. */
#include "scratch.h"

#include "base/ctx.h"
#include "crossbayes/extend.h"
#include "failalloc.h"

static xb_frame *read_frame(xb_ctx *ctx, scratch *s, const char *text,
                            const xb_frame_options *opt)
{
    xb_frame *frame = NULL;
    scratch_write(s, "f.csv", text, strlen(text));
    assert_ok(ctx, xb_frame_read(ctx, &frame, s->path, opt));
    return frame;
}

static xb_frame_options with_target(const char *target, xb_target_kind kind)
{
    xb_frame_options opt = xb_frame_options_default();
    opt.target = target;
    opt.target_kind = kind;
    return opt;
}

static void assert_values(const double *got, const double *expected, int64_t n)
{
    assert_non_null(got);
    for (int64_t i = 0; i < n; i++)
        if (got[i] != expected[i])
            fail_msg("value %lld is %g, expected %g", (long long)i, got[i], expected[i]);
}

static void features_and_target_are_kept_apart(void **state)
{
    (void)state;
    static const char text[] = "a,price,b\n1,10,2\n3,20,4 # comment\n\n5,30.5,-6e-1\n\n";
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = with_target("price", XB_TARGET_AUTO);
    xb_frame *f = read_frame(ctx, &s, text, &opt);
    assert_int_equal(xb_frame_row_count(f), 3);
    assert_int_equal(xb_frame_feature_count(f), 2);
    assert_string_equal(xb_frame_feature_name(f, 0), "a");
    assert_string_equal(xb_frame_feature_name(f, 1), "b");
    assert_string_equal(xb_frame_target_name(f), "price");
    assert_values(xb_frame_values(f), (const double[]){1, 2, 3, 4, 5, -0.6}, 6);
    assert_values(xb_frame_target(f), (const double[]){10, 20, 30.5}, 3);
    assert_int_equal(xb_frame_class_count(f), 0);
    xb_frame_destroy(f);
    f = read_frame(ctx, &s, text, NULL);
    assert_int_equal(xb_frame_feature_count(f), 3);
    assert_null(xb_frame_target(f));
    assert_null(xb_frame_target_name(f));
    xb_frame_destroy(f);
    xb_frame_destroy(NULL);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* The row i, -i with target i mod 1000 + 1/4, written in one of five ways. */
static int write_row(char *out, int way, int i)
{
    int b = i % 1000;
    switch (way) {
    case 0: return sprintf(out, "%d,%d.25,%d\n", i, b, -i);
    case 1: return sprintf(out, "%d,%d.25,%d\r\n", i, b, -i);
    case 2: return sprintf(out, " %d , %d.25,%d\n", i, b, -i);
    case 3: return sprintf(out, "\"%d\",%d.25,%d # no\n", i, b, -i);
    default: return sprintf(out, "%d,%d.250000000000000000000,%d\n\n", i, b, -i);
    }
}

/* Rows of plain numbers take a short way; among rows that cannot, over the edges of the
 * reader's blocks, every value must still be where it belongs. */
static void plain_rows_keep_their_place(void **state)
{
    (void)state;
    enum { ROWS_MADE = 120000, LONGEST = 40 };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char *text = malloc((size_t)ROWS_MADE * LONGEST + 8);
    assert_non_null(text);
    int64_t used = sprintf(text, "a,b,c\n");
    for (int i = 0; i < ROWS_MADE; i++)
        used += write_row(text + used, i % 7 == 3 ? i % 5 : 0, i); /* mostly plain */
    xb_frame_options opt = with_target("b", XB_TARGET_AUTO);
    xb_frame *f = read_frame(ctx, &s, text, &opt);
    assert_int_equal(xb_frame_row_count(f), ROWS_MADE);
    for (int i = 0; i < ROWS_MADE; i++) {
        assert_true(xb_frame_values(f)[2 * i] == i &&
                    xb_frame_values(f)[2 * i + 1] == -i);
        assert_true(xb_frame_target(f)[i] == i % 1000 + 0.25);
    }
    xb_frame_destroy(f);
    free(text);
    /* a first label of text makes classes of the numbers that follow */
    f = read_frame(ctx, &s, "a,b\n1,x\n2,7\n3,7\n4,x\n", &opt);
    assert_int_equal(xb_frame_class_count(f), 2);
    assert_values(xb_frame_target(f), (const double[]){1, 0, 0, 1}, 4);
    xb_frame_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void columns_are_chosen_in_any_order(void **state)
{
    (void)state;
    static const char *const wanted[] = {"c", "1"};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = with_target("b", XB_TARGET_AUTO);
    opt.columns = wanted;
    opt.n_columns = 2;
    xb_frame *f =
        read_frame(ctx, &s, "a;id;b;c\n1,5;x;2;3\n4,25;y;5;6\n", &opt); /* id is text */
    assert_values(xb_frame_values(f), (const double[]){3, 1.5, 6, 4.25}, 4);
    assert_values(xb_frame_target(f), (const double[]){2, 5}, 2);
    assert_string_equal(xb_frame_feature_name(f, 1), "a");
    xb_frame_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void nameless_columns_have_numbers(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = with_target("2", XB_TARGET_AUTO);
    xb_frame *f = read_frame(ctx, &s, "1 2 3 \n 4\t5  6\n  \n", &opt);
    assert_values(xb_frame_values(f), (const double[]){1, 3, 4, 6}, 4);
    assert_string_equal(xb_frame_feature_name(f, 1), "3");
    assert_string_equal(xb_frame_target_name(f), "2");
    xb_frame_destroy(f);
    f = read_frame(ctx, &s, ",x\n0,1\n1,2\n", NULL); /* as pandas writes its index */
    assert_string_equal(xb_frame_feature_name(f, 0), "1");
    assert_string_equal(xb_frame_feature_name(f, 1), "x");
    xb_frame_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void assert_classes(const xb_frame *f, const char *const *names, int64_t n)
{
    assert_int_equal(xb_frame_class_count(f), n);
    for (int64_t k = 0; k < n; k++)
        assert_string_equal(xb_frame_class_name(f, k), names[k]);
}

static void text_becomes_classes(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = with_target("2", XB_TARGET_AUTO);
    xb_frame *f = read_frame(
        ctx, &s, "x,y\n1,setosa\n2,\"a \"\"b\"\", c\"\n3,Z\n4,setosa\n5,7\n6,Z\n", &opt);
    assert_classes(f, (const char *const[]){"7", "Z", "a \"b\", c", "setosa"}, 4);
    assert_values(xb_frame_target(f), (const double[]){3, 2, 1, 3, 0, 1}, 6);
    xb_frame_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void numbers_become_classes_on_request(void **state)
{
    (void)state;
    static const char text[] = "x,y\n1,10\n2,9\n3,1e1\n4,-0\n5,0.0\n";
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = with_target("y", XB_TARGET_CLASS);
    xb_frame *f = read_frame(ctx, &s, text, &opt);
    assert_classes(f, (const char *const[]){"0", "9", "10"}, 3); /* 9 before 10 */
    assert_values(xb_frame_target(f), (const double[]){2, 1, 2, 0, 0}, 5);
    xb_frame_destroy(f);
    opt.target_kind = XB_TARGET_NUMBER;
    f = read_frame(ctx, &s, text, &opt);
    assert_int_equal(xb_frame_class_count(f), 0);
    assert_values(xb_frame_target(f), (const double[]){10, 9, 10, 0, 0}, 5);
    xb_frame_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* A model's own classes keep their numbers, whichever of them a file has. */
static void known_classes_keep_their_numbers(void **state)
{
    (void)state;
    static const char *const known[] = {"cat", "ant", "10.0", "bee"};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = with_target("y", XB_TARGET_AUTO);
    opt.classes = known;
    opt.n_classes = 4;
    xb_frame *f = read_frame(ctx, &s, "x,y\n1,10\n2,bee\n3,cat\n", &opt);
    assert_values(xb_frame_target(f), (const double[]){2, 3, 0}, 3);
    assert_classes(f, (const char *const[]){"cat", "ant", "10", "bee"}, 4);
    xb_frame_destroy(f);
    f = NULL;
    scratch_write(&s, "f.csv", "x,y\n1,ant\n2,dog\n", 16);
    assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx),
                           "f.csv:3: class 'dog' is not among: cat, ant, 10.0, bee"));
    static const char *const twice[] = {"1", "1.0"};
    opt.classes = twice;
    opt.n_classes = 2;
    assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_ARGUMENT);
    opt.target_kind = XB_TARGET_NUMBER;
    assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_ARGUMENT);
    assert_null(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void arrays_are_read(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4, 5, 3};
    static const int64_t shape[] = {2, 3};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame *f = NULL;
    xb_frame_options opt = with_target("3", XB_TARGET_AUTO);
    scratch_path(&s, "x.npy");
    assert_ok(ctx, xb_npy_write(ctx, s.path, x, XB_F64, shape, 2));
    assert_ok(ctx, xb_frame_read(ctx, &f, s.path, &opt));
    assert_values(xb_frame_values(f), (const double[]){1, 2, 4, 5}, 4);
    assert_values(xb_frame_target(f), (const double[]){3, 3}, 2);
    assert_string_equal(xb_frame_feature_name(f, 1), "2");
    xb_frame_destroy(f);
    opt = with_target("1", XB_TARGET_CLASS);
    assert_ok(ctx, xb_frame_read(ctx, &f, s.path, &opt));
    assert_classes(f, (const char *const[]){"1", "4"}, 2);
    assert_values(xb_frame_target(f), (const double[]){0, 1}, 2);
    xb_frame_destroy(f);
    opt.target = "4";
    assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx), "no column '4'"));
    static const double broken[] = {1, 2, 3, 4, NAN, 6};
    assert_ok(ctx, xb_npy_write(ctx, s.path, broken, XB_F64, shape, 2));
    assert_int_equal(xb_frame_read(ctx, &f, s.path, NULL), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx),
                           "x.npy: row 2, column 2 is not a finite number: 'nan'"));
    assert_ok(ctx, xb_npy_write(ctx, s.path, x, XB_F64, NULL, 0));
    assert_int_equal(xb_frame_read(ctx, &f, s.path, NULL), XB_E_INPUT);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* ---- columns in memory */

static void columns_of_every_type_are_taken(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    /* a row is a float, a byte and a text, packed: strides fit no type */
    enum { N = 3, ROW = sizeof(float) + 1 + sizeof(char *) };
    char bytes[N * ROW];
    static const char *const label[N] = {"red", "a \"\" b", "red"};
    for (int i = 0; i < N; i++) {
        const float x = (float)i + 0.5f;
        memcpy(bytes + i * ROW, &x, sizeof x);
        bytes[i * ROW + sizeof x] = (char)(200 + i);
        memcpy(bytes + i * ROW + sizeof x + 1, &label[i], sizeof label[i]);
    }
    const double d[N] = {1, 2, 3};
    const int64_t big[N] = {-5, 6, INT64_C(1) << 40};
    const int32_t small[N] = {7, -8, 9};
    const xb_column columns[] = {{"f", bytes, XB_COLUMN_F32, ROW},
                                 {"u", bytes + 4, XB_COLUMN_U8, ROW},
                                 {"kind", bytes + 5, XB_COLUMN_TEXT, ROW},
                                 {NULL, d + 2, XB_COLUMN_F64, -(int64_t)sizeof *d},
                                 {"big", big, XB_COLUMN_I64, 0},
                                 {"small", small, XB_COLUMN_I32, 0}};
    xb_frame_options opt = with_target("kind", XB_TARGET_AUTO);
    xb_frame *f = NULL;
    assert_ok(ctx, xb_frame_create(ctx, &f, columns, 6, N, &opt));
    assert_int_equal(xb_frame_row_count(f), N);
    assert_values(xb_frame_values(f),
                  (const double[]){0.5, 200, 3, -5, 7, 1.5, 201, 2, 6, -8, 2.5, 202, 1,
                                   1099511627776, 9},
                  15);
    assert_string_equal(xb_frame_feature_name(f, 2), "4");
    assert_classes(f, (const char *const[]){"a \"\" b", "red"}, 2);
    assert_values(xb_frame_target(f), (const double[]){1, 0, 1}, N);
    xb_frame_destroy(f);
    opt = with_target("small", XB_TARGET_CLASS);
    assert_ok(ctx, xb_frame_create(ctx, &f, columns + 3, 3, N, &opt));
    assert_classes(f, (const char *const[]){"-8", "7", "9"}, 3);
    xb_frame_destroy(f);
    xb_ctx_destroy(ctx);
}

static void columns_have_several_targets(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const double x[] = {1, 2, 3}, a[] = {4, 5, 6}, b[] = {7, 8, 9};
    const xb_column columns[] = {{"a", a, XB_COLUMN_F64, 0},
                                 {"x", x, XB_COLUMN_F64, 0},
                                 {"b", b, XB_COLUMN_F64, 0}};
    xb_frame_options opt = with_target("b,a", XB_TARGET_AUTO);
    xb_frame *f = NULL;
    assert_ok(ctx, xb_frame_create(ctx, &f, columns, 3, 3, &opt));
    assert_int_equal(xb_frame_target_count(f), 2);
    assert_string_equal(xb_frame_target_name_at(f, 1), "a");
    assert_values(xb_frame_target(f), (const double[]){7, 4, 8, 5, 9, 6}, 6);
    assert_values(xb_frame_values(f), x, 3);
    xb_frame_destroy(f);
    xb_ctx_destroy(ctx);
}

static void wrong_columns_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const double x[2] = {1, NAN}, y[2] = {1, 2};
    const char *const label[2] = {"a", NULL};
    const xb_column bad = {"x", x, XB_COLUMN_F64, 0}, good = {"y", y, XB_COLUMN_F64, 0};
    const xb_column text = {"t", label, XB_COLUMN_TEXT, 0};
    const struct {
        xb_column column[2];
        int64_t rows;
        const char *target, *says;
    } cases[] = {
        {{bad, good}, 2, "y", "row 2, column 'x' is not a finite number"},
        {{good, bad}, 2, "x", "row 2, column 'x' is not a finite number"},
        {{good, text}, 2, "t", "row 2: the class is missing"},
        {{text, good}, 2, "y", "row 1, column 't' is not a finite number"},
        {{good, good}, 2, "y", "several columns are named 'y'"},
        {{bad, good}, 2, "z", "no column 'z'; there are 2 columns: x, y"},
        {{bad, good}, 0, "y", "2 columns and 0 rows, expected 1 or more"},
        {{good, {"x", NULL, XB_COLUMN_F64, 0}}, 2, "y", "column 2 has no values"},
        {{good, {"x", x, (xb_column_type)9, 0}}, 2, "y", "column 2 has no known type"},
    };
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_frame *f = NULL;
        xb_frame_options opt = with_target(cases[i].target, XB_TARGET_AUTO);
        assert_true(xb_frame_create(ctx, &f, cases[i].column, 2, cases[i].rows, &opt) !=
                    XB_OK);
        assert_null(f);
        if (!strstr(xb_ctx_message(ctx), cases[i].says))
            fail_msg("case %d: %s", i, xb_ctx_message(ctx));
    }
    xb_ctx_destroy(ctx);
}

static const struct {
    const char *text;
    const char *target;
    xb_target_kind kind;
    const char *message; /* after the path */
} wrong[] = {
    {"a,b\n1,2\n3,\n", NULL, 0, ":3: an empty cell, expected a number (column 'b')"},
    {"a,b\n1,2\nx,4\n", NULL, 0, ":3: not a number: 'x' (column 'a')"},
    {"a,b\n1,2\n3,nan\n", NULL, 0, ":3: not a finite number: 'nan' (column 'b')"},
    {"a,b\n1,2\n3,NA\n", "b", XB_TARGET_CLASS,
     ":3: the class is missing (column 'b'): a target is not filled in, so complete the"
     " cell or remove the row"},
    {"a,b\n1,x\n3,\n", "b", 0,
     ":3: the class is missing (column 'b'): a target is not filled in, so complete the"
     " cell or remove the row"},
    {"a,b\n1,2\n3,x\n", "b", 0, ":3: not a number: 'x' (column 'b')"},
    {"a,b\n1,x\n3,4\n", "b", XB_TARGET_NUMBER, ":2: not a number: 'x' (column 'b')"},
    {"a,b\n1,2\n3,4,5\n", NULL, 0, ":3: 3 fields, expected 2"},
    {"a,b\n1,2\n", "c", 0, ":1: no column 'c'; there are 2 columns: a, b"},
    {"a\n1\n2\n", "a", 0, ":1: there is no column besides the target"},
    {"a,b,a\n1,2,3\n", "b", 0, ":1: two columns named 'a'"},
    {"a,b\xFF\n1,2\n", NULL, 0, ":1: a name is not UTF-8: 'b\xFF'"},
    {"a,b\n1,x\xFF\n", "b", 0, ":2: class 'x\xFF' is not UTF-8"},
    {"a,b\n", NULL, 0, ":1: only a header, expected rows of numbers after it"},
    {"", NULL, 0, ": empty file, expected numbers"},
};

static void wrong_tables_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    for (int i = 0; i < XB_COUNT(wrong); i++) {
        xb_frame *f = NULL;
        xb_frame_options opt = with_target(wrong[i].target, wrong[i].kind);
        scratch_write(&s, "f.csv", wrong[i].text, strlen(wrong[i].text));
        assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_INPUT);
        assert_null(f);
        assert_string_equal(xb_ctx_message(ctx) + strlen(s.path), wrong[i].message);
    }
    xb_frame *f = NULL;
    assert_int_equal(xb_frame_read(ctx, &f, s.dir, NULL), XB_E_INPUT);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void classes_have_a_limit(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    FILE *file = fopen(scratch_path(&s, "many.csv"), "w");
    for (int i = 0; i <= XB_CLASSES_MAX; i++) fprintf(file, "%d,%d.25\n", i, 7919 * i);
    fclose(file);
    xb_frame *f = NULL;
    xb_frame_options opt = with_target("2", XB_TARGET_CLASS);
    assert_int_equal(xb_frame_read(ctx, &f, s.path, &opt), XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx),
                           "many.csv:10001: more than 10000 classes in column '2'"));
    opt.target_kind = XB_TARGET_AUTO;
    assert_ok(ctx, xb_frame_read(ctx, &f, s.path, &opt));
    assert_int_equal(xb_frame_row_count(f), XB_CLASSES_MAX + 1);
    assert_true(xb_frame_target(f)[XB_CLASSES_MAX] == 79190000.25);
    xb_frame_destroy(f);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    static const char text[] = "x,y\n1,ant\n2,bee\n3,ant\n";
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_frame_options opt = with_target("y", XB_TARGET_AUTO);
    scratch_write(&s, "f.csv", text, strlen(text));
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_frame *f = NULL;
        xb_status status = xb_frame_read(ctx, &f, s.path, &opt);
        bool happened = fail_alloc_happened();
        xb_frame_destroy(f);
        if (!happened) {
            assert_int_equal(status, XB_OK);
            assert_true(k > 5);
            break;
        }
        assert_int_equal(status, XB_E_MEMORY);
        assert_null(f);
    }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void utf8_is_told_from_other_bytes(void **state)
{
    (void)state;
    static const char *const good[] = {"",
                                       "a",
                                       "\xC3\x9F",
                                       "\xE2\x82\xAC",
                                       "\xF0\x9F\x98\x80",
                                       "\xED\x9F\xBF",
                                       "\xEF\xBF\xBF",
                                       "\xF4\x8F\xBF\xBF"};
    static const char *const bad[] = {"\x80",         "\xC3",         "\xC0\x80",
                                      "\xC1\xBF",     "\xE2\x82",     "\xE0\x9F\xBF",
                                      "\xED\xA0\x80", "\xF0\x8F\xBF", "\xF4\x90\x80\x80",
                                      "\xF5\x80",     "\xFF",         "a\xE2\x28\xA1"};
    for (int i = 0; i < XB_COUNT(good); i++) assert_true(xb_utf8_valid(good[i]));
    for (int i = 0; i < XB_COUNT(bad); i++) assert_false(xb_utf8_valid(bad[i]));
}

/* The sums of the target columns are numpy's, of the same files. */
static void uci_tables_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name, *target;
        int64_t rows, features;
        double target_sum;
    } sets[] = {
        {"concrete", "9", 1030, 8, 36892.5},
        {"yacht", "7", 308, 6, 3232.57},
    };
    const char *dir = test_data_dir();
    if (!dir) skip();
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(sets); i++) {
        char path[8192];
        xb_frame *f = NULL;
        xb_frame_options opt = with_target(sets[i].target, XB_TARGET_AUTO);
        snprintf(path, sizeof path, "%s/uci/%s/data.txt", dir, sets[i].name);
        assert_ok(ctx, xb_frame_read(ctx, &f, path, &opt));
        assert_int_equal(xb_frame_row_count(f), sets[i].rows);
        assert_int_equal(xb_frame_feature_count(f), sets[i].features);
        double sum = 0;
        for (int64_t k = 0; k < sets[i].rows; k++) sum += xb_frame_target(f)[k];
        assert_close(sum, sets[i].target_sum, 1e-12);
        xb_frame_destroy(f);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_and_target_are_kept_apart),
        cmocka_unit_test(plain_rows_keep_their_place),
        cmocka_unit_test(columns_are_chosen_in_any_order),
        cmocka_unit_test(nameless_columns_have_numbers),
        cmocka_unit_test(text_becomes_classes),
        cmocka_unit_test(numbers_become_classes_on_request),
        cmocka_unit_test(known_classes_keep_their_numbers),
        cmocka_unit_test(arrays_are_read),
        cmocka_unit_test(columns_of_every_type_are_taken),
        cmocka_unit_test(columns_have_several_targets),
        cmocka_unit_test(wrong_columns_are_refused),
        cmocka_unit_test(wrong_tables_are_refused),
        cmocka_unit_test(classes_have_a_limit),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(utf8_is_told_from_other_bytes),
        cmocka_unit_test(uci_tables_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
