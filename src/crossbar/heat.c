/* heat.c: conductances at another temperature than that at which they were programmed and
 * calibrated (maths X63). The lowest and the highest state each have a temperature
 * coefficient, states between them have one in between, and each device deviates from it
 * by its own amount. Noise devices, which conduct at the middle of the range, change
 * their width by the factor of their conductance. */
#include <math.h>

#include "crossbar/cells.h"

/* (X63) */
static double coefficient(const xb_array *a, double g_us)
{
    const double place = (g_us - a->g_min_us) / (a->g_max_us - a->g_min_us);
    return a->tc_low + (a->tc_high - a->tc_low) * place;
}

/* No conductance becomes negative. */
static double factor(const xb_array *a, double coefficient_per_k)
{
    return fmax(1 + coefficient_per_k * a->heated_k, 0);
}

static void heat(double *g_us, int64_t n, const xb_array *a, const xb_chip *chip,
                 xb_chip_stream which)
{
    const bool differ = a->tc_spread > 0;
    if (differ) xb_chip_normal(chip, which, n);
    for (int64_t i = 0; i < n; i++) {
        const double own = differ ? a->tc_spread * (double)chip->draws[i] : 0;
        g_us[i] *= factor(a, coefficient(a, g_us[i]) + own);
    }
}

void xb_cells_heat(xb_cells *c, const xb_array *a, const xb_chip *chip)
{
    const int64_t n = c->in * c->out;
    if (a->heated_k == 0) return;
    heat(c->plus, n, a, chip, XB_CHIP_HEAT_PLUS);
    heat(c->minus, xb_cells_minus_count(c), a, chip, XB_CHIP_HEAT_MINUS);
    const double wider = factor(a, coefficient(a, xb_array_noise_us(a)));
    for (int64_t i = 0; i < n && c->width; i++) c->width[i] *= wider;
}
