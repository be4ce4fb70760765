/* batchnorm_ops.c: each channel to mean 0 and variance 1 over the batch, then a learned
 * scale and shift; maths N4, N5. In training the statistics
 * are those of the batch, whatever draws its weights are of, and the running ones move
 * towards them; in prediction the running ones are used. Sums in double.
 *
 * Of images they are by blocks of examples (crew.h), so that ranks can have examples of
 * their own; of vectors by pieces that are worth a thread. */
#include <math.h>
#include <string.h>

#include "backend/batchnorm.h"
#include "base/tree.h"

/* What is kept for backward, [c] each. */
typedef struct norm_keep {
    xb_real *mean, *inverse, *gain, *a, *b;
} norm_keep;

static int64_t keep(const xb_run *run, const xb_layer *layer)
{
    (void)run;
    return 5 * layer->in.c;
}

static int64_t pixels_of(const xb_layer *layer) { return layer->in.h * layer->in.w; }
static bool of_images(const xb_layer *layer) { return pixels_of(layer) > 1; }

/* Sums [pieces][2][c] in double; the pass's scratch begins at a cache line. */
static int64_t scratch(const xb_run *run, const xb_layer *layer)
{
    const int64_t c = layer->in.c, dear = INT64_C(1) << 30;
    const int64_t pieces = of_images(layer)
                               ? xb_split_most(run->batch, dear, XB_SPLIT_ANY)
                               : xb_split_most(run->batch, 4 * c, XB_SPLIT_ANY);
    return pieces * 2 * c * (int64_t)(sizeof(double) / sizeof(xb_real));
}

static double *sums_of(const xb_run *run) { return (double *)(void *)run->scratch; }

static norm_keep keep_of(const xb_run *run, const xb_layer *layer)
{
    int64_t c = layer->in.c;
    xb_real *p = run->keep;
    return (norm_keep){p, p + c, p + 2 * c, p + 3 * c, p + 4 * c};
}

typedef struct norm_job {
    const xb_run *run;
    const xb_layer *layer;
    norm_keep k;
    xb_real *out;
    const xb_real *x, *dy, *shift;
} norm_job;

static norm_job job_of(const xb_run *run, const xb_layer *layer)
{
    const xb_tensor *scale = &run->net->tensor[layer->tensor];
    return (norm_job){.run = run,
                      .layer = layer,
                      .k = keep_of(run, layer),
                      .shift = run->weights.mu + scale[1].offset};
}

static int64_t row_count(const norm_job *job)
{
    return job->run->batch * job->layer->in.h * job->layer->in.w;
}

static double *sums_at(const norm_job *job, int64_t piece)
{
    return sums_of(job->run) + 2 * job->layer->in.c * piece;
}

static void add_sums(void *arg, int64_t to, int64_t from)
{
    const norm_job *job = arg;
    double *sum = sums_at(job, to);
    const double *other = sums_at(job, from);
    for (int64_t i = 0; i < 2 * job->layer->in.c; i++) sum[i] += other[i];
}

/* Pieces of the rows, a row being one pixel of one example. */
static xb_split split_of(const norm_job *job)
{
    const int64_t pixels = pixels_of(job->layer);
    if (!of_images(job->layer))
        return xb_split_of(row_count(job), 4 * job->layer->in.c, XB_SPLIT_ANY);
    const xb_split blocks = xb_crew_blocks(job->run->batch);
    return (xb_split){row_count(job), blocks.per * pixels, blocks.count};
}

/* Runs `body` over the rows; where it sums, the first 2 c of the scratch are then the
 * totals, added in a tree of the pieces. */
static void run_rows(norm_job *job, xb_range_fn body, bool sums)
{
    static const xb_ctx alone = {.threads = 1};
    const int64_t c = job->layer->in.c;
    const xb_crew *crew = job->run->crew;
    const xb_split split = split_of(job);
    const bool worth = xb_split_of(row_count(job), 4 * c, XB_SPLIT_ANY).count > 1;
    xb_crew_run(worth ? job->run->ctx : &alone, crew, &split, body, job);
    if (!sums) return;
    if (crew)
        xb_comm_gather(crew->comm, sums_of(job->run), 2 * c * (int64_t)sizeof(double),
                       crew->cut);
    xb_tree_add(split.count, add_sums, job);
}

static void sum_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const norm_job *job = arg;
    int64_t c = job->layer->in.c;
    double *sum = sums_at(job, piece);
    job->run->kernels->norm_sum(sum, job->x + begin * c, end - begin, c);
    memset(sum + c, 0, (size_t)c * sizeof *sum);
}

static void square_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const norm_job *job = arg;
    int64_t c = job->layer->in.c;
    double *sum = sums_at(job, piece);
    job->run->kernels->norm_square(sum, job->x + begin * c, job->k.mean, end - begin, c);
    memset(sum + c, 0, (size_t)c * sizeof *sum);
}

