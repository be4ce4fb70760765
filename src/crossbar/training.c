/* training.c: the effects of an array that a net can be trained with (maths V60, V61,
 * X60, X62). */
#include <math.h>

#include "crossbar/array.h"

/* The states of a whole weight, and how many of them are above 0. */
typedef struct weight_states {
    double all, most; /* `most`: number of steps from 0 to the largest weight */
} weight_states;

static weight_states states_of(const xb_array *a)
{
    weight_states s = {.all = pow((double)a->mean_levels, (double)xb_array_slices(a))};
    s.most = s.all - 1 - (a->offset_columns ? floor(s.all / 2) : 0);
    return s;
}

/* The standard deviation of a programmed weight relative to the largest weight, for all
 * its slices. */
static double error_of(const xb_array *a, double most)
{
    const double devices = a->offset_columns ? 1 : 2;
    const double levels = (double)a->mean_levels;
    double sum = 0;
    /* There is one slice, whose range is that of the weight or twice as large. */
    if (a->mean_levels == 0)
        return a->program_error * (a->offset_columns ? 2 : sqrt(devices));
    for (int64_t k = 0; k < xb_array_slices(a); k++) {
        const double range = (levels - 1) * pow(levels, (double)k) / most;
        sum += devices * range * range;
    }
    return a->program_error * sqrt(sum);
}

/* (V60) The draws of a prediction differ by their noise, which averages out much of the
 * rounding, while a step of training has a single draw. docs/design.md has the
 * comparison. */
static int64_t trained_bits(int64_t adc_bits)
{
    enum { MORE = 1, MOST = 20 };
    if (adc_bits == 0 || adc_bits + MORE > MOST) return adc_bits;
    return adc_bits + MORE;
}

void xb_array_training(const xb_array *a, xb_train_array *out)
{
    const double most = a->mean_levels > 0 ? states_of(a).most : 0;
    *out = (xb_train_array){.dac_bits = a->dac_bits,
                            .adc_bits = trained_bits(a->adc_bits),
                            .levels = (int64_t)most,
                            .error = fmin(error_of(a, most), 1)};
    if (a->sigma_max_us > 0) out->floor = a->sigma_min_us / a->sigma_max_us;
}
