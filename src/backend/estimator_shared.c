/* estimator_shared.c: one draw of the weights for the whole batch, or none; maths
 * N8. The batch is cut into pieces that share theta; each piece has room for its part
 * of the weight gradient, and the parts are added in a tree. Large dense layers go
 * forward by panels instead (panel.h).
 * Scratch: theta [n], z [n], then for each piece dw [n] and the operation's room; by
 * panels theirs instead, where there are no gradients. */
#include "backend/panel.h"

typedef struct shared_job {
    const xb_op *op;
    xb_real *y, *dx, *slots;
    const xb_real *x, *dy, *w;
    int64_t slot;
} shared_job;

/* A piece's dw, where there are gradients, and room. */
static int64_t dw_size(const xb_op *op) { return op->run->gradients ? op->n : 0; }
static int64_t slot_size(const xb_op *op) { return dw_size(op) + op->room; }

static int64_t scratch(const xb_op *op)
{
    int64_t pieces =
        xb_split_most(op->run->batch, op->work, xb_split_slots(slot_size(op)));
    int64_t whole = 2 * op->n + pieces * slot_size(op), panels = xb_panel_scratch(op);
    if (panels > 0 && !op->run->gradients) return panels; /* and no theta, ever */
    return panels > whole ? panels : whole;
}

static bool is_drawn(const xb_op *op)
{
    return op->run->noise.sampler && xb_op_random(op);
}

const xb_real *xb_shared_weights(const xb_op *op)
{
    xb_real *theta = op->run->scratch;
    if (!is_drawn(op)) return xb_op_mu(op);
    xb_z z = xb_op_z(op, theta + op->n);
    xb_op_draw(op, z, 0, 1, true);
    xb_op_theta(op, theta, z);
    return theta;
}

static void add_gradient(const xb_op *op, const xb_real *dw, bool later)
{
    const xb_z z = xb_op_z(op, op->run->scratch + op->n);
    xb_op_add_mu(op, op->run->gradient.mu + op->offset, dw);
    if (!is_drawn(op)) return;
    if (later) xb_op_draw(op, z, 0, 1, true);
    xb_op_add_sigma(op, op->run->gradient.sigma + op->offset, dw,
                    (const xb_real *[]){z.of[0], z.of[1]}, 1); /* (N8) */
}

void xb_shared_gradient(const xb_op *op, xb_real *slots, int64_t slot, int64_t count)
{
    xb_op_gradient(op, slots, slot, count, op->n, add_gradient);
}

static shared_job job_of(const xb_op *op)
{
    return (shared_job){.op = op,
                        .w = xb_shared_weights(op),
                        .slots = op->run->scratch + 2 * op->n,
                        .slot = slot_size(op)};
}

static void forward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const shared_job *job = arg;
    const xb_op *op = job->op;
    xb_op_forward(op, job->y + begin * op->out, job->x + begin * op->in, job->w,
                  end - begin, job->slots + piece * job->slot + dw_size(op),
                  op->run->above);
}

static xb_split split_of(const xb_op *op)
{
    return xb_split_of(op->run->batch, op->work, xb_split_slots(slot_size(op)));
}

static void forward(const xb_op *op, xb_real *y, const xb_real *x)
{
    if (!op->run->crew && xb_panel_suits(op)) {
        xb_panel_forward(op, y, x);
        return;
    }
    shared_job job = job_of(op);
    xb_split split = split_of(op);
    job.y = y, job.x = x;
    xb_op_run(op, &split, forward_rows, &job);
}

static void backward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const shared_job *job = arg;
    const xb_op *op = job->op;
    xb_real *dw = job->slots + piece * job->slot, *room = dw + op->n;
    const xb_real *x = job->x + begin * op->in, *dy = job->dy + begin * op->out;
    xb_op_weight(op, dw, x, dy, end - begin, room);
    if (job->dx)
        xb_op_input(op, job->dx + begin * op->in, dy, job->w, x, end - begin, room,
                    op->run->below);
}

static void backward(const xb_op *op, xb_real *dx, const xb_real *dy, const xb_real *x)
{
    shared_job job = job_of(op);
    xb_split split = split_of(op);
    job.dx = dx, job.dy = dy, job.x = x;
    xb_op_run(op, &split, backward_rows, &job);
    xb_shared_gradient(op, job.slots, job.slot, split.count);
}

const xb_estimator_kind xb_estimator_shared = {
    .name = "shared",
    .fuses = true,
    .scratch = scratch,
    .split = split_of,
    .forward = forward,
    .backward = backward,
};
