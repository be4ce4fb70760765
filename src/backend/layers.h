/* layers.h: how layers run: one row of operations for each kind, or for several layers
 * that run as one. */
#ifndef XB_BACKEND_LAYERS_H
#define XB_BACKEND_LAYERS_H

#include "backend/run.h"

/* Where a layer's output goes. */
typedef enum xb_placement {
    XB_PLACE_FRESH,     /* a buffer of its own */
    XB_PLACE_HELD,      /* the same; backward needs its output */
    XB_PLACE_OVERWRITE, /* may overwrite its input; backward needs its output */
    XB_PLACE_ALIAS      /* its output is its input */
} xb_placement;

struct xb_linear;

typedef struct xb_layer_ops {
    xb_placement placement;
    bool flips; /* blocks: also with the estimator flipout, not only with shared draws */
    const struct xb_linear *linear; /* dense, conv: the operation by the weights */
    /* Dense and conv: whether it does the work of activations beside it, run->above and
     * run->below; blocks and stacks: whether they can run at all. NULL: no. */
    bool (*fuses)(const xb_run *run, const xb_layer *layer);
    /* Whether ranks can run it together on this batch, each on its rows (crew.h). NULL:
     * no. */
    bool (*deals)(const xb_run *run, const xb_layer *layer);
    /* Reals kept from forward to backward, and of room while it runs, for the run's
     * batch. NULL: none. */
    int64_t (*keep)(const xb_run *run, const xb_layer *layer);
    int64_t (*scratch)(const xb_run *run, const xb_layer *layer);
    void (*forward)(const xb_run *run, const xb_layer *layer, xb_real *y,
                    const xb_real *x);
    /* dx NULL: not wanted. Parameter gradients are added to run->gradient. Where the
     * placement is not fresh, dx may be dy. */
    void (*backward)(const xb_run *run, const xb_layer *layer, xb_real *dx,
                     const xb_real *dy, const xb_real *x, const xb_real *y);
} xb_layer_ops;

/* The host's. */
extern const xb_layer_ops xb_ops_dense, xb_ops_conv, xb_ops_maxpool, xb_ops_batchnorm,
    xb_ops_activation, xb_ops_flatten;
extern const xb_layer_ops xb_ops_rounding;
/* Several layers as one, run by the last of them; run/fuse.c puts them into a pass. */
extern const xb_layer_ops xb_ops_block, xb_ops_norm_block;

#endif
