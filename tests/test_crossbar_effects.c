/* test_crossbar_effects.c: each effect of an array by itself, against a hand-computed
 * value or the statistics it must have (wires: test_crossbar_wires.c). Statistical bounds
 * are five standard errors and wider: a false alarm in a million, and seeds are fixed. */
#include "arraytest.h"

#include "crossbar/analog.h"
#include "crossbar/array.h"
#include "rule/standard.h"

enum { IN = 60, OUT = 50, N = IN * OUT };

typedef struct bed {
    xb_array array;
    xb_cells c;
    xb_chip chip;
    double plus[N], minus[N], width[N], room[2 * N];
    float draws[N];
} bed;

/* Cells of one tile in the middle of their range. */
static bed *bed_make(xb_ctx *ctx, xb_sampler **normal)
{
    bed *b = calloc(1, sizeof *b);
    assert_non_null(b);
    xb_law *gaussian = test_law(ctx, "gaussian");
    assert_ok(ctx, xb_sampler_create(ctx, normal, gaussian, NULL));
    xb_law_destroy(gaussian);
    b->array = test_array("ideal");
    b->array.g_min_us = 20;
    b->c = (xb_cells){IN, OUT, IN, OUT, b->plus, b->minus, b->width,
                      1,  1,   0,  80,  NULL,    0,        false};
    b->chip = (xb_chip){xb_key_make(3, XB_PURPOSE_ARRAY), *normal, 2, b->draws, 0};
    for (int i = 0; i < N; i++) b->plus[i] = 60, b->minus[i] = 50, b->width[i] = 8;
    return b;
}

static double mean(const double *v, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += v[i];
    return sum / (double)n;
}

static double sd(const double *v, int64_t n)
{
    double m = mean(v, n), sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (v[i] - m) * (v[i] - m);
    return sqrt(sum / (double)(n - 1));
}

/* ---- targets and levels, by hand */

/* Range 20 to 100 uS: weights 2, -1, 0.5, 0 with the largest at the top are pairs
 * (100, 20), (20, 60), (40, 20), (20, 20); and back. */
static void weights_become_pairs(void **state)
{
    (void)state;
    const float mu[] = {2, -1, 0.5F, 0}, sigma[] = {0.4F, 0.1F, 0, 0.2F};
    double plus[4], minus[4], width[4];
    xb_cells c = {2, 2, 2, 2, plus, minus, width, 0, 0, 0, 0, NULL, 0, false};
    xb_array a = test_array("ideal");
    a.g_min_us = 20, a.sigma_max_us = 10, a.sigma_min_us = 2;
    xb_cells_target(&c, &a, mu, sigma);
    const double want_plus[] = {100, 20, 40, 20}, want_minus[] = {20, 60, 20, 20};
    const double want_width[] = {10, 2.5, 0, 5};
    for (int i = 0; i < 4; i++) {
        assert_close(plus[i], want_plus[i], 1e-14);
        assert_close(minus[i], want_minus[i], 1e-14);
        assert_close_floor(width[i], want_width[i], 1e-7, 1);
    }
    float back_mu[4], back_sigma[4];
    xb_cells_weights(&c, &a, back_mu, back_sigma);
    for (int i = 0; i < 4; i++) {
        assert_close_floor((double)back_mu[i], (double)mu[i], 1e-7, 1);
        assert_close_floor((double)back_sigma[i], (double)sigma[i], 1e-7, 1);
    }
    a.mean_levels = 3;  /* 20, 60, 100 */
    a.sigma_levels = 5; /* 2, 4, 6, 8, 10 */
    xb_cells_levels(&c, &a);
    const double level_plus[] = {100, 20, 20 + 40 * rint(0.5), 20};
    const double level_width[] = {10, 2, 2, 2 + 2 * rint(1.5)};
    for (int i = 0; i < 4; i++) {
        assert_close(plus[i], level_plus[i], 1e-14);
        assert_close(width[i], level_width[i], 1e-14);
    }
    a.sigma_levels = 0; /* a floor alone */
    width[1] = 0.5, width[3] = 3.3;
    xb_cells_levels(&c, &a);
    assert_close(width[1], 2, 0);
    assert_close(width[3], 3.3, 0);
}

