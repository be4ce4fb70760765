/* local.c: hidden layers under Gaussian weights, by local reparameterisation, and moved
 * to where another law's cumulants put them; maths A4-A6.
 *
 * Given the layer below, the units of a dense layer are independent, each a sum of
 * scaled draws. Under Gaussian weights unit i is N(m_i, s_i^2); under another law it is,
 * up to the sixth cumulant, m_i + s_i x(e_i) with x the polynomial of Cornish and Fisher
 * (1937) and e_i the same Gaussian number: what differs is the law alone, so differences
 * have little noise. Where one weight is as good as all of a unit, x is the law's own
 * quantile. No weights are drawn: matrix products do it. */
#include "plan/local.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Beside shares.c's and those of predictions. */
#define LOCAL_STEP (UINT32_MAX - 3)

/* ---- the steps */

static const xb_activation_kernel *activation_of(const xb_kernels *b,
                                                 const xb_layer_kind *kind)
{
    if (kind == &xb_layer_elu) return &b->elu;
    if (kind == &xb_layer_relu) return &b->relu;
    if (kind == &xb_layer_tanh) return &b->tanh;
    return kind == &xb_layer_sigmoid ? &b->sigmoid : NULL;
}

static bool wanted(const xb_local *l, int n) { return !l->symmetric || n % 2 == 0; }

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
    step->number = ++l->random;
    for (int n = 2; n <= XB_LOCAL_ORDER; n++) {
        if (!wanted(l, n)) continue;
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
    step->activation = activation_of(l->kernels, layer->kind);
    if (layer->kind != &xb_layer_dense && !step->activation)
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "layer %d of '%s' is %s: a plan reads dense layers and activations",
            index + 1, net->text, layer->kind->name);
    l->steps++;
    if (step->out > l->widest) l->widest = step->out;
    return step->activation ? XB_OK : make_dense(ctx, l, step, net, layer, weights);
}

static xb_status make_samplers(xb_ctx *ctx, xb_local *l, const xb_law *law)
{
    xb_law *gaussian = NULL;
    XB_TRY(xb_law_parse(ctx, &gaussian, "gaussian"));
    xb_status status = xb_sampler_create(ctx, &l->gaussian, gaussian, NULL);
    if (status == XB_OK) status = xb_sampler_create(ctx, &l->law, law, NULL);
    xb_law_destroy(gaussian);
    return status;
}

static xb_status fill(xb_ctx *ctx, xb_local *l, const xb_net *net,
                      const xb_weights *weights, const xb_law *law)
{
    l->step = xb_new(ctx, net->n_layer, sizeof *l->step);
    if (!l->step) return XB_E_MEMORY;
    for (int i = 0; i + 1 < net->n_layer; i++) XB_TRY(make_step(ctx, l, net, i, weights));
    return make_samplers(ctx, l, law);
}

xb_status xb_local_make(xb_ctx *ctx, xb_local *out, const xb_net *net,
                        const xb_weights *weights, const xb_real *x, const xb_law *law,
                        const xb_charfn *charfn, uint64_t seed, const char *backend)
{
    xb_local l = {.input = xb_shape_size(net->input),
                  .width = xb_shape_size(net->layer[net->n_layer - 1].in),
                  .widest = xb_shape_size(net->input),
                  .x = x,
                  .symmetric = charfn->symmetric,
                  .kernels = xb_kernels_find(backend),
                  .key = xb_key_make(seed, XB_PURPOSE_WEIGHT)};
    if (!l.kernels)
        l.kernels = xb_kernels_find(NULL); /* a module's nets; here the host */
    double factorial = 1;
    l.moments = isfinite(xb_law_raw_moment(law, XB_LOCAL_ORDER));
    for (int n = 1; n <= XB_LOCAL_ORDER; n++)
        l.cumulant[n] = charfn->series[n] * (factorial *= n);
    xb_status status = fill(ctx, &l, net, weights, law);
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
    xb_sampler_destroy(l->gaussian);
    xb_sampler_destroy(l->law);
    *l = (xb_local){0};
}

/* ---- drawing */

