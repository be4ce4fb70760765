/* quantile_fit.h: the quantile as one polynomial, for the study "quantile". */
#ifndef XB_STUDY_QUANTILE_FIT_H
#define XB_STUDY_QUANTILE_FIT_H

#include "crossbayes/law.h"

/* Quantile approximations of the paper, kept for comparison (D1-D5): a
 * polynomial of the given degree on (0, 1/2) at Gauss-Lobatto points.
 *   DIRECT     Legendre fit of G itself
 *   CORRECTED  Legendre fit of G - G2, G2 = -1 + sqrt(2 v / K)
 *   SPECTRAL   Legendre fit in s = sqrt(2 v)
 * Symmetric laws on [-1, 1] only. CORRECTED fails with XB_E_NUMERIC where the
 * end slope K is too small for it (the fit leaves the support), unless `force`. */
typedef enum xb_quantile_kind {
    XB_QUANTILE_DIRECT,
    XB_QUANTILE_CORRECTED,
    XB_QUANTILE_SPECTRAL
} xb_quantile_kind;

typedef struct xb_quantile_fit xb_quantile_fit;

xb_status xb_quantile_fit_create(xb_ctx *ctx, xb_quantile_fit **out, const xb_law *law,
                                 xb_quantile_kind kind, int degree, bool force);
void xb_quantile_fit_destroy(xb_quantile_fit *fit);
/* v in (0, 1/2]: the lower half; the upper is its mirror image. */
double xb_quantile_fit_eval(const xb_quantile_fit *fit, double v);
double xb_quantile_fit_u_error(const xb_quantile_fit *fit);

#endif
