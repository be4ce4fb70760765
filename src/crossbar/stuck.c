/* stuck.c: devices that stay at the lowest or highest of their range, whatever is
 * programmed; each device is stuck independently of the others (maths X6). */
#include "crossbar/cells.h"

/* The random word of a device: its own, or that of the device of a spare column in its
 * row. */
static double word_of(const xb_cells *c, const xb_chip *chip, xb_chip_stream which,
                      int64_t at, int32_t spare)
{
    if (spare < 0) {
        const xb_stream own = xb_chip_at(chip, which);
        return xb_stream_uniform(&own, at);
    }
    xb_stream where = xb_chip_at(chip, (xb_chip_stream)(XB_CHIP_SPARE + which));
    const int64_t row = at / c->out, across = (c->out + c->columns - 1) / c->columns;
    const int64_t tile = at % c->out / c->columns; /* number in its row of tiles */
    where.step = (uint32_t)spare;
    return xb_stream_uniform(&where, row * across + tile);
}

bool xb_stuck_device(double *value, const xb_cells *c, const xb_array *a,
                     const xb_chip *chip, xb_chip_stream which, int64_t at, int32_t spare)
{
    const bool width = which == XB_CHIP_STUCK_WIDTH;
    const double u = word_of(c, chip, which, at, spare); /* (X6) */
    if (u >= a->stuck_low + a->stuck_high) return false;
    if (u < a->stuck_low)
        *value = width ? c->width_min : a->g_min_us;
    else
        *value = width ? c->width_max : a->g_max_us;
    return true;
}

static void stick(double *value, const xb_cells *c, const xb_array *a,
                  const xb_chip *chip, xb_chip_stream which)
{
    for (int64_t i = 0; i < c->in; i++)
        for (int64_t j = 0; j < c->out; j++) {
            const int32_t spare = c->spare ? c->spare[i / c->rows * c->out + j] : -1;
            const int64_t at = i * c->out + j;
            (void)xb_stuck_device(&value[at], c, a, chip, which, at, spare);
        }
}

/* (X62) References have no spares. */
static void stick_references(xb_cells *c, const xb_array *a, const xb_chip *chip)
{
    for (int64_t i = 0; i < xb_cells_minus_count(c); i++)
        (void)xb_stuck_device(&c->minus[i], c, a, chip, XB_CHIP_STUCK_MINUS, i, -1);
}

void xb_cells_stuck(xb_cells *c, const xb_array *a, const xb_chip *chip)
{
    if (!(a->stuck_low + a->stuck_high > 0)) return;
    stick(c->plus, c, a, chip, XB_CHIP_STUCK_PLUS);
    if (c->offset)
        stick_references(c, a, chip);
    else
        stick(c->minus, c, a, chip, XB_CHIP_STUCK_MINUS);
    if (c->width) stick(c->width, c, a, chip, XB_CHIP_STUCK_WIDTH);
}
