/* chains.h: nets that a backend runs in one call; see chains.c. */
#ifndef XB_RUN_CHAINS_H
#define XB_RUN_CHAINS_H

#include "backend/chain.h"

/* The net's dense layers with their activations. *out is NULL if the net has other
 * layers; free() it. */
xb_status xb_chain_links(xb_ctx *ctx, xb_chain **out, const xb_net *net);

/* NULL in *out: the net is not such a chain, or the backend declines it. Its outputs are
 * not placed yet. */
xb_status xb_chain_create(xb_ctx *ctx, xb_chain **out, const xb_run *run);

#endif
