/* calibration.c: the calibration curve of Kendall & Gal (2017) and the area between
 * it and the diagonal; maths C8, C9. The curve is a step function of the level, so
 * the area is a sum over its steps: no grid of levels, no error. */
#include "compare/calibration.h"

#include <math.h>

#include "crossbayes/extend.h"

xb_status xb_central_masses(xb_ctx *ctx, double *mass, const double *pit, int64_t n)
{
    for (int64_t i = 0; i < n; i++) mass[i] = fmin(fabs(2 * pit[i] - 1), 1);
    return xb_sort_doubles(ctx, mass, n);
}

double xb_calibration_share(const double *mass, int64_t n, double level)
{
    int64_t low = 0, high = n; /* the first mass above the level */
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (mass[middle] <= level)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)low / (double)n;
}

double xb_share_error(double share, int64_t n)
{
    double count = (double)n;
    double middle = (share * count + 0.5) / (count + 1); /* (C8) */
    return sqrt(middle * (1 - middle) / count);
}

/* Integral of |share - p| and of sign(share - p) over one step of the curve. */
static double step_area(double share, double from, double to)
{
    double a = share - from, b = share - to;
    return 0.5 * (a * fabs(a) - b * fabs(b));
}

static double step_sign(double share, double from, double to)
{
    double turn = fmin(fmax(share, from), to);
    return 2 * turn - from - to;
}

double xb_miscalibration_area(double *std_error, const double *mass, int64_t n)
{
    double area = 0, influence = 0, sum = 0, square = 0, end = 1;
    for (int64_t i = n; i >= 0; i--) { /* the step after mass i, from the right */
        double share = (double)i / (double)n, from = i > 0 ? mass[i - 1] : 0;
        area += step_area(share, from, end);
        influence += step_sign(share, from, end); /* of the point at `from` (C9) */
        if (i > 0) sum += influence, square += influence * influence;
        end = from;
    }
    double mean = sum / (double)n;
    double variance = fmax(0, square / (double)n - mean * mean);
    if (std_error) *std_error = n > 1 ? sqrt(variance / (double)(n - 1)) : NAN;
    return area;
}

double xb_miscalibration_floor(int64_t n)
{
    return sqrt(2 / M_PI) * (M_PI / 8) / sqrt((double)n); /* (C9) */
}
