/* mspline.h: cubic M-splines on simple knots, the parts of an `empirical` law.
 * With knots t_0 < ... < t_cells there are cells - 3 of them, M_k living on
 * [t_k, t_{k+4}], each with integral one. */
#ifndef XB_LAW_MSPLINE_H
#define XB_LAW_MSPLINE_H

#include <stdint.h>

/* The cell (t_j, t_{j+1}] or its left end that holds x: the largest j < cells
 * with knot[j] <= x; 0 below the first knot. */
int64_t xb_cell_find(const double *knot, int64_t cells, double x);

/* (L20) Values at x in the given cell of M_{cell-3} .. M_cell; zero for those
 * that do not exist. */
void xb_mspline_values(double value[4], const double *knot, int64_t cells, int64_t cell,
                       double x);

/* (L21) The density sum_k weight[k] M_k on one cell as Bernstein coefficients:
 * sums of products of non-negative numbers, so nothing cancels. */
void xb_mspline_bernstein(double out[4], const double *knot, const double *weight,
                          int64_t cells, int64_t cell);

#endif
