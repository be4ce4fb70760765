/* test_draw.c: draws. The double path against the law's own distribution, the
 * float path over every one of the 2^31 masses, all kernels against the scalar
 * one, addressing, and the statistics of streams. */
#include "xbtest.h"

#ifdef XB_HAS_GSL
#include <gsl/gsl_cdf.h>
#endif

#include "base/both.h"
#include "base/ctx.h"
#include "draw/kernel.h"
#include "law/family.h"

static const char *const every_law[] = {
    "gaussian",
    "mtj:B=0.15,w=0.5",
    "mtj:B=0.05,w=0.3",
    "mtj:B=0.5,w=0.8",
    "mtj:B=0.15,w=1",
    "mtj:B=0.15,w=0",
    "mtj:B=0.01,w=0.5",
    "mtj:B=0.003,w=0.5",
    "mtj:B=0.001,w=0.5",
    "mtj:B=0.01,w=1",
    "mtj:B=1e6,w=0.5",
    "ecram:B=0.1,w=0.6",
    "ecram:B=0.02,w=0.4",
    "ecram:B=1,w=0.7",
    "ecram:B=0.0005,w=0.5",
    "ecram:B=0.003,w=1",
    "bimodal:m=0.9",
    "bimodal:m=0.5",
    "bimodal:m=0.99",
    "laplace",
    "student:nu=2.05",
    "student:nu=3",
    "student:nu=100",
    "sinh-arcsinh:epsilon=0,delta=0.5",
    "sinh-arcsinh:epsilon=0.5,delta=0.8",
    "sinh-arcsinh:epsilon=-2,delta=3",
    "levels:x=-1/0.5,p=0.3/0.7,s=0.1",
    "levels:x=-3/-1/0/1/1.5/2/4/5,s=0.1/0.2/0.3/0.4/0.02/0.1/0.1/0.5",
};

/* Levels of this build; an older processor may lack the last of them. */
#if defined(__aarch64__)
static const char *const every_level[] = {"ref", "neon"};
#else
static const char *const every_level[] = {"ref", "v2", "v3", "v4"};
#endif

static xb_sampler *sampler_of(xb_ctx *ctx, const xb_law *law, bool standardise)
{
    xb_sampler *s = NULL;
    xb_sampler_options opt = xb_sampler_options_default();
    opt.standardise = standardise;
    assert_ok(ctx, xb_sampler_create(ctx, &s, law, &opt));
    return s;
}

/* An asymmetric law with a long tail: the shape measured traces have. */
static xb_law *skewed_law(xb_ctx *ctx)
{
    enum { N = 4000 };
    static double x[N];
    xb_stream at = {xb_key_make(5, XB_PURPOSE_TEST), 0, 0, 0};
    for (int i = 0; i < N; i++) x[i] = -log(xb_stream_uniform(&at, i)); /* exponential */
    xb_law *law = NULL;
    assert_ok(ctx, xb_law_from_samples(ctx, &law, x, N));
    assert_false(xb_law_is_symmetric(law));
    return law;
}

/* Five narrow levels with gaps between them: random telegraph noise. */
static xb_law *levels_law(xb_ctx *ctx)
{
    enum { N = 20000, LEVELS = 5, RUN = N / LEVELS };
    static double x[N];
    const double width = 0.1;
    xb_stream at = {xb_key_make(5, XB_PURPOSE_TEST), 1, 0, 0};
    for (int i = 0; i < N; i++) {
        double u = 0;
        for (int k = 0; k < 3; k++) u += xb_stream_uniform(&at, 3 * i + k) / 3;
        x[i] = i / RUN + width * (2 * u - 1);
    }
    xb_law *law = NULL;
    assert_ok(ctx, xb_law_from_samples(ctx, &law, x, N));
    return law;
}

