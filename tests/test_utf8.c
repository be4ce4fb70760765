/* test_utf8.c: which bytes are UTF-8, against an encoder and a decoder written from the
 * definition: every code point, every pair of bytes, and all sequences of four bytes at
 * the ends of the ranges of Unicode's table 3-7. */
#include "xbtest.h"

#include "crossbayes/extend.h"

/* The bytes of a code point, ended by a NUL; their number. */
static int encode(char out[5], long point)
{
    const int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const int lead[] = {0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(lead[more] | (int)(point >> (6 * more)));
    for (int i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (int)((point >> (6 * (more - i))) & 0x3F));
    out[more + 1] = '\0';
    return more + 1;
}

/* The size of the first character: 0 if it is too long for its point, a surrogate, beyond
 * the last point or cut off. */
static int decoded_size(const unsigned char *p)
{
    const int more = p[0] < 0x80 ? 0 : p[0] >> 5 == 6 ? 1 : p[0] >> 4 == 14 ? 2 : 3;
    if (p[0] == 0 || (more == 3 && p[0] >> 3 != 30)) return 0;
    long point = more == 0 ? p[0] : p[0] & (0x3F >> more);
    for (int i = 1; i <= more; i++) {
        if (p[i] >> 6 != 2) return 0;
        point = point << 6 | (p[i] & 0x3F);
    }
    char again[5];
    if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return 0;
    return encode(again, point) == more + 1 ? more + 1 : 0;
}

static void every_point_has_its_bytes(void **state)
{
    (void)state;
    for (long point = 1; point <= 0x110000; point++) {
        char text[5];
        const int size = encode(text, point);
        const bool good = point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
        if (xb_utf8_size(text) != (good ? size : 0) || xb_utf8_valid(text) != good)
            fail_msg("point %lX: size %d", (unsigned long)point, (int)xb_utf8_size(text));
    }
}

static void other_bytes_are_refused(void **state)
{
    (void)state;
    for (int a = 0; a < 256; a++)
        for (int b = 0; b < 256; b++) {
            const unsigned char text[3] = {(unsigned char)a, (unsigned char)b, 0};
            assert_int_equal(xb_utf8_size((const char *)text), decoded_size(text));
        }
    static const unsigned char ends[] = {
        0x01, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
        0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF};
    enum { N = sizeof ends };
    for (int k = 0; k < N * N * N * N; k++) {
        const unsigned char text[5] = {ends[k % N], ends[k / N % N], ends[k / N / N % N],
                                       ends[k / N / N / N], 0};
        assert_int_equal(xb_utf8_size((const char *)text), decoded_size(text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_has_its_bytes),
        cmocka_unit_test(other_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
