/* density.c: densities of a net's output under several laws; maths E1-E8.
 *
 * The draws of the hidden layers are cut into blocks, the pieces of the parallel loop.
 * A block adds up, law by law, the characteristic functions of the output given its
 * hidden draws (weighted_sum.c), and one Fourier transform turns each sum into a
 * density. What is done with the blocks' densities is in density_stats.c.
 *
 * The grid comes from a look at the first draws. It is periodic: a density that reaches
 * beyond it is that of the output modulo the grid's length, whose KL is at most that of
 * the output. Frequencies beyond the grid's are cut off softly. */
#include "predict/density.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fft.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "net/layer.h"
#include "predict/hidden.h"
#include "predict/weighted_sum.h"

enum { GRID_LEAST = 64, GRID_MOST = 1 << 20, BLOCKS_MOST = 4096, LAWS_MOST = 64 };
enum { LOOK = 512 }; /* draws of each law that the grid is chosen by */

/* The grid covers the looked-at conditional means and this many conditional standard
 * deviations beyond (a Gaussian's density there is 5e-15 of its peak), up to so many
 * standard deviations of the output. */
static const double REACH = 8.1, WIDEST = 24;

xb_density_options xb_density_options_default(void)
{
    return (xb_density_options){.draws = 131072, .blocks = 32, .grid = 1024, .seed = 1};
}

/* One law, ready for use. */
typedef struct law_kit {
    xb_sampler *sampler;
    xb_charfn charfn;
} law_kit;

typedef struct density_job {
    xb_hidden hidden;
    law_kit *kit; /* [laws] */
    /* the last layer: mu [width], sigma [width], then its bias */
    const xb_real *mu, *sigma;
    double bias_mu, bias_sigma;
    int64_t draws; /* of a block */
    xb_densities *d;
    double origin; /* the grid's first point */
    double dt;
    xb_fft fft;
    xb_status *status; /* [blocks] */
} density_job;

/* ---- one thread's workspace */

typedef struct density_room {
    xb_hidden_run run;
    double *a, *large;   /* [width + 1] */
    double *re, *im;     /* [count / 2 + 1] */
    double complex *fft; /* [count] */
} density_room;

static void room_free(density_room *room)
{
    xb_hidden_run_free(&room->run);
    free(room->a);
    free(room->fft);
}

static xb_status room_make(density_room *room, const density_job *job)
{
    int64_t terms = job->hidden.width + 1, half = job->d->count / 2 + 1;
    *room = (density_room){0};
    XB_TRY(xb_hidden_run_make(&room->run, &job->hidden));
    room->a = xb_new(NULL, 2 * terms + 2 * half, sizeof *room->a);
    room->fft = xb_new(NULL, job->d->count, sizeof *room->fft);
    if (!room->a || !room->fft) return XB_E_MEMORY;
    room->large = room->a + terms;
    room->re = room->large + terms;
    room->im = room->re + half;
    return XB_OK;
}

/* (E1) Given h the output is mean + sum of a_k z_k; a [width + 1], the bias last. */
static double given_hidden(double *a, const density_job *job, const xb_real *h)
{
    double mean = job->bias_mu;
    int64_t width = job->hidden.width;
    for (int64_t k = 0; k < width; k++) {
        mean += (double)job->mu[k] * (double)h[k];
        a[k] = (double)job->sigma[k] * (double)h[k];
    }
    a[width] = job->bias_sigma;
    return mean;
}

/* ---- the grid */

typedef struct outputs_seen {
    double sum, square; /* of conditional means; plus variances */
    double low, high;
    int64_t n;
} outputs_seen;

static xb_status look_at(outputs_seen *seen, const density_job *job, density_room *room,
                         int64_t count)
{
    int64_t width = job->hidden.width;
    for (int64_t i = 0; i < count; i++) {
        double mean = given_hidden(room->a, job, room->run.h + i * width), v = 0;
        for (int64_t k = 0; k <= width; k++) v += room->a[k] * room->a[k];
        if (!isfinite(mean) || !isfinite(v)) return XB_E_NUMERIC;
        seen->sum += mean, seen->square += mean * mean + v, seen->n++;
        seen->low = fmin(seen->low, mean - REACH * sqrt(v));
        seen->high = fmax(seen->high, mean + REACH * sqrt(v));
    }
    return XB_OK;
}

static xb_status look(outputs_seen *seen, const density_job *job, density_room *room)
{
    int64_t all = job->draws < LOOK ? job->draws : LOOK;
    *seen = (outputs_seen){.low = INFINITY, .high = -INFINITY};
    for (int l = 0; l < job->d->laws; l++)
        for (int64_t first = 0; first < all; first += XB_HIDDEN_BATCH) {
            int64_t some = all - first < XB_HIDDEN_BATCH ? all - first : XB_HIDDEN_BATCH;
            XB_TRY(xb_hidden_draw(&room->run, job->kit[l].sampler, 0, first, some));
            XB_TRY(look_at(seen, job, room, some));
        }
    return XB_OK;
}