/* Runs a check on every law and on two made from samples. */
static void for_each_law(void (*check)(xb_ctx *, const xb_law *))
{
    xb_ctx *ctx = test_ctx();
    for (int j = 0; j < XB_COUNT(every_law); j++) {
        xb_law *law = test_law(ctx, every_law[j]);
        check(ctx, law);
        xb_law_destroy(law);
    }
    xb_law *sampled[] = {skewed_law(ctx), levels_law(ctx)};
    for (int j = 0; j < XB_COUNT(sampled); j++) {
        check(ctx, sampled[j]);
        xb_law_destroy(sampled[j]);
    }
    xb_ctx_destroy(ctx);
}

/* |Q(G(u)) - u| <= 1e-14, and relatively 1e-9 down to u = 1e-12, in both tails. */
static void check_double_path(xb_ctx *ctx, const xb_law *law)
{
    xb_sampler *s = sampler_of(ctx, law, false);
    double worst = 0, worst_relative = 0;
    for (int upper = 0; upper < 2; upper++)
        for (int i = 0; i < 20000; i++) {
            /* half of them even in u, half in log u */
            double v = i % 2 ? 0.5 * (i + 1) / 20000 : pow(10, -12 + 11.69 * i / 20000);
            double x = xb_sampler_quantile(s, v, upper);
            double mass = upper ? xb_law_survival(law, x) : xb_law_cdf(law, x);
            worst = fmax(worst, fabs(mass - v));
            worst_relative = fmax(worst_relative, fabs(mass - v) / v);
        }
    if (!(worst <= 1e-14) || !(worst_relative <= 1e-9))
        fail_msg("%s: u-error %.3g, relative %.3g", xb_law_text(law), worst,
                 worst_relative);
    /* below any draw's reach the law itself answers */
    double far = xb_sampler_quantile(s, 1e-40, false);
    assert_true(far == xb_law_quantile(law, 1e-40));
    assert_true(isnan(xb_sampler_quantile(s, 0, false)));
    assert_true(isnan(xb_sampler_quantile(s, 0.6, false)));
    xb_sampler_destroy(s);
}

static void double_path_is_exact(void **state)
{
    (void)state;
    for_each_law(check_double_path);
}

/* What steep laws lose to the rounding of a float, besides 5e-7. */
static double float_allowance(const xb_law *law, double x)
{
    return fmax(5e-7, 1.5 * xb_law_pdf(law, x) * fabs(x - xb_law_mean(law)) * 0x1p-23);
}

/* u-error over the whole range: about two million words a half, dense at both
 * ends. */
static void check_float_error(xb_ctx *ctx, const xb_law *law)
{
    xb_sampler *s = sampler_of(ctx, law, true);
    double mean = xb_law_mean(law), sd = xb_law_sd(law), worst = 0;
    uint32_t step = SANITIZED ? 39989 : 3989;
    for (int upper = 0; upper < (xb_law_is_symmetric(law) ? 1 : 2); upper++)
        for (uint32_t k = 0; k < 0x80000000u;) {
            uint32_t word = k | (uint32_t)upper << 31;
            double x = mean + sd * (double)xb_sampler_value(s, word);
            double v = ((double)k + 0.5) * 0x1p-32;
            double mass = upper ? xb_law_survival(law, x) : xb_law_cdf(law, x);
            if (!(fabs(mass - v) <= float_allowance(law, x)))
                fail_msg("%s: word %08x misses u by %.3g", xb_law_text(law), word,
                         fabs(mass - v));
            worst = fmax(worst, fabs(mass - v));
            bool end = k < 1000 || k > 0x80000000u - 1000;
            k += end ? 1 : step;
        }
    xb_sampler_destroy(s);
}

static void float_path_is_close(void **state)
{
    (void)state;
    for_each_law(check_float_error);
}

/* Every word of one half: inside the support, the exact sums of z and z^2 over all of
 * them, and in order, except that where the law is steep rounding may take a draw back by
 * the last bit of a float: 77,003 of the 2^31 words of student:nu=2.05. */
typedef struct sweep {
    double sum, square;
} sweep;

