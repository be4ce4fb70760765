/* cuda_stack.c: blocks (cuda_block.c) that follow each other, with the batchnorms before
 * and between them and one after the last, as one operation if there is no backward
 * pass; maths N4, N8, N18. If the rest of the net is small dense layers, each with a
 * batchnorm and an activation or without, they belong to it. Scratch: theta and z of each
 * layer, then what device_stack.cu needs. Where batchnorm takes its statistics from the
 * batch, the layers run one by one: two buffers, what a batchnorm keeps, and the scratch
 * of one layer. */
#include <string.h>

#include "cuda_linear.h"

enum { BLOCK_LAYERS = 3 };

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* A multiple of a cache line's floats. */
static int64_t lines_of(int64_t n) { return (n + 31) / 32 * 32; }

static bool is(const xb_layer *l, const char *kind)
{
    return strcmp(l->kind->name, kind) == 0;
}

/* The last layer of what runs together from this one on. */
static const xb_layer *end_of(const xb_layer *l)
{
    return is(l, "conv") ? l + BLOCK_LAYERS - 1 : l;
}

/* The operations of these layers where they run by themselves. */
static const xb_layer_ops *ops_of(const xb_layer *l)
{
    return is(l, "conv")        ? &xbc_block_ops
           : is(l, "batchnorm") ? &xbc_batchnorm
           : is(l, "dense")     ? &xbc_dense
           : is(l, "flatten")   ? &xbc_flatten
                                : &xbc_activation;
}

static xbc_affine affine_of(const xb_run *run, const xb_layer *layer)
{
    const xb_tensor *scale = &run->net->tensor[layer->tensor];
    const float *mu = run->weights.mu, *state = run->weights.state;
    if (!mu || !state) return (xbc_affine){0}; /* only sizes are wanted */
    return (xbc_affine){.scale = mu + scale[0].offset,
                        .shift = mu + scale[1].offset,
                        .mean = state + layer->state,
                        .variance = state + layer->state + layer->in.c,
                        .epsilon = layer->epsilon};
}

/* A stack without its buffers, and the floats that theta and z of its layers take. */
typedef struct stack_plan {
    xbc_stack job;
    int64_t drawn;
    bool fits; /* layers that a stack can have, as many as it can have */
} stack_plan;

/* Adds a conv with its block, or a dense layer; w NULL: only sizes are wanted. */
static void add_linear(stack_plan *p, const xbc_linear *op, const float *w)
{
    xbc_stack *job = &p->job;
    const float *bias = w && op->bias ? w + op->size : NULL;
    p->fits = op->dense ? job->blocks > 0 && job->tail.links < XBC_TAIL
                        : job->tail.links == 0 && job->blocks < XBC_STACK;
    if (!p->fits) return;
    p->drawn += lines_of(2 * op->n);
    if (op->dense) {
        job->tail.link[job->tail.links++] =
            (xbc_tail_link){.in = (int)op->in, .out = (int)op->out, .w = w, .bias = bias};
        return;
    }
    const xb_window *pool = &end_of(op->layer)->window;
    job->block[job->blocks++] = (xbc_stack_block){
        .conv = op->win, .ph = (int)pool->oh, .pw = (int)pool->ow, .w = w, .bias = bias};
}

/* Adds a layer without a product; `after`: what the layer before it was. */
static void add_other(stack_plan *p, const xb_run *run, const xb_layer *l,
                      const xb_layer *after)
{
    xbc_stack *job = &p->job;
    xbc_tail_link *link =
        job->tail.links > 0 ? &job->tail.link[job->tail.links - 1] : NULL;
    const bool norm = is(l, "batchnorm"),
               linear = after && (is(after, "conv") || is(after, "dense"));
    if (norm && !after)
        job->before = affine_of(run, l);
    else if (norm && linear)
        *(link ? &link->after : &job->block[job->blocks - 1].after) = affine_of(run, l);
    else if (!norm && link && (linear || is(after, "batchnorm")))
        link->act = xbc_act_of(l);
    else
        p->fits = is(l, "flatten") && job->blocks > 0 && !link;
}

