/* spline_groups.h: a sample as a few thousand groups of neighbouring values, each with
 * its mean and the number of its values in each cross-validation fold; maths L23. */
#ifndef XB_FIT_SPLINE_GROUPS_H
#define XB_FIT_SPLINE_GROUPS_H

#include "fit/sample.h"

/* Folds 0 .. FOLDS-1 are held out in turn; the last lane is the whole sample. */
enum { XB_FOLDS = 7, XB_LANES = XB_FOLDS + 1, XB_GROUPS_MAX = 2048 };

typedef struct xb_groups {
    int64_t n;
    double *edge;             /* [n + 1] ascending, standardised units */
    double *blend;            /* [n + 1] (L23) at the edges: 0 .. 1 */
    double *even;             /* [n + 1] the even part of the blend: 0 .. 1 */
    double *mean;             /* [n] mean of the values in the group */
    double (*held)[XB_LANES]; /* [n][lanes] its values in each fold, and all */
    double total[XB_LANES];   /* sums of `held` */
    double *resolution;       /* [n] knots in the group may not be closer than this */
    double ramp[2];  /* (L23) width over which the density falls to zero at either end */
    bool few_levels; /* two or three distinct values */
} xb_groups;

xb_status xb_groups_make(xb_ctx *ctx, xb_groups *out, const xb_sample *sample);
void xb_groups_free(xb_groups *groups);

#endif
