/* local.c: hidden layers under Gaussian weights, by local reparameterisation, and their
 * transformation to another law by its cumulants; maths A4-A6. kernel/moved_kernel.h does
 * this for one unit. No weights are drawn: the backend computes matrix products in its
 * own memory. */
#include "plan/local.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A step that neither shares.c nor predictions use. */
#define LOCAL_STEP (UINT32_MAX - 3)

/* ---- the steps */

static bool is_activation(const xb_layer *layer)
{
    return layer->kind->act != XB_ACT_NONE;
}

/* Room in the backend's block. */
static int64_t place(xb_local *l, int64_t n)
{
    int64_t at = l->n_block;
    l->n_block += n;
    return at;
}

static void place_dense(xb_local *l, xb_local_step *step)
{
    const xb_tensor *kernel = &l->net->tensor[step->layer->tensor], *bias = kernel + 1;
    bool has_bias = step->layer->tensors == 2;
    step->in = step->layer->in.c;
    step->mu = place(l, step->in * step->out);
    if (has_bias) step->bias = place(l, step->out);
    if (!kernel->stochastic && !(has_bias && bias->stochastic)) return;
    step->number = ++l->random;
    for (int n = 2; n <= XB_MOVED_ORDER; n++)
        if (xb_moved_wanted(&l->law, n))
            step->power[n] = place(l, step->in * step->out + step->out);
}

static xb_status place_step(xb_ctx *ctx, xb_local *l, int index)
{
    const xb_layer *layer = &l->net->layer[index];
    if (layer->kind == &xb_layer_flatten) return XB_OK;
    if (layer->kind != &xb_layer_dense && !is_activation(layer))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "layer %d of the net is %s: a plan takes nets of dense layers and "
                       "activations "
                       "only",
                       index + 1, layer->kind->name);
    xb_local_step *step = &l->step[l->steps++];
    *step = (xb_local_step){.layer = layer, .index = index, .mu = -1, .bias = -1};
    for (int n = 0; n <= XB_MOVED_ORDER; n++) step->power[n] = -1;
    step->out = xb_shape_size(layer->out);
    if (step->out > l->widest) l->widest = step->out;
    if (!is_activation(layer)) place_dense(l, step);
    return XB_OK;
}

/* sigma^n, 0 where a tensor is fixed. */
static void fill_power(xb_real *to, const xb_tensor *t, const xb_real *sigma, int n)
{
    for (int64_t i = 0; t->stochastic && i < t->size; i++)
        to[i] = (xb_real)pow((double)sigma[t->offset + i], n);
}

static void fill_step(xb_real *block, const xb_local *l, const xb_local_step *step,
                      const xb_weights *weights)
{
    if (step->mu < 0) return;
    const xb_tensor *kernel = &l->net->tensor[step->layer->tensor], *bias = kernel + 1;
    const size_t reals = sizeof *block;
    memcpy(block + step->mu, weights->mu + kernel->offset, (size_t)kernel->size * reals);
    if (step->bias >= 0)
        memcpy(block + step->bias, weights->mu + bias->offset,
               (size_t)bias->size * reals);
    for (int n = 2; n <= XB_MOVED_ORDER; n++) {
        if (step->power[n] < 0) continue;
        fill_power(block + step->power[n], kernel, weights->sigma, n);
        if (step->bias >= 0)
            fill_power(block + step->power[n] + kernel->size, bias, weights->sigma, n);
    }
}

/* Makes the tables on the host and copies them to the backend. */
static xb_status send_block(xb_ctx *ctx, xb_local *l, const xb_weights *weights)
{
    const xb_backend *b = l->backend;
    const int64_t bytes = l->n_block * (int64_t)sizeof(xb_real);
    xb_real *block = xb_new(ctx, l->n_block, sizeof *block);
    if (!block) return XB_E_MEMORY;
    for (int s = 0; s < l->steps; s++) fill_step(block, l, &l->step[s], weights);
    xb_status status = b->take(b, ctx, &l->block, bytes);
    if (status == XB_OK) b->put(b, l->block, block, bytes);
    free(block);
    return status;
}

