/* reader.c: one read of the arrays: a pass of some inputs through the net, with kernels
 * on their tiles and everything else as in the digital net. Weights are drawn once for
 * all inputs, for each input, or for each operation, as the array says; a convolution is
 * one operation for each output pixel, whose window is the tile's input (im2col). All
 * memory is allocated when the reader is made. If nothing is converted or drawn within a
 * layer, the backend's own layer is used, so the ideal array gives the bytes of the
 * digital model. */
#include <stdlib.h>

#include "base/memory.h"
#include "crossbar/analog.h"
#include "backend/linear.h"
#include "vi/model.h"

/* Limits in floats: for the widest activation of all inputs, and for the windows that are
 * written out at once. */
enum { BATCH_MOST = 256, BATCH_ROOM = 1 << 20, COLUMNS_ROOM = 1 << 16, ALIGN = 16 };

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t padded(int64_t n) { return (n + ALIGN - 1) / ALIGN * ALIGN; }

static bool is_conv(const xb_analog_layer *layer)
{
    return layer->layer->kind == &xb_layer_conv;
}

/* The number of lines of output pixels whose windows are written out at once. */
static int64_t lines_of(const xb_analog_layer *layer)
{
    const xb_window *g = &layer->layer->window;
    int64_t lines = COLUMNS_ROOM / (g->ow * layer->in);
    return lines < 1 ? 1 : lines < g->oh ? lines : g->oh;
}

int64_t xb_reader_rows(const xb_analog_layer *layer, int64_t inputs)
{
    return is_conv(layer) ? lines_of(layer) * layer->layer->window.ow : inputs;
}

int64_t xb_reader_widest(const xb_net *net)
{
    int64_t widest = xb_shape_size(net->input);
    for (int l = 0; l < net->n_layer; l++)
        widest = larger(widest, xb_shape_size(net->layer[l].out));
    return widest;
}

int64_t xb_reader_batch(const xb_analog *analog)
{
    if (analog->array.redraw != XB_REDRAW_NETWORK) return 1;
    int64_t fit = BATCH_ROOM / xb_reader_widest(analog->model->net);
    return fit < 1 ? 1 : fit < BATCH_MOST ? fit : BATCH_MOST;
}

/* ---- memory */

typedef struct reader_sizes {
    int64_t activation, input, columns, theta, z, room, keep, slice, part, draws, sum;
} reader_sizes;

static reader_sizes sizes_of(const xb_analog *a, int64_t batch)
{
    const xb_net *net = a->model->net;
    reader_sizes s = {.activation = batch * xb_reader_widest(net), .z = net->param_count};
    const xb_run run = {.net = net, .kernels = a->kernels, .batch = batch};
    for (int l = 0; l < net->n_layer; l++) {
        const xb_layer_ops *ops = xb_host_layer(&net->layer[l]);
        if (ops->keep) s.keep = larger(s.keep, ops->keep(&run, &net->layer[l]));
    }
    for (int i = 0; i < a->n_layer; i++) {
        const xb_analog_layer *p = &a->layer[i];
        int64_t rows = xb_reader_rows(p, batch);
        s.input = larger(s.input, batch * xb_shape_size(p->layer->in));
        s.theta = larger(s.theta, p->n);
        s.slice = larger(s.slice, rows * p->rows);
        s.part = larger(s.part, rows * p->out);
        if (p->plane) s.sum = larger(s.sum, rows * p->out);
        if (a->normal) s.draws = larger(s.draws, p->out);
        if (is_conv(p)) s.columns = larger(s.columns, rows * p->in);
        s.room =
            larger(s.room, xb_host_layer(p->layer)->linear->room(a->kernels, p->layer));
    }
    return s;
}

static float *cut(float **next, int64_t n)
{
    float *p = *next;
    *next += padded(n);
    return p;
}