/* ---- chance, from device to device */

static void written_conductances_miss(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_sampler *normal = NULL;
    bed *b = bed_make(ctx, &normal);
    b->array.program_error = 0.05; /* of 80 uS: 4 uS */
    xb_cells_program(&b->c, &b->array, NULL, &b->chip);
    assert_at_most(fabs(mean(b->plus, N) - 60), 5 * 4 / sqrt(N));
    assert_close(sd(b->plus, N), 4, 5 / sqrt(2.0 * N));
    assert_close(sd(b->minus, N), 4, 5 / sqrt(2.0 * N));
    for (int i = 0; i < N; i++) b->minus[i] = b->plus[i] - b->minus[i]; /* independent */
    assert_close(sd(b->minus, N), 4 * sqrt(2), 5 / sqrt(2.0 * N));
    assert_close(mean(b->width, N), 8, 0);
    for (int i = 0; i < N; i++) b->plus[i] = 0.1;
    xb_cells_program(&b->c, &b->array, NULL, &b->chip);
    for (int i = 0; i < N; i++) assert_true(b->plus[i] >= 0);
    xb_sampler_destroy(normal);
    free(b);
    xb_ctx_destroy(ctx);
}

static int share(const double *v, double value)
{
    int count = 0;
    for (int i = 0; i < N; i++) count += v[i] == value;
    return count;
}

static void devices_get_stuck(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_sampler *normal = NULL;
    bed *b = bed_make(ctx, &normal);
    b->array.stuck_low = 0.1, b->array.stuck_high = 0.2;
    xb_cells_stuck(&b->c, &b->array, &b->chip);
    const double *const of[] = {b->plus, b->minus, b->width};
    const double low[] = {20, 20, 0}, high[] = {100, 100, 80};
    for (int k = 0; k < 3; k++) {
        assert_at_most(fabs(share(of[k], low[k]) - 0.1 * N), 5 * sqrt(0.09 * N));
        assert_at_most(fabs(share(of[k], high[k]) - 0.2 * N), 5 * sqrt(0.16 * N));
    }
    int both = 0; /* G+ and G- of a pair fail by themselves */
    for (int i = 0; i < N; i++) both += b->plus[i] == 100 && b->minus[i] == 100;
    assert_at_most(fabs(both - 0.04 * N), 5 * sqrt(0.04 * N));
    xb_sampler_destroy(normal);
    free(b);
    xb_ctx_destroy(ctx);
}

static void widths_spread(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_sampler *normal = NULL;
    bed *b = bed_make(ctx, &normal);
    const double s = 0.3;
    b->array.sigma_spread = s;
    xb_cells_spread(&b->c, &b->array, &b->chip);
    assert_close(mean(b->width, N), 8, 5 * s * 1.1 / sqrt(N));
    for (int i = 0; i < N; i++) b->width[i] = log(b->width[i] / 8);
    assert_close(sd(b->width, N), s, 5 / sqrt(2.0 * N));
    assert_close_floor(mean(b->width, N), -0.5 * s * s, 5 * s / sqrt(N), 1);
    xb_sampler_destroy(normal);
    free(b);
    xb_ctx_destroy(ctx);
}

/* Bent noise has mean 0 and variance 1 exactly, whatever the law: a Gauss rule of eight
 * points integrates the polynomials without error. The gaussian
 * gets the skewness (3 sqrt 2 t + sqrt 8 t^3) / (1 + t^2)^1.5. */
