/* elementwise_ops.c: elu, relu, tanh and sigmoid; maths N6. They overwrite their input:
 * the output is enough for the gradient. And flatten: nothing moves, unless the output
 * may not be the input (the first layer of a net). */
#include <string.h>

#include "backend/layers.h"

/* Multiply-adds that one element costs, for the cut into pieces. */
enum { ELEMENT_WORK = 8 };

typedef struct activation_job {
    const xb_activation_kernel *kernel;
    xb_real *out;
    const xb_real *x, *dy; /* dy NULL: forward */
} activation_job;

static void run_range(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    (void)piece;
    const activation_job *job = arg;
    if (job->dy)
        job->kernel->backward(job->out + begin, job->dy + begin, job->x + begin,
                              end - begin);
    else
        job->kernel->forward(job->out + begin, job->x + begin, end - begin);
}

static void run_all(const xb_run *run, const xb_layer *layer, activation_job job)
{
    job.kernel = xb_kernels_act(run->kernels, layer->kind->act);
    const int64_t size = xb_shape_size(layer->in), first = xb_run_first(run) * size;
    const int64_t n = xb_run_rows(run) * size;
    job.out += first, job.x += first;
    if (job.dy) job.dy += first;
    xb_split split = xb_split_of(n, ELEMENT_WORK, XB_SPLIT_ANY);
    xb_split_run(run->ctx, &split, run_range, &job);
}

static void act_forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                        const xb_real *x)
{
    run_all(run, layer, (activation_job){.out = y, .x = x});
}

static void act_backward(const xb_run *run, const xb_layer *layer, xb_real *dx,
                         const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)x;
    if (dx) run_all(run, layer, (activation_job){.out = dx, .x = y, .dy = dy});
}

static bool always(const xb_run *run, const xb_layer *layer)
{
    (void)run, (void)layer;
    return true;
}

const xb_layer_ops xb_ops_activation = {
    .deals = always,
    .placement = XB_PLACE_OVERWRITE,
    .forward = act_forward,
    .backward = act_backward,
};

static void copy(const xb_run *run, const xb_layer *layer, xb_real *to,
                 const xb_real *from)
{
    size_t n = (size_t)(run->batch * xb_shape_size(layer->in));
    if (to && to != from) memcpy(to, from, n * sizeof *to);
}

static void copy_back(const xb_run *run, const xb_layer *layer, xb_real *dx,
                      const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)x, (void)y;
    copy(run, layer, dx, dy);
}

const xb_layer_ops xb_ops_flatten = {
    .deals = always,
    .placement = XB_PLACE_ALIAS,
    .forward = copy,
    .backward = copy_back,
};
