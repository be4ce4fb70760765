/* chains.h: nets that a backend runs in one call; see chains.c. */
#ifndef XB_RUN_CHAINS_H
#define XB_RUN_CHAINS_H

#include "backend/chain.h"

/* The net's dense layers with their activations, whoever runs them; NULL in *out: it has
 * others. free() it. */
xb_status xb_chain_links(xb_ctx *ctx, xb_chain **out, const xb_net *net);

/* NULL in *out: the run's net is none, or the backend would rather not. Its outputs are
 * not placed yet. */
xb_status xb_chain_create(xb_ctx *ctx, xb_chain **out, const xb_run *run);

#endif