static void bent_noise_keeps_mean_and_variance(void **state)
{
    (void)state;
    static const char *const laws[] = {"gaussian", "mtj:B=0.15,w=0.5", "bimodal:m=0.9"};
    enum { LAWS = 4, SAMPLES = 2000 };
    static double skewed[SAMPLES]; /* exponential: skewness 2 */
    xb_stream where = {xb_key_make(4, XB_PURPOSE_TEST), 0, 0, 0};
    for (int i = 0; i < SAMPLES; i++) skewed[i] = -log(xb_stream_uniform(&where, i));
    xb_ctx *ctx = test_ctx();
    const xb_kernels *cpu = xb_kernels_find(NULL);
    for (int l = 0; l < LAWS; l++) {
        xb_law *law = NULL;
        if (l < LAWS - 1)
            law = test_law(ctx, laws[l]);
        else
            assert_ok(ctx, xb_law_from_samples(ctx, &law, skewed, SAMPLES));
        xb_moments m = xb_law_moments(law);
        xb_rule rule = {0};
        assert_ok(ctx, xb_rule_fill_gauss(ctx, &rule, law, 8, XB_RECURRENCE_STABLE));
        for (int k = -2; k <= 2; k++) {
            double t = 0.2 * k, sum[4] = {0};
            double straight = 1 / sqrt(1 + t * t);
            double bent =
                t * straight / sqrt(m.excess_kurtosis + 2 - m.skewness * m.skewness);
            float level = (float)-bent, slope = (float)(straight - m.skewness * bent);
            float square = (float)bent;
            const xb_curve curve = {&level, &slope, &square};
            for (int64_t i = 0; i < rule.n; i++) {
                float z = (float)((rule.nodes[i] - m.mean) / sqrt(m.variance)), out;
                cpu->bend(&out, &curve, &z, 1);
                for (int p = 0; p < 4; p++)
                    sum[p] += rule.weights[i] * pow((double)out, p);
            }
            assert_close_floor(sum[1], 0, 1e-6, 1);
            assert_close(sum[2], 1, 2e-6);
            double skew =
                (3 * sqrt(2) * t + 8 * t * t * t / sqrt(8)) / pow(1 + t * t, 1.5);
            if (l == 0) assert_close_floor(sum[3], skew, 3e-6, 1);
        }
        xb_rule_free(&rule);
        xb_law_destroy(law);
    }
    xb_ctx_destroy(ctx);
}

/* The curves of a model's devices, level + slope z + square z^2: their mean and variance
 * are mu and sigma^2 under the law, and t, the ratio of what is bent to what is straight,
 * is normal with the spread asked for. Takes the law. */
static void check_devices_bend(xb_ctx *ctx, xb_law *law)
{
    const double spread = 0.2;
    xb_moments z = xb_law_moments(law);
    const double g = z.skewness, four = z.excess_kurtosis + 2, h2 = four - g * g;
    xb_model *m = net_model(ctx, "dense 60, relu, dense 1", (xb_shape){1, 1, 40}, 0, 0.1);
    xb_array array = test_array("ideal");
    xb_law_destroy(m->law);
    m->law = law;
    array.shape_spread = spread;
    xb_analog *a = test_analog(ctx, m, &array, NULL, 0);
    static double t[2400];
    for (int i = 0; i < 2400; i++) {
        const xb_curve c = xb_shape_curve(a, i);
        double slope = (double)c.slope[0], square = (double)c.square[0];
        double sigma = (double)a->sigma[i];
        assert_close_floor((double)c.level[0] + square, (double)a->mu[i], 1e-6, 1);
        assert_close(slope * slope + 2 * g * slope * square + four * square * square,
                     sigma * sigma, 3e-6);
        t[i] = square * sqrt(h2) / (slope + g * square);
    }
    assert_close_floor(mean(t, 2400), 0, 5 * spread / sqrt(2400), 1);
    assert_close(sd(t, 2400), spread, 5 / sqrt(2 * 2400.0));
    xb_analog_destroy(a);
    xb_model_destroy(m);
}