/* ---- (A5) a unit of nearly one weight */

enum { BLEND_POINTS = 1024, BLEND_STEPS = 30 };
static const double BLEND_FEW = 0.8; /* where the kurtosis is that of the sum */

typedef struct blend_points {
    double e[BLEND_POINTS], z[BLEND_POINTS]; /* at the same u < 1/2, mean square 1 */
} blend_points;

/* Values at the middles of equal parts of [0, 1/2]; a symmetric law has no mean. */
static void lower_half(double *x, const xb_law *law)
{
    double square = 0;
    for (int i = 0; i < BLEND_POINTS; i++) {
        x[i] = xb_law_quantile(law, 0.5 * (i + 0.5) / BLEND_POINTS);
        square += x[i] * x[i] / BLEND_POINTS;
    }
    for (int i = 0; i < BLEND_POINTS; i++) x[i] /= sqrt(square);
}

static double blend_kurtosis(const blend_points *p, double part, double overlap)
{
    double fourth = 0;
    for (int i = 0; i < BLEND_POINTS; i++) {
        double x = xb_moved_blend(part, overlap, p->e[i], p->z[i]);
        fourth += x * x * x * x / BLEND_POINTS;
    }
    return fourth - 3;
}

/* The part whose kurtosis is BLEND_FEW of the law's. */
static double find_part(const blend_points *p, double overlap)
{
    const double none = blend_kurtosis(p, 0, overlap),
                 all = blend_kurtosis(p, 1, overlap);
    double low = 0, high = 1;
    for (int i = 0; i < BLEND_STEPS; i++) {
        const double part = 0.5 * (low + high);
        const double share = (blend_kurtosis(p, part, overlap) - none) / (all - none);
        *(share < BLEND_FEW ? &low : &high) = part;
    }
    return high;
}

static void make_blend(xb_moved_law *out, const xb_law *law, const xb_law *gaussian)
{
    blend_points p;
    lower_half(p.e, gaussian);
    lower_half(p.z, law);
    out->blend_overlap = 0;
    for (int i = 0; i < BLEND_POINTS; i++)
        out->blend_overlap += p.e[i] * p.z[i] / BLEND_POINTS;
    out->blend_power = log(find_part(&p, out->blend_overlap)) / log(BLEND_FEW);
}

static xb_status make_samplers(xb_ctx *ctx, xb_local *l, const xb_law *law)
{
    xb_law *gaussian = NULL;
    XB_TRY(xb_law_parse(ctx, &gaussian, "gaussian"));
    if (l->law.symmetric) make_blend(&l->law, law, gaussian);
    xb_status status = xb_sampler_create(ctx, &l->gaussian, gaussian, NULL);
    if (status == XB_OK) status = xb_sampler_create(ctx, &l->sampler, law, NULL);
    xb_law_destroy(gaussian);
    return status;
}

static xb_status choose_backend(xb_ctx *ctx, xb_local *l, const char *name)
{
    XB_TRY(xb_backend_open(ctx, &l->backend, name));
    l->kernels = xb_kernels_find(xb_backend_chosen(ctx, name));
    if (l->backend->moved) return XB_OK;
    l->kernels = xb_kernels_find(NULL);
    return xb_backend_open(ctx, &l->backend, "cpu");
}

static xb_status fill(xb_ctx *ctx, xb_local *l, const xb_weights *weights,
                      const xb_law *law, const char *backend)
{
    XB_TRY(choose_backend(ctx, l, backend));
    l->step = xb_new(ctx, l->net->n_layer, sizeof *l->step);
    if (!l->step) return XB_E_MEMORY;
    for (int i = 0; i + 1 < l->net->n_layer; i++) XB_TRY(place_step(ctx, l, i));
    XB_TRY(send_block(ctx, l, weights));
    return make_samplers(ctx, l, law);
}

