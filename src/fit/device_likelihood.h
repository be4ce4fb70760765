/* device_likelihood.h: the likelihood of `mtj` and `ecram`. */
#ifndef XB_FIT_DEVICE_LIKELIHOOD_H
#define XB_FIT_DEVICE_LIKELIHOOD_H

#include "fit/condense.h"
#include "law/family.h"

/* Variables: logit w (+-INFINITY allowed if fixed), log B, log(S - 1), where S is
 * the support's half-width in units of the largest |x - offset|. */
enum { XB_LOGIT_W, XB_LOG_B, XB_LOG_MARGIN };

typedef struct xb_device_data {
    const xb_points *points; /* |x - offset| divided by its largest value: in [0, 1] */
    bool square;             /* ecram: the exponent contains x^2 */
} xb_device_data;

/* (F3) Mean log density of the points, an xb_objective on an xb_device_data. */
double xb_device_likelihood(void *data, const double *theta, double *gradient,
                            double *hessian);

/* (F7) Derivatives of log q(x) of a law of either family by log B, w, log scale and
 * offset, at n places inside (-1, 1) other than 0. */
enum { XB_SCORE_B, XB_SCORE_W, XB_SCORE_SCALE, XB_SCORE_OFFSET, XB_DEVICE_SCORES };
void xb_device_scores(double *out[XB_DEVICE_SCORES], const xb_law *law, const double *x,
                      int n);

#endif
