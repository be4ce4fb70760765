/* What a file is by its first bytes, and what a reader then says of it. */
#include "scratch.h"

#include "crossbayes/extend.h"
#include "crossbayes/filekind.h"
#include "unixtest.h"

/* With its zero bytes, without the one that ends it. */
#define BYTES(kind, text)                                                                \
    {                                                                                    \
        kind, text, sizeof(text) - 1                                                     \
    }

static const struct known {
    xb_filekind kind;
    const char *bytes;
    size_t size; /* 0: of the text */
} cases[] = {
    {XB_KIND_TABLE, "x,y\n1,2\n3,4\n", 0},
    {XB_KIND_TABLE, "0.5\n-1e3\n", 0},
    {XB_KIND_TABLE, "\xef\xbb\xbf# noise\n\n 1;2\n", 0},
    {XB_KIND_TEXT, "Once upon a time\nthere was no table.\n", 0},
    {XB_KIND_TEXT, "1.5x\n2.5x\n", 0},
    {XB_KIND_JSON, "{\"a\": 1}", 0},
    {XB_KIND_JSON, " [1, 2]", 0},
    {XB_KIND_JSON, "{\"crossbayes\": \"poem\"}", 0},
    {XB_KIND_JSON, "{\"crossbayes\": 1}", 0},
    {XB_KIND_JSON, "{\"crossbayes\": \"la", 0},
    {XB_KIND_LAW, "{\n  \"crossbayes\" :\n \"law\", \"family\": \"mtj\"", 0},
    {XB_KIND_ARRAY, "{\"crossbayes\": \"array\"}", 0},
    {XB_KIND_EXPORT, "{\"crossbayes\": \"array export\"}", 0},
    {XB_KIND_COSTS, "{\"name\": 2, \"crossbayes\": \"costs\"}", 0},
    {XB_KIND_STUDY, "{\"crossbayes\": \"study\"}", 0},
    {XB_KIND_REPRODUCTION, "{\"crossbayes\": \"reproduction\"}", 0},
    BYTES(XB_KIND_MODEL,
          "\x40\0\0\0\0\0\0\0{\"__metadata__\":{\"crossbayes\":\"model\"}}"),
    BYTES(XB_KIND_CHECKPOINT,
          "\x40\0\0\0\0\0\0\0{\"__metadata__\":{\"crossbayes\":\"checkpoint\"}}"),
    BYTES(XB_KIND_SAFETENSORS, "\x10\0\0\0\0\0\0\0{\"weight\":{}}"),
    BYTES(XB_KIND_SAFETENSORS, "\x10\0\0\0\0\0\0\0{\"crossbayes\":\"law\"}"),
    BYTES(XB_KIND_UNKNOWN, "\x10\0\0\0\0\0\0\x80{\"weight\":{}}"),
    BYTES(XB_KIND_UNKNOWN, "\x10\0\0\0\0\0\0\0nothing"),
    BYTES(XB_KIND_NPY, "\x93NUMPY\1\0"),
    BYTES(XB_KIND_CACHE, "XBIMAGE\0"),
    BYTES(XB_KIND_IDX, "\0\0\x08\x03\0\0\0\x02"),
    BYTES(XB_KIND_UNKNOWN, "\0\0\0\0\0\0\0\0"),
    {XB_KIND_SVG, "<?xml version=\"1.0\"?>\n<svg width=\"1\">", 0},
    {XB_KIND_SVG, "<svg>", 0},
    {XB_KIND_HTML, "<!doctype HTML>\n<p>1,2", 0},
    {XB_KIND_HTML, "<html><body><svg></svg>", 0},
    {XB_KIND_XML, "<?xml version=\"1.0\"?><a/>", 0},
    BYTES(XB_KIND_PNG, "\x89PNG\r\n\x1a\n\0\0\0\r"),
    BYTES(XB_KIND_JPEG, "\xff\xd8\xff\xe0"),
    {XB_KIND_GIF, "GIF89a", 0},
    BYTES(XB_KIND_TIFF, "II*\0"),
    BYTES(XB_KIND_TIFF, "MM\0*"),
    {XB_KIND_PDF, "%PDF-1.5\n1 0 obj", 0},
    BYTES(XB_KIND_GZIP, "\x1f\x8b\x08\0"),
    BYTES(XB_KIND_XZ, "\xfd"
                      "7zXZ\0"),
    {XB_KIND_BZIP2, "BZh91AY", 0},
    BYTES(XB_KIND_ZSTD, "\x28\xb5\x2f\xfd"),
    BYTES(XB_KIND_NPZ,
          "PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0x.npy"),
    BYTES(XB_KIND_ZIP,
          "PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0x.csv"),
    BYTES(XB_KIND_ZIP,
          "PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0x.npy"),
    BYTES(XB_KIND_OFFICE, "PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x13\0\0\0"
                          "[Content_Types].xml"),
    {XB_KIND_PARQUET, "PAR1\x15", 0},
    BYTES(XB_KIND_ARROW, "ARROW1\0\0"),
    BYTES(XB_KIND_HDF5, "\x89HDF\r\n\x1a\n"),
    {XB_KIND_MATLAB, "MATLAB 5.0 MAT-file, Platform", 0},
    BYTES(XB_KIND_PICKLE, "\x80\x04\x95\0"),
    BYTES(XB_KIND_SQLITE, "SQLite format 3\0"),
    BYTES(XB_KIND_UTF16, "\xff\xfe"
                         "1\0\n\0"),
    {XB_KIND_PROGRAM,
     "\x7f"
     "ELF\2",
     0},
    {XB_KIND_UNKNOWN,
     "gr\xf6\xdf"
     "e,y\n1,2\n",
     0}, /* Latin-1 */
    {XB_KIND_UNKNOWN, " \n", 0},
    {XB_KIND_UNKNOWN, "1,2\n\1\2", 0},
};

