/* gauss.c: Gauss rules from the Jacobi matrix (Golub & Welsch 1969). maths Q1.
 *
 * Nodes are the eigenvalues of the symmetric tridiagonal Jacobi matrix (eigen.c),
 * polished by one Newton step on the orthonormal
 * polynomial. Weights come from Christoffel's formula, 1 / sum p_k(x)^2: a sum
 * of positive terms, so small weights keep their relative precision, which the
 * usual squared first components of eigenvectors do not. The recurrence is
 * rescaled as it grows, so nothing overflows at n = 4096.
 *
 * Worst error over the golden rules (n <= 64): nodes 2.3e-15, weights 9.1e-14
 * (tests/test_rule.c). Cost O(n^2). */
#include "base/gauss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/eigen.h"
#include "base/memory.h"

/* The orthonormal polynomials at x: the logarithm of their squared sum, and Newton's
 * correction for the zero of p_n near x. root[k] = sqrt(beta_k), k >= 1. */
typedef struct christoffel {
    double log_sum;
    double newton;
} christoffel;

static christoffel christoffel_at(double x, const double *alpha, const double *root,
                                  int64_t n)
{
    const double large = 0x1p200;
    double p_old = 0, p = 1, d_old = 0, d = 0, sum = 0;
    double log_scale = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += p * p;
        double below = k > 0 ? root[k] : 0;
        double above = k + 1 < n ? root[k + 1] : 1; /* the scale of p_n is arbitrary */
        double p_new = ((x - alpha[k]) * p - below * p_old) / above;
        double d_new = (p + (x - alpha[k]) * d - below * d_old) / above;
        p_old = p, p = p_new;
        d_old = d, d = d_new;
        if (fabs(p) > large || fabs(d) > large) {
            p /= large, p_old /= large, d /= large, d_old /= large;
            sum /= large;
            sum /= large;
            log_scale += 2 * log(large);
        }
    }
    return (christoffel){log(sum) + log_scale, d != 0 ? p / d : 0};
}

static void symmetrise(double *nodes, double *log_weights, int64_t n)
{
    for (int64_t i = 0, j = n - 1; i <= j; i++, j--) {
        double x = i == j ? 0 : 0.5 * (nodes[j] - nodes[i]);
        nodes[i] = -x, nodes[j] = x;
        log_weights[i] = log_weights[j];
    }
}

xb_status xb_gauss(xb_ctx *ctx, double *nodes, double *log_weights, const double *alpha,
                   const double *beta, int64_t n, bool symmetric)
{
    if (n < 1 || n > XB_GAUSS_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "a rule of %lld points: expected 1 to %d",
                       (long long)n, XB_GAUSS_MAX);
    double *block = xb_new(ctx, 3 * n, sizeof *block);
    if (!block) return XB_E_MEMORY;
    double *root = block, *diagonal = block + n, *off = block + 2 * n;
    for (int64_t k = 0; k < n; k++) {
        root[k] = sqrt(beta[k]);
        diagonal[k] = alpha[k];
        if (k > 0) off[k - 1] = root[k];
    }
    const bool solved = xb_eigen_tridiagonal(diagonal, off, n); /* (Q1) */
    if (solved) {
        for (int64_t i = 0; i < n; i++) {
            double x = diagonal[i];
            x -= christoffel_at(x, alpha, root, n).newton;
            nodes[i] = x;
            log_weights[i] = log(beta[0]) - christoffel_at(x, alpha, root, n).log_sum;
        }
        if (symmetric) symmetrise(nodes, log_weights, n);
    }
    free(block);
    if (!solved)
        return xb_fail(
            ctx, XB_E_NUMERIC,
            "the eigenvalues of the Jacobi matrix of order %lld did not converge",
            (long long)n);
    return XB_OK;
}

xb_status xb_gauss_legendre(xb_ctx *ctx, double *nodes, double *weights, int64_t n)
{
    if (n < 1 || n > XB_GAUSS_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "a rule of %lld points: expected 1 to %d",
                       (long long)n, XB_GAUSS_MAX);
    double *alpha = xb_new(ctx, 2 * n, sizeof *alpha);
    if (!alpha) return XB_E_MEMORY;
    double *beta = alpha + n;
    beta[0] = 2;
    for (int64_t k = 1; k < n; k++)
        beta[k] = 1 / (4 - 1.0 / ((double)k * (double)k)); /* (Q2) */
    xb_status status = xb_gauss(ctx, nodes, weights, alpha, beta, n, true);
    if (status == XB_OK)
        for (int64_t i = 0; i < n; i++) weights[i] = exp(weights[i]);
    free(alpha);
    return status;
}
