/* jackknife.h: Monte Carlo errors by leaving groups of draws out; maths C2.
 *
 * Draws are cut into at most 20 contiguous groups. Version 0 of a number uses all
 * draws, version 1 + g all but group g. Sums over groups combine into sums over versions,
 * so most scores get all 21 versions at the cost of one. */
#ifndef XB_COMPARE_JACKKNIFE_H
#define XB_COMPARE_JACKKNIFE_H

#include "base/ctx.h"

enum {
    XB_JACKKNIFE_GROUPS = 20,
    XB_VERSIONS = XB_JACKKNIFE_GROUPS + 1,
    XB_WALSH = 32, /* a power of two above the groups */
    XB_SHAKES = 2 * XB_WALSH
};

typedef struct xb_jackknife {
    int count;                              /* min(20, draws) */
    int versions;                           /* count + 1, or 1 for a single draw */
    int64_t start[XB_JACKKNIFE_GROUPS + 1]; /* group g: start[g] <= draw < start[g + 1] */
    double kept[XB_VERSIONS];               /* draws in each version */
} xb_jackknife;

xb_jackknife xb_jackknife_make(int64_t draws);

/* Turns sums over groups into sums over versions, each added up separately, so that
 * nothing cancels. */
void xb_jackknife_fold(double *version, const double *group, const xb_jackknife *g);

/* (C20) For scores that count points, which jump: derives from the versions of a mean
 * over draws the values that XB_SHAKES other runs might have found. Noise of the true
 * size moves as many points across an edge as another run does; the changes of the
 * jackknife are 4.4 times smaller, and jumps do not shrink in proportion. All calls of
 * xb_jackknife_shake() belong together: shake r of every point is one run. */
void xb_jackknife_shake(double shaken[XB_SHAKES], const double *version,
                        const xb_jackknife *g);
/* The standard deviation over the shakes of a score that each of them gave; NAN for a
 * single draw. */
double xb_jackknife_shake_error(const double score[XB_SHAKES], const xb_jackknife *g);

/* (C2) The standard error from the values without each group; NAN for count < 2. */
double xb_jackknife_error(const double *without, int count);

#endif
