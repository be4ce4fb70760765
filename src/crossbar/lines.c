/* lines.c: voltage lost on the wires of a tile, to first order in the wire's resistance
 * (maths X9). Inputs enter at column 0, currents leave below the last row; G+, G- and the
 * noise devices are tiles of their own, with wires of their own. A cell loses what the
 * currents of its row drop on the way to it and those of its column on the way out, all
 * rows driven alike: the case in which columns lose most. Second-order terms are left
 * out: the loss of a current that is itself smaller for the loss; so the factor is
 * written 1 / (1 + loss), the same to first order, which stays between 0 and 1 and is
 * exact for a tile of one cell. How far off that is, is in docs/arrays.md: 0.1 % of a
 * difference of columns at a largest loss of 0.1, 2 % at 0.5, 32 % at 5. */
#include <math.h>
#include <string.h>

#include "crossbar/cells.h"

/* loss[i][j] += sum over k of (min(j, k) + 1) g[i][k], in O(columns) a row: what lies
 * beyond k flows through all of the wire up to k. */
static void row_losses(double *loss, const double *g, int64_t columns)
{
    double beyond = 0, sum = 0;
    for (int64_t k = 0; k < columns; k++) beyond += g[k];
    for (int64_t j = 0; j < columns; j++) {
        sum += beyond; /* the current in the piece of wire before cell j */
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
        sum += above; /* the current in the piece of wire below cell i */
        loss[i * loss_stride] += sum;
        above -= g[i * stride];
    }
}

typedef struct tile_part {
    int64_t row, column, rows, columns;
} tile_part;

/* Losses of `n` cells to their factors; the largest loss. */
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

/* Factors of one tile, whose rows are `stride` apart in `factor`; `ohm_us` is ohm times
 * 1e-6 S. The largest loss. */
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

/* The same for noise devices, which all conduct g_us on average: both sums in closed
 * form. */
static double noise_factor(tile_part t, int64_t i, int64_t j, double ohm_us, double g_us)
{
    const double w = (double)t.columns, h = (double)t.rows, x = (double)j, y = (double)i;
    const double row = x * (x + 1) / 2 + (w - x) * (x + 1);
    const double column = (h - y) * (y + 1) + (h - y - 1) * (h - y) / 2;
    return 1 / (1 + ohm_us * g_us * (row + column)); /* (X9) */
}

static double apply_tile(xb_cells *c, tile_part t, double ohm_us, double noise_us,
                         double *plus, double *minus)
{
    const double most = fmax(tile_factors(plus, t.columns, c->plus, c, t, ohm_us),
                             tile_factors(minus, t.columns, c->minus, c, t, ohm_us));
    for (int64_t i = 0; i < t.rows; i++)
        for (int64_t j = 0; j < t.columns; j++) {
            int64_t at = (t.row + i) * c->out + t.column + j, k = i * t.columns + j;
            c->plus[at] *= plus[k];
            c->minus[at] *= minus[k];
            if (c->width) c->width[at] *= noise_factor(t, i, j, ohm_us, noise_us);
        }
    return most;
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
            most = fmax(most, apply_tile(c, part_at(c, i, j), ohm_us, noise_us, room,
                                         room + c->rows * c->columns));
    return most;
}
