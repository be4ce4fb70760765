/* tabletest.h: reads tables of a few lines and checks their contents. */
#ifndef TABLETEST_H
#define TABLETEST_H

#include "scratch.h"

static inline xb_frame_options learning(const char *target)
{
    xb_frame_options opt = xb_frame_options_default();
    opt.target = target;
    opt.prepare = true;
    return opt;
}

static inline xb_frame *read_text(xb_ctx *ctx, scratch *s, const char *text,
                                  const xb_frame_options *opt)
{
    xb_frame *frame = NULL;
    scratch_write(s, "t.csv", text, strlen(text));
    assert_ok(ctx, xb_frame_read(ctx, &frame, s->path, opt));
    return frame;
}

static inline void assert_row_is(const xb_frame *f, int64_t row, const double *expected,
                                 int64_t n)
{
    assert_int_equal(xb_frame_feature_count(f), n);
    for (int64_t i = 0; i < n; i++)
        if (xb_frame_values(f)[row * n + i] != expected[i])
            fail_msg("row %lld, '%s' is %g, expected %g", (long long)row,
                     xb_frame_feature_name(f, i), xb_frame_values(f)[row * n + i],
                     expected[i]);
}
/* assert_row(f, row, VALUE...) */
#define assert_row(f, row, ...)                                                          \
    assert_row_is(f, row, (const double[]){__VA_ARGS__},                                 \
                  sizeof(const double[]){__VA_ARGS__} / sizeof(double))

static inline void assert_names(const xb_frame *f, const char *const *names, int64_t n)
{
    assert_int_equal(xb_frame_feature_count(f), n);
    for (int64_t i = 0; i < n; i++)
        assert_string_equal(xb_frame_feature_name(f, i), names[i]);
}

static inline bool has_note(const xb_frame *f, const char *text)
{
    for (int64_t i = 0; i < xb_frame_note_count(f); i++)
        if (strstr(xb_frame_note_at(f, i), text)) return true;
    return false;
}

static inline void assert_note(const xb_frame *f, const char *text)
{
    if (has_note(f, text)) return;
    for (int64_t i = 0; i < xb_frame_note_count(f); i++)
        print_message("note: %s\n", xb_frame_note_at(f, i));
    fail_msg("no note says '%s'", text);
}

/* Rows of this form, where I is the row's number, Y-M-D a date, V a number that repeats.
 */
static inline char *many_rows(int rows, const char *head, const char *form)
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

#endif
