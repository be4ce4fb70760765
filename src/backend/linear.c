/* linear.c: the frame of dense and conv: which estimator runs, and the parts that
 * estimators share; maths N7. See linear.h. */
#include "backend/linear.h"

#include <string.h>

#include "backend/sums.h"
#include "base/choice.h"
#include "base/tree.h"

static const xb_estimator_kind *const estimators[] = {
    [XB_ESTIMATOR_SHARED] = &xb_estimator_shared,
    [XB_ESTIMATOR_EXAMPLE] = &xb_estimator_example,
    [XB_ESTIMATOR_FLIPOUT] = &xb_estimator_flipout,
    [XB_ESTIMATOR_LOCAL] = &xb_estimator_local,
};

const xb_estimator_kind *xb_estimator_at(xb_estimator e)
{
    return (int)e >= 0 && (int)e < XB_COUNT(estimators) ? estimators[e] : NULL;
}

const char *xb_estimator_name(xb_estimator e) { return estimators[e]->name; }

xb_status xb_estimator_parse(xb_ctx *ctx, xb_estimator *out, const char *text)
{
    const char *names[XB_COUNT(estimators)];
    int found;
    for (int i = 0; i < XB_COUNT(estimators); i++) names[i] = estimators[i]->name;
    XB_TRY(xb_choice_parse(ctx, &found, "estimator", text, names, XB_COUNT(names)));
    *out = (xb_estimator)found;
    return XB_OK;
}

static const xb_linear *linear_of(const xb_layer *layer)
{
    return layer->kind == &xb_layer_conv ? xb_ops_conv.linear : xb_ops_dense.linear;
}

/* Multiply-adds an example, no more than is safe to multiply on. */
static int64_t work_of(int64_t kernel, int64_t pixels)
{
    const int64_t most = INT64_C(1) << 30;
    return kernel < most / pixels ? kernel * pixels : most;
}

xb_op xb_op_of(const xb_run *run, const xb_layer *layer)
{
    const xb_tensor *tensor = &run->net->tensor[layer->tensor];
    const xb_linear *linear = linear_of(layer);
    return (xb_op){
        .run = run,
        .layer = layer,
        .linear = linear,
        .tensor = tensor,
        .tensors = layer->tensors,
        .offset = tensor->offset,
        .size = tensor->size,
        .n = tensor->size + (layer->tensors == 2 ? tensor[1].size : 0),
        .in = xb_shape_size(layer->in),
        .out = xb_shape_size(layer->out),
        .cin = layer->in.c,
        .cout = layer->out.c,
        .room = linear->room(run->kernels, layer),
        .work = work_of(tensor->size, layer->out.h * layer->out.w),
    };
}

bool xb_op_random(const xb_op *op)
{
    return op->tensor[0].stochastic || (op->tensors == 2 && op->tensor[1].stochastic);
}

/* Without noise every estimator is the shared one, which then takes mu as it is. */
static const xb_estimator_kind *estimator_of(const xb_op *op)
{
    return op->run->noise.sampler && xb_op_random(op) ? estimators[op->run->estimator]
                                                      : &xb_estimator_shared;
}

void xb_linear_forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                       const xb_real *x)
{
    xb_op op = xb_op_of(run, layer);
    estimator_of(&op)->forward(&op, y, x);
}

void xb_linear_backward(const xb_run *run, const xb_layer *layer, xb_real *dx,
                        const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)y;
    xb_op op = xb_op_of(run, layer);
    estimator_of(&op)->backward(&op, dx, dy, x);
}

int64_t xb_linear_scratch(const xb_run *run, const xb_layer *layer)
{
    xb_op op = xb_op_of(run, layer);
    int64_t plain = xb_estimator_shared.scratch(&op);
    int64_t asked = estimators[run->estimator]->scratch(&op);
    return asked > plain ? asked : plain;
}

int64_t xb_linear_keep(const xb_run *run, const xb_layer *layer)
{
    xb_op op = xb_op_of(run, layer);
    const xb_estimator_kind *kind = estimators[run->estimator];
    return kind->keep ? kind->keep(&op) : 0;
}

static bool deals_with(const xb_op *op, const xb_estimator_kind *kind)
{
    if (!kind->split) return false;
    const xb_split split = kind->split(op);
    return xb_crew_fits(&split, op->run->batch);
}

/* With the estimator of the pass and without noise, which the shared one does. */
bool xb_linear_deals(const xb_run *run, const xb_layer *layer)
{
    const xb_op op = xb_op_of(run, layer);
    return deals_with(&op, &xb_estimator_shared) &&
           (!xb_op_random(&op) || deals_with(&op, estimators[run->estimator]));
}

