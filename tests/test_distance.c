/* test_distance.c: distances between samples: SciPy's values, closed forms,
 * unbiasedness, honest standard errors and p-values, verdicts, ties, sizes of one,
 * threads, bad input. Seeds are fixed; bands are 4 standard errors (false alarm 6e-5
 * each) unless said otherwise. */
#include "xbtest.h"

#include "failalloc.h"

#include "base/ctx.h"
#include "compare/distance_stats.h"
#include "compare/labelling.h"

/* tests/fixtures/make_compare.py: W1 and KS by SciPy 1.17; unbiased energy with
 * exponents 1 and 1.5, KL with 3 neighbours by NumPy's full matrices of pairs. */
static const double ref_distance[] = {0.32761050844106998, 0.23999999999999999,
                                      0.053170767675215336, 0.08135494426624823,
                                      0.074340899383866788};

static xb_sampler *normal_sampler(void)
{
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    xb_sampler *sampler = NULL;
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
    return sampler;
}

/* n numbers N(mean, sd^2), stream `sample` of the tests. */
static double *normals(const xb_sampler *sampler, int64_t n, uint32_t sample, double mean,
                       double sd)
{
    double *z = malloc((size_t)n * sizeof *z);
    assert_non_null(z);
    xb_stream where = {xb_key_make(30, XB_PURPOSE_TEST), 0, sample, 0};
    xb_sampler_fill_double(sampler, z, n, &where, 0);
    for (int64_t i = 0; i < n; i++) z[i] = mean + sd * z[i];
    return z;
}

static xb_distances distances(const double *a, int64_t n, const double *b, int64_t m,
                              const xb_distance_options *opt)
{
    xb_ctx *ctx = test_ctx();
    xb_distances d;
    assert_ok(ctx, xb_distance_samples(ctx, &d, a, n, b, m, 1, opt));
    xb_ctx_destroy(ctx);
    return d;
}

static void scipy_agrees(void **state)
{
    (void)state;
    double x[40], z[25];
    for (int i = 0; i < 40; i++) x[i] = sin(1 + 3 * i);
    for (int i = 0; i < 25; i++) z[i] = 0.3 + 1.2 * sin(2 + 5 * i);
    xb_distance_options opt = xb_distance_options_default();
    opt.neighbours = 3;
    xb_distances d = distances(x, 40, z, 25, &opt);
    assert_close(d.wasserstein.value, ref_distance[0], 1e-14);
    assert_close(d.ks.value, ref_distance[1], 1e-14);
    assert_close(d.energy.value, ref_distance[2], 1e-13);
    assert_close(d.kl.value, ref_distance[4], 1e-12);
    opt.exponent = 1.5;
    assert_close(distances(x, 40, z, 25, &opt).energy.value, ref_distance[3], 1e-13);
    opt.exponent = nextafter(1, 2); /* the other way to exponent 1 */
    xb_distances other = distances(x, 40, z, 25, &opt);
    assert_close(other.energy.value, ref_distance[2], 1e-13);
    assert_close(other.energy.std_error, d.energy.std_error, 1e-12);
    assert_close(other.energy.floor, d.energy.floor, 1e-12);
}

static void shifts_and_ties_by_hand(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {3.5, 4.5, 5.5, 6.5, 7.5, 8.5};
    xb_distances d = distances(a, 6, b, 6, NULL);
    assert_close(d.wasserstein.value, 2.5, 1e-15);
    assert_close(d.ks.value, 0.5, 1e-15);
    assert_close(d.mean.largest, -2.5, 1e-15);
    assert_true(d.sd.largest == 0);
    const double tied[] = {1, 1, 2, 2}, same[] = {2, 1, 1, 2}, other[] = {1, 2, 2, 2};
    d = distances(tied, 4, same, 4, NULL);
    assert_true(d.wasserstein.value == 0 && d.ks.value == 0 && d.mean.rms == 0);
    assert_close(d.energy.value, -1.0 / 3, 1e-14); /* 2 (1/2) - 2 (2/3) */
    d = distances(tied, 4, other, 4, NULL);
    assert_close(d.wasserstein.value, 0.25, 1e-15);
    assert_close(d.ks.value, 0.25, 1e-15);
    assert_true(isnan(d.kl.value)); /* k = 2, three equal values */
}

