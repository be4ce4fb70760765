/* backend.c: backends by name; see backend.h. The host's has a name for each of its
 * kernels. */
#include "backend/backend.h"

#include "net/rounded.h"

const xb_backend *xb_backend_find(const char *name)
{
    return xb_kernels_find(name) ? &xb_backend_host : NULL;
}

const xb_layer_ops *xb_backend_layer(const xb_backend *b, const xb_layer *layer)
{
    if (layer->kind == &xb_layer_dense) return b->dense;
    if (layer->kind == &xb_layer_conv) return b->conv;
    if (layer->kind == &xb_layer_maxpool) return b->maxpool;
    if (layer->kind == &xb_layer_batchnorm) return b->batchnorm;
    if (layer->kind == &xb_layer_round) return b->rounding;
    return layer->kind == &xb_layer_flatten ? b->flatten : b->activation;
}
