/* charfn.h: the characteristic function of a standardised law, phi(x) = E exp(i x z);
 * maths E2, E3. */
#ifndef XB_PREDICT_CHARFN_H
#define XB_PREDICT_CHARFN_H

#include <math.h>

#include "base/ctx.h"
#include "crossbayes/law.h"

enum { XB_CUMULANTS = 20, XB_CHARFN_TERMS = 8 };

typedef struct xb_charfn {
    bool gaussian;  /* exp(-x^2 / 2): there is no table */
    bool symmetric; /* real; odd cumulants are 0 */
    /* log phi(x) = sum over n of series[n] (i x)^n, for |x| <= reach: within 1e-11 */
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

static inline double xb_charfn_poly(const double *c, double r)
{
    double rr = r * r, low = (c[0] + c[1] * r) + (c[2] + c[3] * r) * rr;
    return low + ((c[4] + c[5] * r) + (c[6] + c[7] * r) * rr) * (rr * rr);
}

/* The real part, for a symmetric law that is not Gaussian, which has no imaginary part.
 * The error is at most 1e-13 plus what lies beyond the table. */
static inline double xb_charfn_real(const xb_charfn *c, double x)
{
    double at = fabs(x) * (1 / c->step);
    if (!(at < (double)c->cells)) return 0;
    int64_t k = (int64_t)at;
    return xb_charfn_poly(c->re + k * XB_CHARFN_TERMS, at - (double)k);
}

xb_complex xb_charfn_at(const xb_charfn *c, double x);

/* The largest modulus from |x| on (a little more: from the cell's start). */
static inline double xb_charfn_envelope(const xb_charfn *c, double x)
{
    if (c->gaussian) return exp(-0.5 * x * x);
    double at = fabs(x) * (1 / c->step);
    return at < (double)c->cells ? c->envelope[(int64_t)at] : 0;
}

#endif
