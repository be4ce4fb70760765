/* estimator_local.c: the local reparameterisation trick (Kingma et al. 2015); maths
 * N11. For a gaussian law an output is gaussian too: its noise is drawn itself, one
 * number per example and output instead of one per weight. (Where a kernel is used at
 * several places, as in conv, outputs are drawn as if independent given x: each has
 * the right law, their dependence is left out.)
 * A dense layer keeps v for the backward pass, a conv layer, whose outputs are many,
 * computes it again. The noise is drawn again by both.
 * Scratch: sigma^2 [n], then over the batch x^2 [in] (its gradient takes its place), e
 * [out] (dv takes its place), v [out] if not kept, then for each piece dw [n], ds [n] and
 * room. */
#include "backend/linear.h"

typedef struct local_job {
    const xb_op *op;
    xb_real *y, *dx;
    const xb_real *x, *dy;
    xb_real *variance, *xx, *v, *e, *slots;
    int64_t slot;
} local_job;

static int64_t slot_size(const xb_op *op) { return 2 * op->n + op->room; }

static xb_split split_of(const xb_op *op)
{
    return xb_split_of(op->run->batch, 2 * op->work, xb_split_slots(slot_size(op)));
}

static int64_t scratch(const xb_op *op)
{
    int64_t batch = op->run->batch;
    return op->n + batch * (op->in + 2 * op->out) +
           xb_split_most(batch, 2 * op->work, xb_split_slots(slot_size(op))) *
               slot_size(op);
}

static bool keeps(const xb_op *op) { return op->layer->kind == &xb_layer_dense; }

static int64_t keep(const xb_op *op) { return keeps(op) ? op->run->batch * op->out : 0; }

static local_job job_of(const xb_op *op)
{
    int64_t batch = op->run->batch;
    local_job job = {.op = op, .slot = slot_size(op), .variance = op->run->scratch};
    job.xx = job.variance + op->n;
    job.e = job.xx + batch * op->in;
    job.slots = job.e + 2 * batch * op->out;
    job.v = keeps(op) ? op->run->keep : job.e + batch * op->out;
    xb_op_scaled(op, job.variance, xb_op_sigma(op));
    return job;
}

/* The variance of these rows' outputs. */
static void spread(const local_job *job, int64_t begin, int64_t end, xb_real *room)
{
    const xb_op *op = job->op;
    xb_op_forward(op, job->v + begin * op->out, job->xx + begin * op->in, job->variance,
                  end - begin, room, XB_ACT_NONE);
}

static void square_inputs(const local_job *job, int64_t begin, int64_t end)
{
    const xb_op *op = job->op;
    const xb_real *x = job->x + begin * op->in;
    op->run->kernels->multiply(job->xx + begin * op->in, x, x, (end - begin) * op->in);
}

static void draw_noise(const local_job *job, int64_t begin, int64_t end)
{
    const xb_op *op = job->op;
    int64_t from = op->run->noise.first + begin;
    xb_run_draw(op->run, job->e + begin * op->out, (end - begin) * op->out,
                op->layer->tensor, from * op->out, false);
}

static void forward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const local_job *job = arg;
    const xb_op *op = job->op;
    xb_real *room = job->slots + piece * job->slot + 2 * op->n;
    xb_real *y = job->y + begin * op->out;
    square_inputs(job, begin, end);
    spread(job, begin, end, room);
    draw_noise(job, begin, end);
    xb_op_forward(op, y, job->x + begin * op->in, xb_op_mu(op), end - begin, room,
                  XB_ACT_NONE);
    op->run->kernels->local_forward(y, job->v + begin * op->out, job->e + begin * op->out,
                                    (end - begin) * op->out, op->run->above); /* (N11) */
}

static void forward(const xb_op *op, xb_real *y, const xb_real *x)
{
    local_job job = job_of(op);
    xb_split split = split_of(op);
    job.y = y, job.x = x;
    xb_op_run(op, &split, forward_rows, &job);
}

static void backward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const local_job *job = arg;
    const xb_op *op = job->op;
    int64_t rows = end - begin;
    xb_real *dw = job->slots + piece * job->slot, *ds = dw + op->n, *room = ds + op->n;
    const xb_real *x = job->x + begin * op->in, *dy = job->dy + begin * op->out;
    xb_real *e = job->e + begin * op->out, *dv = e, *xx = job->xx + begin * op->in;
    square_inputs(job, begin, end);
    if (!keeps(op)) spread(job, begin, end, room);
    draw_noise(job, begin, end);
    op->run->kernels->local_backward(dv, dy, job->v + begin * op->out, e, rows * op->out);
    xb_op_weight(op, dw, x, dy, rows, room);
    xb_op_weight(op, ds, xx, dv, rows, room);
    if (!job->dx) return;
    xb_real *dx = job->dx + begin * op->in;
    xb_op_input(op, dx, dy, xb_op_mu(op), NULL, rows, room, XB_ACT_NONE);
    xb_op_input(op, xx, dv, job->variance, NULL, rows, room, XB_ACT_NONE);
    op->run->kernels->local_input(dx, xx, x, rows * op->in, op->run->below);
}

static void add_gradient(const xb_op *op, const xb_real *sum, bool later)
{
    (void)later;
    const xb_real *sigma = xb_op_sigma(op);
    xb_op_add_mu(op, op->run->gradient.mu + op->offset, sum);
    xb_op_add_sigma(op, op->run->gradient.sigma + op->offset, sum + op->n,
                    (const xb_real *[]){sigma, sigma + op->size}, 2); /* (N11) */
}

static void backward(const xb_op *op, xb_real *dx, const xb_real *dy, const xb_real *x)
{
    local_job job = job_of(op);
    xb_split split = split_of(op);
    job.dx = dx, job.dy = dy, job.x = x;
    xb_op_run(op, &split, backward_rows, &job);
    xb_op_gradient(op, job.slots, job.slot, split.count, 2 * op->n, add_gradient);
}

const xb_estimator_kind xb_estimator_local = {
    .name = "local",
    .symmetric = true,
    .gaussian = true,
    .fuses = true,
    .scratch = scratch,
    .split = split_of,
    .keep = keep,
    .forward = forward,
    .backward = backward,
};
