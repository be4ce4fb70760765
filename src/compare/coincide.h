/* coincide.h: paired draws of which many are equal, as for an array whose devices rarely
 * keep their noise: the few pairs that differ contain little information about how often
 * and how far pairs differ, and the jackknife, which sees only them, underestimates the
 * error; maths C17.
 */
#ifndef XB_COMPARE_COINCIDE_H
#define XB_COMPARE_COINCIDE_H

#include "compare/distance_stats.h"

/* The part missing from a point's errors: variances of the differences of means and of
 * standard deviations, and for the square of the whole its error and its part as
 * measured. All are 0 if no pair is equal. */
typedef struct xb_unseen {
    double mean, sd, whole_error, whole_measured;
    int64_t differing; /* number of pairs that differ */
} xb_unseen;

/* `own` is the pool split by the data's own labelling, paired; `noise` is the square as
 * measured minus the unbiased one. */
xb_unseen xb_unseen_of(const xb_two *own, const xb_pool *pool, double noise);

#endif