static xb_status place_grid(xb_ctx *ctx, density_job *job, const outputs_seen *seen)
{
    double mean = seen->sum / (double)seen->n;
    double sd = sqrt(fmax(0, seen->square / (double)seen->n - mean * mean));
    double low = fmax(seen->low, mean - WIDEST * sd);
    double high = fmin(seen->high, mean + WIDEST * sd);
    if (!(sd > 0) || !isfinite(high - low))
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

static xb_status choose_grid(xb_ctx *ctx, density_job *job)
{
    density_room room;
    outputs_seen seen;
    xb_status status = room_make(&room, job);
    if (status == XB_OK) status = look(&seen, job, &room);
    if (status == XB_OK)
        status = place_grid(ctx, job, &seen);
    else if (status == XB_E_NUMERIC)
        xb_fail(ctx, status, "the net's output is not finite under its weight noise");
    else
        xb_fail(ctx, status, "%s",
                room.run.ctx ? xb_ctx_message(room.run.ctx) : "not enough memory");
    room_free(&room);
    return status;
}

/* ---- blocks */

/* (E7) From the mean characteristic function of y - origin to the density. */
static void invert(double *density, const density_job *job, const density_room *room)
{
    const double sharpness = 36, order = 8; /* exp(-36) is nothing beside 1 */
    int64_t n = job->d->count, half = n / 2;
    double scale = 1 / (job->d->step * (double)n * (double)job->draws);
    room->fft[half] = 0;
    for (int64_t j = 0; j < half; j++) {
        double soft = exp(-sharpness * pow((double)j / (double)half, order)) * scale;
        room->fft[j] = CMPLX(soft * room->re[j], soft * room->im[j]);
        if (j > 0) room->fft[n - j] = conj(room->fft[j]);
    }
    xb_fft_forward(&job->fft, room->fft);
    for (int64_t i = 0; i < n; i++) density[i] = creal(room->fft[i]);
}

/* (E4, E5) The draws in room->run.h, added up. */
static xb_status add_draws(density_room *room, const density_job *job, int law,
                           double *moment, int64_t count)
{
    const xb_charfn *charfn = &job->kit[law].charfn;
    int64_t width = job->hidden.width, half = job->d->count / 2;
    double t_most = job->dt * (double)half;
    for (int64_t i = 0; i < count; i++) {
        xb_sum_law sum;
        double mean = given_hidden(room->a, job, room->run.h + i * width);
        xb_sum_law_make(&sum, room->large, mean, room->a, width + 1, charfn, t_most);
        if (!isfinite(mean) || !isfinite(sum.variance)) return XB_E_NUMERIC;
        xb_sum_law_add_moments(moment, &sum, charfn, room->a, width + 1, job->d->centre);
        sum.mean -= job->origin;
        xb_sum_law_add(room->re, room->im, &sum, charfn, job->dt, half);
    }
    return XB_OK;
}

static xb_status run_law(density_room *room, const density_job *job, int block, int law)
{
    int64_t half = job->d->count / 2;
    double *moment = xb_densities_part_moment(job->d, block, law);
    memset(room->re, 0, (size_t)(2 * half + 2) * sizeof *room->re);
    for (int64_t first = 0; first < job->draws; first += XB_HIDDEN_BATCH) {
        int64_t left = job->draws - first;
        int64_t some = left < XB_HIDDEN_BATCH ? left : XB_HIDDEN_BATCH;
        XB_TRY(xb_hidden_draw(&room->run, job->kit[law].sampler, block, first, some));
        XB_TRY(add_draws(room, job, law, moment, some));
    }
    for (int n = 0; n < XB_DENSITY_MOMENTS; n++) moment[n] /= (double)job->draws;
    invert(xb_densities_part(job->d, block, law), job, room);
    return XB_OK;
}

static void run_block(void *arg, int64_t block)
{
    density_job *job = arg;
    density_room room;
    xb_status status = room_make(&room, job);
    for (int l = 0; l < job->d->laws && status == XB_OK; l++)
        status = run_law(&room, job, (int)block, l);
    job->status[block] = status;
    room_free(&room);
}

static xb_status run_blocks(xb_ctx *ctx, density_job *job)
{
    xb_densities *d = job->d;
    xb_parallel_for(ctx, d->blocks, run_block, job);
    for (int b = 0; b < d->blocks; b++) {
        if (job->status[b] == XB_OK) continue;
        return xb_fail(ctx, job->status[b], "%s",
                       job->status[b] == XB_E_NUMERIC
                           ? "the net's output is not finite under its weight noise"
                           : xb_status_text(job->status[b]));
    }
    for (int l = 0; l < d->laws; l++)
        for (int b = 0; b < d->blocks; b++)
            for (int64_t i = 0; i < d->count; i++)
                d->value[l * d->count + i] += xb_densities_part(d, b, l)[i] / d->blocks;
    return XB_OK;
}

/* ---- making one */

static xb_status check(xb_ctx *ctx, int laws, const xb_density_options *opt)
{
    if (laws < 1 || laws > LAWS_MOST)
        return xb_fail(ctx, XB_E_ARGUMENT, "%d laws: expected 1 to %d", laws, LAWS_MOST);
    if (opt->blocks < 2 || opt->blocks > BLOCKS_MOST)
        return xb_fail(ctx, XB_E_ARGUMENT, "%d blocks: expected 2 to %d", opt->blocks,
                       BLOCKS_MOST);
    if (opt->draws < opt->blocks || opt->draws > UINT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld draws: expected at least one for each of %d blocks",
                       (long long)opt->draws, opt->blocks);
    if (opt->grid < GRID_LEAST || opt->grid > GRID_MOST || opt->grid & (opt->grid - 1))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a grid of %lld points: expected a power of two, %d to %d",
                       (long long)opt->grid, GRID_LEAST, GRID_MOST);
    return XB_OK;
}

