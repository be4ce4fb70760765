/* draw_table.c: building and reading the float table; maths D8, D9.
 *
 * Cells are equal in s, so finding one costs a truncation; 32 floats are two vector
 * registers of AVX-512, and looking a coefficient up is one permutation. Each cell holds
 * the polynomial through Chebyshev-Lobatto points of the exact quantile (end points
 * included, so neighbours join), its coefficients rounded to float, the linear one
 * lowered by a few ulps where that is needed for the values to stay in order across the
 * join.
 *
 * The degree (3 to 7) and the number of cells (32 or 64) are the cheapest that
 * leave few slow cells: cells in which the float path would miss u by more than
 * 2.5e-7 (the far tail of a Gaussian, the jump between distant modes). */
#include "draw/draw_table.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "draw/chebyshev.h"

static const double U_ERROR_MAX = 2.5e-7;

enum { CHECKS = 24, SLOW = 150 };

float xb_table_value(const xb_draw_table *t, uint32_t word)
{
    float k = (float)(int32_t)(word & 0x7fffffffu);
    float q = sqrtf(fmaf(k, xb_table_slope(t->columns), xb_table_offset(t->columns)));
    int column = (int)q;
    float r = q - (float)column; /* exact */
    if (t->halves == 2 && word >> 31) column += t->columns;
    float y = t->coef[t->degree][column];
    for (int j = t->degree - 1; j >= 0; j--) y = fmaf(y, r, t->coef[j][column]);
    return word >> 31 ? -y : y;
}

/* The word whose tail mass is nearest to s^2 / 2. */
static uint32_t word_of(double s, bool upper)
{
    double k = floor(s * s * 0x1p31);
    if (k > 0x1p31 - 1) k = 0x1p31 - 1;
    return (uint32_t)k | (upper ? 0x80000000u : 0);
}

typedef struct table_maker {
    const xb_law *law;
    const xb_pieces *half;
    xb_affine affine;
} table_maker;

/* What the table holds at s: z, negated in the upper half; ascending in s. */
static double wanted(const table_maker *m, bool upper, double s)
{
    /* s = 0 is the edge, or minus infinity: stay off it, no word gets there */
    double v = fmax(0.5 * s * s, 0x1p-34);
    double z = (xb_pieces_eval(&m->half[upper], v) - m->affine.shift) * m->affine.inverse;
    return upper ? -z : z;
}

/* How far u is missed at a word, in units of what is allowed: U_ERROR_MAX, or the
 * rounding of a float where the law is so steep that no float does better. */
static double u_excess_at(double *error, const table_maker *m, const xb_draw_table *t,
                          uint32_t word)
{
    bool upper = word >> 31;
    float z = xb_table_value(t, word);
    double x = m->affine.shift + m->affine.scale * (double)z;
    double rounding =
        m->law->family->pdf(m->law, x) * m->affine.scale * fabs((double)z) * FLT_EPSILON;
    *error = fabs(m->law->family->tail(m->law, x, upper) - xb_word_mass(word));
    return *error / fmax(U_ERROR_MAX, rounding);
}

static void cell_fit(xb_draw_table *t, const table_maker *m, bool upper, int cell)
{
    double node[XB_TABLE_DEGREE_MAX + 1], value[XB_TABLE_DEGREE_MAX + 1];
    double power[XB_TABLE_DEGREE_MAX + 1], shifted[XB_TABLE_DEGREE_MAX + 1] = {0};
    int n = t->degree, column = cell + (upper ? t->columns : 0);
    xb_chebyshev_points(node, n);
    for (int j = 0; j <= n; j++)
        value[j] = wanted(m, upper, (cell + 0.5 * (1 + node[j])) / (t->columns - 1));
    xb_chebyshev_powers(power, value, n);
    /* from [-1, 1] to r in [0, 1]: Horner on polynomials in (2 r - 1) */
    for (int k = n; k >= 0; k--) {
        for (int i = n; i > 0; i--) shifted[i] = 2 * shifted[i - 1] - shifted[i];
        shifted[0] = power[k] - shifted[0];
    }
    shifted[0] = value[0];
    for (int k = 0; k <= n; k++) t->coef[k][column] = (float)shifted[k];
}

static float cell_end(const xb_draw_table *t, int column)
{
    float y = t->coef[t->degree][column];
    for (int k = t->degree - 1; k >= 0; k--) y = fmaf(y, 1, t->coef[k][column]);
    return y;
}

/* The cell must not end above where the next one starts. */
static void cell_close(xb_draw_table *t, int column, float next)
{
    while (cell_end(t, column) > next)
        t->coef[1][column] = nextafterf(t->coef[1][column], -INFINITY);
}

/* Share of draws in a cell: s^2 is uniform. */
static double cell_share(const xb_draw_table *t, int cell)
{
    double cells = t->columns - 1;
    return (2 * cell + 1) / (cells * cells) / t->halves;
}

static void cell_judge(xb_draw_table *t, const table_maker *m, bool upper, int cell)
{
    double worst = 0, excess = 0;
    for (int j = 0; j <= CHECKS; j++) {
        double s = (cell + (double)j / CHECKS) / (t->columns - 1), error;
        double e = u_excess_at(&error, m, t, word_of(s, upper));
        excess = e <= excess ? excess : e; /* a NAN gets through */
        worst = fmax(worst, error);
    }
    if (excess <= 1) {
        t->u_error = fmax(t->u_error, worst);
        return;
    }
    t->coef[0][cell + (upper ? t->columns : 0)] = NAN;
    t->slow_share += cell_share(t, cell);
}

static void table_fit(xb_draw_table *t, const table_maker *m)
{
    t->slow_share = 0;
    t->u_error = 0;
    for (int half = 0; half < t->halves; half++) {
        int first = half * t->columns, last = first + t->columns - 1;
        t->coef[0][last] = (float)wanted(m, half, 1); /* s = 1: the median */
        for (int column = last - 1; column >= first; column--) {
            cell_fit(t, m, half, column - first);
            cell_close(t, column, t->coef[0][column + 1]);
        }
        for (int cell = 0; cell < t->columns - 1; cell++) cell_judge(t, m, half, cell);
    }
}

/* Vector operations for sixteen draws: lookups and fused multiply-adds, and what
 * slow draws cost (measured: as much as SLOW operations each). */
static double table_cost(const xb_draw_table *t)
{
    int groups = t->columns * t->halves / 32;
    double lookup = 2 * groups - 1;
    return lookup * (t->degree + 1) + t->degree + 16 * t->slow_share * SLOW;
}

xb_status xb_table_build(xb_ctx *ctx, xb_draw_table *out, const xb_law *law,
                         const xb_pieces *half, xb_affine affine)
{
    (void)ctx;
    table_maker m = {law, half, affine};
    double best = INFINITY;
    static const struct {
        int columns, degree;
    } choice[] = {{32, 3}, {32, 4}, {32, 5}, {32, 6}, {32, 7}, {64, 5}, {64, 7}};
    for (int i = 0; i < XB_COUNT(choice); i++) {
        xb_draw_table t = {.columns = choice[i].columns,
                           .degree = choice[i].degree,
                           .halves = law->symmetric ? 1 : 2};
        if (best <= table_cost(&t)) break; /* even without slow cells no cheaper */
        table_fit(&t, &m);
        if (table_cost(&t) >= best) continue;
        best = table_cost(&t);
        memcpy(out, &t, sizeof t);
    }
    return XB_OK;
}
