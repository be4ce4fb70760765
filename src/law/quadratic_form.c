/* quadratic_form.c: the distribution of a weighted sum of chi-squares by inverting its
 * characteristic function (Imhof 1961; the step by Davies 1973); maths F13.
 *
 * With midpoints of steps d the sum's error is the chance that the form exceeds
 * x + 4 pi / d: d is chosen to make that 1e-9. The terms fall as the root of the
 * product of 1 + w^2 u^2. About 100 terms; against chi-squares and Anderson and
 * Darling's points in tests/test_fit.c, worst 1e-8. */
#include "law/quadratic_form.h"

#include <math.h>

double xb_quadratic_tail(const double *weight, const double *freedom, int n, double x)
{
    enum { TERMS_MAX = 4000 };
    const double far = 42, small = 1e-8; /* exp(-far / 2) = 1e-9 */
    double largest = 0, mean = 0, sum = 0;
    for (int j = 0; j < n; j++) {
        largest = fmax(largest, weight[j]);
        mean += weight[j] * freedom[j];
    }
    if (!(x > 0)) return 1;
    if (x > mean + far * (largest + mean)) return 0;
    double step = 4 * M_PI / (x + mean + far * largest);
    for (int k = 0; k < TERMS_MAX; k++) { /* (F13) */
        double u = (k + 0.5) * step, angle = -0.5 * x * u, size = 0;
        for (int j = 0; j < n; j++) {
            double wu = weight[j] * u;
            angle += 0.5 * freedom[j] * atan(wu);
            size += 0.25 * freedom[j] * log1p(wu * wu);
        }
        double term = exp(-size) / (M_PI * (k + 0.5));
        sum += term * sin(angle);
        if (term < small) break;
    }
    return fmax(0, fmin(1, 0.5 + sum));
}
