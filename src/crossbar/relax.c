/* relax.c: programmed conductances move with time, as a campaign has measured it (maths
 * X21, K2-K4). Each cell always has the same rank u among the cells of its state, which
 * is a word of (chip, tensor, device): a cell that is high after 1 s is also high after
 * 100 s. Noise devices do not move, because there are no measurements of how they
 * would. */
#include "crossbar/cells.h"
#include "crossbayes/extend.h"

double xb_relaxed_us(const xb_aged *aged, double g_us, double age_s, double u)
{
    return aged->us * xb_device_relaxed(aged->device, g_us / aged->us, age_s, u);
}

static void relax(double *g_us, int64_t n, double age_s, const xb_aged *aged,
                  const xb_stream *where)
{
    for (int64_t i = 0; i < n; i++) /* (X21) */
        g_us[i] = xb_relaxed_us(aged, g_us[i], age_s, xb_stream_uniform(where, i));
}

void xb_cells_relax(xb_cells *c, const xb_array *a, const xb_aged *aged,
                    const xb_chip *chip)
{
    const int64_t n = c->in * c->out;
    const xb_stream plus = xb_chip_at(chip, XB_CHIP_RELAX_PLUS);
    const xb_stream minus = xb_chip_at(chip, XB_CHIP_RELAX_MINUS);
    if (!(a->age_s > 0)) return;
    relax(c->plus, n, a->age_s, aged, &plus);
    relax(c->minus, xb_cells_minus_count(c), a->age_s, aged, &minus);
}

xb_status xb_range_check(xb_ctx *ctx, const xb_array *a, const char *what, double low_us,
                         double high_us)
{
    const double slack = 1e-9; /* relative slack for a conductance that was written with
                                  few digits */
    if (a->g_min_us >= low_us * (1 - slack) && a->g_max_us <= high_us * (1 + slack))
        return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "%s measured from %.4g to %.4g µS, but the array uses %.4g to %.4g µS"
                   " (g_min_us, g_max_us)",
                   what, low_us, high_us, a->g_min_us, a->g_max_us);
}

xb_status xb_relax_check(xb_ctx *ctx, const xb_array *a, const xb_aged *aged)
{
    const xb_device *d = aged->device;
    const int64_t last = xb_device_state_count(d) - 1;
    if (!(a->age_s > 0 || a->quiet_pairs > 0 || a->program_by_state > 0)) return XB_OK;
    if (last < 0)
        return xb_fail(ctx, XB_E_INPUT,
                       "the device file has no relaxation: it was made without readings"
                       " over time");
    /* (K7) holds at any conductance. */
    if (!(a->age_s > 0 || a->quiet_pairs > 0)) return XB_OK;
    return xb_range_check(ctx, a, "states were",
                          aged->us * xb_device_state_at(d, 0).conductance,
                          aged->us * xb_device_state_at(d, last).conductance);
}
