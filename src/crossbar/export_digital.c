/* export_digital.c: writes what the digital side of a chip needs besides the
 * conductances: scales of inputs and targets, biases, the gain of the noise array,
 * corrections of columns, and the model, the chip and the seed that they belong to. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "crossbayes/extend.h"
#include "base/memory.h"
#include "crossbar/export.h"
#include "vi/model.h"

/* A hash of weights and state, which identifies the model of an export. */
static uint64_t model_hash(const xb_model *m)
{
    const size_t n = (size_t)xb_net_param_count(m->net) * sizeof(float);
    const size_t state = (size_t)xb_net_state_count(m->net) * sizeof(float);
    uint64_t hash = xb_hash_bytes(0, m->mu, n);
    hash = xb_hash_bytes(hash, m->sigma, n);
    return state > 0 ? xb_hash_bytes(hash, m->state, state) : hash;
}

static json_t *numbers(const double *x, int64_t n)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++) xb_json_add(&list, xb_json_real(x[i]));
    return list;
}

void xb_export_origin(json_t **root, const xb_analog *a)
{
    char hash[32];
    const xb_model *m = a->model;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)model_hash(m));
    xb_json_set(root, "model_hash", xb_json_string(hash));
    xb_json_set(root, "chip", json_integer((json_int_t)a->chip_number));
    xb_json_set(root, "seed", json_integer((json_int_t)a->seed));
    xb_json_set(root, "calibrated_on",
                json_pack("{s:I,s:I}", "chip", (json_int_t)a->chip_number, "inputs",
                          (json_int_t)a->calibration_inputs));
    xb_json_set(root, "input_mean", numbers(m->x_mean, m->features));
    xb_json_set(root, "input_sd", numbers(m->x_sd, m->features));
    if (xb_model_input_bend(m)) { /* (V21) */
        xb_json_set(root, "input_low", numbers(m->x_low, m->features));
        xb_json_set(root, "input_bend", numbers(m->x_bend, m->features));
    }
    if (m->classes > 0) return;
    xb_json_set(root, "target_mean", numbers(m->y_mean, m->targets));
    xb_json_set(root, "target_sd", numbers(m->y_sd, m->targets));
}

/* Writes n floats as layerL_NAME.npy, and the file name under `key`. */
static xb_status write_floats(xb_ctx *ctx, json_t **root, const char *key,
                              const xb_analog_layer *p, const char *dir, const float *x,
                              int64_t rows, int64_t columns)
{
    char name[96], path[XB_EXPORT_PATH];
    double *block = xb_new(ctx, rows * columns, sizeof *block);
    if (!block) return XB_E_MEMORY;
    for (int64_t i = 0; i < rows * columns; i++) block[i] = (double)x[i];
    snprintf(name, sizeof name, "layer%d_%s.npy", p->index, key);
    xb_status status = xb_export_path(ctx, path, dir, name);
    if (status == XB_OK)
        status = xb_npy_write(ctx, path, block, XB_F64, (int64_t[]){rows, columns}, 2);
    if (status == XB_OK) xb_json_set(root, key, xb_json_string(name));
    free(block);
    return status;
}

/* [row tiles][outputs]: a sum is gain ADC(sum) + offset, each column in its own range. */
static xb_status write_correction(xb_ctx *ctx, json_t **root, const xb_analog_layer *p,
                                  const char *dir)
{
    const xb_correction *c = &p->correction;
    const int64_t tiles = xb_row_tiles(p), n = tiles * p->out;
    if (!c->pre) return XB_OK;
    float *range = xb_new(ctx, 2 * n, sizeof *range);
    if (!range) return XB_E_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        range[i] = (float)(p->adc.range / (double)c->pre[i]);
        range[n + i] = c->pre[i] * c->post[i]; /* for a sum in its own units */
    }
    xb_status status = XB_OK;
    if (p->adc.on)
        status = write_floats(ctx, root, "adc_range", p, dir, range, tiles, p->out);
    if (status == XB_OK)
        status = write_floats(ctx, root, "gain", p, dir, range + n, tiles, p->out);
    if (status == XB_OK)
        status = write_floats(ctx, root, "offset", p, dir, c->shift, tiles, p->out);
    free(range);
    return status;
}

xb_status xb_export_digital(xb_ctx *ctx, json_t **root, const xb_analog *a,
                            const xb_analog_layer *p, const xb_cells *c, const char *dir)
{
    const xb_model *m = a->model;
    const int64_t bias = p->offset + p->size;
    const bool noise = c->width && c->sigma_top > 0 && p->weight_top > 0;
    /* sigma is width sigma_top / width_max, a mean the difference over its scale (X2) */
    xb_json_set(
        root, "noise_gain",
        xb_json_real(noise ? c->sigma_top / c->width_max * xb_cells_scale(c, &a->array)
                           : NAN));
    if (p->n > p->size) {
        XB_TRY(write_floats(ctx, root, "bias", p, dir, m->mu + bias, 1, p->n - p->size));
        XB_TRY(write_floats(ctx, root, "bias_sigma", p, dir, m->sigma + bias, 1,
                            p->n - p->size));
    }
    return write_correction(ctx, root, p, dir);
}
