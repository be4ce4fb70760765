/* shape_test.h: skewness and kurtosis of a sample: their errors, and whether a law's
 * agree with them. */
#ifndef XB_FIT_SHAPE_TEST_H
#define XB_FIT_SHAPE_TEST_H

#include "fit/fit_results.h"

/* (F17) Sets the errors of sd, skewness and excess kurtosis, at n_effective samples. */
void xb_shape_errors(xb_fit_sample *info, const double *x, int64_t n);

/* (F18) Sets skewness_p and kurtosis_p. */
xb_status xb_shape_test(xb_ctx *ctx, xb_fit_family *out, const xb_law *law,
                        const xb_fit_sample *info, uint64_t seed);

#endif
