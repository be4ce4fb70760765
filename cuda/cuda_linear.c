/* cuda_linear.c: dense and conv: the choice of the estimator, the parts that
 * estimators share, and the estimator `shared`; maths N1, N2, N7, N8. It mirrors
 * backend/linear.c of the host. */
#include "cuda_linear.h"

enum {
    MOST_COUNT = 1 << 30,  /* rows of a product in one part */
    SLICES = 512,          /* blocks that gradients by weights should have */
    SLICE_WORK = 128,      /* rows of a product worth a slice */
    SLICE_FLOATS = 1 << 24 /* of all slices' gradients, beyond one */
};

static int64_t size_of(xb_shape s) { return s.h * s.w * s.c; }
static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static xbc_window dense_window(const xb_layer *layer)
{
    return (xbc_window){1, 1, (int)layer->in.c, 1, 1, (int)layer->out.c, 1, 1, 1, 0, 0};
}

static xbc_window conv_window(const xb_window *w)
{
    return (xbc_window){(int)w->h,      (int)w->w,   (int)w->c,   (int)w->oh,
                        (int)w->ow,     (int)w->oc,  (int)w->kh,  (int)w->kw,
                        (int)w->stride, (int)w->top, (int)w->left};
}

xbc_linear xbc_linear_of(const xb_run *run, const xb_layer *layer, bool dense)
{
    const xb_tensor *t = &run->net->tensor[layer->tensor];
    bool bias = layer->tensors == 2;
    return (xbc_linear){
        .run = run,
        .layer = layer,
        .tensor = t,
        .tensors = layer->tensors,
        .bias = bias,
        .dense = dense,
        .win = dense ? dense_window(layer) : conv_window(&layer->window),
        .offset = t->offset,
        .size = t->size,
        .n = t->size + (bias ? t[1].size : 0),
        .in = size_of(layer->in),
        .out = size_of(layer->out),
        .cin = layer->in.c,
        .cout = layer->out.c,
        .mu = run->weights.mu ? run->weights.mu + t->offset : NULL,
        .sigma = run->weights.sigma ? run->weights.sigma + t->offset : NULL,
    };
}

/* ---- parts of a batch */

static int64_t pixels_of(const xbc_linear *op)
{
    const xbc_window *g = &op->win;
    return larger((int64_t)g->oh * g->ow, (int64_t)g->h * g->w);
}

static xbc_parts parts_of(const xbc_linear *op, int64_t rows)
{
    int64_t batch = op->run->batch;
    rows = larger(1, smaller(rows, MOST_COUNT / pixels_of(op)));
    return (xbc_parts){.rows = rows, .batch = batch, .count = quotient_up(batch, rows)};
}

xbc_parts xbc_whole(const xbc_linear *op) { return parts_of(op, op->run->batch); }

static int64_t slices_wanted(const xbc_linear *op)
{
    int64_t tiles = quotient_up(op->size / op->cout + 1, 64) * quotient_up(op->cout, 64);
    int64_t batch = op->run->batch, work = quotient_up(SLICE_WORK, op->out / op->cout);
    int64_t most = smaller(larger(1, SLICES / tiles), larger(1, SLICE_FLOATS / op->n));
    return larger(1, smaller(most, quotient_up(batch, work)));
}

xbc_parts xbc_slices(const xbc_linear *op)
{
    return parts_of(op, quotient_up(op->run->batch, slices_wanted(op)));
}

int64_t xbc_slices_most(const xbc_linear *op)
{
    return slices_wanted(op) + xbc_whole(op).count;
}

/* ---- noise */

xb_stream xbc_stream(const xb_run *run, uint32_t tensor)
{
    const xb_noise *n = &run->noise;
    uint32_t sample = n->antithetic ? n->sample & ~UINT32_C(1) : n->sample;
    return (xb_stream){n->key, run->first_tensor + tensor, sample, n->step};
}

bool xbc_negates(const xb_run *run)
{
    return run->noise.antithetic && run->noise.sample % 2;
}

void xbc_op_panels(const xbc_linear *op, float *z, float *theta, int64_t number,
                   int64_t count)
{
    const xbc_source source = xbc_source_of(op->run->noise.sampler);
    for (int i = 0; i < op->tensors; i++) {
        const xb_tensor *t = &op->tensor[i];
        int64_t at = t->offset - op->offset;
        const xbc_draws job = {.source = source,
                               .where =
                                   xbc_stream(op->run, (uint32_t)(op->layer->tensor + i)),
                               .first = number * t->size,
                               .count = count * t->size,
                               .size = t->size,
                               .stride = op->n,
                               .negate = xbc_negates(op->run),
                               .z = z ? z + at : NULL,
                               .theta = theta ? theta + at : NULL,
                               .mu = op->mu + at,
                               .sigma = op->sigma + at};
        if (t->stochastic)
            xbc_draw(&job);
        else if (theta)
            xbc_repeat(theta + at, op->mu + at, t->size, op->n, count);
    }
}

