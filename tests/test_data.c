/* test_data.c: columns from text tables: every dialect, every complaint, long
 * files, broken files, memory that runs out. NPY is in test_npy.c, the numbers
 * themselves in test_number.c. */
#include "scratch.h"

#include "base/ctx.h"
#include "data/csv.h"
#include "failalloc.h"
#include "unixtest.h"

typedef struct reading {
    xb_status status;
    double *x;
    int64_t n;
} reading;

static double untouched; /* where *out points as long as nobody wrote it */

/* Reads, and checks that a failure leaves the outputs alone. */
static reading read_column(xb_ctx *ctx, const char *path, const char *column)
{
    reading r = {XB_OK, &untouched, -7};
    r.status = xb_column_read(ctx, &r.x, &r.n, path, column);
    if (r.status != XB_OK) {
        assert_ptr_equal(r.x, &untouched);
        assert_int_equal(r.n, -7);
    }
    return r;
}

typedef struct good_case {
    const char *text;
    const char *column;
    int n;
    double x[4];
} good_case;

static void check_good(const good_case *c)
{
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    scratch_write(&s, "t.csv", c->text, strlen(c->text));
    reading r = read_column(ctx, s.path, c->column);
    if (r.status != XB_OK) fail_msg("'%s': %s", c->text, xb_ctx_message(ctx));
    bool same = r.n == c->n;
    for (int i = 0; same && i < c->n; i++) same = r.x[i] == c->x[i];
    if (!same)
        fail_msg("'%s', column %s: %lld values, first %g, expected %d, first %g", c->text,
                 c->column ? c->column : "-", (long long)r.n, r.x[0], c->n, c->x[0]);
    free(r.x);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* A column in every dialect, and its values. */
static const good_case good_cases[] = {
    /* one column: header or none, line ends, no newline at the end */
    {"1\n2\n3\n", NULL, 3, {1, 2, 3}},
    {"1\n2\n3", NULL, 3, {1, 2, 3}},
    {"7", NULL, 1, {7}},
    {"x\n1\n2\n", NULL, 2, {1, 2}},
    {"x\r\n1\r\n2\r\n", NULL, 2, {1, 2}},
    {"x\r\n1\r\n2", "x", 2, {1, 2}},
    {"x,\"y\"\r\r\n1,2\r\r\n\r\r\n3,4\r\r\n", "y", 2, {2, 4}},
    {"\xEF\xBB\xBFx\n1\n", "x", 1, {1}},
    {"\xEF\xBB\xBF"
     "1\n2\n",
     NULL,
     2,
     {1, 2}},
    {"-1.5e-3\n+2E+4\n.5\n5.\n", NULL, 4, {-1.5e-3, 2e4, .5, 5}},
    {"conductance (S)\n1\n2\n", "conductance (S)", 2, {1, 2}},
    {"current, measured\n1\n2\n", NULL, 2, {1, 2}},
    {"  1  \n\t2\t\n", NULL, 2, {1, 2}},
    /* separators */
    {"a,b\n1,2\n3,4\n", "b", 2, {2, 4}},
    {"a;b\n1;2\n3;4\n", "b", 2, {2, 4}},
    {"a\tb\n1\t2\n3\t4\n", "b", 2, {2, 4}},
    {"a b\n1 2\n3   4\n", "b", 2, {2, 4}},
    {"  1   2\n 30  40\n", "2", 2, {2, 40}},
    {"1 \t2\n3 \t4\n", "2", 2, {2, 4}},
    {"1 2\t3\n4 5\t6\n", "3", 2, {3, 6}},
    {"a, b\n1, 2\n3 ,4\n", "b", 2, {2, 4}},
    {"2020-01-01 12:00,1.5\n2020-01-02 12:00,2.5\n", "2", 2, {1.5, 2.5}},
    {"a, x;1\nb, y;2\n", "2", 2, {1, 2}},
    {"name\tvalue\nlong name\t1\nother\t2\n", "value", 2, {1, 2}},
    {"a\tb\n\t1\n5\t2\n", "b", 2, {1, 2}},
    {"a,b,\n1,2,\n3,4,\n", "2", 2, {2, 4}},
    /* by name or number; a name wins */
    {"a,b\n1,2\n", "1", 1, {1}},
    {"t,2,1\n5,6,7\n", "1", 1, {7}},
    {"t,2,1\n5,6,7\n", "2", 1, {6}},
    {"t,2,1\n5,6,7\n", "3", 1, {7}},
    {"1,2\n3,4\n", "2", 2, {2, 4}},
    {"text,1\nmore,2\n", "2", 2, {1, 2}},
    {"x,x\n1,2\n", "2", 1, {2}},
    /* comments and blank lines */
    {"# a, b; c\n\n1\n  # more\n\n2 # last\n   \n", NULL, 2, {1, 2}},
    {"#\n#\n\nx\n# in between\n1\n", "x", 1, {1}},
    {"sample#,v\n1,2\n", "sample#", 1, {1}},
    {"a,b\n1,2 # one, two, three\n", "b", 1, {2}},
    {"\"a # b\",c\n1,2\n", "a # b", 1, {1}},
    /* quotes */
    {"\"a, b\",c\n1,2\n", "a, b", 1, {1}},
    {"\"say \"\"hi\"\"\";c\n1;2\n", "say \"hi\"", 1, {1}},
    {"\"1.5\",\"2\"\n\"3\",\"4\"\n", "1", 2, {1.5, 3}},
    {"\"a b\" c\n1 2\n", "a b", 1, {1}},
    {"n,v\n\"x, y\",5\n", "v", 1, {5}},
    {"n,v\n\"x\ny\",5\n\"\",6\n", "v", 2, {5, 6}},
    {"n,v\r\n\"x\r\n\r\n\"\"y\"\"\n\",5\r\nz,6\r\n", "v", 2, {5, 6}},
    {"\"a\nb\",v\n1,5\n", "a\nb", 1, {1}},
    {"n,v\n5\" disk,1\n6,2\n", "v", 2, {1, 2}},
    {"n,v\n1,\"2\n\"", "n", 1, {1}},
    {"n,v # \"\n1,2 # a \" b\n3,4\n", "v", 2, {2, 4}},
    /* decimal comma */
    {"1,5;2\n3;4,25\n", "1", 2, {1.5, 3}},
    {"1,5;2\n3;4,25\n", "2", 2, {2, 4.25}},
    {"a\tb\n1,5\t2e-1\n-0,5\t1\n", "a", 2, {1.5, -.5}},
    {"x;y\n1,5e3;7\n", "x", 1, {1500}},
    {"1.5;2\n3;4\n", "1", 2, {1.5, 3}},
    {"text;1,5\nmore, text;2,5\n", "2", 2, {1.5, 2.5}},
};

static void dialects_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < XB_COUNT(good_cases); i++) check_good(&good_cases[i]);
}

