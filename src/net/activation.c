/* activation.c: elu, relu, tanh and sigmoid, each a row; maths N6. They overwrite
 * their input: the output is enough for the gradient. */
#include "net/run.h"

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
    int64_t n = run->batch * xb_shape_size(layer->in);
    xb_split split = xb_split_of(n, ELEMENT_WORK, XB_SPLIT_MAX);
    xb_split_run(run->ctx, &split, run_range, &job);
}

#define ACTIVATION(NAME, ACT)                                                            \
    static void NAME##_forward(const xb_run *run, const xb_layer *layer, xb_real *y,     \
                               const xb_real *x)                                         \
    {                                                                                    \
        run_all(run, layer, (activation_job){&run->backend->NAME, y, x, NULL});          \
    }                                                                                    \
    static void NAME##_backward(const xb_run *run, const xb_layer *layer, xb_real *dx,   \
                                const xb_real *dy, const xb_real *x, const xb_real *y)   \
    {                                                                                    \
        (void)x;                                                                         \
        if (dx) run_all(run, layer, (activation_job){&run->backend->NAME, dx, y, dy});   \
    }                                                                                    \
    const xb_layer_kind xb_layer_##NAME = {                                              \
        .name = #NAME,                                                                   \
        .placement = XB_PLACE_OVERWRITE,                                                 \
        .act = (ACT),                                                                    \
        .forward = NAME##_forward,                                                       \
        .backward = NAME##_backward,                                                     \
    };

ACTIVATION(elu, XB_ACT_ELU)
ACTIVATION(relu, XB_ACT_RELU)
ACTIVATION(tanh, XB_ACT_TANH)
ACTIVATION(sigmoid, XB_ACT_SIGMOID)
