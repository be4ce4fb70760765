/* round_ops.c: a converter in the middle of a net that is being trained (maths V60): its
 * range is the largest number of the batch, so nothing is clipped, and its gradient is
 * that of the identity (straight through; Bengio et al. 2013). And weights as an array
 * would have them. */
#include <math.h>
#include <string.h>

#include "backend/host.h"

/* Steps of a converter for x [n]; false: x is all 0. */
static bool steps_for(xb_steps *out, const xb_real *x, int64_t n, int64_t bits)
{
    xb_real low = 0, high = 0;
    for (int64_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    const bool has_sign = low < 0;
    const double range = fmax((double)high, -(double)low);
    const double steps = ldexp(1, (int)bits - (has_sign ? 1 : 0)) - 1; /* (X13) */
    const double step = range / steps;
    if (!(range > 0) || !isfinite(range)) return false;
    *out = (xb_steps){.step = (xb_real)step,
                      .inverse = (xb_real)(1 / step),
                      .low = has_sign ? -(xb_real)steps : 0,
                      .high = (xb_real)steps};
    return isfinite(out->inverse);
}

static void copy(const xb_run *run, const xb_layer *layer, xb_real *to,
                 const xb_real *from)
{
    const size_t n = (size_t)(run->batch * xb_shape_size(layer->in));
    if (to && to != from) memcpy(to, from, n * sizeof *to);
}

static void forward(const xb_run *run, const xb_layer *layer, xb_real *y,
                    const xb_real *x)
{
    const int64_t n = run->batch * xb_shape_size(layer->in);
    xb_steps steps;
    if (steps_for(&steps, x, n, layer->units))
        run->kernels->quantise(y, x, &steps, n); /* (V60) */
    else
        copy(run, layer, y, x);
}

static void backward(const xb_run *run, const xb_layer *layer, xb_real *dx,
                     const xb_real *dy, const xb_real *x, const xb_real *y)
{
    (void)x, (void)y;
    copy(run, layer, dx, dy);
}

const xb_layer_ops xb_ops_rounding = {
    .placement = XB_PLACE_FRESH, .forward = forward, .backward = backward};

/* ---- weights */

double xb_largest_size(const float *x, int64_t n)
{
    double top = 0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, fabs((double)x[i]));
    return top;
}

void xb_host_written(const xb_backend *b, const xb_ctx *ctx, const xb_written_block *w)
{
    (void)b, (void)ctx;
    const double top = xb_largest_size(w->mu, w->n);
    const double step = w->levels > 0 ? top / (double)w->levels : 0;
    const double least = w->sigma ? w->floor * xb_largest_size(w->sigma, w->n) : 0;
    if (w->error > 0) xb_sampler_fill(w->normal, w->mu_to, w->n, &w->where, 0);
    for (int64_t i = 0; i < w->n; i++) { /* (V61) */
        const double missed = w->error > 0 ? w->error * top * (double)w->mu_to[i] : 0;
        const double mu = (double)w->mu[i];
        w->mu_to[i] = (float)((step > 0 ? step * rint(mu / step) : mu) + missed);
        if (w->sigma) w->sigma_to[i] = fmaxf(w->sigma[i], (float)least);
    }
}