enum { CASES = sizeof cases / sizeof *cases };

static size_t size_of(const struct known *c)
{
    return c->size ? c->size : strlen(c->bytes);
}

static void kinds_are_known_by_their_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        xb_filekind found = xb_filekind_of(cases[i].bytes, size_of(&cases[i]));
        if (found != cases[i].kind)
            fail_msg("case %d is taken for %s, expected %s", i, xb_filekind_words(found),
                     xb_filekind_words(cases[i].kind));
    }
    assert_int_equal(xb_filekind_of("", 0), XB_KIND_UNKNOWN);
}

/* No byte beyond the end is looked at (AddressSanitizer sees to it), wherever that is. */
static void heads_may_end_anywhere(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++)
        for (size_t n = 0; n <= size_of(&cases[i]); n++) {
            char *copy = malloc(n + 1);
            assert_non_null(copy);
            memcpy(copy, cases[i].bytes, n);
            char *whole = realloc(copy, n ? n : 1);
            (void)xb_filekind_of(whole, n);
            free(whole);
        }
}

/* A character that the end of the head cuts in two is no reason to doubt a text. */
static void a_long_text_may_be_cut_in_a_character(void **state)
{
    (void)state;
    static char text[8192];
    for (size_t shift = 0; shift < 2; shift++) {
        size_t at = 0;
        memcpy(text, "1,2\n#", 5);
        for (at = 5 + shift; at + 2 < sizeof text; at += 2)
            memcpy(text + at, "\xc3\xb6", 2);
        if (shift) text[5] = ' ';
        scratch s = scratch_make();
        scratch_write(&s, "long.csv", text, at);
        assert_int_equal(xb_filekind_detect(s.path), XB_KIND_TABLE);
        scratch_remove(&s);
    }
}

static void what_is_no_file_is_not_read(void **state)
{
    (void)state;
    scratch s = scratch_make();
    assert_int_equal(xb_filekind_detect(s.dir), XB_KIND_FOLDER);
    assert_int_equal(xb_filekind_detect(scratch_path(&s, "none")), XB_KIND_UNKNOWN);
    assert_int_equal(xb_filekind_detect("-"), XB_KIND_UNKNOWN);
    scratch_remove(&s);
}

static void a_pipe_is_not_waited_for(void **state)
{
    (void)state;
    UNIX_ONLY("it makes a pipe with a name");
    scratch s = scratch_make();
    assert_int_equal(mkfifo(scratch_path(&s, "pipe"), 0600), 0);
    assert_int_equal(xb_filekind_detect(s.path), XB_KIND_UNKNOWN);
    scratch_remove(&s);
}

/* Only a failure by the input is explained, and only by another kind. */
static void only_another_kind_is_an_explanation(void **state)
{
    (void)state;
    static const char law[] = "{\"crossbayes\": \"law\"}";
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    scratch_write(&s, "a.json", law, sizeof law - 1);
    xb_note(ctx, "own words");
    assert_int_equal(xb_filekind_explain(ctx, XB_OK, s.path, XB_KIND_MODEL), XB_OK);
    assert_int_equal(xb_filekind_explain(ctx, XB_E_MEMORY, s.path, XB_KIND_MODEL),
                     XB_E_MEMORY);
    assert_int_equal(xb_filekind_explain(ctx, XB_E_INPUT, s.path, XB_KIND_LAW),
                     XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx), "own words");
    scratch_write(&s, "b.json", "{}", 2); /* may have been meant as a law */
    assert_int_equal(xb_filekind_explain(ctx, XB_E_INPUT, s.path, XB_KIND_LAW),
                     XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx), "own words");
    scratch_path(&s, "a.json");
    assert_int_equal(xb_filekind_explain(ctx, XB_E_INPUT, s.path, XB_KIND_MODEL),
                     XB_E_INPUT);
    assert_non_null(strstr(xb_ctx_message(ctx),
                           "a.json: this is a law file; a model file was expected"));
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_known_by_their_bytes),
        cmocka_unit_test(heads_may_end_anywhere),
        cmocka_unit_test(a_long_text_may_be_cut_in_a_character),
        cmocka_unit_test(what_is_no_file_is_not_read),
        cmocka_unit_test(a_pipe_is_not_waited_for),
        cmocka_unit_test(only_another_kind_is_an_explanation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
