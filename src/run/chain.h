/* chain.h: a step of training through a small net of dense layers; see chain.c. */
#ifndef XB_RUN_CHAIN_H
#define XB_RUN_CHAIN_H

#include "run/pass.h"
#include "run/step.h"

/* A dense layer and the activation over it; f is XB_ACT_NONE without one. */
typedef struct xb_chain_link {
    int number;  /* of the kernel among the net's tensors */
    int tensors; /* the kernel, and the bias if there is one */
    int64_t in, out;
    int64_t offset, size; /* of its parameters; size: of the kernel alone */
    xb_act f;
    int layer; /* whose output is the link's */
} xb_chain_link;

struct xb_chain {
    bool random; /* any tensor */
    int n_link;
    xb_chain_link link[]; /* [n_link] */
};

/* NULL in *out: the pass's net is none, or too large, or the estimator has no such
 * form. The pass's run is set. */
xb_status xb_chain_create(xb_ctx *ctx, xb_chain **out, const xb_pass *pass);
/* Reals of room that a step needs. */
int64_t xb_chain_scratch(const xb_chain *chain, const xb_pass *pass);
/* The net's outputs under the run's weights as they are; for a pass without gradients. */
const xb_real *xb_chain_forward(const xb_chain *chain, const xb_pass *pass);
/* Forward, loss, backward of the pass's run; gradients by x are not found. */
void xb_chain_step(const xb_chain *chain, xb_pass *pass, bool fresh, xb_loss_fn loss,
                   void *arg);

#endif
