/* normal_table.h: the normal distribution and density, fast, from a table.
 *
 * Scores of mixtures need the cdf of every component at dozens of places: erfc would take
 * most of the time. Nodes are 1/256 apart, with a Taylor series about the nearest one
 * (C1). Compared with erfc and exp, the absolute error of the cdf is 4e-16, that of the
 * density 7e-16. Beyond 8.5 the cdf is taken as 0 or 1, which is off by 1e-17. The table
 * belongs to the call that makes it: the library has no globals. */
#ifndef XB_COMPARE_NORMAL_TABLE_H
#define XB_COMPARE_NORMAL_TABLE_H

#include <math.h>

#define XB_NORMAL_FAR 8.5

enum { XB_NORMAL_STEPS = 256, XB_NORMAL_HALF = 2176, XB_NORMAL_NODES = 4353 };

typedef struct xb_normal_pair {
    double cdf, pdf;
} xb_normal_pair;

typedef struct xb_normal_table {
    xb_normal_pair node[XB_NORMAL_NODES]; /* the values at (i - 2176) / 256 */
} xb_normal_table;

void xb_normal_table_fill(xb_normal_table *table);

static inline xb_normal_pair xb_normal_at(const xb_normal_table *table, double t)
{
    if (!(fabs(t) < XB_NORMAL_FAR)) return (xb_normal_pair){t > 0, 0};
    int i = (int)(t * XB_NORMAL_STEPS + (XB_NORMAL_HALF + 0.5));
    double t0 = (double)(i - XB_NORMAL_HALF) / XB_NORMAL_STEPS;
    double d = t - t0, q = t0 * t0;
    double c2 = -0.5 * t0, c3 = (1.0 / 6) * (q - 1), c4 = (1.0 / 24) * (3 - q) * t0;
    double c5 = (1.0 / 120) * (q * (q - 6) + 3); /* (C1) */
    xb_normal_pair at = table->node[i];
    at.cdf += at.pdf * d * (1 + d * (c2 + d * (c3 + d * c4)));
    at.pdf *= 1 + d * (2 * c2 + d * (3 * c3 + d * (4 * c4 + d * (5 * c5))));
    return at;
}

/* (C5) E|X| of X ~ N(mean, sd^2). */
static inline double xb_normal_absolute(const xb_normal_table *table, double mean,
                                        double sd)
{
    if (!(fabs(mean) < XB_NORMAL_FAR * sd)) return fabs(mean);
    xb_normal_pair at = xb_normal_at(table, mean / sd);
    return 2 * sd * at.pdf + mean * (2 * at.cdf - 1);
}

#endif