static void devices_bend_as_asked(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    check_devices_bend(ctx, test_law(ctx, "gaussian"));
    check_devices_bend(ctx, test_skewed_law(ctx));
    xb_ctx_destroy(ctx);
}

/* ---- converters */

static void converters_round_and_clip(void **state)
{
    (void)state;
    const xb_kernels *cpu = xb_kernels_find(NULL);
    xb_converter c = xb_converter_make(3, 6, true); /* -6, -4, .. 6 */
    const float x[] = {0, 0.9F, 1.1F, -2.9F, 5.1F, 99, -99, 3};
    const double want[] = {0, 0, 2, -2, 6, 6, -6, 4};
    float y[8], sum[8] = {0};
    cpu->quantise(y, x, &c.steps, 8);
    for (int i = 0; i < 8; i++) assert_close_floor((double)y[i], want[i], 1e-6, 1);
    cpu->quantise_add(sum, x, &c.steps, 8);
    cpu->quantise_add(sum, x, &c.steps, 8);
    for (int i = 0; i < 8; i++) assert_close_floor((double)sum[i], 2 * want[i], 1e-6, 1);
    c = xb_converter_make(2, 6, false); /* 0, 2, 4, 6 */
    cpu->quantise(y, x, &c.steps, 8);
    const double unsigned_want[] = {0, 0, 2, 0, 6, 6, 0, 4};
    for (int i = 0; i < 8; i++)
        assert_close_floor((double)y[i], unsigned_want[i], 1e-6, 1);
    c = xb_converter_make(20, 1, true); /* error at most half a step */
    for (int i = 0; i < 1000; i++) {
        float v = (float)(2 * i - 999) / 1000, w;
        cpu->quantise(&w, &v, &c.steps, 1);
        assert_at_most(fabs((double)w - (double)v), 0.51 / (524288 - 1) + 6e-8);
    }
    assert_false(xb_converter_make(0, 1, true).on);
    assert_false(xb_converter_make(8, 0, true).on); /* nothing was ever seen */
}

/* Every backend's kernels against the plain ones, odd sizes too; bits are the same. */
enum { LEVELS_MOST = 64 }; /* devices at once in hold_level */

static void levels_agree(const xb_kernels *ref, const xb_kernels *cpu, const float *fresh,
                         const uint32_t *word, int n)
{
    const uint32_t below[] = {UINT32_C(1) << 29, UINT32_C(1) << 30, UINT32_C(3) << 30};
    float z[2][LEVELS_MOST] = {{0}};
    int32_t level[2][LEVELS_MOST];
    for (int i = 0; i < LEVELS_MOST; i++) level[0][i] = level[1][i] = i % 5;
    ref->hold_level(z[0], level[0], fresh, word, below, 3, n);
    cpu->hold_level(z[1], level[1], fresh, word, below, 3, n);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_memory_equal(level[0], level[1], sizeof level[0]);
    for (int i = 0; i < n; i++) {
        int next = (word[i] >= below[0]) + (word[i] >= below[1]) + (word[i] >= below[2]);
        assert_int_equal(level[0][i], i % 5 <= 3 ? next : 4);
    }
}

