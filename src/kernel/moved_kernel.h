/* moved_kernel.h: one unit of a dense layer under Gaussian weights, and its
 * transformation to another law by that law's cumulants; maths A4, A5. The arithmetic is
 * written once for the CPU and the GPU.
 *
 * Given the layer below, a unit is a sum of scaled draws. Under Gaussian weights it is
 * N(m, s^2); under another law it is, up to the sixth cumulant, m + s x(e) with x the
 * polynomial of Cornish and Fisher (1937) and e the same Gaussian number, so only the law
 * differs and differences have little noise. If one weight makes nearly all of a unit, x
 * is the law's own quantile, under a symmetric law with a part of e as large as the other
 * weights make it. */
#ifndef XB_KERNEL_MOVED_KERNEL_H
#define XB_KERNEL_MOVED_KERNEL_H

#include <stdbool.h>

#include "base/both.h"

enum { XB_MOVED_ORDER = 6 }; /* largest order of cumulants that are used */

typedef struct xb_moved_law {
    double cumulant[XB_MOVED_ORDER + 1]; /* standardised */
    bool symmetric;
    /* (A5) of symmetric laws: the exponent p, and the correlation of z with e */
    double blend_power, blend_overlap;
} xb_moved_law;

/* Power sums of a unit's terms: sum[n] = sum of (h sigma)^n, from 2 on, where wanted. */
XB_BOTH bool xb_moved_wanted(const xb_moved_law *law, int n)
{
    return !law->symmetric || n % 2 == 0;
}

/* (A5) Coefficients of He_1 .. He_5, from standardised cumulants k[3..6]. Where these are
 * large the higher orders diverge, and two are better than four. */
XB_BOTH void xb_moved_series(double b[6], const double *k)
{
    const double calm_skewness = 0.5, calm_kurtosis = 1.5;
    double s = k[3], ss = s * s;
    b[1] = 1 - ss / 36, b[2] = s / 6, b[3] = k[4] / 24 - ss / 18, b[4] = b[5] = 0;
    if (fabs(s) > calm_skewness || fabs(k[4]) > calm_kurtosis) return;
    b[1] += -k[4] * k[4] / 192 + ss * k[4] / 36 - 227 * ss * ss / 7776;
    b[2] += -s * k[4] / 24 + 19 * s * ss / 324;
    b[3] += -k[4] * k[4] / 64 - s * k[5] / 60 + 37 * ss * k[4] / 288 - 26 * ss * ss / 243;
    b[4] += k[5] / 120 - s * k[4] / 24 + s * ss / 27;
    b[5] += k[6] / 720 - k[4] * k[4] / 128 - s * k[5] / 90 + 7 * ss * k[4] / 144 -
            7 * ss * ss / 216;
}

/* (A5) x(e), divided by its own standard deviation: sum of n! b_n^2. */
XB_BOTH double xb_moved_quantile(const double *k, double e)
{
    double b[6], sum = 0, variance = 0, last = 1, he = e, factorial = 1;
    xb_moved_series(b, k);
    for (int n = 1; n <= 5; n++) {
        sum += b[n] * he;
        variance += (factorial *= n) * b[n] * b[n];
        double next = e * he - n * last;
        last = he, he = next;
    }
    return sum / sqrt(variance);
}

/* The sum of a^4 / s^4: 1 for one weight, 1/n for n equal ones. */
XB_BOTH double xb_moved_few(double second, double fourth)
{
    return second > 0 ? fourth / (second * second) : 0;
}

#define XB_MOVED_ONE                                                                     \
    0.7 /* xb_moved_few() from which one weight counts as all of a unit */
#define XB_MOVED_SEVERAL 0.2 /* from which it is not many */
/* Even a small further weight smooths the steep side of a skewed law, and fills the gaps
 * between levels and the ends of a flat law (negative kurtosis), so the prediction for a
 * unit of one weight is trusted only from here on. */
#define XB_MOVED_ONE_STEEP 0.95

XB_BOTH bool xb_moved_steep(const xb_moved_law *law)
{
    return !law->symmetric || law->cumulant[4] < 0;
}

/* (A5) -1 where the unit's third cumulant has the other sign than the law's: the weight
 * that makes it is multiplied by a negative number, which mirrors its noise. Gaussian
 * units take the same side, so that both laws still move together. */
XB_BOTH double xb_moved_side(const xb_moved_law *law, double third)
{
    return !law->symmetric && third < 0 ? -1 : 1;
}

/* (A5) A part of z, 0 to 1, and the rest of e, over the standard deviation of both. */
XB_BOTH double xb_moved_blend(double part, double overlap, double e, double z)
{
    double rest = 1 - part;
    return (part * z + rest * e) /
           sqrt(part * part + rest * rest + 2 * part * rest * overlap);
}

/* (A4) A unit of standard deviation sd > 0, over it: by its standardised cumulants, which
 * are the law's times sum a^n / s^n; e Gaussian and z of the law, of one word. */
XB_BOTH double xb_moved_unit(const xb_moved_law *law, const double *sum, double sd,
                             double e, double z)
{
    double k[XB_MOVED_ORDER + 1] = {0}, scale = 1 / (sd * sd);
    double side = xb_moved_side(law, sum[3]);
    double few = xb_moved_few(sum[2], sum[4]);
    if (few > XB_MOVED_ONE) {
        if (!law->symmetric || few >= 1) return side * z;
        return xb_moved_blend(pow(few, law->blend_power), law->blend_overlap, e, z);
    }
    for (int n = 3; n <= XB_MOVED_ORDER; n++) {
        scale /= sd;
        if (xb_moved_wanted(law, n)) k[n] = law->cumulant[n] * sum[n] * scale;
    }
    return xb_moved_quantile(k, side * e);
}

#endif