xb_status xb_local_make(xb_ctx *ctx, xb_local *out, const xb_net *net,
                        const xb_weights *weights, const xb_real *x, const xb_law *law,
                        const xb_charfn *charfn, uint64_t seed, const char *backend)
{
    xb_local l = {.net = net,
                  .input = xb_shape_size(net->input),
                  .width = xb_shape_size(net->layer[net->n_layer - 1].in),
                  .widest = xb_shape_size(net->input),
                  .x = x,
                  .law = {.symmetric = charfn->symmetric},
                  .key = xb_key_make(seed, XB_PURPOSE_WEIGHT)};
    double factorial = 1;
    l.moments = isfinite(xb_law_raw_moment(law, XB_MOVED_ORDER));
    for (int n = 1; n <= XB_MOVED_ORDER; n++)
        l.law.cumulant[n] = charfn->series[n] * (factorial *= n);
    xb_status status = fill(ctx, &l, weights, law, backend);
    if (status == XB_OK)
        *out = l;
    else
        xb_local_free(&l);
    return status;
}

void xb_local_free(xb_local *l)
{
    if (l->backend) l->backend->release(l->backend, l->block);
    free(l->step);
    xb_sampler_destroy(l->gaussian);
    xb_sampler_destroy(l->sampler);
    *l = (xb_local){0};
}

/* ---- drawing */

typedef struct local_run {
    const xb_local *local;
    xb_ctx *ctx;
    xb_run run;
    void *memory;                     /* the backend's: all of the below but `seen` */
    xb_real *x;                       /* [XB_HIDDEN_BATCH][input] */
    xb_real *h, *next, *raised;       /* [XB_HIDDEN_BATCH][widest] */
    xb_real *e, *z;                   /* the same: Gaussian and the law, of one word */
    xb_real *sum[XB_MOVED_ORDER + 1]; /* the same: power sums of the terms */
    xb_real *seen[2];                 /* the same, the host's: what is read from there */
} local_run;

static void close_run(void *arg)
{
    local_run *run = arg;
    if (!run) return;
    run->local->backend->release(run->local->backend, run->memory);
    xb_ctx_destroy(run->ctx);
    free(run->seen[0]);
    free(run);
}

/* Copies the input to every row. */
static void send_input(local_run *run, xb_real *room)
{
    const xb_local *l = run->local;
    for (int64_t i = 0; i < XB_HIDDEN_BATCH; i++)
        memcpy(room + i * l->input, l->x, (size_t)l->input * sizeof *room);
    l->backend->put(l->backend, run->x, room,
                    XB_HIDDEN_BATCH * l->input * (int64_t)sizeof *room);
}

static xb_status fill_run(local_run *run)
{
    const xb_local *l = run->local;
    const int64_t each = XB_HIDDEN_BATCH * l->widest;
    const int64_t bytes = (6 + XB_MOVED_ORDER + 1) * each * (int64_t)sizeof(xb_real);
    if (xb_ctx_create(&run->ctx) != XB_OK) return XB_E_MEMORY;
    xb_ctx_set_threads(run->ctx, 1);
    run->run = (xb_run){.ctx = run->ctx,
                        .net = l->net,
                        .backend = l->backend,
                        .kernels = l->kernels,
                        .mode = XB_MODE_PREDICT};
    run->seen[0] = xb_new(run->ctx, 2 * each, sizeof *run->seen[0]);
    if (!run->seen[0]) return XB_E_MEMORY;
    run->seen[1] = run->seen[0] + each;
    XB_TRY(l->backend->take(l->backend, run->ctx, &run->memory, bytes));
    run->x = run->memory;
    run->h = run->x + each;
    run->next = run->h + each;
    run->raised = run->next + each;
    run->e = run->raised + each;
    run->z = run->e + each;
    for (int n = 0; n <= XB_MOVED_ORDER; n++) run->sum[n] = run->z + (n + 1) * each;
    send_input(run, run->seen[0]);
    return XB_OK;
}

static xb_status open_run(void **out, const void *self)
{
    local_run *run = xb_new(NULL, 1, sizeof *run);
    if (!run) return XB_E_MEMORY;
    run->local = self;
    xb_status status = fill_run(run);
    if (status == XB_OK)
        *out = run;
    else
        close_run(run);
    return status;
}

