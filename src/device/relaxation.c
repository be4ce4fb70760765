/* relaxation.c: a device's curves at any conductance and time (maths K2-K4, K7). */
#include "device/relaxation.h"

#include <math.h>
#include <stdlib.h>

const double xb_device_rank[XB_DEVICE_RANKS] = {
    0,   0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1,  0.15, 0.2,   0.3,   0.4, 0.5,
    0.6, 0.7,   0.8,   0.85, 0.9,  0.925, 0.95, 0.965, 0.98, 0.99, 0.995, 0.998, 1};

xb_status xb_device_new(xb_ctx *ctx, xb_device **out, int64_t states, int64_t times,
                        int64_t traces)
{
    xb_device *d = xb_new(ctx, 1, sizeof *d);
    if (!d) return XB_E_MEMORY;
    d->states = states;
    d->times = times;
    d->traces = traces;
    d->shapes_p = NAN;
    d->state = xb_new(ctx, states, sizeof *d->state);
    d->time = xb_new(ctx, times, sizeof *d->time);
    d->node = xb_new(ctx, states * times, sizeof *d->node);
    d->record = xb_new(ctx, traces, sizeof *d->record);
    if (!d->state || !d->time || !d->node || !d->record) {
        xb_device_destroy(d);
        return XB_E_MEMORY;
    }
    *out = d;
    return XB_OK;
}

void xb_device_destroy(xb_device *d)
{
    if (!d) return;
    free(d->state);
    free(d->time);
    free(d->node);
    free(d->record);
    json_decref(d->law);
    free(d);
}

/* The mean and variance of the curve that is linear between the quantiles. */
static void shape_moments(double *mean, double *variance, const double *shape)
{
    double first = 0, second = 0;
    for (int k = 1; k < XB_DEVICE_RANKS; k++) {
        const double a = shape[k - 1], b = shape[k];
        const double mass = xb_device_rank[k] - xb_device_rank[k - 1];
        first += mass * (a + b) / 2;
        second += mass * (a * a + a * b + b * b) / 3;
    }
    *mean = first;
    *variance = second - first * first;
}

bool xb_device_shape_scale(double *shape)
{
    double mean, variance;
    for (int k = 0; k < XB_DEVICE_RANKS; k++)
        if (!isfinite(shape[k]) || (k > 0 && shape[k] < shape[k - 1])) return false;
    shape_moments(&mean, &variance, shape);
    if (!(variance > 0)) return false;
    for (int k = 0; k < XB_DEVICE_RANKS; k++)
        shape[k] = (shape[k] - mean) / sqrt(variance);
    return true;
}

/* ---- what was measured */

const char *xb_device_unit(const xb_device *d) { return d->unit; }
int64_t xb_device_cells(const xb_device *d) { return d->cells; }
int64_t xb_device_cells_left_out(const xb_device *d) { return d->cells_left_out; }
int64_t xb_device_states_left_out(const xb_device *d) { return d->states_left_out; }
int64_t xb_device_state_count(const xb_device *d) { return d->states; }
int64_t xb_device_time_count(const xb_device *d) { return d->times; }
double xb_device_time_at(const xb_device *d, int64_t i) { return d->time[i]; }

xb_device_state xb_device_state_at(const xb_device *d, int64_t i) { return d->state[i]; }

xb_device_move xb_device_move_at(const xb_device *d, int64_t state, int64_t time)
{
    return xb_device_node_at(d, state, time)->move;
}

/* ---- in between */

/* A place between entries `low` and `low` + 1 of a list: (1 - part) low + part high. */
typedef struct place {
    int64_t low, high;
    double part;
    bool outside;
} place;

