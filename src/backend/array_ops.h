/* array_ops.h: what a backend does for simulated arrays (src/crossbar): converters and
 * matrix products on tiles; maths X13, X14, X50, X51. Weights come as plain numbers, one
 * draw at a time, so the backend does not deal with noise here. */
#ifndef XB_BACKEND_ARRAY_OPS_H
#define XB_BACKEND_ARRAY_OPS_H

#include "backend/run.h"

/* y [rows][out] = x [rows][in] w + b. Inputs are cut into tiles of `tile` rows of w; each
 * tile's sums s become post ADC(pre s) + shift before they are added. Pointers to numbers
 * are buffers. */
typedef struct xb_tile_block {
    int64_t rows, in, out, tile;
    const xb_real *w, *b; /* [in][out]; [out], NULL: none */
    bool convert;         /* there is an ADC: */
    xb_steps adc;
    const xb_real *pre, *post, *shift; /* [row tiles][out]; NULL: 1, 1 and 0 */
    xb_real *slice, *part;             /* room: [rows][tile], [rows][out] */
    /* Calibration, on the host's backend alone: sees each tile's sums [rows][out] before
     * they are converted, and its inputs [rows][width]. NULL: none. */
    void (*seen)(void *arg, int64_t tile, const xb_real *sums, const xb_real *x);
    void *arg;
    /* Noise of the sums, on the host's backend alone, before all that. NULL: none. */
    void (*disturb)(const void *arg, int64_t tile, xb_real *sums, const xb_real *x);
    const void *disturb_arg;
} xb_tile_block;

typedef struct xb_array_ops {
    /* (X13) y [n]: x to the nearest step; y may be x */
    void (*quantise)(const xb_run *run, xb_real *y, const xb_real *x,
                     const xb_steps *steps, int64_t n);
    /* Windows of output lines [from, to) of one image, as rows of a matrix product. */
    void (*windows)(const xb_run *run, xb_real *columns, const xb_real *x,
                    const xb_window *g, int64_t from, int64_t to);
    void (*tiles)(const xb_run *run, const xb_tile_block *t, xb_real *y,
                  const xb_real *x);
} xb_array_ops;

/* The host's. */
extern const xb_array_ops xb_ops_array;

/* (X50, X51) Sums [rows][out] of a tile through ADC and correction, in place; t has a
 * correction. */
void xb_host_tile_correct(const xb_kernels *kernels, const xb_tile_block *t,
                          xb_real *sums, int64_t rows, int64_t tile);
/* Sums of a tile through ADC and correction, for who made them otherwise: the first
 * tile's, which lie in y, become y = b + them, the others' are added to y. Sums may be
 * written over. */
void xb_host_tile_convert(const xb_kernels *kernels, const xb_tile_block *t, xb_real *y,
                          xb_real *sums, int64_t tile);

#endif
