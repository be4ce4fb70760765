/* scorer.h: scores of n points that arrive a few at a time, so that the draws of all
 * points are never in memory together. Points are added in order until there are n. */
#ifndef XB_COMPARE_SCORER_H
#define XB_COMPARE_SCORER_H

#include "base/ctx.h"
#include "compare/score_items.h"
#include "law/student_table.h"

/* A scorer of numbers. opt, which may be NULL, is copied except for its levels, which are
 * borrowed. */
typedef struct xb_regression_scorer xb_regression_scorer;

xb_status xb_regression_scorer_create(xb_ctx *ctx, xb_regression_scorer **out, int64_t n,
                                      int64_t draws, const xb_score_options *opt);
/* Predictives are mixtures of counts (C40): draw s has the size of number s mod members,
 * size [members], borrowed; sds are not read. Call this before points are added. */
xb_status xb_regression_scorer_count(xb_ctx *ctx, xb_regression_scorer *s,
                                     const double *size, int64_t members);
/* Predictives are mixtures of Student's t (P9): draw s has the degrees of number s mod
 * members, heavy [members], borrowed; sds are standard deviations as before. Call this
 * before points are added. */
void xb_regression_scorer_student(xb_regression_scorer *s, const xb_student_table *heavy,
                                  int64_t members);
xb_status xb_regression_scorer_add(xb_ctx *ctx, xb_regression_scorer *s,
                                   const xb_mixture *predictive, const double *y);
/* Call this once, after all n points. */
xb_status xb_regression_scorer_sum(xb_ctx *ctx, xb_scores **out, xb_regression_scorer *s);
void xb_regression_scorer_destroy(xb_regression_scorer *s); /* NULL is fine */

/* A scorer of classes, which works in the same way. */
typedef struct xb_class_scorer xb_class_scorer;

xb_status xb_class_scorer_create(xb_ctx *ctx, xb_class_scorer **out, int64_t n,
                                 int64_t draws, int64_t classes, int64_t bins);
xb_status xb_class_scorer_add(xb_ctx *ctx, xb_class_scorer *s,
                              const xb_class_draws *predictive, const int64_t *label);
xb_status xb_class_scorer_sum(xb_ctx *ctx, xb_scores **out, xb_class_scorer *s);
void xb_class_scorer_destroy(xb_class_scorer *s);

#endif
