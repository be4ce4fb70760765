/* block_ops.c: conv, relu and maxpool as one step, with or without the batchnorm before
 * them; see block.h and fuse.c. One draw of the weights for the batch, or none, as
 * estimator_shared.c: the batch is cut into pieces, the parts of the weight gradient
 * are added in a tree. Under flipout each example has weights of its own (flip.h).
 * Kept: what batchnorm keeps, then the places, a byte each.
 * Scratch: theta [n], z [n], packed weights, then for each piece dw [n] and room; under
 * flipout the flip, then for each piece its work, packed weights and room. */
#include "kernel/block.h"

#include "backend/batchnorm.h"
#include "backend/flip.h"

enum { LINE = 16 }; /* reals: parts begin at cache lines */

static int64_t whole_lines(int64_t n) { return (n + LINE - 1) / LINE * LINE; }

/* A block's last layer is its maxpool. */
static const xb_layer *conv_of(const xb_layer *last) { return last - 2; }
static const xb_layer *norm_of(const xb_layer *last) { return last - 3; }

static xb_block block_of(const xb_layer *last)
{
    const xb_window *conv = &conv_of(last)->window, *pool = &last->window;
    return (xb_block){.h = conv->h,
                      .w = conv->w,
                      .c = conv->c,
                      .top = conv->top,
                      .left = conv->left,
                      .oh = conv->oh,
                      .ow = conv->ow,
                      .oc = conv->oc,
                      .ph = pool->oh,
                      .pw = pool->ow};
}

typedef struct block_job {
    const xb_block_kernel *kernel;
    xb_op op;
    xb_block shape;
    xb_block_norm norm;
    bool flips;       /* an example has weights of its own */
    xb_flip flip;     /* where it has */
    const xb_real *w; /* the weights, mu or a draw */
    xb_real *packed, *slots;
    int64_t slot, out; /* out: of one example */
    uint8_t *place;    /* NULL: not wanted */
    xb_real *y, *dx;
    const xb_real *x, *dy, *kept; /* kept: y, for backward */
} block_job;

static int64_t packed_size(const block_job *job)
{
    return whole_lines(job->kernel->packed(&job->shape));
}

/* What a piece has before its room. */
static int64_t sums_size(const block_job *job)
{
    if (!job->flips) return whole_lines(job->op.n);
    return whole_lines(xb_flip_slot(&job->op)) + packed_size(job);
}

static int64_t slot_size(const block_job *job)
{
    return sums_size(job) + whole_lines(job->kernel->room(&job->shape));
}

/* What forward and backward and their memory need; nothing is drawn yet. */
static block_job sizes_of(const xb_run *run, const xb_layer *last, bool flips)
{
    block_job job = {.kernel = run->kernels->block,
                     .op = xb_op_of(run, conv_of(last)),
                     .shape = block_of(last),
                     .flips = flips,
                     .out = xb_shape_size(last->out)};
    job.slot = slot_size(&job);
    return job;
}

static int64_t before_slots(const block_job *job)
{
    if (job->flips) return whole_lines(xb_flip_scratch(&job->op));
    return 2 * whole_lines(job->op.n) + packed_size(job);
}

static int64_t scratch_with(const xb_run *run, const xb_layer *last, bool flips)
{
    block_job job = sizes_of(run, last, flips);
    return before_slots(&job) +
           xb_split_most(run->batch, job.op.work, xb_split_slots(job.slot)) * job.slot;
}

/* A pass under flipout may also run without noise. */
static int64_t scratch(const xb_run *run, const xb_layer *last)
{
    const int64_t plain = scratch_with(run, last, false);
    const int64_t flips =
        run->estimator == XB_ESTIMATOR_FLIPOUT ? scratch_with(run, last, true) : 0;
    return flips > plain ? flips : plain;
}

/* Whether this run flips; run->noise is known. */
static bool flips_now(const xb_run *run, const xb_layer *last)
{
    const xb_op op = xb_op_of(run, conv_of(last));
    return run->estimator == XB_ESTIMATOR_FLIPOUT && run->noise.sampler &&
           xb_op_random(&op);
}

