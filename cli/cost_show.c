/* cost_show.c: see cost_show.h. Prints one read by layer and part, then one prediction on
 * the array beside the two other designs. */
#include "cost_show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const design_words[] = {
    "this array", "digital accelerator, digital sampling", "this array without noise"};

static const char *const part_words[] = {"DAC", "cells", "ADC", "digital", "sampling"};

void cli_energy_text(char *out, size_t size, xb_band pj)
{
    const xb_si_unit u = xb_si_unit_for(1e-12 * pj.high, "J");
    const double low = 1e-12 * pj.low / u.factor, high = 1e-12 * pj.high / u.factor;
    if (!(pj.high > 0))
        snprintf(out, size, "-");
    else if (pj.low == pj.high)
        snprintf(out, size, "%.3g %s", high, u.text);
    else
        snprintf(out, size, "%.3g to %.3g %s", low, high, u.text);
}

void cli_nanoseconds_text(char *out, size_t size, double ns)
{
    const xb_si_unit u = xb_si_unit_for(1e-9 * ns, "s");
    if (ns > 0)
        snprintf(out, size, "%.3g %s", 1e-9 * ns / u.factor, u.text);
    else
        snprintf(out, size, "-");
}

/* ---- one read: a line for each layer, the last for all of them */

static void read_header(int column, char *out, size_t size)
{
    const int parts = (int)xb_cost_model_part_count();
    snprintf(out, size, "%s",
             column == 0           ? "one read"
             : column <= parts     ? part_words[column - 1]
             : column == parts + 1 ? "together"
                                   : "time");
}

static void read_cell(const void *arg, int row, int column, char *out, size_t size)
{
    const xb_cost_model *cost = arg;
    const int parts = (int)xb_cost_model_part_count();
    const int64_t layer = row <= xb_cost_model_layer_count(cost) ? row - 1 : -1;
    if (row == 0)
        read_header(column, out, size);
    else if (column == 0 && layer >= 0)
        snprintf(out, size, "layer %lld",
                 (long long)xb_cost_model_layer_at(cost, layer) + 1);
    else if (column == 0)
        snprintf(out, size, "all layers");
    else if (column <= parts + 1)
        cli_energy_text(
            out, size,
            xb_cost_model_energy_pj(cost, 0, layer, column <= parts ? column - 1 : -1));
    else
        cli_nanoseconds_text(out, size, xb_cost_model_time_ns(cost, 0, layer));
}

/* ---- one prediction: a line for each design */

static xb_band prediction_pj(const xb_cost_model *cost, int64_t design)
{
    const double draws = (double)xb_cost_model_draws(cost, design);
    const xb_band pj = xb_cost_model_energy_pj(cost, design, -1, -1);
    return (xb_band){draws * pj.low, draws * pj.high};
}

static double prediction_ns(const xb_cost_model *cost, int64_t design)
{
    return (double)xb_cost_model_draws(cost, design) *
           xb_cost_model_time_ns(cost, design, -1);
}

static void prediction_cell(const void *arg, int row, int column, char *out, size_t size)
{
    static const char *const head[] = {"one prediction", "draws", "energy", "time"};
    const xb_cost_model *cost = arg;
    const int64_t design = row - 1;
    if (row == 0)
        snprintf(out, size, "%s", head[column]);
    else if (column == 0)
        snprintf(out, size, "%s", design_words[design]);
    else if (column == 1)
        snprintf(out, size, "%lld", (long long)xb_cost_model_draws(cost, design));
    else if (column == 2)
        cli_energy_text(out, size, prediction_pj(cost, design));
    else
        cli_nanoseconds_text(out, size, prediction_ns(cost, design));
}

/* Whether a read takes longer than its layers do; the output then explains why. */
static bool waits(const xb_cost_model *cost)
{
    double busy = 0;
    for (int64_t i = 0; i < xb_cost_model_layer_count(cost); i++)
        busy += xb_cost_model_time_ns(cost, 0, i);
    return xb_cost_model_time_ns(cost, 0, -1) > busy;
}

static void show_calibration(const xb_cost_model *cost)
{
    char energy[64], time[64];
    const double ns = xb_cost_model_calibration_ns(cost);
    if (!(ns > 0)) return;
    cli_energy_text(energy, sizeof energy, xb_cost_model_calibration_pj(cost));
    cli_nanoseconds_text(time, sizeof time, ns);
    printf("\n  calibration of the columns, once per chip: %s, %s\n", energy, time);
}

