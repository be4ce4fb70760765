/* weight_cells.h: the contents of xb_weight_cells. */
#ifndef XB_VI_WEIGHT_CELLS_H
#define XB_VI_WEIGHT_CELLS_H

#include "crossbayes/vi.h"
#include "kernel/cells_kernel.h"

struct xb_weight_cells {
    xb_cell_curve curve;
    char *text;
};

xb_status xb_weight_cells_copy(xb_ctx *ctx, xb_weight_cells **out,
                               const xb_weight_cells *cells);

/* Sets states u [n], `stride` apart, for the weight nearest to mu: all cells are at the
 * low end, except that those whose sign points the right way are raised by the same
 * amount. */
void xb_weight_cells_start(const xb_weight_cells *cells, float *state, int64_t stride,
                           double mu);

#endif
