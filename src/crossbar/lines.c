/* lines.c: voltage lost on the wires of a tile, to first order in the wire's resistance
 * (maths X9). Inputs enter at column 0, currents leave below the last row; G+, G- and the
 * noise devices are on separate tiles with separate wires. A cell loses the voltage that
 * the currents of its row drop on the way to it and that those of its column drop on the
 * way out, with all rows driven alike, which is the case in which columns lose most.
 * Second-order terms (a current is itself smaller because of the loss) are left out;
 * therefore the factor is written 1 / (1 + loss), which is the same to first order, stays
 * between 0 and 1 and is exact for a tile of one cell. docs/arrays.md has the errors: 0.1
 * % of a difference of columns at a largest loss of 0.1, 2 % at 0.5, 32 % at 5. */
#include <math.h>
#include <string.h>

#include "crossbar/cells.h"

/* loss[i][j] += sum over k of (min(j, k) + 1) g[i][k], in O(columns) per row: the
 * currents of the cells beyond k flow through all of the wire up to k. */
static void row_losses(double *loss, const double *g, int64_t columns)
{
    double beyond = 0, sum = 0;
    for (int64_t k = 0; k < columns; k++) beyond += g[k];
    for (int64_t j = 0; j < columns; j++) {
        sum += beyond; /* the current in the segment of wire before cell j */
        loss[j] += sum;
        beyond -= g[j];
    }
}

/* loss[i][j] += sum over l of (rows - max(i, l)) g[l][j], from the last row upwards. */
static void column_losses(double *loss, const double *g, int64_t rows, int64_t stride,
                          int64_t loss_stride)
{
    double above = 0, sum = 0;
    for (int64_t l = 0; l < rows; l++) above += g[l * stride];
    for (int64_t i = rows; i-- > 0;) {
        sum += above; /* the current in the segment of wire below cell i */
        loss[i * loss_stride] += sum;
        above -= g[i * stride];
    }
}

typedef struct tile_part {
    int64_t row, column, rows, columns;
} tile_part;

/* Converts the losses of `n` cells to factors; returns the largest loss. */
static double losses_to_factors(double *factor, int64_t n, double ohm_us)
{
    double most = 0;
    for (int64_t j = 0; j < n; j++) {
        const double loss = ohm_us * factor[j];
        most = fmax(most, loss);
        factor[j] = 1 / (1 + loss); /* (X9) */
    }
    return most;
}

/* Computes the factors of one tile, whose rows are `stride` apart in `factor`; `ohm_us`
 * is ohm times 1e-6 S. Returns the largest loss. */
static double tile_factors(double *factor, int64_t stride, const double *g,
                           const xb_cells *c, tile_part t, double ohm_us)
{
    const double *at = g + t.row * c->out + t.column;
    for (int64_t i = 0; i < t.rows; i++) {
        memset(factor + i * stride, 0, (size_t)t.columns * sizeof *factor);
        row_losses(factor + i * stride, at + i * c->out, t.columns);
    }
    for (int64_t j = 0; j < t.columns; j++)
        column_losses(factor + j, at + j, t.rows, c->out, stride);
    double most = 0;
    for (int64_t i = 0; i < t.rows; i++)
        most = fmax(most, losses_to_factors(factor + i * stride, t.columns, ohm_us));
    return most;
}

/* The same for noise devices, which all conduct g_us on average, so that both sums have a
 * closed form. */
static double noise_factor(tile_part t, int64_t i, int64_t j, double ohm_us, double g_us)
{
    const double w = (double)t.columns, h = (double)t.rows, x = (double)j, y = (double)i;
    const double row = x * (x + 1) / 2 + (w - x) * (x + 1);
    const double column = (h - y) * (y + 1) + (h - y - 1) * (h - y) / 2;
    return 1 / (1 + ohm_us * g_us * (row + column)); /* (X9) */
}

/* Applies the wires to the part of g [in][out] that is on one tile. */
static double apply_wires(double *g, const xb_cells *c, tile_part t, double ohm_us,
                          double *factor)
{
    const double most = tile_factors(factor, t.columns, g, c, t, ohm_us);
    for (int64_t i = 0; i < t.rows; i++)
        for (int64_t j = 0; j < t.columns; j++)
            g[(t.row + i) * c->out + t.column + j] *= factor[i * t.columns + j];
    return most;
}

/* (X62) A reference column is a separate tile. */
static double apply_reference(xb_cells *c, tile_part t, double ohm_us, double *factor)
{
    xb_cells view = *c;
    view.out = xb_cells_across(c);
    const tile_part column = {t.row, t.column / c->columns, t.rows, 1};
    return apply_wires(c->minus, &view, column, ohm_us, factor);
}

static double apply_tile(xb_cells *c, tile_part t, double ohm_us, double noise_us,
                         double *room)
{
    const double plus = apply_wires(c->plus, c, t, ohm_us, room);
    const double minus = c->offset ? apply_reference(c, t, ohm_us, room)
                                   : apply_wires(c->minus, c, t, ohm_us, room);
    for (int64_t i = 0; i < t.rows && c->width; i++)
        for (int64_t j = 0; j < t.columns; j++)
            c->width[(t.row + i) * c->out + t.column + j] *=
                noise_factor(t, i, j, ohm_us, noise_us);
    return fmax(plus, minus);
}

/* The tile that begins at a row and a column; those at the edges are smaller. */
static tile_part part_at(const xb_cells *c, int64_t row, int64_t column)
{
    return (tile_part){row, column, c->in - row < c->rows ? c->in - row : c->rows,
                       c->out - column < c->columns ? c->out - column : c->columns};
}

double xb_line_factors(double *factor, const double *g_us, const xb_cells *c,
                       const xb_array *a)
{
    double most = 0;
    for (int64_t i = 0; i < c->in; i += c->rows)
        for (int64_t j = 0; j < c->out; j += c->columns)
            most = fmax(most, tile_factors(factor + i * c->out + j, c->out, g_us, c,
                                           part_at(c, i, j), a->line_ohm * 1e-6));
    return most;
}

double xb_cells_lines(xb_cells *c, const xb_array *a, double *room)
{
    const double ohm_us = a->line_ohm * 1e-6;
    const double noise_us = (double)a->cost.noise_cells * xb_array_noise_us(a);
    double most = 0;
    if (!(ohm_us > 0)) return 0;
    for (int64_t i = 0; i < c->in; i += c->rows)
        for (int64_t j = 0; j < c->out; j += c->columns)
            most = fmax(most, apply_tile(c, part_at(c, i, j), ohm_us, noise_us, room));
    return most;
}
