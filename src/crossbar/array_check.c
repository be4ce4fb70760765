/* array_check.c: checks the numbers of an array: each must be in its range, and
 * some need others or exclude them. */
#include <math.h>

#include "crossbar/array.h"

static xb_status check_levels(xb_ctx *ctx, const char *key, int64_t levels)
{
    if (levels != 1) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "'%s' is 1, expected 0 (any), or 2 or more", key);
}

static xb_status check_bits(xb_ctx *ctx, const char *key, int64_t bits)
{
    if (bits != 1) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "'%s' is 1, expected 0 (none), or %d or more", key,
                   XB_BITS_MIN);
}

static xb_status check_device(xb_ctx *ctx, const xb_array *a)
{
    const char *key = a->age_s > 0              ? "age_s"
                      : a->quiet_pairs > 0      ? "quiet_pairs"
                      : a->read_noise > 0       ? "read_noise"
                      : a->program_by_state > 0 ? "program_by_state"
                                                : NULL;
    if (a->device[0] || !key) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "'%s' needs 'device', a device file", key);
}

/* (X60, X62) Checks the number of states that all digits of a weight have together. */
static xb_status check_slices(xb_ctx *ctx, const xb_array *a)
{
    const double states = pow((double)a->mean_levels, (double)xb_array_slices(a));
    const double most = INT64_C(1) << 30;
    if (states > most)
        return xb_fail(ctx, XB_E_INPUT,
                       "%lld slices of %lld states make %.3g states of a weight, expected"
                       " at most 2^30",
                       (long long)a->weight_slices, (long long)a->mean_levels, states);
    if (a->offset_columns && a->mean_levels == 2 && xb_array_slices(a) == 1)
        return xb_fail(ctx, XB_E_INPUT,
                       "'offset_columns' needs 3 or more states of a weight, but"
                       " 'mean_levels' is 2");
    return XB_OK;
}

/* Checks what excludes weights in slices, offset columns or inputs in pulses. */
static xb_status check_mapping(xb_ctx *ctx, const xb_array *a)
{
    const char *mapping = a->offset_columns        ? "offset_columns"
                          : xb_array_slices(a) > 1 ? "weight_slices"
                                                   : NULL;
    if (mapping && a->quiet_pairs > 0)
        return xb_fail(ctx, XB_E_INPUT, "'quiet_pairs' and '%s' exclude each other",
                       mapping);
    if (a->offset_columns && a->stuck_repair)
        return xb_fail(
            ctx, XB_E_INPUT,
            "'stuck_repair' needs pairs of devices, but 'offset_columns' is 1");
    if (!mapping && a->dac_bits > 0 && a->input_slice_bits > 0)
        mapping = "input_slice_bits";
    if (mapping && a->adc_range_per != XB_RANGE_LAYER)
        return xb_fail(ctx, XB_E_INPUT,
                       "'adc_range_per' is %lld, but with '%s' each slice of a layer has"
                       " one range: expected 0",
                       (long long)a->adc_range_per, mapping);
    return check_slices(ctx, a);
}

static xb_status check_heat(xb_ctx *ctx, const xb_array *a)
{
    const double low = 1 + a->tc_low * a->heated_k, high = 1 + a->tc_high * a->heated_k;
    if (low > 0 && high > 0) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "'heated_k' is %g K: a conductance would become %.3g times itself,"
                   " expected more than 0 (tc_low, tc_high)",
                   a->heated_k, fmin(low, high));
}

static xb_status check_calibration(xb_ctx *ctx, const xb_array *a)
{
    if (a->adc_noise_lsb > 0 && a->adc_bits == 0)
        return xb_fail(
            ctx, XB_E_INPUT,
            "'adc_noise_lsb' is %g steps of an ADC, but 'adc_bits' is 0 (none)",
            a->adc_noise_lsb);
    if (a->adc_range_per == XB_RANGE_LAYER || !(a->adc_range > 0)) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT,
                   "'adc_range_per' is for calibrated ranges, but 'adc_range' fixes them"
                   " at %g: expected one of them to be 0",
                   a->adc_range);
}

static xb_status check_ranges(xb_ctx *ctx, const xb_array *a)
{
    if (!(a->g_max_us > a->g_min_us))
        return xb_fail(ctx, XB_E_INPUT, "g_max_us is %g, expected more than g_min_us %g",
                       a->g_max_us, a->g_min_us);
    if (a->sigma_min_us > 0 && !(a->sigma_max_us > a->sigma_min_us))
        return xb_fail(ctx, XB_E_INPUT,
                       "sigma_max_us is %g, expected more than sigma_min_us %g",
                       a->sigma_max_us, a->sigma_min_us);
    if (a->stuck_low + a->stuck_high > 1)
        return xb_fail(ctx, XB_E_INPUT,
                       "stuck_low and stuck_high are %g together, expected at most 1",
                       a->stuck_low + a->stuck_high);
    return XB_OK;
}

/* Checks that the two ends of a band are in this order. */
static xb_status check_band(xb_ctx *ctx, const char *name, double low, double high)
{
    if (low <= high) return XB_OK;
    return xb_fail(ctx, XB_E_INPUT, "%s_high is %g, expected at least %s_low %g", name,
                   high, name, low);
}

static xb_status check_costs(xb_ctx *ctx, const xb_cost_numbers *c)
{
    XB_TRY(check_band(ctx, "dac_pj", c->dac_pj_low, c->dac_pj_high));
    XB_TRY(check_band(ctx, "mac_pj", c->mac_pj_low, c->mac_pj_high));
    return check_band(ctx, "sample_fj", c->sample_fj_low, c->sample_fj_high);
}

xb_status xb_array_check(xb_ctx *ctx, const xb_array *a)
{
    xb_array copy = *a;
    /* Values that were not set through the table. */
    for (int i = 0; i < xb_array_row_count; i++)
        XB_TRY(xb_array_put(ctx, &copy, &xb_array_rows[i],
                            xb_array_value(a, &xb_array_rows[i]), ""));
    if ((int)a->redraw < 0 || (int)a->redraw >= XB_REDRAWS)
        return xb_fail(ctx, XB_E_INPUT, "redraw is %d, expected 0 to 2", (int)a->redraw);
    XB_TRY(check_levels(ctx, "mean_levels", a->mean_levels));
    XB_TRY(check_levels(ctx, "sigma_levels", a->sigma_levels));
    XB_TRY(check_bits(ctx, "dac_bits", a->dac_bits));
    XB_TRY(check_bits(ctx, "adc_bits", a->adc_bits));
    XB_TRY(check_ranges(ctx, a));
    XB_TRY(check_calibration(ctx, a));
    XB_TRY(check_mapping(ctx, a));
    XB_TRY(check_heat(ctx, a));
    XB_TRY(check_device(ctx, a));
    XB_TRY(check_costs(ctx, &a->cost));
    if (a->correlation_time_ns > 0 && !(a->read_interval_ns > 0))
        return xb_fail(ctx, XB_E_INPUT,
                       "a correlation time needs 'read_interval_ns' above 0");
    return XB_OK;
}