static sweep sweep_half(const xb_sampler *s, const xb_law *law, bool upper)
{
    enum { CHUNK = 1 << 14 };
    static uint32_t word[CHUNK];
    static float z[CHUNK];
    sweep all = {0, 0};
    float furthest = upper ? INFINITY : -INFINITY;
    double lower = (xb_law_lower(law) - xb_law_mean(law)) / xb_law_sd(law);
    double top = (xb_law_upper(law) - xb_law_mean(law)) / xb_law_sd(law);
    for (uint64_t from = 0; from < UINT64_C(1) << 31; from += CHUNK) {
        for (int i = 0; i < CHUNK; i++)
            word[i] = (uint32_t)(from + (uint64_t)i) | (upper ? 0x80000000u : 0);
        xb_sampler_map(s, z, word, CHUNK);
        double sum = 0, square = 0;
        for (int i = 0; i < CHUNK; i++) {
            float back = nextafterf(furthest, upper ? INFINITY : -INFINITY);
            if (upper ? z[i] > back : z[i] < back)
                fail_msg("%s: word %08x goes back", xb_law_text(law), word[i]);
            furthest = upper ? fminf(furthest, z[i]) : fmaxf(furthest, z[i]);
            sum += (double)z[i];
            square += (double)z[i] * (double)z[i];
        }
        if (!((double)z[0] >= lower && (double)z[CHUNK - 1] >= lower &&
              (double)z[0] <= top))
            fail_msg("%s: word %08x leaves the support", xb_law_text(law), word[0]);
        all.sum += sum;
        all.square += square;
    }
    return all;
}

static void check_every_word(xb_ctx *ctx, const xb_law *law)
{
    xb_sampler *s = sampler_of(ctx, law, true);
    sweep low = sweep_half(s, law, false), high = {-low.sum, low.square};
    if (!xb_law_is_symmetric(law)) high = sweep_half(s, law, true);
    double mean = (low.sum + high.sum) * 0x1p-32;
    double variance = (low.square + high.square) * 0x1p-32 - mean * mean;
    /* Without a fourth moment the tail beyond the last word has some of the variance:
     * test_families.c compares what is left. */
    if (!isfinite(xb_law_moments(law).excess_kurtosis)) variance = 1;
    if (!(fabs(variance - 1) <= 1e-6 && fabs(mean) <= 1e-6))
        fail_msg("%s: over all words mean %.3g, variance 1 %+.3g", xb_law_text(law), mean,
                 variance - 1);
    xb_sampler_destroy(s);
}

/* Any bits of a and b, and of c near -a b, where the sum cancels and roundings meet. */
static void fused_in_double_is_fused(void **state)
{
    (void)state;
#if defined(_WIN32)
    SKIP_WITHOUT("fmaf, which rounds twice on Windows");
#endif
    enum { TRIALS = 1000000 };
    uint64_t seen = 1;
    for (int i = 0; i < TRIALS; i++) {
        float v[3];
        for (int k = 0; k < 3; k++) {
            seen = seen * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint32_t bits = (uint32_t)(seen >> 32);
            if (i % 2) bits = (bits & 0x807fffff) | (100u + bits % 60) << 23;
            memcpy(&v[k], &bits, sizeof bits);
        }
        if (i % 4 == 3) v[2] = -v[0] * v[1] * (1 + (float)(i % 7 - 3) * 0x1p-23f);
        float got = xb_fused_by_double(v[0], v[1], v[2]), want = fmaf(v[0], v[1], v[2]);
        if (!(got == want || (isnan(got) && isnan(want))))
            fail_msg("%a * %a + %a is %a, not %a", v[0], v[1], v[2], want, got);
    }
}

