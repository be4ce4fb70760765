/* target.c: converts weights to conductances and back (maths X1, X2). A mean is the
 * difference of two devices, one of which is at its lowest; the layer's largest mean
 * takes the whole range. A standard deviation is the width of one noise device; the
 * layer's largest is the largest width, whatever gain its column then needs. */
#include <math.h>

#include "backend/host.h"
#include "crossbar/cells.h"

double xb_cells_scale(const xb_cells *c, const xb_array *a)
{
    if (c->scale > 0) return c->scale;
    return c->weight_top > 0 ? (a->g_max_us - a->g_min_us) / c->weight_top : 0;
}

double xb_cells_per_us(const xb_cells *c, const xb_array *a)
{
    return c->scale > 0 ? 1 / c->scale : c->weight_top / (a->g_max_us - a->g_min_us);
}

void xb_cells_target(xb_cells *c, const xb_array *a, const float *mu, const float *sigma)
{
    int64_t n = c->in * c->out;
    c->weight_top = xb_largest_size(mu, n);
    double scale = xb_cells_scale(c, a);
    for (int64_t i = 0; i < n; i++) { /* (X1) */
        double g = scale * (double)mu[i];
        c->plus[i] = a->g_min_us + fmax(g, 0);
        c->minus[i] = a->g_min_us + fmax(-g, 0);
    }
    if (!c->width) return;
    c->sigma_top = xb_largest_size(sigma, n);
    c->width_max = a->sigma_max_us > 0 ? a->sigma_max_us : a->g_max_us - a->g_min_us;
    c->width_min = a->sigma_min_us;
    double per = c->sigma_top > 0 ? c->width_max / c->sigma_top : 0;
    for (int64_t i = 0; i < n; i++) c->width[i] = per * (double)sigma[i]; /* (X2) */
}

void xb_cells_weights(const xb_cells *c, const xb_array *a, float *mu, float *sigma)
{
    int64_t n = c->in * c->out;
    double scale = xb_cells_scale(c, a);
    /* An offset stays in the result (X62). */
    for (int64_t i = 0; i < n && mu && scale > 0; i++)
        mu[i] = (float)((c->plus[i] - (c->offset ? 0 : c->minus[i])) / scale);
    for (int64_t i = 0; i < n && sigma && c->width; i++)
        sigma[i] = (float)(c->width[i] * c->sigma_top / c->width_max);
}

xb_stream xb_chip_at(const xb_chip *chip, xb_chip_stream which)
{
    return (xb_stream){.key = chip->key,
                       .tensor = chip->tensor,
                       .sample = (uint32_t)which + (uint32_t)XB_CHIP_SLICE * chip->slice};
}

void xb_chip_normal(const xb_chip *chip, xb_chip_stream which, int64_t n)
{
    xb_stream where = xb_chip_at(chip, which);
    xb_sampler_fill(chip->normal, chip->draws, n, &where, 0);
}
