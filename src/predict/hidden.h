/* hidden.h: draws of the activations below a net's last dense layer; maths E1. */
#ifndef XB_PREDICT_HIDDEN_H
#define XB_PREDICT_HIDDEN_H

#include "base/ctx.h"
#include "crossbayes/net.h"

/* A net cut before its last layer, shared by all pieces. */
typedef struct xb_hidden {
    xb_net *below; /* NULL: the net is one dense layer, and h is the input */
    int64_t width; /* of h */
    bool random;   /* any tensor below is; if not, one draw says it all */
    xb_weights weights;
    const xb_real *x; /* [input] */
    xb_key key;
    const char *backend;
} xb_hidden;

/* XB_E_ARGUMENT where the net does not end in a dense layer with one output. The net,
 * its weights and x are borrowed. */
xb_status xb_hidden_make(xb_ctx *ctx, xb_hidden *out, const xb_net *net,
                         const xb_weights *weights, const xb_real *x, uint64_t seed,
                         const char *backend);
void xb_hidden_free(xb_hidden *h); /* empty is fine */

enum { XB_HIDDEN_BATCH = 64 };

/* One thread's workspace. */
typedef struct xb_hidden_run {
    const xb_hidden *hidden;
    xb_ctx *ctx;
    xb_pass *pass;
    xb_real *x; /* [XB_HIDDEN_BATCH][input] */
    xb_real *h; /* [XB_HIDDEN_BATCH][width], the last batch */
} xb_hidden_run;

/* What went wrong is in run->ctx, if there is one. */
xb_status xb_hidden_run_make(xb_hidden_run *run, const xb_hidden *hidden);
void xb_hidden_run_free(xb_hidden_run *run);

/* Draws first .. first + count - 1 of a block into run->h; count <= XB_HIDDEN_BATCH. */
xb_status xb_hidden_draw(xb_hidden_run *run, const xb_sampler *sampler, int block,
                         int64_t first, int64_t count);

#endif
