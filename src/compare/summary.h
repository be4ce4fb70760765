/* summary.h: from per-point values to a score with its errors. */
#ifndef XB_COMPARE_SUMMARY_H
#define XB_COMPARE_SUMMARY_H

#include "compare/jackknife.h"
#include "crossbayes/compare.h"

/* Mean of x and its standard error (NAN for n = 1); mc_error NAN. */
xb_score xb_score_mean(const double *x, int64_t n);

/* The square root of a mean score, with its errors to first order. */
xb_score xb_score_root(xb_score mean);

/* The mc_error from the score's versions ([g->versions]). */
double xb_score_mc_error(const double *version, const xb_jackknife *g);

/* Fails with a message if the options are not valid. */
xb_status xb_score_options_check(xb_ctx *ctx, const xb_score_options *opt);

#endif
