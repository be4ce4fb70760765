/* array_ops.c: converters and matrix products on tiles (maths X13, X14, X50, X51). The
 * rows of the matrix are cut into tiles; each tile's column sums are converted by
 * themselves and then added digitally, as is the bias. Without a converter the sums are
 * exact and tiles make no difference, so the product is made in one piece. Columns are
 * independent of each other: how they are cut matters to the wires alone. */
#include "backend/array_ops.h"

#include <string.h>

#include "net/window.h"

/* Columns [from, from + width) of x [rows][in], side by side. */
static const xb_real *slice_of(const xb_tile_block *t, const xb_real *x, int64_t from,
                               int64_t width)
{
    if (width == t->in) return x;
    for (int64_t r = 0; r < t->rows; r++)
        memcpy(t->slice + r * width, x + r * t->in + from, (size_t)width * sizeof *x);
    return t->slice;
}

/* (X50, X51) Sums [rows][out] as they are after conversion and correction, in place. */
void xb_host_tile_correct(const xb_kernels *kernels, const xb_tile_block *t,
                          xb_real *sums, int64_t rows, int64_t tile)
{
    const int64_t out = t->out;
    const xb_real *pre = t->pre + tile * out, *post = t->post + tile * out;
    const xb_real *shift = t->shift + tile * out;
    for (int64_t r = 0; r < rows; r++, sums += out) {
        for (int64_t j = 0; j < out; j++) sums[j] *= pre[j];
        if (t->convert) kernels->quantise(sums, sums, &t->adc, out);
        for (int64_t j = 0; j < out; j++) sums[j] = post[j] * sums[j] + shift[j];
    }
}

/* (X14) The bias comes with the first tile. */
void xb_host_tile_convert(const xb_kernels *kernels, const xb_tile_block *t, xb_real *y,
                          xb_real *sums, int64_t tile)
{
    const bool convert = t->convert && !t->pre;
    if (t->pre) xb_host_tile_correct(kernels, t, sums, t->rows, tile);
    if (sums != y && convert)
        kernels->quantise_add(y, sums, &t->adc, t->rows * t->out);
    else if (sums != y)
        kernels->add(y, sums, t->rows * t->out);
    else if (convert)
        kernels->quantise_onto(y, t->b, &t->adc, t->rows, t->out);
    else
        for (int64_t r = 0; t->b && r < t->rows; r++)
            kernels->add(y + r * t->out, t->b, t->out);
}

static void tiles(const xb_run *run, const xb_tile_block *t, xb_real *y, const xb_real *x)
{
    if (!t->convert && !t->pre && !t->seen) {
        run->kernels->dense_forward(y, x, t->w, t->b, t->rows, t->in, t->out,
                                    XB_ACT_NONE);
        return;
    }
    for (int64_t from = 0; from < t->in; from += t->tile) {
        int64_t width = t->in - from < t->tile ? t->in - from : t->tile;
        const xb_real *slice = slice_of(t, x, from, width);
        xb_real *sums = from == 0 ? y : t->part;
        run->kernels->dense_forward(sums, slice, t->w + from * t->out, NULL, t->rows,
                                    width, t->out, XB_ACT_NONE);
        if (t->seen) t->seen(t->arg, from / t->tile, sums, slice);
        xb_host_tile_convert(run->kernels, t, y, sums, from / t->tile);
    }
}

static void windows(const xb_run *run, xb_real *columns, const xb_real *x,
                    const xb_window *g, int64_t from, int64_t to)
{
    (void)run;
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

static void quantise(const xb_run *run, xb_real *y, const xb_real *x,
                     const xb_steps *steps, int64_t n)
{
    run->kernels->quantise(y, x, steps, n);
}

const xb_array_ops xb_ops_array = {quantise, windows, tiles};