const float *xbc_biases(const xbc_linear *op, float *room, int64_t number, int64_t count)
{
    const xb_run *run = op->run;
    if (!op->bias) return NULL;
    const xb_tensor *t = &op->tensor[1];
    const xbc_draws job = {.source = xbc_source_of(run->noise.sampler),
                           .where = xbc_stream(run, (uint32_t)op->layer->tensor + 1),
                           .first = number * t->size,
                           .count = count * t->size,
                           .size = t->size,
                           .stride = t->size,
                           .negate = xbc_negates(run),
                           .theta = room,
                           .mu = op->mu + op->size,
                           .sigma = op->sigma + op->size};
    if (t->stochastic)
        xbc_draw(&job);
    else
        xbc_repeat(room, job.mu, t->size, t->size, count);
    return room;
}

void xbc_scaled(const xbc_linear *op, float *out, const float *factor)
{
    for (int i = 0; i < op->tensors; i++) {
        const xb_tensor *t = &op->tensor[i];
        int64_t at = t->offset - op->offset;
        if (t->stochastic)
            xbc_multiply(out + at, op->sigma + at, factor + at, t->size);
        else
            xbc_clear(out + at, (size_t)t->size * sizeof *out);
    }
}

void xbc_add_mu(const xbc_linear *op, const float *dw, int64_t count)
{
    xbc_add_parts(op->run->gradient.mu + op->offset, dw, op->n, NULL, 0, count, op->n, 1);
}

void xbc_add_sigma(const xbc_linear *op, const float *dw, const float *c, int64_t stride,
                   int64_t count, float factor)
{
    for (int i = 0; i < op->tensors; i++) {
        const xb_tensor *t = &op->tensor[i];
        int64_t at = t->offset - op->offset;
        if (t->stochastic)
            xbc_add_parts(op->run->gradient.sigma + t->offset, dw + at, op->n, c + at,
                          stride, count, t->size, factor);
    }
}

/* ---- products */

void xbc_by_weights(const xbc_linear *op, float *y, const float *x, const float *w)
{
    const xbc_parts parts = xbc_whole(op);
    xbc_forward(y, x, w, op->bias, &op->win, &parts);
}

void xbc_by_input(const xbc_linear *op, float *dx, const float *dy, const float *w)
{
    const xbc_parts parts = xbc_whole(op);
    xbc_backward_input(dx, dy, w, &op->win, &parts);
}

int64_t xbc_by_params(const xbc_linear *op, float *dw, const float *x, const float *dy)
{
    const xbc_parts parts = xbc_slices(op);
    xbc_backward_weight(dw, x, dy, op->bias, &op->win, &parts);
    return parts.count;
}

/* ---- the estimator `shared` (N8): theta [n], z [n], dw [slices][n] */

static bool is_random(const xbc_linear *op)
{
    return op->run->noise.sampler &&
           (op->tensor[0].stochastic || (op->bias && op->tensor[1].stochastic));
}

static int64_t shared_scratch(const xbc_linear *op)
{
    int64_t panels = (2 + (op->run->gradients ? xbc_slices_most(op) : 0)) * op->n;
    int64_t most =
        smaller(op->run->batch, XBC_GROUP_MOST); /* of this or a smaller batch */
    return larger(panels, xbc_grouped_can(op, most) ? xbc_grouped_scratch(op, most) : 0);
}

const float *xbc_shared_weights(const xbc_linear *op)
{
    if (!is_random(op)) return op->mu;
    xbc_op_panels(op, op->run->scratch + op->n, op->run->scratch, 0, 1);
    return op->run->scratch;
}

static void shared_forward(const xbc_linear *op, float *y, const float *x)
{
    int64_t batch = op->run->batch;
    if (is_random(op) && xbc_grouped_can(op, batch) &&
        xbc_grouped_forward_of(op, y, x, batch))
        return;
    xbc_by_weights(op, y, x, xbc_shared_weights(op));
}

