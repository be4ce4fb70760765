/* conv.c: two-dimensional convolution (cross-correlation, as everywhere in deep
 * learning), kernels [kh][kw][in][out], images [h][w][c]; maths N2. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "net/window.h"

static xb_status parse_option(xb_reading *r, xb_layer *layer)
{
    static const char *const known[] = {"stride", "same", "valid", "nobias"};
    xb_window *win = &layer->window;
    if (isdigit((unsigned char)r->word[0])) return xb_reading_pair(r, &win->kh, &win->kw);
    if (strcmp(r->word, "stride") == 0)
        return xb_reading_count(r, &win->stride, "the stride");
    if (strcmp(r->word, "same") == 0)
        layer->same = true;
    else if (strcmp(r->word, "valid") == 0)
        layer->same = false;
    else if (strcmp(r->word, "nobias") == 0)
        layer->bias = false;
    else
        return xb_reading_unknown(r, "option", known, XB_COUNT(known));
    return XB_OK;
}

static xb_status parse(xb_reading *r, xb_layer *layer)
{
    layer->window = (xb_window){.kh = 3, .kw = 3, .stride = 1};
    layer->same = true;
    XB_TRY(xb_reading_count(r, &layer->units, "the number of filters, as in 'conv 16',"));
    while (xb_reading_word(r)) XB_TRY(parse_option(r, layer));
    return XB_OK;
}

static xb_status infer(xb_reading *r, xb_layer *layer)
{
    xb_window *win = &layer->window;
    xb_shape in = layer->in;
    int64_t s = win->stride;
    win->h = in.h, win->w = in.w, win->c = in.c, win->oc = layer->units;
    if (layer->same) {
        win->oh = xb_window_same(in.h, s), win->ow = xb_window_same(in.w, s);
        win->top = xb_window_pad(in.h, win->kh, s);
        win->left = xb_window_pad(in.w, win->kw, s);
    } else {
        win->oh = xb_window_floor(in.h, win->kh, s);
        win->ow = xb_window_floor(in.w, win->kw, s);
    }
    if (win->oh < 1 || win->ow < 1)
        return xb_reading_fail(r,
                               "a window of %lld x %lld does not fit into %lld x %lld:"
                               " use same, or a smaller one",
                               (long long)win->kh, (long long)win->kw, (long long)in.h,
                               (long long)in.w);
    layer->out = (xb_shape){win->oh, win->ow, win->oc};
    return XB_OK;
}

static xb_status declare(xb_reading *r, xb_net *net, xb_layer *layer, int index)
{
    const xb_window *win = &layer->window;
    const int64_t kernel[] = {win->kh, win->kw, win->c, win->oc};
    XB_TRY(xb_net_declare(r, net, layer, index, XB_ROLE_KERNEL, 4, kernel));
    if (!layer->bias) return XB_OK;
    return xb_net_declare(r, net, layer, index, XB_ROLE_BIAS, 1, &win->oc);
}

static void write(const xb_layer *layer, char *text, size_t size)
{
    const xb_window *win = &layer->window;
    char stride[32] = "";
    if (win->stride > 1)
        snprintf(stride, sizeof stride, " stride %lld", (long long)win->stride);
    snprintf(text, size, " %lld %lldx%lld%s%s%s", (long long)win->oc, (long long)win->kh,
             (long long)win->kw, stride, layer->same ? "" : " valid",
             layer->bias ? "" : " nobias");
}

const xb_layer_kind xb_layer_conv = {
    .name = "conv",
    .parse = parse,
    .infer = infer,
    .declare = declare,
    .write = write,
};
