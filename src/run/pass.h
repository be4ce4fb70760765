/* pass.h: the workspace of one batch; see pass.c. */
#ifndef XB_RUN_PASS_H
#define XB_RUN_PASS_H

#include "backend/backend.h"

/* One layer: what runs for it, and its positions in memory. */
typedef struct xb_pass_layer {
    const xb_layer_ops *ops; /* NULL: part of a block that a later layer runs */
    int first;               /* first layer of the block it runs; itself if it is alone */
    int64_t output;          /* offset in the block of activations */
    int64_t keep;            /* offset in the block of kept numbers */
    /* for an activation: a neighbour does its forward, its backward work */
    bool done_below, slope_above;
    xb_act above, below; /* for a linear layer: activations that it does; see run.h */
} xb_pass_layer;

typedef struct xb_staged xb_staged; /* staged.h */

struct xb_pass {
    const xb_net *net;
    struct xb_chain *chain; /* chains.h; NULL: the net is not a chain */
    xb_staged *stage;       /* NULL: not needed so far */
    xb_pass_options opt;
    xb_pass_layer *layer; /* [n_layer] */
    /* Sizes in reals, then where they are in `memory`: buffers of the backend. */
    int64_t n_output, n_gradient, n_keep, n_scratch;
    xb_real *output;      /* activations of the whole batch */
    xb_real *gradient[2]; /* with respect to activations, used in turn by the layers */
    xb_real *keep, *scratch;
    void *memory;
    size_t bytes;
    xb_run run; /* the last forward pass */
    const xb_real *x;
    bool done;     /* a forward pass ran, so a backward pass may follow */
    xb_crew *crew; /* ranks that run its first layers together; NULL: none do */
    int dealt;     /* layers that are dealt to them in this batch */
};

/* ---- the same as the public functions, but all memory consists of buffers of the pass's
 * backend, which xb_pass_backend() allocates. */

const xb_backend *xb_pass_backend(const xb_pass *pass);

xb_status xb_pass_forward_within(xb_ctx *ctx, xb_pass *pass, xb_real *y, const xb_real *x,
                                 int64_t batch, const xb_weights *weights,
                                 const xb_noise *noise, xb_mode mode);
xb_status xb_pass_backward_within(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                                  const xb_real *dy);

/* Forward in mode TRAIN, the backend's loss, whose value is written, and backward. No
 * backward pass is possible after it. `fresh`: gradients with respect to mu and sigma are
 * set, not added to. */
xb_status xb_pass_step_within(xb_ctx *ctx, xb_pass *pass, double *value,
                              const xb_gradient *gradient, bool fresh, const xb_real *x,
                              int64_t batch, const xb_weights *weights,
                              const xb_noise *noise, const xb_loss *loss);

/* The same around a loss of the caller's, which gets buffers: another pass may run in it.
 */
xb_status xb_pass_step_around(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                              bool fresh, const xb_real *x, int64_t batch,
                              const xb_weights *weights, const xb_noise *noise,
                              xb_loss_fn loss, void *arg);

/* theta [param_count]: the weights that estimator shared has under this noise, so that
 * several forward passes without noise can use one draw. */
xb_status xb_pass_draw_within(xb_ctx *ctx, xb_pass *pass, xb_real *theta,
                              const xb_weights *weights, const xb_noise *noise);

/* y [count][batch][outputs]: the net's outputs under this noise and the count - 1 draws
 * that follow, all in one call, for batches that the backend's `draws_suit` accepts;
 * theta [count][param_count]: scratch memory. */
xb_status xb_pass_draws_within(xb_ctx *ctx, xb_pass *pass, xb_real *y, const xb_real *x,
                               xb_real *theta, int64_t batch, const xb_weights *weights,
                               const xb_noise *noise, int64_t count);

/* From now on ranks run the pass together: the rows of the first layers, as far as they
 * can be dealt, are divided among the ranks, and every rank runs the other layers on all
 * rows (backend/crew.h). All ranks must make the same forward passes and steps; gradients
 * with respect to inputs are not available. */
xb_status xb_pass_join(xb_ctx *ctx, xb_pass *pass, xb_comm *comm);
/* Whether layers with weights are dealt in a batch of this size. */
bool xb_pass_is_dealt(xb_pass *pass, int64_t batch);
/* Rows of a batch whose inputs this process needs: begin .. end - 1. */
void xb_pass_rows(xb_pass *pass, int64_t batch, int64_t *begin, int64_t *end);

/* The first layer whose output, of the last forward pass, holds a number that is not
 * finite; -1: none does. For passes with gradients, which keep their outputs. */
int xb_pass_broken_layer(const xb_pass *pass);

/* The failure of a step whose loss function returned false. */
xb_status xb_pass_stopped(xb_ctx *ctx);

#endif
