/* charfn.h: the characteristic function of a standardised law, phi(x) = E exp(i x z);
 * maths E2, E3. */
#ifndef XB_PREDICT_CHARFN_H
#define XB_PREDICT_CHARFN_H

#include "base/ctx.h"
#include "crossbayes/law.h"

enum { XB_CUMULANTS = 20, XB_CHARFN_TERMS = 8 };

typedef struct xb_charfn {
    bool gaussian;  /* exp(-x^2 / 2): there is no table */
    bool symmetric; /* real; odd cumulants are 0 */
    /* log phi(x) = sum over n of series[n] (i x)^n, for |x| <= reach: within 1e-9 */
    double series[XB_CUMULANTS + 1]; /* cumulant n over n! */
    double reach;
    double skewness, excess_kurtosis;
    double step;
    int64_t cells;    /* phi is taken as 0 beyond cells * step */
    double *re, *im;  /* [cells][XB_CHARFN_TERMS] polynomials; im NULL if symmetric */
    double *envelope; /* [cells + 1] largest |phi| from there on */
} xb_charfn;

xb_status xb_charfn_make(xb_ctx *ctx, xb_charfn *out, const xb_law *law);
void xb_charfn_free(xb_charfn *c); /* empty is fine */

typedef struct xb_complex {
    double re, im;
} xb_complex;

/* Error at most 1e-13 + what lies beyond the table. */
xb_complex xb_charfn_at(const xb_charfn *c, double x);

#endif
