/* elementwise.c: layers without words or tensors: activations, and flatten, an image seen
 * as a vector; maths N6. */
#include "net/layer.h"

const xb_layer_kind xb_layer_elu = {.name = "elu", .act = XB_ACT_ELU};
const xb_layer_kind xb_layer_relu = {.name = "relu", .act = XB_ACT_RELU};
const xb_layer_kind xb_layer_tanh = {.name = "tanh", .act = XB_ACT_TANH};
const xb_layer_kind xb_layer_sigmoid = {.name = "sigmoid", .act = XB_ACT_SIGMOID};

static xb_status infer(xb_reading *r, xb_layer *layer)
{
    (void)r;
    layer->out = (xb_shape){1, 1, xb_shape_size(layer->in)};
    return XB_OK;
}

const xb_layer_kind xb_layer_flatten = {.name = "flatten", .infer = infer};
