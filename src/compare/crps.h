/* crps.h: the continuous ranked probability score of one point's predictive. */
#ifndef XB_COMPARE_CRPS_H
#define XB_COMPARE_CRPS_H

#include "compare/mixture.h"

/* (C5) Computes all versions. Leaves the grid of the cdf in the point if one was used.
 * The score is fair for versions of two draws or more, else it is that of the mixture
 * itself. */
void xb_crps(double *version, xb_point *p, double y, bool fair);

/* The double sum of C5 by each of the three methods; all versions. These are for tests:
 * xb_crps takes the cheapest. The grid is refused (false) if it would be too long. */
void xb_crps_pairs_direct(double *version, const xb_point *p);
void xb_crps_pairs_sorted(double *version, const xb_point *p);
bool xb_crps_pairs_grid(double *version, xb_point *p);

/* crps_heavy.c: (C45) the double sum of heavy components, of which not all are point
 * masses; leaves the grid. */
void xb_crps_pairs_heavy(double *version, xb_point *p);

#endif
