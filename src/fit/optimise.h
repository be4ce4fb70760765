/* optimise.h: maximises a smooth function of a few variables in a box. */
#ifndef XB_FIT_OPTIMISE_H
#define XB_FIT_OPTIMISE_H

#include "base/ctx.h"

enum { XB_VARIABLES = 3, XB_VARIABLES_MAX = 23 }; /* usually; and for eight levels */

/* Returns the value at theta, and writes its gradient and (if not NULL) its Hessian, row
 * by row. -INFINITY: theta is impossible. */
typedef double (*xb_objective)(void *arg, const double *theta, double *gradient,
                               double *hessian);

typedef struct xb_problem {
    xb_objective f;
    void *arg;
    int n; /* number of variables, at most XB_VARIABLES_MAX */
    double lower[XB_VARIABLES_MAX], upper[XB_VARIABLES_MAX];
    bool fixed[XB_VARIABLES_MAX]; /* variables that keep their start value */
    double aim; /* Newton stops at a gradient this small; 0: as small as possible */
} xb_problem;

typedef struct xb_optimum {
    double theta[XB_VARIABLES_MAX];
    double value;
    double hessian[XB_VARIABLES_MAX * XB_VARIABLES_MAX];
    double gradient_norm;            /* largest component of a free variable */
    bool at_bound[XB_VARIABLES_MAX]; /* at its bound, with the gradient pointing outwards
                                      */
    int iterations;
    bool converged; /* gradient_norm <= XB_GRADIENT_LIMIT */
} xb_optimum;

#define XB_GRADIENT_LIMIT 1e-9

/* (F4) Newton's method from `start`. */
xb_optimum xb_newton(const xb_problem *problem, const double *start);

/* (F11) Adam with the paper's constants. */
xb_optimum xb_adam(const xb_problem *problem, const double *start, double rate);

/* The largest gradient component of a variable that may move; held[i] becomes true if a
 * variable is at its bound and the gradient points outwards. */
double xb_free_gradient(const xb_problem *problem, const double *theta,
                        const double *gradient, bool *held);

/* The inverse of minus the Hessian over the variables that are neither fixed nor at a
 * bound; INFINITY on the diagonal for a variable whose curvature vanishes. */
void xb_covariance(double *covariance, const xb_problem *problem, const xb_optimum *at);

#endif
