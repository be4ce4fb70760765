/* write_error.c: a programmed conductance differs from its target by a normal error
 * (maths X5): one of the same size over the whole range, that of the state in the device
 * file (X26), or both. No conductance is below 0. */
#include <math.h>

#include "crossbar/cells.h"

double xb_program_error_us(const xb_array *a, const xb_aged *aged, double flat_us,
                           double g_us)
{
    if (!(a->program_by_state > 0)) return flat_us;
    const double state_us =
        aged->us * xb_device_program_error(aged->device, g_us / aged->us);
    return hypot(flat_us, a->program_by_state * state_us); /* (X26) */
}

static void miss(double *g, int64_t n, const xb_array *a, const xb_aged *aged,
                 const float *z)
{
    const double flat_us = a->program_error * (a->g_max_us - a->g_min_us); /* (X5) */
    for (int64_t i = 0; i < n; i++)
        g[i] = fmax(g[i] + xb_program_error_us(a, aged, flat_us, g[i]) * (double)z[i], 0);
}

void xb_cells_program(xb_cells *c, const xb_array *a, const xb_aged *aged,
                      const xb_chip *chip)
{
    int64_t n = c->in * c->out;
    if (!(a->program_error > 0 || a->program_by_state > 0)) return;
    xb_chip_normal(chip, XB_CHIP_PLUS, n);
    miss(c->plus, n, a, aged, chip->draws);
    xb_chip_normal(chip, XB_CHIP_MINUS, n);
    miss(c->minus, xb_cells_minus_count(c), a, aged, chip->draws);
}
