/* widths.c: noise devices set to one width have different ones: a lognormal factor of
 * mean 1 for each device (maths X7). */
#include <math.h>

#include "crossbar/cells.h"

void xb_cells_spread(xb_cells *c, const xb_array *a, const xb_chip *chip)
{
    int64_t n = c->in * c->out;
    double s = a->sigma_spread;
    if (!(s > 0) || !c->width) return;
    xb_chip_normal(chip, XB_CHIP_WIDTH, n);
    for (int64_t i = 0; i < n; i++)
        c->width[i] *= exp(s * (double)chip->draws[i] - 0.5 * s * s); /* (X7) */
}
