/* backend_reads.c: reads of an analog model in the memory of a backend other than the
 * host's. The host programs the devices and uploads the arrays once. If noise is fresh
 * with each read, the backend draws the weights; devices that remember their noise, or
 * whose shape is bent, are drawn on the host and uploaded for each read. Layers then run
 * on the backend, tiles and converters by its operations for arrays. Weights are drawn
 * once for all inputs of a read: arrays that draw more often are read on the host
 * (reads.c), and so is everything if a backend has no such operations. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbar/analog.h"
#include "predict/predict.h"
#include "vi/model.h"

typedef struct backend_read {
    const xb_analog *analog;
    const xb_backend *backend;
    xb_ctx *ctx; /* context for the operations, with one thread */
    xb_run run;
    xb_reader host;       /* draws what the backend cannot; its memory holds theta */
    bool drawn_here;      /* whether `host` draws the weights */
    void *memory;         /* memory of the backend for everything below */
    float *mu, *sigma;    /* [params] as on the arrays */
    float *theta, *state; /* [params] of one read; state of batchnorm */
    float *x;             /* [batch][features] */
    float *activation[2]; /* [batch][widest] */
    float *input;         /* [batch][widest], inputs after the DAC */
    float *columns, *slice, *part, *keep, *scratch;
    float **correction; /* [n_layer]: [3][row tiles][out], NULL: none */
    float *out;         /* [batch][outputs], on the host */
} backend_read;

bool xb_backend_reads_suit(const xb_analog *analog)
{
    const xb_backend *b = analog->backend;
    for (int i = 0; i < analog->n_layer; i++)
        if (analog->layer[i].plane) return false; /* the host adds the parts of planes */
    return !b->host && b->array && analog->array.redraw == XB_REDRAW_NETWORK &&
           !analog->normal; /* the host makes the noise of sums */
}

/* ---- memory */

enum { LINE = 16 }; /* number of floats */

/* Cuts the buffer into parts; without a buffer it counts the size that is needed. */
typedef struct cutter {
    float *buffer;
    int64_t used;
} cutter;