static void one_draw_and_constants(void **state)
{
    (void)state;
    const double a[] = {1}, b[] = {3}, c[] = {2, 2, 2}, e[] = {5, 5};
    xb_distances d = distances(a, 1, b, 1, NULL);
    assert_true(d.wasserstein.value == 2 && d.ks.value == 1 && d.mean.largest == -2);
    assert_true(isnan(d.wasserstein.std_error) && isnan(d.energy.value));
    assert_true(isnan(d.kl.value) && isnan(d.kl.p_value));
    assert_int_equal(d.mean.verdict, XB_VERDICT_UNRESOLVED);
    d = distances(c, 3, e, 2, NULL);
    assert_true(d.wasserstein.value == 3 && d.energy.value == 6 && d.ks.value == 1);
    assert_true(d.mean.largest == -3 && d.mean.noise == 0);
    assert_int_equal(d.mean.verdict, XB_VERDICT_DIFFERENT);
    assert_int_equal(d.sd.verdict, XB_VERDICT_SAME);
    d = distances(c, 3, c, 3, NULL);
    assert_int_equal(d.mean.verdict, XB_VERDICT_SAME);
}

/* KL(N(0,1) || N(0.5, 1.2^2)) and other closed forms, 20000 draws each. */
static void gaussians_in_closed_form(void **state)
{
    (void)state;
    xb_sampler *sampler = normal_sampler();
    double *a = normals(sampler, 20000, 1, 0, 1);
    double *b = normals(sampler, 20000, 2, 0.5, 1.2);
    xb_distance_options opt = xb_distance_options_default();
    opt.permutations = 19;
    xb_distances d = distances(a, 20000, b, 20000, &opt);
    double kl = log(1.2) + (1 + 0.25) / (2 * 1.44) - 0.5;
    double root = sqrt(2.44), z = 0.5 / root; /* a - b ~ N(-0.5, 2.44) */
    double cross = root * sqrt(2 / M_PI) * exp(-z * z / 2) + 0.5 * erf(z / M_SQRT2);
    double energy = 2 * cross - 2 / sqrt(M_PI) - 2.4 / sqrt(M_PI);
    print_message("KL %.5f +- %.5f (floor %.5f), exact %.5f\n", d.kl.value,
                  d.kl.std_error, d.kl.floor, kl);
    print_message("energy %.6f +- %.6f, exact %.6f\n", d.energy.value, d.energy.std_error,
                  energy);
    assert_at_most(fabs(d.kl.value - kl), 4 * d.kl.std_error);
    assert_at_most(d.kl.std_error, 0.005);
    assert_at_most(fabs(d.energy.value - energy), 4 * d.energy.std_error);
    assert_at_most(d.energy.std_error, 0.05 * energy);
    /* W1 = integral of |0.5 + 0.2 z| phi(z) dz */
    double w1 = 0.5 * erf(2.5 / M_SQRT2) + 0.4 * exp(-3.125) / sqrt(2 * M_PI);
    assert_at_most(fabs(d.wasserstein.value - w1), 4 * d.wasserstein.std_error);
    assert_at_most(fabs(d.mean.largest + 0.5), 4 * d.mean.largest_error);
    assert_true(d.kl.p_value == 0.05 && d.ks.p_value == 0.05);
    assert_int_equal(d.mean.verdict, XB_VERDICT_DIFFERENT);
    free(a), free(b);
    xb_sampler_destroy(sampler);
}

typedef struct repeated {
    double sum[4], square[4], claimed[4]; /* KL, energy, W1, KS */
    int low_p[4];                         /* p <= 0.1 */
    int runs;
} repeated;

