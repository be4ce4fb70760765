/* gaussian_levels.h: the law of Gaussian levels, from its numbers. */
#ifndef XB_LAW_GAUSSIAN_LEVELS_H
#define XB_LAW_GAUSSIAN_LEVELS_H

#include "law/family.h"

/* `n` levels, 1 to XB_LAW_MODES, in any order: weights > 0 that sum to one within 1e-6
 * (they are then normalised), widths > 0. `what` begins messages. Place 0, 1. */
xb_status xb_levels_make(xb_ctx *ctx, xb_law **out, const char *what,
                         const xb_law_mode *level, int n);

/* Derivatives of the log density at x by mean, sd and weight of level i. */
void xb_levels_scores(double score[3], const xb_law *law, int i, double x);

#endif
