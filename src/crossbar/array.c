/* array.c: the table of an array's numbers, and the presets. Start reading this folder
 * here; analog.c puts a model on an array, and each effect is one file (maths X1-X14).
 * docs/arrays.md gives the presets' values with their reasons. */
#include "crossbar/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define REAL(key, min, max, effect, label, unit, about)                                  \
    {                                                                                    \
#key, false, min, max, effect, offsetof(xb_array, key), label, unit, about       \
    }
#define WHOLE(key, min, max, effect, label, about)                                       \
    {                                                                                    \
#key, true, min, max, effect, offsetof(xb_array, key), label, "", about          \
    }
/* A number that only costs depend on. */
#define COST(key, whole, min, max, label, unit, about)                                   \
    {                                                                                    \
#key, whole, min, max, XB_EFFECT_NONE, offsetof(xb_array, cost.key), label,      \
            unit, about                                                                  \
    }

enum { TILE_MAX = 65536, LEVELS_MAX = 65536, BITS_MAX = 20, SLICES_MAX = 8 };

const xb_array_row xb_array_rows[] = {
    WHOLE(rows, 0, TILE_MAX, XB_EFFECT_NONE, "rows of a tile",
          "rows of a tile; 0: as many as the layer has"),
    WHOLE(columns, 0, TILE_MAX, XB_EFFECT_NONE, "columns of a tile",
          "columns of a tile; 0: as many as the layer has"),
    REAL(g_min_us, 0, 1e9, XB_EFFECT_NONE, "lowest conductance of a mean device", "µS",
         "lowest conductance of a mean device, µS"),
    REAL(g_max_us, 1e-9, 1e9, XB_EFFECT_NONE, "highest conductance of a mean device",
         "µS", "highest conductance of a mean device, µS"),
    WHOLE(mean_levels, 0, LEVELS_MAX, XB_EFFECT_MEAN_LEVELS, "states of a mean device",
          "states of a mean device, evenly spaced; 0: any"),
    REAL(program_error, 0, 1, XB_EFFECT_PROGRAM,
         "programming error (share of the conductance range)", "",
         "sd of a programmed conductance, as a share of the range"),
    REAL(program_by_state, 0, 1000, XB_EFFECT_PROGRAM,
         "programming error of the states (share of the measured)", "",
         "programming error of each state, as a multiple of the device file's; 0: none"),
    REAL(age_s, 0, 1e12, XB_EFFECT_RELAX, "time since programming", "s",
         "time since programming, s; conductances have moved as in the device file"),
    WHOLE(weight_slices, 0, SLICES_MAX, XB_EFFECT_NONE, "slices of a weight",
          "number of pairs of devices that hold the digits of a weight, each with "
          "mean_levels states; 0 or 1: one pair"),
    WHOLE(offset_columns, 0, 1, XB_EFFECT_NONE, "offset columns",
          "1: one device for each weight and a reference column for each tile; 0: pairs"
          " of devices"),
    REAL(heated_k, -1000, 1000, XB_EFFECT_HEAT, "warmer than at calibration", "K",
         "how much warmer the array is than when it was programmed and calibrated, K"),
    REAL(tc_low, -0.1, 0.1, XB_EFFECT_HEAT,
         "temperature coefficient at the lowest conductance", "1/K",
         "relative change of the lowest conductance for each kelvin, 1/K"),
    REAL(tc_high, -0.1, 0.1, XB_EFFECT_HEAT,
         "temperature coefficient at the highest conductance", "1/K",
         "relative change of the highest conductance for each kelvin, 1/K"),
    REAL(tc_spread, 0, 0.1, XB_EFFECT_HEAT,
         "sd of the temperature coefficient between devices", "1/K",
         "sd of the temperature coefficient from device to device, 1/K"),
    REAL(read_noise, 0, 1000, XB_EFFECT_READ_NOISE,
         "read noise of the mean devices (share of the measured)", "",
         "read noise of the mean devices, as a multiple of the device file's; 0: none"),
    REAL(mean_noise_us, 0, 1e9, XB_EFFECT_MEAN_NOISE, "read noise of a mean device", "µS",
         "sd of the read noise of a mean device, µS, the same in every state; 0: none"),
    REAL(
        amp_noise, 0, 1, XB_EFFECT_AMPLIFIER,
        "noise of a column's amplifier (share of the ADC's range)", "",
        "sd of a column amplifier's noise, as a share of the layer's ADC range; 0: none"),
    REAL(adc_noise_lsb, 0, 1000, XB_EFFECT_ADC, "noise of the ADC (steps)", "",
         "sd of the ADC's own noise in its steps, before it rounds; 0: none"),
    REAL(temperature_k, 0, 2000, XB_EFFECT_THERMAL, "temperature", "K",
         "temperature for the thermal noise of the conductances, K; 0: no such noise"),
    WHOLE(quiet_pairs, 0, 1, XB_EFFECT_NONE, "quietest pairs of states",
          "1: a weight uses the pair of states that moves least according to the device "
          "file; 0: one device of each pair is at its lowest"),
    REAL(sigma_min_us, 0, 1e9, XB_EFFECT_SIGMA_RANGE, "smallest noise width of a device",
         "µS", "smallest width of a noise device, µS"),
    REAL(sigma_max_us, 0, 1e9, XB_EFFECT_SIGMA_RANGE, "largest noise width of a device",
         "µS",
         "largest width of a noise device, µS, used for the largest sigma of a layer; 0: "
         "any width"),
    WHOLE(sigma_levels, 0, LEVELS_MAX, XB_EFFECT_SIGMA_LEVELS,
          "noise widths a device can have",
          "number of widths that a noise device can have, evenly spaced; 0: any"),
    REAL(sigma_spread, 0, 2, XB_EFFECT_SIGMA_SPREAD,
         "sd of the log noise width between devices", "",
         "sd of the logarithm of the width from device to device"),
    REAL(shape_spread, 0, 1, XB_EFFECT_SHAPE_SPREAD,
         "sd of the law's deformation between devices", "",
         "sd of the law's deformation from device to device"),
    REAL(stuck_low, 0, 1, XB_EFFECT_STUCK, "share of devices stuck at their lowest", "",
         "share of devices stuck at their lowest"),
    REAL(stuck_high, 0, 1, XB_EFFECT_STUCK, "share of devices stuck at their highest", "",
         "share of devices stuck at their highest"),
    REAL(line_ohm, 0, 1e6, XB_EFFECT_LINE, "wire resistance from cell to cell", "Ω",
         "resistance of a wire from cell to cell, Ω"),
    REAL(current_limit_ua, 0, 1e12, XB_EFFECT_NONE, "largest current of a column", "µA",
         "largest current that a column may carry without a warning, µA; 0: any"),
    WHOLE(dac_bits, 0, BITS_MAX, XB_EFFECT_DAC, "resolution of the DAC (bits)",
          "bits of the converters of inputs; 0: no converter"),
    WHOLE(input_slice_bits, 0, BITS_MAX, XB_EFFECT_NONE, "bits of an input in one pulse",
          "bits of an input in one pulse; further pulses carry the other bits and are "
          "converted separately; 0: all bits at once"),
    REAL(dac_range, 0, 1e30, XB_EFFECT_DAC, "largest input of the DAC (layer's units)",
         "", "largest input of the DAC, in the layer's units; 0: calibrated"),
    WHOLE(adc_bits, 0, BITS_MAX, XB_EFFECT_ADC, "resolution of the ADC (bits)",
          "bits of the converters of columns; 0: no converter"),
    REAL(adc_range, 0, 1, XB_EFFECT_ADC,
         "full scale of the ADC (share of the largest column sum)", "",
         "full scale of the ADC, as a share of the largest sum of a column; 0: "
         "calibrated"),
    REAL(coverage, 0.5, 1, XB_EFFECT_NONE,
         "share of calibration values in a converter's range", "",
         "share of calibration values inside a calibrated range"),
    WHOLE(adc_range_per, XB_RANGE_LAYER, XB_RANGE_COLUMN, XB_EFFECT_NONE,
          "calibrated ADC ranges: 0 of a layer, 1 of each tile, 2 of each column",
          "calibrated ADC ranges: 0 one for a layer, 1 for each tile, 2 for each column"),
    WHOLE(column_calibration, 0, XB_KNOWN_MAX, XB_EFFECT_NONE,
          "known inputs for the calibration of columns",
          "number of known inputs to which a gain and an offset of each column are "
          "fitted; 0: none"),
    WHOLE(stuck_repair, 0, 1, XB_EFFECT_NONE, "repair of stuck pairs",
          "1: the partner of a stuck device is programmed so that their difference is "
          "right; 0: it is not"),
    WHOLE(spare_columns, 0, TILE_MAX, XB_EFFECT_NONE, "spare columns of a tile",
          "spare columns of a tile, which replace those with the worst stuck devices"),
    REAL(read_interval_ns, 0, 1e18, XB_EFFECT_CORRELATION, "time between reads", "ns",
         "time from one read of a device to the next, ns"),
    REAL(correlation_time_ns, 0, 1e18, XB_EFFECT_CORRELATION,
         "correlation time of the noise", "ns",
         "correlation time of a device's noise, ns; 0: reads are independent"),
    COST(read_v, false, 1e-3, 100, "read voltage", "V", "costs: voltage of a read, V"),
    COST(read_ns, false, 1e-3, 1e12, "length of a read", "ns",
         "costs: length of a read's pulse, ns"),
    COST(noise_cells, true, 0, 1000, "noise devices of a weight", "",
         "costs: number of noise devices of a random weight"),
    COST(noise_g_us, false, 0, 1e9, "conductance of a noise device", "µS",
         "costs: conductance of a noise device, µS; 0: the middle of the range"),
    COST(node_nm, false, 7, 1000, "process of the converters", "nm",
         "costs: process node of the converters, nm"),
    COST(adc_clock_mhz, false, 1e-3, 1e6, "clock of an ADC", "MHz",
         "costs: clock of an ADC, MHz; a conversion takes bits + 1 periods"),
    COST(adc_share, true, 1, TILE_MAX, "columns that share an ADC", "",
         "costs: number of columns that share an ADC"),
    COST(adc_per_output, true, 1, 1000, "conversions of a random column", "",
         "costs: number of conversions of a column of random weights"),
    COST(adc_column_ohm, false, 1, 1e15, "column resistance at an ADC", "Ω",
         "costs: column resistance that the ADC's circuit model assumes, Ω"),
    COST(dac_pj_low, false, 1e-9, 1e9, "energy of a DAC's bit, low", "pJ",
         "costs: energy of one bit of an input, pJ, lowest source"),
    COST(dac_pj_high, false, 1e-9, 1e9, "energy of a DAC's bit, high", "pJ",
         "costs: energy of one bit of an input, pJ, highest source"),
    COST(add_pj, false, 1e-9, 1e9, "energy of a digital addition", "pJ",
         "costs: digital addition after a conversion, pJ"),
    COST(mac_pj_low, false, 1e-9, 1e9, "energy of a digital MAC, low", "pJ",
         "costs: digital multiplication and addition, pJ, lowest source"),
    COST(mac_pj_high, false, 1e-9, 1e9, "energy of a digital MAC, high", "pJ",
         "costs: digital multiplication and addition, pJ, highest source"),
    COST(sample_fj_low, false, 1e-6, 1e12, "energy of a digital sample, low", "fJ",
         "costs: digital Gaussian sample, fJ, lowest source"),
    COST(sample_fj_high, false, 1e-6, 1e12, "energy of a digital sample, high", "fJ",
         "costs: digital Gaussian sample, fJ, highest source"),
    COST(sample_gsps, false, 1e-9, 1e9, "rate of digital samples", "GSa/s",
         "costs: number of digital Gaussian samples per nanosecond"),
};
const int xb_array_row_count = XB_COUNT(xb_array_rows);