static void repeat_add(repeated *r, const xb_distances *d)
{
    const xb_distance *all[] = {&d->kl, &d->energy, &d->wasserstein, &d->ks};
    for (int j = 0; j < 4; j++) {
        r->sum[j] += all[j]->value;
        r->square[j] += all[j]->value * all[j]->value;
        r->claimed[j] += all[j]->std_error * all[j]->std_error;
        r->low_p[j] += all[j]->p_value <= 0.1 + 1e-12;
    }
    r->runs++;
}

static double repeat_mean(const repeated *r, int j) { return r->sum[j] / r->runs; }

static double repeat_sd(const repeated *r, int j)
{
    double mean = repeat_mean(r, j);
    return sqrt((r->square[j] - r->runs * mean * mean) / (r->runs - 1));
}

/* 300 pairs of samples of one law, 60 and 90 draws: KL and energy have mean 0, and
 * p <= 0.1 in 30 of 300 (sd 5.2) whatever the statistic. */
static void one_law_reads_nothing(void **state)
{
    (void)state;
    xb_sampler *sampler = normal_sampler();
    xb_distance_options opt = xb_distance_options_default();
    repeated r = {.runs = 0}, floor = {.runs = 0};
    opt.permutations = 19;
    for (uint32_t i = 0; i < 300; i++) {
        double *a = normals(sampler, 60, 7000 + 2 * i, 3, 2);
        double *b = normals(sampler, 90, 7001 + 2 * i, 3, 2);
        opt.seed = i;
        xb_distances d = distances(a, 60, b, 90, &opt);
        repeat_add(&r, &d);
        floor.sum[0] += d.kl.floor * d.kl.floor, floor.sum[2] += d.wasserstein.floor;
        free(a), free(b);
    }
    for (int j = 0; j < 4; j++) {
        print_message("statistic %d: mean %.4g, sd %.4g, p <= 0.1 in %d of 300\n", j,
                      repeat_mean(&r, j), repeat_sd(&r, j), r.low_p[j]);
        assert_true(r.low_p[j] >= 30 - 21 && r.low_p[j] <= 30 + 21);
    }
    for (int j = 0; j < 2; j++) /* unbiased */
        assert_at_most(fabs(repeat_mean(&r, j)), 4 * repeat_sd(&r, j) / sqrt(300));
    /* the floor is what the estimator reads */
    assert_close(sqrt(floor.sum[0] / 300), repeat_sd(&r, 0), 0.2);
    assert_close(floor.sum[2] / 300, repeat_mean(&r, 2), 0.2);
    xb_sampler_destroy(sampler);
}

/* The same with common random numbers, a and b = x +- 0.1 y: a pair is nearer to each
 * other than two draws of their law, which must not look like a distance. */
static void one_law_reads_nothing_in_pairs(void **state)
{
    (void)state;
    xb_sampler *sampler = normal_sampler();
    xb_distance_options opt = xb_distance_options_default();
    static const double exponent[] = {1, 1.5};
    for (int e = 0; e < 2; e++) {
        repeated r = {.runs = 0};
        opt.permutations = 19, opt.paired = true, opt.exponent = exponent[e];
        for (uint32_t i = 0; i < 300; i++) {
            double *a = normals(sampler, 100, 5000 + 2 * i, 0, 1);
            double *b = normals(sampler, 100, 5001 + 2 * i, 0, 0.1);
            for (int s = 0; s < 100; s++) a[s] += b[s], b[s] = a[s] - 2 * b[s];
            opt.seed = i;
            xb_distances d = distances(a, 100, b, 100, &opt);
            repeat_add(&r, &d);
            free(a), free(b);
        }
        for (int j = 0; j < 2; j++) {
            print_message("paired statistic %d: mean %.3g +- %.2g, p <= 0.1 in %d\n", j,
                          repeat_mean(&r, j), repeat_sd(&r, j) / sqrt(300), r.low_p[j]);
            assert_at_most(fabs(repeat_mean(&r, j)), 4 * repeat_sd(&r, j) / sqrt(300));
            assert_true(r.low_p[j] >= 30 - 21 && r.low_p[j] <= 30 + 21);
        }
    }
    xb_sampler_destroy(sampler);
}

