/* density_run.c: from draws of the hidden layers to densities; maths E1-E7.
 *
 * The draws are cut into blocks, the pieces of the parallel loop. A block adds up, law
 * by law, the characteristic functions of the output given its hidden draws
 * (weighted_sum.c), and one Fourier transform turns each sum into a density.
 * density_stats.c uses the blocks' densities. The grid is chosen from the first draws. It
 * is periodic: a density that reaches beyond it is that of the output modulo the grid's
 * length, whose KL is at most that of the output. Frequencies beyond the grid's are cut
 * off smoothly. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fft.h"
#include "base/memory.h"
#include "crossbayes/extend.h"
#include "predict/density.h"
#include "predict/weighted_sum.h"

enum { LOOK = 512 }; /* draws of each law from which the grid is chosen */

/* The grid covers the conditional means of the first draws and this many conditional
 * standard deviations beyond them (where a Gaussian's density is 5e-15 of its peak), up
 * to the second number of standard deviations of the output. */
static const double REACH = 8.1, WIDEST = 24;

/* The factor of the last bias's noise: the same for all draws of a law. */
typedef struct bias_factor {
    xb_complex *value; /* [count / 2 + 1] */
    double *bound;     /* largest modulus from there on */
} bias_factor;

typedef struct density_job {
    const xb_hidden_source *source;
    const xb_output_layer *last;
    const xb_charfn *law; /* [laws] */
    int64_t draws;        /* of a block */
    xb_densities *d;
    bias_factor *bias; /* [laws] */
    double origin;     /* the grid's first point */
    double dt;
    xb_fft fft;
    xb_status *status; /* [blocks] */
    int64_t first;     /* block of the round under way */
} density_job;

/* ---- one thread's workspace */

typedef struct density_room {
    void *run;
    xb_sum_law sum;
    double *re, *im;     /* [laws of d][count / 2 + 1], sums over draws */
    double complex *fft; /* [count] */
} density_room;

static void room_free(density_room *room, const density_job *job)
{
    job->source->close(room->run);
    free(room->sum.a);
    free(room->sum.power);
    free(room->re);
    free(room->fft);
}

static xb_status room_make(density_room *room, const density_job *job)
{
    int64_t width = job->source->width, half = job->d->count / 2 + 1;
    *room = (density_room){0};
    room->sum.a = xb_new(NULL, width, sizeof *room->sum.a);
    room->sum.power = xb_new(NULL, width + 1, sizeof *room->sum.power);
    room->re = xb_new(NULL, 2 * job->d->laws * half, sizeof *room->re);
    room->fft = xb_new(NULL, job->d->count, sizeof *room->fft);
    if (!room->sum.a || !room->sum.power || !room->re || !room->fft) return XB_E_MEMORY;
    room->im = room->re + job->d->laws * half;
    return job->source->open(&room->run, job->source->self);
}

/* (E1) Given h the output is mean + sum of a_k z_k + bias_sigma z; a [width]. */
static double given_hidden(double *a, const density_job *job, const xb_real *h)
{
    const xb_output_layer *last = job->last;
    double mean = last->bias_mu;
    for (int64_t k = 0; k < job->source->width; k++) {
        mean += (double)last->mu[k] * (double)h[k];
        a[k] = (double)last->sigma[k] * (double)h[k];
    }
    return mean;
}

/* ---- the grid */

typedef struct outputs_seen {
    double sum, square; /* of conditional means; plus variances */
    double low, high;
    int64_t n;
} outputs_seen;

static xb_status look_at(outputs_seen *seen, const density_job *job, density_room *room,
                         const xb_real *h)
{
    double *a = room->sum.a, v = job->last->bias_sigma * job->last->bias_sigma;
    double mean = given_hidden(a, job, h);
    for (int64_t k = 0; k < job->source->width; k++) v += a[k] * a[k];
    if (!isfinite(mean) || !isfinite(v)) return XB_E_NUMERIC;
    seen->sum += mean, seen->square += mean * mean + v, seen->n++;
    seen->low = fmin(seen->low, mean - REACH * sqrt(v));
    seen->high = fmax(seen->high, mean + REACH * sqrt(v));
    return XB_OK;
}

static xb_status look(outputs_seen *seen, const density_job *job, density_room *room)
{
    int64_t all = job->draws < LOOK ? job->draws : LOOK;
    for (int l = 0; l < job->d->laws; l++)
        for (int64_t first = 0; first < all; first += XB_HIDDEN_BATCH) {
            int64_t some = all - first < XB_HIDDEN_BATCH ? all - first : XB_HIDDEN_BATCH;
            const xb_real *h;
            XB_TRY(job->source->draw(room->run, &h, l, 0, first, some));
            for (int64_t i = 0; i < some; i++)
                XB_TRY(look_at(seen, job, room, h + i * job->source->width));
        }
    return XB_OK;
}

