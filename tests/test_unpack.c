/* test_unpack.c: gzipped tables are read as plain ones; damage is told. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "failalloc.h"
#include "scratch.h"

#include "crossbayes/data.h"

enum { ROWS = 40000 }; /* more than any buffer on the way */

static size_t make_text(char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "x,y\n");
    for (int i = 0; i < ROWS; i++)
        used += (size_t)snprintf(out + used, size - used, "%d,%d\n", i, i * i % 1009);
    return used;
}

/* `text` as gzip data of `parts` parts, one behind the other. */
static size_t make_packed(scratch *s, const char *name, const char *text, size_t size,
                          int parts, char *bytes, size_t room)
{
    for (int p = 0; p < parts; p++) {
        const size_t from = size * (size_t)p / (size_t)parts,
                     to = size * (size_t)(p + 1) / (size_t)parts;
        gzFile f = gzopen(scratch_path(s, name), p ? "ab" : "wb");
        assert_non_null(f);
        assert_int_equal(gzwrite(f, text + from, (unsigned)(to - from)),
                         (int)(to - from));
        assert_int_equal(gzclose(f), Z_OK);
    }
    return scratch_read(s->path, bytes, room);
}

static void check_values(xb_ctx *ctx, const char *path)
{
    xb_frame *frame = NULL;
    assert_ok(ctx, xb_frame_read(ctx, &frame, path, NULL));
    assert_int_equal(xb_frame_row_count(frame), ROWS);
    for (int i = 0; i < ROWS; i++)
        assert_true(xb_frame_values(frame)[2 * i + 1] == i * i % 1009);
    xb_frame_destroy(frame);
}

static void packed_tables_are_read(void **state)
{
    (void)state;
    enum { ROOM = 1 << 20 };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char *text = malloc(ROOM), *bytes = malloc(ROOM);
    assert_true(text && bytes);
    const size_t size = make_text(text, ROOM);
    for (int parts = 1; parts <= 3; parts++) {
        const size_t packed = make_packed(&s, "t.csv.gz", text, size, parts, bytes, ROOM);
        check_values(ctx, s.path);
        memset(bytes + packed, 0, 10); /* padding behind the data, as tapes have it */
        check_values(ctx, scratch_write(&s, "t.csv", bytes, packed + 10));
    }
    double *column = NULL;
    int64_t n = 0;
    assert_ok(ctx, xb_column_read(ctx, &column, &n, s.path, "x"));
    assert_int_equal(n, ROWS);
    assert_true(column[ROWS - 1] == ROWS - 1);
    xb_free(column);
    free(text);
    free(bytes);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void assert_refused(xb_ctx *ctx, const char *path, const char *says)
{
    xb_frame *frame = NULL;
    assert_int_equal(xb_frame_read(ctx, &frame, path, NULL), XB_E_INPUT);
    assert_null(frame);
    if (!strstr(xb_ctx_message(ctx), says)) fail_msg("says: %s", xb_ctx_message(ctx));
}

static void damage_is_told(void **state)
{
    (void)state;
    enum { ROOM = 1 << 20 };
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char *text = malloc(ROOM), *bytes = malloc(ROOM);
    assert_true(text && bytes);
    const size_t size = make_text(text, ROOM);
    const size_t packed = make_packed(&s, "t.csv.gz", text, size, 1, bytes, ROOM);
    for (size_t cut = 3; cut < packed; cut += packed / 9)
        assert_refused(ctx, scratch_write(&s, "cut.gz", bytes, cut), "ends early");
    assert_refused(ctx, scratch_write(&s, "cut.gz", bytes, packed - 1), "ends early");
    bytes[packed / 2] ^= 0x55;
    assert_refused(ctx, scratch_write(&s, "bad.gz", bytes, packed), "bad.gz: damaged");
    make_packed(&s, "p.png.gz", "\x89PNG\r\n\x1a\n1,2", 11, 1, bytes, ROOM);
    assert_refused(ctx, s.path, "this is a PNG image; a table of numbers was expected");
    free(text);
    free(bytes);
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    char bytes[256];
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    make_packed(&s, "t.csv.gz", "x\n1\n2\n", 6, 1, bytes, sizeof bytes);
    for (int k = 0; fail_alloc_after(k); k++) {
        double *x = NULL;
        int64_t n = 0;
        xb_status status = xb_column_read(ctx, &x, &n, s.path, NULL);
        bool failed = fail_alloc_happened();
        assert_ran_out(ctx, failed, status, x, k);
        xb_free(x);
        if (!failed) break;
    }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_tables_are_read),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
