/* Reads that remember at many rates (maths X19): shares from a correlation, the law of
 * every read, the correlation of reads, values from anywhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arraytest.h"
#include "crossbar/analog.h"
#include "failalloc.h"

enum { LAGS = 12 };

static void power_law(double *r, double exponent)
{
    for (int i = 0; i < LAGS; i++) r[i] = 0.7 * pow(2, -exponent * i);
}

static void shares_give_back_the_correlation(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double r[LAGS];
    power_law(r, 0.3);
    xb_held *held = NULL;
    assert_ok(ctx, xb_held_make(ctx, &held, r, LAGS));
    double sum = 0, time = 1;
    for (int l = 0; l <= held->top; l++) sum += held->share[l];
    assert_close(sum, 1, 1e-12);
    assert_close(xb_held_correlation(held, 0), 1, 1e-12);
    for (int i = 0; i < LAGS; i++)
        assert_close(xb_held_correlation(held, ldexp(1, i)), r[i], 1e-12);
    assert_close(xb_held_correlation(held, 3), (r[1] + r[2]) / 2, 1e-12);
    for (int k = 1; k <= 1 << held->top; k++) time += 2 * xb_held_correlation(held, k);
    assert_close(xb_held_time(held), time, 1e-10);
    for (int64_t n = 1; n <= 3000;
         n *= 7) { /* blocks shorter and longer than the reads */
        double burst = 1;
        for (int64_t k = 1; k < n; k++)
            burst +=
                2 * (1 - (double)k / (double)n) * xb_held_correlation(held, (double)k);
        assert_close(xb_held_sum(held, n), burst, 1e-10);
    }
    free(held);
    xb_ctx_destroy(ctx);
}

static void white_reads_have_one_level(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_held *held = NULL;
    assert_ok(ctx, xb_held_make(ctx, &held, (double[]){0}, 1));
    assert_int_equal(held->top, 0);
    assert_close(held->share[0], 1, 1e-15);
    assert_close(xb_held_time(held), 1, 1e-15);
    free(held);
    xb_ctx_destroy(ctx);
}

/* What is not convex, or below 0, or rises, becomes the largest convex curve below. */
static void what_is_not_convex_is_lowered(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    const double r[] = {0.9, 0.8, 0.7, -0.1, 0.2}; /* lags 1, 2, 4, 8, 16 */
    xb_held *held = NULL;
    assert_ok(ctx, xb_held_make(ctx, &held, r, 5));
    /* from (0, 1) straight to (8, 0): every point of r above it */
    for (int i = 0; i < 5; i++)
        assert_close_floor(xb_held_correlation(held, ldexp(1, i)),
                           fmax(1 - ldexp(1, i) / 8, 0), 1e-12, 1);
    assert_close(held->share[3], 1, 1e-12);
    free(held);
    xb_ctx_destroy(ctx);
}

static void bad_correlations_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_held *held = NULL;
    const double r[] = {0.5, NAN};
    assert_int_equal(xb_held_make(ctx, &held, r, 0), XB_E_ARGUMENT);
    assert_int_equal(xb_held_make(ctx, &held, r, XB_HELD_LEVELS), XB_E_ARGUMENT);
    assert_int_equal(xb_held_make(ctx, &held, r, 2), XB_E_ARGUMENT);
    assert_null(held);
    xb_ctx_destroy(ctx);
}

/* ---- reads */

enum { DEVICES = 4000, STEPS = 300, EACH = 3 };

typedef struct bench {
    xb_ctx *ctx;
    xb_law *law;
    xb_analog analog;
} bench;

static void bench_make(bench *b, const double *r, int lags)
{
    b->ctx = test_ctx();
    b->law = test_law(b->ctx, "bimodal:m=0.9");
    b->analog = (xb_analog){.reads = xb_key_make(5, XB_PURPOSE_WEIGHT),
                            .forget = xb_key_make(5, XB_PURPOSE_ARRAY),
                            .kernels = xb_kernels_find(NULL)};
    assert_ok(b->ctx, xb_sampler_create(b->ctx, &b->analog.sampler, b->law, NULL));
    assert_ok(b->ctx, xb_held_make(b->ctx, &b->analog.held, r, lags));
}