static void cut(cutter *c, float **part, int64_t n)
{
    if (c->buffer) *part = c->buffer + c->used;
    c->used += (n + LINE - 1) / LINE * LINE;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static void cut_layers(cutter *c, backend_read *r)
{
    const xb_analog *a = r->analog;
    int64_t columns = 0, slice = 0, part = 0, keep = 0, scratch = 0;
    for (int l = 0; l < a->model->net->n_layer; l++) {
        const xb_layer *layer = &a->model->net->layer[l];
        const xb_layer_ops *ops = xb_backend_layer(r->backend, layer);
        if (ops->keep) keep = larger(keep, ops->keep(&r->run, layer));
        if (ops->scratch) scratch = larger(scratch, ops->scratch(&r->run, layer));
    }
    for (int i = 0; i < a->n_layer; i++) {
        const xb_analog_layer *p = &a->layer[i];
        int64_t rows = xb_reader_rows(p, r->run.batch);
        if (p->layer->kind == &xb_layer_conv) columns = larger(columns, rows * p->in);
        slice = larger(slice, rows * p->rows);
        part = larger(part, rows * p->out);
    }
    cut(c, &r->columns, columns);
    cut(c, &r->slice, slice);
    cut(c, &r->part, part);
    cut(c, &r->keep, keep);
    cut(c, &r->scratch, scratch);
}

static int64_t cut_all(backend_read *r, float *buffer)
{
    cutter c = {buffer, 0};
    const xb_analog *a = r->analog;
    const xb_net *net = a->model->net;
    const int64_t wide = r->run.batch * xb_reader_widest(net);
    cut(&c, &r->mu, net->param_count);
    cut(&c, &r->sigma, net->param_count);
    cut(&c, &r->theta, net->param_count);
    cut(&c, &r->state, net->state_count);
    cut(&c, &r->x, wide);
    for (int i = 0; i < 2; i++) cut(&c, &r->activation[i], wide);
    cut(&c, &r->input, wide);
    for (int i = 0; i < a->n_layer; i++)
        if (a->layer[i].correction.pre)
            cut(&c, &r->correction[i], 3 * xb_row_tiles(&a->layer[i]) * a->layer[i].out);
    cut_layers(&c, r);
    return c.used;
}

static void put(const backend_read *r, float *to, const float *from, int64_t n)
{
    r->backend->put(r->backend, to, from, n * (int64_t)sizeof *to);
}

static void send_arrays(const backend_read *r)
{
    const xb_analog *a = r->analog;
    const xb_net *net = a->model->net;
    put(r, r->mu, a->mu, net->param_count);
    put(r, r->sigma, a->sigma, net->param_count);
    put(r, r->theta, a->mu, net->param_count);
    put(r, r->state, a->model->state, net->state_count);
    for (int i = 0; i < a->n_layer; i++)
        if (r->correction[i])
            put(r, r->correction[i], a->layer[i].correction.pre,
                3 * xb_row_tiles(&a->layer[i]) * a->layer[i].out);
}

static void close_read(backend_read *r)
{
    if (r->host.analog) xb_reader_free(&r->host);
    r->backend->release(r->backend, r->memory);
    xb_ctx_destroy(r->ctx);
    free(r->correction);
    free(r->out);
}

static xb_status open_read(xb_ctx *ctx, backend_read *r, const xb_analog *a)
{
    const xb_net *net = a->model->net;
    *r = (backend_read){.analog = a, .backend = a->backend};
    r->drawn_here = a->rho > 0 || a->held || a->bend;
    if (xb_ctx_create(&r->ctx) != XB_OK)
        return xb_fail(ctx, XB_E_MEMORY, "not enough memory for a context");
    xb_ctx_set_threads(r->ctx, 1);
    r->run = (xb_run){.ctx = r->ctx,
                      .net = net,
                      .backend = a->backend,
                      .kernels = a->kernels,
                      .group = 1,
                      .batch = xb_reader_batch(a),
                      .mode = XB_MODE_PREDICT};
    r->correction = xb_new(ctx, a->n_layer, sizeof *r->correction);
    r->out = xb_new(ctx, r->run.batch * xb_model_outputs(a->model), sizeof *r->out);
    if (!r->correction || !r->out) return XB_E_MEMORY;
    if (r->drawn_here) XB_TRY(xb_reader_make(ctx, &r->host, a));
    XB_TRY(r->backend->take(r->backend, ctx, &r->memory,
                            cut_all(r, NULL) * (int64_t)sizeof(float)));
    (void)cut_all(r, r->memory);
    r->run.scratch = r->scratch, r->run.keep = r->keep;
    send_arrays(r);
    return XB_OK;
}

/* ---- a read */

/* Draws theta of read s; `known`: the last one was read s - 1. */
static void draw_weights(backend_read *r, int64_t s, bool known)
{
    const xb_analog *a = r->analog;
    if (!r->drawn_here) {
        r->run.weights = (xb_weights){r->mu, r->sigma, r->state, NULL};
        r->run.noise = (xb_noise){.sampler = a->sampler,
                                  .key = a->reads,
                                  .step = XB_PREDICT_STEP - a->place,
                                  .sample = (uint32_t)s};
        r->backend->draw(&r->run, r->theta);
        return;
    }
    const xb_moment when = {.each = 1, .q = s};
    for (int i = 0; i < a->n_layer; i++) {
        const xb_analog_layer *p = &a->layer[i];
        if (p->random)
            put(r, r->theta + p->offset, xb_weights_draw(&r->host, p, when, known), p->n);
    }
}

static xb_tile_block block_of(const backend_read *r, const xb_analog_layer *p)
{
    const int64_t columns = xb_row_tiles(p) * p->out;
    const float *w = r->theta + p->offset, *pre = r->correction[p - r->analog->layer];
    xb_tile_block t =
        xb_tile_block_of(p, w, p->n > p->size ? w + p->size : NULL, r->run.batch);
    t.pre = pre;
    t.post = pre ? pre + columns : NULL;
    t.shift = pre ? pre + 2 * columns : NULL;
    t.slice = r->slice, t.part = r->part;
    return t;
}

/* Processes one input's windows, a few lines at a time. */
static void conv_input(const backend_read *r, const xb_analog_layer *p, float *y,
                       const float *x)
{
    const xb_window *g = &p->layer->window;
    const int64_t lines = xb_reader_rows(p, 1) / g->ow;
    xb_tile_block t = block_of(r, p);
    for (int64_t line = 0; line < g->oh; line += lines) {
        int64_t to = line + lines < g->oh ? line + lines : g->oh;
        t.rows = (to - line) * g->ow;
        r->backend->array->windows(&r->run, r->columns, x, g, line, to);
        r->backend->array->tiles(&r->run, &t, y + line * g->ow * g->oc, r->columns);
    }
}

static void tiled_layer(const backend_read *r, const xb_analog_layer *p, float *y,
                        const float *x)
{
    const int64_t in = xb_shape_size(p->layer->in), out = xb_shape_size(p->layer->out);
    const xb_tile_block t = block_of(r, p);
    if (p->layer->kind != &xb_layer_conv)
        r->backend->array->tiles(&r->run, &t, y, x);
    else
        for (int64_t i = 0; i < r->run.batch; i++)
            conv_input(r, p, y + i * out, x + i * in);
}

static void analog_layer(backend_read *r, const xb_analog_layer *p, float *y,
                         const float *x)
{
    const int64_t n = r->run.batch * xb_shape_size(p->layer->in);
    if (p->dac.on) {
        r->backend->array->quantise(&r->run, r->input, x, &p->dac.steps, n);
        x = r->input;
    }
    if (xb_tile_matters(r->analog, p)) {
        tiled_layer(r, p, y, x);
        return;
    }
    r->run.weights.mu = r->theta;
    xb_backend_layer(r->backend, p->layer)->forward(&r->run, p->layer, y, x);
    r->run.weights.mu = r->mu;
}

/* Computes the outputs of the inputs in r->x, with the weights r->theta. */
static const float *run_layers(backend_read *r)
{
    const xb_net *net = r->analog->model->net;
    const float *x = r->x;
    r->run.weights = (xb_weights){r->mu, NULL, r->state, NULL};
    r->run.noise = (xb_noise){0};
    for (int l = 0, turn = 0; l < net->n_layer; l++) {
        const xb_layer *layer = &net->layer[l];
        const xb_layer_ops *ops = xb_backend_layer(r->backend, layer);
        const xb_analog_layer *p = xb_analog_layer_of(r->analog, l);
        if (ops->placement == XB_PLACE_ALIAS) continue;
        float *y = r->activation[turn];
        if (p)
            analog_layer(r, p, y, x);
        else
            ops->forward(&r->run, layer, y, x);
        x = y;
        turn = 1 - turn;
    }
    return x;
}

/* Reads are counted for all rows: `before` are those of earlier rows, of `total`. */
static xb_status read_rows(xb_ctx *ctx, backend_read *r, double *value, int64_t wide,
                           int64_t first, int64_t count, int64_t before, int64_t total)
{
    const xb_model *m = r->analog->model;
    const int64_t outputs = xb_model_outputs(m), rows = r->run.batch;
    const int64_t part = xb_reads_between(r->analog, rows);
    for (int64_t s = 0; s < count; s++, value += wide) {
        const int64_t done = before + s;
        if (done > 0 && s % part == 0) XB_TRY(xb_reads_tell(ctx, done, total));
        draw_weights(r, first + s, s > 0);
        r->backend->get(r->backend, r->out, run_layers(r),
                        rows * outputs * (int64_t)sizeof *r->out);
        XB_TRY(xb_backend_check(r->backend, ctx));
        xb_predict_values(m, value, r->out, rows);
    }
    return XB_OK;
}

xb_status xb_backend_reads(xb_ctx *ctx, double *value, const xb_analog *analog,
                           const float *x, int64_t n, int64_t first, int64_t count)
{
    const xb_model *m = analog->model;
    const int64_t outputs = xb_model_outputs(m);
    backend_read r;
    xb_status status = open_read(ctx, &r, analog);
    const int64_t most = r.run.batch;
    const int64_t total = status == XB_OK ? (n + most - 1) / most * count : 0;
    int64_t before = 0;
    for (int64_t row = 0; row < n && status == XB_OK; row += most) {
        r.run.batch = n - row < most ? n - row : most;
        put(&r, r.x, x + row * m->features, r.run.batch * m->features);
        status = read_rows(ctx, &r, value + row * outputs, n * outputs, first, count,
                           before, total);
        before += count;
    }
    close_read(&r);
    return status;
}
