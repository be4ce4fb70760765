/* test_distance.c: distances between samples: SciPy's values, closed forms, ties, sizes
 * of one, averages over points, threads, bad input; verdicts are in test_verdict.c. Seeds
 * are fixed; bands are 4 standard errors (false alarm 6e-5 each) unless said otherwise.
 */
#include "comparetest.h"

#include "failalloc.h"

/* tests/fixtures/make_compare.py: W1 and KS by SciPy 1.17; unbiased energy with
 * exponents 1 and 1.5, KL with 3 neighbours by NumPy's full matrices of pairs. */
static const double ref_distance[] = {0.32761050844106998, 0.23999999999999999,
                                      0.053170767675215336, 0.08135494426624823,
                                      0.074340899383866788};

static void scipy_agrees(void **state)
{
    (void)state;
    double x[40], z[25];
    for (int i = 0; i < 40; i++) x[i] = sin(1 + 3 * i);
    for (int i = 0; i < 25; i++) z[i] = 0.3 + 1.2 * sin(2 + 5 * i);
    xb_distance_options opt = xb_distance_options_default();
    opt.neighbours = 3;
    measured d = distances(x, 40, z, 25, &opt);
    assert_close(d.wasserstein.value, ref_distance[0], 1e-14);
    assert_close(d.ks.value, ref_distance[1], 1e-14);
    assert_close(d.energy.value, ref_distance[2], 1e-13);
    assert_close(d.kl.value, ref_distance[4], 1e-12);
    opt.exponent = 1.5;
    assert_close(distances(x, 40, z, 25, &opt).energy.value, ref_distance[3], 1e-13);
    opt.exponent = nextafter(1, 2); /* the other way to exponent 1 */
    measured other = distances(x, 40, z, 25, &opt);
    assert_close(other.energy.value, ref_distance[2], 1e-13);
    assert_close(other.energy.std_error, d.energy.std_error, 1e-12);
    assert_close(other.energy.floor, d.energy.floor, 1e-12);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Distance from x to the k-th nearest of y, the one at `but` left out. */
static double nearest_but(double x, const double *y, int n, int but, int k)
{
    double d[64];
    int count = 0;
    for (int i = 0; i < n; i++)
        if (i != but) d[count++] = fabs(x - y[i]);
    qsort(d, (size_t)count, sizeof *d, by_size);
    return d[k - 1];
}

/* (C15) of paired draws: a draw's partner is as little its neighbour as it is itself, so
 * the two samples have as many neighbours to be found and no correction is left. */
static void partners_are_no_neighbours(void **state)
{
    (void)state;
    enum { N = 60, K = 3 };
    double a[N], b[N], kl = 0;
    for (int i = 0; i < N; i++) {
        a[i] = sin(1 + 3 * i) + 0.01 * i;
        b[i] = 1.1 * a[i] + 0.02 * sin(5 * i);
    }
    for (int i = 0; i < N; i++)
        kl += log(nearest_but(a[i], b, N, i, K) / nearest_but(a[i], a, N, i, K)) / N;
    xb_distance_options opt = xb_distance_options_default();
    opt.neighbours = K;
    opt.paired = true;
    assert_close(distances(a, N, b, N, &opt).kl.value, kl, 1e-12);
}

static void shifts_and_ties_by_hand(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {3.5, 4.5, 5.5, 6.5, 7.5, 8.5};
    measured d = distances(a, 6, b, 6, NULL);
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
    measured d = distances(a, 1, b, 1, NULL);
    assert_true(d.wasserstein.value == 2 && d.ks.value == 1 && d.mean.largest == -2);
    assert_true(isnan(d.wasserstein.std_error) && isnan(d.energy.value));
    assert_true(isnan(d.kl.value) && isnan(d.kl.p_value));
    assert_int_equal(d.mean.verdict, XB_VERDICT_UNRESOLVED);
    d = distances(c, 3, e, 2, NULL);
    assert_true(d.wasserstein.value == 3 && d.energy.value == 6 && d.ks.value == 1);
    assert_true(d.mean.largest == -3 && d.mean.noise == 0);
    assert_int_equal(d.verdict, XB_VERDICT_UNRESOLVED); /* so few may agree by chance */
    double two[20], five[20];
    for (int i = 0; i < 20; i++) two[i] = 2, five[i] = 5;
    d = distances(two, 20, five, 20, NULL);
    assert_int_equal(d.mean.verdict, XB_VERDICT_DIFFERENT);
    assert_int_equal(d.sd.verdict, XB_VERDICT_SAME);
    assert_int_equal(d.verdict, XB_VERDICT_DIFFERENT);
    assert_int_equal(distances(two, 20, five, 19, NULL).verdict, XB_VERDICT_UNRESOLVED);
    assert_int_equal(distances(two, 20, two, 20, NULL).verdict, XB_VERDICT_SAME);
}

/* One tied point of three: the KL is that of the others. */
static void ties_leave_a_point_out(void **state)
{
    (void)state;
    enum { S = 100, N = 3 };
    xb_ctx *ctx = test_ctx();
    xb_sampler *sampler = normal_sampler();
    double *a = normals(sampler, S * N, 21, 0, 1), *b = normals(sampler, S * N, 22, 1, 1);
    double x[S * 2], y[S * 2];
    for (int s = 0; s < S; s++) {
        a[s * N + 1] = b[s * N + 1] = 7;
        for (int i = 0; i < 2; i++)
            x[2 * s + i] = a[s * N + 2 * i], y[2 * s + i] = b[s * N + 2 * i];
    }
    measured all, rest;
    assert_ok(ctx, measure(ctx, &all, a, S, b, S, N, NULL));
    assert_ok(ctx, measure(ctx, &rest, x, S, y, S, 2, NULL));
    assert_int_equal(all.kl_points, 2);
    assert_int_equal(rest.kl_points, 2);
    assert_close(all.kl.value, rest.kl.value, 1e-14);
    assert_close(all.kl.std_error, rest.kl.std_error, 1e-12);
    assert_true(all.kl.p_value == rest.kl.p_value);
    free(a), free(b);
    xb_sampler_destroy(sampler);
    xb_ctx_destroy(ctx);
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
    measured d = distances(a, 20000, b, 20000, &opt);
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
        measured d = distances(x, S, z, S, &opt);
        kl += d.kl.value / N, energy += d.energy.value / N;
        wasserstein += d.wasserstein.value / N;
        square += d.mean.largest * d.mean.largest / N;
    }
    measured d, scaled;
    assert_ok(ctx, measure(ctx, &d, a, S, b, S, N, &opt));
    assert_close(d.kl.value, kl, 1e-13);
    assert_close(d.energy.value, energy, 1e-13);
    assert_close(d.wasserstein.value, wasserstein, 1e-13);
    assert_close(d.mean.rms, sqrt(square), 1e-13);
    opt.standardise = true, opt.exponent = 1.5;
    assert_ok(ctx, measure(ctx, &d, a, S, b, S, N, &opt));
    for (int i = 0; i < S * N; i++) a[i] = 4 * a[i] + 8, b[i] = 4 * b[i] + 8;
    assert_ok(ctx, measure(ctx, &scaled, a, S, b, S, N, &opt));
    assert_close(scaled.energy.value, d.energy.value, 1e-12);
    assert_close(scaled.wasserstein.value, d.wasserstein.value, 1e-12);
    assert_close(scaled.mean.upper, d.mean.upper, 1e-12);
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
    measured d[4];
    memset(d, 0, sizeof d);
    opt.permutations = 19;
    for (int e = 0; e < 2; e++) {
        opt.exponent = e ? 0.5 : 1;
        for (int i = 0; i < 4; i++) {
            xb_ctx *ctx = test_ctx();
            xb_ctx_set_threads(ctx, threads[i]);
            assert_ok(ctx, measure(ctx, &d[i], a, S, b, S, N, &opt));
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
    measured d = distances(a, 30, b, 30000, &opt);
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
    xb_distances *d = NULL;
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
    assert_null(d);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_ctx_set_threads(ctx, 1);
    double a[] = {1, 2, 3, 4}, b[] = {1, 2, 5, 4};
    bool failed = true;
    for (int k = 0; failed && fail_alloc_after(k); k++) {
        xb_distances *d = NULL;
        xb_status status = xb_distance_samples(ctx, &d, a, 4, b, 4, 1, NULL);
        failed = fail_alloc_happened();
        assert_ran_out(ctx, failed, status, d, k);
        assert_int_equal(failed, k < 7);
        xb_distances_destroy(d);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scipy_agrees),
        cmocka_unit_test(partners_are_no_neighbours),
        cmocka_unit_test(shifts_and_ties_by_hand),
        cmocka_unit_test(one_draw_and_constants),
        cmocka_unit_test(ties_leave_a_point_out),
        cmocka_unit_test(gaussians_in_closed_form),
        cmocka_unit_test(points_are_averaged),
        cmocka_unit_test(same_bytes_at_any_threads),
        cmocka_unit_test(sizes_may_differ),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