/* `weights`: makes the layers' weights. */
static stack_plan plan_of(const xb_run *run, const xb_layer *last, bool weights)
{
    stack_plan p = {.job.rows = run->batch, .fits = true};
    xb_run part = *run;
    const xb_layer *before = NULL, *l = run->net->layer + run->first;
    for (; l <= last && p.fits; before = l, l = end_of(l) + 1) {
        const bool dense = is(l, "dense");
        if (!dense && !is(l, "conv")) {
            add_other(&p, run, l, before);
            continue;
        }
        const xbc_linear op = xbc_linear_of(&part, l, dense);
        add_linear(&p, &op, weights ? xbc_shared_weights(&op) : NULL);
        part.scratch = run->scratch + (weights ? p.drawn : 0);
    }
    return p;
}

/* Whether the blocks would run on tensor cores one by one as well. */
static bool fuses(const xb_run *run, const xb_layer *last)
{
    const stack_plan p = plan_of(run, last, false);
    const bool norm = is(run->net->layer + run->first, "batchnorm");
    for (int i = 0; i < p.job.blocks && p.fits; i++) {
        const xbc_stack_block *b = &p.job.block[i];
        const xbc_block alone = {
            .conv = b->conv, .ph = b->ph, .pw = b->pw, .rows = run->batch};
        if (b->conv.c == 3 && (i > 0 || norm)) return false;
        if (!xbc_block_suits(&alone) || !xbc_stack_suits(b)) return false;
    }
    return p.fits && xbc_tail_suits(&p.job.tail) && !run->gradients;
}

/* ---- with the statistics of the batch: layer by layer */

typedef struct plain_sizes {
    int64_t buffer, keep, scratch;
} plain_sizes;

static plain_sizes sizes_of(const xb_run *run, const xb_layer *last)
{
    plain_sizes s = {0};
    for (const xb_layer *l = run->net->layer + run->first; l <= last; l = end_of(l) + 1) {
        const xb_layer *end = end_of(l);
        const xb_layer_ops *ops = ops_of(l);
        s.buffer = larger(s.buffer, run->batch * end->out.h * end->out.w * end->out.c);
        if (ops->keep) s.keep = larger(s.keep, ops->keep(run, end));
        if (ops->scratch) s.scratch = larger(s.scratch, ops->scratch(run, end));
    }
    s.buffer = lines_of(s.buffer), s.keep = lines_of(s.keep);
    return s;
}

static void plain_forward(const xb_run *run, const xb_layer *last, xb_real *y,
                          const xb_real *x)
{
    const plain_sizes s = sizes_of(run, last);
    xb_run part = *run;
    int turn = 0;
    part.keep = run->scratch + 2 * s.buffer;
    part.scratch = part.keep + s.keep;
    for (const xb_layer *l = run->net->layer + run->first; l <= last; l = end_of(l) + 1) {
        const xb_layer *end = end_of(l);
        xb_real *to = end == last ? y : run->scratch + turn++ % 2 * s.buffer;
        ops_of(l)->forward(&part, end, to, x);
        x = to;
    }
}

/* ---- the operation */

static int64_t scratch(const xb_run *run, const xb_layer *last)
{
    const stack_plan p = plan_of(run, last, false);
    const plain_sizes s = sizes_of(run, last);
    return larger(p.drawn + xbc_stack_room(&p.job), 2 * s.buffer + s.keep + s.scratch);
}

static void forward_of(const xb_run *run, const xb_layer *last, float *y, const float *x)
{
    stack_plan p = plan_of(run, last, true);
    p.job.x = x, p.job.y = y, p.job.room = run->scratch + p.drawn;
    xbc_stack_forward(&p.job);
}

static void forward(const xb_run *run, const xb_layer *last, xb_real *y, const xb_real *x)
{
    if (run->mode == XB_MODE_TRAIN)
        plain_forward(run, last, y, x);
    else
        XBC_INSIDE(forward_of(run, last, y, x));
}

const xb_layer_ops xbc_stack_ops = {
    .fuses = fuses, .placement = XB_PLACE_FRESH, .scratch = scratch, .forward = forward};
