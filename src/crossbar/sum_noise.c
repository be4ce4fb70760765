/* sum_noise.c: noise of the column sums that does not come from the devices of weights
 * (maths X56-X58): read noise of the mean devices, noise of amplifiers and converters,
 * thermal noise of the conductances. All are normal, independent from sum to sum, and
 * added before the ADC; a draw is a function of (seed, tensor, input, operation, tile,
 * column, read). */
#include <math.h>

#include "crossbar/analog.h"

bool xb_array_noisy_sums(const xb_array *a)
{
    return a->mean_noise_us > 0 || a->amp_noise > 0 || a->adc_noise_lsb > 0 ||
           a->temperature_k > 0;
}

/* The tiles of one slice, or those of whole weights. */
typedef struct columns_of {
    double us_per_weight, conductance_us; /* the latter is the sum over all of them */
    bool noise;                           /* whether noise devices are among them */
    double input;                         /* input at the full read voltage */
} columns_of;

/* (X58) The sd for a column of average conductance, in the layer's units. */
static double thermal_sd(const xb_array *a, const xb_analog_layer *p, columns_of of)
{
    const double boltzmann = 1.380649e-23; /* J/K, exact */
    const double columns = (double)(xb_row_tiles(p) * p->out);
    const double noise_us =
        of.noise ? (double)a->cost.noise_cells * xb_array_noise_us(a) : 0;
    const double siemens =
        1e-6 * (of.conductance_us / columns + noise_us * (double)p->rows);
    const double ampere =
        sqrt(2 * boltzmann * a->temperature_k * siemens / (1e-9 * a->cost.read_ns));
    return ampere * of.input / (a->cost.read_v * 1e-6 * of.us_per_weight);
}

xb_sum_noise xb_sum_noise_of(const xb_array *a, const xb_analog_layer *p)
{
    xb_sum_noise n = {.step = a->adc_noise_lsb * (double)p->adc.steps.step}; /* (X57) */
    if (!(p->weight_top > 0)) return n;
    const columns_of of = {(a->g_max_us - a->g_min_us) / p->weight_top, p->conductance_us,
                           p->sigma_top > 0, p->dac.range};
    n.input = sqrt(2) * a->mean_noise_us / of.us_per_weight; /* (X56) */
    n.fixed = hypot(a->amp_noise * p->adc.range, thermal_sd(a, p, of));
    return n;
}

xb_sum_noise xb_plane_noise_of(const xb_array *a, const xb_analog_layer *p, int64_t k)
{
    const xb_plane *plane = &p->plane[k];
    xb_sum_noise n = {.step = a->adc_noise_lsb * (double)plane->adc.steps.step};
    if (!(plane->us_per_weight > 0)) return n;
    const columns_of of = {plane->us_per_weight, plane->conductance_us,
                           k == 0 && p->sigma_top > 0, xb_plane_input(a, p)};
    const double devices = plane->reference ? 1 : 2;               /* devices per
                                                                      weight */
    n.input = sqrt(devices) * a->mean_noise_us / of.us_per_weight; /* (X56) */
    n.fixed = hypot(a->amp_noise * plane->adc.range, thermal_sd(a, p, of));
    return n;
}

/* Adds noise to sums [rows][out] of a tile, whose inputs are x [rows][width]; pre [out]
 * NULL: 1. */
static void add_noise(const xb_noisy_product *k, float *sums, int64_t out, const float *x,
                      int64_t rows, int64_t width, int64_t tile, uint32_t stream,
                      const float *pre)
{
    const int64_t tiles = xb_row_tiles(k->layer);
    const xb_stream where = {.key = k->analog->forget,
                             .tensor = (uint32_t)k->layer->tensor,
                             .sample = stream,
                             .step = (uint32_t)k->read};
    for (int64_t r = 0; r < rows; r++, sums += out, x += width) {
        double square = 0;
        for (int64_t i = 0; i < width; i++) square += (double)x[i] * (double)x[i];
        const double both = hypot(k->noise.fixed, k->noise.input * sqrt(square));
        xb_sampler_fill(k->analog->normal, k->draws, out, &where,
                        ((k->first + r) * tiles + tile) * out);
        for (int64_t j = 0; j < out; j++) {
            const double step = pre ? k->noise.step / (double)pre[j] : k->noise.step;
            sums[j] += (float)(hypot(both, step) * (double)k->draws[j]);
        }
    }
}

void xb_sum_noise_add(const xb_noisy_product *k, float *sums, const float *x,
                      int64_t rows, int64_t width, int64_t tile)
{
    const xb_analog_layer *p = k->layer;
    const float *pre = p->correction.pre ? p->correction.pre + tile * p->out : NULL;
    add_noise(k, sums, p->out, x, rows, width, tile, XB_CHIP_SUMS, pre);
}

void xb_plane_noise_add(const xb_noisy_product *k, float *sums, int64_t columns,
                        const float *x, int64_t rows, int64_t width, int64_t tile,
                        int64_t conversion)
{
    const uint32_t stream = XB_CHIP_SUMS + XB_CHIP_SLICE * (uint32_t)conversion;
    add_noise(k, sums, columns, x, rows, width, tile, stream, NULL);
}