static void backends_agree(void **state)
{
    (void)state;
    enum { MOST = 77 };
    const xb_kernels *ref = xb_kernels_find("ref");
    xb_steps steps = xb_converter_make(5, 0.9, true).steps;
    float x[MOST], a[MOST], b[MOST], want[MOST], got[MOST];
    uint32_t word[MOST];
    xb_stream where = {xb_key_make(8, XB_PURPOSE_TEST), 0, 0, 0};
    for (int i = 0; i < MOST; i++) {
        x[i] = (float)(4 * xb_stream_uniform(&where, i) - 2);
        a[i] = x[i] * x[i], b[i] = 1 - x[i];
        word[i] = xb_stream_word(&where, 1000 + i);
    }
    for (int k = 0; k < xb_backend_count(); k++) {
        const xb_kernels *cpu = xb_kernels_find(xb_backend_name(k));
        for (int n = 0; n <= MOST; n += n < 20 ? 1 : 19) {
            size_t bytes = (size_t)n * sizeof *x;
            ref->quantise(want, x, &steps, n), cpu->quantise(got, x, &steps, n);
            assert_memory_equal(want, got, bytes);
            ref->quantise_add(want, x, &steps, n), cpu->quantise_add(got, x, &steps, n);
            assert_memory_equal(want, got, bytes);
            for (int out = 1; out <= n; out += 7) { /* rows of them, with and without b */
                memcpy(want, x, bytes), memcpy(got, x, bytes);
                ref->quantise_onto(want, a, &steps, n / out, out);
                cpu->quantise_onto(got, a, &steps, n / out, out);
                assert_memory_equal(want, got, bytes);
                ref->quantise_onto(want, NULL, &steps, n / out, out);
                cpu->quantise_onto(got, NULL, &steps, n / out, out);
                assert_memory_equal(want, got, bytes);
            }
            const xb_curve curve = {a, b, a};
            ref->bend(want, &curve, x, n), cpu->bend(got, &curve, x, n);
            assert_memory_equal(want, got, bytes);
            memcpy(want, a, bytes), memcpy(got, a, bytes);
            ref->hold(want, x, word, UINT32_C(1) << 31, n);
            cpu->hold(got, x, word, UINT32_C(1) << 31, n);
            assert_memory_equal(want, got, bytes);
            if (n <= LEVELS_MOST) levels_agree(ref, cpu, x, word, n);
        }
    }
}

static void ranges_cover_their_share(void **state)
{
    (void)state;
    xb_spectrum *s = calloc(1, sizeof *s), *t = calloc(1, sizeof *t);
    float v[1000];
    for (int i = 0; i < 1000; i++) v[i] = (float)(i + 1);
    xb_spectrum_add(s, v, 600);
    xb_spectrum_add(t, v + 600, 400);
    assert_false(s->negative);
    v[0] = -1;
    xb_spectrum_add(t, v, 0);
    xb_spectrum_merge(s, t);
    assert_close(xb_spectrum_quantile(s, 1), 1000, 0);
    for (int p = 1; p < 10; p++) { /* upwards, by at most 1/128 */
        double q = xb_spectrum_quantile(s, 0.1 * p);
        assert_true(q >= 100 * p && q <= 100 * p * (1 + 1.0 / 64) + 1);
    }
    xb_spectrum_add(s, v, 1);
    assert_true(s->negative);
    free(s), free(t);
}

/* ---- memory of devices */

enum { DEVICES = 2000, STEPS = 400 };

/* Over devices and reads: moments up to the fourth are the law's, reads k apart correlate
 * as rho^k. A correlation over 800,000 pairs, 9 of which count as one, has a standard
 * error of at most 0.0034. */