static void every_word_in_order(void **state)
{
    (void)state;
    if (SANITIZED) {
        print_message("skipped: 2^31 words are for the optimised build\n");
        skip();
    }
    if (test_long()) {
        for_each_law(check_every_word);
        return;
    }
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    check_every_word(ctx, law);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* Levels with fused multiply-add: the same bytes. The one without: within 4 ulp
 * of the largest value at hand. */
static void check_levels(xb_ctx *ctx, const xb_law *law)
{
    enum { N = 3000 };
    float right[N], z[N];
    xb_stream at = {xb_key_make(3, XB_PURPOSE_TEST), 1, 2, 3};
    xb_sampler *s = sampler_of(ctx, law, true);
    for (int64_t i = 0; i < N; i++)
        right[i] = xb_sampler_value(s, xb_stream_word(&at, i));
    for (int j = 0; j < XB_COUNT(every_level); j++) {
        if (!xb_sampler_fill_level(s, every_level[j], z, N, &at, 0)) continue;
        bool fused = xb_kernel_find(every_level[j])->fused;
        for (int i = 0; i < N; i++) {
            double slack = fused ? 0 : 4 * 0x1p-23 * fmax(1, fabs((double)right[i]));
            if (!(fabs((double)z[i] - (double)right[i]) <= slack))
                fail_msg("%s, level %s: element %d is %.9g, expected %.9g",
                         xb_law_text(law), every_level[j], i, (double)z[i],
                         (double)right[i]);
        }
    }
    xb_sampler_destroy(s);
}

static void levels_agree(void **state)
{
    (void)state;
    assert_null(xb_kernel_find("v9"));
    for_each_law(check_levels);
}

/* A product that makes its draws is the one with draws made before, byte for byte:
 * whole rows, parts of them, more blocks than are looked at together, some of them with
 * slow draws. */
static void check_product(const xb_sampler *s, const char *level, int64_t width,
                          int64_t w_row, int64_t first)
{
    enum { ROWS = 2, DEPTH = 5, MOST = 1152 };
    const xb_kernel *kernel = xb_kernel_find(level);
    xb_stream at = {xb_key_make(3, XB_PURPOSE_TEST), 1, 2, 3};
    static float mu[DEPTH * MOST], sigma[DEPTH * MOST], z[DEPTH * MOST];
    float x[ROWS * DEPTH], y[ROWS * MOST], right[ROWS * MOST];
    for (int i = 0; i < ROWS * MOST; i++) y[i] = right[i] = (float)(i % 11);
    for (int i = 0; i < ROWS * DEPTH; i++) x[i] = (float)i / 3 - 1;
    for (int i = 0; i < DEPTH * MOST; i++) {
        mu[i] = (float)(i % 7) / 7;
        sigma[i] = (float)(i % 5) / 9;
    }
    assert_true(
        xb_sampler_fill_level(s, level, z, DEPTH * w_row - (w_row - width), &at, first));
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < DEPTH; k++)
            for (int64_t j = 0; j < width; j++) {
                int64_t i = k * w_row + j;
                float w = mu[i] + sigma[i] * z[i], in = x[r * DEPTH + k];
                float *out = right + r * MOST + j;
                *out = kernel->fused ? xb_fused(in, w, *out) : in * w + *out;
            }
    xb_draw_product job = {.y = y,
                           .x = x,
                           .mu = mu,
                           .sigma = sigma,
                           .rows = ROWS,
                           .depth = DEPTH,
                           .width = width,
                           .x_row = DEPTH,
                           .y_row = MOST,
                           .w_row = w_row};
    xb_sampler_multiply(s, kernel, &job, &at, first);
    assert_memory_equal(y, right, sizeof y);
}

static void check_products(xb_ctx *ctx, const xb_law *law)
{
    xb_sampler *s = sampler_of(ctx, law, true);
    for (int j = 0; j < XB_COUNT(every_level); j++) {
        const xb_kernel *kernel = xb_kernel_find(every_level[j]);
        if (!kernel || !kernel->multiply) continue;
        check_product(s, every_level[j], 64, 64, 0);
        check_product(s, every_level[j], 64, 192, 128);
        check_product(s, every_level[j], 192, 256, 64);
        check_product(s, every_level[j], 1152, 1152, 0);
    }
    xb_sampler_destroy(s);
}

static void products_use_the_same_draws(void **state)
{
    (void)state;
    for_each_law(check_products);
}

