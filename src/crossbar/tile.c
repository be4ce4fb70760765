/* tile.c: a matrix product on tiles (maths X14). The rows of the matrix are cut into
 * tiles; each tile's column sums are converted by themselves and then added digitally,
 * as is the bias. Without an ADC the sums are exact and tiles make no difference, so the
 * product is made in one piece. Columns are independent of each other: how they are cut
 * matters to the wires alone. */
#include <string.h>

#include "crossbar/analog.h"
#include "net/window.h"

/* Columns [from, from + width) of x [rows][in], side by side. */
static const float *slice_of(float *slice, const float *x, int64_t rows, int64_t in,
                             int64_t from, int64_t width)
{
    if (width == in) return x;
    for (int64_t r = 0; r < rows; r++)
        memcpy(slice + r * width, x + r * in + from, (size_t)width * sizeof *slice);
    return slice;
}

bool xb_tile_matters(const xb_analog_layer *layer)
{
    return layer->adc.on || layer->correction.pre;
}

int64_t xb_row_tiles(const xb_analog_layer *layer)
{
    return (layer->in + layer->rows - 1) / layer->rows;
}

/* (X50, X51) Sums [rows][out] as they are after conversion and correction, in place. */
static void correct(const xb_analog *analog, const xb_analog_layer *layer, float *sums,
                    int64_t rows, int64_t tile)
{
    const int64_t out = layer->out;
    const float *pre = layer->correction.pre + tile * out;
    const float *post = layer->correction.post + tile * out;
    const float *shift = layer->correction.shift + tile * out;
    for (int64_t r = 0; r < rows; r++, sums += out) {
        for (int64_t j = 0; j < out; j++) sums[j] *= pre[j];
        if (layer->adc.on) analog->kernels->quantise(sums, sums, &layer->adc.steps, out);
        for (int64_t j = 0; j < out; j++) sums[j] = post[j] * sums[j] + shift[j];
    }
}

/* (X14) The bias comes with the first tile. */
void xb_tile_convert(const xb_analog *analog, const xb_analog_layer *layer, float *y,
                     float *sums, const float *b, int64_t rows, int64_t tile)
{
    const xb_kernels *kernels = analog->kernels;
    const xb_steps *steps = &layer->adc.steps;
    int64_t out = layer->out;
    const bool corrected = layer->correction.pre != NULL;
    if (corrected) correct(analog, layer, sums, rows, tile);
    const bool convert = layer->adc.on && !corrected;
    if (sums != y && convert)
        kernels->quantise_add(y, sums, steps, rows * out);
    else if (sums != y)
        kernels->add(y, sums, rows * out);
    else if (convert)
        kernels->quantise_onto(y, b, steps, rows, out);
    else
        for (int64_t r = 0; b && r < rows; r++) kernels->add(y + r * out, b, out);
}

/* What calibration wants of a tile's sums, x [rows][width] its inputs. */
static void watch(const xb_watch *seen, const xb_analog *analog,
                  const xb_analog_layer *layer, const float *sums, const float *x,
                  int64_t rows, int64_t tile)
{
    const int64_t out = layer->out, from = tile * layer->rows;
    const int64_t width = layer->in - from < layer->rows ? layer->in - from : layer->rows;
    xb_column_fit *fit = seen->fit;
    if (seen->sum) xb_spectrum_add(seen->sum, sums, rows * out);
    if (seen->groups) xb_column_groups_add(seen->groups, tile, sums, rows, out);
    const int64_t row = fit ? xb_column_fit_row(fit, tile, rows) : -1;
    if (row < 0) return;
    memcpy(fit->given, sums + row * out, (size_t)out * sizeof *sums);
    correct(analog, layer, fit->given, 1, tile);
    analog->kernels->dense_forward(fit->wanted, x + row * width, fit->mean + from * out,
                                   NULL, 1, width, out, XB_ACT_NONE);
    xb_column_fit_add(fit, tile);
}

void xb_tile_product(const xb_analog *analog, const xb_analog_layer *layer, float *y,
                     const float *x, const float *w, const float *b, int64_t rows,
                     xb_tile_room room, const xb_watch *seen)
{
    int64_t in = layer->in, out = layer->out;
    if (!xb_tile_matters(layer) && !seen) {
        analog->kernels->dense_forward(y, x, w, b, rows, in, out, XB_ACT_NONE);
        return;
    }
    for (int64_t from = 0; from < in; from += layer->rows) {
        int64_t width = in - from < layer->rows ? in - from : layer->rows;
        const float *slice = slice_of(room.slice, x, rows, in, from, width);
        float *sums = from == 0 ? y : room.part;
        analog->kernels->dense_forward(sums, slice, w + from * out, NULL, rows, width,
                                       out, XB_ACT_NONE);
        const int64_t tile = from / layer->rows;
        if (seen) watch(seen, analog, layer, sums, slice, rows, tile);
        xb_tile_convert(analog, layer, y, sums, b, rows, tile);
    }
}

void xb_tile_columns(float *columns, const float *x, const xb_window *g, int64_t from,
                     int64_t to)
{
    int64_t line = g->kw * g->c;
    for (int64_t oy = from; oy < to; oy++)
        for (int64_t ox = 0; ox < g->ow; ox++, columns += g->kh * line) {
            window_place p = window_at(g, oy, ox);
            memset(columns, 0, (size_t)(g->kh * line) * sizeof *columns);
            for (int64_t ky = p.ky0; ky < p.ky1; ky++)
                memcpy(columns + ky * line + p.kx0 * g->c,
                       x + ((p.y0 + ky) * g->w + p.x0 + p.kx0) * g->c,
                       (size_t)((p.kx1 - p.kx0) * g->c) * sizeof *columns);
        }
}
