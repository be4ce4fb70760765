/* fit_family.h: the maximum likelihood of one family; the driver is fit.c. */
#ifndef XB_FIT_FAMILY_H
#define XB_FIT_FAMILY_H

#include "fit/fit_results.h"
#include "law/family.h"
#include "fit/sample.h"

typedef struct xb_fit_task {
    const xb_sample *sample;
    const xb_fit_options *opt;
    double offset;  /* the given offset, or the sample's mean */
    double inflate; /* (F6) factor on standard errors: sqrt(n / n_effective) */
} xb_fit_task;

/* Each function fills all of `out` except the family's name, AIC, BIC and goodness of
 * fit. */
xb_status xb_fit_normal(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task);
xb_status xb_fit_two_sided(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task);
xb_status xb_fit_levels(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task);
xb_status xb_fit_modes(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task);
xb_status xb_fit_device(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task,
                        const xb_family *family);
xb_status xb_fit_smooth(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task,
                        const xb_family *family);
xb_status xb_fit_any(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task,
                     const xb_family *family);

/* Appends a named value; a standard error that says nothing becomes NAN. */
void xb_fit_name(xb_fit_family *out, const char *name, double value, double std_error);

#endif