static xb_status take_memory(xb_ctx *ctx, xb_densities *d)
{
    d->grid = xb_new(ctx, d->count, sizeof *d->grid);
    d->value = xb_new(ctx, d->laws * d->count, sizeof *d->value);
    d->part = xb_new(ctx, d->blocks * d->laws * d->count, sizeof *d->part);
    d->moment =
        xb_new(ctx, (int64_t)d->blocks * d->laws * XB_DENSITY_MOMENTS, sizeof *d->moment);
    return d->grid && d->value && d->part && d->moment ? XB_OK : XB_E_MEMORY;
}

static xb_status make_kits(xb_ctx *ctx, density_job *job, const xb_law *const *law)
{
    job->kit = xb_new(ctx, job->d->laws, sizeof *job->kit);
    if (!job->kit) return XB_E_MEMORY;
    for (int l = 0; l < job->d->laws; l++) {
        XB_TRY(xb_sampler_create(ctx, &job->kit[l].sampler, law[l], NULL));
        XB_TRY(xb_charfn_make(ctx, &job->kit[l].charfn, law[l]));
    }
    return XB_OK;
}

static void job_free(density_job *job)
{
    for (int l = 0; job->kit && l < job->d->laws; l++) {
        xb_sampler_destroy(job->kit[l].sampler);
        xb_charfn_free(&job->kit[l].charfn);
    }
    free(job->kit);
    free(job->status);
    xb_hidden_free(&job->hidden);
    xb_fft_free(&job->fft);
}

/* Views of the last layer's parameters. */
static void last_layer(density_job *job, const xb_net *net, const xb_weights *weights)
{
    const xb_layer *last = &net->layer[net->n_layer - 1];
    const xb_tensor *kernel = &net->tensor[last->tensor], *bias = kernel + 1;
    job->mu = weights->mu + kernel->offset;
    job->sigma = weights->sigma + kernel->offset;
    if (last->tensors < 2) return;
    job->bias_mu = (double)weights->mu[bias->offset];
    if (bias->stochastic) job->bias_sigma = (double)weights->sigma[bias->offset];
}

static xb_status prepare(xb_ctx *ctx, density_job *job, const xb_net *net,
                         const xb_weights *weights, const xb_real *x,
                         const xb_law *const *law, const xb_density_options *opt)
{
    XB_TRY(xb_hidden_make(ctx, &job->hidden, net, weights, x, opt->seed, opt->backend));
    job->draws = job->hidden.random ? opt->draws / opt->blocks : 1;
    last_layer(job, net, weights);
    XB_TRY(take_memory(ctx, job->d));
    job->status = xb_new(ctx, job->d->blocks, sizeof *job->status);
    if (!job->status) return XB_E_MEMORY;
    XB_TRY(make_kits(ctx, job, law));
    XB_TRY(xb_fft_make(ctx, &job->fft, job->d->count));
    return choose_grid(ctx, job);
}

xb_status xb_densities_create(xb_ctx *ctx, xb_densities **out, const xb_net *net,
                              const xb_weights *weights, const xb_real *x,
                              const xb_law *const *law, int laws,
                              const xb_density_options *opt)
{
    xb_density_options chosen = opt ? *opt : xb_density_options_default();
    XB_TRY(check(ctx, laws, &chosen));
    xb_densities *d = xb_new(ctx, 1, sizeof *d);
    if (!d) return XB_E_MEMORY;
    d->laws = laws, d->blocks = chosen.blocks, d->count = chosen.grid;
    density_job job = {.d = d};
    xb_status status = prepare(ctx, &job, net, weights, x, law, &chosen);
    if (status == XB_OK) status = run_blocks(ctx, &job);
    job_free(&job);
    if (status != XB_OK) {
        xb_densities_destroy(d);
        return status;
    }
    *out = d;
    return XB_OK;
}

void xb_densities_destroy(xb_densities *d)
{
    if (!d) return;
    free(d->grid);
    free(d->value);
    free(d->part);
    free(d->moment);
    free(d);
}

int64_t xb_densities_count(const xb_densities *d) { return d->count; }
const double *xb_densities_grid(const xb_densities *d) { return d->grid; }
const double *xb_densities_value(const xb_densities *d, int law)
{
    return d->value + law * d->count;
}
