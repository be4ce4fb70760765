/* test_eigen.c: our eigenvalues beside LAPACK's, which are rounded as much as ours:
 * beside bisection in long double both are off by 1e-14 for a random matrix of n = 255.
 * XB_TIME=1 prints how long both take. */
#include "xbtest.h"

#include <float.h>
#include <time.h>

#include <lapacke.h>

#include "base/eigen.h"
#include "base/ctx.h"
#include "crossbayes/extend.h"

enum { LARGEST = 4096, DENSE = 24 };

static const xb_stream random_words = {.tensor = 41};

static double uniform(int64_t i) { return 2 * xb_stream_uniform(&random_words, i) - 1; }

/* ---- tridiagonal */

typedef void fill_fn(double *d, double *off, int n);

static void random_matrix(double *d, double *off, int n)
{
    for (int i = 0; i < n; i++) d[i] = uniform(i), off[i] = uniform(n + i);
}

/* Hermite's Jacobi matrix: a diagonal of zeros. */
static void hermite(double *d, double *off, int n)
{
    for (int i = 0; i < n; i++) d[i] = 0, off[i] = sqrt(0.5 * (i + 1));
}

/* Laguerre's: a diagonal that grows. */
static void laguerre(double *d, double *off, int n)
{
    for (int i = 0; i < n; i++) d[i] = 2 * i + 1, off[i] = i + 1;
}

/* The same with its large end first. */
static void laguerre_turned(double *d, double *off, int n)
{
    for (int i = 0; i < n; i++) d[i] = 2 * (n - i) - 1, off[i] = n - 1 - i;
}

/* Pairs of eigenvalues that agree to all digits (Wilkinson). */
static void wilkinson(double *d, double *off, int n)
{
    for (int i = 0; i < n; i++) d[i] = fabs(i - 0.5 * (n - 1)), off[i] = 1;
}

/* Blocks that have nothing to do with each other. */
static void in_blocks(double *d, double *off, int n)
{
    for (int i = 0; i < n; i++)
        d[i] = uniform(i), off[i] = i % 3 == 2 ? 0 : uniform(n + i);
}

static void tiny(double *d, double *off, int n)
{
    random_matrix(d, off, n);
    for (int i = 0; i < n; i++) d[i] *= 1e-300, off[i] *= 1e-300;
}

static void huge(double *d, double *off, int n)
{
    random_matrix(d, off, n);
    for (int i = 0; i < n; i++) d[i] *= 1e300, off[i] *= 1e300;
}

static void all_zero(double *d, double *off, int n)
{
    for (int i = 0; i < n; i++) d[i] = off[i] = 0;
}

static const struct {
    const char *name;
    fill_fn *fill;
} matrices[] = {{"random", random_matrix},
                {"hermite", hermite},
                {"laguerre", laguerre},
                {"turned", laguerre_turned},
                {"wilkinson", wilkinson},
                {"blocks", in_blocks},
                {"tiny", tiny},
                {"huge", huge},
                {"zero", all_zero}};

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static void tridiagonal_agrees_with_lapack(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 4, 5, 16, 17, 64, 255, 256, 1024};
    static double d[LARGEST], off[LARGEST], theirs[LARGEST], off_theirs[LARGEST];
    double worst = 0;
    for (int k = 0; k < XB_COUNT(matrices); k++)
        for (int j = 0; j < XB_COUNT(sizes); j++) {
            const int n = sizes[j];
            matrices[k].fill(d, off, n);
            matrices[k].fill(theirs, off_theirs, n);
            assert_int_equal(LAPACKE_dsterf(n, theirs, off_theirs), 0);
            assert_true(xb_eigen_tridiagonal(d, off, n));
            const double size = largest(theirs, n);
            for (int i = 0; i < n; i++) {
                const double error = size > 0 ? fabs(d[i] - theirs[i]) / size : d[i];
                worst = fmax(worst, error);
                if (!(error <= 1e-15 * (2 + sqrt(n))))
                    fail_msg("%s, n = %d: value %d is %.17g, LAPACK's %.17g",
                             matrices[k].name, n, i, d[i], theirs[i]);
                assert_true(i == 0 || d[i - 1] <= d[i]);
            }
        }
    print_message("worst difference %.2g\n", worst);
}

/* A graded matrix: small eigenvalues keep their own digits, whichever end they are at. */
static void small_eigenvalues_keep_digits(void **state)
{
    (void)state;
    enum { N = 8 };
    double up[N], off_up[N], down[N], off_down[N];
    for (int i = 0; i < N; i++) {
        up[i] = down[N - 1 - i] = pow(10, 4 * i);
        if (i + 1 < N) off_up[i] = off_down[N - 2 - i] = 0.1 * pow(10, 4 * i);
    }
    assert_true(xb_eigen_tridiagonal(up, off_up, N));
    assert_true(xb_eigen_tridiagonal(down, off_down, N));
    for (int i = 0; i < N; i++) {
        assert_close(up[i], down[i], 1e-14);
        assert_close(up[i], pow(10, 4 * i), 1e-2);
    }
}

