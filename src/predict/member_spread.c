/* member_spread.c: how much of an ensemble's spread is disagreement between its members
 * (maths P7), from draws that alternate between them. */
#include <math.h>

#include "predict/predict.h"

/* How many of the draws are member i's. */
static int64_t share_of(int64_t draws, int64_t members, int64_t i)
{
    return (draws - i + members - 1) / members;
}

/* The variance of the members' means, minus the part that their Monte Carlo errors
 * cause. */
xb_draw_summary xb_members_summarise(double *between, const double *value, int64_t draws,
                                     int64_t stride, int64_t members)
{
    xb_draw_summary all = xb_draws_summarise(value, draws, stride);
    double square = 0, noise = 0, error = 0;
    *between = 0;
    if (members == 1) return all;
    for (int64_t i = 0; i < members; i++) {
        const int64_t own = share_of(draws, members, i);
        const xb_draw_summary one =
            xb_draws_summarise(value + i * stride, own, members * stride);
        square += (one.mean - all.mean) * (one.mean - all.mean);
        noise += own > 1 ? one.sd * one.sd / (double)own : 0;
        error += one.error * one.error;
    }
    const double m = (double)members;
    *between = sqrt(fmax(0, square / m - (1 - 1 / m) * noise / m));
    all.error =
        sqrt(error) / m; /* members are not random, so their differences add no error */
    return all;
}

double xb_class_entropy(const double *p, int64_t classes)
{
    double h = 0;
    for (int64_t k = 0; k < classes; k++)
        if (p[k] > 0) h -= p[k] * log(p[k]);
    return h;
}

/* room [classes] holds the mean over all members. */
double xb_members_information(const double *value, int64_t draws, int64_t stride,
                              int64_t members, int64_t classes, double *room)
{
    double inner = 0;
    for (int64_t k = 0; k < classes; k++) room[k] = 0;
    for (int64_t i = 0; i < members; i++) {
        const double own = (double)share_of(draws, members, i);
        for (int64_t k = 0; k < classes; k++) {
            double p = 0;
            for (int64_t s = i; s < draws; s += members) p += value[s * stride + k] / own;
            if (p > 0) inner -= p * log(p) / (double)members;
            room[k] += p / (double)members;
        }
    }
    return fmax(0, xb_class_entropy(room, classes) - inner);
}