static xb_split split_of(const block_job *job)
{
    return xb_split_of(job->op.run->batch, job->op.work, xb_split_slots(job->slot));
}

static int64_t norm_scratch(const xb_run *run, const xb_layer *last)
{
    int64_t norm = xb_ops_batchnorm.scratch(run, norm_of(last));
    int64_t own = scratch(run, last);
    return norm > own ? norm : own;
}

/* Places of the whole batch, in reals. */
static int64_t keep(const xb_run *run, const xb_layer *last)
{
    int64_t bytes = run->batch * xb_shape_size(last->out);
    return run->gradients
               ? (bytes + (int64_t)sizeof(xb_real) - 1) / (int64_t)sizeof(xb_real)
               : 0;
}

static int64_t norm_keep_size(const xb_run *run, const xb_layer *last)
{
    return whole_lines(xb_ops_batchnorm.keep(run, norm_of(last)));
}

static int64_t norm_keep(const xb_run *run, const xb_layer *last)
{
    return norm_keep_size(run, last) + keep(run, last);
}

static block_job job_of(const xb_run *run, const xb_layer *last, int64_t keep_offset)
{
    block_job job = sizes_of(run, last, flips_now(run, last));
    if (!job.flips) {
        job.w = xb_shared_weights(&job.op);
        job.packed = run->scratch + 2 * whole_lines(job.op.n);
    }
    job.slots = run->scratch + before_slots(&job);
    if (run->gradients) job.place = (uint8_t *)(run->keep + keep_offset);
    return job;
}

/* The packed weights and the room of a piece that flips. */
static xb_real *packed_of(const block_job *job, xb_real *slot)
{
    return slot + whole_lines(xb_flip_slot(&job->op));
}

static void forward_flipped(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const block_job *job = arg;
    xb_real *slot = job->slots + piece * job->slot, *packed = packed_of(job, slot);
    xb_flip_signs(&job->flip, begin, end);
    for (int64_t row = begin; row < end; row++) {
        const xb_real *w = xb_flip_theta(&job->flip, slot, row);
        job->kernel->pack_forward(packed, w, xb_op_bias(&job->op, w), &job->shape);
        job->kernel->forward(job->y + row * job->out,
                             job->place ? job->place + row * job->out : NULL,
                             job->x + row * job->op.in, packed, &job->norm, 1,
                             &job->shape, slot + sums_size(job));
    }
}

static void forward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const block_job *job = arg;
    int64_t out = begin * job->out;
    xb_real *room = job->slots + piece * job->slot + sums_size(job);
    job->kernel->forward(job->y + out, job->place ? job->place + out : NULL,
                         job->x + begin * job->op.in, job->packed, &job->norm,
                         end - begin, &job->shape, room);
}

static void run_forward(block_job *job, xb_real *y, const xb_real *x)
{
    xb_split split = split_of(job);
    job->y = y, job->x = x;
    if (job->flips)
        job->flip = xb_flip_of(&job->op, job->op.run->scratch);
    else
        job->kernel->pack_forward(job->packed, job->w, xb_op_bias(&job->op, job->w),
                                  &job->shape);
    xb_op_run(&job->op, &split, job->flips ? forward_flipped : forward_rows, job);
}

static void forward(const xb_run *run, const xb_layer *last, xb_real *y, const xb_real *x)
{
    block_job job = job_of(run, last, 0);
    run_forward(&job, y, x);
}

static void norm_forward(const xb_run *run, const xb_layer *last, xb_real *y,
                         const xb_real *x)
{
    xb_batchnorm_prepare(run, norm_of(last), x);
    block_job job = job_of(run, last, norm_keep_size(run, last));
    job.norm = xb_batchnorm_map(run, norm_of(last));
    run_forward(&job, y, x);
}

