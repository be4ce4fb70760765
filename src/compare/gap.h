/* gap.h: from differences at n points and their Monte Carlo errors to a verdict: the
 * bounds, their joint error rate, the draws that would settle it; maths C17. */
#ifndef XB_COMPARE_GAP_H
#define XB_COMPARE_GAP_H

#include "base/ctx.h"
#include "crossbayes/compare.h"

/* Sums over the points. */
typedef struct xb_gap_sums {
    double square, variance;
    double largest, largest_error;
    int64_t largest_at;
} xb_gap_sums;

void xb_gap_add(xb_gap_sums *gap, double value, double error, int64_t point);

/* What is known about the samples. */
typedef struct xb_gap_case {
    int64_t n, draws; /* number of points; number of draws of the smaller sample */
    int groups;       /* groups of the jackknife */
    double least;     /* draws below which there is no verdict */
    double tolerance;
} xb_gap_case;

/* With fewer draws than this the noise of the draws is unknown; `memory` as in the
 * options. */
double xb_gap_draws_least(double memory);

/* The number of standard errors in the bounds that makes the bounds of the three gaps
 * hold jointly with 95 % confidence. */
double xb_gap_reach(int groups);

/* The gap of differences. */
xb_gap xb_gap_of(const xb_gap_sums *sums, const xb_gap_case *c);
/* An unbiased square, its error, and the square as measured, noise included; `unseen` is
 * the part of the noise that the draws did not show (coincide.h); `sums` has the points'
 * squares. */
typedef struct xb_gap_square {
    double fair, error, measured, unseen;
} xb_gap_square;

xb_gap xb_gap_of_square(const xb_gap_square *square, const xb_gap_sums *sums,
                        const xb_gap_case *c);

/* The gap of something that was not measured: no number and no verdict. */
xb_gap xb_gap_none(void);

/* Different if one is different, same if all are the same. */
xb_verdict xb_gap_joint(const xb_gap *gap, int count);

#endif
