/* rounded.h: nets whose linear layers stand between converters (maths V60). */
#ifndef XB_NET_ROUNDED_H
#define XB_NET_ROUNDED_H

#include "net/layer.h"

/* Rounds to `units` bits (V60); in nets that xb_net_rounded makes alone. */
extern const xb_layer_kind xb_layer_round;
/* The net with such layers before its linear ones (in_bits) and after them (out_bits; 0:
 * none); destroy it. */
xb_status xb_net_rounded(xb_ctx *ctx, xb_net **out, const xb_net *net, int64_t in_bits,
                         int64_t out_bits);
/* The place that a layer of such a net has in the one it was made from; a layer that
 * rounds: that of the next. */
int xb_net_rounded_layer(const xb_net *net, int layer);

#endif
