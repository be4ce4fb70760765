/* solve.c: safeguarded Newton; see solve.h. Typically 4 to 7 evaluations. */
#include "law/solve.h"

#include <float.h>
#include <math.h>

enum { MAX_STEPS = 200 }; /* bisection alone needs about 64 */

double xb_solve(xb_increasing f, const void *arg, double lo, double hi, double guess)
{
    double y = guess > lo && guess < hi ? guess : 0.5 * (lo + hi);
    double last = hi - lo;
    for (int i = 0; i < MAX_STEPS; i++) {
        double slope = 0;
        double value = f(arg, y, &slope);
        if (value == 0) return y;
        if (value < 0)
            lo = y;
        else
            hi = y;
        double next = y - value / slope;
        double step = next - y;
        /* Newton must stay inside and shrink; otherwise halve the bracket. */
        if (!(next > lo && next < hi) || fabs(step) > 0.75 * last) {
            if (fabs(step) <= DBL_EPSILON * fabs(y)) return y;
            next = 0.5 * (lo + hi);
            step = 0.5 * (hi - lo);
        }
        if (fabs(step) <= 0.5 * DBL_EPSILON * fabs(y) || next == y || next == lo ||
            next == hi)
            return next;
        last = fabs(step);
        y = next;
    }
    return y;
}
