/* draw_table.c: building and reading the float table; maths D8, D9.
 *
 * Cells are equal in s, so finding one costs a truncation. A narrow table has 31 of
 * them: 32 floats are two vector registers of AVX-512, and looking a coefficient up is
 * one permutation. A wide one has 1023 cubics that stay in the first-level cache. Each
 * cell holds the polynomial through Chebyshev-Lobatto points of the exact quantile (end
 * points included, so neighbours join), with coefficients rounded to float; the linear
 * one is lowered by a few ulps if necessary to keep the values in order across the join.
 *
 * The degree (3 to 7) of a narrow table, or a wide one, is the cheapest by counted
 * operations, slow cells included: cells in which the float path would miss u by more
 * than 2.5e-7 (the far tail of a Gaussian, the gap between distant modes). */
#include "draw/draw_table.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "draw/chebyshev.h"

static const double U_ERROR_MAX = 2.5e-7;

enum { CHECKS = 24, CHECKS_WIDE = 4, CHECKS_GAP = 256, WIDE = 30, SLOW = 120 };

static float coef_of(const xb_draw_table *t, int power, int column)
{
    return t->columns == XB_COLUMNS_WIDE ? t->row[column][power] : t->coef[power][column];
}

static void coef_set(xb_draw_table *t, int power, int column, float value)
{
    if (t->columns == XB_COLUMNS_WIDE) {
        t->row[column][power] = value;
        return;
    }
    t->coef[power][column] = value;
    t->row[2 * column + power / 4][power % 4] = value;
}

static float polynomial(const xb_draw_table *t, int column, float r)
{
    int rows = t->columns == XB_COLUMNS_WIDE ? 1 : 2;
    return xb_polynomial(t->row[column * rows], t->degree, r);
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
    int gaps; /* between levels: the quantile jumps within a small part of a cell */
    double gap[2 * XB_LAW_MODES]; /* the values of s at which they are, in either half */
} table_maker;

/* Finds the point between two levels that is equally many widths away from both. */
static void find_gaps(table_maker *m)
{
    xb_law_mode mode[XB_LAW_MODES];
    int count = m->law->family->levels ? m->law->family->modes(m->law, mode) : 0;
    for (int i = 1; i < count; i++) {
        const xb_law_mode *a = &mode[i - 1], *b = &mode[i];
        double x = (a->mean * b->sd + b->mean * a->sd) / (a->sd + b->sd);
        double below = m->law->family->tail(m->law, x, false);
        m->gap[m->gaps++] = sqrt(2 * fmin(below, 1 - below));
    }
}

static int checks_of(const table_maker *m, const xb_draw_table *t, int cell)
{
    for (int i = 0; i < m->gaps; i++)
        if (fabs(m->gap[i] * (t->columns - 1) - cell - 0.5) < 1.5) return CHECKS_GAP;
    return t->columns == XB_COLUMNS_WIDE && m->gaps == 0 ? CHECKS_WIDE : CHECKS;
}

/* The value of the table at s: z, negated in the upper half; it ascends with s. */
static double wanted(const table_maker *m, bool upper, double s)
{
    /* s = 0 is the edge or minus infinity; no word gets there, so stay away from it */
    double v = fmax(0.5 * s * s, 0x1p-34);
    double z = (xb_pieces_eval(&m->half[upper], v) - m->affine.shift) * m->affine.inverse;
    return upper ? -z : z;
}

/* The error of u at a word, in units of the allowed error: U_ERROR_MAX, or the rounding
 * of a float if the law is so steep that no float is more accurate. */
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
    for (int k = 0; k <= n; k++) coef_set(t, k, column, (float)shifted[k]);
}

/* Makes sure that the cell does not end above the start of the next one. Steps double, so
 * there are few of them, and the total is less than twice the distance needed. */
static void cell_close(xb_draw_table *t, int column, float next)
{
    float slope = coef_of(t, 1, column), step = slope - nextafterf(slope, -INFINITY);
    for (; polynomial(t, column, 1) > next; step *= 2)
        coef_set(t, 1, column, slope - step);
}

/* The share of the draws in a cell; s^2 is uniform. */
static double cell_share(const xb_draw_table *t, int cell)
{
    double cells = t->columns - 1;
    return (2 * cell + 1) / (cells * cells) / t->halves;
}

static void cell_judge(xb_draw_table *t, const table_maker *m, bool upper, int cell)
{
    double worst = 0;
    bool good = true;
    int checks = checks_of(m, t, cell);
    for (int j = 0; good && j <= checks; j++) {
        double s = (cell + (double)j / checks) / (t->columns - 1), error;
        good = u_excess_at(&error, m, t, word_of(s, upper)) <= 1; /* false for a NAN */
        worst = fmax(worst, error);
    }
    if (good) {
        t->u_error = fmax(t->u_error, worst);
        return;
    }
    coef_set(t, 0, cell + (upper ? t->columns : 0), NAN);
    t->slow_share += cell_share(t, cell);
}

static void table_fit(xb_draw_table *t, const table_maker *m)
{
    t->slow_share = 0;
    t->u_error = 0;
    for (int half = 0; half < t->halves; half++) {
        int first = half * t->columns, last = first + t->columns - 1;
        /* s = 1 is the median; the rounding error of 0 differs from machine to machine */
        coef_set(t, 0, last, t->halves == 1 ? 0 : (float)wanted(m, half, 1));
        for (int column = last - 1; column >= first; column--) {
            cell_fit(t, m, half, column - first);
            cell_close(t, column, coef_of(t, 0, column + 1));
        }
        for (int cell = 0; cell < t->columns - 1; cell++) cell_judge(t, m, half, cell);
    }
}

/* The number of vector operations for sixteen draws: lookups and fused multiply-adds. By
 * measurement, a wide table costs as much as WIDE of them, and a slow draw as SLOW. */
static double table_cost(const xb_draw_table *t)
{
    double lookup = 2 * t->halves - 1;
    double fast =
        t->columns == XB_COLUMNS_WIDE ? WIDE : lookup * (t->degree + 1) + t->degree;
    return fast + 16 * t->slow_share * SLOW;
}

xb_status xb_table_build(xb_ctx *ctx, xb_draw_table *out, const xb_law *law,
                         const xb_pieces *half, xb_affine affine)
{
    (void)ctx;
    table_maker m = {.law = law, .half = half, .affine = affine};
    find_gaps(&m);
    double best = INFINITY;
    static const struct {
        int columns, degree;
    } choice[] = {{XB_COLUMNS, 3}, {XB_COLUMNS, 4}, {XB_COLUMNS, 5},
                  {XB_COLUMNS, 6}, {XB_COLUMNS, 7}, {XB_COLUMNS_WIDE, XB_WIDE_DEGREE}};
    for (int i = 0; i < XB_COUNT(choice); i++) {
        xb_draw_table t = {.columns = choice[i].columns,
                           .degree = choice[i].degree,
                           .halves = law->symmetric ? 1 : 2};
        /* It would not be cheaper even without slow cells. */
        if (best <= table_cost(&t)) continue;
        table_fit(&t, &m);
        if (table_cost(&t) >= best) continue;
        best = table_cost(&t);
        memcpy(out, &t, sizeof t);
    }
    return XB_OK;
}
