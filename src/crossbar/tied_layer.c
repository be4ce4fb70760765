/* tied_layer.c: weights made of cells on an array (maths X30, X31). The noise is that of
 * the weight's own cells, so there is no device for its width: states, programming
 * errors, relaxation, stuck cells and wires change mean and width together. Each cell of
 * a weight is on a separate tile with separate wires. Settings of width devices (their
 * range, their states, stuck ones) do not apply. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crossbar/analog.h"
#include "vi/model.h"
#include "vi/weight_cells.h"

/* ---- where the range of the cells is on the array, uS */

typedef struct tied_scale {
    double low_us, us; /* conductance of the lowest state, and of one unit of a state */
} tied_scale;

/* Whether a model's cells are those of the device file's traces, in its unit. */
static bool is_of_device(const xb_cell_curve *c, const xb_device *d)
{
    const double slack = 1e-6 * c->span;
    const int64_t last = d ? xb_device_trace_count(d) - 1 : -1;
    return last > 0 && fabs(c->low - xb_device_trace_at(d, 0).conductance) <= slack &&
           fabs(c->low + c->span - xb_device_trace_at(d, last).conductance) <= slack;
}

/* (X31) */
static tied_scale scale_of(const xb_analog *analog)
{
    const xb_cell_curve *c = &analog->model->cells->curve;
    const xb_array *a = &analog->array;
    if (is_of_device(c, analog->device))
        return (tied_scale){analog->aged.us * c->low, analog->aged.us};
    return (tied_scale){a->g_min_us, (a->g_max_us - a->g_min_us) / c->span};
}

static double state_us(const tied_scale *s, const xb_cell_curve *c, double g)
{
    return s->low_us + s->us * (g - c->low);
}

static double us_state(const tied_scale *s, const xb_cell_curve *c, double g_us)
{
    return c->low + (g_us - s->low_us) / s->us;
}

xb_status xb_tied_suits(xb_ctx *ctx, const xb_analog *analog)
{
    const xb_cell_curve *c = &analog->model->cells->curve;
    const tied_scale s = scale_of(analog);
    /* slack, because the mean of a trace and that of its state's cells differ slightly */
    const double slack = is_of_device(c, analog->device) ? 0.01 * c->span : 0;
    xb_array as_cells = analog->array;
    if (analog->array.quiet_pairs > 0)
        return xb_fail(ctx, XB_E_INPUT,
                       "'quiet_pairs' is for pairs of mean devices, but the model's"
                       " weights are made of cells: their states were learnt");
    as_cells.g_min_us = state_us(&s, c, c->low + slack);
    as_cells.g_max_us = state_us(&s, c, c->low + c->span - slack);
    return xb_relax_check(ctx, &as_cells, &analog->aged);
}

/* ---- one cell of all weights of a layer */

/* The nearest of `levels` states of the range; any if 0. */
static double nearest(const xb_cell_curve *c, double g, int64_t levels)
{
    if (levels == 0) return g;
    const double step = c->span / (double)(levels - 1);
    return c->low + step * rint((g - c->low) / step);
}

/* Limits g to the range in which the cells' widths are known. */
static double inside(const xb_cell_curve *c, double g)
{
    return fmin(fmax(g, c->low), c->low + c->span);
}

/* (X5, X26) The programming error at a state, in the unit of states. */
static double missed(const xb_analog *analog, const tied_scale *s, double g)
{
    const xb_cell_curve *c = &analog->model->cells->curve;
    const double flat = analog->array.program_error * c->span;
    if (!(analog->array.program_by_state > 0)) return flat;
    return xb_program_error_us(&analog->array, &analog->aged, flat * s->us,
                               state_us(s, c, g)) /
           s->us;
}

/* Computes the states g [n] of cell k of a layer's weights from what the model wants. */
static void write_cell(double *g, const float *wanted, int64_t n, const xb_analog *analog,
                       const xb_chip *chip, int k)
{
    const xb_array *a = &analog->array;
    const xb_cell_curve *c = &analog->model->cells->curve;
    const tied_scale s = scale_of(analog);
    const bool misses = a->program_error > 0 || a->program_by_state > 0;
    const xb_stream stuck = xb_chip_at(chip, (xb_chip_stream)(XB_CHIP_TIED_STUCK + k));
    const xb_stream rank = xb_chip_at(chip, (xb_chip_stream)(XB_CHIP_TIED_RELAX + k));
    if (misses) xb_chip_normal(chip, (xb_chip_stream)(XB_CHIP_TIED + k), n);
    for (int64_t i = 0; i < n; i++) {
        double state = nearest(c, (double)wanted[i], a->mean_levels);
        if (misses) state += missed(analog, &s, state) * (double)chip->draws[i];
        state = inside(c, state);
        if (a->age_s > 0) /* (X21) */
            state = us_state(&s, c,
                             xb_relaxed_us(&analog->aged, state_us(&s, c, state),
                                           a->age_s, xb_stream_uniform(&rank, i)));
        const double u = xb_stream_uniform(&stuck, i);
        if (u < a->stuck_low)
            state = c->low;
        else if (u < a->stuck_low + a->stuck_high)
            state = c->low + c->span;
        g[i] = state;
    }
}