static void devices_forget_at_their_rate(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "bimodal:m=0.9");
    xb_analog a = {.rho = 0.8,
                   .reads = xb_key_make(5, XB_PURPOSE_WEIGHT),
                   .forget = xb_key_make(5, XB_PURPOSE_ARRAY),
                   .kernels = xb_kernels_find(NULL)};
    assert_ok(ctx, xb_sampler_create(ctx, &a.sampler, law, NULL));
    static float z[STEPS][DEVICES], once[DEVICES];
    const xb_devices all = {3, DEVICES, 0, DEVICES};
    for (int s = 0; s < STEPS; s++) {
        if (s > 0) memcpy(z[s], z[s - 1], sizeof z[s]);
        xb_forget_draw(&a, z[s], &all, (xb_moment){.each = 1, .q = s}, s > 0);
    }
    for (int s = 0; s < STEPS;
         s += 57) { /* from anywhere, in parts too: the same bytes */
        xb_devices part = {3, DEVICES, 0, s % DEVICES};
        xb_forget_draw(&a, once, &part, (xb_moment){.each = 1, .q = s}, false);
        part = (xb_devices){3, DEVICES, part.to, DEVICES};
        xb_forget_draw(&a, once + part.from, &part, (xb_moment){.each = 1, .q = s},
                       false);
        assert_memory_equal(once, z[s], sizeof once);
    }
    double moment[5] = {0}, n = (double)STEPS * DEVICES;
    for (int s = 0; s < STEPS; s++)
        for (int i = 0; i < DEVICES; i++)
            for (int p = 1; p < 5; p++) moment[p] += pow((double)z[s][i], p) / n;
    double kurtosis = xb_law_moments(law).excess_kurtosis + 3;
    double se = sqrt((1 + 0.8) / (1 - 0.8) / n); /* of a mean: 9 reads count as one */
    assert_close_floor(moment[1], 0, 5 * se, 1);
    assert_close(moment[2], 1, 5 * se * sqrt(kurtosis - 1));
    assert_close_floor(moment[4], kurtosis, 5 * se * 2.8, 1); /* the sd of z^4 */
    for (int k = 1; k <= 5; k++) {
        double sum = 0;
        for (int s = k; s < STEPS; s++)
            for (int i = 0; i < DEVICES; i++)
                sum += (double)z[s][i] * (double)z[s - k][i];
        assert_close_floor(sum / ((double)(STEPS - k) * DEVICES), pow(0.8, k), 0.016, 1);
    }
    xb_sampler_destroy(a.sampler);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

/* Reads of a whole model that remember: fewer of them count. The variance of a mean over
 * S reads is (1 + rho) / (1 - rho) - 2 rho (1 - rho^S) / (S (1 - rho)^2) times that of
 * independent ones. 8000 means of 100 reads: 1.6 % for each variance, so 0.11 is five
 * standard errors of their ratio. */
static void correlated_reads_count_for_less(void **state)
{
    (void)state;
    enum { BLOCKS = 8000, BLOCK = 100 };
    xb_ctx *ctx = test_ctx();
    xb_model *m = net_model(ctx, "dense 1 nobias", (xb_shape){1, 1, 2}, 0, 0.2);
    double x[2] = {0.7, -0.4}, variance[2];
    static double block[BLOCKS];
    for (int k = 0; k < 2; k++) {
        xb_array a = test_array("ideal");
        a.read_interval_ns = 1;
        a.correlation_time_ns = k ? -1 / log(0.6) : 0;
        assert_close_floor(xb_array_correlation(&a), k ? 0.6 : 0, 1e-12, 1);
        double *v = test_reads(ctx, m, &a, x, 1, 0, (int64_t)BLOCKS * BLOCK);
        for (int b = 0; b < BLOCKS; b++) block[b] = mean(v + (int64_t)b * BLOCK, BLOCK);
        variance[k] = pow(sd(block, BLOCKS), 2);
        free(v);
    }
    double least = 2 * 0.6 * (1 - pow(0.6, BLOCK)) / (BLOCK * pow(1 - 0.6, 2));
    assert_close(variance[1] / variance[0], (1 + 0.6) / (1 - 0.6) - least, 0.11);
    xb_model_destroy(m);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_become_pairs),
        cmocka_unit_test(written_conductances_miss),
        cmocka_unit_test(devices_get_stuck),
        cmocka_unit_test(widths_spread),
        cmocka_unit_test(bent_noise_keeps_mean_and_variance),
        cmocka_unit_test(devices_bend_as_asked),
        cmocka_unit_test(converters_round_and_clip),
        cmocka_unit_test(backends_agree),
        cmocka_unit_test(ranges_cover_their_share),
        cmocka_unit_test(devices_forget_at_their_rate),
        cmocka_unit_test(correlated_reads_count_for_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