xb_status xb_reader_make(xb_ctx *ctx, xb_reader *out, const xb_analog *analog)
{
    xb_reader r = {.analog = analog,
                   .batch = xb_reader_batch(analog),
                   .layers = analog->model->net->n_layer};
    reader_sizes s = sizes_of(analog, r.batch);
    int64_t all = 2 * padded(s.activation) + padded(s.input) + padded(s.columns) +
                  padded(s.theta) + padded(s.z) + padded(s.room) + padded(s.keep) +
                  padded(s.slice) + padded(s.part) + padded(s.draws) + 2 * padded(s.sum);
    r.memory = xb_new(ctx, all, sizeof *r.memory);
    if (!r.memory) return XB_E_MEMORY;
    if (xb_ctx_create(&r.ctx) != XB_OK) {
        free(r.memory);
        return xb_fail(ctx, XB_E_MEMORY, "not enough memory for a context");
    }
    if (analog->held) r.level = xb_new(ctx, s.z, sizeof *r.level);
    if (analog->held && !r.level) {
        xb_reader_free(&r);
        return XB_E_MEMORY;
    }
    xb_ctx_set_threads(r.ctx, 1);
    float *next = r.memory;
    for (int i = 0; i < 2; i++) r.activation[i] = cut(&next, s.activation);
    r.input = cut(&next, s.input);
    r.columns = cut(&next, s.columns);
    r.theta = cut(&next, s.theta);
    r.z = cut(&next, s.z);
    r.room = cut(&next, s.room);
    r.keep = cut(&next, s.keep);
    r.draws = cut(&next, s.draws);
    r.tile.slice = cut(&next, s.slice);
    r.tile.part = cut(&next, s.part);
    r.tile.sum = cut(&next, s.sum);
    r.tile.reference = cut(&next, s.sum); /* never more than columns */
    *out = r;
    return XB_OK;
}

void xb_reader_free(xb_reader *r)
{
    xb_ctx_destroy(r->ctx);
    free(r->level);
    free(r->memory);
}

/* ---- layers */

/* A read of one layer. */
typedef struct layer_read {
    xb_reader *r;
    const xb_run *run;
    const xb_analog_layer *p;
    const xb_watch *seen; /* observers of tile sums; NULL: none */
    int64_t first, s;
    bool known;
} layer_read;

static const float *bias_of(const xb_analog_layer *p, const float *w)
{
    return p->n > p->size ? w + p->size : NULL;
}

/* Computes `rows` rows of the matrix product: operation `from` of input `i` and the
 * following ones. */
static void product(const layer_read *k, float *y, const float *x, const float *w,
                    int64_t rows, int64_t i, int64_t from)
{
    const xb_analog *a = k->r->analog;
    xb_noisy_product noisy = {.analog = a, .layer = k->p};
    if (a->normal) {
        if (!k->p->plane) noisy.noise = xb_sum_noise_of(&a->array, k->p);
        noisy.first = (k->first + i) * k->p->operations + from;
        noisy.read = k->s;
        noisy.draws = k->r->draws;
    }
    (k->p->plane ? xb_plane_product : xb_tile_product)(a, k->p, y, x, w, bias_of(k->p, w),
                                                       rows, k->r->tile, k->seen,
                                                       a->normal ? &noisy : NULL);
}

/* Runs operations [from, from + count) of input i; x are their rows of the matrix
 * product. */
static void each_operation(const layer_read *k, float *y, const float *x, int64_t i,
                           int64_t from, int64_t count)
{
    const xb_analog_layer *p = k->p;
    xb_moment when = {.first = (k->first + i) * p->operations, .each = p->operations};
    for (int64_t o = from; o < from + count; o++, x += p->in, y += p->out) {
        when.q = k->s * p->operations + o;
        bool known = k->known || o > 0;
        if (xb_weights_pass(k->r, p, 1))
            xb_weights_product(k->r, p, y, x, 1, when, known);
        else
            product(k, y, x, xb_weights_draw(k->r, p, when, known), 1, i, o);
    }
}

/* Runs one input's windows, a few lines at a time; w NULL: weights are redrawn for
 * each. */
static void conv_input(const layer_read *k, float *y, const float *x, const float *w,
                       int64_t i)
{
    const xb_analog_layer *p = k->p;
    const xb_window *g = &p->layer->window;
    for (int64_t line = 0, lines = lines_of(p); line < g->oh; line += lines) {
        int64_t to = line + lines < g->oh ? line + lines : g->oh;
        float *out = y + line * g->ow * g->oc;
        xb_ops_array.windows(k->run, k->r->columns, x, g, line, to);
        if (w)
            product(k, out, k->r->columns, w, (to - line) * g->ow, i, line * g->ow);
        else
            each_operation(k, out, k->r->columns, i, line * g->ow, (to - line) * g->ow);
    }
}

