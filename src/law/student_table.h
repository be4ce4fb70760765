/* student_table.h: Student's t distribution and density, fast, from a table (maths L32).
 *
 * Predictions and scores of models with Student noise need the cdf of every draw at
 * dozens of places; the series of student.c would take most of the time. Nodes are 1/64
 * apart up to 8 and 1/32 of a power of two beyond, each with a Taylor series; beyond 2^40
 * the law itself is asked. The masses and the density are within 1e-12 of the law's
 * (tests/test_student.c). Any number of degrees above 2 is fine; the table
 * belongs to the caller and never changes after it was filled. */
#ifndef XB_LAW_STUDENT_TABLE_H
#define XB_LAW_STUDENT_TABLE_H

#include <math.h>
#include <string.h>

#include "law/family.h"

enum {
    XB_STUDENT_STEPS = 64, /* nodes per unit, */
    XB_STUDENT_PARTS = 5,  /* and 2^5 of them per power of two, */
    XB_STUDENT_LEAST = 3,  /* from 2^3 */
    XB_STUDENT_MOST = 40,  /* to 2^40 */
    XB_STUDENT_NEAR = XB_STUDENT_STEPS << XB_STUDENT_LEAST,
    XB_STUDENT_FAR = (XB_STUDENT_MOST - XB_STUDENT_LEAST) << XB_STUDENT_PARTS,
    XB_STUDENT_NODES = XB_STUDENT_NEAR + XB_STUDENT_FAR,
    XB_STUDENT_TERMS = 6
};

static const double XB_STUDENT_END = 1099511627776; /* 2^MOST */

/* The Taylor series of the density about t, and the mass above t. */
typedef struct xb_student_node {
    double t, above, density[XB_STUDENT_TERMS];
} xb_student_node;

typedef struct xb_student_table {
    xb_law law;      /* for what is beyond the table; only its functions are set up */
    double degrees;  /* nu */
    double scale;    /* of a t whose standard deviation is 1 */
    double variance; /* of a t whose scale is 1 */
    double spread;   /* E|T - T'| */
    double size;     /* E|T| */
    double power;    /* 2^(1/power) = spread/size */
    double reach;    /* the mass beyond it times its distance is below 1e-10 */
    xb_student_node node[XB_STUDENT_NODES];
} xb_student_table;

typedef struct xb_student_pair {
    double above, pdf; /* the mass above t, t >= 0 */
} xb_student_pair;

void xb_student_fill(xb_student_table *table, double degrees);

/* The node whose series holds at t, 0 <= t < 2^MOST. */
static inline int xb_student_node_of(double t)
{
    uint64_t pattern;
    if (t < (double)(1 << XB_STUDENT_LEAST)) return (int)(t * XB_STUDENT_STEPS);
    memcpy(&pattern, &t,
           sizeof pattern); /* the exponent, and the first bits of the fraction */
    const int first = (1023 + XB_STUDENT_LEAST) << XB_STUDENT_PARTS;
    return XB_STUDENT_NEAR + (int)(pattern >> (52 - XB_STUDENT_PARTS)) - first;
}

/* (L32) t >= 0 or NAN. */
static inline xb_student_pair xb_student_above(const xb_student_table *table, double t)
{
    if (!(t < XB_STUDENT_END))
        return (xb_student_pair){table->law.family->tail(&table->law, t, true),
                                 table->law.family->pdf(&table->law, t)};
    const xb_student_node *at = &table->node[xb_student_node_of(t)];
    const double d = t - at->t, *c = at->density;
    const double mass =
        d * (c[0] + d * (c[1] * (1.0 / 2) +
                         d * (c[2] * (1.0 / 3) +
                              d * (c[3] * (1.0 / 4) +
                                   d * (c[4] * (1.0 / 5) + d * (c[5] * (1.0 / 6)))))));
    const double pdf =
        c[0] + d * (c[1] + d * (c[2] + d * (c[3] + d * (c[4] + d * c[5]))));
    return (xb_student_pair){at->above - mass, pdf};
}

static inline double xb_student_cdf(const xb_student_table *table, double t)
{
    const double above = xb_student_above(table, fabs(t)).above;
    return t > 0 ? 1 - above : above;
}

/* log density at t. */
static inline double xb_student_log_pdf(const xb_student_table *table, double t)
{
    return table->law.family->log_pdf(&table->law, t);
}

/* (L33) E|X| of X = mean + scale T. */
double xb_student_absolute(const xb_student_table *table, double mean, double scale);

/* The t with mass `level` below it, 0 < level < 1. */
double xb_student_quantile(const xb_student_table *table, double level);

/* (L32) The t that is as far out as z is under the standard normal; float accuracy is
 * enough for noise, and this is within 1e-8. */
double xb_student_from_normal(const xb_student_table *table, double z);

#endif