/* (K2) Finds the place between states; outside the states it is the nearest one. */
static place place_state(const xb_device *d, double g)
{
    const int64_t last = d->states - 1;
    if (g <= d->state[0].conductance)
        return (place){0, 0, 0, g < d->state[0].conductance};
    if (g >= d->state[last].conductance)
        return (place){last, last, 0, g > d->state[last].conductance};
    int64_t i = 0;
    while (d->state[i + 1].conductance <= g) i++;
    const double a = d->state[i].conductance, b = d->state[i + 1].conductance;
    return (place){i, i + 1, (g - a) / (b - a), false};
}

/* (K3) Finds the place between times on a logarithmic axis. Before the first time it is
 * the first; after the last time the line through the last two is extrapolated, so that
 * part is above 1. */
static place place_time(const xb_device *d, double t)
{
    const int64_t last = d->times - 1;
    if (t <= d->time[0] || last == 0) return (place){0, 0, 0, t > d->time[0]};
    int64_t i = 0;
    while (i < last - 1 && d->time[i + 1] <= t) i++;
    const double a = log(d->time[i]), b = log(d->time[i + 1]);
    return (place){i, i + 1, (log(t) - a) / (b - a), t > d->time[last]};
}

static double along(place p, double low, double high)
{
    return low + p.part * (high - low);
}

/* The errors of the two ends are independent. */
static double error_along(place p, double low, double high)
{
    return hypot((1 - p.part) * low, p.part * high);
}

static xb_device_move between(place p, const xb_device_move *a, const xb_device_move *b)
{
    xb_device_move m = *a;
    m.extrapolated = a->extrapolated || p.outside;
    if (p.low == p.high) return m;
    m.shift = along(p, a->shift, b->shift);
    m.shift_error = error_along(p, a->shift_error, b->shift_error);
    m.spread = fmax(along(p, a->spread, b->spread), 0);
    m.spread_error = error_along(p, a->spread_error, b->spread_error);
    m.skewness = along(p, a->skewness, b->skewness);
    m.cells = 0;
    return m;
}

static xb_device_move at_state(const xb_device *d, place time, int64_t state)
{
    return between(time, &xb_device_node_at(d, state, time.low)->move,
                   &xb_device_node_at(d, state, time.high)->move);
}

xb_device_move xb_device_moved(const xb_device *d, double conductance, double seconds)
{
    if (!(seconds > 0) || d->states == 0) return (xb_device_move){0};
    const place state = place_state(d, conductance), time = place_time(d, seconds);
    const xb_device_move low = at_state(d, time, state.low);
    const xb_device_move high = at_state(d, time, state.high);
    return between(state, &low, &high);
}

double xb_device_program_error(const xb_device *d, double conductance)
{
    if (d->states == 0) return 0;
    const place p = place_state(d, conductance);
    return along(p, d->state[p.low].error, d->state[p.high].error); /* (K7) */
}

/* (K4) The standardised quantile of rank u at one node. */
static double quantile(const xb_device_node *node, double u)
{
    int k = 1;
    while (k < XB_DEVICE_RANKS - 1 && xb_device_rank[k] <= u) k++;
    const double a = xb_device_rank[k - 1], b = xb_device_rank[k];
    return node->shape[k - 1] + (u - a) / (b - a) * (node->shape[k] - node->shape[k - 1]);
}

/* Shapes are not extrapolated: beyond the last time the last shape is used. */
static double shape_between(const xb_device *d, place state, place time, double u)
{
    if (time.part > 1) time.part = 1;
    double end[2];
    for (int s = 0; s < 2; s++) {
        const int64_t i = s ? state.high : state.low;
        end[s] = along(time, quantile(xb_device_node_at(d, i, time.low), u),
                       quantile(xb_device_node_at(d, i, time.high), u));
    }
    return along(state, end[0], end[1]);
}

double xb_device_relaxed(const xb_device *d, double conductance, double seconds, double u)
{
    if (!(seconds > 0) || d->states == 0) return conductance;
    const xb_device_move m = xb_device_moved(d, conductance, seconds);
    const double z =
        shape_between(d, place_state(d, conductance), place_time(d, seconds), u);
    return fmax(conductance + m.shift + m.spread * z, 0);
}
