/* solve.h: the zero of an increasing function, for quantiles. */
#ifndef XB_LAW_SOLVE_H
#define XB_LAW_SOLVE_H

/* Writes the slope as well. May return -INFINITY or INFINITY. */
typedef double (*xb_increasing)(const void *arg, double y, double *slope);

/* Newton's method inside a bracket that bisection keeps shrinking: it never leaves [lo,
 * hi] and never fails. f(lo) <= 0 <= f(hi). Accurate to the last bit or two of y. */
double xb_solve(xb_increasing f, const void *arg, double lo, double hi, double guess);

#endif
