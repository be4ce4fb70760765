/* test_npy_head.c: the header of a .npy file is the one that NumPy writes, for every
 * length of the text: a dictionary, blanks that leave 21 digits for the first length,
 * blanks up to a multiple of 64 bytes, a line feed (numpy.lib.format, version 1.0). */
#include "xbtest.h"

#include <stdio.h>
#include <string.h>

#include "data/npyhead.h"

/* The same text, put together in another way; returns its size. */
static size_t expected_head(char out[1024], const xb_npy_head *h)
{
    char shape[256] = "", text[512], first[32] = "";
    for (int i = 0; i < h->ndim; i++) {
        char length[32];
        snprintf(length, sizeof length, "%s%lld", i ? ", " : "", (long long)h->shape[i]);
        if (i == 0) memcpy(first, length, sizeof first);
        strcat(shape, length);
    }
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s%s), }",
             h->type, h->fortran ? "True" : "False", shape, h->ndim == 1 ? "," : "");
    size_t used = strlen(text), room = h->ndim > 0 ? 21 - strlen(first) : 0;
    size_t size = (10 + used + room + 1 + 63) / 64 * 64;
    memset(out, ' ', size);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)((size - 10) % 256), out[9] = (char)((size - 10) / 256);
    memcpy(out + 10, text, used);
    out[size - 1] = '\n';
    return size;
}

static void headers_are_numpys(void **state)
{
    (void)state;
    static const char *const types[] = {"<f8", "|u1", "<i2"};
    int sizes[4] = {0};
    for (int t = 0; t < 3; t++)
        for (int dimensions = 0; dimensions <= 6; dimensions++)
            for (int64_t length = 0; length < (int64_t)1e17; length = 10 * length + 7) {
                xb_npy_head h = {.ndim = dimensions, .fortran = dimensions % 2 == 0};
                snprintf(h.type, sizeof h.type, "%s", types[t]);
                for (int i = 0; i < dimensions; i++)
                    h.shape[i] = i ? length / (1 + i) : length;
                char got[512], expected[1024];
                size_t size = expected_head(expected, &h);
                assert_true(size <= sizeof got);
                assert_int_equal(xb_npy_head_format(got, &h), size);
                assert_memory_equal(got, expected, size);
                sizes[size / 64 < 3 ? size / 64 : 3]++;
            }
    for (int i = 1; i < 4; i++)
        assert_true(i == 1 || sizes[i] > 10); /* both sides of 64 k */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_numpys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
