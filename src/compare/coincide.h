/* coincide.h: paired draws of which many are equal, as those of an array whose devices
 * seldom keep their noise: the few pairs that differ say little about how often and how
 * far they differ, and the jackknife, which sees only them, says too little; maths C17.
 */
#ifndef XB_COMPARE_COINCIDE_H
#define XB_COMPARE_COINCIDE_H

#include "compare/distance_stats.h"

/* What a point's errors lack: variances of the differences of means and of standard
 * deviations, and for the square of the whole its error and its part as measured. All
 * are 0 where no pair is equal. */
typedef struct xb_unseen {
    double mean, sd, whole_error, whole_measured;
    int64_t differing; /* pairs */
} xb_unseen;

/* `own`: the pool split by the data's own labelling, paired; `noise`: the square as
 * measured less the unbiased one. */
xb_unseen xb_unseen_of(const xb_two *own, const xb_pool *pool, double noise);

#endif
