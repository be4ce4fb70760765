/* null_process.h: what KS and Anderson-Darling look like when the law is right
 * and its parameters were fitted to the same sample; maths F7. */
#ifndef XB_LAW_NULL_PROCESS_H
#define XB_LAW_NULL_PROCESS_H

#include "base/ctx.h"

enum { XB_NULL_GRID = 1024, XB_NULL_RUNS = 4000, XB_NULL_COLUMNS = 5 };

/* The noise of all runs, drawn once and shared by the families. */
typedef struct xb_null_noise {
    float *z; /* [runs / lanes][grid][lanes] standard normal */
} xb_null_noise;

xb_status xb_null_noise_make(xb_ctx *ctx, xb_null_noise *out, uint64_t seed);
void xb_null_noise_free(xb_null_noise *noise);

/* What fitting takes out of the process: column p times <dual p, noise>. */
typedef struct xb_null_model {
    int n;
    double column[XB_NULL_COLUMNS][XB_NULL_GRID];
    double dual[XB_NULL_COLUMNS][XB_NULL_GRID];
} xb_null_model;

/* Nothing fitted: the Brownian bridge. */
void xb_null_model_start(xb_null_model *model);
/* A parameter fitted by maximum likelihood, by its score at the grid's midpoints
 * (quantiles at u = (j + 1/2) / grid). One that adds nothing is left out. */
void xb_null_model_add(xb_null_model *model, const double *score);
/* A parameter fitted otherwise, with the influence each value has on it; its
 * score must be orthogonal to the others. */
void xb_null_model_add_other(xb_null_model *model, const double *score,
                             const double *influence);

/* sqrt(n) D and A^2 of every run. Same values for any number of threads. */
xb_status xb_null_run(xb_ctx *ctx, float *ks, float *ad, const xb_null_noise *noise,
                      const xb_null_model *model);

#endif
