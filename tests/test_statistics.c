/* test_statistics.c: the battery of battery.h examines 2e6 draws of two laws, with
 * XB_LONG=1 2e8 draws of every law, and with XB_LONG=2 1e9. All p-values together must be
 * uniform, and the battery must catch generators that are broken. raw_stream.sh gives the
 * raw words to a battery of others. */
#include "battery.h"

/* `student` is not among them: the battery compares moments up to the eighth, which few
 * degrees of freedom do not have. test_draw.c examines its draws. */
static const char *const laws[] = {"gaussian",
                                   "mtj:B=0.15,w=0.5",
                                   "mtj:B=0.05,w=0.3",
                                   "mtj:B=0.15,w=1",
                                   "mtj:B=0.15,w=0",
                                   "mtj:B=1e-3,w=0.5",
                                   "mtj:B=1e6,w=0.5",
                                   "ecram:B=0.1,w=0.6",
                                   "ecram:B=1,w=0.7",
                                   "ecram:B=3e-3,w=1",
                                   "bimodal:m=0.9",
                                   "bimodal:m=0.5",
                                   "bimodal:m=0.99",
                                   "laplace",
                                   "sinh-arcsinh:epsilon=0.5,delta=0.8",
                                   "levels:x=-1/0.5,p=0.3/0.7,s=0.1"};

/* A skewed law and one of two narrow levels, from samples. */
static xb_law *sampled_law(xb_ctx *ctx, bool levels)
{
    enum { N = 4000 };
    static double x[N];
    xb_stream at = {xb_key_make(5, XB_PURPOSE_TEST), levels, 0, 0};
    for (int i = 0; i < N; i++) {
        double u = xb_stream_uniform(&at, i);
        x[i] = levels ? i % 2 + 0.05 * u : -log(u);
    }
    xb_law *law = NULL;
    assert_ok(ctx, xb_law_from_samples(ctx, &law, x, N));
    return law;
}

enum { POOL = P_VALUES * (XB_COUNT(laws) + 2) };

typedef struct pool {
    double p[POOL];
    int64_t n;
} pool;

static void check_law(xb_ctx *ctx, pool *all, const xb_law *law, int64_t draws,
                      int number)
{
    battery_result r = battery_run(ctx, law, xb_sampler_fill, draws, number);
    int worst = battery_worst(&r);
    print_message("%s: %d p-values of %.0e draws, the least %.2g (%s)\n",
                  xb_law_text(law), r.count, (double)draws, r.p[worst], r.name[worst]);
    for (int i = 0; i < r.count; i++) {
        if (r.p[i] < P_ALARM) fail_msg("%s: p = %.3g", r.name[i], r.p[i]);
        all->p[all->n++] = r.p[i];
    }
}

static int64_t draws_wanted(void)
{
    const char *set = getenv("XB_DRAWS"); /* another number, for a look */
    if (set) return (int64_t)strtod(set, NULL);
    return test_exhaustive() ? 1000000000
           : test_long()     ? 200000000
           : SANITIZED       ? 1 << 18
                             : 1 << 21;
}

static void draws_pass_the_battery(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    static pool all;
    int count = test_long() ? XB_COUNT(laws) : 2;
    for (int i = 0; i < count; i++) {
        xb_law *law = test_law(ctx, laws[i]);
        check_law(ctx, &all, law, draws_wanted(), i);
        xb_law_destroy(law);
    }
    for (int i = 0; i < 2 && test_long(); i++) {
        xb_law *law = sampled_law(ctx, i);
        check_law(ctx, &all, law, draws_wanted(), XB_COUNT(laws) + i);
        xb_law_destroy(law);
    }
    /* all of them together: uniform (KS on some dozens to hundreds; those of one law
     * depend on each other a little) */
    double p = uniform_p(all.p, all.n);
    print_message("%d p-values: uniform with p = %.2g\n", (int)all.n, p);
    assert_true(p > 1e-4);
    xb_ctx_destroy(ctx);
}

/* ---- generators that are broken */

static void tensor_ignored(const xb_sampler *s, float *z, int64_t n, const xb_stream *at,
                           int64_t first)
{
    xb_stream where = *at;
    where.tensor = 0;
    xb_sampler_fill(s, z, n, &where, first);
}

