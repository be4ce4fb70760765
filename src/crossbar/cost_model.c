/* cost_model.c: energy and time of a draw and of a prediction (maths X35-X39), layer by
 * layer and part by part, for three designs: the array, a digital accelerator that makes
 * its own noise, the array without noise. The power of cells follows from the programmed
 * conductances, with every row at the full read voltage; this is an upper bound, because
 * inputs are smaller. Buffers, buses and leakage are not counted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbar/adc_energy.h"
#include "crossbar/analog.h"
#include "vi/model.h"

enum { ARRAY, DIGITAL, DETERMINISTIC, DESIGNS };
static const char *const designs[DESIGNS] = {"array", "digital", "deterministic"};

enum { DAC, CELLS, ADC, LOGIC, SAMPLING, PARTS };
static const char *const parts[PARTS] = {"dac", "cells", "adc", "digital", "sampling"};

typedef struct layer_cost {
    int64_t index; /* index in the net */
    xb_band pj[DESIGNS][PARTS];
    double ns[DESIGNS];
    xb_band known_pj; /* cost of calibrating its columns, as is the next */
    double known_ns;
} layer_cost;

struct xb_cost_model {
    int64_t draws, n;
    double wait_ns; /* shortest time from one draw to the next */
    layer_cost layer[];
};

static xb_band scaled(double factor, double low, double high)
{
    return (xb_band){factor * low, factor * high};
}

static bool is_random(const xb_analog_layer *p) { return p->sigma_top > 0; }

/* The mean conductance of a layer's pairs, over the members of an ensemble. */
static double conductance_us(const xb_analog *a, int i)
{
    double sum = a->layer[i].conductance_us;
    for (int64_t k = 0; k < a->others; k++) sum += a->other[k]->layer[i].conductance_us;
    return sum / (double)(a->others + 1);
}

/* (X35) The number of conversions of a tile's column in one operation. */
static double conversions(const xb_array *a, bool noise)
{
    return noise ? (double)a->cost.adc_per_output : 1;
}

/* (X61) The number of pulses of an input, and of the bits that are made for all of
 * them. */
static double pulses_of(const xb_array *a, const xb_analog_layer *p)
{
    return (double)xb_plane_pulses(a, p);
}

static double input_bits(const xb_array *a, const xb_analog_layer *p)
{
    const double pulses = pulses_of(a, p);
    if (pulses == 1) return (double)a->dac_bits;
    return pulses * (double)a->input_slice_bits + (p->dac.has_sign ? 1 : 0);
}

/* (X64) The number of conversions of a row tile in one operation: of every slice in every
 * pulse, and of the reference of each column tile. Noise devices are on the columns of
 * the first slice. */
static double results_of(const xb_array *a, const xb_analog_layer *p, bool noise,
                         double column_tiles)
{
    const double slices = (double)xb_array_slices(a), out = (double)p->out;
    const double references = a->offset_columns ? column_tiles : 0;
    return pulses_of(a, p) *
           (out * conversions(a, noise) + out * (slices - 1) + slices * references);
}

/* (X54) A corrected result is multiplied by its column's gain before it is added. */
static xb_band digital_pj(const xb_array *a, const xb_analog_layer *p)
{
    return p->correction.pre ? scaled(1, a->cost.mac_pj_low, a->cost.mac_pj_high)
                             : scaled(1, a->cost.add_pj, a->cost.add_pj);
}

/* (X35) */
static void array_energy(xb_band pj[PARTS], const xb_analog *analog, int i, bool noise)
{
    const xb_array *a = &analog->array;
    const xb_analog_layer *p = &analog->layer[i];
    const xb_analog_place place = xb_analog_place_at(analog, i);
    const double times = (double)p->operations, pulses = pulses_of(a, p);
    const double pulse =
        pulses * 1e-3 * a->cost.read_v * a->cost.read_v * a->cost.read_ns;
    const double results = times * (double)place.row_tiles *
                           results_of(a, p, noise, (double)place.column_tiles);
    const double inputs = times * (double)(p->in * place.column_tiles) * input_bits(a, p);
    const double noise_cells = noise ? (double)(a->cost.noise_cells * p->size) : 0;
    const xb_band adc = xb_adc_band_pj(a);
    pj[DAC] = scaled(inputs, a->cost.dac_pj_low, a->cost.dac_pj_high);
    pj[CELLS] = scaled(times * pulse * conductance_us(analog, i), 1, 1);
    pj[ADC] = scaled(results, adc.low, adc.high);
    const xb_band logic = digital_pj(a, p);
    pj[LOGIC] = scaled(results, logic.low, logic.high);
    pj[SAMPLING] = scaled(times * pulse * noise_cells * xb_array_noise_us(a), 1, 1);
}

/* (X38) */
static double array_time_ns(const xb_array *a, const xb_analog_layer *p, bool noise)
{
    const double columns =
        (double)p->columns * conversions(a, noise) + (a->offset_columns ? 1 : 0);
    const double in_a_row = fmin((double)a->cost.adc_share, columns);
    const double convert_ns = 1e3 * (double)(a->adc_bits + 1) / a->cost.adc_clock_mhz;
    return (double)p->operations * pulses_of(a, p) *
           (a->cost.read_ns + convert_ns * in_a_row);
}