/* ---- presets */

typedef struct preset {
    const char *about;
    xb_array array;
} preset;

/* docs/arrays.md has the source of each number; the devices' sources give only the
 * pulse. */
#define COSTS_OF(pulse_ns, nm, mhz, columns)                                             \
    {                                                                                    \
        .read_v = 0.5, .read_ns = (pulse_ns), .noise_cells = 1, .node_nm = (nm),         \
        .adc_clock_mhz = (mhz), .adc_share = (columns), .adc_per_output = 1,             \
        .adc_column_ohm = 1e4, .dac_pj_low = 0.05, .dac_pj_high = 0.417, .add_pj = 0.1,  \
        .mac_pj_low = 0.3, .mac_pj_high = 1.55, .sample_fj_low = 16.3,                   \
        .sample_fj_high = 360, .sample_gsps = 5.12                                       \
    }
#define COSTS(pulse_ns) COSTS_OF(pulse_ns, 32, 1000, 8)

static const preset presets[] = {
    {"no effect at all: the digital model",
     {.name = "ideal",
      .g_min_us = 10, /* above 0, because otherwise a programming error could only
                         increase it (X5) */
      .g_max_us = 100,
      .coverage = 0.9999,
      .cost = COSTS(2)}},
    {"Bayes-MTJ noise beside domain-wall MTJ means (the paper's main device)",
     {.name = "mtj",
      .law = "mtj:B=0.15,w=0.5",
      .rows = 128,
      .columns = 128,
      .g_min_us = 50,
      .g_max_us = 125,
      .mean_levels = 32,
      .program_error = 0.01,
      .sigma_min_us = 1,
      .sigma_max_us = 10,
      .sigma_levels = 16,
      .sigma_spread = 0.05,
      .shape_spread = 0.02,
      .stuck_low = 0.0005,
      .stuck_high = 0.0005,
      .line_ohm = 0.1,
      .dac_bits = 8,
      .adc_bits = 8,
      .coverage = 0.9999,
      .read_interval_ns = 10,
      .correlation_time_ns = 2,
      .cost = COSTS(2)}},
    {"vanadium oxide ECRAM for means and noise (the paper's second device)",
     {.name = "ecram",
      .law = "ecram:B=0.1,w=0.6",
      .rows = 128,
      .columns = 128,
      .g_min_us = 1,
      .g_max_us = 20,
      .mean_levels = 256,
      .program_error = 0.005,
      .sigma_min_us = 0.02,
      .sigma_max_us = 2,
      .sigma_levels = 64,
      .sigma_spread = 0.1,
      .shape_spread = 0.05,
      .stuck_low = 0.0005,
      .stuck_high = 0.0005,
      .line_ohm = 0.1,
      .dac_bits = 8,
      .adc_bits = 8,
      .coverage = 0.9999,
      .read_interval_ns = 1000,
      .correlation_time_ns = 500,
      .cost = COSTS(5)}},
    {"RRAM for means and noise, measured where possible, in 130 nm; its noise is slow "
     "(docs/arrays.md)",
     {.name = "rram",
      .rows = 128,
      .columns = 256,
      .g_min_us = 10,
      .g_max_us = 126,
      .mean_levels = 32,
      .program_error = 0.013,
      .sigma_min_us = 0.86,
      .sigma_max_us = 10.2,
      .sigma_levels = 16,
      .sigma_spread = 0.1,
      .shape_spread = 0.05,
      .stuck_low = 0.0005,
      .stuck_high = 0.0005,
      .line_ohm = 0.1,
      .dac_bits = 8,
      .adc_bits = 8,
      .coverage = 0.9999,
      .read_interval_ns = 1e9,
      .correlation_time_ns = 4.5e8,
      .cost = COSTS_OF(10, 130, 1 / 0.3, 1)}},
};