typedef struct bad_case {
    const char *text;
    const char *column;
    const char *says; /* after "t.csv" */
} bad_case;

static void check_bad(xb_ctx *ctx, scratch *s, const bad_case *c)
{
    scratch_write(s, "t.csv", c->text, strlen(c->text));
    reading r = read_column(ctx, s->path, c->column);
    char expected[1024];
    snprintf(expected, sizeof expected, "%s%s", s->path, c->says);
    assert_int_equal(r.status, XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx), expected);
}

/* Files that are refused, and what is said of them. */
static const bad_case bad_cases[] = {
    {"", NULL, ": empty file, expected numbers"},
    {"\n\n# only this\n", NULL,
     ": nothing but blank lines and comments, expected numbers"},
    {"x\n", NULL, ":1: only a header, expected rows of numbers after it"},
    {"\n#\nx\n\n", "x", ":3: only a header, expected rows of numbers after it"},
    {"x\n1\n#\n\nabc\n", NULL, ":5: not a number: 'abc'"},
    {"1\n2\n3 4\n5\n6\n", NULL, ":3: not a number: '3 4'"},
    {"1.5x\n1\n", NULL, ":1: not a number: '1.5x'"},
    {"12:30\n1\n", NULL, ":1: not a number: '12:30'"},
    {"x\n0x10\n", NULL, ":2: not a number: '0x10'"},
    {"1\nnan\n", NULL, ":2: not a finite number: 'nan'"},
    {"NaN\n1\n", NULL, ":1: not a finite number: 'NaN'"},
    {"x\n1\n-inf\n", NULL, ":3: not a finite number: '-inf'"},
    {"x\n1\nInfinity\n", NULL, ":3: not a finite number: 'Infinity'"},
    {"x\n1\nNA\n", NULL, ":3: not a finite number: 'NA'"},
    {"1\n1e999\n", NULL, ":2: beyond the range of a double: '1e999'"},
    {"a,b\n1,2\n3,\n", "b", ":3: an empty cell, expected a number"},
    {"a,b\n1,2\n3,\"\"\n", "b", ":3: an empty cell, expected a number"},
    {"a,b\n1,2\n3\n", "a", ":3: 1 field, expected 2"},
    {"a,b\n1,2\n3,4,5\n", "a", ":3: 3 fields, expected 2"},
    {"1,2\n3,4,5\n", "1", ":2: 3 fields, expected 2"},
    {"time (s) current (A)\n1 2\n3 4\n5 6\n", "2", ":1: 4 fields, expected 2"},
    {"a,b\n1,\"2\n", "b", ":2: quotes around a field do not match"},
    {"a,b\n1,\"2\"3\n", "b", ":2: quotes around a field do not match"},
    {"a,b\n1,\"2\n3,4\n5,6\n", "b", ":2: quotes around a field do not match"},
    {"n,v\n\"x\n\ny\",5\nz,q\n", "v", ":5: not a number: 'q'"},
    {"a,b\n1.5,2\n", NULL, ":1: 2 columns: a, b; choose one by name or number"},
    {"1 2 3\n", NULL, ":1: 3 columns without names; choose one by number"},
    {"1,5\n2,5\n", NULL,
     ":1: 2 columns without names; choose one by number (if these are "
     "decimal commas, write points instead)"},
    {"a,b\n1,2\n", "c", ":1: no column 'c'; there are 2 columns: a, b"},
    {"a,b\n1,2\n", "3", ":1: no column '3'; there are 2 columns: a, b"},
    {"a,b\n1,2\n", "0", ":1: no column '0'; there are 2 columns: a, b"},
    {"a,b\n1,2\n", "-1", ":1: no column '-1'; there are 2 columns: a, b"},
    {"a,b\n1,2\n", "", ":1: no column ''; there are 2 columns: a, b"},
    {"a,b\n1,2\n", "99999999999999999999",
     ":1: no column '99999999999999999999'; there are 2 columns: a, b"},
    {"#\n1\n2\n", "2", ":2: no column '2'; there is 1 column without names"},
    {"a,a\n1,2\n", "a", ":1: several columns are named 'a'; choose by number"},
    {"1.5;1\n2,5;1\n", "1", ":2: not a number: '2,5'"},
    {"1,5;1\n1.234,5;1\n", "1", ":2: not a number: '1.234,5'"},
    {"x\nthis text is much longer than forty characters, it is cut\n", NULL,
     ":2: not a number: 'this text is much longer than forty char...' (start lines of "
     "text above the table with #)"},
    {"x\n1\n\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
     "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3"
     "\xA4"
     "c\xC3\xA4zz\n",
     NULL,
     ":3: not a number: '\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
     "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3"
     "\xA4"
     "\xC3\xA4\xC3\xA4"
     "c...'"},
};

