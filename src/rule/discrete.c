/* discrete.c: see discrete.h; maths Q6.
 *
 * A bounded law: Gauss-Legendre on its panels, cut further where a panel is much
 * longer than its neighbour (the far tail of a narrow peak). With `order` points and a
 * margin per panel it is exact for the polynomial times a piecewise cubic density with
 * two more points, and to rounding for the exponentials of the device laws with the
 * margin here (measured: doubling it changes no significant digit). `bimodal`: the union
 * of two Gauss-Hermite rules, exact with `order` points.
 *
 * Masses are kept as square roots and as logarithms: exp(-1000) is outside the range of a
 * double, yet polynomials of high order give weight even to that. */
#include "rule/discrete.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/gauss.h"
#include "base/memory.h"
#include "law/family.h"
#include "rule/standard.h"

enum { MARGIN = 64 }; /* points a panel beyond the order */

static xb_status discrete_new(xb_ctx *ctx, xb_discrete *out, int64_t points)
{
    int64_t n = (points + XB_DISCRETE_LANES - 1) / XB_DISCRETE_LANES * XB_DISCRETE_LANES;
    double *block = xb_new(ctx, 3 * n, sizeof *block);
    if (!block) return XB_E_MEMORY;
    *out = (xb_discrete){n, block, block + n, block + 2 * n};
    for (int64_t i = points; i < n; i++) out->log_root[i] = -INFINITY;
    return XB_OK;
}

void xb_discrete_free(xb_discrete *points)
{
    free(points->x);
    *points = (xb_discrete){0, NULL, NULL, NULL};
}

/* The edges of the panels that are integrated: all, or from 0 on. */
typedef struct edge_list {
    double *edge;
    int64_t n;
    int64_t capacity;
} edge_list;

static xb_status edge_add(xb_ctx *ctx, edge_list *list, double x)
{
    void *block = list->edge;
    XB_TRY(xb_grow(ctx, &block, &list->capacity, list->n + 1, sizeof *list->edge));
    list->edge = block;
    list->edge[list->n++] = x;
    return XB_OK;
}

/* Halves [from, to] until its pieces are no longer than GRADE times the panel
 * they touch; adds the inner points and `to`. */
static xb_status edge_cut(xb_ctx *ctx, edge_list *list, double from, double to,
                          double before, double after, int depth)
{
    enum { GRADE = 4 };
    double length = to - from, middle = from + 0.5 * length;
    if (depth == 0 || length <= GRADE * fmin(before, after))
        return edge_add(ctx, list, to);
    XB_TRY(edge_cut(ctx, list, from, middle, before, 0.5 * length, depth - 1));
    return edge_cut(ctx, list, middle, to, 0.5 * length, after, depth - 1);
}

static xb_status edges_grade(xb_ctx *ctx, edge_list *list, const double *edge, int64_t n)
{
    enum { DEPTH_MAX = 24 };
    XB_TRY(edge_add(ctx, list, edge[0]));
    for (int64_t j = 0; j + 1 < n; j++) {
        double before = j > 0 ? edge[j] - edge[j - 1] : INFINITY;
        double after = j + 2 < n ? edge[j + 2] - edge[j + 1] : INFINITY;
        XB_TRY(edge_cut(ctx, list, edge[j], edge[j + 1], before, after, DEPTH_MAX));
    }
    return XB_OK;
}

static xb_status edges_of(xb_ctx *ctx, edge_list *list, const xb_law *law)
{
    int64_t n = xb_law_panels(law, NULL, 0);
    double *edge = xb_new(ctx, n + 1, sizeof *edge);
    if (!edge) return XB_E_MEMORY;
    xb_law_panels(law, edge + 1, n);
    double *first = edge + 1;
    if (xb_law_is_symmetric(law)) {
        while (n > 0 && *first <= 0) first++, n--;
        *--first = 0; /* the half from 0 on */
        n++;
    }
    xb_status status = edges_grade(ctx, list, first, n);
    free(edge);
    return status;
}

/* A point of Lebesgue mass `weight`. */
static void put_point(xb_discrete *out, int64_t at, const xb_law *law, double x,
                      double weight)
{
    double mass = weight * xb_law_pdf(law, x);
    out->x[at] = x;
    out->log_root[at] = 0.5 * (log(weight) + xb_law_log_pdf(law, x));
    out->root[at] = mass > DBL_MIN ? sqrt(mass) : exp(out->log_root[at]);
}

static xb_status on_panels(xb_ctx *ctx, xb_discrete *out, const xb_law *law,
                           const edge_list *list, int64_t points)
{
    int64_t panels = list->n - 1;
    double *node = xb_new(ctx, 2 * points, sizeof *node);
    if (!node) return XB_E_MEMORY;
    double *weight = node + points;
    xb_status status = xb_gauss_legendre(ctx, node, weight, points);
    if (status == XB_OK) status = discrete_new(ctx, out, panels * points);
    for (int64_t j = 0; status == XB_OK && j < panels; j++) {
        double half = 0.5 * (list->edge[j + 1] - list->edge[j]);
        for (int64_t i = 0; i < points; i++)
            put_point(out, j * points + i, law, list->edge[j] + half * (1 + node[i]),
                      half * weight[i]);
    }
    free(node);
    return status;
}

/* On half an interval a polynomial of degree d oscillates as fast as one of degree d /
 * sqrt 2, so three quarters of the points suffice. */
static xb_status edges_halve(xb_ctx *ctx, edge_list *list, const edge_list *whole)
{
    for (int64_t j = 0; j < whole->n; j++) {
        if (j > 0)
            XB_TRY(edge_add(ctx, list, 0.5 * (whole->edge[j - 1] + whole->edge[j])));
        XB_TRY(edge_add(ctx, list, whole->edge[j]));
    }
    return XB_OK;
}