int64_t xb_array_preset_count(void) { return XB_COUNT(presets); }
const char *xb_array_preset_name(int64_t i) { return presets[i].array.name; }
const char *xb_array_preset_about(int64_t i) { return presets[i].about; }

int64_t xb_array_preset_find(const char *name)
{
    for (int i = 0; i < XB_COUNT(presets); i++)
        if (strcmp(presets[i].array.name, name) == 0) return i;
    return -1;
}

static xb_status fail_unknown(xb_ctx *ctx, const char *name)
{
    const char *names[XB_COUNT(presets)];
    char list[256] = "";
    for (int i = 0; i < XB_COUNT(presets); i++) {
        const size_t used = strlen(list);
        names[i] = presets[i].array.name;
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    const int64_t near = xb_nearest(name, names, XB_COUNT(presets));
    return xb_fail(ctx, XB_E_INPUT,
                   "unknown array '%.60s': expected %s or a JSON file%s%s%s", name, list,
                   near >= 0 ? "; did you mean '" : "", near >= 0 ? names[near] : "",
                   near >= 0 ? "'?" : "");
}

xb_status xb_array_fill(xb_ctx *ctx, xb_array *out, const char *name)
{
    const int64_t found = xb_array_preset_find(name);
    if (found < 0) return fail_unknown(ctx, name);
    *out = presets[found].array;
    return XB_OK;
}

/* ---- numbers by name */

int64_t xb_array_field_count(void) { return xb_array_row_count; }

xb_array_field xb_array_field_at(int64_t i)
{
    const xb_array_row *row = &xb_array_rows[i];
    return (xb_array_field){row->key,   row->whole, row->min, row->max,
                            row->about, row->label, row->unit};
}

static bool same_key(const char *key, const char *given)
{
    for (; *key && *given; key++, given++)
        if (*key != *given && !(*key == '_' && *given == '-')) return false;
    return *key == *given;
}

int64_t xb_array_field_find(const char *key)
{
    for (int i = 0; i < XB_COUNT(xb_array_rows); i++)
        if (same_key(xb_array_rows[i].key, key)) return i;
    return -1;
}

const xb_array_row *xb_array_row_find(xb_ctx *ctx, const char *key, const char *where)
{
    const char *names[XB_COUNT(xb_array_rows)];
    int64_t found = xb_array_field_find(key);
    if (found >= 0) return &xb_array_rows[found];
    for (int i = 0; i < XB_COUNT(xb_array_rows); i++) names[i] = xb_array_rows[i].key;
    int64_t near = xb_nearest(key, names, XB_COUNT(xb_array_rows));
    if (near >= 0)
        xb_note(ctx, "%sunknown key '%.60s', did you mean '%s'?", where, key,
                names[near]);
    else
        xb_note(ctx, "%sunknown key '%.60s': `crossbayes help array` lists the keys",
                where, key);
    return NULL;
}

double xb_array_value(const xb_array *array, const xb_array_row *row)
{
    const char *at = (const char *)array + row->offset;
    return row->whole ? (double)*(const int64_t *)(const void *)at
                      : *(const double *)(const void *)at;
}

xb_status xb_array_put(xb_ctx *ctx, xb_array *array, const xb_array_row *row,
                       double value, const char *where)
{
    if (!(value >= row->min && value <= row->max))
        return xb_fail(ctx, XB_E_INPUT, "%s'%s' is %g, expected %g to %g", where,
                       row->key, value, row->min, row->max);
    if (row->whole && value != floor(value))
        return xb_fail(ctx, XB_E_INPUT, "%s'%s' is %g, expected a whole number", where,
                       row->key, value);
    char *at = (char *)array + row->offset;
    if (row->whole)
        *(int64_t *)(void *)at = (int64_t)value;
    else
        *(double *)(void *)at = value;
    if (row->offset == offsetof(xb_array, correlation_time_ns)) array->memory.lags = 0;
    return XB_OK;
}

xb_status xb_array_set(xb_ctx *ctx, xb_array *array, const char *key, double value)
{
    const xb_array_row *row = xb_array_row_find(ctx, key, "");
    return row ? xb_array_put(ctx, array, row, value, "") : XB_E_INPUT;
}

xb_status xb_array_get(xb_ctx *ctx, double *out, const xb_array *array, const char *key)
{
    const xb_array_row *row = xb_array_row_find(ctx, key, "");
    if (!row) return XB_E_INPUT;
    *out = xb_array_value(array, row);
    return XB_OK;
}

int64_t xb_array_slices(const xb_array *a)
{
    return a->mean_levels > 0 && a->weight_slices > 1 ? a->weight_slices : 1;
}

int64_t xb_array_pulses(const xb_array *a, int64_t bits)
{
    if (a->dac_bits == 0 || a->input_slice_bits == 0) return 1;
    return (bits + a->input_slice_bits - 1) / a->input_slice_bits;
}

double xb_array_noise_us(const xb_array *a)
{
    return a->cost.noise_g_us > 0 ? a->cost.noise_g_us
                                  : 0.5 * (a->g_min_us + a->g_max_us);
}

static const char *const redraws[XB_REDRAWS] = {"network", "input", "operation"};

const char *xb_redraw_name(xb_redraw redraw) { return redraws[redraw]; }

xb_status xb_redraw_parse(xb_ctx *ctx, xb_redraw *out, const char *text)
{
    int found;
    XB_TRY(xb_choice_parse(ctx, &found, "redraw", text, redraws, XB_COUNT(redraws)));
    *out = (xb_redraw)found;
    return XB_OK;
}