static bool has_law(const xb_local_step *step, int law)
{
    return law == XB_LOCAL_ALL || law == XB_LOCAL_LAST + step->number;
}

static void run_dense(local_run *run, const xb_local_step *step, int law, int block,
                      int64_t first, int64_t count)
{
    const xb_local *l = run->local;
    const xb_real *table = l->block;
    xb_moved_block m = {
        .in = step->in,
        .out = step->out,
        .count = count,
        .mu = table + step->mu,
        .bias = step->bias >= 0 ? table + step->bias : NULL,
        .random = step->number > 0,
        .moved = has_law(step, law),
        .law = &l->law,
        .gaussian = l->gaussian,
        .sampler = l->sampler,
        .where = {l->key, (uint32_t)step->index, (uint32_t)block, LOCAL_STEP},
        .first = first,
        .raised = run->raised,
        .e = run->e,
        .z = run->z};
    for (int n = 0; n <= XB_MOVED_ORDER; n++) {
        m.power[n] = step->power[n] >= 0 ? table + step->power[n] : NULL;
        m.sum[n] = run->sum[n];
    }
    l->backend->moved(&run->run, &m, run->next, run->h);
    xb_real *swap = run->h;
    run->h = run->next, run->next = swap;
}

static void run_step(local_run *run, const xb_local_step *step, int law, int block,
                     int64_t first, int64_t count)
{
    run->run.batch = count;
    if (is_activation(step->layer))
        run->local->backend->activation->forward(&run->run, step->layer, run->h, run->h);
    else
        run_dense(run, step, law, block, first, count);
}

static void start(local_run *run, int64_t count)
{
    const xb_backend *b = run->local->backend;
    b->copy(b, run->h, run->x, count * run->local->input * (int64_t)sizeof *run->h);
}

/* The contents of a buffer, where the host can read them. */
static const xb_real *seen(const local_run *run, const xb_real *buffer, int64_t n,
                           int where)
{
    return xb_host_got(run->local->backend, buffer, run->seen[where],
                       n * (int64_t)sizeof *buffer);
}

static xb_status draw(void *arg, const xb_real **h, int law, int block, int64_t first,
                      int64_t count)
{
    local_run *run = arg;
    const xb_local *l = run->local;
    start(run, count);
    for (int s = 0; s < l->steps; s++)
        run_step(run, &l->step[s], law, block, first, count);
    *h = seen(run, run->h, count * l->width, 0);
    return xb_backend_check(l->backend, run->ctx);
}

static bool doubtful(const xb_moved_law *law, xb_real second, xb_real fourth)
{
    double weight = xb_moved_few((double)second, (double)fourth);
    return weight > XB_MOVED_SEVERAL &&
           weight <= (xb_moved_steep(law) ? XB_MOVED_ONE_STEEP : XB_MOVED_ONE);
}

static double doubtful_share(const local_run *run, int64_t units)
{
    const xb_real *second = seen(run, run->sum[2], units, 0),
                  *fourth = seen(run, run->sum[4], units, 1);
    int64_t found = 0;
    for (int64_t at = 0; at < units; at++)
        found += doubtful(&run->local->law, second[at], fourth[at]);
    return (double)found / (double)units;
}

xb_status xb_local_doubtful(double *share, const xb_local *l)
{
    void *room = NULL;
    XB_TRY(open_run(&room, l));
    local_run *run = room;
    start(run, XB_HIDDEN_BATCH);
    for (int s = 0; s < l->steps; s++) {
        const xb_local_step *step = &l->step[s];
        run_step(run, step, XB_LOCAL_ALL, 0, 0, XB_HIDDEN_BATCH);
        if (step->number > 0)
            share[step->number - 1] = doubtful_share(run, XB_HIDDEN_BATCH * step->out);
    }
    xb_status status = xb_backend_check(l->backend, run->ctx);
    close_run(run);
    return status;
}

xb_hidden_source xb_local_source_of(const xb_local *l)
{
    return (xb_hidden_source){
        .self = l, .width = l->width, .open = open_run, .close = close_run, .draw = draw};
}
