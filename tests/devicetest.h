/* devicetest.h: a device of three states with known curves: 10, 50 and 100 uS, whose
 * spreads are 1, 5 and 1 uS after 100 s and half of that after 1 s; shifts are -1, -4 and
 * 2. Cells move as an exponential law does. */
#ifndef DEVICETEST_H
#define DEVICETEST_H

#include "scratch.h"

#include "crossbayes/device.h"

static inline double moment(const double *v, int64_t n, double at, int power)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += pow(v[i] - at, power);
    return sum / (double)n;
}

enum { STATES = 3, CELLS = 400, TIMES = 2, READINGS = STATES * CELLS * TIMES };
static const double state_us[STATES] = {10, 50, 100}, spread_us[STATES] = {1, 5, 1};
static const double shift_us[STATES] = {-1, -4, 2};

/* Programming misses by miss_us[] up or down at each state. */
static inline xb_device *missed_device(xb_ctx *ctx, const char *unit,
                                       const double miss_us[STATES])
{
    static double cell[READINGS], state[READINGS], time[READINGS], value[READINGS],
        programmed[READINGS];
    const double per_us = strcmp(unit, "S") == 0 ? 1e-6 : 1;
    double z[CELLS], missed[CELLS], mean, sd;
    for (int i = 0; i < CELLS; i++) z[i] = -log((i + 0.5) / CELLS); /* exponential */
    for (int i = 0; i < CELLS; i++) missed[i] = i % 2 ? 1 : -1;     /* of variance 1 */
    mean = moment(z, CELLS, 0, 1);
    sd = sqrt(moment(z, CELLS, mean, 2) * CELLS / (CELLS - 1));
    int row = 0;
    for (int s = 0; s < STATES; s++)
        for (int i = 0; i < CELLS; i++)
            for (int k = 0; k < TIMES; k++, row++) {
                const double part = k ? 1 : 0.5;
                cell[row] = s * CELLS + i, state[row] = s;
                time[row] = k ? 100 : 1;
                programmed[row] = per_us * (state_us[s] + miss_us[s] * missed[i]);
                value[row] =
                    programmed[row] +
                    per_us * part * (shift_us[s] + spread_us[s] * (z[i] - mean) / sd);
            }
    const xb_campaign c = {READINGS, cell, state, time, value, programmed};
    xb_device_options opt = xb_device_options_default();
    opt.unit = unit;
    xb_device *d = NULL;
    assert_ok(ctx, xb_device_measure(ctx, &d, &c, &opt));
    return d;
}

static inline xb_device *made_device(xb_ctx *ctx, const char *unit)
{
    return missed_device(ctx, unit, (const double[STATES]){0, 0, 0});
}

static inline const char *device_file(xb_ctx *ctx, scratch *s, const char *unit)
{
    xb_device *d = made_device(ctx, unit);
    assert_ok(ctx, xb_device_save(ctx, d, scratch_path(s, "device.json")));
    xb_device_destroy(d);
    return s->path;
}

#endif