static void what_is_not_finite_is_refused(void **state)
{
    (void)state;
    double d[] = {1, NAN, 2}, off[] = {1, 1}, e[] = {1, 2, 3}, f[] = {INFINITY, 1};
    assert_false(xb_eigen_tridiagonal(d, off, 3));
    assert_false(xb_eigen_tridiagonal(e, f, 3));
    double a[] = {1, NAN, NAN, 1}, values[2];
    assert_false(xb_eigen_symmetric(values, NULL, a, 2));
}

/* ---- dense */

/* k = 0: any; 1: of rank 1; 2: graded; 3: the unit matrix. */
static void fill_dense(double *a, int n, int k)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const double any = uniform(i * n + j);
            const double one = uniform(i) * uniform(j);
            const double graded = (any + 4 * (i == j)) * pow(10, -0.5 * (i + j));
            a[i * n + j] = a[j * n + i] = k == 0   ? any
                                          : k == 1 ? one
                                          : k == 2 ? graded
                                                   : i == j;
        }
}

static void lapack_dense(double *values, double *a, int n)
{
    assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', n, a, n, values), 0);
}

/* A v = lambda v, and the vectors are orthonormal. */
static void check_vectors(const double *a, const double *values, const double *v, int n)
{
    const double size = fmax(fabs(values[0]), fabs(values[n - 1]));
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            double image = 0, inner = 0;
            for (int j = 0; j < n; j++) {
                image += a[i * n + j] * v[k * n + j];
                inner += v[i * n + j] * v[k * n + j];
            }
            assert_true(fabs(image - values[k] * v[k * n + i]) <= 1e-14 * size);
            assert_true(fabs(inner - (i == k)) <= 1e-14);
        }
}

static void dense_agrees_with_lapack(void **state)
{
    (void)state;
    static double a[DENSE * DENSE], copy[DENSE * DENSE], v[DENSE * DENSE];
    double ours[DENSE], theirs[DENSE], worst = 0;
    for (int n = 1; n <= DENSE; n++)
        for (int k = 0; k < 4; k++) {
            fill_dense(a, n, k);
            memcpy(copy, a, sizeof copy);
            lapack_dense(theirs, copy, n);
            memcpy(copy, a, sizeof copy);
            assert_true(xb_eigen_symmetric(ours, v, copy, n));
            const double size = largest(theirs, n);
            for (int i = 0; i < n; i++) {
                worst = fmax(worst, fabs(ours[i] - theirs[i]) / size);
                assert_true(fabs(ours[i] - theirs[i]) <= 4e-15 * size);
            }
            check_vectors(a, ours, v, n);
            memcpy(copy, a, sizeof copy);
            assert_true(xb_eigen_symmetric(theirs, NULL, copy, n));
            assert_memory_equal(ours, theirs, (size_t)n * sizeof *ours);
        }
    print_message("worst difference %.2g\n", worst);
}

/* ---- how long */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void time_tridiagonal(int n, int repeats)
{
    static double d[LARGEST], off[LARGEST];
    double best[2] = {INFINITY, INFINITY};
    for (int r = 0; r < repeats; r++)
        for (int who = 0; who < 2; who++) {
            hermite(d, off, n);
            const double start = seconds();
            if (who)
                (void)LAPACKE_dsterf(n, d, off);
            else
                (void)xb_eigen_tridiagonal(d, off, n);
            best[who] = fmin(best[who], seconds() - start);
        }
    print_message("n = %d: ours %.3g s, LAPACK's %.3g s\n", n, best[0], best[1]);
}

static void time_dense(int n, bool with_vectors)
{
    static double a[DENSE * DENSE], v[DENSE * DENSE];
    double values[DENSE], best[2] = {INFINITY, INFINITY};
    for (int r = 0; r < 2000; r++)
        for (int who = 0; who < 2; who++) {
            fill_dense(a, n, 0);
            const double start = seconds();
            if (who)
                (void)LAPACKE_dsyev(LAPACK_COL_MAJOR, with_vectors ? 'V' : 'N', 'L', n, a,
                                    n, values);
            else
                (void)xb_eigen_symmetric(values, with_vectors ? v : NULL, a, n);
            best[who] = fmin(best[who], seconds() - start);
        }
    print_message("dense n = %d: ours %.3g s, LAPACK's %.3g s\n", n, best[0], best[1]);
}

static void it_takes_as_long(void **state)
{
    (void)state;
    if (!getenv("XB_TIME")) return;
    time_tridiagonal(64, 2000);
    time_tridiagonal(256, 200);
    time_tridiagonal(4096, 3);
    time_dense(24, false);
    time_dense(3, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tridiagonal_agrees_with_lapack),
        cmocka_unit_test(small_eigenvalues_keep_digits),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(dense_agrees_with_lapack),
        cmocka_unit_test(it_takes_as_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
