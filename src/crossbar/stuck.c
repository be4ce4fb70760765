/* stuck.c: devices that stay at the lowest or highest of their range, whatever is
 * written to them; each device by itself (maths X6). */
#include "crossbar/cells.h"

static void stick(double *value, int64_t n, double low, double high, const xb_array *a,
                  const xb_chip *chip, xb_chip_stream which)
{
    xb_stream where = xb_chip_at(chip, which);
    for (int64_t i = 0; i < n; i++) {
        double u = xb_stream_uniform(&where, i); /* (X6) */
        if (u < a->stuck_low)
            value[i] = low;
        else if (u < a->stuck_low + a->stuck_high)
            value[i] = high;
    }
}

void xb_cells_stuck(xb_cells *c, const xb_array *a, const xb_chip *chip)
{
    int64_t n = c->in * c->out;
    if (!(a->stuck_low + a->stuck_high > 0)) return;
    stick(c->plus, n, a->g_min_us, a->g_max_us, a, chip, XB_CHIP_STUCK_PLUS);
    stick(c->minus, n, a->g_min_us, a->g_max_us, a, chip, XB_CHIP_STUCK_MINUS);
    if (c->width)
        stick(c->width, n, c->width_min, c->width_max, a, chip, XB_CHIP_STUCK_WIDTH);
}