bool xb_linear_fuses(const xb_run *run, const xb_layer *layer)
{
    const xb_linear *linear = linear_of(layer);
    return linear->fuses && estimators[run->estimator]->fuses;
}

void xb_op_draw(const xb_op *op, xb_z z, int64_t number, int64_t count, bool wide)
{
    for (int i = 0; i < op->tensors; i++) {
        const xb_tensor *t = &op->tensor[i];
        if (t->stochastic)
            xb_run_draw(op->run, z.of[i], count * t->size, op->layer->tensor + i,
                        number * t->size, wide); /* (N9) */
    }
}

void xb_op_theta(const xb_op *op, xb_real *theta, xb_z z)
{
    for (int i = 0; i < op->tensors; i++) {
        xb_run_theta(op->run, theta, z.of[i], &op->tensor[i]);
        theta += op->tensor[i].size;
    }
}

void xb_op_scaled(const xb_op *op, xb_real *out, const xb_real *factor)
{
    for (int i = 0; i < op->tensors; i++) {
        const xb_tensor *t = &op->tensor[i];
        int64_t at = t->offset - op->offset;
        if (t->stochastic)
            op->run->kernels->multiply(out + at, op->run->weights.sigma + t->offset,
                                       factor + at, t->size);
        else
            memset(out + at, 0, (size_t)t->size * sizeof *out);
    }
}

void xb_op_forward(const xb_op *op, xb_real *y, const xb_real *x, const xb_real *w,
                   int64_t rows, xb_real *room, xb_act f)
{
    op->linear->forward(op->run, op->layer, y, x, w, xb_op_bias(op, w), rows, room, f);
}

void xb_op_input(const xb_op *op, xb_real *dx, const xb_real *dy, const xb_real *w,
                 const xb_real *x, int64_t rows, xb_real *room, xb_act f)
{
    op->linear->backward_input(op->run, op->layer, dx, dy, w, x, rows, room, f);
}

void xb_op_weight(const xb_op *op, xb_real *dw, const xb_real *x, const xb_real *dy,
                  int64_t rows, xb_real *room)
{
    op->linear->backward_weight(op->run, op->layer, dw, x, dy, rows, room);
    if (op->tensors == 2)
        op->run->kernels->bias_backward(dw + op->size, dy, rows * (op->out / op->cout),
                                        op->cout);
}

void xb_op_add_mu(const xb_op *op, xb_real *mu, const xb_real *dw)
{
    op->run->kernels->add(mu, dw, op->n);
}

void xb_op_add_sigma(const xb_op *op, xb_real *sigma, const xb_real *dw,
                     const xb_real *const c[2], xb_real factor)
{
    for (int i = 0; i < op->tensors; i++) {
        const xb_tensor *t = &op->tensor[i];
        int64_t at = t->offset - op->offset;
        if (t->stochastic)
            op->run->kernels->add_product(sigma + at, dw + at, c[i], factor, t->size);
    }
}

typedef struct sum_job {
    const xb_op *op;
    xb_real *slot;
    int64_t stride, count;
} sum_job;

/* A range of every slot. */
typedef struct range_job {
    const sum_job *job;
    int64_t begin, n;
} range_job;

static void add_slot(void *arg, int64_t to, int64_t from)
{
    const range_job *range = arg;
    const sum_job *job = range->job;
    xb_real *slot = job->slot + range->begin;
    job->op->run->kernels->add(slot + to * job->stride, slot + from * job->stride,
                               range->n);
}

static void sum_range(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    (void)piece;
    const sum_job *job = arg;
    const xb_crew *crew = job->op->run->crew;
    range_job range = {job, begin, end - begin};
    if (crew)
        xb_comm_sum_own(crew->comm, job->count, crew->cut, add_slot, &range);
    else
        xb_tree_add(job->count, add_slot, &range);
}

void xb_op_sum(const xb_op *op, xb_real *slot, int64_t stride, int64_t count, int64_t n)
{
    sum_job job = {op, slot, stride, count};
    xb_split split = xb_split_of(n, count, XB_SPLIT_ANY);
    if (count > 1) xb_split_run(op->run->ctx, &split, sum_range, &job);
}

void xb_op_gradient(const xb_op *op, xb_real *slot, int64_t stride, int64_t count,
                    int64_t n, xb_sum_fn use)
{
    xb_op_sum(op, slot, stride, count, n);
    if (op->run->crew)
        xb_sums_put(op, slot, stride, count, n, use);
    else
        use(op, slot, false);
}
