/* test_known_draws.c: draws of every law, known from x86-64 with GCC and glibc. Floats
 * are the same bytes on every machine, compiler and C library, at every level with fused
 * multiply-add. Doubles come from the law's own functions and so from the C library,
 * whose last bits differ: AArch64's glibc gives others by up to 1.4e-15. */
#include "xbtest.h"

#include <inttypes.h>

#include "base/ctx.h"
#include "draw/kernel.h"

enum { N = 4096 };

typedef struct known_draws {
    const char *law; /* "skewed": test_skewed_law() */
    uint64_t floats; /* hash of N of them */
    double last;     /* draw N - 1 in double */
} known_draws;

static const known_draws known[] = {
    {"gaussian", UINT64_C(0xde7d29c101b37c4e), 1.62431436232756},
    {"mtj", UINT64_C(0xecb9f107c3936011), 1.7648033688798102},
    {"mtj:B=0.01,w=1", UINT64_C(0x2b9a6dd025ae97b7), 1.5983442995195274},
    {"mtj:B=0.003,w=0.5", UINT64_C(0xd296f456bd883b2a), 1.8952485756350825},
    {"mtj:B=1e6,w=0.5", UINT64_C(0xc64684fe6dac7de6), 1.639795522033852},
    {"ecram", UINT64_C(0xedf8d271d22c4024), 1.7015157954046851},
    {"ecram:B=0.02,w=0.4", UINT64_C(0x0bd7c56135191bdd), 1.8086065575506443},
    {"ecram:B=0.0005,w=0.5", UINT64_C(0xcf9f97e9feea9999), 1.8941503856313224},
    {"bimodal", UINT64_C(0x21a4cc980428df39), 1.4480776365593393},
    {"bimodal:m=0.99", UINT64_C(0xfb5bb3d02ba2d881), 1.1673747314937399},
    {"laplace", UINT64_C(0x2b9a6dd025ae97b7), 1.5983442995195269},
    {"student", UINT64_C(0x83d14de673219991), 1.5352641456996936},
    {"student:nu=2.5", UINT64_C(0x656f82a4c4af1c74), 1.1194822610792683},
    {"sinh-arcsinh:epsilon=0.5,delta=0.8", UINT64_C(0x21ba4e31e7086f7a),
     1.9202774851161128},
    {"levels", UINT64_C(0x5f37fa12b39a1d68), 1.1201507917505511},
    {"levels:x=-1/0.5,p=0.3/0.7,s=0.1", UINT64_C(0x3ff59e10efaefa01),
     0.85557708716484526},
    {"skewed", UINT64_C(0x8f1a81a2ac956fe1), 2.0887265747104213},
};

static xb_sampler *sampler_of(xb_ctx *ctx, const char *text)
{
    xb_law *law = strcmp(text, "skewed") ? test_law(ctx, text) : test_skewed_law(ctx);
    xb_sampler *s = NULL;
    assert_ok(ctx, xb_sampler_create(ctx, &s, law, NULL));
    xb_law_destroy(law);
    return s;
}

static xb_stream where(void)
{
    return (xb_stream){xb_key_make(11, XB_PURPOSE_TEST), 1, 2, 3};
}

static void floats_are_known(void **state)
{
    (void)state;
    static float z[N];
    const xb_stream at = where();
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(known); i++) {
        xb_sampler *s = sampler_of(ctx, known[i].law);
        for (int l = 0; xb_level_at(l); l++) {
            if (!xb_level_at(l)->draw->fused) continue;
            xb_sampler_fill_level(s, xb_level_at(l)->name, z, N, &at, 0);
            uint64_t hash = xb_hash_bytes(0, z, sizeof z);
            if (hash != known[i].floats)
                fail_msg("%s, level %s: hash 0x%016" PRIx64 ", expected 0x%016" PRIx64,
                         known[i].law, xb_level_at(l)->name, hash, known[i].floats);
        }
        xb_sampler_destroy(s);
    }
    xb_ctx_destroy(ctx);
}

static void doubles_are_known(void **state)
{
    (void)state;
    static double z[N];
    const xb_stream at = where();
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(known); i++) {
        xb_sampler *s = sampler_of(ctx, known[i].law);
        xb_sampler_fill_double(s, z, N, &at, 0);
        assert_close_floor(z[N - 1], known[i].last, 1e-14, 1);
        xb_sampler_destroy(s);
    }
    xb_ctx_destroy(ctx);
}

/* The word at the median of a symmetric law gives 0, not what is left of it by rounding,
 * which differs from one C library to another. */
static void the_median_is_0(void **state)
{
    (void)state;
    static const char *const law[] = {"gaussian", "mtj",     "ecram", "bimodal",
                                      "laplace",  "student", "levels"};
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(law); i++) {
        xb_sampler *s = sampler_of(ctx, law[i]);
        assert_true(xb_sampler_value(s, 0x7fffffffu) == 0);
        assert_true(xb_sampler_value(s, 0xffffffffu) == 0);
        xb_sampler_destroy(s);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_known),
        cmocka_unit_test(doubles_are_known),
        cmocka_unit_test(the_median_is_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
