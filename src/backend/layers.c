/* layers.c: which operations run a layer; see layers.h. */
#include "backend/layers.h"

static const struct {
    const xb_layer_kind *kind;
    const xb_layer_ops *ops;
} rows[] = {
    {&xb_layer_dense, &xb_ops_dense},     {&xb_layer_conv, &xb_ops_conv},
    {&xb_layer_maxpool, &xb_ops_maxpool}, {&xb_layer_batchnorm, &xb_ops_batchnorm},
    {&xb_layer_flatten, &xb_ops_flatten},
};

/* All others are activations. */
const xb_layer_ops *xb_layer_ops_of(const xb_layer *layer)
{
    for (int i = 0; i < XB_COUNT(rows); i++)
        if (rows[i].kind == layer->kind) return rows[i].ops;
    return &xb_ops_activation;
}