/* 120 pairs of samples of two laws: standard errors are the spread over pairs (the
 * ratio has a standard error of 7 %), energy has its exact mean. */
static void standard_errors_are_honest(void **state)
{
    (void)state;
    xb_sampler *sampler = normal_sampler();
    xb_distance_options opt = xb_distance_options_default();
    repeated r = {.runs = 0};
    opt.permutations = 0;
    for (uint32_t i = 0; i < 120; i++) {
        double *a = normals(sampler, 400, 3000 + 2 * i, 0, 1);
        double *b = normals(sampler, 300, 3001 + 2 * i, 1, 1);
        xb_distances d = distances(a, 400, b, 300, &opt);
        assert_true(isnan(d.kl.p_value) && isnan(d.kl.floor));
        repeat_add(&r, &d);
        free(a), free(b);
    }
    for (int j = 0; j < 4; j++) {
        double ratio = sqrt(r.claimed[j] / r.runs) / repeat_sd(&r, j);
        print_message("statistic %d: mean %.4g, claimed / true error %.3f\n", j,
                      repeat_mean(&r, j), ratio);
        if (j < 3) assert_true(ratio > 0.72 && ratio < 1.35);
    }
    double root = M_SQRT2, z = 1 / root;
    double cross = root * sqrt(2 / M_PI) * exp(-z * z / 2) + erf(z / M_SQRT2);
    assert_at_most(fabs(repeat_mean(&r, 1) - (2 * cross - 4 / sqrt(M_PI))),
                   4 * repeat_sd(&r, 1) / sqrt(120));
    assert_at_most(fabs(repeat_mean(&r, 2) - 1), 4 * repeat_sd(&r, 2) / sqrt(120));
    xb_sampler_destroy(sampler);
}

/* b = a + a little: common numbers resolve what independent ones cannot. */
static void pairs_resolve_more(void **state)
{
    (void)state;
    enum { S = 2000, N = 12 };
    xb_ctx *ctx = test_ctx();
    xb_sampler *sampler = normal_sampler();
    double *a = normals(sampler, S * N, 5, 10, 2), *b = normals(sampler, S * N, 6, 10, 2);
    double *near = normals(sampler, S * N, 7, 0, 0.002);
    for (int i = 0; i < S * N; i++) near[i] += a[i];
    xb_distance_options opt = xb_distance_options_default();
    opt.standardise = true, opt.permutations = 39;
    xb_distances d;
    assert_ok(ctx, xb_distance_samples(ctx, &d, a, S, b, S, N, &opt));
    assert_int_equal(d.mean.verdict, XB_VERDICT_UNRESOLVED);
    assert_close(d.mean.noise, sqrt(2.0 / S), 0.2);
    assert_close(d.mean.draws_needed, 9 * 2.0 / 1e-4, 0.45);
    assert_true(d.wasserstein.p_value > 0.025 && d.mean.bound > 0.01);
    opt.paired = true;
    assert_ok(ctx, xb_distance_samples(ctx, &d, a, S, near, S, N, &opt));
    print_message("paired: mean %.2g (noise %.2g) %s, sd %.2g (noise %.2g) %s\n",
                  d.mean.rms, d.mean.noise, xb_verdict_text(d.mean.verdict), d.sd.rms,
                  d.sd.noise, xb_verdict_text(d.sd.verdict));
    assert_int_equal(d.mean.verdict, XB_VERDICT_SAME);
    assert_int_equal(d.sd.verdict, XB_VERDICT_SAME);
    assert_at_most(d.mean.bound, 2e-4);
    assert_true(d.energy.p_value > 0.025); /* swapping pairs: one law, still */
    assert_close(d.mean.bound, d.mean.rms + 2 * d.mean.noise, 1e-15);
    assert_true(d.mean.rms < 2 * d.mean.noise);
    opt.tolerance = d.mean.rms + d.mean.noise; /* noise could hide as much */
    assert_ok(ctx, xb_distance_samples(ctx, &d, a, S, near, S, N, &opt));
    assert_int_equal(d.mean.verdict, XB_VERDICT_UNRESOLVED);
    for (int i = 0; i < S * N; i++) near[i] += 0.05;
    assert_ok(ctx, xb_distance_samples(ctx, &d, a, S, near, S, N, &opt));
    assert_int_equal(d.mean.verdict, XB_VERDICT_DIFFERENT);
    assert_close(d.mean.excess, 0.025, 0.05);
    assert_true(d.wasserstein.p_value == 0.025 && d.energy.p_value == 0.025);
    free(a), free(b), free(near);
    xb_sampler_destroy(sampler);
    xb_ctx_destroy(ctx);
}