void cli_show_cost_model(const xb_cost_model *cost)
{
    putchar('\n');
    cli_print_grid((int)xb_cost_model_layer_count(cost) + 2,
                   (int)xb_cost_model_part_count() + 3, read_cell, cost);
    if (waits(cost))
        printf("\n  the array waits between reads: read_interval_ns is longer than its "
               "layers take\n");
    putchar('\n');
    cli_print_grid((int)xb_cost_model_design_count() + 1, 4, prediction_cell, cost);
    show_calibration(cost);
    printf("\n  'A to B': published numbers disagree; docs/arrays.md lists them, and "
           "keys of the"
           "\n  array change them. 'sampling' is, on an array, the energy of its noise "
           "devices."
           "\n  The digital accelerator's time is that of its samples alone. Buffers, "
           "buses and"
           "\n  leakage are not counted.\n");
}

/* ---- JSON */

static json_t *band_json(xb_band pj)
{
    return json_pack("{s:o,s:o}", "low", cli_json_real(pj.low), "high",
                     cli_json_real(pj.high));
}

static json_t *layer_json(const xb_cost_model *cost, int64_t design, int64_t layer)
{
    json_t *root =
        json_pack("{s:I}", "layer", (json_int_t)xb_cost_model_layer_at(cost, layer));
    for (int64_t k = 0; k < xb_cost_model_part_count(); k++) {
        char key[64];
        snprintf(key, sizeof key, "%s_pj", xb_cost_model_part_name(k));
        json_object_set_new(root, key,
                            band_json(xb_cost_model_energy_pj(cost, design, layer, k)));
    }
    json_object_set_new(root, "time_ns",
                        cli_json_real(xb_cost_model_time_ns(cost, design, layer)));
    return root;
}

static json_t *design_json(const xb_cost_model *cost, int64_t design)
{
    json_t *layers = json_array();
    for (int64_t i = 0; i < xb_cost_model_layer_count(cost); i++)
        json_array_append_new(layers, layer_json(cost, design, i));
    return json_pack(
        "{s:s,s:I,s:o,s:o,s:o,s:o,s:o}", "design", xb_cost_model_design_name(design),
        "draws", (json_int_t)xb_cost_model_draws(cost, design), "draw_pj",
        band_json(xb_cost_model_energy_pj(cost, design, -1, -1)), "draw_ns",
        cli_json_real(xb_cost_model_time_ns(cost, design, -1)), "prediction_pj",
        band_json(prediction_pj(cost, design)), "prediction_ns",
        cli_json_real(prediction_ns(cost, design)), "layers", layers);
}

json_t *cli_cost_model_json(const xb_cost_model *cost)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < xb_cost_model_design_count(); i++)
        json_array_append_new(list, design_json(cost, i));
    return json_pack("{s:o,s:o,s:o}", "designs", list, "calibration_pj",
                     band_json(xb_cost_model_calibration_pj(cost)), "calibration_ns",
                     cli_json_real(xb_cost_model_calibration_ns(cost)));
}

/* ---- a table */

xb_status cli_cost_table(xb_ctx *ctx, xb_table **out, const xb_cost_model *cost)
{
    static const char *const names[] = {"design", "layer", "part", "energy_pj_low",
                                        "energy_pj_high"};
    const int64_t designs = xb_cost_model_design_count(),
                  layers = xb_cost_model_layer_count(cost),
                  parts = xb_cost_model_part_count();
    xb_table *t = NULL;
    const xb_status status =
        xb_table_create(ctx, &t, "costs", designs * layers * parts, 5, names);
    if (status != XB_OK) return status;
    for (int64_t i = 0; i < designs * layers * parts; i++) {
        const int64_t design = i / (layers * parts), layer = i / parts % layers;
        const xb_band pj = xb_cost_model_energy_pj(cost, design, layer, i % parts);
        xb_table_set(t, i, 0, (double)design);
        xb_table_set(t, i, 1, (double)xb_cost_model_layer_at(cost, layer));
        xb_table_set(t, i, 2, (double)(i % parts));
        xb_table_set(t, i, 3, pj.low);
        xb_table_set(t, i, 4, pj.high);
    }
    *out = t;
    return XB_OK;
}