static void words_of_every_level(void **state)
{
    (void)state;
    xb_stream at = {xb_key_make(3, XB_PURPOSE_TEST), 0xfffffff0u, 77, 0x80000001u};
    int64_t block[] = {0, 1, 12345, (XB_STREAM_MAX >> 6) - 3};
    for (int j = 0; j < XB_COUNT(every_level); j++) {
        const xb_kernel *kernel = xb_kernel_find(every_level[j]);
        if (!kernel) {
            print_message("skipped: this machine has no level %s\n", every_level[j]);
            continue;
        }
        for (int b = 0; b < XB_COUNT(block); b++) {
            uint32_t word[3 * XB_BLOCK];
            kernel->words(word, 3, &at, block[b]);
            for (int i = 0; i < 3 * XB_BLOCK; i++)
                assert_int_equal(word[i], xb_stream_word(&at, block[b] * XB_BLOCK + i));
        }
    }
}

/* Any start and length: element i does not know how it was asked for. */
static void any_slice_is_the_same(void **state)
{
    (void)state;
    enum { N = 700 };
    static const int64_t start[] = {0, 1, 17, 63, 64, 65, 130};
    static const int64_t length[] = {0, 1, 17, 63, 64, 65, 127, 500};
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    xb_sampler *s = sampler_of(ctx, law, true);
    xb_stream at = {xb_key_make(11, XB_PURPOSE_TEST), 0, 0, 0};
    float whole[N], part[N];
    double whole_d[N], part_d[N];
    xb_sampler_fill(s, whole, N, &at, 0);
    xb_sampler_fill_double(s, whole_d, N, &at, 0);
    for (int i = 0; i < XB_COUNT(start); i++)
        for (int j = 0; j < XB_COUNT(length); j++) {
            memset(part, 0x55, sizeof part);
            xb_sampler_fill(s, part, length[j], &at, start[i]);
            assert_memory_equal(part, whole + start[i], (size_t)length[j] * sizeof *part);
            if (length[j] < N)
                assert_int_equal(((unsigned char *)(part + length[j]))[0], 0x55);
            xb_sampler_fill_double(s, part_d, length[j], &at, start[i]);
            assert_memory_equal(part_d, whole_d + start[i],
                                (size_t)length[j] * sizeof *part_d);
        }
    xb_sampler_destroy(s);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    enum { N = 1000003 };
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "mtj:B=0.15,w=0.5");
    xb_sampler *s = sampler_of(ctx, law, true);
    xb_stream at = {xb_key_make(11, XB_PURPOSE_TEST), 0, 0, 0};
    float *one = malloc(N * sizeof *one), *many = malloc(N * sizeof *many);
    xb_sampler_fill(s, one, N, &at, 5);
    static const int threads[] = {1, 2, 3, 8};
    for (int j = 0; j < XB_COUNT(threads); j++) {
        xb_ctx_set_threads(ctx, threads[j]);
        memset(many, 0, N * sizeof *many);
        xb_sampler_fill_parallel(ctx, s, many, N, &at, 5);
        assert_memory_equal(one, many, N * sizeof *one);
    }
    free(one);
    free(many);
    xb_sampler_destroy(s);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* The law may be destroyed before its sampler. */
static void sampler_keeps_its_law(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "bimodal:m=0.9");
    double right = xb_law_quantile(law, 1e-50);
    xb_sampler *s = sampler_of(ctx, law, false);
    xb_law_destroy(law);
    assert_true(xb_sampler_quantile(s, 1e-50, false) == right);
    xb_sampler_destroy(s);
    xb_sampler_destroy(NULL);
    xb_ctx_destroy(ctx);
}

/* Kolmogorov-Smirnov distance of n draws; sqrt(n) D above 2.2 has probability
 * 1.3e-4, so the 21 laws false-alarm once in 400 choices of the seed. */