/* Runs `rows` inputs from number `from` on with one draw. */
static void shared_draw(const layer_read *k, float *y, const float *x, int64_t rows,
                        int64_t from, xb_moment when)
{
    const xb_analog_layer *p = k->p;
    if (!is_conv(p) && xb_weights_pass(k->r, p, rows)) {
        xb_weights_product(k->r, p, y, x, rows, when, k->known);
        return;
    }
    const float *w = xb_weights_draw(k->r, p, when, k->known);
    bool plain = !xb_tile_matters(k->r->analog, p) && !k->seen;
    int64_t in = xb_shape_size(p->layer->in), out = xb_shape_size(p->layer->out);
    if (plain)
        xb_host_layer(p->layer)->linear->forward(k->run, p->layer, y, x, w, bias_of(p, w),
                                                 rows, k->r->room, XB_ACT_NONE);
    else if (is_conv(p))
        for (int64_t i = 0; i < rows; i++)
            conv_input(k, y + i * out, x + i * in, w, from + i);
    else
        product(k, y, x, w, rows, from, 0);
}

/* (X15) Redraws the weights when the array says so. */
static void analog_layer(const layer_read *k, float *y, const float *x, int64_t rows)
{
    const xb_analog_layer *p = k->p;
    xb_redraw redraw = k->r->analog->array.redraw;
    int64_t in = xb_shape_size(p->layer->in), out = xb_shape_size(p->layer->out);
    if (redraw == XB_REDRAW_NETWORK || !p->random) {
        xb_moment when = {.each = 1, .q = k->s};
        shared_draw(k, y, x, rows, 0, when);
        return;
    }
    for (int64_t i = 0; i < rows; i++, x += in, y += out) {
        xb_moment when = {.first = k->first + i, .each = 1, .q = k->s};
        if (redraw == XB_REDRAW_INPUT)
            shared_draw(k, y, x, 1, i, when);
        else if (is_conv(p))
            conv_input(k, y, x, NULL, i);
        else
            each_operation(k, y, x, i, 0, 1);
    }
}

const xb_analog_layer *xb_analog_layer_of(const xb_analog *a, int index)
{
    for (int i = 0; i < a->n_layer; i++)
        if (a->layer[i].index == index) return &a->layer[i];
    return NULL;
}

static const float *converted(xb_reader *r, const xb_analog_layer *p, const float *x,
                              int64_t rows)
{
    int64_t n = rows * xb_shape_size(p->layer->in), number = p - r->analog->layer;
    if (r->seen.in && r->seen.in[number]) xb_spectrum_add(r->seen.in[number], x, n);
    if (!p->dac.on) return x;
    r->analog->kernels->quantise(r->input, x, &p->dac.steps, n);
    return r->input;
}

const float *xb_reader_run(xb_reader *r, const float *x, int64_t first, int64_t rows,
                           int64_t s, bool known)
{
    const xb_analog *a = r->analog;
    const xb_net *net = a->model->net;
    const xb_run run = {.ctx = r->ctx,
                        .net = net,
                        .kernels = a->kernels,
                        .group = 1,
                        .batch = rows,
                        .weights = {a->mu, a->sigma, a->model->state, NULL},
                        .mode = XB_MODE_PREDICT,
                        .keep = r->keep};
    for (int l = 0, turn = 0; l < r->layers; l++) {
        const xb_layer *layer = &net->layer[l];
        const xb_analog_layer *p = xb_analog_layer_of(a, l);
        if (xb_host_layer(layer)->placement == XB_PLACE_ALIAS) continue;
        float *y = r->activation[turn];
        if (p) {
            const xb_watch *seen = r->seen.sum ? r->seen.sum[p - a->layer] : NULL;
            layer_read k = {r, &run, p, seen, first, s, known};
            analog_layer(&k, y, converted(r, p, x, rows), rows);
        } else {
            xb_host_layer(layer)->forward(&run, layer, y, x);
        }
        x = y;
        turn = 1 - turn;
    }
    return x;
}