static void sample_ignored(const xb_sampler *s, float *z, int64_t n, const xb_stream *at,
                           int64_t first)
{
    xb_stream where = *at;
    where.sample = 0;
    xb_sampler_fill(s, z, n, &where, first);
}

static void step_halved(const xb_sampler *s, float *z, int64_t n, const xb_stream *at,
                        int64_t first)
{
    xb_stream where = *at;
    where.step /= 2;
    xb_sampler_fill(s, z, n, &where, first);
}

static void seed_ignored(const xb_sampler *s, float *z, int64_t n, const xb_stream *at,
                         int64_t first)
{
    xb_stream where = *at;
    where.key.word[0] = where.key.word[1] = 7;
    xb_sampler_fill(s, z, n, &where, first);
}

/* A block of counters used again for the next 64 elements. */
static void counters_reused(const xb_sampler *s, float *z, int64_t n, const xb_stream *at,
                            int64_t first)
{
    for (int64_t i = 0; i < n; i += 64)
        xb_sampler_fill(s, z + i, n - i < 64 ? n - i : 64, at, first + i / 128 * 64);
}

/* A counter that stands still in one word of four. */
static void words_alike(const xb_sampler *s, float *z, int64_t n, const xb_stream *at,
                        int64_t first)
{
    xb_sampler_fill(s, z, n, at, first);
    for (int64_t i = 0; i + 16 < n; i += 64) z[i + 16] = z[i];
}

static void scale_off(const xb_sampler *s, float *z, int64_t n, const xb_stream *at,
                      int64_t first)
{
    xb_sampler_fill(s, z, n, at, first);
    for (int64_t i = 0; i < n; i++) z[i] *= 1.005F;
}

static void tail_cut(const xb_sampler *s, float *z, int64_t n, const xb_stream *at,
                     int64_t first)
{
    xb_sampler_fill(s, z, n, at, first);
    for (int64_t i = 0; i < n; i++) z[i] = z[i] > 2.6F ? z[i] - 2.6F : z[i];
}

static void low_bits_short(const xb_sampler *s, float *z, int64_t n, const xb_stream *at,
                           int64_t first)
{
    enum { SOME = 64 };
    for (int64_t i = 0; i < n; i += SOME) {
        uint32_t word[SOME];
        int64_t some = n - i < SOME ? n - i : SOME;
        for (int64_t j = 0; j < some; j++)
            word[j] = xb_stream_word(at, first + i + j) & 0xFFC00000u; /* ten bits */
        xb_sampler_map(s, z + i, word, some);
    }
}

static void broken_generators_are_caught(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        draw_fn draw;
    } broken[] = {{"the tensor ignored", tensor_ignored},
                  {"the sample ignored", sample_ignored},
                  {"every second step", step_halved},
                  {"the seed ignored", seed_ignored},
                  {"counters used twice", counters_reused},
                  {"one word in 64 a copy", words_alike},
                  {"0.5 % too wide", scale_off},
                  {"a tail cut off", tail_cut},
                  {"ten bits a draw", low_bits_short}};
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    const int64_t draws = 1 << 21;
    for (int i = 0; i < XB_COUNT(broken); i++) {
        battery_result r = battery_run(ctx, law, broken[i].draw, draws, 0);
        int worst = battery_worst(&r);
        print_message("%s: %s, p = %.2g\n", broken[i].name, r.name[worst], r.p[worst]);
        if (!(r.p[worst] < P_ALARM)) fail_msg("%s is not noticed", broken[i].name);
    }
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* The p-values themselves: known points of both distributions. */
static void p_values_are_right(void **state)
{
    (void)state;
    assert_close(kolmogorov_p(1.3580986), 0.05, 1e-5); /* Smirnov 1948 */
    assert_close(kolmogorov_p(1.6276236), 0.01, 1e-5);
    assert_close(anderson_p(2.492367), 0.05, 1e-3); /* Lewis 1961 */
    assert_close(anderson_p(3.878125), 0.01, 1e-3);
    double p[1000];
    for (int i = 0; i < 1000; i++) p[i] = (i + 0.5) / 1000;
    assert_true(uniform_p(p, 1000) > 0.999);
    for (int i = 0; i < 1000; i++) p[i] = pow((i + 0.5) / 1000, 1.3);
    assert_true(uniform_p(p, 1000) < 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p_values_are_right),
        cmocka_unit_test(draws_pass_the_battery),
        cmocka_unit_test(broken_generators_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
