/* chains.c: which nets a backend may run in one call: dense layers, each with an
 * activation over it or none; see backend/chain.h. */
#include "run/chains.h"

#include <stdlib.h>

#include "base/memory.h"

static bool is_dense(const xb_layer *layer) { return layer->kind == &xb_layer_dense; }

static bool links_only(const xb_net *net)
{
    for (int l = 0; l < net->n_layer; l++) {
        bool over_dense = l > 0 && is_dense(&net->layer[l - 1]);
        bool act = net->layer[l].kind->act != XB_ACT_NONE && over_dense;
        if (!act && !is_dense(&net->layer[l])) return false;
    }
    return true;
}

static xb_chain_link link_of(const xb_net *net, int l)
{
    const xb_layer *layer = &net->layer[l];
    const xb_tensor *tensor = &net->tensor[layer->tensor];
    bool act = l + 1 < net->n_layer && !is_dense(layer + 1);
    return (xb_chain_link){.number = layer->tensor,
                           .tensors = layer->tensors,
                           .in = layer->in.c,
                           .out = layer->out.c,
                           .offset = tensor->offset,
                           .size = tensor->size,
                           .f = act ? layer[1].kind->act : XB_ACT_NONE,
                           .layer = l + act};
}

xb_status xb_chain_links(xb_ctx *ctx, xb_chain **out, const xb_net *net)
{
    if (!links_only(net)) return XB_OK;
    xb_chain *chain = xb_new(
        ctx, (int64_t)sizeof *chain + net->n_layer * (int64_t)sizeof *chain->link, 1);
    if (!chain) return XB_E_MEMORY;
    for (int l = 0; l < net->n_layer; l++)
        if (is_dense(&net->layer[l])) chain->link[chain->n_link++] = link_of(net, l);
    chain->random = xb_net_stochastic_count(net) > 0;
    *out = chain;
    return XB_OK;
}

xb_status xb_chain_create(xb_ctx *ctx, xb_chain **out, const xb_run *run)
{
    xb_chain *chain = NULL;
    if (!run->backend->chain_suits) return XB_OK;
    XB_TRY(xb_chain_links(ctx, &chain, run->net));
    if (chain && run->backend->chain_suits(chain, run))
        *out = chain;
    else
        free(chain);
    return XB_OK;
}
