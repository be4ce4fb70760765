/* chain.c: forward, loss and backward through a small net of dense layers as one call;
 * maths N1, N7, N8, N11.
 *
 * It does what the layers do one by one with estimators `shared` and `local`, without the
 * overhead around each of them (pieces, operations, estimators behind pointers), and
 * noise is drawn once: it stays in the pass's scratch from the way forward to the way
 * back and does not outlive the call. Both matter only where a layer's arithmetic takes a
 * microsecond, so a chain is a net whose layers are not worth a second thread and whose
 * noise fits in the cache; everything else goes layer by layer (pass.c). Each number is
 * the one the layers find, with `local` but for the rounding of e / sqrt(v), which is
 * found on the way forward. A pass without gradients goes forward here too where its
 * weights are as they are: a prediction's, drawn before.
 *
 * Measured: layer by layer a step of the scalar net (16, 16) takes 13 % longer with
 * `shared` and 36 % with `local`.
 *
 * Scratch: theta [p] and z [p] (shared) or sigma^2 [p] (local), dw [p]; local besides
 * ds [p], over the batch x^2 and e of all links, and room for one at a time. */
#include "backend/chain.h"

#include <string.h>

enum { NOISE_MOST = 1 << 14 }; /* draws: 64 KiB */

static int64_t units_of(const xb_chain *chain)
{
    int64_t sum = 0;
    for (int i = 0; i < chain->n_link; i++) sum += chain->link[i].out;
    return sum;
}

bool xb_chain_suits(const xb_chain *chain, const xb_run *run)
{
    bool local = run->estimator == XB_ESTIMATOR_LOCAL;
    if (!local && run->estimator != XB_ESTIMATOR_SHARED) return false;
    if (run->net->param_count > NOISE_MOST) return false;
    if (local && units_of(chain) > NOISE_MOST / run->batch) return false;
    for (int i = 0; i < chain->n_link; i++)
        if (xb_split_of(run->batch, chain->link[i].size, XB_SPLIT_ANY).count > 1)
            return false;
    return true;
}

/* ---- a step */

typedef struct chain_run {
    const xb_chain *chain;
    const xb_run *run;
    const xb_chain_room *at;
    const xb_kernels *kernels;
    bool local, fresh;
    int64_t rows, p;
    const xb_real *w; /* [p]: theta or mu */
    xb_real *z, *dw;  /* [p] */
    /* of local: [p]; [rows] of inputs and all outputs; of these alone; [rows][widest] */
    xb_real *variance, *ds;
    xb_real *xx, *e, *room;
    xb_real *gradient[2]; /* [rows][widest] */
} chain_run;

static int64_t widest_of(const xb_chain *chain)
{
    int64_t most = chain->link[0].in;
    for (int i = 0; i < chain->n_link; i++)
        if (chain->link[i].out > most) most = chain->link[i].out;
    return most;
}

/* To whole cache lines: sweeps over parameters are faster there. */
static int64_t padded(int64_t n)
{
    const int64_t line = 64 / (int64_t)sizeof(xb_real);
    return (n + line - 1) / line * line;
}

int64_t xb_chain_scratch(const xb_chain *chain, const xb_run *run)
{
    int64_t local =
        run->batch * (chain->link[0].in + 2 * units_of(chain) + widest_of(chain));
    return 4 * padded(run->net->param_count) +
           (run->estimator == XB_ESTIMATOR_LOCAL ? local : 0);
}

static chain_run run_of(const xb_chain *chain, const xb_run *run,
                        const xb_chain_room *room, bool fresh)
{
    int64_t p = padded(run->net->param_count), all = run->batch * units_of(chain);
    xb_real *at = run->scratch;
    bool noisy = run->noise.sampler && chain->random;
    chain_run c = {.chain = chain,
                   .run = run,
                   .kernels = run->kernels,
                   .local = noisy && run->estimator == XB_ESTIMATOR_LOCAL,
                   .fresh = fresh,
                   .rows = run->batch,
                   .p = run->net->param_count,
                   .w = run->weights.mu,
                   .z = noisy ? at + p : NULL,
                   .dw = fresh ? run->gradient.mu : at + 2 * p,
                   .variance = at,
                   .ds = at + 3 * p,
                   .xx = at + 4 * p,
                   .at = room,
                   .gradient = {room->gradient[0], room->gradient[1]}};
    c.e = c.xx + run->batch * chain->link[0].in + all;
    c.room = c.e + all;
    return c;
}

