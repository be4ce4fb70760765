/* local.c: hidden layers under Gaussian weights, by local reparameterisation, and the
 * change of measure to another law; maths A4-A6.
 *
 * Given the layer below, the units of a dense layer are independent, each a sum of
 * scaled draws. Under Gaussian weights unit i is N(m_i, s_i^2); under another law its
 * density is that times 1 + sum of c_n He_n(e_i), with c_n from the law's cumulants and
 * the power sums of the terms (Gram and Charlier's series, to order 8). To first order
 * in the units the whole layer's weight is the sum of theirs. No draw of the law is
 * needed, and none of single weights: matrix products do it. */
#include "plan/local.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Beside shares.c's and those of predictions. */
#define LOCAL_STEP (UINT32_MAX - 3)

/* ---- the steps */

static const xb_activation_kernel *activation_of(const xb_backend *b,
                                                 const xb_layer_kind *kind)
{
    if (kind == &xb_layer_elu) return &b->elu;
    if (kind == &xb_layer_relu) return &b->relu;
    if (kind == &xb_layer_tanh) return &b->tanh;
    return kind == &xb_layer_sigmoid ? &b->sigmoid : NULL;
}

/* How many orders a layer of this width is worth. */
static int order_of(int64_t width)
{
    const int64_t narrow = 8, medium = 32;
    return width <= narrow ? XB_LOCAL_ORDER : width <= medium ? 6 : 4;
}

static bool wanted(const xb_local *l, const xb_local_step *step, int n)
{
    return n <= step->order && (!l->symmetric || n % 2 == 0);
}

/* sigma^n, 0 where a tensor is fixed. */
static void fill_power(xb_real *to, const xb_tensor *t, const xb_real *sigma, int n)
{
    for (int64_t i = 0; t->stochastic && i < t->size; i++)
        to[i] = (xb_real)pow((double)sigma[t->offset + i], n);
}

static xb_status make_dense(xb_ctx *ctx, xb_local *l, xb_local_step *step,
                            const xb_net *net, const xb_layer *layer,
                            const xb_weights *weights)
{
    const xb_tensor *kernel = &net->tensor[layer->tensor], *bias = kernel + 1;
    bool has_bias = layer->tensors == 2;
    step->in = layer->in.c, step->out = layer->out.c;
    step->mu = weights->mu + kernel->offset;
    step->bias = has_bias ? weights->mu + bias->offset : NULL;
    if (!kernel->stochastic && !(has_bias && bias->stochastic)) return XB_OK;
    step->column = l->columns++;
    step->order = order_of(step->out);
    for (int n = 2; n <= XB_LOCAL_ORDER; n++) {
        if (!wanted(l, step, n)) continue;
        step->power[n] =
            xb_new(ctx, step->in * step->out + step->out, sizeof *step->power[n]);
        if (!step->power[n]) return XB_E_MEMORY;
        fill_power(step->power[n], kernel, weights->sigma, n);
        if (has_bias)
            fill_power(step->power[n] + step->in * step->out, bias, weights->sigma, n);
    }
    return XB_OK;
}

static xb_status make_step(xb_ctx *ctx, xb_local *l, const xb_net *net, int index,
                           const xb_weights *weights)
{
    const xb_layer *layer = &net->layer[index];
    if (layer->kind == &xb_layer_flatten) return XB_OK;
    xb_local_step *step = &l->step[l->steps];
    step->layer = index;
    step->out = xb_shape_size(layer->out);
    step->activation = activation_of(l->backend, layer->kind);
    if (layer->kind != &xb_layer_dense && !step->activation)
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "layer %d of '%s' is %s: a plan reads dense layers and activations",
            index + 1, net->text, layer->kind->name);
    l->steps++;
    if (step->out > l->widest) l->widest = step->out;
    return step->activation ? XB_OK : make_dense(ctx, l, step, net, layer, weights);
}