static xb_status place_grid(xb_ctx *ctx, density_job *job, const outputs_seen *seen)
{
    double mean = seen->sum / (double)seen->n;
    double sd = sqrt(fmax(0, seen->square / (double)seen->n - mean * mean));
    double low = fmax(seen->low, mean - WIDEST * sd);
    double high = fmin(seen->high, mean + WIDEST * sd);
    const double rounding = 1e-7; /* of the mean, after a difference of squares */
    if (!(sd > rounding * fabs(mean)) || !isfinite(high - low))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "the output has no spread here (its standard deviation is %g)",
                       sd);
    xb_densities *d = job->d;
    d->centre = mean;
    d->step = (high - low) / (double)d->count;
    job->origin = low;
    job->dt = 2 * M_PI / (high - low);
    for (int64_t i = 0; i < d->count; i++) d->grid[i] = low + d->step * (double)i;
    return XB_OK;
}

static xb_status tell(xb_ctx *ctx, xb_status status)
{
    if (status == XB_OK) return status;
    return xb_fail(ctx, status, "%s",
                   status == XB_E_NUMERIC
                       ? "the net's output is not finite under its weight noise"
                       : xb_status_text(status));
}

static xb_status choose_grid(xb_ctx *ctx, density_job *job)
{
    density_room room;
    outputs_seen seen = {.low = INFINITY, .high = -INFINITY};
    xb_status status = room_make(&room, job);
    if (status == XB_OK) status = look(&seen, job, &room);
    room_free(&room, job);
    XB_TRY(tell(ctx, status));
    return place_grid(ctx, job, &seen);
}

/* ---- blocks */

/* (E7) From the summed characteristic function of y - origin, without the bias's noise,
 * to the density. */
static void invert(double *density, const density_job *job, const density_room *room,
                   const bias_factor *bias, const double *re, const double *im)
{
    const double sharpness = 36, order = 8; /* exp(-36) is negligible beside 1 */
    int64_t n = job->d->count, half = n / 2;
    double scale = 1 / (job->d->step * (double)n * (double)job->draws);
    room->fft[half] = 0;
    for (int64_t j = 0; j < half; j++) {
        double soft = exp(-sharpness * pow((double)j / (double)half, order)) * scale;
        double c = soft * bias->value[j].re, s = soft * bias->value[j].im;
        room->fft[j] = xb_cmplx(c * re[j] - s * im[j], c * im[j] + s * re[j]);
        if (j > 0) room->fft[n - j] = conj(room->fft[j]);
    }
    xb_fft_forward(&job->fft, room->fft);
    for (int64_t i = 0; i < n; i++) density[i] = creal(room->fft[i]);
}

/* (E5) The output's moments given this draw, the bias's noise included. */
static void add_moments(double *moment, const density_job *job, const xb_sum_law *sum,
                        const xb_charfn *law)
{
    double b = job->last->bias_sigma, m = sum->mean + job->origin - job->d->centre;
    double v = sum->variance + b * b, k3 = law->skewness * (sum->cubes + b * b * b);
    double k4 = law->excess_kurtosis * (sum->fourths + b * b * b * b);
    moment[0] += m;
    moment[1] += m * m + v;
    moment[2] += m * m * m + 3 * m * v + k3;
    moment[3] += m * m * m * m + 6 * m * m * v + 4 * m * k3 + 3 * v * v + k4;
}

/* (E4, E5) One draw added to the sums and moments of a law. */
static xb_status add_draw(density_room *room, const density_job *job, int block, int law,
                          const xb_real *h)
{
    const xb_frequencies f = {job->dt, job->d->count / 2, job->bias[law].bound};
    int64_t half = f.count + 1;
    xb_sum_law *sum = &room->sum;
    sum->mean = given_hidden(sum->a, job, h) - job->origin;
    xb_sum_law_add(room->re + law * half, room->im + law * half, sum, job->source->width,
                   &job->law[law], &f);
    if (!isfinite(sum->mean) || !isfinite(sum->variance)) return XB_E_NUMERIC;
    add_moments(xb_densities_part_moment(job->d, block, law), job, sum, &job->law[law]);
    return XB_OK;
}

static xb_status add_batch(density_room *room, const density_job *job, int block,
                           int64_t first, int64_t count)
{
    for (int l = 0; l < job->d->laws; l++) {
        const xb_real *h;
        XB_TRY(job->source->draw(room->run, &h, l, block, first, count));
        for (int64_t i = 0; i < count; i++)
            XB_TRY(add_draw(room, job, block, l, h + i * job->source->width));
    }
    return XB_OK;
}

