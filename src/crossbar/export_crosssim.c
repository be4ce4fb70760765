/* export_crosssim.c: writes a layer for Sandia's CrossSim: its matrix [out][in] (what an
 * AnalogCore takes), its widths beside it, and parameters that
 * CrossSimParameters.from_json reads. Names are those of simulator/parameters/ of
 * CrossSim 3 (core_parameters.py, xbar_parameters.py). These are mapped: tile sizes,
 * balanced one-sided pairs, the conductance range as Rmin and Rmax, numbers of states
 * that are a power of two, programming error, wires, and bits and ranges of both
 * converters. These are not: noise that differs from device to device or is not normal,
 * its correlation and its redraws (CrossSim's read noise has one magnitude), and stuck
 * devices. For weights in slices, offset columns and inputs in pulses only the matrices
 * are written: CrossSim has all three, but with other numbers for the digits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbar/export.h"
#include "vi/model.h"

static double range_or_1(double top) { return top > 0 ? top : 1; }

static double input_range(const xb_analog_layer *p)
{
    return p->dac.on ? range_or_1(p->dac.range) : 1;
}

/* Whether inputs may be negative; a converter without a sign, as after a relu, needs a
 * minimum of 0. */
static bool has_negative_inputs(const xb_analog_layer *p)
{
    return p->dac.has_sign || !p->dac.on;
}

static json_t *mapping_json(double range, bool negative)
{
    return json_pack("{s:b,s:f,s:f,s:n}", "clipping", 1, "min", negative ? -range : 0.0,
                     "max", range, "percentile");
}

static json_t *core_json(const xb_analog_layer *p)
{
    const bool negative = has_negative_inputs(p);
    json_t *inputs = json_pack("{s:o,s:o}", "mvm", mapping_json(input_range(p), negative),
                               "vmm", mapping_json(input_range(p), negative));
    return json_pack("{s:s,s:I,s:I,s:{s:s},s:{s:o,s:o}}", "style", "BALANCED", "rows_max",
                     (json_int_t)p->rows, "cols_max", (json_int_t)p->columns, "balanced",
                     "style", "ONE_SIDED", "mapping", "weights",
                     mapping_json(range_or_1(p->weight_top), true), "inputs", inputs);
}

/* The number of bits for a number of states; 0, "any", if it is not a power of two. */
static int64_t bits_of(int64_t levels)
{
    int64_t bits = 0;
    while ((INT64_C(1) << bits) < levels) bits++;
    return levels > 1 && INT64_C(1) << bits == levels ? bits : 0;
}

static json_t *device_json(const xb_array *a)
{
    const double us = 1e6; /* ohms that correspond to 1 uS */
    bool off = !(a->g_min_us > 0), miss = a->program_error > 0;
    double range = a->g_max_us - a->g_min_us;
    json_t *error = json_pack("{s:b,s:s,s:f}", "enable", (int)miss, "model",
                              miss ? "NormalIndependentDevice" : "IdealDevice",
                              "magnitude", a->program_error * range / a->g_max_us);
    return json_pack("{s:I,s:f,s:f,s:b,s:o}", "cell_bits",
                     (json_int_t)bits_of(a->mean_levels), "Rmin", us / a->g_max_us,
                     "Rmax", off ? 1e12 : us / a->g_min_us, "infinite_on_off_ratio",
                     (int)off, "programming_error", error);
}

static json_t *converter_json(const char *model, int64_t bits, bool has_sign)
{
    return json_pack("{s:s,s:I,s:b}", "model", model, "bits", (json_int_t)bits, "signed",
                     (int)has_sign);
}

/* The same for products by the matrix and by its transpose. */
static json_t *paired(json_t *one)
{
    return json_pack("{s:O,s:o}", "mvm", one, "vmm", one);
}

/* (X25) CrossSim gives column sums in units of the largest input times the largest
 * conductance.
 */
static double adc_range(const xb_array *a, const xb_analog_layer *p)
{
    return p->adc.range * (a->g_max_us - a->g_min_us) /
           (input_range(p) * range_or_1(p->weight_top) * a->g_max_us);
}

static json_t *xbar_json(const xb_array *a, const xb_analog_layer *p)
{
    json_t *adc =
        converter_json(p->adc.on ? "SignMagnitudeADC" : "IdealADC", a->adc_bits, true);
    if (p->adc.on) {
        const double range = adc_range(a, p);
        xb_json_set(&adc, "adc_range_option", xb_json_string("CALIBRATED"));
        xb_json_set(&adc, "calibrated_range", json_pack("[f,f]", -range, range));
    }
    const char *dac = !p->dac.on        ? "IdealDAC"
                      : p->dac.has_sign ? "SignMagnitudeDAC"
                                        : "QuantizerDAC";
    json_t *wires = json_pack("{s:b,s:f,s:f}", "enable", (int)(a->line_ohm > 0), "Rp_row",
                              a->line_ohm, "Rp_col", a->line_ohm);
    return json_pack("{s:o,s:{s:o},s:o,s:o}", "device", device_json(a), "array",
                     "parasitics", wires, "adc", paired(adc), "dac",
                     paired(converter_json(dac, a->dac_bits, has_negative_inputs(p))));
}

/* Writes a block [in][out] as [out][in]. */
static xb_status write_matrix(xb_ctx *ctx, const char *path, const xb_analog_layer *p,
                              const float *block)
{
    double *matrix = xb_new(ctx, p->size, sizeof *matrix);
    if (!matrix) return XB_E_MEMORY;
    for (int64_t i = 0; i < p->in; i++)
        for (int64_t j = 0; j < p->out; j++)
            matrix[j * p->in + i] = (double)block[i * p->out + j];
    xb_status status =
        xb_npy_write(ctx, path, matrix, XB_F64, (int64_t[]){p->out, p->in}, 2);
    free(matrix);
    return status;
}

xb_status xb_export_crosssim(xb_ctx *ctx, const xb_analog *analog,
                             const xb_analog_layer *p, const xb_cells *cells,
                             const char *dir)
{
    const xb_model *m = analog->model;
    char name[96], path[XB_EXPORT_PATH];
    snprintf(name, sizeof name, "crosssim/layer%d_matrix.npy", p->index);
    XB_TRY(xb_export_path(ctx, path, dir, name));
    XB_TRY(write_matrix(ctx, path, p, m->mu + p->offset));
    if (cells->width) {
        snprintf(name, sizeof name, "crosssim/layer%d_sigma.npy", p->index);
        XB_TRY(xb_export_path(ctx, path, dir, name));
        XB_TRY(write_matrix(ctx, path, p, m->sigma + p->offset));
    }
    /* CrossSim codes numbers of slices and pulses differently. */
    if (p->plane) return XB_OK;
    snprintf(name, sizeof name, "crosssim/layer%d.json", p->index);
    XB_TRY(xb_export_path(ctx, path, dir, name));
    json_t *root = json_pack("{s:o,s:o}", "core", core_json(p), "xbar",
                             xbar_json(&analog->array, p));
    xb_status status = xb_json_save(ctx, root, path);
    json_decref(root);
    return status;
}