/* ---- a layer */

/* The cells of a layer's weights, [cells][weights] each. */
typedef struct tied_cells {
    double *g;      /* the states as programmed, aged and stuck */
    double *factor; /* the share of the voltage that the wires leave */
    double *us;     /* [weights], memory */
} tied_cells;

static xb_conduction most_of(xb_conduction a, xb_conduction b)
{
    return (xb_conduction){fmax(a.column_us, b.column_us), fmax(a.row_us, b.row_us)};
}

/* (X9) Applies the wires of the tile of cell k, and adds its conductance. */
static void wire_cell(const xb_analog *analog, tied_cells *t, xb_analog_layer *p, int k)
{
    const tied_scale s = scale_of(analog);
    const xb_cells shape = {.in = p->in,
                            .out = p->out,
                            .rows = p->rows,
                            .columns = p->columns,
                            .plus = t->us,
                            .minus = t->us};
    double *factor = t->factor + k * p->size;
    for (int64_t i = 0; i < p->size; i++) {
        t->us[i] = state_us(&s, &analog->model->cells->curve, t->g[k * p->size + i]);
        factor[i] = 1;
    }
    p->conduction = most_of(p->conduction, xb_cells_conduction(&shape));
    if (analog->array.line_ohm > 0)
        p->wire_loss =
            fmax(p->wire_loss, xb_line_factors(factor, t->us, &shape, &analog->array));
    for (int64_t i = 0; i < p->size; i++) p->conductance_us += factor[i] * t->us[i];
}

/* (X31) Mean and width of weight i. */
static void weigh(double *mu, double *sigma, const xb_analog *analog, const tied_cells *t,
                  int64_t n, int64_t i)
{
    const xb_cell_curve *c = &analog->model->cells->curve;
    const tied_scale s = scale_of(analog);
    double sum = -c->offset, square = 0;
    for (int k = 0; k < c->n; k++) {
        const double g = t->g[k * n + i], factor = t->factor[k * n + i];
        const double width = factor * xb_cell_width_at(c, inside(c, g)).value;
        sum +=
            c->sign[k] * (factor < 1 ? us_state(&s, c, factor * state_us(&s, c, g)) : g);
        square += width * width;
    }
    *mu = sum / c->scale;
    *sigma = sqrt(square) / c->scale;
}

static bool states_change(const xb_array *a)
{
    return a->mean_levels > 0 || a->program_error > 0 || a->program_by_state > 0 ||
           a->age_s > 0 || a->line_ohm > 0 || a->stuck_low + a->stuck_high > 0;
}

static void place_cells(xb_analog *analog, const xb_chip *chip, tied_cells *t,
                        xb_analog_layer *p)
{
    const xb_model *m = analog->model;
    const float *wanted = xb_model_cell_states(m, p->tensor);
    double mu, sigma;
    for (int k = 0; k < m->cells->curve.n; k++) {
        const int64_t at = k * p->size;
        write_cell(t->g + at, wanted + at, p->size, analog, chip, k);
        wire_cell(analog, t, p, k);
    }
    if (!states_change(&analog->array)) return; /* identical to the model's */
    for (int64_t i = 0; i < p->size; i++) {
        weigh(&mu, &sigma, analog, t, p->size, i);
        analog->mu[p->offset + i] = (float)mu;
        analog->sigma[p->offset + i] = (float)sigma;
    }
}

static xb_status write_cells(xb_ctx *ctx, xb_analog *analog, const xb_chip *chip,
                             xb_analog_layer *p)
{
    const int64_t n = analog->model->cells->curve.n * p->size;
    tied_cells t = {.g = xb_new(ctx, 2 * n + p->size, sizeof *t.g)};
    if (!t.g) return XB_E_MEMORY;
    t.factor = t.g + n;
    t.us = t.factor + n;
    place_cells(analog, chip, &t, p);
    free(t.g);
    return XB_OK;
}

/* (X7) Cells set to the same width have different ones. */
static void spread(xb_analog *analog, const xb_chip *chip, const xb_analog_layer *p)
{
    const double s = analog->array.sigma_spread;
    if (!(s > 0)) return;
    xb_chip_normal(chip, XB_CHIP_WIDTH, p->size);
    for (int64_t i = 0; i < p->size; i++)
        analog->sigma[p->offset + i] *=
            (float)exp(s * (double)chip->draws[i] - 0.5 * s * s);
}

xb_status xb_tied_programme(xb_ctx *ctx, xb_analog *analog, const xb_chip *chip,
                            xb_analog_layer *p)
{
    const xb_model *m = analog->model;
    p->weight_top = xb_largest_size(m->mu + p->offset, p->size);
    p->sigma_top = xb_largest_size(m->sigma + p->offset, p->size);
    XB_TRY(write_cells(ctx, analog, chip, p));
    spread(analog, chip, p);
    return analog->bend ? xb_shape_make(ctx, analog, chip, p) : XB_OK;
}
