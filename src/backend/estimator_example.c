/* estimator_example.c: a draw of the weights for each group of examples; maths N9.
 *
 * Draw number g of a tensor of m elements is elements g m .. g m + m - 1 of its
 * stream, so the draws of several groups are one run of it: they are made a panel at a
 * time, small enough for the first cache. Groups are cut into pieces; each piece has
 * its own theta, panel and parts of the gradient.
 * Scratch of a piece: theta [n], dw [n], dmu [n], dsigma [n], the panel (kernels, then
 * biases), room. */
#include "backend/linear.h"

#include <string.h>

enum { PANEL = 4096, BUDGET = 1 << 22 }; /* reals */

typedef struct example_job {
    const xb_op *op;
    xb_real *y, *dx, *slots;
    const xb_real *x, *dy;
    int64_t slot, panel;
    int64_t first_group;
} example_job;

/* Groups whose draws are made at once. */
static int64_t panel_groups(const xb_op *op) { return op->n < PANEL ? PANEL / op->n : 1; }

static int64_t slot_size(const xb_op *op)
{
    return 4 * op->n + panel_groups(op) * op->n + op->room;
}

/* Groups that `batch` examples from number `first` on belong to. */
static int64_t group_count(int64_t batch, int64_t first, int64_t group)
{
    return (first + batch - 1) / group - first / group + 1;
}

/* What a group costs: a draw is worth about ten multiply-adds. */
static int64_t group_work_of(const xb_op *op)
{
    return op->work * op->run->group + 10 * op->n;
}

/* Pieces that memory should go to. */
static int64_t most_pieces(const xb_op *op)
{
    int64_t most = BUDGET / slot_size(op);
    return most > 1 ? most : 1;
}

static int64_t scratch(const xb_op *op)
{
    int64_t group = op->run->group;
    int64_t groups = (op->run->batch + group - 1) / group + 1; /* parts at both ends */
    return xb_split_most(groups, group_work_of(op), most_pieces(op)) * slot_size(op);
}

/* A piece's memory. */
typedef struct example_slot {
    xb_real *theta, *dw, *dmu, *dsigma, *room;
    xb_z panel;
} example_slot;

static example_slot slot_of(const example_job *job, int64_t piece)
{
    const xb_op *op = job->op;
    xb_real *p = job->slots + piece * job->slot, *panel = p + 4 * op->n;
    return (example_slot){
        .theta = p,
        .dw = p + op->n,
        .dmu = p + 2 * op->n,
        .dsigma = p + 3 * op->n,
        .panel = {{panel, panel + job->panel * op->size}},
        .room = panel + job->panel * op->n,
    };
}

/* One group at work: its rows of the batch and its z. */
typedef struct group_work {
    int64_t row, rows;
    xb_z z;
} group_work;

/* Group g of a piece's [begin, end); makes the next panel when the last is used up. */
static group_work group_at(const example_job *job, const example_slot *slot, int64_t g,
                           int64_t begin, int64_t end)
{
    const xb_op *op = job->op;
    const xb_run *run = op->run;
    int64_t at = (g - begin) % job->panel, number = job->first_group + g;
    if (at == 0)
        xb_op_draw(op, slot->panel, number, end - g < job->panel ? end - g : job->panel,
                   false);
    int64_t row = number * run->group - run->noise.first, stop = row + run->group;
    if (row < 0) row = 0;
    if (stop > run->batch) stop = run->batch;
    xb_z z = {
        {slot->panel.of[0] + at * op->size, slot->panel.of[1] + at * (op->n - op->size)}};
    return (group_work){row, stop - row, z};
}

/* Dense layers, one example a draw: the backend may do without theta. */
static bool fused(const xb_op *op)
{
    return op->run->group == 1 && op->layer->kind == &xb_layer_dense &&
           op->tensor[0].stochastic && op->run->kernels->dense_draw_forward;
}

/* theta of the bias alone, [cout]; NULL: there is none. */
static const xb_real *bias_theta(const xb_op *op, xb_real *theta, xb_z z)
{
    const xb_real *mu = xb_op_bias(op, xb_op_mu(op));
    if (!mu || !op->tensor[1].stochastic) return mu;
    op->run->kernels->theta(theta, mu, xb_op_sigma(op) + op->size, z.of[1], op->cout);
    return theta;
}

