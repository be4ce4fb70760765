/* tile.c: how the tiles of a layer are described to a backend, and what calibration
 * observes in their sums. The product itself, converters and corrections are in
 * backend/array_ops.c.
 */
#include <string.h>

#include "crossbar/analog.h"

bool xb_tile_matters(const xb_analog *analog, const xb_analog_layer *layer)
{
    return layer->adc.on || layer->correction.pre || analog->normal || layer->plane;
}

int64_t xb_row_tiles(const xb_analog_layer *layer)
{
    return (layer->in + layer->rows - 1) / layer->rows;
}

xb_tile_block xb_tile_block_of(const xb_analog_layer *layer, const float *w,
                               const float *b, int64_t rows)
{
    return (xb_tile_block){.rows = rows,
                           .in = layer->in,
                           .out = layer->out,
                           .tile = layer->rows,
                           .w = w,
                           .b = b,
                           .convert = layer->adc.on,
                           .adc = layer->adc.steps,
                           .pre = layer->correction.pre,
                           .post = layer->correction.post,
                           .shift = layer->correction.shift};
}

/* ---- what calibration observes in a tile's sums */

typedef struct watching {
    const xb_watch *seen;
    const xb_kernels *kernels;
    const xb_tile_block *block;
} watching;

static void watch(void *arg, int64_t tile, const float *sums, const float *x)
{
    const watching *at = arg;
    const xb_tile_block *t = at->block;
    const xb_watch *seen = at->seen;
    const int64_t out = t->out, from = tile * t->tile;
    const int64_t width = t->in - from < t->tile ? t->in - from : t->tile;
    xb_column_fit *fit = seen->fit;
    if (seen->sum) xb_spectrum_add(seen->sum, sums, t->rows * out);
    if (seen->groups) xb_column_groups_add(seen->groups, tile, sums, t->rows, out);
    const int64_t row = fit ? xb_column_fit_row(fit, tile, t->rows) : -1;
    if (row < 0) return;
    memcpy(fit->given, sums + row * out, (size_t)out * sizeof *sums);
    xb_host_tile_correct(at->kernels, t, fit->given, 1, tile);
    at->kernels->dense_forward(fit->wanted, x + row * width, fit->mean + from * out, NULL,
                               1, width, out, XB_ACT_NONE);
    xb_column_fit_add(fit, tile);
}

/* ---- the product */

typedef struct disturbing {
    const xb_noisy_product *noisy;
    const xb_tile_block *block;
} disturbing;

static void disturb(const void *arg, int64_t tile, float *sums, const float *x)
{
    const disturbing *at = arg;
    const xb_tile_block *t = at->block;
    const int64_t from = tile * t->tile;
    const int64_t width = t->in - from < t->tile ? t->in - from : t->tile;
    xb_sum_noise_add(at->noisy, sums, x, t->rows, width, tile);
}

void xb_tile_product(const xb_analog *analog, const xb_analog_layer *layer, float *y,
                     const float *x, const float *w, const float *b, int64_t rows,
                     xb_tile_room room, const xb_watch *seen,
                     const xb_noisy_product *noisy)
{
    const xb_run run = {.kernels = analog->kernels};
    xb_tile_block t = xb_tile_block_of(layer, w, b, rows);
    watching at = {seen, analog->kernels, &t};
    const disturbing noise = {noisy, &t};
    t.slice = room.slice, t.part = room.part;
    if (seen) t.seen = watch, t.arg = &at;
    if (noisy) t.disturb = disturb, t.disturb_arg = &noise;
    xb_ops_array.tiles(&run, &t, y, x);
}
