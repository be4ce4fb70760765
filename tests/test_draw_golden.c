/* test_draw_golden.c: draws are the same bytes on every system. What they are compared
 * with was computed on x86-64 Linux; tools/cross.sh runs this test on Windows and in
 * WebAssembly, tools/aarch64.sh on AArch64.
 *
 * Tables and quantiles are made with exp() and erfc() of the C library, which another
 * library, or glibc on another processor, may round otherwise. For the law that has a gap
 * between its modes this reaches a few draws in a million, by one ulp; there the draws
 * must agree once they are rounded to a multiple of 2^-10. */
#include "xbtest.h"

#include "crossbayes/extend.h"

#if defined(__GLIBC__) && defined(__x86_64__)
enum { SAME_LIBRARY = 1 };
#else
enum { SAME_LIBRARY = 0 };
#endif

enum { DRAWS = 1 << 20 };

static const struct {
    const char *law;
    uint64_t bytes, rounded; /* hashes */
    bool depends;            /* on the C library, in its last bits */
} golden[] = {
    {"gaussian", 0xb30ae399f3b8f42e, 0xf982d716d0577d21, false},
    {"mtj", 0x06f93cccf0faa8af, 0x1aa36de91e106430, false},
    {"ecram", 0x8fe69de4955f4255, 0x0061cf958f2c9867, false},
    {"bimodal", 0xea016be76841b9fe, 0x901ca5000fc2d949, true},
};

static float *draw(xb_ctx *ctx, const char *text)
{
    xb_law *law = NULL;
    xb_sampler *sampler = NULL;
    float *z = malloc(DRAWS * sizeof *z);
    assert_non_null(z);
    assert_ok(ctx, xb_law_parse(ctx, &law, text));
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    const xb_stream where = {.key = xb_key_make(1, XB_PURPOSE_SAMPLE)};
    xb_sampler_fill(sampler, z, DRAWS, &where, 0);
    xb_sampler_destroy(sampler);
    xb_law_destroy(law);
    return z;
}

static int differs(const char *law, const char *what, uint64_t hash, uint64_t expected)
{
    if (hash == expected) return 0;
    print_error("%s, %s: 0x%016llx, expected 0x%016llx\n", law, what,
                (unsigned long long)hash, (unsigned long long)expected);
    return 1;
}

static void draws_are_the_same_bytes(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    int others = 0;
    for (int i = 0; i < XB_COUNT(golden); i++) {
        float *z = draw(ctx, golden[i].law);
        const uint64_t bytes = xb_hash_bytes(0, z, DRAWS * sizeof *z);
        for (int k = 0; k < DRAWS; k++) z[k] = roundf(z[k] * 0x1p10f) + 0.0f; /* no -0 */
        const uint64_t rounded = xb_hash_bytes(0, z, DRAWS * sizeof *z);
        if (SAME_LIBRARY || !golden[i].depends)
            others += differs(golden[i].law, "bytes", bytes, golden[i].bytes);
        else if (bytes != golden[i].bytes)
            print_message("%s: other last bits than with glibc on x86-64\n",
                          golden[i].law);
        others += differs(golden[i].law, "rounded", rounded, golden[i].rounded);
        free(z);
    }
    assert_int_equal(others, 0);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(draws_are_the_same_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
