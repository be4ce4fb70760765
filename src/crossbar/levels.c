/* levels.c: devices with a floor and a number of states, evenly spaced over their range
 * (maths X3, X4). */
#include <math.h>

#include "crossbar/cells.h"

double xb_level_nearest(double x, double low, double high, int64_t levels)
{
    x = fmin(fmax(x, low), high);
    if (levels == 0) return x;
    double step = (high - low) / (double)(levels - 1);
    return low + step * rint((x - low) / step);
}

static void to_states(double *g, int64_t n, const xb_array *a)
{
    for (int64_t i = 0; i < n && a->mean_levels > 0; i++) /* (X3) */
        g[i] = xb_level_nearest(g[i], a->g_min_us, a->g_max_us, a->mean_levels);
}

void xb_cells_levels(xb_cells *c, const xb_array *a)
{
    int64_t n = c->in * c->out;
    to_states(c->plus, n, a);
    to_states(c->minus, xb_cells_minus_count(c), a);
    bool limited = a->sigma_min_us > 0 || a->sigma_levels > 0;
    for (int64_t i = 0; i < n && c->width && limited; i++) /* (X4) */
        c->width[i] =
            xb_level_nearest(c->width[i], c->width_min, c->width_max, a->sigma_levels);
}