static const xb_real *bias_of(const xb_chain_link *k, const xb_real *block)
{
    return k->tensors == 2 ? block + k->offset + k->size : NULL;
}

/* (N7) theta of all links: where a tensor is fixed its z is 0. */
static void draw_weights(chain_run *c)
{
    xb_real *theta = c->variance;
    for (int i = 0; i < c->run->net->n_tensor; i++) {
        const xb_tensor *t = &c->run->net->tensor[i];
        if (t->stochastic)
            xb_run_draw(c->run, c->z + t->offset, t->size, i, 0, false);
        else
            memset(c->z + t->offset, 0, (size_t)t->size * sizeof *c->z);
    }
    c->kernels->theta(theta, c->run->weights.mu, c->run->weights.sigma, c->z, c->p);
    c->w = theta;
}

/* sigma^2, 0 where fixed. */
static void square_sigma(const chain_run *c)
{
    const xb_real *sigma = c->run->weights.sigma;
    c->kernels->multiply(c->variance, sigma, sigma, c->p);
    for (int i = 0; i < c->run->net->n_tensor; i++) {
        const xb_tensor *t = &c->run->net->tensor[i];
        if (!t->stochastic)
            memset(c->variance + t->offset, 0, (size_t)t->size * sizeof *c->variance);
    }
}

static xb_local_layer local_layer(const chain_run *c, const xb_chain_link *k,
                                  const xb_real *x, const xb_real *xx)
{
    return (xb_local_layer){.rows = c->rows,
                            .in = k->in,
                            .out = k->out,
                            .x = x,
                            .xx = xx,
                            .mu = c->w + k->offset,
                            .variance = c->variance + k->offset,
                            .bias = bias_of(k, c->w),
                            .bias_variance = bias_of(k, c->variance),
                            .room = c->room};
}

/* (N11) Kept: e / sqrt(v) in the place of e, the squares of x and y, one after the
 * other. */
static void local_forward(const chain_run *c, const xb_chain_link *k, xb_real *y,
                          const xb_real *x, xb_real *xx, xb_real *e)
{
    xb_local_layer layer = local_layer(c, k, x, xx);
    xb_run_draw(c->run, e, c->rows * k->out, k->number, c->run->noise.first * k->out,
                false);
    c->kernels->local_dense_forward(y, xx + c->rows * k->in, e, &layer, k->f);
}

static const xb_real *forward(chain_run *c)
{
    const xb_real *x = c->at->x;
    xb_real *xx = c->xx, *e = c->e;
    if (c->local) c->kernels->multiply(xx, x, x, c->rows * c->chain->link[0].in);
    for (int i = 0; i < c->chain->n_link; i++) {
        const xb_chain_link *k = &c->chain->link[i];
        xb_real *y = c->at->output + k->output;
        if (c->local)
            local_forward(c, k, y, x, xx, e);
        else
            c->kernels->dense_forward(y, x, c->w + k->offset, bias_of(k, c->w), c->rows,
                                      k->in, k->out, k->f);
        xx += c->rows * k->in, e += c->rows * k->out;
        x = y;
    }
    return x;
}

const xb_real *xb_chain_forward(const xb_chain *chain, const xb_run *run,
                                const xb_chain_room *room)
{
    const xb_real *x = room->x, *w = run->weights.mu;
    for (int i = 0; i < chain->n_link; i++) {
        const xb_chain_link *k = &chain->link[i];
        xb_real *y = room->output + k->output;
        run->kernels->dense_forward(y, x, w + k->offset, bias_of(k, w), run->batch, k->in,
                                    k->out, k->f);
        x = y;
    }
    return x;
}

/* dw = the gradient with respect to the link's weights. */
static void weight_gradient(const chain_run *c, const xb_chain_link *k, const xb_real *x,
                            const xb_real *dy)
{
    const xb_kernels *b = c->kernels;
    xb_real *dw = c->dw + k->offset;
    if (k->tensors == 2)
        b->dense_backward_params(dw, dw + k->size, x, dy, c->rows, k->in, k->out);
    else
        b->dense_backward_weight(dw, x, dy, c->rows, k->in, k->out);
}

