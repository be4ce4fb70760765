/* quadratic_form.h: weighted sums of squared normal variables. */
#ifndef XB_FIT_QUADRATIC_FORM_H
#define XB_FIT_QUADRATIC_FORM_H

/* sum_j weight_j chi^2(1) + rest_weight chi^2(rest_freedom), weights >= 0. */
typedef struct xb_quadratic_form {
    const double *weight; /* [n] */
    int n;
    double rest_weight, rest_freedom;
} xb_quadratic_form;

/* (F13) The probability that the form exceeds x, to 1e-7 if ten or more terms matter;
 * with one term to 1e-4, with two to 4e-6. */
double xb_quadratic_tail(const xb_quadratic_form *form, double x);

#endif
