/* planes.c: a product whose weights come in slices (maths X60), whose inputs come in
 * pulses of some bits (X61), or whose weights are single devices beside a reference
 * column (X62). Each pulse on each slice needs one conversion of every column; digital
 * shifts and additions combine them to the tile's sum, which is then corrected and added
 * as for any other layer. Noise devices are on the tiles of the first slice and keep
 * their noise for all pulses of an operation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbar/analog.h"

/* ---- the planes of a layer */

static int64_t across(const xb_analog_layer *p)
{
    return (p->out + p->columns - 1) / p->columns;
}

xb_status xb_planes_make(xb_ctx *ctx, xb_analog_layer *p, const xb_array *a)
{
    const int64_t slices = xb_array_slices(a);
    const int64_t reference = a->offset_columns ? p->in * across(p) : 0;
    const bool pulses = a->dac_bits > 0 && a->input_slice_bits > 0;
    if (slices == 1 && reference == 0 && !pulses) return XB_OK;
    p->plane = xb_new(ctx, slices, sizeof *p->plane);
    p->plane_memory =
        xb_new(ctx, (slices - 1) * p->size + slices * reference + 1, sizeof(float));
    if (!p->plane || !p->plane_memory) return XB_E_MEMORY;
    p->planes = slices;
    float *next = p->plane_memory;
    for (int64_t k = 0; k < slices; k++) {
        if (k > 0) p->plane[k].mean = next, next += p->size;
        if (reference > 0) p->plane[k].reference = next, next += reference;
    }
    return XB_OK;
}

void xb_planes_free(xb_analog_layer *p)
{
    free(p->plane);
    free(p->plane_memory);
}

void xb_plane_take(xb_analog_layer *p, int64_t k, const xb_cells *c, const xb_array *a)
{
    xb_plane *plane = &p->plane[k];
    plane->us_per_weight = xb_cells_scale(c, a);
    plane->conductance_us = p->conductance_us; /* including the slices before it */
    for (int64_t i = 0; i < k; i++) plane->conductance_us -= p->plane[i].conductance_us;
    if (plane->mean) xb_cells_weights(c, a, plane->mean, NULL);
    for (int64_t i = 0; plane->reference && i < xb_cells_minus_count(c); i++)
        plane->reference[i] =
            plane->us_per_weight > 0 ? (float)(c->minus[i] / plane->us_per_weight) : 0;
}

/* ---- pulses */

int64_t xb_plane_pulses(const xb_array *a, const xb_analog_layer *p)
{
    return p->dac.on ? xb_array_pulses(a, a->dac_bits - (p->dac.has_sign ? 1 : 0)) : 1;
}

/* (X61) The largest number in a pulse, in steps of the converter. */
static double pulse_most(const xb_array *a, const xb_analog_layer *p)
{
    return xb_plane_pulses(a, p) > 1 ? ldexp(1, (int)a->input_slice_bits) - 1
                                     : (double)p->dac.steps.high;
}

double xb_plane_input(const xb_array *a, const xb_analog_layer *p)
{
    return p->dac.on ? pulse_most(a, p) * (double)p->dac.steps.step : p->dac.range;
}

double xb_plane_most(const xb_array *a, const xb_analog_layer *p, int64_t k)
{
    const xb_plane *plane = &p->plane[k];
    const double most_us = plane->reference ? a->g_max_us : a->g_max_us - a->g_min_us;
    if (!(plane->us_per_weight > 0)) return 0;
    return (double)p->rows * xb_plane_input(a, p) * most_us / plane->us_per_weight;
}

/* ---- the product */

typedef struct plane_job {
    const xb_analog *analog;
    const xb_analog_layer *p;
    const float *x, *w;
    int64_t rows, tile, from, width, across;
    xb_tile_room room;
    const xb_watch *seen;
    const xb_noisy_product *noisy;
} plane_job;

/* (X61) Writes the inputs [rows][width] of the tile for pulse `pulse` of `pulses`. */
static void take_pulse(const plane_job *job, int64_t pulse, int64_t pulses)
{
    const xb_steps s = job->p->dac.steps;
    const int64_t shift = pulse * job->analog->array.input_slice_bits;
    const uint32_t mask = (UINT32_C(1) << job->analog->array.input_slice_bits) - 1;
    for (int64_t r = 0; r < job->rows; r++) {
        const float *x = job->x + r * job->p->in + job->from;
        float *to = job->room.slice + r * job->width;
        for (int64_t i = 0; i < job->width; i++) {
            const uint32_t steps = (uint32_t)rintf(fabsf(x[i]) * s.inverse);
            const float part = s.step * (float)(steps >> shift & mask);
            to[i] = pulses == 1 ? x[i] : copysignf(part, x[i]);
        }
    }
}