typedef struct local_run {
    const xb_local *local;
    xb_real *memory;
    xb_real *h, *next, *raised;       /* [XB_HIDDEN_BATCH][widest] */
    xb_real *e, *z;                   /* the same: Gaussian and the law, of one word */
    xb_real *sum[XB_LOCAL_ORDER + 1]; /* the same: power sums of the terms */
} local_run;

static void close_run(void *arg)
{
    local_run *run = arg;
    if (!run) return;
    free(run->memory);
    free(run);
}

static xb_status open_run(void **out, const void *self)
{
    const xb_local *l = self;
    local_run *run = xb_new(NULL, 1, sizeof *run);
    if (!run) return XB_E_MEMORY;
    int64_t each = XB_HIDDEN_BATCH * l->widest;
    run->local = l;
    run->memory = xb_new(NULL, (5 + XB_LOCAL_ORDER + 1) * each, sizeof *run->memory);
    if (!run->memory) {
        close_run(run);
        return XB_E_MEMORY;
    }
    run->h = run->memory;
    run->next = run->h + each;
    run->raised = run->next + each;
    run->e = run->raised + each;
    run->z = run->e + each;
    for (int n = 0; n <= XB_LOCAL_ORDER; n++) run->sum[n] = run->z + (n + 1) * each;
    *out = run;
    return XB_OK;
}

/* (A5) Coefficients of He_1 .. He_5, from standardised cumulants k[3..6]. Where these are
 * large the higher orders diverge, and two are better than four. */
static void cornish_fisher(double b[6], const double *k)
{
    const double calm_skewness = 0.5, calm_kurtosis = 1.5;
    double s = k[3], ss = s * s;
    b[1] = 1 - ss / 36, b[2] = s / 6, b[3] = k[4] / 24 - ss / 18, b[4] = b[5] = 0;
    if (fabs(s) > calm_skewness || fabs(k[4]) > calm_kurtosis) return;
    b[1] += -k[4] * k[4] / 192 + ss * k[4] / 36 - 227 * ss * ss / 7776;
    b[2] += -s * k[4] / 24 + 19 * s * ss / 324;
    b[3] += -k[4] * k[4] / 64 - s * k[5] / 60 + 37 * ss * k[4] / 288 - 26 * ss * ss / 243;
    b[4] += k[5] / 120 - s * k[4] / 24 + s * ss / 27;
    b[5] += k[6] / 720 - k[4] * k[4] / 128 - s * k[5] / 90 + 7 * ss * k[4] / 144 -
            7 * ss * ss / 216;
}

/* (A5) x(e), divided by its own standard deviation: sum of n! b_n^2. */
static double moved(const double *k, double e)
{
    double b[6], sum = 0, variance = 0, last = 1, he = e, factorial = 1;
    cornish_fisher(b, k);
    for (int n = 1; n <= 5; n++) {
        sum += b[n] * he;
        variance += (factorial *= n) * b[n] * b[n];
        double next = e * he - n * last;
        last = he, he = next;
    }
    return sum / sqrt(variance);
}

/* Sum a^4 / s^4: 1 for one weight, 1/n for n equal ones. */
static const double ONE = 0.7, SEVERAL = 0.2;
/* A skewed law's steep side is rounded off by the smallest further weight: one weight is
 * as good as all of a unit, to be trusted, only from here on. */
static const double ONE_SKEWED = 0.95;

static double few(const local_run *run, int64_t at)
{
    double second = (double)run->sum[2][at];
    return second > 0 ? (double)run->sum[4][at] / (second * second) : 0;
}

/* (A5) -1 where the unit's third cumulant has the other sign than the law's: the weight
 * that makes it is multiplied by a negative number, which mirrors its noise. Gaussian
 * units take the same side, so that both laws still move together. */
static double side(const local_run *run, int64_t at)
{
    return !run->local->symmetric && run->sum[3][at] < 0 ? -1 : 1;
}

/* (A4) The standardised cumulants of one unit: the law's times sum a^n / s^n. */
static double moved_unit(const local_run *run, int64_t at, double sd)
{
    const xb_local *l = run->local;
    double k[XB_LOCAL_ORDER + 1] = {0}, scale = 1 / (sd * sd);
    if (few(run, at) > ONE) return side(run, at) * (double)run->z[at];
    for (int n = 3; n <= XB_LOCAL_ORDER; n++) {
        scale /= sd;
        if (wanted(l, n)) k[n] = l->cumulant[n] * (double)run->sum[n][at] * scale;
    }
    return moved(k, side(run, at) * (double)run->e[at]);
}

