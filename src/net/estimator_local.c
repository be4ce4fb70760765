/* estimator_local.c: the local reparameterisation trick (Kingma et al. 2015); maths
 * N11. For a gaussian law an output is gaussian too: its noise is drawn itself, one
 * number per example and output instead of one per weight. (Where a kernel is used at
 * several places, as in conv, outputs are drawn as if independent given x: each has
 * the right law, their dependence is left out.)
 * Scratch: sigma^2 [n], then over the batch x^2 [in], v [out], e [out], dx' [in], then
 * for each piece dw [n], ds [n] and room. */
#include "net/linear.h"

typedef struct local_job {
    const xb_op *op;
    xb_real *y, *dx;
    const xb_real *x, *dy;
    xb_real *variance, *xx, *v, *e, *dxx, *slots;
    int64_t slot;
} local_job;

static int64_t slot_size(const xb_op *op) { return 2 * op->n + op->room; }

static xb_split split_of(const xb_op *op)
{
    return xb_split_of(op->run->batch, 2 * op->work, XB_SPLIT_MAX);
}

static int64_t scratch(const xb_op *op)
{
    int64_t batch = op->run->batch;
    return op->n + batch * (2 * op->in + 2 * op->out) +
           xb_split_most(batch, 2 * op->work, XB_SPLIT_MAX) * slot_size(op);
}

static local_job job_of(const xb_op *op)
{
    int64_t batch = op->run->batch;
    local_job job = {.op = op, .slot = slot_size(op), .variance = op->run->scratch};
    job.xx = job.variance + op->n;
    job.dxx = job.xx + batch * op->in;
    job.v = job.dxx + batch * op->in;
    job.e = job.v + batch * op->out;
    job.slots = job.e + batch * op->out;
    xb_op_scaled(op, job.variance, xb_op_sigma(op));
    return job;
}

/* The outputs' variance and noise, for these rows. */
static void spread(const local_job *job, int64_t begin, int64_t end, xb_real *room)
{
    const xb_op *op = job->op;
    const xb_real *x = job->x + begin * op->in;
    xb_real *xx = job->xx + begin * op->in;
    int64_t rows = end - begin, from = op->run->noise.first + begin;
    op->run->backend->multiply(xx, x, x, rows * op->in);
    xb_op_forward(op, job->v + begin * op->out, xx, job->variance, rows, room,
                  XB_ACT_NONE);
    xb_run_draw(op->run, job->e + begin * op->out, rows * op->out, op->layer->tensor,
                from * op->out, false);
}

static void forward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const local_job *job = arg;
    const xb_op *op = job->op;
    xb_real *room = job->slots + piece * job->slot + 2 * op->n;
    xb_real *y = job->y + begin * op->out;
    spread(job, begin, end, room);
    xb_op_forward(op, y, job->x + begin * op->in, xb_op_mu(op), end - begin, room,
                  XB_ACT_NONE);
    op->run->backend->local_forward(y, job->v + begin * op->out, job->e + begin * op->out,
                                    (end - begin) * op->out); /* (N11) */
}

static void forward(const xb_op *op, xb_real *y, const xb_real *x)
{
    local_job job = job_of(op);
    xb_split split = split_of(op);
    job.y = y, job.x = x;
    xb_split_run(op->run->ctx, &split, forward_rows, &job);
}

static void backward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const local_job *job = arg;
    const xb_op *op = job->op;
    int64_t rows = end - begin;
    xb_real *dw = job->slots + piece * job->slot, *ds = dw + op->n, *room = ds + op->n;
    const xb_real *x = job->x + begin * op->in, *dy = job->dy + begin * op->out;
    xb_real *e = job->e + begin * op->out, *v = job->v + begin * op->out;
    xb_real *dxx = job->dxx + begin * op->in;
    spread(job, begin, end, room);
    op->run->backend->local_backward(v, dy, v, e, rows * op->out);
    xb_op_weight(op, dw, x, dy, rows, room);
    xb_op_weight(op, ds, job->xx + begin * op->in, v, rows, room);
    if (!job->dx) return;
    xb_real *dx = job->dx + begin * op->in;
    xb_op_input(op, dx, dy, xb_op_mu(op), NULL, rows, room, XB_ACT_NONE);
    xb_op_input(op, dxx, v, job->variance, NULL, rows, room, XB_ACT_NONE);
    op->run->backend->add_product(dx, x, dxx, 2, rows * op->in);
}

static void backward(const xb_op *op, xb_real *dx, const xb_real *dy, const xb_real *x)
{
    local_job job = job_of(op);
    xb_split split = split_of(op);
    job.dx = dx, job.dy = dy, job.x = x;
    xb_split_run(op->run->ctx, &split, backward_rows, &job);
    xb_op_sum(op, job.slots, job.slot, split.count, 2 * op->n);
    xb_op_add_mu(op, op->run->gradient.mu + op->offset, job.slots);
    const xb_real *sigma = xb_op_sigma(op);
    xb_op_add_sigma(op, op->run->gradient.sigma + op->offset, job.slots + op->n,
                    (const xb_real *[]){sigma, sigma + op->size}, 2); /* (N11) */
}

const xb_estimator_kind xb_estimator_local = {
    .name = "local",
    .symmetric = true,
    .gaussian = true,
    .scratch = scratch,
    .forward = forward,
    .backward = backward,
};
