/* goodness.h: tests whether a law fits the sample that it was fitted to. */
#ifndef XB_FIT_GOODNESS_H
#define XB_FIT_GOODNESS_H

#include "fit/fit_family.h"
#include "fit/null_process.h"

typedef struct xb_goodness {
    double ks, ks_p; /* largest distance between the two distribution functions */
    double ad, ad_p; /* A^2 of all values, not scaled for correlation */
} xb_goodness;

/* (F10) Computes the statistics only; `sorted` is in the law's physical units. */
void xb_goodness_statistics(xb_goodness *out, const xb_law *law, const double *sorted,
                            int64_t n);

/* The process for a law whose parameters named in `fit` were fitted (a standard
 * error that is a number says so). `fit` may be NULL: nothing was fitted. */
xb_status xb_goodness_model(xb_ctx *ctx, xb_null_model *out, const xb_law *law,
                            const xb_fit_family *fit);

/* Finds the p-values of the statistics in `g`, for n values that are worth n_effective.
 */
xb_status xb_goodness_p(xb_ctx *ctx, xb_goodness *g, const xb_null_model *model, double n,
                        double n_effective, uint64_t seed);

#endif
