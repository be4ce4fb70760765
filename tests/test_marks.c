/* test_marks.c: the ends of fields found many bytes at a time are those found one by one,
 * and a table read by windows is the table, wherever rows of something else stand. */
#include "xbtest.h"

#include "data/marks.h"

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static void marks_are_all_there(void **state)
{
    (void)state;
    enum { MOST = 700 };
    static const char letters[] = "1.5,,;\n\r\t -e";
    uint64_t random = 5;
    for (int i = 0; i < 3000; i++) {
        char text[MOST + XB_MARKS_BLOCK];
        uint32_t mark[MOST + XB_MARKS_BLOCK];
        int64_t n = next_random(&random) % (MOST + 1), found = 0;
        bool dense = i % 3 == 0;
        for (int k = 0; k < (int)sizeof text; k++)
            text[k] = dense ? ',' : letters[next_random(&random) % (sizeof letters - 1)];
        char separator = i % 2 ? ',' : '\0';
        int64_t count = xb_marks_find(mark, text, n, separator);
        for (int64_t k = 0; k < n; k++)
            if (text[k] == separator || text[k] == '\n') {
                assert_true(found < count);
                assert_int_equal(mark[found++], k);
            }
        assert_int_equal(found, count);
    }
}

/* Rows of numbers, now and then a comment, a blank line or a cell with blanks. */
static double write_table(FILE *file, int64_t rows, uint64_t *random)
{
    double sum = 0;
    for (int64_t i = 0; i < rows; i++) {
        double x = (double)next_random(random) * 0x1p-31, y = x - 3;
        uint32_t odd = next_random(random) % 50;
        if (odd == 0) fprintf(file, "# a comment, 1\n");
        if (odd == 1) fprintf(file, "\r\n");
        fprintf(file,
                odd == 2   ? " %.17g, %.3e\n"
                : odd == 3 ? "%.17g,%.3e\r\n"
                           : "%.17g,%.3e\n",
                x, y);
        char text[32];
        snprintf(text, sizeof text, "%.3e", y);
        sum += (double)(i % 7 + 1) * (x + strtod(text, NULL));
    }
    return sum;
}

static void odd_rows_are_read_too(void **state)
{
    (void)state;
    enum { ROWS = 60000 }; /* more than a block of the reader */
    uint64_t random = 9;
    char path[] = "/tmp/xb_marks_XXXXXX";
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    FILE *file = fdopen(handle, "w");
    assert_non_null(file);
    double want = write_table(file, ROWS, &random), sum = 0;
    fclose(file);
    xb_ctx *ctx = test_ctx();
    xb_frame *frame = NULL;
    xb_frame_options opt = xb_frame_options_default();
    assert_ok(ctx, xb_frame_read(ctx, &frame, path, &opt));
    assert_int_equal(xb_frame_row_count(frame), ROWS);
    assert_int_equal(xb_frame_feature_count(frame), 2);
    const double *v = xb_frame_values(frame);
    for (int64_t i = 0; i < ROWS; i++)
        sum += (double)(i % 7 + 1) * (v[2 * i] + v[2 * i + 1]);
    assert_true(sum == want);
    xb_frame_destroy(frame);
    xb_ctx_destroy(ctx);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_all_there),
        cmocka_unit_test(odd_rows_are_read_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
