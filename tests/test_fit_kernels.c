/* test_fit_kernels.c: the kernels of fits: each level against simple loops and, bit for
 * bit, against the plain one; graded points against all values; sums of chi-squares. */
#include "xbtest.h"

#include "fit/device_likelihood.h"
#include "fit/graded.h"
#include "fit/optimise.h"
#include "fit/quadratic_form.h"
#include "fit/fit_kernels.h"
#include "series/trace_kernels.h"

static const int64_t sizes[] = {0, 1, 2, 7, 8, 9, 63, 511, 512, 513, 1031};
enum { MOST = 1031 };

/* Values that rise, with ties. */
static void fill(double *x, int64_t n)
{
    xb_stream s = {xb_key_make(5, XB_PURPOSE_TEST), 0, 0, 0};
    double at = -1;
    for (int64_t i = 0; i < n; i++) {
        double u = xb_stream_uniform(&s, i);
        x[i] = at += u < 0.2 ? 0 : 2 * u / MOST;
    }
}

static void look_sees(void **state)
{
    (void)state;
    double x[MOST];
    for (int j = 0; j < XB_COUNT(sizes); j++) {
        int64_t n = sizes[j], distinct = 0;
        fill(x, n);
        for (int64_t i = 1; i < n; i++) distinct += x[i] != x[i - 1];
        const xb_look plain = xb_trace_kernels_plain.look(x, n);
        for (int l = 0; xb_trace_kernels_at(l); l++) {
            const xb_trace_kernels *kernels = xb_trace_kernels_at(l);
            xb_look seen = kernels->look(x, n);
            assert_true(seen.checksum == plain.checksum && seen.bad == 0);
            assert_true(n == 0 || (seen.min == x[0] && seen.max == x[n - 1]));
            if (n > 0) assert_int_equal(kernels->rises(x, n), distinct);
            if (n == 0) continue;
            double kept = x[n / 2];
            x[n / 2] = nextafter(kept, 2);
            assert_true(kernels->look(x, n).checksum != plain.checksum);
            x[n / 2] = NAN;
            assert_int_equal(kernels->look(x, n).bad, 1);
            x[n / 2] = -INFINITY;
            assert_int_equal(kernels->look(x, n).bad, 1);
            x[n / 2] = kept;
        }
    }
}

static void sums_are_sums(void **state)
{
    (void)state;
    double x[MOST];
    for (int j = 0; j < XB_COUNT(sizes); j++) {
        int64_t n = sizes[j];
        fill(x, n);
        double powers[XB_POWERS] = {0}, lags[XB_LAGS] = {0}, plain[XB_POWERS] = {0};
        for (int64_t i = 0; i < n; i++) {
            for (int k = 0; k < XB_POWERS; k++) powers[k] += pow((x[i] - 0.3) * 0.7, k);
            for (int k = 0; k < XB_LAGS && i + k < n; k++)
                lags[k] += (x[i] - 0.1) * 2 * ((x[i + k] - 0.1) * 2);
        }
        double plain_lags[XB_LAGS];
        xb_trace_kernels_plain.powers(plain, x, n, 0.3, 0.7);
        xb_trace_kernels_plain.lags(plain_lags, x, n, 0.1, 2);
        for (int l = 0; xb_trace_kernels_at(l); l++) {
            double sums[XB_POWERS] = {0}, of_lags[XB_LAGS];
            xb_trace_kernels_at(l)->powers(sums, x, n, 0.3, 0.7);
            xb_trace_kernels_at(l)->lags(of_lags, x, n, 0.1, 2);
            assert_memory_equal(sums, plain, sizeof sums);
            assert_memory_equal(of_lags, plain_lags, sizeof of_lags);
            for (int k = 0; k < XB_POWERS; k++)
                assert_close_floor(sums[k], powers[k], 1e-13, 1);
            for (int k = 0; k < XB_LAGS; k++)
                assert_close_floor(of_lags[k], lags[k], 1e-13, 1);
        }
    }
}