static xb_status make_sampler(xb_ctx *ctx, xb_local *l)
{
    xb_law *gaussian = NULL;
    XB_TRY(xb_law_parse(ctx, &gaussian, "gaussian"));
    xb_status status = xb_sampler_create(ctx, &l->sampler, gaussian, NULL);
    xb_law_destroy(gaussian);
    return status;
}

static xb_status fill(xb_ctx *ctx, xb_local *l, const xb_net *net,
                      const xb_weights *weights)
{
    l->step = xb_new(ctx, net->n_layer, sizeof *l->step);
    if (!l->step) return XB_E_MEMORY;
    for (int i = 0; i + 1 < net->n_layer; i++) XB_TRY(make_step(ctx, l, net, i, weights));
    return make_sampler(ctx, l);
}

xb_status xb_local_make(xb_ctx *ctx, xb_local *out, const xb_net *net,
                        const xb_weights *weights, const xb_real *x, const xb_charfn *law,
                        uint64_t seed, const char *backend)
{
    xb_local l = {.columns = 1,
                  .input = xb_shape_size(net->input),
                  .width = xb_shape_size(net->layer[net->n_layer - 1].in),
                  .widest = xb_shape_size(net->input),
                  .x = x,
                  .symmetric = law->symmetric,
                  .backend = xb_backend_find(backend),
                  .key = xb_key_make(seed, XB_PURPOSE_WEIGHT)};
    double factorial = 1;
    for (int n = 1; n <= XB_LOCAL_ORDER; n++)
        l.cumulant[n] = law->series[n] * (factorial *= n);
    if (!l.backend)
        return xb_fail(ctx, XB_E_ARGUMENT, "there is no backend '%s' on this machine",
                       backend);
    xb_status status = fill(ctx, &l, net, weights);
    if (status == XB_OK)
        *out = l;
    else
        xb_local_free(&l);
    return status;
}

void xb_local_free(xb_local *l)
{
    for (int i = 0; l->step && i < l->steps; i++)
        for (int n = 0; n <= XB_LOCAL_ORDER; n++) free(l->step[i].power[n]);
    free(l->step);
    xb_sampler_destroy(l->sampler);
    *l = (xb_local){0};
}

/* ---- drawing */

typedef struct local_run {
    const xb_local *local;
    int block; /* of the batch that is there; -1: none */
    int64_t first, count;
    xb_real *memory;
    xb_real *h, *next, *raised, *e;   /* [XB_HIDDEN_BATCH][widest] */
    xb_real *sum[XB_LOCAL_ORDER + 1]; /* the same: power sums of the terms */
    double *weight;                   /* [XB_HIDDEN_BATCH][columns] */
} local_run;

static void close_run(void *arg)
{
    local_run *run = arg;
    if (!run) return;
    free(run->memory);
    free(run->weight);
    free(run);
}

static xb_status open_run(void **out, const void *self)
{
    const xb_local *l = self;
    local_run *run = xb_new(NULL, 1, sizeof *run);
    if (!run) return XB_E_MEMORY;
    int64_t each = XB_HIDDEN_BATCH * l->widest;
    run->local = l, run->block = -1;
    run->memory = xb_new(NULL, (4 + XB_LOCAL_ORDER + 1) * each, sizeof *run->memory);
    run->weight = xb_new(NULL, XB_HIDDEN_BATCH * l->columns, sizeof *run->weight);
    if (!run->memory || !run->weight) {
        close_run(run);
        return XB_E_MEMORY;
    }
    run->h = run->memory;
    run->next = run->h + each;
    run->raised = run->next + each;
    run->e = run->raised + each;
    for (int n = 0; n <= XB_LOCAL_ORDER; n++) run->sum[n] = run->e + (n + 1) * each;
    *out = run;
    return XB_OK;
}