static void check_distribution(xb_ctx *ctx, const xb_law *law)
{
    enum { N = 200000 };
    static float z[N];
    static double u[N];
    xb_sampler *s = sampler_of(ctx, law, false);
    xb_stream at = {xb_key_make(2024, XB_PURPOSE_TEST), 0, 0, 0};
    xb_sampler_fill(s, z, N, &at, 0);
    int bin[1000] = {0};
    for (int i = 0; i < N; i++) {
        u[i] = xb_law_cdf(law, (double)z[i]);
        int b = (int)(u[i] * 1000);
        bin[b < 1000 ? b : 999]++;
    }
    double below = 0, distance = 0;
    for (int b = 0; b < 1000; b++) { /* at bin edges: within 1e-3 of the supremum */
        below += bin[b];
        distance = fmax(distance, fabs(below / N - (b + 1) / 1000.0));
    }
    assert_at_most(distance * sqrt(N), 2.2);
    xb_sampler_destroy(s);
}

static void draws_follow_their_law(void **state)
{
    (void)state;
    for_each_law(check_distribution);
}

static double correlation(const float *a, const float *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum / n;
}

/* Neighbours in every direction are uncorrelated: |r| sqrt(n) above 4.5 has
 * probability 7e-6. */
static void streams_are_independent(void **state)
{
    (void)state;
    enum { N = 1 << 17 };
    static float a[N + 64], b[N + 64];
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    xb_sampler *s = sampler_of(ctx, law, true);
    const xb_stream base = {xb_key_make(1, XB_PURPOSE_TEST), 0, 0, 0};
    xb_sampler_fill(s, a, N + 64, &base, 0);
    const double limit = 4.5 / sqrt(N);
    for (int lag = 1; lag <= 64; lag++)
        assert_at_most(fabs(correlation(a, a + lag, N)), limit);
    xb_stream other[] = {base, base, base, base, base};
    other[0].tensor = 1;
    other[1].sample = 1;
    other[2].step = 1;
    other[3].key = xb_key_make(2, XB_PURPOSE_TEST);
    other[4].key = xb_key_make(1, XB_PURPOSE_WEIGHT);
    for (int j = 0; j < XB_COUNT(other); j++) {
        xb_sampler_fill(s, b, N, &other[j], 0);
        assert_at_most(fabs(correlation(a, b, N)), limit);
    }
    xb_sampler_destroy(s);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* Modes 40 standard deviations apart: half the draws in each, none between. */
static void no_mode_is_lost(void **state)
{
    (void)state;
    enum { N = 100000 };
    static float z[N];
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "bimodal:m=0.999");
    xb_sampler *s = sampler_of(ctx, law, true);
    xb_stream at = {xb_key_make(4, XB_PURPOSE_TEST), 0, 0, 0};
    xb_sampler_fill(s, z, N, &at, 0);
    int right = 0, between = 0;
    for (int i = 0; i < N; i++) {
        right += z[i] > 0;
        between += fabs((double)z[i]) < 0.6;
    }
    assert_int_equal(between, 0);
    assert_at_most(fabs(right - 0.5 * N), 4.5 * 0.5 * sqrt(N));
    xb_sampler_destroy(s);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void gaussian_is_gsls(void **state)
{
    (void)state;
#ifdef XB_HAS_GSL
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    for (double v = 1e-300; v < 0.5; v *= 3.7)
        assert_close_floor(xb_law_quantile(law, v), gsl_cdf_ugaussian_Pinv(v), 2e-14,
                           1e-2);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
#else
    SKIP_WITHOUT("GSL");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_path_is_exact),
        cmocka_unit_test(float_path_is_close),
        cmocka_unit_test(fused_in_double_is_fused),
        cmocka_unit_test(every_word_in_order),
        cmocka_unit_test(levels_agree),
        cmocka_unit_test(products_use_the_same_draws),
        cmocka_unit_test(words_of_every_level),
        cmocka_unit_test(any_slice_is_the_same),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(sampler_keeps_its_law),
        cmocka_unit_test(draws_follow_their_law),
        cmocka_unit_test(streams_are_independent),
        cmocka_unit_test(no_mode_is_lost),
        cmocka_unit_test(gaussian_is_gsls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