/* Somewhere among the values of a larger sample, and at u near 0 and near 1. */
static void misfit_is_the_sum(void **state)
{
    (void)state;
    static const double from[] = {1e-5, 0.3, 0.97};
    enum { N = 136, FIRST = 1000, TOTAL = 5000 };
    double x[N];
    for (int f = 0; f < XB_COUNT(from); f++)
        for (int64_t n = 8; n <= N; n += 64) {
            double reach = 0.3 * fmin(from[f], 1 - from[f]);
            xb_cubic cubic = {2, 4, {from[f], reach, 0.2 * reach, -0.1 * reach}};
            xb_misfit direct = {INFINITY, -INFINITY, 0}, plain = direct;
            fill(x, n);
            for (int64_t i = 0; i < n; i++) {
                x[i] = 2 + 0.125 * (x[i] + 1);
                double r = (x[i] - 2) * 4,
                       u = from[f] + reach * r * (1 + r * (0.2 - 0.1 * r));
                direct.least = fmin(direct.least, u - (double)(FIRST + i) / TOTAL);
                direct.largest = fmax(direct.largest, u - (double)(FIRST + i) / TOTAL);
                direct.sum += (double)(2 * (FIRST + i) + 1) * log(u) +
                              (double)(2 * (TOTAL - FIRST - i) - 1) * log1p(-u);
            }
            xb_fit_kernels_plain.misfit(&plain, &cubic, x, n, FIRST, TOTAL);
            assert_close_floor(plain.least, direct.least, 1e-14, 1);
            assert_close_floor(plain.largest, direct.largest, 1e-14, 1);
            assert_close(plain.sum, direct.sum, 1e-13);
            for (int l = 0; xb_fit_kernels_at(l); l++) {
                xb_misfit found = {INFINITY, -INFINITY, 0};
                xb_fit_kernels_at(l)->misfit(&found, &cubic, x, n, FIRST, TOTAL);
                assert_memory_equal(&found, &plain, sizeof found);
            }
        }
}