static void backward_flipped(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const block_job *job = arg;
    xb_real *slot = job->slots + piece * job->slot, *packed = packed_of(job, slot);
    xb_real *g = xb_flip_g(&job->flip, slot);
    xb_flip_signs(&job->flip, begin, end);
    xb_flip_clear(&job->flip, slot);
    for (int64_t row = begin; row < end; row++) {
        const int64_t in = row * job->op.in, out = row * job->out;
        if (job->dx)
            job->kernel->pack_backward(packed, xb_flip_theta(&job->flip, slot, row),
                                       &job->shape);
        job->kernel->backward(job->dx ? job->dx + in : NULL, g,
                              job->op.tensors == 2 ? g + job->op.size : NULL,
                              job->dy + out, job->kept + out, job->place + out,
                              job->x + in, packed, &job->norm, 1, &job->shape,
                              slot + sums_size(job));
        xb_flip_add(&job->flip, slot, row);
    }
}

static void backward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const block_job *job = arg;
    int64_t in = begin * job->op.in, out = begin * job->out;
    xb_real *dw = job->slots + piece * job->slot;
    job->kernel->backward(job->dx ? job->dx + in : NULL, dw,
                          job->op.tensors == 2 ? dw + job->op.size : NULL, job->dy + out,
                          job->kept + out, job->place + out, job->x + in, job->packed,
                          &job->norm, end - begin, &job->shape, dw + sums_size(job));
}

static void run_backward(block_job *job, xb_real *dx, const xb_real *dy, const xb_real *x,
                         const xb_real *y)
{
    xb_split split = split_of(job);
    job->dx = dx, job->dy = dy, job->x = x, job->kept = y;
    if (job->flips) {
        job->flip = xb_flip_of(&job->op, job->op.run->scratch);
        xb_op_run(&job->op, &split, backward_flipped, job);
        xb_flip_gradient(&job->flip, job->slots, job->slot, split.count);
        return;
    }
    if (dx) job->kernel->pack_backward(job->packed, job->w, &job->shape);
    xb_op_run(&job->op, &split, backward_rows, job);
    xb_shared_gradient(&job->op, job->slots, job->slot, split.count);
}

static void backward(const xb_run *run, const xb_layer *last, xb_real *dx,
                     const xb_real *dy, const xb_real *x, const xb_real *y)
{
    block_job job = job_of(run, last, 0);
    run_backward(&job, dx, dy, x, y);
}

/* dx is first the gradient with respect to what batchnorm gives; it is always wanted
 * (fuse.c). */
static void norm_backward(const xb_run *run, const xb_layer *last, xb_real *dx,
                          const xb_real *dy, const xb_real *x, const xb_real *y)
{
    block_job job = job_of(run, last, norm_keep_size(run, last));
    job.norm = xb_batchnorm_map(run, norm_of(last));
    run_backward(&job, dx, dy, x, y);
    xb_ops_batchnorm.backward(run, norm_of(last), dx, dx, x, NULL);
}

static bool deals(const xb_run *run, const xb_layer *last)
{
    const int ways = run->estimator == XB_ESTIMATOR_FLIPOUT ? 2 : 1; /* flipped too */
    for (int flips = 0; flips < ways; flips++) {
        const block_job job = sizes_of(run, last, flips);
        const xb_split split = split_of(&job);
        if (!xb_crew_fits(&split, run->batch)) return false;
    }
    return true;
}

static bool norm_deals(const xb_run *run, const xb_layer *last)
{
    return deals(run, last) && xb_ops_batchnorm.deals(run, norm_of(last));
}

static bool has_kernel(const xb_run *run, const xb_layer *last)
{
    (void)last;
    return run->kernels->block != NULL;
}

const xb_layer_ops xb_ops_block = {
    .fuses = has_kernel,
    .flips = true,
    .deals = deals,
    .placement = XB_PLACE_HELD,
    .keep = keep,
    .scratch = scratch,
    .forward = forward,
    .backward = backward,
};

const xb_layer_ops xb_ops_norm_block = {
    .fuses = has_kernel,
    .flips = true,
    .deals = norm_deals,
    .placement = XB_PLACE_HELD,
    .keep = norm_keep,
    .scratch = norm_scratch,
    .forward = norm_forward,
    .backward = norm_backward,
};
