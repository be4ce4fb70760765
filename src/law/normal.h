/* normal.h: the standard normal density and distribution. */
#ifndef XB_LAW_NORMAL_H
#define XB_LAW_NORMAL_H

#include <math.h>

static inline double xb_normal_log_pdf(double x)
{
    return -0.5 * x * x - 0.5 * log(2 * M_PI);
}

/* exp(-x^2/2), corrected for the rounding of the square, so that relative precision is
 * kept far out, where x^2/2 is in the hundreds. */
static inline double xb_normal_pdf(double x)
{
    double square = x * x;
    return exp(-0.5 * square) * (1 - 0.5 * fma(x, x, -square)) / sqrt(2 * M_PI);
}

/* erfc at -x / sqrt 2, corrected for the rounding of the scaled argument: M_SQRT2 is
 * larger than the square root of two by 9.667e-17. */
static inline double xb_normal_cdf(double x)
{
    const double root_excess = 9.667e-17;
    double y = -x * M_SQRT1_2;
    if (!(fabs(y) < 27)) return 0.5 * erfc(y);
    double too_large = fma(y, M_SQRT2, x) * M_SQRT1_2 + 0.5 * x * root_excess;
    double derivative = -2 / sqrt(M_PI) * exp(-y * y);
    return 0.5 * (erfc(y) - derivative * too_large);
}

/* The x <= 0 with mass v below it, 0 < v <= 1/2; gaussian.c. */
double xb_normal_tail_quantile(double v);

#endif
