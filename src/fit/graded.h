/* graded.h: the distances of a sample from its offset as a few hundred points, for the
 * likelihood of the device families. */
#ifndef XB_FIT_GRADED_H
#define XB_FIT_GRADED_H

#include "fit/condense.h"

/* (F14) |x - offset| over `largest`, its largest value, of the sorted values; for
 * a density in the square of the distance, or the distance itself. Mean log likelihoods
 * of `fine` are right to 1e-11, of `rough` to 1e-3. Free both. */
xb_status xb_graded_make(xb_ctx *ctx, xb_points *fine, xb_points *rough,
                         const double *sorted, int64_t n, double offset, double largest,
                         bool square);

#endif
