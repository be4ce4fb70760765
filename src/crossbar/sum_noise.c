/* sum_noise.c: noise of the column sums that no weight's device makes (maths X56-X58):
 * read noise of the mean devices, noise of amplifiers and converters, thermal noise of
 * the conductances. All are normal, independent from sum to sum, and added before the
 * ADC; a draw is a function of (seed, tensor, input, operation, tile, column, read). */
#include <math.h>

#include "crossbar/analog.h"

bool xb_array_noisy_sums(const xb_array *a)
{
    return a->mean_noise_us > 0 || a->amp_noise > 0 || a->adc_noise_lsb > 0 ||
           a->temperature_k > 0;
}

/* (X58) Of a column of average conductance, in the layer's units. */
static double thermal_sd(const xb_array *a, const xb_analog_layer *p,
                         double us_per_weight)
{
    const double boltzmann = 1.380649e-23; /* J/K, exact */
    const double columns = (double)(xb_row_tiles(p) * p->out);
    const double noise_us =
        p->sigma_top > 0 ? (double)a->cost.noise_cells * xb_array_noise_us(a) : 0;
    const double siemens =
        1e-6 * (p->conductance_us / columns + noise_us * (double)p->rows);
    const double ampere =
        sqrt(2 * boltzmann * a->temperature_k * siemens / (1e-9 * a->cost.read_ns));
    return ampere * p->dac.range / (a->cost.read_v * 1e-6 * us_per_weight);
}

xb_sum_noise xb_sum_noise_of(const xb_array *a, const xb_analog_layer *p)
{
    xb_sum_noise n = {.step = a->adc_noise_lsb * (double)p->adc.steps.step}; /* (X57) */
    if (!(p->weight_top > 0)) return n;
    const double us_per_weight = (a->g_max_us - a->g_min_us) / p->weight_top;
    n.input = sqrt(2) * a->mean_noise_us / us_per_weight; /* (X56) */
    n.fixed = hypot(a->amp_noise * p->adc.range, thermal_sd(a, p, us_per_weight));
    return n;
}

/* Sums [rows][out] of a tile, whose inputs are x [rows][width]. */
void xb_sum_noise_add(const xb_noisy_product *k, float *sums, const float *x,
                      int64_t rows, int64_t width, int64_t tile)
{
    const xb_analog_layer *p = k->layer;
    const int64_t out = p->out, tiles = xb_row_tiles(p);
    const float *pre = p->correction.pre ? p->correction.pre + tile * out : NULL;
    const xb_stream where = {.key = k->analog->forget,
                             .tensor = (uint32_t)p->tensor,
                             .sample = XB_CHIP_SUMS,
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
