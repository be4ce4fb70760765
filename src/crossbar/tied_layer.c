/* tied_layer.c: weights made of cells on an array (maths X30). The noise is that of the
 * weight's own cells, so there is no device for its width: states, missed writes and
 * stuck cells move mean and width together. What belongs to width devices (their range,
 * their states, those that are stuck) and wires do not apply. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbar/analog.h"
#include "vi/model.h"
#include "vi/weight_cells.h"

/* The nearest of `levels` states of the range; any if 0. */
static double nearest(const xb_cell_curve *c, double g, int64_t levels)
{
    if (levels == 0) return g;
    const double step = c->span / (double)(levels - 1);
    return c->low + step * rint((g - c->low) / step);
}

/* What cell k of a layer's weights is at: g [n], from what the model wants. */
static void write_cell(double *g, const float *wanted, int64_t n, const xb_cell_curve *c,
                       const xb_array *a, const xb_chip *chip, int k)
{
    const double sd = a->program_error * c->span;
    const xb_stream stuck = xb_chip_at(chip, (xb_chip_stream)(XB_CHIP_TIED_STUCK + k));
    if (sd > 0) xb_chip_normal(chip, (xb_chip_stream)(XB_CHIP_TIED + k), n);
    for (int64_t i = 0; i < n; i++) {
        double state = nearest(c, (double)wanted[i], a->mean_levels);
        if (sd > 0) state += sd * (double)chip->draws[i];
        const double u = xb_stream_uniform(&stuck, i);
        if (u < a->stuck_low)
            state = c->low;
        else if (u < a->stuck_low + a->stuck_high)
            state = c->low + c->span;
        g[i] =
            fmin(fmax(state, c->low), c->low + c->span); /* as far as widths are known */
    }
}

static bool states_change(const xb_array *a)
{
    return a->mean_levels > 0 || a->program_error > 0 || a->stuck_low + a->stuck_high > 0;
}

static xb_status write_cells(xb_ctx *ctx, xb_analog *analog, const xb_chip *chip,
                             const xb_analog_layer *p)
{
    const xb_model *m = analog->model;
    const xb_cell_curve *c = &m->cells->curve;
    const int64_t n = p->size;
    double *g = xb_new(ctx, c->n * n, sizeof *g), at[XB_CELLS_MOST], mu, sigma;
    if (!g) return XB_E_MEMORY;
    for (int k = 0; k < c->n; k++)
        write_cell(g + k * n, xb_model_cell_states(m, p->tensor) + k * n, n, c,
                   &analog->array, chip, k);
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < c->n; k++) at[k] = g[k * n + i];
        xb_weight_cells_weight(m->cells, &mu, &sigma, at); /* (X30) */
        analog->mu[p->offset + i] = (float)mu;
        analog->sigma[p->offset + i] = (float)sigma;
    }
    free(g);
    return XB_OK;
}

/* (X7) Cells set to one width have different ones. */
static void spread(xb_analog *analog, const xb_chip *chip, const xb_analog_layer *p)
{
    const double s = analog->array.sigma_spread;
    if (!(s > 0)) return;
    xb_chip_normal(chip, XB_CHIP_WIDTH, p->size);
    for (int64_t i = 0; i < p->size; i++)
        analog->sigma[p->offset + i] *=
            (float)exp(s * (double)chip->draws[i] - 0.5 * s * s);
}

static double largest(const float *x, int64_t n)
{
    double top = 0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, fabs((double)x[i]));
    return top;
}

xb_status xb_tied_programme(xb_ctx *ctx, xb_analog *analog, const xb_chip *chip,
                            xb_analog_layer *p)
{
    const xb_model *m = analog->model;
    if (analog->device)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a model whose weights are made of cells does not age by a device"
                       " file: its states are in the unit of its own cells");
    p->weight_top = largest(m->mu + p->offset, p->size);
    p->sigma_top = largest(m->sigma + p->offset, p->size);
    if (states_change(&analog->array)) XB_TRY(write_cells(ctx, analog, chip, p));
    spread(analog, chip, p);
    return analog->bend ? xb_shape_make(ctx, analog, chip, p) : XB_OK;
}
