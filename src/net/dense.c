/* dense.c: the fully connected layer, y = x W + b, W [in][out]; maths N1. */
#include <stdio.h>
#include <string.h>

#include "net/layer.h"

static xb_status parse(xb_reading *r, xb_layer *layer)
{
    static const char *const known[] = {"nobias"};
    XB_TRY(
        xb_reading_count(r, &layer->units, "the number of outputs, as in 'dense 16',"));
    if (!xb_reading_word(r)) return XB_OK;
    if (strcmp(r->word, "nobias") != 0)
        return xb_reading_unknown(r, "option", known, XB_COUNT(known));
    layer->bias = false;
    return XB_OK;
}

static xb_status infer(xb_reading *r, xb_layer *layer)
{
    if (layer->in.h != 1 || layer->in.w != 1)
        return xb_reading_fail(r,
                               "dense takes a vector and gets %lld x %lld x %lld:"
                               " put flatten before it",
                               (long long)layer->in.h, (long long)layer->in.w,
                               (long long)layer->in.c);
    layer->out = (xb_shape){1, 1, layer->units};
    return XB_OK;
}

static xb_status declare(xb_reading *r, xb_net *net, xb_layer *layer, int index)
{
    const int64_t kernel[] = {layer->in.c, layer->units};
    XB_TRY(xb_net_declare(r, net, layer, index, XB_ROLE_KERNEL, 2, kernel));
    if (!layer->bias) return XB_OK;
    return xb_net_declare(r, net, layer, index, XB_ROLE_BIAS, 1, &layer->units);
}

static void write(const xb_layer *layer, char *text, size_t size)
{
    snprintf(text, size, " %lld%s", (long long)layer->units,
             layer->bias ? "" : " nobias");
}

const xb_layer_kind xb_layer_dense = {
    .name = "dense",
    .parse = parse,
    .infer = infer,
    .declare = declare,
    .write = write,
};
