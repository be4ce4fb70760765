/* hidden.h: draws of the activations below a net's last dense layer; maths E1. */
#ifndef XB_PREDICT_HIDDEN_H
#define XB_PREDICT_HIDDEN_H

#include "predict/density.h"

/* A net cut before its last layer, shared by all threads. */
typedef struct xb_hidden {
    xb_net *below; /* NULL: the net is one dense layer, and h is the input */
    int64_t width; /* of h */
    bool random;   /* any tensor below is random; if not, one draw suffices */
    xb_weights weights;
    const xb_real *x; /* [input] */
    xb_key key;
    const char *backend;
    xb_sampler *const *sampler; /* [laws], set by the caller that draws */
} xb_hidden;

/* Checks that the net ends in a random dense layer with one output and that sigma is
 * given: XB_E_ARGUMENT if not, or if there is no such backend. */
xb_status xb_hidden_check(xb_ctx *ctx, const xb_net *net, const xb_weights *weights,
                          const char *backend);

/* XB_E_ARGUMENT where the net does not end in a dense layer with one output. The net,
 * its weights and x are borrowed. */
xb_status xb_hidden_make(xb_ctx *ctx, xb_hidden *out, const xb_net *net,
                         const xb_weights *weights, const xb_real *x, uint64_t seed,
                         const char *backend);
void xb_hidden_free(xb_hidden *h); /* empty is fine */

/* A source that draws the weights under every law, from the same random words. */
xb_hidden_source xb_hidden_source_of(const xb_hidden *h);

#endif
