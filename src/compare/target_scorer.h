/* target_scorer.h: a scorer of several targets at once (scorer.h): one for each, and the
 * joint density of a point's targets. Of one target it is a scorer of numbers alone. */
#ifndef XB_COMPARE_TARGET_SCORER_H
#define XB_COMPARE_TARGET_SCORER_H

#include "compare/scorer.h"

typedef struct xb_target_scorer xb_target_scorer;

/* n points in all, `part` of them at a time at most. */
xb_status xb_target_scorer_create(xb_ctx *ctx, xb_target_scorer **out, int64_t n,
                                  int64_t part, int64_t draws, int64_t targets,
                                  const xb_score_options *opt);
/* The same of counts: size [members][targets], copied. */
xb_status xb_target_scorer_count(xb_ctx *ctx, xb_target_scorer *s, const double *size,
                                 int64_t members);
/* predictive->n is points times targets, y [points][targets]. */
xb_status xb_target_scorer_add(xb_ctx *ctx, xb_target_scorer *s,
                               const xb_mixture *predictive, const double *y);
/* Once, after all n. */
xb_status xb_target_scorer_sum(xb_ctx *ctx, xb_scores **out, xb_target_scorer *s);
void xb_target_scorer_destroy(xb_target_scorer *s); /* NULL is fine */

/* (C41) Where within the step of its cdf the target of row i is: a uniform number of its
 * own, always the same. */
double xb_count_uniform(int64_t row);

/* xb_score_targets of counts. */
xb_status xb_score_counts(xb_ctx *ctx, xb_scores **out, const xb_mixture *predictive,
                          const double *y, int64_t targets, const double *size,
                          int64_t members);

#endif
