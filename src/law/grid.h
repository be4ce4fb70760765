/* grid.h: a law as nodes and weights on its own panels, for moments and entropy.
 * (Rules for users are in rule/; this grid is for the law's own numbers.) */
#ifndef XB_LAW_GRID_H
#define XB_LAW_GRID_H

#include "law/family.h"

typedef struct xb_law_grid {
    int64_t n;
    double *x;
    double *mass; /* weight times density */
} xb_law_grid;

/* At least `points` nodes per panel. At a finite edge the panel is mapped by
 * x = edge -+ v^2, so that q log q is smooth there (Q8). */
xb_status xb_law_grid_make(xb_ctx *ctx, xb_law_grid *out, const xb_law *law,
                           int64_t points);
void xb_law_grid_free(xb_law_grid *grid);

/* Moments and entropy by the grid. */
xb_status xb_law_integrals(xb_ctx *ctx, xb_law *law);

#endif
