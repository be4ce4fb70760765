/* costs.c: the cost of a prediction: operations are counted exactly, and energies come
 * from the user's table (maths X16). There is no physics here: the user says what a read,
 * a conversion or a write costs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "crossbar/analog.h"
#include "crossbayes/filekind.h"
#include "crossbayes/json.h"

/* The number of devices of a weight: a pair for each slice, or one device beside a
 * reference column, and a noise device if the layer is random. */
static double devices_each(const xb_array *a, const xb_analog_layer *p)
{
    const double each = a->offset_columns ? 1 : 2;
    return each * (double)xb_array_slices(a) + (p->sigma_top > 0 ? 1 : 0);
}

static double devices_of(const xb_array *a, const xb_analog_layer *p, double across)
{
    const double references =
        a->offset_columns ? (double)(xb_array_slices(a) * p->in) * across : 0;
    return (double)p->size * devices_each(a, p) + references;
}

/* (X53) The number of devices in spare columns, in every row of every tile. */
static double spare_devices(const xb_array *a, const xb_analog_layer *p, double tiles)
{
    return (double)a->spare_columns * (double)p->in * tiles * devices_each(a, p);
}

xb_analog_counts xb_analog_count(const xb_analog *analog, int64_t reads)
{
    xb_analog_counts c = {0};
    for (int i = 0; i < analog->n_layer; i++) { /* (X16) */
        const xb_analog_layer *p = &analog->layer[i];
        xb_analog_place place = xb_analog_place_at(analog, i);
        double times = (double)reads * (double)p->operations;
        double row_tiles = (double)place.row_tiles, columns = (double)place.column_tiles;
        const xb_array *a = &analog->array;
        const double devices = devices_of(a, p, columns);
        const double pulses = (double)xb_plane_pulses(a, p); /* (X64) */
        const double slices = (double)xb_array_slices(a);
        c.devices +=
            (devices + spare_devices(a, p, columns)) * (double)(analog->others + 1);
        c.tile_operations += times * row_tiles * columns * pulses;
        c.device_reads += times * devices * pulses;
        c.dac_conversions += times * (double)p->in * columns * pulses;
        c.adc_conversions += times * row_tiles * pulses * slices *
                             ((double)p->out + (a->offset_columns ? columns : 0));
    }
    return c;
}

xb_cost_estimate xb_analog_cost(const xb_analog *analog, const xb_costs *costs,
                                int64_t reads)
{
    xb_analog_counts c = xb_analog_count(analog, reads);
    xb_cost_estimate e = {.read_pj = c.device_reads * costs->read_pj,
                          .dac_pj = c.dac_conversions * costs->dac_pj,
                          .adc_pj = c.adc_conversions * costs->adc_pj,
                          .write_pj = c.devices * costs->write_pj};
    e.total_pj = e.read_pj + e.dac_pj + e.adc_pj;
    for (int i = 0; i < analog->n_layer; i++) /* layers run one after the other */
        e.time_ns += (double)reads * (double)analog->layer[i].operations *
                     (double)xb_plane_pulses(&analog->array, &analog->layer[i]) *
                     costs->operation_ns;
    return e;
}

/* Reads a cost of 0 or more under `key`; 0 if the key is missing. */
static xb_status read_cost(xb_ctx *ctx, double *out, const json_t *root, const char *path,
                           const char *key)
{
    *out = 0;
    XB_TRY(xb_json_number_optional(ctx, out, root, path, key));
    if (*out >= 0) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "%s: '%s' is %g, expected 0 or more", path, key,
                   *out);
}

static xb_status read_costs(xb_ctx *ctx, xb_costs *out, const json_t *root,
                            const char *path)
{
    static const char *const known[] = {"crossbayes", "read_pj",      "dac_pj", "adc_pj",
                                        "write_pj",   "operation_ns", "note",   NULL};
    const json_t *kind = json_object_get(root, "crossbayes");
    if (!json_is_string(kind) || strcmp(json_string_value(kind), "costs") != 0)
        return xb_fail(ctx, XB_E_INPUT,
                       "%s: not a file of costs (no \"crossbayes\": \"costs\")", path);
    XB_TRY(xb_json_known_keys(ctx, root, path, known));
    xb_costs costs = {0};
    XB_TRY(read_cost(ctx, &costs.read_pj, root, path, "read_pj"));
    XB_TRY(read_cost(ctx, &costs.dac_pj, root, path, "dac_pj"));
    XB_TRY(read_cost(ctx, &costs.adc_pj, root, path, "adc_pj"));
    XB_TRY(read_cost(ctx, &costs.write_pj, root, path, "write_pj"));
    XB_TRY(read_cost(ctx, &costs.operation_ns, root, path, "operation_ns"));
    const json_t *note = json_object_get(root, "note");
    if (note && !json_is_string(note))
        return xb_fail(ctx, XB_E_INPUT, "%s: 'note' is not a text", path);
    if (note) snprintf(costs.note, sizeof costs.note, "%s", json_string_value(note));
    *out = costs;
    return XB_OK;
}

xb_status xb_costs_load(xb_ctx *ctx, xb_costs *out, const char *path)
{
    json_t *root = NULL;
    xb_status status = xb_json_load(ctx, &root, path);
    if (status == XB_OK) status = read_costs(ctx, out, root, path);
    json_decref(root);
    return xb_filekind_explain(ctx, status, path, XB_KIND_COSTS);
}
