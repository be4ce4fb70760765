/* chain.h: a small net of dense layers, whose step is worth one call; see chain.c. Made
 * by run/chains.c, run by a backend that can. */
#ifndef XB_BACKEND_CHAIN_H
#define XB_BACKEND_CHAIN_H

#include "backend/backend.h"

/* A dense layer and the activation over it; f is XB_ACT_NONE without one. */
typedef struct xb_chain_link {
    int number;  /* of the kernel among the net's tensors */
    int tensors; /* the kernel, and the bias if there is one */
    int64_t in, out;
    int64_t offset, size; /* of its parameters; size: of the kernel alone */
    xb_act f;
    int layer;      /* the layer whose output is the link's */
    int64_t output; /* position of that output in the room's outputs */
} xb_chain_link;

typedef struct xb_chain {
    bool random; /* any tensor */
    int n_link;
    xb_chain_link link[]; /* [n_link] */
} xb_chain;

/* Buffers of a pass beside the run's. */
typedef struct xb_chain_room {
    const xb_real *x;
    xb_real *output;
    xb_real *gradient[2]; /* [rows][widest]; NULL for a pass without gradients */
} xb_chain_room;

/* Whether the chain can run for this batch and estimator. */
bool xb_chain_suits(const xb_chain *chain, const xb_run *run);
/* The number of reals of scratch that a step needs. */
int64_t xb_chain_scratch(const xb_chain *chain, const xb_run *run);
/* The net's outputs under the run's weights, without noise. */
const xb_real *xb_chain_forward(const xb_chain *chain, const xb_run *run,
                                const xb_chain_room *room);
/* Forward, loss and backward; gradients with respect to x are not computed. */
bool xb_chain_step(const xb_chain *chain, const xb_run *run, const xb_chain_room *room,
                   bool fresh, xb_loss_fn loss, void *arg);

#endif