/* (A5) c_n He_n(e) summed, for a sum whose cumulants are k[n]. */
static double change_of_measure(const double *k, double e, int order)
{
    const double c[XB_LOCAL_ORDER + 1] = {
        [3] = k[3] / 6,
        [4] = k[4] / 24,
        [5] = k[5] / 120,
        [6] = (k[6] + 10 * k[3] * k[3]) / 720,
        [7] = (k[7] + 35 * k[3] * k[4]) / 5040,
        [8] = (k[8] + 56 * k[3] * k[5] + 35 * k[4] * k[4]) / 40320,
    };
    double sum = 0, last = 1, he = e;
    for (int n = 1; n < order; n++) {
        double next = e * he - n * last;
        last = he, he = next;
        sum += c[n + 1] * he;
    }
    return sum;
}

/* (A4) The standardised cumulants of one unit: the law's times sum a^n / s^n. */
static double unit_weight(const local_run *run, const xb_local_step *step, int64_t at,
                          double sd)
{
    const xb_local *l = run->local;
    double k[XB_LOCAL_ORDER + 1] = {0}, scale = 1 / (sd * sd);
    for (int n = 3; n <= step->order; n++) {
        scale /= sd;
        if (wanted(l, step, n)) k[n] = l->cumulant[n] * (double)run->sum[n][at] * scale;
    }
    return change_of_measure(k, (double)run->e[at], step->order);
}

static void sum_powers(local_run *run, const xb_local_step *step, int64_t count)
{
    const xb_backend *b = run->local->backend;
    int64_t n_in = count * step->in;
    memcpy(run->raised, run->h, (size_t)n_in * sizeof *run->raised);
    for (int n = 2; n <= step->order; n++) {
        for (int64_t i = 0; i < n_in; i++) run->raised[i] *= run->h[i];
        if (wanted(run->local, step, n))
            b->dense_forward(run->sum[n], run->raised, step->power[n],
                             step->power[n] + step->in * step->out, count, step->in,
                             step->out, XB_ACT_NONE);
    }
}

/* A random layer: its outputs, and its column of weights. */
static void add_noise(local_run *run, const xb_local_step *step, int64_t first,
                      int64_t count)
{
    const xb_local *l = run->local;
    const xb_stream where = {l->key, (uint32_t)step->layer, (uint32_t)run->block,
                             LOCAL_STEP};
    sum_powers(run, step, count);
    xb_sampler_fill(l->sampler, run->e, count * step->out, &where, first * step->out);
    for (int64_t i = 0; i < count; i++) {
        double weight = 0;
        for (int64_t at = i * step->out; at < (i + 1) * step->out; at++) {
            double sd = sqrt((double)run->sum[2][at]);
            run->next[at] += (xb_real)(sd * (double)run->e[at]);
            if (sd > 0) weight += unit_weight(run, step, at, sd);
        }
        run->weight[i * l->columns + step->column] = weight;
    }
}

static void run_step(local_run *run, const xb_local_step *step, int64_t first,
                     int64_t count)
{
    const xb_backend *b = run->local->backend;
    if (step->activation) {
        step->activation->forward(run->h, run->h, count * step->out);
        return;
    }
    b->dense_forward(run->next, run->h, step->mu, step->bias, count, step->in, step->out,
                     XB_ACT_NONE);
    if (step->column > 0) add_noise(run, step, first, count);
    xb_real *swap = run->h;
    run->h = run->next, run->next = swap;
}

static xb_status draw(void *arg, const xb_real **h, const double **weight, int law,
                      int block, int64_t first, int64_t count)
{
    local_run *run = arg;
    const xb_local *l = run->local;
    (void)law;
    *h = run->h, *weight = run->weight;
    if (run->block == block && run->first == first && run->count == count) return XB_OK;
    run->block = block, run->first = first, run->count = count;
    for (int64_t i = 0; i < count; i++) {
        memcpy(run->h + i * l->input, l->x, (size_t)l->input * sizeof *run->h);
        run->weight[i * l->columns] = 1;
    }
    for (int s = 0; s < l->steps; s++) run_step(run, &l->step[s], first, count);
    *h = run->h;
    return XB_OK;
}

xb_hidden_source xb_local_source_of(const xb_local *l)
{
    return (xb_hidden_source){.self = l,
                              .width = l->width,
                              .columns = l->columns,
                              .open = open_run,
                              .close = close_run,
                              .draw = draw};
}
