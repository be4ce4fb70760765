/* rounded.h: nets with converters before and after their linear layers (maths V60). */
#ifndef XB_NET_ROUNDED_H
#define XB_NET_ROUNDED_H

#include "net/layer.h"

/* Rounds to `units` bits (V60); only nets that xb_net_rounded makes have this layer. */
extern const xb_layer_kind xb_layer_round;
/* The net with such layers before its linear ones (in_bits) and after them (out_bits; 0:
 * none); destroy it. */
xb_status xb_net_rounded(xb_ctx *ctx, xb_net **out, const xb_net *net, int64_t in_bits,
                         int64_t out_bits);
/* The number that a layer of such a net has in the net it was made from; for a layer that
 * rounds, that of the next layer. */
int xb_net_rounded_layer(const xb_net *net, int layer);

#endif
