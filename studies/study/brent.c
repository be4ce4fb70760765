/* brent.c: root finding without derivatives (Brent 1973, chapter 4): inverse
 * quadratic interpolation or the secant where they help, bisection otherwise.
 * The laws solve their quantiles by Newton's method; this is the paper's method, for the
 * fits that are compared with it. */
#include "study/brent.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { MAX_STEPS = 300 };

/* The step from b that interpolation proposes, through (a, fa), (b, fb), (c, fc). */
static double interpolated(double a, double fa, double b, double fb, double c, double fc)
{
    if (fa == fc || fb == fc || a == c) /* there are two points only: use the secant */
        return -fb * (b - a) / (fb - fa);
    double r = fb / fc, s = fb / fa, t = fa / fc;
    double p = s * (t * (r - t) * (c - b) - (1 - r) * (b - a));
    return p / ((t - 1) * (r - 1) * (s - 1));
}

double xb_brent(double (*f)(const void *arg, double x), const void *arg, double a,
                double b, double tolerance)
{
    double fa = f(arg, a), fb = f(arg, b);
    double c = a, fc = fa, step = b - a, before = step;
    for (int i = 0; i < MAX_STEPS && fb != 0; i++) {
        if ((fb > 0) == (fc > 0)) { /* keep the zero between b and c */
            c = a, fc = fa;
            step = before = b - a;
        }
        if (fabs(fc) < fabs(fb)) { /* and b the better end */
            a = b, b = c, c = a;
            fa = fb, fb = fc, fc = fa;
        }
        double least = 2 * DBL_EPSILON * fabs(b) + 0.5 * tolerance;
        double half = 0.5 * (c - b);
        if (fabs(half) <= least) break;
        double next = half;
        if (fabs(before) >= least && fabs(fa) > fabs(fb)) {
            double trial = interpolated(a, fa, b, fb, c, fc);
            bool inside =
                trial * half > 0 && fabs(trial) < 1.5 * fabs(half) - 0.5 * least;
            if (inside && fabs(trial) < 0.5 * fabs(before)) next = trial;
        }
        before = next == half ? half : step;
        step = next;
        a = b, fa = fb;
        b += fabs(step) > least ? step : copysign(least, half);
        fb = f(arg, b);
    }
    return b;
}
