/* target_scorer.h: a scorer of several targets at once (scorer.h): it has one scorer for
 * each target, and the joint density of a point's targets. For one target it is just a
 * scorer of numbers. */
#ifndef XB_COMPARE_TARGET_SCORER_H
#define XB_COMPARE_TARGET_SCORER_H

#include "compare/scorer.h"

typedef struct xb_target_scorer xb_target_scorer;

/* Makes a scorer for n points in total, at most `part` of them at a time. */
xb_status xb_target_scorer_create(xb_ctx *ctx, xb_target_scorer **out, int64_t n,
                                  int64_t part, int64_t draws, int64_t targets,
                                  const xb_score_options *opt);
/* The same for counts: size [members][targets], copied. */
xb_status xb_target_scorer_count(xb_ctx *ctx, xb_target_scorer *s, const double *size,
                                 int64_t members);
/* The same for Student's t (P9): heavy [members], borrowed. */
void xb_target_scorer_student(xb_target_scorer *s, const xb_student_table *heavy,
                              int64_t members);
/* predictive->n is points times targets, y [points][targets]. */
xb_status xb_target_scorer_add(xb_ctx *ctx, xb_target_scorer *s,
                               const xb_mixture *predictive, const double *y);
/* Call this once, after all n points. */
xb_status xb_target_scorer_sum(xb_ctx *ctx, xb_scores **out, xb_target_scorer *s);
void xb_target_scorer_destroy(xb_target_scorer *s); /* NULL is fine */

/* (C41) A fixed uniform number for row i: the position of its target within the step of
 * the cdf. */
double xb_count_uniform(int64_t row);

/* xb_score_targets for counts. */
xb_status xb_score_counts(xb_ctx *ctx, xb_scores **out, const xb_mixture *predictive,
                          const double *y, int64_t targets, const double *size,
                          int64_t members);

/* xb_score_targets for noise of Student's t, heavy [members] (P9); NULL: normal noise. */
xb_status xb_score_student(xb_ctx *ctx, xb_scores **out, const xb_mixture *predictive,
                           const double *y, int64_t targets,
                           const xb_student_table *heavy, int64_t members);

#endif
