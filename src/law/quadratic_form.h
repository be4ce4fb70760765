/* quadratic_form.h: weighted sums of squared normal variables. */
#ifndef XB_LAW_QUADRATIC_FORM_H
#define XB_LAW_QUADRATIC_FORM_H

/* (F13) The chance that sum_j weight_j chi^2(freedom_j) exceeds x, weights >= 0 and not
 * all 0; to 1e-7, 0 where it is less. */
double xb_quadratic_tail(const double *weight, const double *freedom, int n, double x);

#endif
