/* eigen.c: eigenvalues of small symmetric matrices, without LAPACK; see eigen.h.
 *
 * Tridiagonal: implicit QL with Wilkinson's shift on squared off-diagonals, which takes
 * no root in the inner loop (Pal, Walker & Kahan; Parlett 1980, section 8.15). An
 * off-diagonal counts as 0 once it is below half an ulp of the geometric mean of its
 * neighbours on the diagonal. The matrix is scaled to norm 1, so squares neither overflow
 * nor vanish; a block whose small end is the far one is reversed first, because QL finds
 * the eigenvalues at the near end. Worst difference from LAPACK's dsterf over the tests'
 * matrices up to n = 1024: 1.8e-14 of the largest eigenvalue; compared with bisection in
 * long double both have similar errors (a random matrix of n = 1024: 2.5e-14,
 * dsterf 2.8e-14). Hermite's matrix of n = 64: 59 us (dsterf 59), 256: 0.84 ms (0.84),
 * 4096: 0.21 s (0.21).
 *
 * Dense: Jacobi's rotations, row by row (Golub & Van Loan, section 8.5), for matrices of
 * a few rows. Worst difference from dsyev: values 1.4e-15 of the largest. n = 24: 0.12 ms
 * (dsyev 0.02), n = 3 with vectors: 1.0 us (1.5). `XB_TIME=1 test_eigen` measures. */
#include "base/eigen.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- tridiagonal */

static void turn_round(double *x, int64_t n)
{
    for (int64_t i = 0, j = n - 1; i < j; i++, j--) {
        const double t = x[i];
        x[i] = x[j], x[j] = t;
    }
}

/* The first of square[0 .. n - 2] that counts as 0; n - 1: none. */
static int64_t first_split(const double *d, const double *square, int64_t n)
{
    const double tiny = 0.25 * DBL_EPSILON * DBL_EPSILON;
    int64_t m = 0;
    while (m + 1 < n && square[m] > tiny * fabs(d[m] * d[m + 1]) && square[m] > DBL_MIN)
        m++;
    return m;
}

/* The eigenvalue of the leading 2 x 2 block that is nearer to d[0]. */
static double shift_of(const double *d, const double *square)
{
    const double root = sqrt(square[0]), half = (d[1] - d[0]) / (2 * root);
    return d[0] - root / (half + copysign(hypot(half, 1), half));
}

/* One QL step on d[0 .. m], from below to the top. */
static void step(double *d, double *square, int64_t m)
{
    const double shift = shift_of(d, square);
    double c = 1, s = 0, gamma = d[m] - shift, p = gamma * gamma;
    for (int64_t i = m - 1; i >= 0; i--) {
        const double b = square[i], r = p + b, c_before = c, gamma_before = gamma;
        if (i + 1 < m) square[i + 1] = s * r;
        c = p / r, s = b / r;
        gamma = c * (d[i] - shift) - s * gamma_before;
        d[i + 1] = gamma_before + (d[i] - gamma);
        p = c != 0 ? gamma * gamma / c : c_before * b;
    }
    square[0] = s * p;
    d[0] = shift + gamma;
}

static bool solve(double *d, double *square, int64_t n)
{
    enum { STEPS_EACH = 30 };
    int64_t left = STEPS_EACH * n;
    for (int64_t first = 0; first < n;) {
        const int64_t m = first_split(d + first, square + first, n - first);
        if (m == 0) {
            first++;
            continue;
        }
        if (left-- == 0) return false;
        step(d + first, square + first, m);
    }
    return true;
}

/* The largest entry; NAN if one is not finite. */
static double norm_of(const double *d, const double *off, int64_t n)
{
    double norm = 0;
    for (int64_t i = 0; i < n; i++) {
        const double off_i = i + 1 < n ? off[i] : 0;
        if (!isfinite(d[i]) || !isfinite(off_i)) return NAN;
        norm = fmax(norm, fmax(fabs(d[i]), fabs(off_i)));
    }
    return norm;
}

bool xb_eigen_tridiagonal(double *diagonal, double *off, int64_t n)
{
    const double norm = norm_of(diagonal, off, n);
    if (isnan(norm)) return false;
    if (norm == 0) return true;
    for (int64_t i = 0; i < n; i++) diagonal[i] /= norm;
    for (int64_t i = 0; i + 1 < n; i++) off[i] = off[i] / norm * (off[i] / norm);
    if (fabs(diagonal[n - 1]) < fabs(diagonal[0])) {
        turn_round(diagonal, n);
        turn_round(off, n - 1);
    }
    if (!solve(diagonal, off, n)) return false;
    for (int64_t i = 0; i < n; i++) diagonal[i] *= norm;
    qsort(diagonal, (size_t)n, sizeof *diagonal, by_value);
    return true;
}

/* ---- dense */

/* The rotation that makes a[p][q] 0: its tangent is the smaller root of
 * t^2 + 2 theta t - 1. */
static void rotate(double *a, double *vectors, int n, int p, int q)
{
    const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    const double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
    const double c = 1 / sqrt(1 + t * t), s = t * c, along = t * a[p * n + q];
    a[p * n + p] -= along, a[q * n + q] += along;
    a[p * n + q] = a[q * n + p] = 0;
    for (int i = 0; i < n; i++) {
        if (i == p || i == q) continue;
        const double x = a[p * n + i], y = a[q * n + i];
        a[p * n + i] = a[i * n + p] = c * x - s * y;
        a[q * n + i] = a[i * n + q] = s * x + c * y;
    }
    for (int i = 0; vectors && i < n; i++) {
        const double x = vectors[p * n + i], y = vectors[q * n + i];
        vectors[p * n + i] = c * x - s * y;
        vectors[q * n + i] = s * x + c * y;
    }
}

/* Applies one rotation for each entry above the diagonal that is not negligible, and
 * returns their number. */
static int sweep(double *a, double *vectors, int n)
{
    int rotations = 0;
    for (int p = 0; p < n; p++)
        for (int q = p + 1; q < n; q++) {
            const double size = sqrt(fabs(a[p * n + p])) * sqrt(fabs(a[q * n + q]));
            const double x = fabs(a[p * n + q]);
            if (x <= 0.25 * DBL_EPSILON * size || x < DBL_MIN) continue;
            rotate(a, vectors, n, p, q);
            rotations++;
        }
    return rotations;
}

static void swap_rows(double *vectors, int n, int i, int k)
{
    for (int j = 0; vectors && j < n; j++) {
        const double t = vectors[i * n + j];
        vectors[i * n + j] = vectors[k * n + j], vectors[k * n + j] = t;
    }
}

/* Sorts by selection, because n is small and the vectors have to move as well. */
static void sort_values(double *values, double *vectors, int n)
{
    for (int i = 0; i < n; i++) {
        int least = i;
        for (int k = i + 1; k < n; k++)
            if (values[k] < values[least]) least = k;
        if (least == i) continue;
        const double t = values[i];
        values[i] = values[least], values[least] = t;
        swap_rows(vectors, n, i, least);
    }
}

bool xb_eigen_symmetric(double *values, double *vectors, double *matrix, int n)
{
    enum { SWEEPS = 60 };
    for (int i = 0; i < n * n; i++) {
        if (!isfinite(matrix[i])) return false;
        if (vectors) vectors[i] = i % (n + 1) == 0;
    }
    int sweeps = 0;
    while (sweep(matrix, vectors, n) > 0)
        if (++sweeps == SWEEPS) return false;
    for (int i = 0; i < n; i++) values[i] = matrix[i * n + i];
    sort_values(values, vectors, n);
    return true;
}