/* Mean and 1 / sd of the batch, and the running statistics moved. (N4) */
static void batch_statistics(norm_job *job)
{
    const xb_layer *layer = job->layer;
    int64_t c = layer->in.c, rows = row_count(job);
    double m = layer->momentum, *total = sums_of(job->run);
    const xb_real *running = job->run->weights.state + layer->state;
    xb_real *moved = job->run->weights.new_state + layer->state;
    run_rows(job, sum_rows, true);
    for (int64_t i = 0; i < c; i++) {
        double mean = total[i] / (double)rows;
        job->k.mean[i] = (xb_real)mean;
        moved[i] = (xb_real)(m * (double)running[i] + (1 - m) * mean);
    }
    run_rows(job, square_rows, true);
    for (int64_t i = 0; i < c; i++) {
        double variance = total[i] / (double)rows;
        job->k.inverse[i] = (xb_real)(1 / sqrt(variance + layer->epsilon));
        moved[c + i] = (xb_real)(m * (double)running[c + i] + (1 - m) * variance);
    }
}

static void running_statistics(const norm_job *job)
{
    const xb_layer *layer = job->layer;
    int64_t c = layer->in.c;
    const xb_real *running = job->run->weights.state + layer->state;
    for (int64_t i = 0; i < c; i++) {
        job->k.mean[i] = running[i];
        job->k.inverse[i] = (xb_real)(1 / sqrt((double)running[c + i] + layer->epsilon));
    }
}

static void forward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    (void)piece;
    const norm_job *job = arg;
    int64_t c = job->layer->in.c;
    job->run->kernels->norm_forward(job->out + begin * c, job->x + begin * c, job->k.mean,
                                    job->k.gain, job->shift, end - begin, c);
}

void xb_batchnorm_prepare(const xb_run *run, const xb_layer *layer, const xb_real *x)
{
    norm_job job = job_of(run, layer);
    const xb_real *scale = run->weights.mu + run->net->tensor[layer->tensor].offset;
    job.x = x;
    if (run->mode == XB_MODE_TRAIN)
        batch_statistics(&job);
    else
        running_statistics(&job);
    for (int64_t i = 0; i < layer->in.c; i++) job.k.gain[i] = scale[i] * job.k.inverse[i];
}

xb_block_norm xb_batchnorm_map(const xb_run *run, const xb_layer *layer)
{
    norm_job job = job_of(run, layer);
    return (xb_block_norm){job.k.mean, job.k.gain, job.shift};
}

static void forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                    const xb_real *x)
{
    xb_batchnorm_prepare(run, layer, x);
    norm_job job = job_of(run, layer);
    job.out = y, job.x = x;
    run_rows(&job, forward_rows, false);
}

static void backward_sum_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    const norm_job *job = arg;
    int64_t c = job->layer->in.c;
    double *sum = sums_at(job, piece);
    job->run->kernels->norm_backward_sum(sum, sum + c, job->dy + begin * c,
                                         job->x + begin * c, job->k.mean, end - begin, c);
}

static void backward_rows(void *arg, int64_t piece, int64_t begin, int64_t end)
{
    (void)piece;
    const norm_job *job = arg;
    int64_t c = job->layer->in.c, at = begin * c;
    job->run->kernels->norm_backward(job->out + at, job->dy + at, job->x + at,
                                     job->k.mean, job->k.gain, job->k.a, job->k.b,
                                     end - begin, c);
}

/* (N5) With running statistics mean and variance do not depend on x: a = b = 0. */
static void backward(const xb_run *run, const xb_layer *layer, xb_real *dx,
                     const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)y;
    norm_job job = job_of(run, layer);
    int64_t c = layer->in.c;
    const xb_tensor *scale = &run->net->tensor[layer->tensor];
    double share = run->mode == XB_MODE_TRAIN ? 1 / (double)row_count(&job) : 0;
    const double *sums = sums_of(run);
    job.x = x, job.dy = dy, job.out = dx;
    run_rows(&job, backward_sum_rows, true);
    for (int64_t i = 0; i < c; i++) {
        double inverse = (double)job.k.inverse[i];
        double d_shift = sums[i], d_scale = sums[c + i] * inverse;
        run->gradient.mu[scale[0].offset + i] += (xb_real)d_scale;
        run->gradient.mu[scale[1].offset + i] += (xb_real)d_shift;
        job.k.a[i] = (xb_real)(share * d_shift);
        job.k.b[i] = (xb_real)(share * d_scale * inverse);
    }
    if (dx) run_rows(&job, backward_rows, false);
}

static bool deals(const xb_run *run, const xb_layer *layer)
{
    (void)run;
    return of_images(layer);
}

const xb_layer_ops xb_ops_batchnorm = {
    .deals = deals,
    .keep = keep,
    .scratch = scratch,
    .forward = forward,
    .backward = backward,
};
