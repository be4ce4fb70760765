/* linear_ops.c: dense and conv as operations linear in their weights, each a row; maths
 * N1, N2. How noise enters them: linear.c. */
#include "backend/linear.h"

/* ---- dense */

static void dense_forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                          const xb_real *x, const xb_real *w, const xb_real *b,
                          int64_t rows, xb_real *room, xb_act f)
{
    (void)room;
    run->kernels->dense_forward(y, x, w, b, rows, layer->in.c, layer->out.c, f);
}

static void dense_backward_input(const xb_run *run, const xb_layer *layer, xb_real *dx,
                                 const xb_real *dy, const xb_real *w, const xb_real *x,
                                 int64_t rows, xb_real *room, xb_act f)
{
    (void)room;
    run->kernels->dense_backward_input(dx, dy, w, x, rows, layer->in.c, layer->out.c, f);
}

static void dense_backward_weight(const xb_run *run, const xb_layer *layer, xb_real *dw,
                                  const xb_real *x, const xb_real *dy, int64_t rows,
                                  xb_real *room)
{
    (void)room;
    run->kernels->dense_backward_weight(dw, x, dy, rows, layer->in.c, layer->out.c);
}

static int64_t dense_room(const xb_kernels *kernels, const xb_layer *layer)
{
    (void)kernels, (void)layer;
    return 0;
}

static const xb_linear dense = {true, dense_forward, dense_backward_input,
                                dense_backward_weight, dense_room};

/* ---- conv */

static void conv_forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                         const xb_real *x, const xb_real *w, const xb_real *b,
                         int64_t rows, xb_real *room, xb_act f)
{
    (void)f;
    run->kernels->conv_forward(y, x, w, b, rows, &layer->window, room);
}

static void conv_backward_input(const xb_run *run, const xb_layer *layer, xb_real *dx,
                                const xb_real *dy, const xb_real *w, const xb_real *x,
                                int64_t rows, xb_real *room, xb_act f)
{
    (void)x, (void)f;
    run->kernels->conv_backward_input(dx, dy, w, rows, &layer->window, room);
}

static void conv_backward_weight(const xb_run *run, const xb_layer *layer, xb_real *dw,
                                 const xb_real *x, const xb_real *dy, int64_t rows,
                                 xb_real *room)
{
    run->kernels->conv_backward_weight(dw, x, dy, rows, &layer->window, room);
}

static int64_t conv_room(const xb_kernels *kernels, const xb_layer *layer)
{
    return kernels->conv_room(&layer->window);
}

static const xb_linear conv = {false, conv_forward, conv_backward_input,
                               conv_backward_weight, conv_room};

const xb_layer_ops xb_ops_dense = {
    .linear = &dense,
    .scratch = xb_linear_scratch,
    .keep = xb_linear_keep,
    .fuses = xb_linear_fuses,
    .deals = xb_linear_deals,
    .forward = xb_linear_forward,
    .backward = xb_linear_backward,
};

const xb_layer_ops xb_ops_conv = {
    .linear = &conv,
    .scratch = xb_linear_scratch,
    .keep = xb_linear_keep,
    .fuses = xb_linear_fuses,
    .deals = xb_linear_deals,
    .forward = xb_linear_forward,
    .backward = xb_linear_backward,
};
