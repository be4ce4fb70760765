/* block.h: a convolution, its relu and its maxpool as one operation, and the batchnorm
 * before them on the way in. Intermediate values are never in memory: of each window of
 * the pool only the largest value and its position are written. Which nets have blocks:
 * fuse.c; the step: block_ops.c; the kernels: cpu_block_*.h; maths N18. */
#ifndef XB_KERNEL_BLOCK_H
#define XB_KERNEL_BLOCK_H

#include "net/layer.h"

/* Sizes: input [h][w][c], convolution 3 x 3 at stride 1 to [oh][ow][oc], windows of 2 x 2
 * at stride 2 to [ph][pw][oc] (those at the far edge may be cut off). */
typedef struct xb_block {
    int64_t h, w, c;
    int64_t top, left; /* padding before the first row and column */
    int64_t oh, ow, oc;
    int64_t ph, pw;
} xb_block;

/* x becomes (x - mean) gain + shift before the convolution, [c] each; mean NULL: x is
 * used unchanged. */
typedef struct xb_block_norm {
    const xb_real *mean, *gain, *shift;
} xb_block_norm;

/* The position of a largest value in its window: 4 row + column, one byte each. */
typedef struct xb_block_kernel {
    /* The number of reals of the packed weights (in either direction), and of memory for
     * a call. */
    int64_t (*packed)(const xb_block *g);
    int64_t (*room)(const xb_block *g);
    /* w [3][3][c][oc], b [oc] or NULL */
    void (*pack_forward)(xb_real *packed, const xb_real *w, const xb_real *b,
                         const xb_block *g);
    void (*pack_backward)(xb_real *packed, const xb_real *w, const xb_block *g);
    /* y and place [rows][ph][pw][oc] of x [rows][h][w][c]; place NULL: not wanted */
    void (*forward)(xb_real *y, uint8_t *place, const xb_real *x, const xb_real *packed,
                    const xb_block_norm *norm, int64_t rows, const xb_block *g,
                    xb_real *room);
    /* dw [3][3][c][oc], db [oc] or NULL; dx, the gradient with respect to what the
     * convolution takes, [rows][h][w][c], NULL: not wanted */
    void (*backward)(xb_real *dx, xb_real *dw, xb_real *db, const xb_real *dy,
                     const xb_real *y, const uint8_t *place, const xb_real *x,
                     const xb_real *packed, const xb_block_norm *norm, int64_t rows,
                     const xb_block *g, xb_real *room);
} xb_block_kernel;

#endif
