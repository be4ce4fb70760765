/* energy_kernel.h: E|f - Y|^1.5 of a standard normal Y and its slope, for the CPU and the
 * GPU; maths G2, G3.
 *
 * They come from Taylor polynomials at nodes 1/4 apart, whose coefficients follow from
 * value and slope at the node, since the function obeys a linear differential equation
 * (G2). At the nodes Kummer's function is a series of positive terms; beyond |f| = 8 the
 * asymptotic series serves (G3). Worst error against mpmath over |f| <= 50: 1.1e-15 of
 * the value, 8e-15 of the slope. */
#ifndef XB_KERNEL_ENERGY_KERNEL_H
#define XB_KERNEL_ENERGY_KERNEL_H

#include "base/both.h"
#include "crossbayes/vi.h"

#define XB_ENERGY_EXPONENT 1.5
#define XB_ENERGY_SPACING 0.25 /* of the nodes */

/* exp(-z) M(a; b; z), z >= 0, a and b > 0: positive terms, summed until they vanish. */
XB_BOTH double xb_kummer_damped(double a, double b, double z)
{
    double term = 1, sum = 1;
    for (int k = 0; term > sum * 1e-18; k++) {
        term *= (a + k) / (b + k) * z / (k + 1);
        sum += term;
    }
    return exp(-z) * sum;
}

/* (G2) t [degree + 1]: value, slope, then every higher coefficient from the two before
 * it. */
XB_BOTH void xb_energy_taylor(double *t, double f)
{
    const double p = XB_ENERGY_EXPONENT, z = 0.5 * f * f;
    const double at_zero = pow(2, 0.5 * p) * tgamma(0.5 * (p + 1)) / sqrt(M_PI);
    t[0] = at_zero * xb_kummer_damped(0.5 * (1 + p), 0.5, z);
    t[1] = at_zero * p * f * xb_kummer_damped(0.5 * (1 + p), 1.5, z);
    for (int n = 0; n + 2 <= XB_ENERGY_DEGREE; n++)
        t[n + 2] = ((p - n) * t[n] / (n + 1) - f * t[n + 1]) / (n + 2);
}

/* (G3) */
XB_BOTH double xb_energy_asymptotic(double f, double *slope)
{
    enum { TERMS = 16 }; /* the last is below 1e-17 of the first at f = 8 */
    double p = XB_ENERGY_EXPONENT, term = f * sqrt(f), value = 0, rise = 0;
    for (int k = 0; k < TERMS; k++) {
        value += term;
        rise += term * (p - 2 * k);
        term *= (p - 2 * k) * (p - 2 * k - 1) / ((2 * k + 2) * f * f);
    }
    *slope = rise / f;
    return value;
}

/* f >= 0 (or not a number). */
XB_BOTH double xb_energy_from_table(const xb_energy_table *table, double f, double *slope)
{
    const int node = (int)(f / XB_ENERGY_SPACING + 0.5);
    const double *t = table->at[node];
    const double d = f - node * XB_ENERGY_SPACING;
    double value = t[XB_ENERGY_DEGREE], rise = 0;
    for (int n = XB_ENERGY_DEGREE - 1; n >= 0; n--) {
        rise = rise * d + value;
        value = value * d + t[n];
    }
    *slope = rise;
    return value;
}

XB_BOTH double xb_energy_mean_distance(const xb_energy_table *table, double f,
                                       double *slope)
{
    const double end = (XB_ENERGY_NODES - 1) * XB_ENERGY_SPACING;
    const double size = fabs(f);
    const double value = size <= end ? xb_energy_from_table(table, size, slope)
                                     : xb_energy_asymptotic(size, slope);
    *slope = copysign(*slope, f);
    return value;
}

#endif
