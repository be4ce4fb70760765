/* point_scores.h: every score of the predictive at one test point. */
#ifndef XB_COMPARE_POINT_SCORES_H
#define XB_COMPARE_POINT_SCORES_H

#include "compare/mixture.h"
#include "crossbayes/compare.h"

typedef enum xb_column {
    XB_COLUMN_SQUARE,
    XB_COLUMN_ABSOLUTE,
    XB_COLUMN_NLL,
    XB_COLUMN_CRPS,
    XB_COLUMN_PINBALL,
    XB_COLUMN_WIDTH,
    XB_COLUMN_EPISTEMIC, /* variances */
    XB_COLUMN_ALEATORIC,
    XB_COLUMN_TOTAL,
    XB_COLUMN_PIT,
    XB_COLUMNS
} xb_column;

/* Mean, error and the two parts of the variance, from m and a. */
void xb_point_moments(double score[XB_COLUMNS][XB_VERSIONS], const xb_point *p, double y);
/* (C7) */
double xb_pinball(double y, double quantile, double level);

/* score[column][version] for the target y; `samples` is true for a predictive of plain
 * samples, whose density is a kernel estimate. */
void xb_point_score(double score[XB_COLUMNS][XB_VERSIONS], xb_point *p, double y,
                    bool samples, const xb_score_options *opt);

#endif
