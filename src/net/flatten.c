/* flatten.c: an image seen as a vector; nothing moves, unless the output may not be
 * the input (the first layer of a net). */
#include <string.h>

#include "net/run.h"

static xb_status infer(xb_reading *r, xb_layer *layer)
{
    (void)r;
    layer->out = (xb_shape){1, 1, xb_shape_size(layer->in)};
    return XB_OK;
}

static void copy(const xb_run *run, const xb_layer *layer, xb_real *to,
                 const xb_real *from)
{
    size_t n = (size_t)(run->batch * xb_shape_size(layer->in));
    if (to && to != from) memcpy(to, from, n * sizeof *to);
}

static void backward(const xb_run *run, const xb_layer *layer, xb_real *dx,
                     const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)x, (void)y;
    copy(run, layer, dx, dy);
}

const xb_layer_kind xb_layer_flatten = {
    .name = "flatten",
    .placement = XB_PLACE_ALIAS,
    .infer = infer,
    .forward = copy,
    .backward = backward,
};