/* Power sums of the terms, up to the `most`-th. */
static void sum_powers(local_run *run, const xb_local_step *step, int64_t count, int most)
{
    int64_t n_in = count * step->in;
    memcpy(run->raised, run->h, (size_t)n_in * sizeof *run->raised);
    for (int n = 2; n <= most; n++) {
        for (int64_t i = 0; i < n_in; i++) run->raised[i] *= run->h[i];
        if (wanted(run->local, n))
            run->local->kernels->dense_forward(run->sum[n], run->raised, step->power[n],
                                               step->power[n] + step->in * step->out,
                                               count, step->in, step->out, XB_ACT_NONE);
    }
}

/* A random layer: Gaussian, or with the law. */
static void add_noise(local_run *run, const xb_local_step *step, bool law, int block,
                      int64_t first, int64_t count)
{
    const xb_local *l = run->local;
    const xb_stream where = {l->key, (uint32_t)step->layer, (uint32_t)block, LOCAL_STEP};
    sum_powers(run, step, count, law ? XB_LOCAL_ORDER : 3);
    xb_sampler_fill(l->gaussian, run->e, count * step->out, &where, first * step->out);
    if (law)
        xb_sampler_fill(l->law, run->z, count * step->out, &where, first * step->out);
    for (int64_t at = 0; at < count * step->out; at++) {
        double sd = sqrt((double)run->sum[2][at]);
        double e =
            law && sd > 0 ? moved_unit(run, at, sd) : side(run, at) * (double)run->e[at];
        run->next[at] += (xb_real)(sd * e);
    }
}

static bool has_law(const xb_local_step *step, int law)
{
    return law == XB_LOCAL_ALL || law == XB_LOCAL_LAST + step->number;
}

static void run_step(local_run *run, const xb_local_step *step, int law, int block,
                     int64_t first, int64_t count)
{
    if (step->activation) {
        step->activation->forward(run->h, run->h, count * step->out);
        return;
    }
    run->local->kernels->dense_forward(run->next, run->h, step->mu, step->bias, count,
                                       step->in, step->out, XB_ACT_NONE);
    if (step->number > 0) add_noise(run, step, has_law(step, law), block, first, count);
    xb_real *swap = run->h;
    run->h = run->next, run->next = swap;
}

static xb_status draw(void *arg, const xb_real **h, int law, int block, int64_t first,
                      int64_t count)
{
    local_run *run = arg;
    const xb_local *l = run->local;
    for (int64_t i = 0; i < count; i++)
        memcpy(run->h + i * l->input, l->x, (size_t)l->input * sizeof *run->h);
    for (int s = 0; s < l->steps; s++)
        run_step(run, &l->step[s], law, block, first, count);
    *h = run->h;
    return XB_OK;
}

static bool doubtful(const local_run *run, int64_t at)
{
    double weight = few(run, at);
    return weight > SEVERAL && weight <= (run->local->symmetric ? ONE : ONE_SKEWED);
}

xb_status xb_local_doubtful(double *share, const xb_local *l)
{
    void *room = NULL;
    XB_TRY(open_run(&room, l));
    local_run *run = room;
    for (int64_t i = 0; i < XB_HIDDEN_BATCH; i++)
        memcpy(run->h + i * l->input, l->x, (size_t)l->input * sizeof *run->h);
    for (int s = 0; s < l->steps; s++) {
        const xb_local_step *step = &l->step[s];
        int64_t units = XB_HIDDEN_BATCH * step->out, found = 0;
        run_step(run, step, XB_LOCAL_ALL, 0, 0, XB_HIDDEN_BATCH);
        if (step->number == 0) continue;
        for (int64_t at = 0; at < units; at++) found += doubtful(run, at);
        share[step->number - 1] = (double)found / (double)units;
    }
    close_run(run);
    return XB_OK;
}

xb_hidden_source xb_local_source_of(const xb_local *l)
{
    return (xb_hidden_source){
        .self = l, .width = l->width, .open = open_run, .close = close_run, .draw = draw};
}
