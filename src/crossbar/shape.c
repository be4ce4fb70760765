/* shape.c: noise devices whose shapes differ (maths X8). A device's noise is bent by a
 * little of the law's second orthogonal polynomial,
 *   z' = (z + t h(z)) / sqrt(1 + t^2),  h(z) = (z^2 - g z - 1) / sqrt(k + 2 - g^2),
 * where g is the law's skewness, k its excess kurtosis, and t is normal from device to
 * device. Mean 0 and variance 1 stay exact for every law, so only the shape changes. A
 * weight mu + sigma z' is a parabola in z, stored as three coefficients; the backend
 * evaluates it (`bend`). */
#include <math.h>

#include "crossbar/analog.h"
#include "vi/model.h"

xb_curve xb_shape_curve(const xb_analog *analog, int64_t at)
{
    int64_t n = analog->model->net->param_count;
    const float *b = analog->bend + at;
    return (xb_curve){b, b + n, b + 2 * n};
}

xb_status xb_shape_make(xb_ctx *ctx, xb_analog *analog, const xb_chip *chip,
                        const xb_analog_layer *layer)
{
    const xb_law *law = xb_sampler_law(analog->sampler);
    xb_moments m = xb_law_moments(law);
    double g = m.skewness, h2 = m.excess_kurtosis + 2 - g * g;
    const double least = 1e-6; /* a law of two points has no such polynomial */
    if (!(h2 > least))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "shape_spread: %s has two values only, its shape cannot vary",
                       xb_law_text(law));
    if (!isfinite(h2))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "shape_spread: %s has no fourth moment, which the spread of shapes"
                       " is measured in",
                       xb_law_text(law));
    xb_chip_normal(chip, XB_CHIP_SHAPE, layer->size);
    float *level = analog->bend + layer->offset;
    float *slope = level + analog->model->net->param_count;
    float *square = slope + analog->model->net->param_count;
    for (int64_t i = 0; i < layer->size; i++) {
        double t = analog->array.shape_spread * (double)chip->draws[i];
        double straight = (double)analog->sigma[layer->offset + i] / sqrt(1 + t * t);
        double bent = t * straight / sqrt(h2);
        level[i] = (float)((double)analog->mu[layer->offset + i] - bent);
        slope[i] = (float)(straight - g * bent);
        square[i] = (float)bent;
    }
    return XB_OK;
}
