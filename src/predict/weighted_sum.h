/* weighted_sum.h: the law of a sum mean + sum_k a_k z_k of independent draws of one
 * standardised law, through its characteristic function; maths E4-E6. */
#ifndef XB_PREDICT_WEIGHTED_SUM_H
#define XB_PREDICT_WEIGHTED_SUM_H

#include "predict/charfn.h"

/* Frequencies 0, dt, .. count dt, and what all sums have in common there. */
typedef struct xb_frequencies {
    double dt;
    int64_t count;
    const double *common; /* [count + 1] largest modulus, from there on, of a factor that
                             sums are multiplied by elsewhere; NULL: 1 */
} xb_frequencies;

/* One sum: which terms are large, and power sums of the others. */
typedef struct xb_sum_law {
    double mean, variance;
    double cubes, fourths; /* sums of a_k^3, a_k^4 */
    int64_t n_large;
    double *a; /* [n] room: terms, largest first as far as sorted */
    double (*power)[XB_CUMULANTS + 1]; /* [n + 1] room: sums over all terms but the k
                                          largest */
} xb_sum_law;

/* re[j] + i im[j] += E exp(i j dt y), for the terms in sum->a [n], which are put in
 * another order; sum->mean is set by the caller, the other moments here. */
void xb_sum_law_add(double *re, double *im, xb_sum_law *sum, int64_t n,
                    const xb_charfn *law, const xb_frequencies *f);

#endif