/* Many points are the mean of single points; units cancel when standardised. */
static void points_are_averaged(void **state)
{
    (void)state;
    enum { S = 40, N = 19 };
    xb_ctx *ctx = test_ctx();
    xb_sampler *sampler = normal_sampler();
    double *a = normals(sampler, S * N, 8, 1, 1), *b = normals(sampler, S * N, 9, 0, 3);
    double x[S], z[S], kl = 0, energy = 0, wasserstein = 0, square = 0;
    xb_distance_options opt = xb_distance_options_default();
    opt.permutations = 9;
    for (int i = 0; i < N; i++) {
        for (int s = 0; s < S; s++) x[s] = a[s * N + i], z[s] = b[s * N + i];
        xb_distances d = distances(x, S, z, S, &opt);
        kl += d.kl.value / N, energy += d.energy.value / N;
        wasserstein += d.wasserstein.value / N;
        square += d.mean.largest * d.mean.largest / N;
    }
    xb_distances d, scaled;
    assert_ok(ctx, xb_distance_samples(ctx, &d, a, S, b, S, N, &opt));
    assert_close(d.kl.value, kl, 1e-13);
    assert_close(d.energy.value, energy, 1e-13);
    assert_close(d.wasserstein.value, wasserstein, 1e-13);
    assert_close(d.mean.rms, sqrt(square), 1e-13);
    opt.standardise = true, opt.exponent = 1.5;
    assert_ok(ctx, xb_distance_samples(ctx, &d, a, S, b, S, N, &opt));
    for (int i = 0; i < S * N; i++) a[i] = 4 * a[i] + 8, b[i] = 4 * b[i] + 8;
    assert_ok(ctx, xb_distance_samples(ctx, &scaled, a, S, b, S, N, &opt));
    assert_close(scaled.energy.value, d.energy.value, 1e-12);
    assert_close(scaled.wasserstein.value, d.wasserstein.value, 1e-12);
    assert_close(scaled.mean.bound, d.mean.bound, 1e-12);
    free(a), free(b);
    xb_sampler_destroy(sampler);
    xb_ctx_destroy(ctx);
}

static void same_bytes_at_any_threads(void **state)
{
    (void)state;
    enum { S = 70, N = 37 };
    xb_sampler *sampler = normal_sampler();
    double *a = normals(sampler, S * N, 10, 1, 1), *b = normals(sampler, S * N, 11, 0, 3);
    xb_distance_options opt = xb_distance_options_default();
    static const int threads[] = {1, 2, 3, 8};
    xb_distances d[4];
    memset(d, 0, sizeof d);
    opt.permutations = 19;
    for (int e = 0; e < 2; e++) {
        opt.exponent = e ? 0.5 : 1;
        for (int i = 0; i < 4; i++) {
            xb_ctx *ctx = test_ctx();
            xb_ctx_set_threads(ctx, threads[i]);
            assert_ok(ctx, xb_distance_samples(ctx, &d[i], a, S, b, S, N, &opt));
            assert_memory_equal(&d[i].kl, &d[0].kl, 4 * sizeof(xb_distance));
            assert_true(d[i].mean.rms == d[0].mean.rms);
            assert_true(d[i].sd.noise == d[0].sd.noise);
            xb_ctx_destroy(ctx);
        }
    }
    free(a), free(b);
    xb_sampler_destroy(sampler);
}

