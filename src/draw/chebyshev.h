/* chebyshev.h: polynomials through Chebyshev-Lobatto points. */
#ifndef XB_DRAW_CHEBYSHEV_H
#define XB_DRAW_CHEBYSHEV_H

enum { XB_CHEBYSHEV_MAX = 24 };

/* The n + 1 points cos(pi j / n) on [-1, 1], ascending, ends exact. */
void xb_chebyshev_points(double *r, int n);

/* Coefficients in ascending powers of r of the polynomial of degree n through
 * value[j] at those points. 1 <= n <= XB_CHEBYSHEV_MAX. */
void xb_chebyshev_powers(double *coef, const double *value, int n);

/* sum of coef[k] r^k, k < 16, paired as a tree (Estrin): short chains, and plain
 * multiplications and additions, so the same bytes on every machine. */
static inline double xb_estrin16(const double *coef, double r)
{
    double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    double pair[8], quad[4];
    for (int k = 0; k < 8; k++) pair[k] = coef[2 * k] + r * coef[2 * k + 1];
    for (int k = 0; k < 4; k++) quad[k] = pair[2 * k] + r2 * pair[2 * k + 1];
    return (quad[0] + r4 * quad[1]) + r8 * (quad[2] + r4 * quad[3]);
}

#endif
