/* calibrate.c: ranges of the converters (maths X12). Inputs and tile sums are observed
 * over a few reads of the arrays without converters; a range covers the wanted share of
 * them. A chip's maker can calibrate on the training data only, not on the inputs to be
 * predicted: test inputs may exceed the range and are then clipped, as on a real chip. A
 * layer has one range, because its tiles share a converter design; calibrate_columns.c
 * has ranges, gains and offsets of single columns. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbar/calibrate.h"
#include "vi/model.h"

enum { READS = 4 };

/* The largest sum of a tile's column in the layer's units: every input has its largest
 * value and meets the largest weight. */
static double column_most(const xb_analog_layer *p, double input_range)
{
    return (double)p->rows * input_range * p->weight_top;
}

void xb_calibrate_inputs(xb_analog_layer *p, const xb_array *array, const xb_spectrum *in)
{
    double x = array->dac_range;
    if (!(x > 0)) x = xb_spectrum_quantile(in, array->coverage);
    p->dac = xb_converter_make(array->dac_bits, x, in->negative);
}

/* Sums over an offset have one sign if the inputs have one. */
void xb_calibrate_planes(xb_analog_layer *p, const xb_array *array,
                         const xb_spectrum *planes)
{
    for (int64_t k = 0; k < p->planes; k++) {
        const bool has_sign = !p->plane[k].reference || planes[k].negative;
        const double range = array->adc_range > 0
                                 ? array->adc_range * xb_plane_most(array, p, k)
                                 : xb_spectrum_quantile(&planes[k], array->coverage);
        p->plane[k].adc = xb_converter_make(array->adc_bits, range, has_sign);
    }
    p->adc = p->plane[0].adc;
}

void xb_calibrate_set(xb_analog_layer *p, const xb_array *array, const xb_spectrum *in,
                      double sum)
{
    xb_calibrate_inputs(p, array, in);
    if (array->adc_range > 0) sum = array->adc_range * column_most(p, p->dac.range);
    p->adc = xb_converter_make(array->adc_bits, sum, true);
}

void xb_calibrate_watch(xb_reader *r, const xb_known *known)
{
    for (int64_t i = 0; i < known->n; i += r->batch) {
        int64_t rows = known->n - i < r->batch ? known->n - i : r->batch;
        for (int64_t s = 0; s < READS; s++)
            (void)xb_reader_run(r, known->x + i * known->features, i, rows, s, s > 0);
    }
}

/* ---- all layers at once */

/* What is observed in all layers, with pointers to it in the form that readers take. */
typedef struct all_layers {
    xb_spectrum *spectrum; /* [2][n_layer]: inputs, then sums; then those of planes */
    int64_t planes;        /* total number of planes */
    xb_watch *watch;       /* [n_layer] */
    xb_sightings seen;
} all_layers;

static xb_status all_layers_make(xb_ctx *ctx, all_layers *out, const xb_analog *a)
{
    const int n = a->n_layer;
    int64_t planes = 0;
    for (int i = 0; i < n; i++) planes += a->layer[i].planes;
    *out = (all_layers){.spectrum = xb_new(ctx, 2 * n + planes, sizeof *out->spectrum),
                        .planes = planes,
                        .watch = xb_new(ctx, n, sizeof *out->watch),
                        .seen = {xb_new(ctx, n, sizeof(xb_spectrum *)),
                                 xb_new(ctx, n, sizeof(xb_watch *))}};
    if (!out->spectrum || !out->watch || !out->seen.in || !out->seen.sum)
        return XB_E_MEMORY;
    xb_spectrum *next = out->spectrum + 2 * n;
    for (int i = 0; i < n; i++, next += a->layer[i - 1].planes) {
        out->watch[i].sum = &out->spectrum[n + i];
        if (a->layer[i].plane) out->watch[i].planes = next;
        out->seen.in[i] = &out->spectrum[i];
        out->seen.sum[i] = &out->watch[i];
    }
    return XB_OK;
}

static void all_layers_free(all_layers *all)
{
    free(all->spectrum);
    free(all->watch);
    free(all->seen.in);
    free(all->seen.sum);
}

/* Inputs have been observed; with pulses, they are observed again with their
 * converters. */
static void calibrate_all_planes(xb_analog *a, all_layers *all, xb_reader *r,
                                 const xb_known *known)
{
    for (int i = 0; i < a->n_layer; i++)
        xb_calibrate_inputs(&a->layer[i], &a->array, all->seen.in[i]);
    if (a->array.dac_bits > 0 && a->array.input_slice_bits > 0) {
        memset(all->spectrum + 2 * a->n_layer, 0,
               (size_t)all->planes * sizeof *all->spectrum);
        xb_calibrate_watch(r, known);
    }
    for (int i = 0; i < a->n_layer; i++)
        xb_calibrate_planes(&a->layer[i], &a->array, all->watch[i].planes);
}

static xb_status calibrate_ranges(xb_ctx *ctx, xb_analog *a, const xb_known *known)
{
    xb_reader r;
    all_layers all;
    xb_status status = all_layers_make(ctx, &all, a);
    if (status == XB_OK) status = xb_reader_make(ctx, &r, a);
    if (status == XB_OK) {
        r.seen = all.seen;
        xb_calibrate_watch(&r, known);
        if (all.planes > 0)
            calibrate_all_planes(a, &all, &r, known);
        else
            for (int i = 0; i < a->n_layer; i++)
                xb_calibrate_set(
                    &a->layer[i], &a->array, all.seen.in[i],
                    xb_spectrum_quantile(all.watch[i].sum, a->array.coverage));
        xb_reader_free(&r);
    }
    all_layers_free(&all);
    return status;
}

/* Whether there is noise whose size is given as a share of a range (X57, X58). */
static bool needs_ranges(const xb_array *a)
{
    return a->amp_noise > 0 || a->temperature_k > 0;
}

static xb_status check(xb_ctx *ctx, const xb_array *a, int64_t n)
{
    bool ranges =
        (a->dac_bits > 0 && !(a->dac_range > 0)) || a->adc_bits > 0 || needs_ranges(a);
    if (n > 0 || !(ranges || a->column_calibration > 0)) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   ranges ? "converters with no fixed range need inputs to be calibrated"
                            " on"
                          : "the calibration of columns needs known inputs");
}

xb_status xb_analog_calibrate(xb_ctx *ctx, xb_analog *analog, const float *x, int64_t n)
{
    const xb_array *a = &analog->array;
    const xb_known known = {x, n, analog->model->features};
    XB_TRY(check(ctx, a, n));
    if (a->column_calibration > 0 || (a->adc_bits > 0 && a->adc_range_per > 0))
        return xb_calibrate_columns(ctx, analog, &known);
    if (a->dac_bits == 0 && a->adc_bits == 0 && !needs_ranges(a)) return XB_OK;
    return calibrate_ranges(ctx, analog, &known);
}
