/* maxpool_ops.c: the largest value of each window, over the batch; maths N3. */
#include "backend/layers.h"

typedef struct pool_job {
    const xb_run *run;
    const xb_window *win;
    xb_real *out;
    const xb_real *x, *dy;
} pool_job;

static void forward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    (void)piece;
    const pool_job *job = arg;
    const xb_window *win = job->win;
    job->run->kernels->maxpool_forward(job->out + begin * win->oh * win->ow * win->oc,
                                       job->x + begin * win->h * win->w * win->c,
                                       end - begin, win);
}

static void backward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    (void)piece;
    const pool_job *job = arg;
    const xb_window *win = job->win;
    int64_t image = win->h * win->w * win->c;
    job->run->kernels->maxpool_backward(job->out + begin * image,
                                        job->dy + begin * win->oh * win->ow * win->oc,
                                        job->x + begin * image, end - begin, win);
}

static void run_rows(const pool_job *job, xb_range_fn body)
{
    const xb_window *win = job->win;
    int64_t work = win->oh * win->ow * win->oc * win->kh * win->kw;
    const int64_t first = xb_run_first(job->run), image = win->h * win->w * win->c;
    const int64_t pooled = win->oh * win->ow * win->oc;
    xb_split split = xb_split_of(xb_run_rows(job->run), work, XB_SPLIT_ANY);
    pool_job own = *job;
    own.out += first * (job->dy ? image : pooled), own.x += first * image;
    if (job->dy) own.dy += first * pooled;
    xb_split_run(job->run->ctx, &split, body, &own);
}

static void forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                    const xb_real *x)
{
    run_rows(&(pool_job){run, &layer->window, y, x, NULL}, forward_rows);
}

static void backward(const xb_run *run, const xb_layer *layer, xb_real *dx,
                     const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)y;
    if (dx) run_rows(&(pool_job){run, &layer->window, dx, x, dy}, backward_rows);
}

static bool always(const xb_run *run, const xb_layer *layer)
{
    (void)run, (void)layer;
    return true;
}

const xb_layer_ops xb_ops_maxpool = {
    .deals = always,
    .forward = forward,
    .backward = backward,
};
