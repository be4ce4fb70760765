/* estimator_flipout.c: one draw for the batch whose signs are turned per example
 * (Wen et al. 2018); maths N10. For a symmetric law each example sees weights of the
 * right law, and examples are nearly independent. A convolution makes the weights of an
 * example, for one product each way (flip.h); a dense layer, whose weights an example
 * uses once, has two products over the batch, by mu and by sigma z. Scratch: the flip; of
 * two products, over the batch x r [in], t [out], dx' [in]; then for each piece its sums
 * dw [n], ds [n], the flip's other work, and room. */
#include "backend/flip.h"

typedef struct flipout_job {
    const xb_op *op;
    xb_flip flip;
    xb_real *y, *dx;
    const xb_real *x, *dy;
    xb_real *xr, *t, *dxr, *slots;
    int64_t slot;
} flipout_job;

enum { ONE_PRODUCT = 4 }; /* positions that are worth the weights of an example */

static bool one_product(const xb_op *op) { return op->out / op->cout >= ONE_PRODUCT; }

static int64_t sums_size(const xb_op *op)
{
    return one_product(op) ? xb_flip_slot(op) : 2 * op->n;
}

static int64_t slot_size(const xb_op *op) { return sums_size(op) + op->room; }

static int64_t work_of(const xb_op *op)
{
    return one_product(op) ? op->work : 2 * op->work;
}

static xb_split split_of(const xb_op *op)
{
    return xb_split_of(op->run->batch, work_of(op), xb_split_slots(slot_size(op)));
}

static int64_t scratch(const xb_op *op)
{
    const int64_t batch = op->run->batch, slot = slot_size(op);
    const int64_t turned = one_product(op) ? 0 : batch * (2 * op->in + op->out);
    return xb_flip_scratch(op) + turned +
           xb_split_most(batch, work_of(op), xb_split_slots(slot)) * slot;
}

static flipout_job job_of(const xb_op *op)
{
    const int64_t batch = op->run->batch;
    xb_real *rest = op->run->scratch + xb_flip_scratch(op);
    flipout_job job = {.op = op, .slot = slot_size(op), .slots = rest};
    job.flip = xb_flip_of(op, op->run->scratch);
    if (one_product(op)) return job;
    job.xr = rest;
    job.dxr = job.xr + batch * op->in;
    job.t = job.dxr + batch * op->in;
    job.slots = job.t + batch * op->out;
    return job;
}

static xb_real *room_of(const flipout_job *job, int64_t piece)
{
    return job->slots + piece * job->slot + sums_size(job->op);
}

/* ---- one product, by the weights of an example */

static void forward_flipped(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const flipout_job *job = arg;
    const xb_op *op = job->op;
    xb_flip_signs(&job->flip, begin, end);
    for (int64_t row = begin; row < end; row++) {
        const xb_real *w = xb_flip_theta(&job->flip, job->slots + piece * job->slot, row);
        xb_op_forward(op, job->y + row * op->out, job->x + row * op->in, w, 1,
                      room_of(job, piece), XB_ACT_NONE);
    }
}

static void backward_flipped(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const flipout_job *job = arg;
    const xb_op *op = job->op;
    xb_real *slot = job->slots + piece * job->slot, *room = room_of(job, piece);
    xb_flip_signs(&job->flip, begin, end);
    xb_flip_clear(&job->flip, slot);
    for (int64_t row = begin; row < end; row++) {
        const xb_real *dy = job->dy + row * op->out;
        xb_op_weight(op, xb_flip_g(&job->flip, slot), job->x + row * op->in, dy, 1, room);
        xb_flip_add(&job->flip, slot, row);
        if (!job->dx) continue;
        const xb_real *w = xb_flip_theta(&job->flip, slot, row);
        xb_op_input(op, job->dx + row * op->in, dy, w, NULL, 1, room, XB_ACT_NONE);
    }
}

/* ---- two products over the batch */

/* The signs of these rows, and x with its signs turned. */
static void turn(const flipout_job *job, int64_t begin, int64_t end)
{
    const xb_op *op = job->op;
    xb_flip_signs(&job->flip, begin, end);
    op->run->kernels->channel_multiply(job->xr + begin * op->in, job->x + begin * op->in,
                                       job->flip.r + begin * op->cin, end - begin,
                                       op->in / op->cin, op->cin);
}

static void forward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const flipout_job *job = arg;
    const xb_op *op = job->op;
    xb_real *room = room_of(job, piece);
    xb_real *y = job->y + begin * op->out, *t = job->t + begin * op->out;
    turn(job, begin, end);
    xb_op_forward(op, y, job->x + begin * op->in, xb_op_mu(op), end - begin, room,
                  XB_ACT_NONE);
    xb_op_forward(op, t, job->xr + begin * op->in, job->flip.noise, end - begin, room,
                  XB_ACT_NONE);
    op->run->kernels->channel_add_product(y, t, job->flip.s + begin * op->cout,
                                          end - begin, op->out / op->cout,
                                          op->cout); /* (N10) */
}

static void backward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const flipout_job *job = arg;
    const xb_op *op = job->op;
    const xb_kernels *kernels = op->run->kernels;
    int64_t rows = end - begin;
    xb_real *dw = job->slots + piece * job->slot, *ds = dw + op->n;
    xb_real *room = room_of(job, piece);
    const xb_real *dy = job->dy + begin * op->out;
    xb_real *t = job->t + begin * op->out, *dxr = job->dxr + begin * op->in;
    turn(job, begin, end);
    kernels->channel_multiply(t, dy, job->flip.s + begin * op->cout, rows,
                              op->out / op->cout, op->cout);
    xb_op_weight(op, dw, job->x + begin * op->in, dy, rows, room);
    xb_op_weight(op, ds, job->xr + begin * op->in, t, rows, room);
    if (!job->dx) return;
    xb_real *dx = job->dx + begin * op->in;
    xb_op_input(op, dx, dy, xb_op_mu(op), NULL, rows, room, XB_ACT_NONE);
    xb_op_input(op, dxr, t, job->flip.noise, NULL, rows, room, XB_ACT_NONE);
    kernels->channel_add_product(dx, dxr, job->flip.r + begin * op->cin, rows,
                                 op->in / op->cin, op->cin);
}

static void forward(const xb_op *op, xb_real *y, const xb_real *x)
{
    flipout_job job = job_of(op);
    xb_split split = split_of(op);
    job.y = y, job.x = x;
    xb_op_run(op, &split, one_product(op) ? forward_flipped : forward_rows, &job);
}

static void backward(const xb_op *op, xb_real *dx, const xb_real *dy, const xb_real *x)
{
    flipout_job job = job_of(op);
    xb_split split = split_of(op);
    job.dx = dx, job.dy = dy, job.x = x;
    xb_op_run(op, &split, one_product(op) ? backward_flipped : backward_rows, &job);
    xb_flip_gradient(&job.flip, job.slots, job.slot, split.count);
}

const xb_estimator_kind xb_estimator_flipout = {
    .name = "flipout",
    .symmetric = true,
    .scratch = scratch,
    .split = split_of,
    .forward = forward,
    .backward = backward,
};
