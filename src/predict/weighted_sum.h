/* weighted_sum.h: the law of a sum mean + sum_k a_k z_k of independent draws of one
 * standardised law, through its characteristic function; maths E4-E6. */
#ifndef XB_PREDICT_WEIGHTED_SUM_H
#define XB_PREDICT_WEIGHTED_SUM_H

#include "predict/charfn.h"

typedef struct xb_sum_law {
    double mean;
    double power[XB_CUMULANTS + 1]; /* sums of a_k^n over the small terms */
    double variance;                /* of all terms */
    double *large;                  /* a_k of the others, whose factors are explicit */
    int64_t n_large;
    double cutoff; /* t beyond which the sum's characteristic function is below 1e-16,
                      or the frequencies end */
} xb_sum_law;

/* a: [n]; large: room for n. Frequencies of interest end at t_most. */
void xb_sum_law_make(xb_sum_law *sum, double *large, double mean, const double *a,
                     int64_t n, const xb_charfn *law, double t_most);

/* re[j] + i im[j] += E exp(i j dt y), 0 <= j <= count. */
void xb_sum_law_add(double *re, double *im, const xb_sum_law *sum, const xb_charfn *law,
                    double dt, int64_t count);

/* E (y - centre)^n, n = 1..4, added to moment[n - 1] (E5). */
void xb_sum_law_add_moments(double moment[4], const xb_sum_law *sum, const xb_charfn *law,
                            const double *a, int64_t n, double centre);

#endif
