/* count_scores.h: every score of a predictive of counts at one test point (maths
 * C40-C43).
 */
#ifndef XB_COMPARE_COUNT_SCORES_H
#define XB_COMPARE_COUNT_SCORES_H

#include "compare/point_scores.h"
#include "predict/count_grid.h"

/* Works as xb_point_score does; p->m holds the same rates as `draws`, and its sds are
 * filled in here. u in (0, 1) is the position within the step of the cdf at y at which
 * its value is taken (C41). */
void xb_count_point_score(double score[XB_COLUMNS][XB_VERSIONS], xb_point *p,
                          xb_count_grid *grid, const xb_count_draws *draws, double y,
                          double u, const xb_score_options *opt);

/* (C43) The joint log mass of y [targets] under points first, first + 1, ... in all
 * versions; size [targets][members]. */
void xb_count_joint_mass(double *version, const xb_mixture *predictive, int64_t first,
                         int64_t targets, const double *y, const double *size,
                         int64_t members, const xb_jackknife *groups);

#endif