static xb_status by_panels(xb_ctx *ctx, xb_discrete *out, const xb_law *law,
                           int64_t order)
{
    edge_list whole = {NULL, 0, 0}, halves = {NULL, 0, 0};
    bool halve = order + MARGIN > XB_GAUSS_MAX;
    xb_status status = edges_of(ctx, &whole, law);
    if (status == XB_OK && halve) status = edges_halve(ctx, &halves, &whole);
    if (status == XB_OK)
        status = on_panels(ctx, out, law, halve ? &halves : &whole,
                           halve ? 3 * order / 4 + MARGIN : order + MARGIN);
    free(whole.edge);
    free(halves.edge);
    return status;
}

/* More points than `order` needs: Lanczos loses its orthogonality as it comes near their
 * number. */
static xb_status plenty(xb_ctx *ctx, xb_rule *out, xb_standard kind, int64_t order)
{
    int64_t points = order + order / 2 + MARGIN;
    if (points > XB_RULE_MAX) points = XB_RULE_MAX;
    return xb_standard_log_rule(ctx, out, kind, points);
}

/* A Gauss rule moved to `mean` and `sd`, from point `at` on. */
static void put_rule(xb_discrete *out, int64_t at, const xb_rule *rule, double mean,
                     double sd, double log_weight)
{
    for (int64_t i = 0; i < rule->n; i++) {
        out->x[at + i] = mean + sd * rule->nodes[i];
        out->log_root[at + i] = 0.5 * (rule->weights[i] + log_weight);
        out->root[at + i] = exp(out->log_root[at + i]);
    }
}

/* For a symmetric law only the modes above 0, and half of one at 0, because the rest are
 * mirror images. */
static int half_of(xb_law_mode *mode, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (mode[i].mean < 0 || (mode[i].mean == 0 && signbit(mode[i].mean))) continue;
        mode[kept] = mode[i];
        if (mode[i].mean == 0) mode[kept].weight *= 0.5;
        kept++;
    }
    return kept;
}

static xb_status by_modes(xb_ctx *ctx, xb_discrete *out, const xb_law *law, int64_t order)
{
    xb_law_mode mode[XB_LAW_MODES];
    int count = law->family->modes(law, mode);
    if (xb_law_is_symmetric(law)) count = half_of(mode, count);
    double largest = 0;
    for (int i = 0; i < count; i++) largest = fmax(largest, mode[i].weight);
    xb_rule hermite;
    XB_TRY(plenty(ctx, &hermite, XB_STANDARD_HERMITE, order));
    xb_status status = discrete_new(ctx, out, count * hermite.n);
    for (int i = 0; status == XB_OK && i < count; i++)
        put_rule(out, i * hermite.n, &hermite, mode[i].mean, mode[i].sd,
                 log(mode[i].weight / largest));
    xb_rule_free(&hermite);
    return status;
}

/* The half from 0 on. */
static xb_status by_laguerre(xb_ctx *ctx, xb_discrete *out, int64_t order)
{
    xb_rule laguerre;
    XB_TRY(plenty(ctx, &laguerre, XB_STANDARD_LAGUERRE, order));
    xb_status status = discrete_new(ctx, out, laguerre.n);
    if (status == XB_OK) put_rule(out, 0, &laguerre, 0, 1, 0);
    xb_rule_free(&laguerre);
    return status;
}

/* Where exp(-y^2 / 2) (sd^2 + x^2)^order is past its top and has fallen by exp(-80). */
static double steps_reach(const xb_law *law, int64_t order, double sign)
{
    const double fallen = 80, most = 1e4;
    double top = -INFINITY;
    for (double y = 1; y < most; y++) {
        double x = hypot(xb_law_sd(law), law->family->from_normal(law, sign * y));
        double size = -0.5 * y * y + 2 * (double)order * log(x);
        top = fmax(top, size);
        if (size < top - fallen) return y;
    }
    return most;
}

/* (Q13) Equal steps of the normal number y whose function x is: x(y) is analytic within
 * a distance of 1 from the line, where the square of a polynomial of this order grows no
 * faster than exp(2 |Im y| turn). */
static xb_status by_steps(xb_ctx *ctx, xb_discrete *out, const xb_law *law, int64_t order)
{
    const double width = 0.9, depth = 42; /* exp(-42) = 6e-19 */
    double reach[2] = {steps_reach(law, order, -1), steps_reach(law, order, 1)};
    double turn = 2 * sqrt(2 * (double)order) * (1 + fmax(reach[0], reach[1]) / 20);
    double step = 2 * M_PI * width / (depth + 2 * width * turn);
    bool half = xb_law_is_symmetric(law);
    int64_t below = half ? 0 : (int64_t)ceil(reach[0] / step);
    int64_t n = below + (int64_t)ceil(reach[1] / step);
    XB_TRY(discrete_new(ctx, out, n));
    for (int64_t i = 0; i < n; i++) {
        double y = ((double)(i - below) + 0.5) * step;
        out->x[i] = law->family->from_normal(law, y);
        out->log_root[i] = -0.25 * y * y;
        out->root[i] = exp(out->log_root[i]);
    }
    return XB_OK;
}

xb_status xb_discrete_make(xb_ctx *ctx, xb_discrete *out, const xb_law *law,
                           int64_t order)
{
    if (law->family->modes) return by_modes(ctx, out, law, order);
    if (law->family->two_sided) return by_laguerre(ctx, out, order);
    if (law->family->from_normal) return by_steps(ctx, out, law, order);
    return by_panels(ctx, out, law, order);
}
