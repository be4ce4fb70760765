/* write_error.c: a written conductance misses its target by a normal error, the same in
 * size over the whole range (maths X5). No conductance is below 0. */
#include <math.h>

#include "crossbar/cells.h"

static void miss(double *g, int64_t n, double sd_us, const float *z)
{
    for (int64_t i = 0; i < n; i++) g[i] = fmax(g[i] + sd_us * (double)z[i], 0);
}

void xb_cells_program(xb_cells *c, const xb_array *a, const xb_chip *chip)
{
    int64_t n = c->in * c->out;
    double sd_us = a->program_error * (a->g_max_us - a->g_min_us); /* (X5) */
    if (!(sd_us > 0)) return;
    xb_chip_normal(chip, XB_CHIP_PLUS, n);
    miss(c->plus, n, sd_us, chip->draws);
    xb_chip_normal(chip, XB_CHIP_MINUS, n);
    miss(c->minus, xb_cells_minus_count(c), sd_us, chip->draws);
}
