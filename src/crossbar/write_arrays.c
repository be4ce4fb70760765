/* write_arrays.c: programs a model onto its arrays. For each layer the effects of
 * programming are applied in the order in which they happen: targets, states, repair,
 * programming errors, relaxation, stuck devices, widths that differ, heat, wires. Weights
 * in slices are programmed slice by slice. If no effect is on, the model's numbers stay
 * bit for bit the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbar/analog.h"
#include "vi/model.h"

xb_status xb_workbench_make(xb_ctx *ctx, xb_workbench *out, const xb_analog *analog)
{
    int64_t most = 0, tile = 0, columns = 0;
    for (int i = 0; i < analog->n_layer; i++) {
        const xb_analog_layer *p = &analog->layer[i];
        if (p->size > most) most = p->size;
        if (p->rows * p->columns > tile) tile = p->rows * p->columns;
        if (xb_row_tiles(p) * p->out > columns) columns = xb_row_tiles(p) * p->out;
    }
    xb_law *gaussian = NULL;
    XB_TRY(xb_law_parse(ctx, &gaussian, "gaussian"));
    xb_workbench bench = {.block = xb_new(ctx, 3 * most + tile, sizeof(double)),
                          .draws = xb_new(ctx, most, sizeof(float)),
                          .cells.spare = xb_new(ctx, columns, sizeof(int32_t))};
    xb_status status = bench.block && bench.draws && bench.cells.spare
                           ? xb_sampler_create(ctx, &bench.normal, gaussian, NULL)
                           : XB_E_MEMORY;
    xb_law_destroy(gaussian);
    if (bench.block) {
        bench.cells.plus = bench.block;
        bench.cells.minus = bench.block + most;
        bench.cells.width = bench.block + 2 * most;
        bench.tile = bench.block + 3 * most;
    }
    if (status == XB_OK)
        *out = bench;
    else
        xb_workbench_free(&bench);
    return status;
}

void xb_workbench_free(xb_workbench *bench)
{
    free(bench->block);
    free(bench->draws);
    free(bench->cells.spare);
    xb_sampler_destroy(bench->normal);
}

void xb_workbench_target(xb_workbench *bench, xb_cells *c, const xb_analog *analog,
                         const xb_analog_layer *p, int64_t slice)
{
    const xb_model *m = analog->model;
    *c = bench->cells;
    c->in = p->in, c->out = p->out;
    c->rows = p->rows, c->columns = p->columns;
    if (!m->net->tensor[p->tensor].stochastic || slice > 0) c->width = NULL;
    xb_cells_target(c, &analog->array, m->mu + p->offset, m->sigma + p->offset);
    xb_cells_slice(c, &analog->array, m->mu + p->offset, slice);
    if (analog->quiet.n > 0) xb_cells_quiet(c, &analog->quiet);
    xb_cells_levels(c, &analog->array);
}

/* Whether the devices will differ from the model's numbers. */
static bool means_change(const xb_array *a)
{
    return a->mean_levels > 0 || a->program_error > 0 || a->line_ohm > 0 ||
           a->stuck_low + a->stuck_high > 0 || a->age_s > 0 || a->quiet_pairs > 0 ||
           a->program_by_state > 0 || a->heated_k != 0 || a->offset_columns > 0;
}

static bool widths_change(const xb_array *a)
{
    return a->sigma_min_us > 0 || a->sigma_levels > 0 || a->sigma_spread > 0 ||
           a->line_ohm > 0 || a->stuck_low + a->stuck_high > 0 || a->heated_k != 0;
}

static double conductance_of(const xb_cells *c)
{
    double sum = 0;
    for (int64_t i = 0; i < c->in * c->out; i++)
        sum += c->plus[i] + (c->offset ? 0 : c->minus[i]);
    for (int64_t i = 0; c->offset && i < xb_cells_minus_count(c); i++) sum += c->minus[i];
    return sum;
}

/* Applies everything that happens to devices between their targets and a read. */
static void write_cells(xb_analog *analog, xb_workbench *bench, xb_analog_layer *p,
                        xb_cells *c, const xb_chip *chip)
{
    const xb_array *a = &analog->array;
    xb_cells_repair(c, a, chip, bench->tile);
    xb_cells_program(c, a, &analog->aged, chip);
    if (analog->device) xb_cells_relax(c, a, &analog->aged, chip);
    xb_cells_stuck(c, a, chip);
    xb_cells_spread(c, a, chip);
    xb_cells_heat(c, a, chip);
    const xb_conduction most = xb_cells_conduction(c);
    p->conduction.column_us = fmax(p->conduction.column_us, most.column_us);
    p->conduction.row_us = fmax(p->conduction.row_us, most.row_us);
    p->wire_loss = fmax(p->wire_loss, xb_cells_lines(c, a, bench->tile));
    p->conductance_us += conductance_of(c);
}

/* (X60) The slices after the first, which have no noise devices. */
static void programme_slices(xb_analog *analog, xb_workbench *bench, xb_analog_layer *p,
                             xb_chip chip, float *sigma)
{
    xb_cells c;
    for (int64_t k = 1; k < p->planes; k++) {
        chip.slice = (uint32_t)k;
        xb_workbench_target(bench, &c, analog, p, k);
        write_cells(analog, bench, p, &c, &chip);
        xb_plane_take(p, k, &c, &analog->array);
        if (analog->device) xb_cells_read_noise(&c, &analog->array, &analog->aged, sigma);
    }
}

static xb_status programme_layer(xb_ctx *ctx, xb_analog *analog, xb_workbench *bench,
                                 xb_analog_layer *p)
{
    const xb_array *a = &analog->array;
    const xb_chip chip = {.key = analog->chip,
                          .normal = bench->normal,
                          .tensor = (uint32_t)p->tensor,
                          .draws = bench->draws};
    if (analog->model->cells && analog->model->net->tensor[p->tensor].stochastic)
        return xb_tied_programme(ctx, analog, &chip, p);
    xb_cells c;
    xb_workbench_target(bench, &c, analog, p, 0);
    p->weight_top = c.weight_top;
    p->sigma_top = c.width ? c.sigma_top : 0;
    p->conduction = (xb_conduction){0, 0};
    p->wire_loss = p->conductance_us = 0;
    write_cells(analog, bench, p, &c, &chip);
    xb_cells_weights(&c, a, means_change(a) ? analog->mu + p->offset : NULL,
                     widths_change(a) ? analog->sigma + p->offset : NULL);
    float *sigma = c.width ? analog->sigma + p->offset : NULL;
    if (analog->device) xb_cells_read_noise(&c, a, &analog->aged, sigma);
    if (p->plane) {
        xb_plane_take(p, 0, &c, a);
        programme_slices(analog, bench, p, chip, sigma);
    }
    return c.width && analog->bend ? xb_shape_make(ctx, analog, &chip, p) : XB_OK;
}

xb_status xb_analog_programme(xb_ctx *ctx, xb_analog *analog)
{
    xb_workbench bench;
    XB_TRY(xb_workbench_make(ctx, &bench, analog));
    xb_status status = XB_OK;
    for (int i = 0; i < analog->n_layer && status == XB_OK; i++)
        status = programme_layer(ctx, analog, &bench, &analog->layer[i]);
    xb_workbench_free(&bench);
    return status;
}
