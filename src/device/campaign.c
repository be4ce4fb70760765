/* campaign.c: makes the curves of a device from readings of many cells (maths K1).
 * Readings are sorted by cell and time to check them, then by state, time and distance
 * moved. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/relaxation.h"

enum { NODE_LEAST = 8 }; /* readings at a state and time, for a spread with an error */

typedef struct reading {
    double cell, state, time, value, programmed, moved;
    int64_t row;
} reading;

typedef struct readings {
    xb_ctx *ctx;
    reading *r;
    int64_t n;
    const char *source; /* "campaign.csv: ", or "" */
} readings;

void xb_device_options_init(xb_device_options *opt, size_t size)
{
    const xb_device_options standard = {.min_cells = 20, .unit = "S"};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

/* ---- order */

static int by_number(double a, double b) { return (a > b) - (a < b); }

static int by_cell(const void *left, const void *right)
{
    const reading *a = left, *b = right;
    int order = by_number(a->cell, b->cell);
    if (!order) order = by_number(a->time, b->time);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

static int by_place(const void *left, const void *right)
{
    const reading *a = left, *b = right;
    int order = by_number(a->state, b->state);
    if (!order) order = by_number(a->time, b->time);
    if (!order) order = by_number(a->moved, b->moved);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* ---- refused readings */

static xb_status refuse(const readings *all, int64_t row, const char *why)
{
    return xb_fail(all->ctx, XB_E_INPUT, "%sreading %lld: %s", all->source,
                   (long long)row + 1, why);
}

static xb_status refuse_number(const readings *all, int64_t row, const char *expected,
                               double number)
{
    return xb_fail(all->ctx, XB_E_INPUT, "%sreading %lld: expected %s, not %g",
                   all->source, (long long)row + 1, expected, number);
}

static xb_status copy_row(readings *all, const xb_campaign *c, int64_t i)
{
    const reading r = {
        .cell = c->cell[i],
        .state = c->state[i],
        .time = c->time[i],
        .value = c->value[i],
        .programmed = c->programmed ? c->programmed[i] : NAN,
        .row = i,
    };
    if (!isfinite(r.cell) || !isfinite(r.state))
        return refuse(all, i, "expected a number for the cell and one for its state");
    if (!(r.time >= 0 && isfinite(r.time)))
        return refuse_number(all, i, "a time of 0 s or more after programming", r.time);
    if (!(r.value >= 0 && isfinite(r.value)))
        return refuse_number(all, i, "a conductance of 0 or more", r.value);
    if (c->programmed && !(r.programmed >= 0 && isfinite(r.programmed)))
        return refuse_number(all, i, "a programmed conductance of 0 or more",
                             r.programmed);
    all->r[i] = r;
    return XB_OK;
}

/* Checks the readings of one cell in the order of time (one state, no time twice) and
 * sets their programmed conductance. */
static xb_status check_cell(readings *all, int64_t from, int64_t to)
{
    reading *r = all->r;
    for (int64_t i = from; i < to; i++) {
        if (isnan(r[i].programmed)) {
            if (r[from].time > 0)
                return refuse(all, r[i].row,
                              "its cell has neither a reading at time 0 nor a programmed "
                              "conductance");
            r[i].programmed = r[from].value;
        }
        if (i > from && r[i].time == r[i - 1].time)
            return refuse(all, r[i].row > r[i - 1].row ? r[i].row : r[i - 1].row,
                          "its cell has another reading at this time");
        if (r[i].state != r[from].state)
            return refuse(all, r[i].row,
                          "its cell was programmed to another state in another reading;"
                          " give each programming a number of its own");
        r[i].moved = r[i].value - r[i].programmed;
    }
    return XB_OK;
}

static xb_status check_cells(readings *all)
{
    qsort(all->r, (size_t)all->n, sizeof *all->r, by_cell);
    for (int64_t from = 0, to; from < all->n; from = to) {
        to = from + 1;
        while (to < all->n && all->r[to].cell == all->r[from].cell) to++;
        XB_TRY(check_cell(all, from, to));
    }
    return XB_OK;
}

/* ---- times and states */

typedef struct times {
    double at[XB_DEVICE_TIMES];
    int64_t n;
} times;

/* Lists the different times above 0 in ascending order. */
static xb_status find_times(const readings *all, times *out)
{
    for (int64_t i = 0; i < all->n; i++) {
        const double t = all->r[i].time;
        int64_t k = out->n;
        while (k > 0 && out->at[k - 1] > t) k--;
        if (t == 0 || (k > 0 && out->at[k - 1] == t)) continue;
        if (out->n == XB_DEVICE_TIMES)
            return xb_fail(all->ctx, XB_E_INPUT,
                           "%smore than %d different times: give each reading its "
                           "nominal time, the same for all cells",
                           all->source, XB_DEVICE_TIMES);
        memmove(&out->at[k + 1], &out->at[k], (size_t)(out->n - k) * sizeof *out->at);
        out->at[k] = t;
        out->n++;
    }
    if (out->n > 0) return XB_OK;
    return xb_fail(all->ctx, XB_E_INPUT,
                   "%sall readings are at time 0: they do not show what happens later",
                   all->source);
}

/* Readings [from, to) of one state, or of one state at one time. */
typedef struct span {
    int64_t from, to;
} span;

/* For readings sorted by place: the end of those that share the state and, if `time`, the
 * time. */
static int64_t span_end(const readings *all, int64_t from, bool time)
{
    const reading *r = all->r;
    int64_t to = from;
    while (to < all->n && r[to].state == r[from].state &&
           (!time || r[to].time == r[from].time))
        to++;
    return to;
}

/* The number of cells of a state at the time with the most readings. */
static int64_t count_cells(const readings *all, span state)
{
    int64_t most = 0;
    for (int64_t i = state.from, to; i < state.to; i = to) {
        to = span_end(all, i, true);
        if (to - i > most) most = to - i;
    }
    return most;
}

static bool state_is_known(const readings *all, span state, const times *when,
                           int64_t least)
{
    int64_t k = 0;
    for (int64_t i = state.from, to; i < state.to; i = to) {
        to = span_end(all, i, true);
        if (all->r[i].time == 0) continue;
        if (to - i < NODE_LEAST) return false;
        k++;
    }
    return k == when->n && count_cells(all, state) >= least;
}

/* ---- numbers */

static double mean_programmed(const readings *all, span s)
{
    double sum = 0;
    for (int64_t i = s.from; i < s.to; i++) sum += all->r[i].programmed;
    return sum / (double)(s.to - s.from);
}

/* (K1) The programmed conductances of a state, over its readings. */
static void describe_state(xb_device_state *out, const readings *all, span state)
{
    const double n = (double)(state.to - state.from), mean = mean_programmed(all, state);
    double square = 0;
    for (int64_t i = state.from; i < state.to; i++)
        square += pow(all->r[i].programmed - mean, 2);
    *out = (xb_device_state){.label = all->r[state.from].state,
                             .conductance = mean,
                             .error = sqrt(square / n),
                             .cells = count_cells(all, state)};
}

/* The value of rank u among n sorted readings, linear between them. */
static double rank_of(const reading *r, int64_t n, double u)
{
    const double at = u * (double)(n - 1);
    int64_t low = (int64_t)at;
    if (low > n - 2) low = n - 2;
    return r[low].moved + (at - (double)low) * (r[low + 1].moved - r[low].moved);
}

/* (K1) Computes one node from sorted readings; false: they are all the same. */
static bool describe_node(xb_device_node *out, const reading *r, int64_t n)
{
    double mean = 0, m[5] = {0};
    const double count = (double)n;
    for (int64_t i = 0; i < n; i++) mean += r[i].moved / count;
    for (int64_t i = 0; i < n; i++)
        for (int p = 2; p <= 4; p++) m[p] += pow(r[i].moved - mean, p) / count;
    const double sd = sqrt(m[2] * count / (count - 1));
    if (!(sd > 0)) return false;
    out->move = (xb_device_move){
        .shift = mean,
        .shift_error = sd / sqrt(count),
        .spread = sd,
        .spread_error = sd * sqrt(fmax(m[4] / (m[2] * m[2]) - 1, 0) / (4 * count)),
        .skewness = m[3] / pow(m[2], 1.5),
        .cells = n,
    };
    for (int k = 0; k < XB_DEVICE_RANKS; k++)
        out->shape[k] = rank_of(r, n, xb_device_rank[k]);
    return xb_device_shape_scale(out->shape);
}

static xb_status fill_state(const readings *all, xb_device *d, int64_t s, span state)
{
    describe_state(&d->state[s], all, state);
    d->cells += d->state[s].cells;
    int64_t k = 0;
    for (int64_t i = state.from, to; i < state.to; i = to) {
        to = span_end(all, i, true);
        if (all->r[i].time == 0) continue;
        if (!describe_node(xb_device_node_at(d, s, k), &all->r[i], to - i))
            return refuse(all, all->r[i].row,
                          "all cells of its state have moved by the same amount at this "
                          "time, which no measurement shows");
        k++;
    }
    return XB_OK;
}

/* ---- all of it */

typedef struct chosen {
    span state[XB_DEVICE_STATES];
    int64_t n, left_out, cells_left_out;
} chosen;

static xb_status choose_states(const readings *all, chosen *out, const times *when,
                               int64_t least)
{
    int64_t most = 0;
    for (int64_t from = 0, to; from < all->n; from = to) {
        to = span_end(all, from, false);
        const span state = {from, to};
        if (!state_is_known(all, state, when, least)) {
            const int64_t cells = count_cells(all, state);
            if (cells > most) most = cells;
            out->left_out++;
            out->cells_left_out += cells;
            continue;
        }
        if (out->n == XB_DEVICE_STATES)
            return xb_fail(all->ctx, XB_E_INPUT, "%smore than %d states", all->source,
                           XB_DEVICE_STATES);
        out->state[out->n++] = state;
    }
    if (out->n > 0) return XB_OK;
    return xb_fail(
        all->ctx, XB_E_INPUT,
        "%sno state has %lld cells and %d readings at each time; the largest has"
        " %lld %s",
        all->source, (long long)least, NODE_LEAST, (long long)most,
        xb_plural(most, "cell", "cells"));
}

/* Sorts the states by conductance, by insertion because there are few of them. */
static xb_status order_states(const readings *all, chosen *c)
{
    for (int64_t i = 1; i < c->n; i++)
        for (int64_t k = i; k > 0; k--) {
            const double low = mean_programmed(all, c->state[k - 1]);
            const double high = mean_programmed(all, c->state[k]);
            if (low < high) break;
            if (low == high)
                return xb_fail(all->ctx, XB_E_INPUT,
                               "%sstates %g and %g have the same conductance",
                               all->source, all->r[c->state[k - 1].from].state,
                               all->r[c->state[k].from].state);
            const span swap = c->state[k];
            c->state[k] = c->state[k - 1];
            c->state[k - 1] = swap;
        }
    return XB_OK;
}

static xb_status measure(readings *all, xb_device **out, const xb_device_options *opt)
{
    times when = {.n = 0};
    chosen c = {.n = 0};
    XB_TRY(check_cells(all));
    XB_TRY(find_times(all, &when));
    qsort(all->r, (size_t)all->n, sizeof *all->r, by_place);
    XB_TRY(choose_states(all, &c, &when, opt->min_cells));
    XB_TRY(order_states(all, &c));
    xb_device *d = NULL;
    XB_TRY(xb_device_new(all->ctx, &d, c.n, when.n, 0));
    memcpy(d->time, when.at, (size_t)when.n * sizeof *d->time);
    d->states_left_out = c.left_out;
    d->cells_left_out = c.cells_left_out;
    snprintf(d->unit, sizeof d->unit, "%s", opt->unit ? opt->unit : "");
    snprintf(d->source, sizeof d->source, "%s", opt->source ? opt->source : "");
    xb_status status = XB_OK;
    for (int64_t s = 0; s < c.n && status == XB_OK; s++)
        status = fill_state(all, d, s, c.state[s]);
    if (status == XB_OK)
        *out = d;
    else
        xb_device_destroy(d);
    return status;
}

xb_status xb_device_measure(xb_ctx *ctx, xb_device **out, const xb_campaign *campaign,
                            const xb_device_options *opt)
{
    xb_device_options chosen_opt;
    XB_TRY(XB_OPTIONS_READ(ctx, device, &chosen_opt, opt, source));
    if (campaign->n < 1) return xb_fail(ctx, XB_E_INPUT, "the campaign has no readings");
    if (chosen_opt.min_cells < NODE_LEAST)
        return xb_fail(ctx, XB_E_ARGUMENT, "min_cells is %lld, expected %d or more",
                       (long long)chosen_opt.min_cells, NODE_LEAST);
    char source[XB_DEVICE_TEXT + 2] = "";
    if (chosen_opt.source) snprintf(source, sizeof source, "%.255s: ", chosen_opt.source);
    readings all = {.ctx = ctx, .n = campaign->n, .source = source};
    all.r = xb_new(ctx, all.n, sizeof *all.r);
    xb_status status = all.r ? XB_OK : XB_E_MEMORY;
    for (int64_t i = 0; i < all.n && status == XB_OK; i++)
        status = copy_row(&all, campaign, i);
    if (status == XB_OK) status = measure(&all, out, &chosen_opt);
    free(all.r);
    return status;
}
