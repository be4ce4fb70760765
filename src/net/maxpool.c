/* maxpool.c: the largest value of each window, channel by channel; maths N3. */
#include <stdio.h>
#include <string.h>

#include "net/window.h"

static xb_status parse_option(xb_reading *r, xb_layer *layer)
{
    static const char *const known[] = {"stride", "floor", "ceil"};
    if (strcmp(r->word, "stride") == 0)
        return xb_reading_count(r, &layer->window.stride, "the stride");
    if (strcmp(r->word, "floor") == 0)
        layer->ceil = false;
    else if (strcmp(r->word, "ceil") == 0)
        layer->ceil = true;
    else
        return xb_reading_unknown(r, "option", known, XB_COUNT(known));
    return XB_OK;
}

static xb_status parse(xb_reading *r, xb_layer *layer)
{
    xb_window *win = &layer->window;
    XB_TRY(xb_reading_count(r, &win->kh, "the window, as in 'maxpool 2',"));
    win->kw = win->stride = win->kh;
    while (xb_reading_word(r)) XB_TRY(parse_option(r, layer));
    return XB_OK;
}

static xb_status infer(xb_reading *r, xb_layer *layer)
{
    xb_window *win = &layer->window;
    xb_shape in = layer->in;
    int64_t (*places)(int64_t, int64_t, int64_t) =
        layer->ceil ? xb_window_ceil : xb_window_floor;
    win->h = in.h, win->w = in.w, win->c = win->oc = in.c;
    win->oh = places(in.h, win->kh, win->stride);
    win->ow = places(in.w, win->kw, win->stride);
    if (win->oh < 1 || win->ow < 1)
        return xb_reading_fail(r,
                               "a window of %lld does not fit into %lld x %lld:"
                               " use ceil, or a smaller one",
                               (long long)win->kh, (long long)in.h, (long long)in.w);
    layer->out = (xb_shape){win->oh, win->ow, win->oc};
    return XB_OK;
}

static void write(const xb_layer *layer, char *text, size_t size)
{
    const xb_window *win = &layer->window;
    char stride[32] = "";
    if (win->stride != win->kh)
        snprintf(stride, sizeof stride, " stride %lld", (long long)win->stride);
    snprintf(text, size, " %lld%s%s", (long long)win->kh, stride,
             layer->ceil ? " ceil" : "");
}

const xb_layer_kind xb_layer_maxpool = {
    .name = "maxpool",
    .parse = parse,
    .infer = infer,
    .write = write,
};
