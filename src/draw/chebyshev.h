/* chebyshev.h: polynomials through Chebyshev-Lobatto points. */
#ifndef XB_DRAW_CHEBYSHEV_H
#define XB_DRAW_CHEBYSHEV_H

enum { XB_CHEBYSHEV_MAX = 24 };

/* The n + 1 points cos(pi j / n) on [-1, 1], ascending, ends exact. */
void xb_chebyshev_points(double *r, int n);

/* Coefficients in ascending powers of r of the polynomial of degree n through
 * value[j] at those points. 1 <= n <= XB_CHEBYSHEV_MAX. */
void xb_chebyshev_powers(double *coef, const double *value, int n);

#endif
