/* sample.h: measured values, checked, sorted and summarised once, from which every fit
 * starts. */
#ifndef XB_FIT_SAMPLE_H
#define XB_FIT_SAMPLE_H

#include "base/ctx.h"
#include "fit/fit_results.h"
#include "fit/fit_kernels.h"

enum { XB_SAMPLE_MIN = 8 };

typedef struct xb_sample {
    const double *x; /* [n] in time order, borrowed */
    double *sorted;  /* [n] ascending */
    int64_t n;
    double step;        /* (F1) typical gap between distinct values; 0: hardly any ties */
    xb_fit_sample info; /* tau, lag1 and n_effective as for independent values */
} xb_sample;

/* Refuses fewer than XB_SAMPLE_MIN values, values that are not finite, and
 * values that are all the same. */
xb_status xb_sample_make(xb_ctx *ctx, xb_sample *out, const double *x, int64_t n);
void xb_sample_free(xb_sample *sample);

/* (F8, F9) Sets lag1, tau and n_effective. */
xb_status xb_sample_memory(xb_ctx *ctx, xb_sample *sample);

/* (F1) Two or three distinct values are levels; more, if they occur often, are
 * steps of a converter. */
enum { XB_FEW_LEVELS = 3 };

/* How far a value that occurs often is spread, given the gap to its nearer neighbour; and
 * the shape of the spread: an even -1 <= v < 1 stays even (steps of a converter) or
 * becomes triangular (levels). */
double xb_level_reach(double gap, int64_t distinct);
double xb_level_shape(double v, int64_t distinct);

/* Makes the sorted values spread in this way; free() them. NULL if most occur only once
 * and can stay unchanged. */
xb_status xb_sample_spread(xb_ctx *ctx, double **out, const xb_sample *sample);

/* A quantile of the sorted values, 0 <= p <= 1: the nearest order statistic. */
double xb_sample_at(const xb_sample *sample, double p);

#endif
