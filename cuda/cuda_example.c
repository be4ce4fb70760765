/* cuda_example.c: a draw of the weights for each group of examples; maths N9. Groups
 * are done in panels, each with as many draws as SOME_FLOATS hold. Forward through
 * dense layers with one example, or with 16 or more, for each draw, no draw is ever
 * stored in memory. Scratch: theta, z and dw [panel][n]; or biases [draws][out] and
 * the product's room. */
#include "cuda_linear.h"

enum { SOME_FLOATS = 1 << 24 };

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t groups_most(const xbc_linear *op) /* parts of groups at both ends */
{
    return (op->run->batch + op->run->group - 1) / op->run->group + 1;
}

static int64_t panel_of(const xbc_linear *op)
{
    return smaller(groups_most(op), larger(1, SOME_FLOATS / op->n));
}

/* One example for each draw, and whole blocks of outputs. */
static bool fused(const xbc_linear *op)
{
    return op->run->group == 1 && op->dense && op->tensor[0].stochastic &&
           op->cout % 64 == 0;
}

static bool grouped(const xbc_linear *op) { return xbc_grouped_can(op, op->run->group); }

static int64_t scratch(const xbc_linear *op)
{
    int64_t panels = 3 * panel_of(op) * op->n, rows = op->run->batch;
    int64_t single = rows * op->out + xbc_fused_room(rows, op->in, op->out);
    if (grouped(op)) return larger(panels, xbc_grouped_scratch(op, op->run->group));
    return fused(op) ? larger(panels, single) : panels;
}

/* Some groups: their first draw, how many, and their rows of the batch. */
typedef struct panel {
    int64_t number, count, row;
    xbc_parts parts;
} panel;

/* count is 0 when all are done. */
static panel panel_at(const xbc_linear *op, int64_t done)
{
    const xb_run *run = op->run;
    int64_t first = run->noise.first, group = run->group, begin = first / group;
    int64_t groups = (first + run->batch - 1) / group - begin + 1;
    panel p = {.number = begin + done, .count = smaller(panel_of(op), groups - done)};
    int64_t start = p.number * group - first, end = start + p.count * group;
    p.row = larger(start, 0);
    p.parts = (xbc_parts){.rows = group,
                          .skip = p.row - start,
                          .batch = smaller(end, run->batch) - p.row,
                          .count = p.count,
                          .stride = op->n};
    return p;
}

static void forward_panels(const xbc_linear *op, float *y, const float *x)
{
    float *theta = op->run->scratch;
    for (panel p = panel_at(op, 0); p.count > 0;
         p = panel_at(op, p.number + p.count - op->run->noise.first / op->run->group)) {
        xbc_op_panels(op, NULL, theta, p.number, p.count);
        xbc_forward(y + p.row * op->out, x + p.row * op->in, theta, op->bias, &op->win,
                    &p.parts);
    }
}

static void forward_fused(const xbc_linear *op, float *y, const float *x)
{
    const xb_run *run = op->run;
    float *bias = run->scratch;
    const xbc_fused job = {.source = xbc_source_of(run->noise.sampler),
                           .where = xbc_stream(run, (uint32_t)op->layer->tensor),
                           .first = run->noise.first * op->size,
                           .negate = xbc_negates(run),
                           .rows = run->batch,
                           .in = op->in,
                           .out = op->out,
                           .y = y,
                           .x = x,
                           .mu = op->mu,
                           .sigma = op->sigma,
                           .bias = xbc_biases(op, bias, run->noise.first, run->batch),
                           .room = bias + run->batch * op->out};
    xbc_fused_forward(&job);
}

static void forward(const xbc_linear *op, float *y, const float *x)
{
    const xb_run *run = op->run;
    if (fused(op))
        forward_fused(op, y, x);
    else if (grouped(op) && xbc_grouped_forward_of(op, y, x, run->group))
        return;
    else
        forward_panels(op, y, x);
}

static void backward(const xbc_linear *op, float *dx, const float *dy, const float *x)
{
    int64_t room = panel_of(op) * op->n;
    float *theta = op->run->scratch, *z = theta + room, *dw = z + room;
    for (panel p = panel_at(op, 0); p.count > 0;
         p = panel_at(op, p.number + p.count - op->run->noise.first / op->run->group)) {
        const float *part = dy + p.row * op->out;
        xbc_op_panels(op, z, theta, p.number, p.count);
        xbc_backward_weight(dw, x + p.row * op->in, part, op->bias, &op->win, &p.parts);
        xbc_add_mu(op, dw, p.count);
        xbc_add_sigma(op, dw, z, op->n, p.count, 1); /* (N9) */
        if (dx) xbc_backward_input(dx + p.row * op->in, part, theta, &op->win, &p.parts);
    }
}

const xbc_estimator xbc_example = {
    .scratch = scratch, .forward = forward, .backward = backward};
