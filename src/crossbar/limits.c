/* limits.c: the load on the circuits of an array (maths X55): the currents of its wires,
 * whether the first-order model of wires is valid, and how far the noise devices swing.
 * No read depends on it. */
#include <math.h>

#include "crossbar/analog.h"

/* The conductance of one polarity, over all tiles. */
static xb_conduction conduction_of(const xb_cells *c, const double *g)
{
    xb_conduction most = {0, 0};
    for (int64_t i = 0; i < c->in; i += c->rows)
        for (int64_t j = 0; j < c->out; j++) {
            double sum = 0;
            for (int64_t k = i; k < i + c->rows && k < c->in; k++)
                sum += g[k * c->out + j];
            most.column_us = fmax(most.column_us, sum);
        }
    for (int64_t i = 0; i < c->in; i++)
        for (int64_t j = 0; j < c->out; j += c->columns) {
            double sum = 0;
            for (int64_t k = j; k < j + c->columns && k < c->out; k++)
                sum += g[i * c->out + k];
            most.row_us = fmax(most.row_us, sum);
        }
    return most;
}

xb_conduction xb_cells_conduction(const xb_cells *c)
{
    xb_cells other = *c;
    if (c->offset) other.out = xb_cells_across(c), other.columns = 1;
    const xb_conduction plus = conduction_of(c, c->plus),
                        minus = conduction_of(&other, c->minus);
    return (xb_conduction){fmax(plus.column_us, minus.column_us),
                           fmax(plus.row_us, minus.row_us)};
}

/* (X55) The end of the law, or the value that one read in 10,000 exceeds. */
static double end_of(const xb_law *law, bool upper)
{
    const double rare = 1e-4;
    const xb_moments m = xb_law_moments(law);
    double at = upper ? xb_law_upper(law) : xb_law_lower(law);
    if (!isfinite(at)) at = upper ? xb_law_isf(law, rare) : xb_law_quantile(law, rare);
    return (at - m.mean) / sqrt(m.variance);
}

xb_analog_limits xb_analog_limits_get(const xb_analog *analog)
{
    const xb_array *a = &analog->array;
    const xb_law *law = xb_sampler_law(analog->sampler);
    xb_analog_limits out = {.swing_low_us = NAN, .swing_high_us = NAN};
    for (int i = 0; i < analog->n_layer; i++) {
        const xb_analog_layer *p = &analog->layer[i];
        out.column_ua = fmax(out.column_ua, a->cost.read_v * p->conduction.column_us);
        out.row_ua = fmax(out.row_ua, a->cost.read_v * p->conduction.row_us);
        out.wire_loss = fmax(out.wire_loss, p->wire_loss);
        if (xb_model_cells(analog->model) || !(a->sigma_max_us > 0 && p->sigma_top > 0))
            continue;
        out.swing_low_us = xb_array_noise_us(a) + a->sigma_max_us * end_of(law, false);
        out.swing_high_us = xb_array_noise_us(a) + a->sigma_max_us * end_of(law, true);
    }
    return out;
}
