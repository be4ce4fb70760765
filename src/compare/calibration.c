/* calibration.c: the calibration curve of Kendall & Gal (2017) and the area between
 * it and the diagonal; maths C8, C9. The curve is a step function of the level, so the
 * area is a sum over its steps, without a grid of levels and its error. The file also has
 * the mean ECE of a calibrated classifier; maths C21. */
#include "compare/calibration.h"

#include <math.h>

#include "crossbayes/extend.h"

/* (C21) Above this variance of a bin's hits, a Gaussian gives their mean deviation within
 * 1e-3. Below it, surprises are at most twice as many on average, and counts end 17
 * standard deviations above that. */
enum { MANY = 100, COUNT_MOST = 2 * MANY + 170 };

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
        influence += step_sign(share, from, end); /* influence of the point at `from`
                                                     (C9) */
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

int64_t xb_confidence_bin(double confidence, int64_t bins)
{
    int64_t bin = (int64_t)ceil(confidence * (double)bins) - 1;
    return bin < 0 ? 0 : bin >= bins ? bins - 1 : bin;
}

/* Each point of a bin is expected to be a hit or, up to a confidence of 1/2, a miss; this
 * counts the exceptions, hits upwards and misses downwards. */
typedef struct surprise {
    bool up;
    double chance; /* at most 1/2 */
} surprise;

static surprise surprise_of(double confidence)
{
    bool up = confidence <= 0.5;
    return (surprise){up, up ? confidence : fmax(0, 1 - confidence)};
}

static double bin_variance(const double *confidence, int64_t n, int64_t bins, int64_t bin)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (xb_confidence_bin(confidence[i], bins) != bin) continue;
        double q = surprise_of(confidence[i]).chance;
        sum += q * (1 - q);
    }
    return sum;
}

/* E|K - E K| of the number K of hits, by its distribution, one point after the other. */
static double exact_deviation(const double *confidence, int64_t n, int64_t bins,
                              int64_t bin)
{
    double room[2 * COUNT_MOST + 1] = {0}, *p = room + COUNT_MOST, mean = 0, sum = 0;
    int low = 0, high = 0;
    p[0] = 1;
    for (int64_t i = 0; i < n; i++) {
        if (xb_confidence_bin(confidence[i], bins) != bin) continue;
        surprise s = surprise_of(confidence[i]);
        if (s.up && high < COUNT_MOST) high++;
        if (!s.up && low > -COUNT_MOST) low--;
        mean += s.up ? s.chance : -s.chance;
        for (int k = high; s.up && k > low; k--) p[k] += s.chance * (p[k - 1] - p[k]);
        for (int k = low; !s.up && k < high; k++) p[k] += s.chance * (p[k + 1] - p[k]);
        p[s.up ? low : high] *= 1 - s.chance;
    }
    for (int k = low; k <= high; k++) sum += p[k] * fabs(k - mean);
    return sum;
}

double xb_ece_floor(const double *confidence, int64_t n, int64_t bins)
{
    double sum = 0;
    for (int64_t b = 0; b < bins; b++) {
        double variance = bin_variance(confidence, n, bins, b);
        sum += variance > MANY ? sqrt(2 / M_PI * variance) /* (C21) */
                               : exact_deviation(confidence, n, bins, b);
    }
    return sum / (double)n;
}
