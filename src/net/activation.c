/* activation.c: elu, relu, tanh and sigmoid; maths N6. */
#include "net/layer.h"

const xb_layer_kind xb_layer_elu = {.name = "elu"};
const xb_layer_kind xb_layer_relu = {.name = "relu"};
const xb_layer_kind xb_layer_tanh = {.name = "tanh"};
const xb_layer_kind xb_layer_sigmoid = {.name = "sigmoid"};
