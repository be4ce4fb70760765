/* cuda_layers.c: maxpool, batchnorm, activations and flatten over a batch; maths N3-N6.
 */
#include "cuda_module.h"

static int64_t size_of(xb_shape s) { return s.h * s.w * s.c; }

xbc_window xbc_window_of(const xb_window *w)
{
    return (xbc_window){(int)w->h,      (int)w->w,   (int)w->c,   (int)w->oh,
                        (int)w->ow,     (int)w->oc,  (int)w->kh,  (int)w->kw,
                        (int)w->stride, (int)w->top, (int)w->left};
}

/* ---- maxpool */

static void pool_forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                         const xb_real *x)
{
    xbc_window win = xbc_window_of(&layer->window);
    XBC_INSIDE(xbc_maxpool(y, x, run->batch, &win));
}

static void pool_backward(const xb_run *run, const xb_layer *layer, xb_real *dx,
                          const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)y;
    xbc_window win = xbc_window_of(&layer->window);
    if (dx) XBC_INSIDE(xbc_maxpool_backward(dx, dy, x, run->batch, &win));
}

const xb_layer_ops xbc_maxpool_ops = {.forward = pool_forward, .backward = pool_backward};

/* ---- batchnorm */

int64_t xbc_norm_keep(const xb_run *run, const xb_layer *layer)
{
    (void)run;
    return 5 * layer->in.c;
}

int64_t xbc_norm_scratch(const xb_run *run, const xb_layer *layer)
{
    return 2 * xbc_norm_room(run->batch * layer->in.h * layer->in.w, layer->in.c);
}

xbc_norm xbc_norm_of(const xb_run *run, const xb_layer *layer)
{
    const xb_tensor *scale = &run->net->tensor[layer->tensor];
    bool train = run->mode == XB_MODE_TRAIN;
    return (xbc_norm){.rows = run->batch * layer->in.h * layer->in.w,
                      .c = layer->in.c,
                      .keep = run->keep,
                      .scale = run->weights.mu + scale[0].offset,
                      .shift = run->weights.mu + scale[1].offset,
                      .state = run->weights.state + layer->state,
                      .moved = train ? run->weights.new_state + layer->state : NULL,
                      .momentum = layer->momentum,
                      .epsilon = layer->epsilon,
                      .room = (double *)(void *)run->scratch};
}

static void norm_forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                         const xb_real *x)
{
    xbc_norm job = xbc_norm_of(run, layer);
    XBC_INSIDE(xbc_norm_forward(&job, y, x));
}

static void norm_backward(const xb_run *run, const xb_layer *layer, xb_real *dx,
                          const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)y;
    xbc_norm job = xbc_norm_of(run, layer);
    const xb_tensor *scale = &run->net->tensor[layer->tensor];
    XBC_INSIDE(xbc_norm_backward(&job, dx, run->gradient.mu + scale[0].offset,
                                 run->gradient.mu + scale[1].offset, dy, x));
}

const xb_layer_ops xbc_batchnorm = {.keep = xbc_norm_keep,
                                    .scratch = xbc_norm_scratch,
                                    .forward = norm_forward,
                                    .backward = norm_backward};

/* ---- activations, flatten */

xbc_act xbc_act_of(const xb_layer *layer)
{
    switch (layer->kind->act) {
    case XB_ACT_ELU: return XBC_ELU;
    case XB_ACT_RELU: return XBC_RELU;
    case XB_ACT_TANH: return XBC_TANH;
    case XB_ACT_SIGMOID: return XBC_SIGMOID;
    case XB_ACT_NONE: break;
    }
    return XBC_NONE;
}

static void act_forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                        const xb_real *x)
{
    int64_t n = run->batch * size_of(layer->in);
    XBC_INSIDE(xbc_activate(y, x, n, xbc_act_of(layer)));
}

static void act_backward(const xb_run *run, const xb_layer *layer, xb_real *dx,
                         const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)x;
    int64_t n = run->batch * size_of(layer->in);
    if (dx) XBC_INSIDE(xbc_deactivate(dx, dy, y, n, xbc_act_of(layer)));
}

const xb_layer_ops xbc_activation = {
    .placement = XB_PLACE_OVERWRITE, .forward = act_forward, .backward = act_backward};

static void flat(const xb_run *run, const xb_layer *layer, xb_real *to,
                 const xb_real *from)
{
    size_t bytes = (size_t)(run->batch * size_of(layer->in)) * sizeof *to;
    if (to && to != from) XBC_INSIDE(xbc_copy(to, from, bytes));
}

static void flat_back(const xb_run *run, const xb_layer *layer, xb_real *dx,
                      const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)x, (void)y;
    flat(run, layer, dx, dy);
}

const xb_layer_ops xbc_flatten = {
    .placement = XB_PLACE_ALIAS, .forward = flat, .backward = flat_back};