/* (X39) */
static void digital_costs(layer_cost *out, const xb_array *a, const xb_analog_layer *p)
{
    const double samples = is_random(p) ? (double)p->size : 0;
    const double macs = (double)(p->operations * p->size) + samples;
    out->pj[DIGITAL][LOGIC] = scaled(macs, a->cost.mac_pj_low, a->cost.mac_pj_high);
    out->pj[DIGITAL][SAMPLING] =
        scaled(1e-3 * samples, a->cost.sample_fj_low, a->cost.sample_fj_high);
    out->ns[DIGITAL] = samples / a->cost.sample_gsps;
}

/* (X54) Each known input is one operation of the layer. */
static void calibration_costs(layer_cost *out, const xb_analog_layer *p)
{
    const double times = (double)p->known / (double)p->operations;
    for (int k = 0; k < PARTS; k++) {
        out->known_pj.low += times * out->pj[ARRAY][k].low;
        out->known_pj.high += times * out->pj[ARRAY][k].high;
    }
    out->known_ns = times * out->ns[ARRAY];
}

static void layer_costs(layer_cost *out, const xb_analog *analog, int i)
{
    const xb_analog_layer *p = &analog->layer[i];
    const xb_array *a = &analog->array;
    out->index = p->index;
    array_energy(out->pj[ARRAY], analog, i, is_random(p));
    array_energy(out->pj[DETERMINISTIC], analog, i, false);
    out->ns[ARRAY] = array_time_ns(a, p, is_random(p));
    out->ns[DETERMINISTIC] = array_time_ns(a, p, false);
    digital_costs(out, a, p);
    calibration_costs(out, p);
}

static xb_status check_bits(xb_ctx *ctx, const char *key, int64_t bits)
{
    if (bits > 0) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "costs need converters: '%s' is 0 (none), expected 2 or more", key);
}

static xb_status check(xb_ctx *ctx, const xb_analog *analog, int64_t draws)
{
    if (draws < 1)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a prediction of %lld draws, expected 1 or more",
                       (long long)draws);
    if (xb_model_cells(analog->model))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "costs cannot be computed for weights made of cells: their "
                       "conductances are in the cells' own unit");
    XB_TRY(check_bits(ctx, "dac_bits", analog->array.dac_bits));
    return check_bits(ctx, "adc_bits", analog->array.adc_bits);
}

xb_status xb_cost_model_create(xb_ctx *ctx, xb_cost_model **out, const xb_analog *analog,
                               int64_t draws)
{
    XB_TRY(check(ctx, analog, draws));
    const size_t layers = (size_t)analog->n_layer * sizeof(layer_cost);
    xb_cost_model *cost = xb_new(ctx, 1, sizeof *cost + layers);
    if (!cost) return XB_E_MEMORY;
    cost->draws = draws;
    cost->n = analog->n_layer;
    cost->wait_ns = analog->array.read_interval_ns;
    for (int i = 0; i < analog->n_layer; i++) layer_costs(&cost->layer[i], analog, i);
    *out = cost;
    return XB_OK;
}

void xb_cost_model_destroy(xb_cost_model *cost) { free(cost); }

/* ---- designs, parts and layers */

static int64_t find(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

int64_t xb_cost_model_design_count(void) { return DESIGNS; }
const char *xb_cost_model_design_name(int64_t i) { return designs[i]; }
int64_t xb_cost_model_design_find(const char *name)
{
    return find(designs, DESIGNS, name);
}

int64_t xb_cost_model_part_count(void) { return PARTS; }
const char *xb_cost_model_part_name(int64_t i) { return parts[i]; }
int64_t xb_cost_model_part_find(const char *name) { return find(parts, PARTS, name); }

int64_t xb_cost_model_layer_count(const xb_cost_model *cost) { return cost->n; }

int64_t xb_cost_model_layer_at(const xb_cost_model *cost, int64_t i)
{
    return cost->layer[i].index;
}

int64_t xb_cost_model_draws(const xb_cost_model *cost, int64_t design)
{
    return design == DETERMINISTIC ? 1 : cost->draws;
}

xb_band xb_cost_model_energy_pj(const xb_cost_model *cost, int64_t design, int64_t layer,
                                int64_t part)
{
    xb_band sum = {0, 0};
    for (int64_t i = 0; i < cost->n; i++)
        for (int64_t k = 0; k < PARTS; k++) {
            if ((layer >= 0 && layer != i) || (part >= 0 && part != k)) continue;
            sum.low += cost->layer[i].pj[design][k].low;
            sum.high += cost->layer[i].pj[design][k].high;
        }
    return sum;
}

xb_band xb_cost_model_calibration_pj(const xb_cost_model *cost)
{
    xb_band sum = {0, 0};
    for (int64_t i = 0; i < cost->n; i++) {
        sum.low += cost->layer[i].known_pj.low;
        sum.high += cost->layer[i].known_pj.high;
    }
    return sum;
}

double xb_cost_model_calibration_ns(const xb_cost_model *cost)
{
    double sum = 0;
    for (int64_t i = 0; i < cost->n; i++) sum += cost->layer[i].known_ns;
    return sum;
}

/* (X38) */
double xb_cost_model_time_ns(const xb_cost_model *cost, int64_t design, int64_t layer)
{
    double sum = 0;
    if (layer >= 0) return cost->layer[layer].ns[design];
    for (int64_t i = 0; i < cost->n; i++) sum += cost->layer[i].ns[design];
    return design == ARRAY ? fmax(sum, cost->wait_ns) : sum;
}
