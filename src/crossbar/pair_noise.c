/* pair_noise.c: the read noise of the mean devices themselves, whose width depends on
 * their state (maths X23, K5). It is added to the noise of a weight's noise device:
 * variances add, and the sum is assumed to have the law of the noise devices. A kernel
 * without noise devices stays without noise. */
#include <math.h>

#include "crossbar/cells.h"
#include "crossbayes/extend.h"

static double width_us(const xb_aged *aged, double g_us)
{
    return aged->us * xb_device_width_of(aged->device, g_us / aged->us).sigma;
}

void xb_cells_read_noise(const xb_cells *c, const xb_array *a, const xb_aged *aged,
                         float *sigma)
{
    if (!(a->read_noise > 0) || !sigma || !(c->weight_top > 0)) return;
    const double weight_per_us = xb_cells_per_us(c, a);
    for (int64_t i = 0; i < c->in * c->out; i++) { /* (X23) */
        const double pair_us =
            hypot(width_us(aged, c->plus[i]),
                  c->offset ? 0 : width_us(aged, c->minus[i])); /* (X62) */
        sigma[i] =
            (float)hypot((double)sigma[i], a->read_noise * pair_us * weight_per_us);
    }
}

xb_status xb_read_noise_check(xb_ctx *ctx, const xb_array *a, const xb_aged *aged)
{
    const xb_device *d = aged->device;
    const int64_t last = xb_device_trace_count(d) - 1;
    if (!(a->read_noise > 0)) return XB_OK;
    if (last < 0)
        return xb_fail(ctx, XB_E_INPUT,
                       "the device file has no read noise: it was made without traces");
    return xb_range_check(ctx, a, "read noise was",
                          aged->us * xb_device_trace_at(d, 0).conductance,
                          aged->us * xb_device_trace_at(d, last).conductance);
}