static void shared_backward(const xbc_linear *op, float *dx, const float *dy,
                            const float *x)
{
    const float *w = xbc_shared_weights(op), *z = op->run->scratch + op->n;
    float *dw = op->run->scratch + 2 * op->n;
    int64_t count = xbc_by_params(op, dw, x, dy);
    xbc_add_mu(op, dw, count);
    if (w != op->mu) xbc_add_sigma(op, dw, z, 0, count, 1);
    if (dx) xbc_by_input(op, dx, dy, w);
}

const xbc_estimator xbc_shared = {
    .scratch = shared_scratch, .forward = shared_forward, .backward = shared_backward};

/* ---- the layers' operations */

static const xbc_estimator *const estimators[] = {
    [XB_ESTIMATOR_SHARED] = &xbc_shared,
    [XB_ESTIMATOR_EXAMPLE] = &xbc_example,
    [XB_ESTIMATOR_FLIPOUT] = &xbc_flipout,
    [XB_ESTIMATOR_LOCAL] = &xbc_local,
};

static const xbc_estimator *estimator_of(const xbc_linear *op)
{
    return is_random(op) ? estimators[op->run->estimator] : &xbc_shared;
}

static int64_t scratch_of(const xbc_linear *op)
{
    return larger(xbc_shared.scratch(op), estimators[op->run->estimator]->scratch(op));
}

static int64_t keep_of(const xbc_linear *op)
{
    const xbc_estimator *e = estimators[op->run->estimator];
    return e->keep ? e->keep(op) : 0;
}

#define LINEAR_LAYER(NAME, DENSE)                                                        \
    static int64_t NAME##_scratch(const xb_run *run, const xb_layer *layer)              \
    {                                                                                    \
        xbc_linear op = xbc_linear_of(run, layer, DENSE);                                \
        return scratch_of(&op);                                                          \
    }                                                                                    \
    static int64_t NAME##_keep(const xb_run *run, const xb_layer *layer)                 \
    {                                                                                    \
        xbc_linear op = xbc_linear_of(run, layer, DENSE);                                \
        return keep_of(&op);                                                             \
    }                                                                                    \
    static void NAME##_forward(const xb_run *run, const xb_layer *layer, xb_real *y,     \
                               const xb_real *x)                                         \
    {                                                                                    \
        xbc_linear op = xbc_linear_of(run, layer, DENSE);                                \
        XBC_INSIDE(estimator_of(&op)->forward(&op, y, x));                               \
    }                                                                                    \
    static void NAME##_backward(const xb_run *run, const xb_layer *layer, xb_real *dx,   \
                                const xb_real *dy, const xb_real *x, const xb_real *y)   \
    {                                                                                    \
        (void)y;                                                                         \
        xbc_linear op = xbc_linear_of(run, layer, DENSE);                                \
        XBC_INSIDE(estimator_of(&op)->backward(&op, dx, dy, x));                         \
    }                                                                                    \
    const xb_layer_ops xbc_##NAME = {.scratch = NAME##_scratch,                          \
                                     .keep = NAME##_keep,                                \
                                     .forward = NAME##_forward,                          \
                                     .backward = NAME##_backward};

LINEAR_LAYER(dense, true)
LINEAR_LAYER(conv, false)

/* (N7) All weights of a net, as many tensors at a time as a launch takes. */
static void draw_tensors(const xb_run *run, xb_real *theta)
{
    const xb_net *net = run->net;
    xbc_net_draw job = {.source = xbc_source_of(run->noise.sampler),
                        .where = xbc_stream(run, 0),
                        .negate = xbc_negates(run),
                        .theta = theta,
                        .mu = run->weights.mu,
                        .sigma = run->weights.sigma};
    for (int k = 0; k < net->n_tensor; k++) {
        const xb_tensor *t = &net->tensor[k];
        job.tensor[job.tensors++] = (xbc_tensor){.number = job.where.tensor + (uint32_t)k,
                                                 .stochastic = t->stochastic,
                                                 .offset = t->offset,
                                                 .size = t->size};
        if (job.tensors < XBC_TENSORS && k + 1 < net->n_tensor) continue;
        xbc_draw_net(&job);
        job.tensors = 0;
    }
}

void xbc_op_draw(const xb_run *run, xb_real *theta)
{
    XBC_INSIDE(draw_tensors(run, theta));
}

void xbc_op_stream(const xb_backend *b, const xb_sampler *sampler, xb_real *z,
                   int64_t count, const xb_stream *where, int64_t first)
{
    (void)b;
    xbc_draws job = {
        .where = *where, .first = first, .count = count, .size = count, .z = z};
    XBC_INSIDE(job.source = xbc_source_of(sampler); xbc_draw(&job));
}
