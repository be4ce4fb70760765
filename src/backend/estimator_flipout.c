/* estimator_flipout.c: one draw for the batch whose signs are turned per example
 * (Wen et al. 2018); maths N10. For a symmetric law each example sees weights of the
 * right law, and examples are nearly independent.
 * Scratch: z [n], sigma z [n], then over the batch x r [in], t [out], dx' [in],
 * signs r [cin] and s [cout], then for each piece dw [n], ds [n] and room. */
#include "backend/linear.h"

typedef struct flipout_job {
    const xb_op *op;
    xb_real *y, *dx;
    const xb_real *x, *dy;
    xb_real *z, *noise, *xr, *t, *dxr, *r, *s, *slots;
    int64_t slot;
} flipout_job;

static int64_t slot_size(const xb_op *op) { return 2 * op->n + op->room; }

static xb_split split_of(const xb_op *op)
{
    return xb_split_of(op->run->batch, 2 * op->work, xb_split_slots(slot_size(op)));
}

static int64_t scratch(const xb_op *op)
{
    int64_t batch = op->run->batch;
    return 2 * op->n + batch * (2 * op->in + op->out + op->cin + op->cout) +
           xb_split_most(batch, 2 * op->work, xb_split_slots(slot_size(op))) *
               slot_size(op);
}

static flipout_job job_of(const xb_op *op)
{
    int64_t batch = op->run->batch;
    flipout_job job = {.op = op, .slot = slot_size(op), .z = op->run->scratch};
    job.noise = job.z + op->n;
    job.xr = job.noise + op->n;
    job.dxr = job.xr + batch * op->in;
    job.t = job.dxr + batch * op->in;
    job.r = job.t + batch * op->out;
    job.s = job.r + batch * op->cin;
    job.slots = job.s + batch * op->cout;
    xb_op_draw(op, xb_op_z(op, job.z), 0, 1, true);
    xb_op_scaled(op, job.noise, job.z);
    return job;
}

/* The signs of these rows, and x with its signs turned. */
static void turn(const flipout_job *job, int64_t begin, int64_t end)
{
    const xb_op *op = job->op;
    int tensor = op->layer->tensor;
    int64_t rows = end - begin, from = op->run->noise.first + begin;
    xb_run_signs(op->run, job->r + begin * op->cin, rows * op->cin, tensor, XB_SIDE_IN,
                 from * op->cin);
    xb_run_signs(op->run, job->s + begin * op->cout, rows * op->cout, tensor, XB_SIDE_OUT,
                 from * op->cout);
    op->run->kernels->channel_multiply(job->xr + begin * op->in, job->x + begin * op->in,
                                       job->r + begin * op->cin, rows, op->in / op->cin,
                                       op->cin);
}

static void forward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const flipout_job *job = arg;
    const xb_op *op = job->op;
    xb_real *room = job->slots + piece * job->slot + 2 * op->n;
    xb_real *y = job->y + begin * op->out, *t = job->t + begin * op->out;
    turn(job, begin, end);
    xb_op_forward(op, y, job->x + begin * op->in, xb_op_mu(op), end - begin, room,
                  XB_ACT_NONE);
    xb_op_forward(op, t, job->xr + begin * op->in, job->noise, end - begin, room,
                  XB_ACT_NONE);
    op->run->kernels->channel_add_product(y, t, job->s + begin * op->cout, end - begin,
                                          op->out / op->cout, op->cout); /* (N10) */
}

static void forward(const xb_op *op, xb_real *y, const xb_real *x)
{
    flipout_job job = job_of(op);
    xb_split split = split_of(op);
    job.y = y, job.x = x;
    xb_op_run(op, &split, forward_rows, &job);
}

static void backward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const flipout_job *job = arg;
    const xb_op *op = job->op;
    const xb_kernels *kernels = op->run->kernels;
    int64_t rows = end - begin;
    xb_real *dw = job->slots + piece * job->slot, *ds = dw + op->n, *room = ds + op->n;
    const xb_real *dy = job->dy + begin * op->out;
    xb_real *t = job->t + begin * op->out, *dxr = job->dxr + begin * op->in;
    turn(job, begin, end);
    kernels->channel_multiply(t, dy, job->s + begin * op->cout, rows, op->out / op->cout,
                              op->cout);
    xb_op_weight(op, dw, job->x + begin * op->in, dy, rows, room);
    xb_op_weight(op, ds, job->xr + begin * op->in, t, rows, room);
    if (!job->dx) return;
    xb_real *dx = job->dx + begin * op->in;
    xb_op_input(op, dx, dy, xb_op_mu(op), NULL, rows, room, XB_ACT_NONE);
    xb_op_input(op, dxr, t, job->noise, NULL, rows, room, XB_ACT_NONE);
    kernels->channel_add_product(dx, dxr, job->r + begin * op->cin, rows,
                                 op->in / op->cin, op->cin);
}

static void backward(const xb_op *op, xb_real *dx, const xb_real *dy, const xb_real *x)
{
    flipout_job job = job_of(op);
    xb_split split = split_of(op);
    job.dx = dx, job.dy = dy, job.x = x;
    xb_op_run(op, &split, backward_rows, &job);
    xb_op_sum(op, job.slots, job.slot, split.count, 2 * op->n);
    xb_op_add_mu(op, op->run->gradient.mu + op->offset, job.slots);
    xb_op_add_sigma(op, op->run->gradient.sigma + op->offset, job.slots + op->n,
                    (const xb_real *[]){job.z, job.z + op->size}, 1);
}

const xb_estimator_kind xb_estimator_flipout = {
    .name = "flipout",
    .symmetric = true,
    .scratch = scratch,
    .split = split_of,
    .forward = forward,
    .backward = backward,
};