static void finish_block(density_room *room, const density_job *job, int block)
{
    int64_t half = job->d->count / 2 + 1;
    for (int l = 0; l < job->d->laws; l++) {
        double *moment = xb_densities_part_moment(job->d, block, l);
        for (int n = 0; n < XB_DENSITY_MOMENTS; n++) moment[n] /= (double)job->draws;
        invert(xb_densities_part(job->d, block, l), job, room, &job->bias[l],
               room->re + l * half, room->im + l * half);
    }
}

static void run_block(void *arg, int64_t piece)
{
    density_job *job = arg;
    const int64_t block = job->first + piece;
    density_room room;
    xb_status status = room_make(&room, job);
    for (int64_t first = 0; first < job->draws && status == XB_OK;
         first += XB_HIDDEN_BATCH) {
        int64_t left = job->draws - first;
        status = add_batch(&room, job, (int)block, first,
                           left < XB_HIDDEN_BATCH ? left : XB_HIDDEN_BATCH);
    }
    if (status == XB_OK) finish_block(&room, job, (int)block);
    job->status[block] = status;
    room_free(&room, job);
}

/* (E7) The largest modulus of the characteristic functions at half the highest
 * frequency. */
static xb_status measure_roughness(xb_ctx *ctx, density_job *job)
{
    xb_densities *d = job->d;
    double complex *z = xb_new(ctx, d->count, sizeof *z);
    if (!z) return XB_E_MEMORY;
    for (int l = 0; l < d->laws; l++) {
        for (int64_t i = 0; i < d->count; i++) z[i] = d->value[l * d->count + i];
        xb_fft_forward(&job->fft, z);
        for (int64_t j = d->count / 4; j < d->count / 4 + d->count / 16; j++)
            d->roughness = fmax(d->roughness, cabs(z[j]) * d->step);
    }
    free(z);
    return XB_OK;
}

/* Runs in rounds of one block per thread: after each round the caller may ask to stop,
 * and a failed block ends the run. */
static xb_status run_rounds(xb_ctx *ctx, density_job *job)
{
    const int64_t blocks = job->d->blocks, round = xb_ctx_threads(ctx);
    for (job->first = 0; job->first < blocks; job->first += round) {
        XB_TRY(xb_progress_tell(ctx, "densities", job->first, blocks));
        const int64_t left = blocks - job->first, now = left < round ? left : round;
        xb_parallel_for(ctx, now, run_block, job);
        for (int64_t b = job->first; b < job->first + now; b++)
            XB_TRY(tell(ctx, job->status[b]));
    }
    return xb_progress_tell(ctx, "densities", blocks, blocks);
}

static xb_status run_blocks(xb_ctx *ctx, density_job *job)
{
    xb_densities *d = job->d;
    XB_TRY(run_rounds(ctx, job));
    for (int l = 0; l < d->laws; l++)
        for (int b = 0; b < d->blocks; b++)
            for (int64_t i = 0; i < d->count; i++)
                d->value[l * d->count + i] += xb_densities_part(d, b, l)[i] / d->blocks;
    return measure_roughness(ctx, job);
}

/* ---- all of it */

static xb_status make_bias(xb_ctx *ctx, density_job *job)
{
    int64_t n = job->d->count / 2 + 1;
    for (int l = 0; l < job->d->laws; l++) {
        bias_factor *bias = &job->bias[l];
        bias->value = xb_new(ctx, n, sizeof *bias->value);
        bias->bound = xb_new(ctx, n, sizeof *bias->bound);
        if (!bias->value || !bias->bound) return XB_E_MEMORY;
        for (int64_t j = 0; j < n; j++) {
            double x = job->last->bias_sigma * job->dt * (double)j;
            bias->value[j] = xb_charfn_at(&job->law[l], x);
            bias->bound[j] = xb_charfn_envelope(&job->law[l], x);
        }
    }
    return XB_OK;
}

static xb_status prepare(xb_ctx *ctx, density_job *job)
{
    job->bias = xb_new(ctx, job->d->laws, sizeof *job->bias);
    job->status = xb_new(ctx, job->d->blocks, sizeof *job->status);
    if (!job->bias || !job->status) return XB_E_MEMORY;
    XB_TRY(xb_fft_make(ctx, &job->fft, job->d->count));
    XB_TRY(choose_grid(ctx, job));
    return make_bias(ctx, job);
}

xb_status xb_densities_run(xb_ctx *ctx, xb_densities *d, const xb_hidden_source *source,
                           const xb_output_layer *last, const xb_charfn *law,
                           int64_t draws)
{
    density_job job = {
        .source = source, .last = last, .law = law, .draws = draws, .d = d};
    d->draws = draws * d->blocks;
    xb_status status = prepare(ctx, &job);
    if (status == XB_OK) status = run_blocks(ctx, &job);
    for (int l = 0; job.bias && l < d->laws; l++) {
        free(job.bias[l].value);
        free(job.bias[l].bound);
    }
    free(job.bias);
    free(job.status);
    xb_fft_free(&job.fft);
    return status;
}
