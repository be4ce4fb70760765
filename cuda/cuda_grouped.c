/* cuda_grouped.c: dense layers forward, with one draw for each group of examples or
 * for the whole batch, by the kernel that makes draws as it needs them; maths N8, N9.
 * Scratch: biases [groups][out], then the kernel's room. */
#include "cuda_linear.h"

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

bool xbc_grouped_can(const xbc_linear *op, int64_t group)
{
    return op->dense && op->tensor[0].stochastic && op->cout % 64 == 0 &&
           group >= XBC_GROUP_LEAST && group <= XBC_GROUP_MOST;
}

static int64_t groups_most(const xbc_linear *op, int64_t group)
{
    return smaller(XBC_GROUPS, (op->run->batch + group - 1) / group + 1);
}

int64_t xbc_grouped_scratch(const xbc_linear *op, int64_t group)
{
    int64_t rows = smaller(op->run->batch, groups_most(op, group) * group);
    return groups_most(op, group) * op->out +
           xbc_grouped_room(rows, group, op->in, op->out);
}

/* Draws number .. number + count - 1 for rows [row, row + rows); `skip` rows of the
 * first group lie before them. */
static void some_groups(const xbc_linear *op, float *y, const float *x, xbc_grouped job,
                        int64_t number, int64_t row)
{
    float *bias = op->run->scratch;
    job.where = xbc_stream(op->run, (uint32_t)op->layer->tensor);
    job.first = number * op->size;
    job.negate = xbc_negates(op->run);
    job.wide = true;
    job.in = op->in, job.out = op->out;
    job.y = y + row * op->out, job.x = x + row * op->in;
    job.mu = op->mu, job.sigma = op->sigma;
    job.bias = xbc_biases(op, bias, number, job.groups);
    job.room = bias + groups_most(op, job.group) * op->out;
    xbc_grouped_forward(&job);
}

bool xbc_grouped_forward_of(const xbc_linear *op, float *y, const float *x, int64_t group)
{
    const xb_run *run = op->run;
    const xbc_source source = xbc_source_of(run->noise.sampler);
    bool shared = run->estimator == XB_ESTIMATOR_SHARED;
    int64_t first = shared ? 0 : run->noise.first, begin = first / group;
    int64_t end = (first + run->batch - 1) / group + 1;
    if (!xbc_grouped_suits(&source, op->out)) return false;
    for (int64_t number = begin; number < end; number += XBC_GROUPS) {
        int64_t count = smaller(XBC_GROUPS, end - number), start = number * group - first;
        int64_t row = start < 0 ? 0 : start,
                stop = smaller(start + count * group, run->batch);
        const xbc_grouped job = {.source = source,
                                 .rows = stop - row,
                                 .group = group,
                                 .groups = count,
                                 .skip = row - start};
        some_groups(op, y, x, job, number, row);
    }
    return true;
}
