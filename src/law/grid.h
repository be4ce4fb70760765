/* grid.h: moments and entropy of a law, from nodes and weights on its own panels.
 * (Rules for users are in rule/; this grid is for the law's own numbers.) */
#ifndef XB_LAW_GRID_H
#define XB_LAW_GRID_H

#include "law/family.h"

xb_status xb_law_integrals(xb_ctx *ctx, xb_law *law);

#endif
