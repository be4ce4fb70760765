/* cuda_stack.c: blocks (cuda_block.c) that follow each other, with the batchnorms before
 * and between them and one after the last, as one operation if there is no backward
 * pass; maths N4, N8, N18. Scratch: theta and z of each block, then what device_stack.cu
 * needs. Where batchnorm takes its statistics from the batch, the layers run one by one:
 * two buffers, what a batchnorm keeps, and the scratch of one layer. */
#include <string.h>

#include "cuda_linear.h"

enum { BLOCK_LAYERS = 3 };

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* A multiple of a cache line's floats. */
static int64_t lines_of(int64_t n) { return (n + 31) / 32 * 32; }

static bool is_norm(const xb_layer *l) { return strcmp(l->kind->name, "batchnorm") == 0; }

/* The last layer of what begins with this one: a batchnorm or a block. */
static const xb_layer *end_of(const xb_layer *layer)
{
    return is_norm(layer) ? layer : layer + BLOCK_LAYERS - 1;
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

static xbc_stack_block block_of(const xbc_linear *op, const xb_layer *pool)
{
    return (xbc_stack_block){
        .conv = op->win, .ph = (int)pool->window.oh, .pw = (int)pool->window.ow};
}

/* A stack without its buffers, and the floats that theta and z of its blocks take. */
typedef struct stack_plan {
    xbc_stack job;
    int64_t drawn;
    bool fits; /* not more blocks than a stack can have */
} stack_plan;

/* `weights`: makes the blocks' weights. */
static stack_plan plan_of(const xb_run *run, const xb_layer *last, bool weights)
{
    stack_plan p = {.job.rows = run->batch, .fits = true};
    xb_run part = *run;
    for (const xb_layer *l = run->net->layer + run->first; l <= last; l = end_of(l) + 1) {
        xbc_stack *job = &p.job;
        if (is_norm(l) && job->blocks == 0) job->before = affine_of(run, l);
        if (is_norm(l) && job->blocks > 0)
            job->block[job->blocks - 1].after = affine_of(run, l);
        if (is_norm(l)) continue;
        p.fits = job->blocks < XBC_STACK;
        if (!p.fits) break;
        const xbc_linear op = xbc_linear_of(&part, l, false);
        xbc_stack_block *b = &job->block[job->blocks++];
        *b = block_of(&op, end_of(l));
        p.drawn += lines_of(2 * op.n);
        if (!weights) continue;
        b->w = xbc_shared_weights(&op);
        b->bias = op.bias ? b->w + op.size : NULL;
        part.scratch = run->scratch + p.drawn;
    }
    return p;
}

/* Whether the blocks would run on tensor cores one by one as well. */
static bool fuses(const xb_run *run, const xb_layer *last)
{
    const stack_plan p = plan_of(run, last, false);
    const bool norm = is_norm(run->net->layer + run->first);
    for (int i = 0; i < p.job.blocks; i++) {
        const xbc_stack_block *b = &p.job.block[i];
        const xbc_block alone = {
            .conv = b->conv, .ph = b->ph, .pw = b->pw, .rows = run->batch};
        if (b->conv.c == 3 && (i > 0 || norm)) return false;
        if (!xbc_block_suits(&alone) || !xbc_stack_suits(b)) return false;
    }
    return p.fits && !run->gradients;
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
        const xb_layer_ops *ops = is_norm(l) ? &xbc_batchnorm : &xbc_block_ops;
        s.buffer = larger(s.buffer, run->batch * end->out.h * end->out.w * end->out.c);
        if (is_norm(l)) s.keep = larger(s.keep, ops->keep(run, l));
        s.scratch = larger(s.scratch, ops->scratch(run, end));
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
        (is_norm(l) ? &xbc_batchnorm : &xbc_block_ops)->forward(&part, end, to, x);
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