/* Passes sums of `columns` columns through noise, calibration's observers and the
 * converter. */
static void convert(const plane_job *job, float *sums, int64_t columns, int64_t k,
                    int64_t conversion)
{
    const xb_plane *plane = &job->p->plane[k];
    const int64_t n = job->rows * columns;
    if (job->noisy) {
        xb_noisy_product noisy = *job->noisy;
        noisy.noise = xb_plane_noise_of(&job->analog->array, job->p, k);
        xb_plane_noise_add(&noisy, sums, columns, job->room.slice, job->rows, job->width,
                           job->tile, conversion);
    }
    if (job->seen && job->seen->planes) xb_spectrum_add(&job->seen->planes[k], sums, n);
    if (plane->adc.on) job->analog->kernels->quantise(sums, sums, &plane->adc.steps, n);
}

static void multiply(const plane_job *job, float *sums, const float *w, int64_t columns)
{
    job->analog->kernels->dense_forward(sums, job->room.slice, w + job->from * columns,
                                        NULL, job->rows, job->width, columns,
                                        XB_ACT_NONE);
}

/* (X60-X62) sum [rows][out] += weight (columns - their reference). */
static void add_slice(const plane_job *job, int64_t k, int64_t pulse, float weight)
{
    const xb_plane *plane = &job->p->plane[k];
    const int64_t out = job->p->out, conversion = 2 * (pulse * job->p->planes + k);
    float *part = job->room.part, *reference = job->room.reference;
    multiply(job, part, plane->mean ? plane->mean : job->w, out);
    convert(job, part, out, k, conversion);
    if (plane->reference) {
        multiply(job, reference, plane->reference, job->across);
        convert(job, reference, job->across, k, conversion + 1);
    }
    for (int64_t r = 0; r < job->rows; r++)
        for (int64_t j = 0; j < out; j++) {
            const float offset =
                plane->reference ? reference[r * job->across + j / job->p->columns] : 0;
            job->room.sum[r * out + j] += weight * (part[r * out + j] - offset);
        }
}

/* (X50) Passes a tile's whole sums to calibration, and applies the corrections. */
static void correct(const plane_job *job)
{
    const xb_correction *c = &job->p->correction;
    const int64_t out = job->p->out, at = job->tile * out;
    float *sum = job->room.sum;
    xb_column_fit *fit = job->seen ? job->seen->fit : NULL;
    const int64_t row = fit ? xb_column_fit_row(fit, job->tile, job->rows) : -1;
    if (row >= 0) {
        memcpy(fit->given, sum + row * out, (size_t)out * sizeof *sum);
        job->analog->kernels->dense_forward(
            fit->wanted, job->x + row * job->p->in + job->from,
            fit->mean + job->from * out, NULL, 1, job->width, out, XB_ACT_NONE);
        xb_column_fit_add(fit, job->tile);
    }
    for (int64_t r = 0; c->pre && r < job->rows; r++)
        for (int64_t j = 0; j < out; j++)
            sum[r * out + j] = c->post[at + j] * sum[r * out + j] + c->shift[at + j];
}

static void sum_tile(const plane_job *job)
{
    const int64_t pulses = xb_plane_pulses(&job->analog->array, job->p);
    memset(job->room.sum, 0, (size_t)(job->rows * job->p->out) * sizeof(float));
    for (int64_t pulse = 0; pulse < pulses; pulse++) {
        take_pulse(job, pulse, pulses);
        const int64_t shift = pulse * job->analog->array.input_slice_bits;
        for (int64_t k = 0; k < job->p->planes; k++)
            add_slice(job, k, pulse, (float)ldexp(1, (int)shift));
    }
    correct(job);
}

void xb_plane_product(const xb_analog *analog, const xb_analog_layer *p, float *y,
                      const float *x, const float *w, const float *b, int64_t rows,
                      xb_tile_room room, const xb_watch *seen,
                      const xb_noisy_product *noisy)
{
    plane_job job = {.analog = analog,
                     .p = p,
                     .x = x,
                     .w = w,
                     .rows = rows,
                     .across = across(p),
                     .room = room,
                     .seen = seen,
                     .noisy = noisy};
    for (; job.from < p->in; job.from += p->rows, job.tile++) {
        job.width = p->in - job.from < p->rows ? p->in - job.from : p->rows;
        sum_tile(&job);
        for (int64_t i = 0; i < rows * p->out; i++) /* (X14) */
            y[i] = room.sum[i] + (job.tile > 0 ? y[i] : b ? b[i % p->out] : 0);
    }
}
