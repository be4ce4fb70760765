/* repair.c: the repair of stuck devices before a chip is programmed, once a test has
 * found them: the partner of a stuck device is programmed so that their difference is
 * right (maths X52), and spare columns of a tile replace the columns with the worst
 * faults (X53). Spare columns have stuck devices too. */
#include <math.h>

#include "crossbar/cells.h"

typedef struct tile_part {
    int64_t row, column, rows, columns;
} tile_part;

/* A pair and a width as they will be, including stuck devices and repair. */
typedef struct cell {
    double plus, minus, width;
} cell;

static double partner(const xb_array *a, double g_us)
{
    return xb_level_nearest(g_us, a->g_min_us, a->g_max_us, a->mean_levels);
}

/* (X52) Sets the other device of a pair in which one is stuck; other pairs stay
 * unchanged. */
static void repair_pair(cell *x, const xb_array *a, double apart, bool plus, bool minus)
{
    if (!a->stuck_repair || plus == minus) return;
    if (plus)
        x->minus = partner(a, x->plus - apart);
    else
        x->plus = partner(a, x->minus + apart);
}

/* The cell in row i and column j of the matrix, on spare column `spare` of its tile or,
 * for -1, in its own column. */
static cell look(const xb_cells *c, const xb_array *a, const xb_chip *chip, int64_t i,
                 int64_t j, int32_t spare)
{
    const int64_t at = i * c->out + j;
    cell x = {c->plus[at], c->offset ? 0 : c->minus[at], c->width ? c->width[at] : 0};
    const double apart = x.plus - x.minus;
    const bool plus = xb_stuck_device(&x.plus, c, a, chip, XB_CHIP_STUCK_PLUS, at, spare);
    const bool minus = !c->offset && xb_stuck_device(&x.minus, c, a, chip,
                                                     XB_CHIP_STUCK_MINUS, at, spare);
    if (c->width)
        (void)xb_stuck_device(&x.width, c, a, chip, XB_CHIP_STUCK_WIDTH, at, spare);
    repair_pair(&x, a, apart, plus, minus);
    return x;
}

/* ---- spare columns */

/* The squared errors of a column's weights and standard deviations. */
static double harm(const xb_cells *c, const xb_array *a, const xb_chip *chip, tile_part t,
                   int64_t j, int32_t spare)
{
    const double mean = xb_cells_per_us(c, a);
    const double width = c->width && c->width_max > 0 ? c->sigma_top / c->width_max : 0;
    double sum = 0;
    for (int64_t i = t.row; i < t.row + t.rows; i++) {
        const int64_t at = i * c->out + j;
        const cell x = look(c, a, chip, i, j, spare);
        const double before = c->plus[at] - (c->offset ? 0 : c->minus[at]);
        const double moved = mean * (x.plus - x.minus - before);
        const double wider = c->width ? width * (x.width - c->width[at]) : 0;
        sum += moved * moved + wider * wider;
    }
    return sum;
}

/* The column of a tile with the largest harm that has no spare yet; -1: none. */
static int64_t worst(const double *harms, const int32_t *spare, tile_part t)
{
    int64_t at = -1;
    for (int64_t j = 0; j < t.columns; j++)
        if (spare[j] < 0 && harms[j] > 0 && (at < 0 || harms[j] > harms[at])) at = j;
    return at;
}

/* (X53) The first spare replaces the worst column if it is better, and so on. */
static void use_spares(xb_cells *c, const xb_array *a, const xb_chip *chip, tile_part t,
                       double *harms)
{
    int32_t *spare = c->spare + t.row / c->rows * c->out + t.column;
    for (int64_t j = 0; j < t.columns; j++)
        harms[j] = harm(c, a, chip, t, t.column + j, -1);
    for (int32_t k = 0; k < a->spare_columns; k++) {
        const int64_t j = worst(harms, spare, t);
        if (j < 0) return;
        if (harm(c, a, chip, t, t.column + j, k) < harms[j]) spare[j] = k;
    }
}

static void place_spares(xb_cells *c, const xb_array *a, const xb_chip *chip,
                         double *room)
{
    const int64_t tiles = (c->in + c->rows - 1) / c->rows;
    for (int64_t i = 0; i < tiles * c->out; i++) c->spare[i] = -1;
    if (a->spare_columns == 0) return;
    for (int64_t i = 0; i < c->in; i += c->rows)
        for (int64_t j = 0; j < c->out; j += c->columns) {
            const tile_part t = {i, j, c->in - i < c->rows ? c->in - i : c->rows,
                                 c->out - j < c->columns ? c->out - j : c->columns};
            use_spares(c, a, chip, t, room);
        }
}

void xb_cells_repair(xb_cells *c, const xb_array *a, const xb_chip *chip, double *room)
{
    if (!(a->stuck_low + a->stuck_high > 0)) return;
    place_spares(c, a, chip, room);
    if (!a->stuck_repair) return;
    for (int64_t i = 0; i < c->in; i++)
        for (int64_t j = 0; j < c->out; j++) {
            const int32_t spare = c->spare[i / c->rows * c->out + j];
            const cell x = look(c, a, chip, i, j, spare);
            c->plus[i * c->out + j] = x.plus;
            c->minus[i * c->out + j] = x.minus;
        }
}
