/* jackknife.h: Monte Carlo errors by leaving groups of draws out; maths C2.
 *
 * Draws are cut into at most 20 contiguous groups. Version 0 of a number uses all
 * draws, version 1 + g all but group g. Sums over groups fold into sums over
 * versions, so most scores get all 21 versions for the price of one. */
#ifndef XB_COMPARE_JACKKNIFE_H
#define XB_COMPARE_JACKKNIFE_H

#include "base/ctx.h"

enum { XB_JACKKNIFE_GROUPS = 20, XB_VERSIONS = XB_JACKKNIFE_GROUPS + 1 };

typedef struct xb_jackknife {
    int count;                              /* min(20, draws) */
    int versions;                           /* count + 1, or 1 for a single draw */
    int64_t start[XB_JACKKNIFE_GROUPS + 1]; /* group g: start[g] <= draw < start[g + 1] */
    double kept[XB_VERSIONS];               /* draws in each version */
} xb_jackknife;

xb_jackknife xb_jackknife_make(int64_t draws);

/* Sums over groups -> sums over versions, each added up anew: nothing cancels. */
void xb_jackknife_fold(double *version, const double *group, const xb_jackknife *g);

/* (C2) The standard error from the values without each group; NAN for count < 2. */
double xb_jackknife_error(const double *without, int count);

#endif