static void bench_free(bench *b)
{
    free(b->analog.held);
    xb_sampler_destroy(b->analog.sampler);
    xb_law_destroy(b->law);
    xb_ctx_destroy(b->ctx);
}

static xb_moment moment_at(int64_t q)
{
    return (xb_moment){.first = 2 * EACH, .each = EACH, .q = q};
}

/* Some devices, in parts, without what was before. */
static void draw_parts(const xb_analog *a, float *z, int32_t *level, int64_t q)
{
    const int64_t cut = 1000 + 7 * q;
    xb_devices part = {3, DEVICES, 0, cut};
    xb_held_draw(a, z, level, &part, moment_at(q), false);
    part = (xb_devices){3, DEVICES, cut, DEVICES};
    xb_held_draw(a, z + cut, level + cut, &part, moment_at(q), false);
}

/* Reads from anywhere have the bytes of reads one after the other, over more operations
 * than a block of most levels. */
static void reads_start_anywhere(void **state)
{
    (void)state;
    double r[LAGS];
    power_law(r, 0.25);
    bench b;
    bench_make(&b, r, LAGS);
    static float z[DEVICES], once[DEVICES];
    static int32_t level[DEVICES], level_once[DEVICES];
    const xb_devices all = {3, DEVICES, 0, DEVICES};
    for (int q = 0; q < STEPS; q++) {
        xb_held_draw(&b.analog, z, level, &all, moment_at(q), q > 0);
        if (q % 37) continue;
        draw_parts(&b.analog, once, level_once, q);
        assert_memory_equal(once, z, sizeof z);
        assert_memory_equal(level_once, level, sizeof level);
    }
    bench_free(&b);
}

/* Moments are the law's in every read, and correlations those that were asked for. A read
 * has DEVICES independent values, read after read they are nearly the same: errors are
 * those of DEVICES * STEPS / time values. */
static void reads_have_law_and_correlation(void **state)
{
    (void)state;
    double r[LAGS];
    power_law(r, 0.7);
    bench b;
    bench_make(&b, r, LAGS);
    static float z[STEPS][DEVICES];
    static int32_t level[DEVICES];
    const xb_devices all = {1, DEVICES, 0, DEVICES};
    for (int q = 0; q < STEPS; q++) {
        if (q > 0) memcpy(z[q], z[q - 1], sizeof z[q]);
        xb_held_draw(&b.analog, z[q], level, &all, (xb_moment){.each = 1, .q = q}, q > 0);
    }
    const double n = (double)STEPS * DEVICES;
    const double se = sqrt(xb_held_time(b.analog.held) / n);
    const double kurtosis = xb_law_moments(b.law).excess_kurtosis + 3;
    double moment[5] = {0};
    for (int q = 0; q < STEPS; q++)
        for (int i = 0; i < DEVICES; i++)
            for (int p = 1; p < 5; p++) moment[p] += pow((double)z[q][i], p) / n;
    assert_close_floor(moment[1], 0, 5 * se, 1);
    assert_close(moment[2], 1, 5 * se * sqrt(kurtosis - 1));
    assert_close_floor(moment[4], kurtosis, 5 * se * 2.8, 1); /* the sd of z^4 */
    for (int k = 1; k <= 64; k *= 2) {
        double sum = 0;
        for (int q = k; q < STEPS; q++)
            for (int i = 0; i < DEVICES; i++)
                sum += (double)z[q][i] * (double)z[q - k][i];
        assert_close_floor(sum / ((double)(STEPS - k) * DEVICES),
                           xb_held_correlation(b.analog.held, k), 5 * se, 1);
    }
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_give_back_the_correlation),
        cmocka_unit_test(white_reads_have_one_level),
        cmocka_unit_test(what_is_not_convex_is_lowered),
        cmocka_unit_test(bad_correlations_are_refused),
        cmocka_unit_test(reads_start_anywhere),
        cmocka_unit_test(reads_have_law_and_correlation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
