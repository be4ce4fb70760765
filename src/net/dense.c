/* dense.c: the fully connected layer, y = x W + b, W [in][out]; maths N1. */
#include <stdio.h>
#include <string.h>

#include "net/linear.h"

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

static void op_forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                       const xb_real *x, const xb_real *w, const xb_real *b, int64_t rows,
                       xb_real *room, xb_act f)
{
    (void)room;
    run->backend->dense_forward(y, x, w, b, rows, layer->in.c, layer->out.c, f);
}

static void op_backward_input(const xb_run *run, const xb_layer *layer, xb_real *dx,
                              const xb_real *dy, const xb_real *w, const xb_real *x,
                              int64_t rows, xb_real *room, xb_act f)
{
    (void)room;
    run->backend->dense_backward_input(dx, dy, w, x, rows, layer->in.c, layer->out.c, f);
}

static void op_backward_weight(const xb_run *run, const xb_layer *layer, xb_real *dw,
                               const xb_real *x, const xb_real *dy, int64_t rows,
                               xb_real *room)
{
    (void)room;
    run->backend->dense_backward_weight(dw, x, dy, rows, layer->in.c, layer->out.c);
}

static int64_t op_room(const xb_backend *backend, const xb_layer *layer)
{
    (void)backend, (void)layer;
    return 0;
}

static const xb_linear linear = {true, op_forward, op_backward_input, op_backward_weight,
                                 op_room};

const xb_layer_kind xb_layer_dense = {
    .name = "dense",
    .linear = &linear,
    .scratch = xb_linear_scratch,
    .keep = xb_linear_keep,
    .forward = xb_linear_forward,
    .backward = xb_linear_backward,
    .parse = parse,
    .infer = infer,
    .declare = declare,
    .write = write,
};
