/* lanczos.h: from point masses to recurrence coefficients; maths Q6. */
#ifndef XB_RULE_LANCZOS_H
#define XB_RULE_LANCZOS_H

#include "rule/discrete.h"

/* alpha[n], beta[n], beta[0] = 1. With `symmetric` the points are one half of
 * the measure and alpha = 0. n must stay well below the number of points. */
xb_status xb_lanczos(xb_ctx *ctx, double *alpha, double *beta, const xb_discrete *points,
                     int64_t n, bool symmetric);

#endif