static void complaints_name_the_line(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    for (int i = 0; i < XB_COUNT(bad_cases); i++) check_bad(ctx, &s, &bad_cases[i]);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

static void assert_says(xb_ctx *ctx, const char *path, const char *says)
{
    reading r = read_column(ctx, path, NULL);
    assert_int_equal(r.status, XB_E_INPUT);
    char expected[1024];
    snprintf(expected, sizeof expected, "%s%s", path, says);
    assert_string_equal(xb_ctx_message(ctx), expected);
}

static void what_is_no_text_is_refused(void **state)
{
    (void)state;
    static const char nul[] = "1\n2\0\n3\n", utf16[] = "\xFF\xFE"
                                                       "1\0\n\0";
    static const char binary[] = ": has NUL bytes (a binary file, or UTF-16), expected "
                                 "text or NPY";
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    assert_says(ctx, scratch_write(&s, "n", nul, sizeof nul - 1), binary);
    assert_says(ctx, scratch_write(&s, "u", utf16, sizeof utf16 - 1),
                ": this is a text in UTF-16; a table of numbers was expected; save it as "
                "UTF-8");
    assert_says(ctx, s.dir, ": this is a folder; a file was expected");
    assert_says(ctx, scratch_path(&s, "none"),
                ": cannot read: No such file or directory");
    if (ON_UNIX && geteuid() != 0) { /* root may read anything */
        scratch_write(&s, "shut", "1\n", 2);
        assert_int_equal(chmod(s.path, 0), 0);
        assert_says(ctx, s.path, ": cannot read: Permission denied");
    }
    reading r = read_column(ctx, NULL, NULL);
    assert_int_equal(r.status, XB_E_ARGUMENT);
    r = read_column(NULL, "/no/such/file", NULL); /* a context is not a must */
    assert_int_equal(r.status, XB_E_INPUT);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void many_names_fit_a_message(void **state)
{
    (void)state;
    enum { COLUMNS = 1000 };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    FILE *f = fopen(scratch_path(&s, "wide.csv"), "wb");
    assert_non_null(f);
    for (int k = 0; k < COLUMNS; k++) fprintf(f, "%scolumn%d", k ? "," : "", k);
    for (int k = 0; k < COLUMNS; k++) fprintf(f, "%c%d", k ? ',' : '\n', k);
    fclose(f);
    reading r = read_column(ctx, s.path, "none");
    assert_int_equal(r.status, XB_E_INPUT);
    assert_non_null(
        strstr(xb_ctx_message(ctx), "there are 1000 columns: column0, column1,"));
    assert_non_null(strstr(xb_ctx_message(ctx), ", ..."));
    r = read_column(ctx, s.path, "column999");
    assert_ok(ctx, r.status);
    assert_true(r.n == 1 && r.x[0] == 999);
    free(r.x);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* A line as long as may be is read; one byte more is refused, at the end of the
 * file or not, in the first block or later. */
static void long_lines_have_a_limit(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char *blanks = malloc(XB_CSV_LINE_MAX + 1);
    assert_non_null(blanks);
    memset(blanks, ' ', XB_CSV_LINE_MAX + 1);
    for (int where = 0; where < 4; where++)
        for (int extra = 0; extra < 2; extra++) {
            FILE *f = fopen(scratch_path(&s, "long"), "wb");
            assert_non_null(f);
            int before = where & 1 ? 700000 : 1;
            for (int i = 0; i < before; i++) fputs("4\n", f);
            fwrite(blanks, 1, (size_t)XB_CSV_LINE_MAX - 1 + (size_t)extra, f);
            fputs(where & 2 ? "5" : "5\n6\n", f);
            fclose(f);
            reading r = read_column(ctx, s.path, NULL);
            char line[64];
            snprintf(line, sizeof line, ":%d: line longer than 1 MiB", before + 1);
            if (extra) {
                assert_int_equal(r.status, XB_E_INPUT);
                assert_non_null(strstr(xb_ctx_message(ctx), line));
            } else {
                assert_ok(ctx, r.status);
                assert_int_equal(r.n, before + (where & 2 ? 1 : 2));
                assert_true(r.x[before] == 5);
                free(r.x);
            }
        }
    free(blanks);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Some MiB, so that lines straddle blocks at every offset; comments between, a
 * preamble longer than a block, and the right line number at the far end. */
static void blocks_do_not_show(void **state)
{
    (void)state;
    enum { PREAMBLE = 40000, ROWS = 300000 };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    for (int broken = 0; broken < 2; broken++) {
        FILE *f = fopen(scratch_path(&s, "big.csv"), "wb");
        assert_non_null(f);
        for (int i = 0; i < PREAMBLE; i++)
            fprintf(f, "# line %d of a long story, told before the data; %d,%d\n", i, i,
                    i);
        fputs("t;value\n", f);
        for (int i = 0; i < ROWS; i++)
            fprintf(f, "%d;%d,%03d%s\n", i, i / 7, i % 1000, i % 1000 ? "" : " # here");
        if (broken) fputs("1;x\n", f);
        fclose(f);
        reading r = read_column(ctx, s.path, "value");
        char where[64];
        snprintf(where, sizeof where, ":%d: not a number: 'x'", PREAMBLE + ROWS + 2);
        if (broken) assert_non_null(strstr(xb_ctx_message(ctx), where));
        if (broken) break;
        assert_ok(ctx, r.status);
        assert_int_equal(r.n, ROWS);
        for (int i = 0; i < ROWS; i++) {
            char text[64];
            snprintf(text, sizeof text, "%d.%03d", i / 7, i % 1000);
            assert_true(r.x[i] == strtod(text, NULL));
        }
        free(r.x);
    }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void stdin_is_read(void **state)
{
    (void)state;
    UNIX_ONLY("it reads from a pipe");
    xb_ctx *ctx = test_ctx();
    int ends[2], kept = dup(0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x\n1.5\n2.5\n", 10), 10);
    close(ends[1]);
    assert_int_equal(dup2(ends[0], 0), 0);
    close(ends[0]);
    reading r = read_column(ctx, "-", NULL);
    assert_ok(ctx, r.status);
    assert_true(r.n == 2 && r.x[0] == 1.5 && r.x[1] == 2.5);
    free(r.x);
    clearerr(stdin);
    if (kept >= 0) {
        dup2(kept, 0);
        close(kept);
    }
    xb_ctx_destroy(ctx);
}

typedef struct events {
    int count, stop_after;
    int64_t done, total;
    char task[256];
} events;

static bool listen(void *arg, const xb_progress *event)
{
    events *e = arg;
    e->count++;
    assert_true(event->done > e->done);
    e->done = event->done;
    e->total = event->total;
    snprintf(e->task, sizeof e->task, "%s", event->task);
    return e->stop_after == 0 || e->count < e->stop_after;
}

static void progress_is_told(void **state)
{
    (void)state;
    enum { ROWS = 2000000, LINE = 8 };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    FILE *f = fopen(scratch_path(&s, "p.csv"), "wb");
    assert_non_null(f);
    for (int i = 0; i < ROWS; i++) fputs("1.23456\n", f);
    fclose(f);
    events e = {.count = 0};
    xb_ctx_set_progress(ctx, listen, &e);
    reading r = read_column(ctx, s.path, NULL);
    assert_ok(ctx, r.status);
    free(r.x);
    assert_in_range(e.count, 3, 4); /* 16 MB, every 4 MiB */
    assert_int_equal(e.total, ROWS * LINE);
    assert_true(e.done <= e.total);
    assert_true(strncmp(e.task, "reading /tmp/", 13) == 0);
    e = (events){.stop_after = 2};
    r = read_column(ctx, s.path, NULL);
    assert_int_equal(r.status, XB_E_CANCELLED);
    assert_int_equal(e.count, 2);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    FILE *f = fopen(scratch_path(&s, "m.csv"), "wb");
    assert_non_null(f);
    fputs("a,b\n", f);
    for (int i = 0; i < 1000; i++) fprintf(f, "%d,%d\n", i, i);
    fclose(f);
    int failures = 0;
    for (int k = 0; fail_alloc_after(k); k++) {
        reading r = read_column(ctx, s.path, "b");
        bool happened = fail_alloc_happened();
        if (r.status == XB_OK) free(r.x);
        if (!happened) break;
        failures += r.status == XB_E_MEMORY;
        assert_true(r.status == XB_E_MEMORY || r.status == XB_OK); /* OK: not shrunk */
    }
    assert_true(failures >= 8);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* Whatever the bytes are: an answer, or one line that names the file. */
static void any_bytes_are_survived(void **state)
{
    (void)state;
    static const char alphabet[] = "0123456789.,;\t \n\n\r\"#eE+-naif\xFFx";
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 3000; i++) {
        char text[256];
        size_t n = 0, size = (size_t)(random % sizeof text);
        for (; n < size; n++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            text[n] = alphabet[(random >> 40) % (sizeof alphabet - (i % 2))];
        }
        scratch_write(&s, "f", text, n);
        reading r = read_column(ctx, s.path, i % 3 ? "1" : NULL);
        if (r.status == XB_OK) {
            assert_true(r.n > 0);
            for (int64_t k = 0; k < r.n; k++) assert_true(isfinite(r.x[k]));
            free(r.x);
        } else {
            assert_int_equal(r.status, XB_E_INPUT);
            assert_true(strncmp(xb_ctx_message(ctx), s.path, strlen(s.path)) == 0);
        }
    }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

/* A visitor sees every cell: what reading whole tables will build on. */
typedef struct sums {
    double sum[3];
    char names[64];
} sums;

static xb_status see_head(void *arg, const xb_csv_head *head)
{
    sums *s = arg;
    assert_int_equal(head->dialect.columns, 3);
    snprintf(s->names, sizeof s->names, "%s|%s|%s", head->names[0], head->names[1],
             head->names[2]);
    return XB_OK;
}

static xb_status see_row(void *arg, const xb_csv_row *row)
{
    sums *s = arg;
    for (int k = 0; k < 3; k++) {
        double value = NAN;
        XB_TRY(xb_csv_number(&value, row, k));
        s->sum[k] += value;
    }
    return XB_OK;
}

static void visitors_see_whole_rows(void **state)
{
    (void)state;
    static const char text[] = "x\ty\tlong name\n1\t2\t3,5\n10\t20\t30\n";
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    scratch_write(&s, "v", text, sizeof text - 1);
    sums seen = {.sum = {0}};
    xb_csv_visitor visitor = {.arg = &seen, .head = see_head, .row = see_row};
    xb_source source;
    assert_ok(ctx, xb_source_open(ctx, &source, s.path));
    assert_ok(ctx, xb_csv_read(&source, &visitor));
    xb_source_close(&source);
    assert_string_equal(seen.names, "x|y|long name");
    assert_true(seen.sum[0] == 11 && seen.sum[1] == 22 && seen.sum[2] == 33.5);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dialects_are_found),
        cmocka_unit_test(complaints_name_the_line),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(many_names_fit_a_message),
        cmocka_unit_test(long_lines_have_a_limit),
        cmocka_unit_test(blocks_do_not_show),
        cmocka_unit_test(stdin_is_read),
        cmocka_unit_test(progress_is_told),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(any_bytes_are_survived),
        cmocka_unit_test(visitors_see_whole_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