static void forward_group(const xb_op *op, const example_slot *slot, xb_real *y,
                          const xb_real *x, group_work w)
{
    if (fused(op)) {
        const xb_real *b = bias_theta(op, slot->theta, w.z);
        op->run->kernels->dense_draw_forward(y, x, xb_op_mu(op), xb_op_sigma(op),
                                             w.z.of[0], b, op->cin, op->cout);
        return;
    }
    xb_op_theta(op, slot->theta, w.z);
    xb_op_forward(op, y, x, slot->theta, w.rows, slot->room, XB_ACT_NONE);
}

static void forward_groups(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const example_job *job = arg;
    const xb_op *op = job->op;
    example_slot slot = slot_of(job, piece);
    for (int64_t g = begin; g < end; g++) {
        group_work w = group_at(job, &slot, g, begin, end);
        forward_group(op, &slot, job->y + w.row * op->out, job->x + w.row * op->in, w);
    }
}

static example_job job_of(const xb_op *op)
{
    return (example_job){.op = op,
                         .slots = op->run->scratch,
                         .slot = slot_size(op),
                         .panel = panel_groups(op),
                         .first_group = op->run->noise.first / op->run->group};
}

static xb_split groups_of(const xb_op *op)
{
    const xb_run *run = op->run;
    return xb_split_of(group_count(run->batch, run->noise.first, run->group),
                       group_work_of(op), most_pieces(op));
}

static void forward(const xb_op *op, xb_real *y, const xb_real *x)
{
    example_job job = job_of(op);
    xb_split split = groups_of(op);
    job.y = y, job.x = x;
    xb_split_run(op->run->ctx, &split, forward_groups, &job);
}

static void backward_fused(const xb_op *op, const example_slot *slot, xb_real *dx,
                           const xb_real *dy, const xb_real *x, group_work w)
{
    const xb_kernels *kernels = op->run->kernels;
    kernels->dense_draw_backward(dx, slot->dmu, slot->dsigma, dy, x, xb_op_mu(op),
                                 xb_op_sigma(op), w.z.of[0], op->cin, op->cout);
    if (op->tensors < 2) return;
    kernels->add(slot->dmu + op->size, dy, op->cout);
    if (op->tensor[1].stochastic)
        kernels->add_product(slot->dsigma + op->size, dy, w.z.of[1], 1, op->cout);
}

static void backward_group(const xb_op *op, const example_slot *slot, xb_real *dx,
                           const xb_real *dy, const xb_real *x, group_work w)
{
    if (fused(op)) {
        backward_fused(op, slot, dx, dy, x, w);
        return;
    }
    xb_op_weight(op, slot->dw, x, dy, w.rows, slot->room);
    xb_op_add_mu(op, slot->dmu, slot->dw);
    xb_op_add_sigma(op, slot->dsigma, slot->dw, (const xb_real *[]){w.z.of[0], w.z.of[1]},
                    1); /* (N9) */
    if (!dx) return;
    xb_op_theta(op, slot->theta, w.z);
    xb_op_input(op, dx, dy, slot->theta, NULL, w.rows, slot->room, XB_ACT_NONE);
}

static void backward_groups(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const example_job *job = arg;
    const xb_op *op = job->op;
    example_slot slot = slot_of(job, piece);
    memset(slot.dmu, 0, (size_t)(2 * op->n) * sizeof *slot.dmu);
    for (int64_t g = begin; g < end; g++) {
        group_work w = group_at(job, &slot, g, begin, end);
        backward_group(op, &slot, job->dx ? job->dx + w.row * op->in : NULL,
                       job->dy + w.row * op->out, job->x + w.row * op->in, w);
    }
}

static void backward(const xb_op *op, xb_real *dx, const xb_real *dy, const xb_real *x)
{
    example_job job = job_of(op);
    xb_split split = groups_of(op);
    job.dx = dx, job.dy = dy, job.x = x;
    xb_split_run(op->run->ctx, &split, backward_groups, &job);
    xb_real *dmu = slot_of(&job, 0).dmu, *dsigma = dmu + op->n;
    xb_op_sum(op, dmu, job.slot, split.count, 2 * op->n);
    xb_op_add_mu(op, op->run->gradient.mu + op->offset, dmu);
    for (int i = 0; i < op->tensors; i++) {
        const xb_tensor *t = &op->tensor[i];
        if (t->stochastic)
            op->run->kernels->add(op->run->gradient.sigma + t->offset,
                                  dsigma + (t->offset - op->offset), t->size);
    }
}

const xb_estimator_kind xb_estimator_example = {
    .name = "example",
    .scratch = scratch,
    .forward = forward,
    .backward = backward,
};
