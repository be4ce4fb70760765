/* spline_fit.h: an `empirical` law from a sample. */
#ifndef XB_FIT_SPLINE_FIT_H
#define XB_FIT_SPLINE_FIT_H

#include "law/family.h"
#include "fit/sample.h"

typedef struct xb_spline_report {
    int64_t cells;          /* number of cells between the sample's ends */
    double log_likelihood;  /* log likelihood of the sample, in its own units */
    double cross_validated; /* log likelihood of each block under the law fitted to the
                               others */
} xb_spline_report;

/* Fits the law in x = (physical - mean) / sd and sets its place (unit ""). */
xb_status xb_spline_fit(xb_ctx *ctx, xb_law **out, xb_spline_report *report,
                        const xb_sample *sample);

#endif