/* (N11) dx NULL: not wanted. */
static void local_backward(const chain_run *c, const xb_chain_link *k, xb_real *dx,
                           const xb_real *dy, const xb_real *x, const xb_real *xx,
                           xb_real *e, xb_act below)
{
    xb_local_layer layer = local_layer(c, k, x, xx);
    c->kernels->local_dense_params(c->dw + k->offset, c->ds + k->offset, e, dy, &layer);
    if (dx) c->kernels->local_dense_input(dx, dy, e, &layer, below);
}

/* An activation over the last link has no link above to multiply by its slope. */
static void last_slope(const chain_run *c, const xb_real *y)
{
    const xb_chain_link *k = &c->chain->link[c->chain->n_link - 1];
    xb_real *dy = c->gradient[0];
    if (k->f != XB_ACT_NONE)
        xb_kernels_act(c->kernels, k->f)->backward(dy, dy, y, c->rows * k->out);
}

static void backward(const chain_run *c)
{
    const xb_real *dy = c->gradient[0];
    const xb_real *xx = c->e;
    xb_real *e = c->e + c->rows * units_of(c->chain);
    xx -= c->rows * c->chain->link[c->chain->n_link - 1].out; /* its square: not needed */
    for (int i = c->chain->n_link - 1; i >= 0; i--) {
        const xb_chain_link *k = &c->chain->link[i];
        const xb_real *x = i > 0 ? c->at->output + k[-1].output : c->at->x;
        xb_real *dx = i > 0 ? c->gradient[dy == c->gradient[0]] : NULL;
        xb_act below = i > 0 ? k[-1].f : XB_ACT_NONE;
        xx -= c->rows * k->in, e -= c->rows * k->out;
        if (c->local)
            local_backward(c, k, dx, dy, x, xx, e, below);
        else
            weight_gradient(c, k, x, dy);
        if (dx && !c->local)
            c->kernels->dense_backward_input(dx, dy, c->w + k->offset, x, c->rows, k->in,
                                             k->out, below);
        dy = dx;
    }
}

/* (N11) ds is twice the gradient with respect to sigma^2. */
static void add_local(const chain_run *c)
{
    for (int i = 0; i < c->run->net->n_tensor; i++) {
        const xb_tensor *t = &c->run->net->tensor[i];
        xb_real *to = c->run->gradient.sigma + t->offset;
        const xb_real *ds = c->ds + t->offset;
        const xb_real *sigma = c->run->weights.sigma + t->offset;
        if (t->stochastic && c->fresh)
            c->kernels->multiply(to, ds, sigma, t->size);
        else if (t->stochastic)
            c->kernels->add_product(to, ds, sigma, 1, t->size);
        else if (c->fresh)
            memset(to, 0, (size_t)t->size * sizeof *to);
    }
}

/* (N8, N11) The links are all of the net: fresh, dw is the whole gradient with respect to
 * mu. */
static void add_gradients(const chain_run *c)
{
    const xb_gradient *g = &c->run->gradient;
    bool product = c->z && !c->local;
    if (!c->fresh) c->kernels->add(g->mu, c->dw, c->p);
    if (product && c->fresh) c->kernels->multiply(g->sigma, c->dw, c->z, c->p);
    if (product && !c->fresh) c->kernels->add_product(g->sigma, c->dw, c->z, 1, c->p);
    if (c->local) add_local(c);
    if (!c->z && c->fresh && g->sigma)
        memset(g->sigma, 0, (size_t)c->p * sizeof *g->sigma);
}

bool xb_chain_step(const xb_chain *chain, const xb_run *run, const xb_chain_room *room,
                   bool fresh, xb_loss_fn loss, void *arg)
{
    chain_run c = run_of(chain, run, room, fresh);
    if (c.local)
        square_sigma(&c);
    else if (c.z)
        draw_weights(&c);
    const xb_real *y = forward(&c);
    if (!loss(arg, c.gradient[0], y, c.rows)) return false;
    last_slope(&c, y);
    backward(&c);
    add_gradients(&c);
    return true;
}