static void runs_are_the_same(void **state)
{
    (void)state;
    xb_null_path *path = calloc(1, sizeof *path);
    for (int i = 0; i < XB_NULL_TABLE; i++) path->table[i] = (float)(i - 512) / 300;
    for (int c = 0; c < XB_NULL_CELLS; c++) {
        path->dual[0][c] = 0.125f;
        path->column[0][c] = (float)(c + 1) / XB_NULL_CELLS;
        path->dual[1][c] = path->column[1][c] = (float)sin(c) / 9;
    }
    path->unseen[1][0] = 0.1f, path->unseen[1][1] = 0.2f, path->limit = 0.9f;
    float plain[XB_NULL_LANES], found[XB_NULL_LANES];
    xb_fit_kernels_plain.null_runs(plain, path, 32);
    float least = 1, largest = 0;
    for (int l = 0; l < XB_NULL_LANES; l++) {
        least = fminf(least, plain[l]);
        largest = fmaxf(largest, plain[l]);
    }
    assert_true(least >= 0 && largest <= 1 && least < largest);
    for (int l = 0; xb_fit_kernels_at(l); l++) {
        xb_fit_kernels_at(l)->null_runs(found, path, 32);
        assert_memory_equal(found, plain, sizeof found);
    }
    free(path);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The maximum on graded points is the maximum on all values. */
static void graded_maximum(xb_ctx *ctx, const char *text, bool square, int64_t n)
{
    xb_law *law = test_law(ctx, text);
    xb_stream s = {xb_key_make(3, XB_PURPOSE_TEST), 0, 0, 0};
    double *x = malloc((size_t)n * 3 * sizeof *x), *y = x + n, *count = y + n, mean = 0;
    for (int64_t i = 0; i < n; i++) {
        x[i] = xb_law_quantile(law, xb_stream_uniform(&s, i));
        mean += x[i] / (double)n;
    }
    qsort(x, (size_t)n, sizeof *x, compare_doubles);
    double largest = fmax(mean - x[0], x[n - 1] - mean);
    for (int64_t i = 0; i < n; i++) y[i] = fabs(x[i] - mean) / largest, count[i] = 1;
    xb_points whole = {n, y, count, (double)n}, fine, rough;
    assert_ok(ctx, xb_graded_make(ctx, &fine, &rough, x, n, mean, largest, square));
    assert_true(fine.n < 1100 && rough.n < 300);
    xb_device_data of_fine = {&fine, square}, of_whole = {&whole, square};
    xb_problem p = {.f = xb_device_likelihood, .arg = &of_fine, .n = XB_VARIABLES};
    for (int i = 0; i < XB_VARIABLES; i++) p.lower[i] = -18, p.upper[i] = 18;
    const double start[] = {0, -2, -4};
    xb_optimum a = xb_newton(&p, start);
    p.arg = &of_whole;
    xb_optimum b = xb_newton(&p, a.theta);
    assert_true(a.converged && b.converged);
    double total = 0;
    for (int64_t i = 0; i < fine.n; i++) total += fine.count[i];
    assert_close(total, n, 1e-12);
    assert_close(a.value, b.value, 1e-10);
    for (int i = 0; i < XB_VARIABLES; i++)
        assert_close_floor(a.theta[i], b.theta[i], 1e-8, 1);
    xb_points_free(&fine);
    xb_points_free(&rough);
    xb_law_destroy(law);
    free(x);
}

static void graded_is_exact(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    graded_maximum(ctx, "mtj:B=0.15,w=0.5", false, 40000);
    graded_maximum(ctx, "mtj:B=0.15,w=0.5", false, 2000);
    graded_maximum(ctx, "mtj:B=0.02,w=0.3", false, 40000);
    graded_maximum(ctx, "ecram:B=0.1,w=0.6", true, 40000);
    graded_maximum(ctx, "ecram:B=0.003,w=0.4", true, 40000);
    graded_maximum(ctx, "ecram:B=0.02,w=0.998", true, 40000);
    graded_maximum(ctx, "ecram", false, 40000);
    xb_ctx_destroy(ctx);
}

/* chi^2(1): erfc(sqrt(x/2)); two equal weights: exp(-x / 2w); the rest alone, of 4. */
static void forms_are_known(void **state)
{
    (void)state;
    const double one[] = {0.5, 0, 0}, two[] = {0.3, 0.3}, none[] = {0};
    for (double x = 0.05; x < 20; x *= 1.7) {
        xb_quadratic_form a = {one, 3, 0, 0}, b = {two, 2, 0, 0}, c = {none, 1, 1, 4};
        assert_close_floor(xb_quadratic_tail(&a, x), erfc(sqrt(x)), 2e-4, 1);
        assert_close_floor(xb_quadratic_tail(&b, x), exp(-x / 0.6), 4e-6, 1);
        double four = exp(-x / 2) * (1 + x / 2);
        assert_close_floor(xb_quadratic_tail(&c, x), four, 1e-6, 1);
    }
    xb_quadratic_form a = {two, 2, 0, 0};
    assert_true(xb_quadratic_tail(&a, 0) == 1 && xb_quadratic_tail(&a, 1e6) == 0);
}

/* Curvatures 4, 0 and 1 along axes: only the flat one is unknown. */
static void a_flat_direction_is_unknown_alone(void **state)
{
    (void)state;
    const xb_problem p = {.n = 3};
    xb_optimum at = {.hessian = {-4, 0, 0, 0, 0, 0, 0, 0, -1}};
    double covariance[9];
    xb_covariance(covariance, &p, &at);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            if (a != b) assert_close_floor(covariance[3 * a + b], 0, 1e-12, 1);
    assert_close(covariance[0], 0.25, 1e-12);
    assert_true(isinf(covariance[4]));
    assert_close(covariance[8], 1, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flat_direction_is_unknown_alone),
        cmocka_unit_test(look_sees),
        cmocka_unit_test(sums_are_sums),
        cmocka_unit_test(misfit_is_the_sum),
        cmocka_unit_test(runs_are_the_same),
        cmocka_unit_test(graded_is_exact),
        cmocka_unit_test(forms_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
