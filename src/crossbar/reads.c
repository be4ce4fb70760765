/* reads.c: many reads of an analog model, as draws of its predictive. Reads are divided
 * among the threads, each of which has its own reader. A piece may start at any read,
 * because correlated noise is a function of addresses (forget.c, held.c): a read has the
 * same values on any thread. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "crossbar/analog.h"
#include "predict/predict.h"
#include "vi/model.h"

/* The smallest number of reads of a piece if noise is correlated, because each piece
 * starts with a walk back.
 */
enum { REMEMBERED = 32, HELD = 256 };

/* Weights times rows times reads between progress events, a fraction of a second; and the
 * smallest such part of a piece, in the least numbers above. */
enum { PART_WORK = 1 << 28, LEAST_PARTS = 8 };

int64_t xb_reads_between(const xb_analog *analog, int64_t rows)
{
    const int64_t weights = xb_net_param_count(analog->model->net);
    const double reads = PART_WORK / ((double)weights * (double)(rows + 1));
    return reads > 1 ? (int64_t)reads : 1;
}

static int64_t least_of(const xb_analog *analog)
{
    return analog->held ? HELD : analog->rho > 0 ? REMEMBERED : 1;
}

static int64_t pieces_of(const xb_ctx *ctx, const xb_analog *analog, int64_t count)
{
    const int64_t least = least_of(analog);
    const int64_t most = count < least ? 1 : count / least, threads = xb_ctx_threads(ctx);
    return threads < most ? threads : most;
}

typedef struct read_job {
    const xb_analog *analog;
    const float *x; /* [n][features] */
    double *value;
    int64_t n, first, count, outputs;
    xb_reader *reader; /* [pieces] */
    int64_t pieces;
} read_job;

static void run_piece(void *arg, int64_t piece)
{
    read_job *job = arg;
    xb_reader *r = &job->reader[piece];
    const xb_model *m = job->analog->model;
    int64_t begin = piece * job->count / job->pieces;
    int64_t end = (piece + 1) * job->count / job->pieces;
    for (int64_t row = 0; row < job->n; row += r->batch) {
        int64_t rows = job->n - row < r->batch ? job->n - row : r->batch;
        for (int64_t s = begin; s < end; s++) {
            const float *out = xb_reader_run(r, job->x + row * m->features, row, rows,
                                             job->first + s, s > begin);
            xb_predict_values(m, job->value + (s * job->n + row) * job->outputs, out,
                              rows);
        }
    }
}

xb_status xb_reads_tell(xb_ctx *ctx, int64_t done, int64_t total)
{
    return xb_progress_tell(ctx, "reading the array", done, total);
}

static int64_t part_of(const read_job *job)
{
    const int64_t least = LEAST_PARTS * least_of(job->analog) * job->pieces;
    const int64_t reads = xb_reads_between(job->analog, job->n);
    return reads > least ? reads : least;
}

/* All reads, part by part, so that a listener can stop them. */
static xb_status run_parts(xb_ctx *ctx, const read_job *whole)
{
    const int64_t part = part_of(whole);
    for (int64_t done = 0; done < whole->count; done += part) {
        const int64_t left = whole->count - done;
        read_job job = *whole;
        job.first += done;
        job.count = left < part ? left : part;
        job.value += done * whole->n * whole->outputs;
        xb_parallel_for(ctx, job.pieces, run_piece, &job);
        if (left > part) XB_TRY(xb_reads_tell(ctx, done + part, whole->count));
    }
    return XB_OK;
}

static xb_status run(xb_ctx *ctx, read_job *job)
{
    xb_status status = XB_OK;
    int64_t made = 0;
    job->reader = xb_new(ctx, job->pieces, sizeof *job->reader);
    if (!job->reader) return XB_E_MEMORY;
    for (; made < job->pieces && status == XB_OK; made += status == XB_OK)
        status = xb_reader_make(ctx, &job->reader[made], job->analog);
    if (status == XB_OK) status = run_parts(ctx, job);
    for (int64_t i = 0; i < made; i++) xb_reader_free(&job->reader[i]);
    free(job->reader);
    return status;
}

/* Checks that the last element used of any stream exists. */
static xb_status check_reach(xb_ctx *ctx, const xb_analog *a, int64_t n)
{
    for (int i = 0; i < a->n_layer; i++) {
        const xb_analog_layer *p = &a->layer[i];
        int64_t each = 1;
        if (a->array.redraw == XB_REDRAW_OPERATION) each = p->operations;
        bool own = a->array.redraw != XB_REDRAW_NETWORK && p->random;
        if (own && (double)n * (double)each * (double)p->size > (double)XB_STREAM_MAX)
            return xb_fail(ctx, XB_E_ARGUMENT,
                           "%lld inputs, each with its own weights, need more random "
                           "numbers than the stream of layer %d has: pass them in parts",
                           (long long)n, p->index + 1);
    }
    return XB_OK;
}

xb_status xb_analog_read(xb_ctx *ctx, double *value, const xb_analog *analog,
                         const double *x, int64_t n, int64_t first, int64_t count)
{
    const xb_model *m = analog->model;
    float *scaled = xb_new(ctx, n * m->features, sizeof *scaled);
    if (!scaled) return XB_E_MEMORY;
    xb_model_scale_inputs(m, scaled, x, n);
    read_job job = {.analog = analog,
                    .x = scaled,
                    .value = value,
                    .n = n,
                    .first = first,
                    .count = count,
                    .pieces = pieces_of(ctx, analog, count),
                    .outputs = xb_model_outputs(m)};
    const xb_status status =
        xb_backend_reads_suit(analog)
            ? xb_backend_reads(ctx, value, analog, scaled, n, first, count)
            : run(ctx, &job);
    free(scaled);
    return status;
}

xb_status xb_analog_draws(xb_ctx *ctx, double *value, double *sd, const xb_analog *analog,
                          const double *x, int64_t n, int64_t first, int64_t count)
{
    const xb_predict_options digital = xb_predict_options_default();
    /* this checks the arguments and computes the aleatoric sd, which stays digital */
    XB_TRY(xb_predict_draws(ctx, value, sd, analog->whole, x, n, first, 0, &digital));
    if (count < 0 || first + count > UINT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld reads: expected 0 or more, below 2^32",
                       (long long)count);
    XB_TRY(check_reach(ctx, analog, n));
    XB_TRY(analog->other ? xb_analog_read_members(ctx, value, analog, x, n, first, count)
                         : xb_analog_read(ctx, value, analog, x, n, first, count));
    const xb_model *m = analog->whole;
    if (sd && xb_model_of_counts(m))
        xb_count_sds(m, sd, value, n * xb_model_outputs(m), first, count);
    return XB_OK;
}
