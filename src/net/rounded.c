/* rounded.c: a net with converters before and after its linear layers, to be trained as
 * an array would run it (maths V60): before each dense and conv layer a layer that rounds
 * its inputs, after it one that rounds its outputs. Tensors are those of the net it is
 * made from, in the same places, so both have the same parameters. No text has such
 * layers. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/rounded.h"

const xb_layer_kind xb_layer_round = {.name = "round"};

static bool is_linear(const xb_layer *layer)
{
    return layer->kind == &xb_layer_dense || layer->kind == &xb_layer_conv;
}

/* bits 0: none is added. */
static void add_round(xb_net *net, xb_shape shape, int64_t bits)
{
    if (bits == 0) return;
    net->layer[net->n_layer++] = (xb_layer){
        .kind = &xb_layer_round, .in = shape, .out = shape, .units = bits, .tensor = -1};
}

static void copy_layers(xb_net *net, const xb_net *from, int64_t in_bits,
                        int64_t out_bits)
{
    for (int l = 0; l < from->n_layer; l++) {
        const xb_layer *layer = &from->layer[l];
        if (is_linear(layer)) add_round(net, layer->in, in_bits);
        for (int k = 0; k < layer->tensors; k++)
            net->tensor[layer->tensor + k].layer = net->n_layer;
        net->layer[net->n_layer++] = *layer;
        if (is_linear(layer)) add_round(net, layer->out, out_bits);
    }
}

xb_status xb_net_rounded(xb_ctx *ctx, xb_net **out, const xb_net *from, int64_t in_bits,
                         int64_t out_bits)
{
    xb_net *net = xb_new(ctx, 1, sizeof *net);
    if (!net) return XB_E_MEMORY;
    *net = *from;
    const size_t text = strlen(from->text) + 1;
    net->n_layer = 0;
    net->layer = xb_new(ctx, 3 * (int64_t)from->n_layer, sizeof *net->layer);
    net->tensor = xb_new(ctx, from->n_tensor, sizeof *net->tensor);
    net->text = xb_new(ctx, (int64_t)text, 1);
    if (!net->layer || !net->tensor || !net->text) {
        xb_net_destroy(net);
        return XB_E_MEMORY;
    }
    memcpy(net->text, from->text, text);
    if (from->n_tensor > 0)
        memcpy(net->tensor, from->tensor, (size_t)from->n_tensor * sizeof *net->tensor);
    copy_layers(net, from, in_bits, out_bits);
    *out = net;
    return XB_OK;
}

int xb_net_rounded_layer(const xb_net *net, int layer)
{
    int rounds = 0;
    for (int l = 0; l < layer; l++) rounds += net->layer[l].kind == &xb_layer_round;
    return layer - rounds;
}
