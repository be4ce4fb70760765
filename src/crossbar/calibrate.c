/* calibrate.c: ranges of the converters (maths X12). Inputs and tile sums are watched
 * over some reads of the arrays without converters; a range covers the wanted share of
 * them. Watching the training data, not the inputs to be predicted, is what a chip's
 * maker can do: test inputs may then exceed the range and are clipped, as they would be.
 * One range for a layer: its tiles share a converter design. */
#include <stdlib.h>

#include "base/memory.h"
#include "crossbar/analog.h"
#include "vi/model.h"

enum { READS = 4 };

/* The most a tile's column can carry, in the layer's units: every input at its largest
 * on the largest weight. */
static double column_most(const xb_analog_layer *p, double input_range)
{
    return (double)p->rows * input_range * p->weight_top;
}

static void set_ranges(xb_analog *a, const xb_sightings *seen)
{
    const xb_array *array = &a->array;
    for (int i = 0; i < a->n_layer; i++) {
        xb_analog_layer *p = &a->layer[i];
        double in = array->dac_range, sum;
        if (!(in > 0)) in = xb_spectrum_quantile(&seen->in[i], array->coverage);
        if (array->adc_range > 0)
            sum = array->adc_range * column_most(p, in);
        else
            sum = xb_spectrum_quantile(&seen->sum[i], array->coverage);
        p->dac = xb_converter_make(array->dac_bits, in, seen->in[i].negative);
        p->adc = xb_converter_make(array->adc_bits, sum, true);
    }
}

static void watch(xb_reader *r, const float *x, int64_t n, int64_t features)
{
    for (int64_t i = 0; i < n; i += r->batch) {
        int64_t rows = n - i < r->batch ? n - i : r->batch;
        for (int64_t s = 0; s < READS; s++)
            (void)xb_reader_run(r, x + i * features, i, rows, s, s > 0);
    }
}

static xb_status check(xb_ctx *ctx, const xb_array *a, int64_t n)
{
    bool needed = (a->dac_bits > 0 && !(a->dac_range > 0)) || a->adc_bits > 0;
    if (!needed || n > 0) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "converters with no fixed range need inputs to be calibrated on");
}

xb_status xb_analog_calibrate(xb_ctx *ctx, xb_analog *analog, const float *x, int64_t n)
{
    XB_TRY(check(ctx, &analog->array, n));
    if (analog->array.dac_bits == 0 && analog->array.adc_bits == 0) return XB_OK;
    xb_reader r;
    xb_sightings seen = {xb_new(ctx, analog->n_layer, sizeof *seen.in),
                         xb_new(ctx, analog->n_layer, sizeof *seen.sum)};
    xb_status status =
        seen.in && seen.sum ? xb_reader_make(ctx, &r, analog) : XB_E_MEMORY;
    if (status == XB_OK) {
        r.seen = seen;
        watch(&r, x, n, analog->model->features);
        set_ranges(analog, &seen);
        xb_reader_free(&r);
    }
    free(seen.in);
    free(seen.sum);
    return status;
}
