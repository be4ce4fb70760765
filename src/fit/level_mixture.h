/* level_mixture.h: the likelihood of k Gaussian levels and how to maximise it; maths F16.
 */
#ifndef XB_FIT_LEVEL_MIXTURE_H
#define XB_FIT_LEVEL_MIXTURE_H

#include "fit/condense.h"
#include "fit/optimise.h"
#include "law/family.h"

typedef struct xb_level_mixture {
    int n;
    bool common; /* one width for all */
    xb_law_mode at[XB_LAW_MODES];
} xb_level_mixture;

/* The variables are positions, logarithms of the widths (one, or one for each level), and
 * logits of all weights but the first: 2 n or 3 n - 1 of them. */
int xb_level_mixture_variables(const xb_level_mixture *m);
void xb_level_mixture_from_theta(xb_level_mixture *m,
                                 const double *theta); /* n, common are there */

/* Does `steps` steps of EM; no width becomes smaller than `thinnest`. Returns the mean
 * log density before the last step. */
double xb_level_mixture_em(xb_level_mixture *m, const xb_points *points, int steps,
                           double thinnest);

/* (F4) Newton's method from `m`, which becomes the optimum, to a gradient of `aim`. */
xb_optimum xb_level_mixture_newton(xb_problem *problem, xb_level_mixture *m,
                                   const xb_points *points, double thinnest, double aim);

#endif
