/* pass.h: the workspace of one batch; see pass.c. */
#ifndef XB_RUN_PASS_H
#define XB_RUN_PASS_H

#include "backend/layers.h"

/* One layer: what runs in its place, and its places. */
typedef struct xb_pass_layer {
    const xb_layer_ops *ops; /* NULL: part of a block that a later layer runs */
    int first;               /* of the block it runs; itself, where it runs alone */
    int64_t output;          /* offset in the block of activations */
    int64_t keep;            /* offset in the block of kept numbers */
    /* an activation whose neighbours do its work: forward, backward */
    bool done_below, slope_above;
    xb_act above, below; /* a linear layer: of which neighbours; see run.h */
} xb_pass_layer;

typedef struct xb_chain xb_chain;

struct xb_pass {
    const xb_net *net;
    xb_chain *chain; /* chain.h; NULL: the net is none */
    xb_pass_options opt;
    xb_pass_layer *layer; /* [n_layer] */
    /* Sizes in reals (sums: doubles), then where they are in `memory`. */
    int64_t n_output, n_gradient, n_keep, n_scratch, n_sums;
    double *sums;
    xb_real *output;      /* activations of the whole batch */
    xb_real *gradient[2]; /* of what is between two layers, in turn */
    xb_real *keep, *scratch;
    void *memory;
    size_t bytes;
    xb_run run; /* the last forward pass */
    const xb_real *x;
    bool done; /* a forward pass ran, backward may */
};

/* theta [param_count]: the weights that estimator shared has under this noise, so that
 * several forward passes can use one draw (and no noise then). */
xb_status xb_pass_draw(xb_ctx *ctx, xb_pass *pass, xb_real *theta,
                       const xb_weights *weights, const xb_noise *noise);

/* The first layer whose output, of the last forward pass, holds a number that is not
 * finite; -1: none does. For passes with gradients, which keep their outputs. */
int xb_pass_broken_layer(const xb_pass *pass);

#endif
