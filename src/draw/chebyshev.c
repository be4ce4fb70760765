/* chebyshev.c: interpolation at Chebyshev-Lobatto points; maths D6. The degrees
 * here are small (at most 24) and the functions smooth, so the step from
 * Chebyshev coefficients to powers on [-1, 1] is harmless. */
#include "draw/chebyshev.h"

#include <math.h>

void xb_chebyshev_points(double *r, int n)
{
    for (int j = 0; j <= n; j++) r[j] = -cos(M_PI * j / n);
    if (n % 2 == 0) r[n / 2] = 0;
}

/* Computes Chebyshev coefficients by the discrete cosine sum, with the ends halved. */
static void chebyshev_coefficients(double *c, const double *value, int n)
{
    double cosine[2 * XB_CHEBYSHEV_MAX] = {0}; /* all angles that occur: pi m / n */
    for (int m = 0; m < 2 * n; m++) cosine[m] = cos(M_PI * m / n);
    for (int k = 0; k <= n; k++) {
        double sum = 0;
        for (int j = 0; j <= n; j++) {
            double half = j == 0 || j == n ? 0.5 : 1;
            sum += half * value[j] * cosine[k * (n - j) % (2 * n)];
        }
        c[k] = sum * (k == 0 || k == n ? 1.0 : 2.0) / n;
    }
}

void xb_chebyshev_powers(double *coef, const double *value, int n)
{
    double c[XB_CHEBYSHEV_MAX + 1] = {0};
    double older[XB_CHEBYSHEV_MAX + 1] = {1}, newer[XB_CHEBYSHEV_MAX + 1] = {0, 1};
    chebyshev_coefficients(c, value, n);
    for (int k = 0; k <= n; k++) coef[k] = 0;
    coef[0] = c[0];
    for (int k = 1; k <= n; k++) {
        for (int i = 0; i <= k; i++) coef[i] += c[k] * newer[i];
        if (k == n) break;
        /* T_{k+1} = 2 r T_k - T_{k-1}, as powers, into the older one's place */
        for (int i = k + 1; i > 0; i--) {
            double next = 2 * newer[i - 1] - older[i];
            older[i] = newer[i];
            newer[i] = next;
        }
        double next = -older[0];
        older[0] = newer[0];
        newer[0] = next;
    }
}
