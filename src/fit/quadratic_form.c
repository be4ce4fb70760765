/* quadratic_form.c: the distribution of a weighted sum of chi-squares by inverting its
 * characteristic function (Imhof 1961; the step by Davies 1973); maths F13.
 *
 * With midpoints of steps d the sum's error is the chance that the form exceeds
 * x + 4 pi / d: d is chosen to make that 1e-9. The terms fall as the fourth root of the
 * product of 1 + w^2 u^2. About 100 terms of the sum for Anderson-Darling's
 * form, 1e-7 (tests); forms of one or two terms fall slowly and are cut off. */
#include "fit/quadratic_form.h"

#include <math.h>
#include <stdbool.h>

/* The angle and the log of the modulus of the product of 1 + i w_j u. Each factor turns
 * by less than a right angle, so whole turns show in the sign of the imaginary part. */
typedef struct polar {
    double angle, log_size;
} polar;

static polar product(const xb_quadratic_form *f, double u)
{
    double re = 1, im = 0, turns = 0;
    for (int j = 0; j < f->n; j++) {
        double wu = f->weight[j] * u, next = re - im * wu;
        bool upper = im >= 0;
        im += re * wu;
        re = next;
        turns += upper && im < 0;
    }
    return (polar){atan2(im, re) + 2 * M_PI * turns, 0.5 * log(re * re + im * im)};
}

double xb_quadratic_tail(const xb_quadratic_form *f, double x)
{
    enum { TERMS_MAX = 4000 };
    const double far = 42, small = 1e-8; /* exp(-far / 2) = 1e-9 */
    double largest = f->rest_weight, mean = f->rest_weight * f->rest_freedom, sum = 0;
    for (int j = 0; j < f->n; j++) {
        largest = fmax(largest, f->weight[j]);
        mean += f->weight[j];
    }
    if (!(x > 0)) return 1;
    if (x > mean + far * (largest + mean)) return 0;
    double step = 4 * M_PI / (x + mean + far * largest);
    for (int k = 0; k < TERMS_MAX; k++) { /* (F13) */
        double u = (k + 0.5) * step, rest = f->rest_weight * u;
        polar z = product(f, u);
        double angle = z.angle + f->rest_freedom * atan(rest) - x * u;
        double log_size = z.log_size + 0.5 * f->rest_freedom * log1p(rest * rest);
        double term = exp(-0.5 * log_size) / (M_PI * (k + 0.5));
        sum += term * sin(0.5 * angle);
        if (term < small) break;
    }
    return fmax(0, fmin(1, 0.5 + sum));
}