/* Samples of very different size: blocks of the smaller one's size. */
static void sizes_may_differ(void **state)
{
    (void)state;
    xb_sampler *sampler = normal_sampler();
    double *a = normals(sampler, 30, 14, 0, 1), *b = normals(sampler, 30000, 15, 0, 1);
    xb_distance_options opt = xb_distance_options_default();
    opt.permutations = 39;
    xb_distances d = distances(a, 30, b, 30000, &opt);
    assert_true(d.kl.std_error > 0 && d.ks.p_value > 0.025);
    assert_true(d.ks.floor > 0.08 && d.ks.floor < 0.3); /* about 0.87 / sqrt 30 */
    d = distances(b, 30000, a, 1, &opt);
    assert_true(isfinite(d.wasserstein.value) && isnan(d.energy.value));
    free(a), free(b);
    xb_sampler_destroy(sampler);
}

static bool stop_at_once(void *arg, const xb_progress *event)
{
    (void)arg;
    return event->done > 0;
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    double a[] = {1, 2, 3, 4}, bad[] = {1, 2, NAN, 4};
    xb_distances d;
    memset(&d, 7, sizeof d);
    xb_distances before = d;
    xb_distance_options opt = xb_distance_options_default();
    assert_int_equal(xb_distance_samples(ctx, &d, a, 2, bad, 2, 2, NULL), XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx),
                        "draw 2 of sample b at point 1 is nan, expected a finite number");
    assert_int_equal(xb_distance_samples(ctx, &d, a, 0, a, 2, 2, NULL), XB_E_ARGUMENT);
    opt.paired = true;
    assert_int_equal(xb_distance_samples(ctx, &d, a, 4, a, 3, 1, &opt), XB_E_ARGUMENT);
    opt = xb_distance_options_default(), opt.exponent = 2;
    assert_int_equal(xb_distance_samples(ctx, &d, a, 4, a, 4, 1, &opt), XB_E_ARGUMENT);
    opt = xb_distance_options_default(), opt.permutations = -1;
    assert_int_equal(xb_distance_samples(ctx, &d, a, 4, a, 4, 1, &opt), XB_E_ARGUMENT);
    xb_ctx_set_progress(ctx, stop_at_once, NULL);
    assert_int_equal(xb_distance_samples(ctx, &d, a, 4, a, 4, 1, NULL), XB_E_CANCELLED);
    assert_memory_equal(&d, &before, sizeof d);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_threads(ctx, 1);
    double a[] = {1, 2, 3, 4}, b[] = {1, 2, 5, 4};
    xb_distances d;
    int failures = 0;
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_status status = xb_distance_samples(ctx, &d, a, 4, b, 4, 1, NULL);
        if (!fail_alloc_happened()) break;
        assert_int_equal(status, XB_E_MEMORY);
        failures++;
    }
    assert_int_equal(failures, 6);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scipy_agrees),
        cmocka_unit_test(shifts_and_ties_by_hand),
        cmocka_unit_test(one_draw_and_constants),
        cmocka_unit_test(gaussians_in_closed_form),
        cmocka_unit_test(one_law_reads_nothing),
        cmocka_unit_test(one_law_reads_nothing_in_pairs),
        cmocka_unit_test(standard_errors_are_honest),
        cmocka_unit_test(pairs_resolve_more),
        cmocka_unit_test(points_are_averaged),
        cmocka_unit_test(same_bytes_at_any_threads),
        cmocka_unit_test(sizes_may_differ),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
