/* column_fit.c: a gain and an offset for each column of each tile (maths X50), as chips
 * calibrate their columns: known inputs are read, the digital sums of the same inputs are
 * known, and a straight line maps the reads onto them. The line is fitted to the reads as
 * a function of the digital sums, because only the reads have noise. In a Bayesian
 * network that noise is often larger than the signal of a column: the estimate of a
 * single column then says little, and is shrunk towards that of the tile, by an amount
 * that follows from its error and from the spread of the columns (estimated after
 * DerSimonian and Laird). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbar/columns.h"

xb_status xb_correction_make(xb_ctx *ctx, xb_correction *out, int64_t columns)
{
    float *block = xb_new(ctx, 3 * columns, sizeof *block);
    if (!block) return XB_E_MEMORY;
    *out = (xb_correction){block, block + columns, block + 2 * columns};
    for (int64_t i = 0; i < 2 * columns; i++) block[i] = 1;
    return XB_OK;
}

void xb_correction_free(xb_correction *c)
{
    free(c->pre);
    *c = (xb_correction){NULL, NULL, NULL};
}

xb_status xb_column_fit_make(xb_ctx *ctx, xb_column_fit *out, int64_t row_tiles,
                             int64_t outputs)
{
    xb_column_fit f = {.row_tiles = row_tiles, .outputs = outputs};
    f.cursor = xb_new(ctx, row_tiles, sizeof *f.cursor);
    f.wanted = xb_new(ctx, outputs, sizeof *f.wanted);
    f.given = xb_new(ctx, outputs, sizeof *f.given);
    f.sums = xb_new(ctx, row_tiles * outputs, sizeof *f.sums);
    f.estimate = xb_new(ctx, 3 * outputs, sizeof *f.estimate);
    if (!f.cursor || !f.wanted || !f.given || !f.sums || !f.estimate) {
        xb_column_fit_free(&f);
        return XB_E_MEMORY;
    }
    *out = f;
    return XB_OK;
}

void xb_column_fit_free(xb_column_fit *fit)
{
    free(fit->cursor);
    free(fit->wanted);
    free(fit->given);
    free(fit->sums);
    free(fit->estimate);
}

void xb_column_fit_start(xb_column_fit *fit, int64_t operation)
{
    fit->operation = operation;
    memset(fit->cursor, 0, (size_t)fit->row_tiles * sizeof *fit->cursor);
}

int64_t xb_column_fit_row(xb_column_fit *fit, int64_t tile, int64_t rows)
{
    const int64_t row = fit->operation - fit->cursor[tile];
    fit->cursor[tile] += rows;
    return row >= 0 && row < rows ? row : -1;
}

void xb_column_fit_add(xb_column_fit *fit, int64_t tile)
{
    xb_column_sums *s = fit->sums + tile * fit->outputs;
    for (int64_t j = 0; j < fit->outputs; j++, s++) {
        const double t = (double)fit->wanted[j], m = (double)fit->given[j];
        s->n += 1;
        s->t += t, s->m += m;
        s->tt += t * t, s->tm += t * m, s->mm += m * m;
    }
}

/* ---- (X50) */

/* The estimates of one tile's columns and the weight of each: 1 over its variance. */
typedef struct estimates {
    double *value, *weight;
    int64_t n;
} estimates;

static double mean_of(const estimates *e)
{
    double sum = 0, weight = 0;
    for (int64_t j = 0; j < e->n; j++)
        sum += e->weight[j] * e->value[j], weight += e->weight[j];
    return weight > 0 ? sum / weight : NAN;
}

/* The variance of the true values of the columns around `centre`; `fitted` parameters
 * were estimated from them. */
static double spread_of(const estimates *e, double centre, int fitted)
{
    double apart = 0, sum = 0, square = 0, n = 0;
    for (int64_t j = 0; j < e->n; j++) {
        const double w = e->weight[j];
        if (!(w > 0)) continue;
        apart += w * (e->value[j] - centre) * (e->value[j] - centre);
        sum += w, square += w * w, n++;
    }
    const double below = fitted ? sum - square / sum : sum;
    return n > fitted ? fmax((apart - (n - fitted)) / below, 0) : 0;
}

/* Shrinks each estimate towards the centre according to its weight. */
static void settle(const estimates *e, double centre, int fitted)
{
    const double spread = spread_of(e, centre, fitted);
    for (int64_t j = 0; j < e->n; j++) {
        const double own = e->weight[j] * spread; /* its weight, where the centre has the
                                                     weight 1 */
        e->value[j] = own > 0 ? (own * e->value[j] + centre) / (own + 1) : centre;
    }
}

/* A straight line m = level + slope t of one column. */
typedef struct column_line {
    double slope, signal, noise; /* S_tm/S_tt, S_tt, residual variance */
} column_line;

static column_line line_of(const xb_column_sums *s)
{
    const double n = fmax(s->n, 1), tt = s->tt - s->t * s->t / n;
    const double tm = s->tm - s->t * s->m / n, mm = s->mm - s->m * s->m / n;
    const double rounding = 1e-12; /* relative size of the rounding in a column that is
                                      always the same */
    if (!(tt > rounding * s->tt) || s->n < 3)
        return (column_line){.noise = fmax(mm, 0) / fmax(n - 1, 1)};
    const double rest = fmax(mm - tm * tm / tt, rounding * (mm + tm * tm / tt));
    return (column_line){tm / tt, tt, rest / (n - 2)};
}

/* Estimates the slopes of a tile; returns whether there are any. */
static bool settle_slopes(const estimates *e, const xb_column_sums *s)
{
    for (int64_t j = 0; j < e->n; j++) {
        const column_line line = line_of(&s[j]);
        e->value[j] = line.slope;
        e->weight[j] = line.signal > 0 ? line.signal / line.noise : 0;
    }
    const double centre = mean_of(e);
    if (!(centre > 0)) return false;
    settle(e, centre, 1);
    for (int64_t j = 0; j < e->n; j++) /* values beyond these are errors, not gains */
        e->value[j] = fmin(fmax(e->value[j], 0.5 * centre), 2 * centre);
    return true;
}

/* Estimates the mean of what is missing, t - gain m; it is 0 if there is no evidence of
 * offsets. */
static void settle_offsets(const estimates *e, const xb_column_sums *s,
                           const double *slope)
{
    for (int64_t j = 0; j < e->n; j++) {
        const double n = fmax(s[j].n, 1), noise = line_of(&s[j]).noise;
        e->value[j] = s[j].t / n - s[j].m / n / slope[j];
        e->weight[j] = noise > 0 ? n * slope[j] * slope[j] / noise : 0;
    }
    settle(e, 0, 0);
}

void xb_column_fit_solve(const xb_column_fit *fit, const xb_correction *out)
{
    const int64_t n = fit->outputs;
    const estimates slopes = {fit->estimate, fit->estimate + n, n};
    const estimates offsets = {fit->estimate + 2 * n, fit->estimate + n, n};
    for (int64_t tile = 0; tile < fit->row_tiles; tile++) {
        const xb_column_sums *s = fit->sums + tile * n;
        if (!settle_slopes(&slopes, s))
            for (int64_t j = 0; j < n; j++) slopes.value[j] = 1;
        settle_offsets(&offsets, s, slopes.value);
        for (int64_t j = 0, at = tile * n; j < n; j++, at++) {
            out->shift[at] = (float)offsets.value[j];
            out->post[at] = (float)((double)out->post[at] / slopes.value[j]);
        }
    }
}
