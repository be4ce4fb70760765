/* gaussian_levels.h: derivatives of the law of Gaussian levels. */
#ifndef XB_LAW_GAUSSIAN_LEVELS_H
#define XB_LAW_GAUSSIAN_LEVELS_H

#include "law/family.h"

/* Derivatives of the log density at x by mean, sd and weight of level i. */
void xb_levels_scores(double score[3], const xb_law *law, int i, double x);

#endif
