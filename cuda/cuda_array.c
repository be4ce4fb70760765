/* cuda_array.c: the operations for simulated arrays; maths X13, X14, X50, X51. The
 * host makes the noise of sums and the calibration (backend/array_ops.h). */
#include "cuda_module.h"

static xbc_converter converter_of(const xb_steps *s)
{
    return (xbc_converter){s->step, s->inverse, s->low, s->high};
}

static void quantise(const xb_run *run, xb_real *y, const xb_real *x,
                     const xb_steps *steps, int64_t n)
{
    (void)run;
    const xbc_converter c = converter_of(steps);
    XBC_INSIDE(xbc_quantise(y, x, &c, n));
}

static void windows(const xb_run *run, xb_real *columns, const xb_real *x,
                    const xb_window *g, int64_t from, int64_t to)
{
    (void)run;
    const xbc_window window = xbc_window_of(g);
    XBC_INSIDE(xbc_windows(columns, x, &window, from, to));
}

/* Without converters and corrections tiles make no difference. */
static void tiles(const xb_run *run, const xb_tile_block *t, xb_real *y, const xb_real *x)
{
    (void)run;
    const xbc_tiles job = {.rows = t->rows,
                           .in = t->in,
                           .out = t->out,
                           .tile = t->convert || t->pre ? t->tile : t->in,
                           .y = y,
                           .x = x,
                           .w = t->w,
                           .b = t->b,
                           .convert = t->convert,
                           .adc = converter_of(&t->adc),
                           .pre = t->pre,
                           .post = t->post,
                           .shift = t->shift};
    XBC_INSIDE(xbc_tiles_forward(&job));
}

const xb_array_ops xbc_array = {quantise, windows, tiles};
