/* pieces.c: adaptive bisection of the quantile in s = sqrt(2 v); maths D6, D7.
 *
 * The density of a device law vanishes linearly at its edges, so the distance from the
 * edge is analytic in s and a few pieces suffice. Elsewhere (Gaussian tails, a density
 * that vanishes faster, a gap between modes), bisection continues towards the difficult
 * point: dyadic pieces resolve any power or logarithm. Nothing is cut off: below the
 * first piece (v < 2^-69, which no draw reaches) the law's own quantile is used.
 *
 * A piece is accepted when between its nodes |Q(G(u)) - u| <= 1.5e-15 (or a few
 * roundings of x, for steep laws) and also <= 1e-11 u. Measured over the test laws:
 * u-error at most 4e-15. */
#include "draw/pieces.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "draw/chebyshev.h"

enum { NODES = XB_PIECE_DEGREE + 1 };

static const double ABSOLUTE = 1.5e-15;
static const double RELATIVE = 1e-11;
static const double SMALLEST = 0x1p-34; /* the law's own quantile is used below this s */
/* A narrower piece is a chord, because u changes by less. */
static const double NARROWEST = 0x1p-50;

/* The origin of the piece's numbers: the edge while it is near (so that the distance
 * keeps its precision), zero otherwise. */
static double origin_of(const xb_law *law, bool upper, double to)
{
    xb_tail_point end = law->family->tail_quantile(law, 0.5 * to * to, upper);
    double edge = upper ? law->upper : law->lower;
    /* Whether the law computes the distance itself, not as a difference. */
    bool exact = law->family->noise == 0;
    return exact && isfinite(edge) && end.from_edge < fabs(end.x) ? edge : 0;
}

static double value_at(const xb_law *law, const xb_piece *piece, bool upper, double s)
{
    xb_tail_point p = law->family->tail_quantile(law, 0.5 * s * s, upper);
    if (piece->origin == 0) return p.x;
    return upper ? -p.from_edge : p.from_edge;
}

static void piece_fit(xb_piece *piece, const xb_law *law, bool upper)
{
    double node[NODES], value[NODES];
    xb_chebyshev_points(node, XB_PIECE_DEGREE);
    double half = 0.5 * (piece->to - piece->from), level = 0;
    for (int j = NODES - 1; j >= 0; j--) {
        double s = piece->middle + half * node[j];
        /* at s = 0 itself the limit of value / s: take it just beside */
        if (piece->times_s && j == 0) s = 0x1p-40 * piece->to;
        value[j] = value_at(law, piece, upper, s);
        if (piece->times_s) value[j] /= s;
        if (j == NODES - 1) level = value[j];
        /* what is left is small on a narrow piece, and so are its rounding errors, which
         * would otherwise never fall below the tolerance */
        value[j] -= level;
    }
    xb_chebyshev_powers(piece->coef, value, XB_PIECE_DEGREE);
    piece->coef[0] += level;
}

/* Finds the largest error in u between the nodes; stops early if it is too large. */
static bool piece_good(double *worst, const xb_piece *piece, const xb_law *law,
                       bool upper)
{
    static const double check[] = {-0.995, -0.93, -0.75, -0.4, 0.09, 0.5, 0.86, 0.985};
    double half = 0.5 * (piece->to - piece->from);
    *worst = 0;
    for (int j = 0; j < XB_COUNT(check); j++) {
        double s = piece->middle + half * check[j], v = 0.5 * s * s;
        double right = value_at(law, piece, upper, s);
        double x = piece->origin + right;
        double density = law->family->pdf(law, x);
        double error = density * fabs(xb_piece_value(piece, s) - right);
        /* No approximation can be better than this. */
        double rounding = density * 4 * DBL_EPSILON * fabs(right);
        *worst = fmax(*worst, error);
        double noise = law->family->noise > 0 ? fmax(law->family->noise, rounding) : 0;
        if (!(error <= fmax(fmax(ABSOLUTE, rounding), noise)) ||
            !(error <= fmax(RELATIVE * v, noise)))
            return false;
    }
    return true;
}

typedef struct piece_list {
    xb_ctx *ctx;
    xb_pieces *out;
    int64_t capacity;
} piece_list;

static xb_status piece_append(piece_list *list, const xb_piece *piece, double error)
{
    xb_pieces *p = list->out;
    if (p->n >= XB_PIECES_MAX)
        return xb_fail(list->ctx, XB_E_NUMERIC,
                       "the quantile of %s needs more than %d pieces",
                       xb_law_text(p->law), XB_PIECES_MAX);
    void *block = p->piece;
    XB_TRY(xb_grow(list->ctx, &block, &list->capacity, p->n + 1, sizeof *piece));
    p->piece = block;
    p->piece[p->n++] = *piece;
    p->u_error = fmax(p->u_error, error);
    return XB_OK;
}

/* Between two neighbouring doubles of u, or nearly, the piece joins the ends. */
static void piece_chord(xb_piece *piece, const xb_law *law, bool upper)
{
    double left = value_at(law, piece, upper, piece->from);
    double right = value_at(law, piece, upper, piece->to);
    for (int k = 0; k < NODES; k++) piece->coef[k] = 0;
    piece->coef[0] = 0.5 * (left + right);
    piece->coef[1] = 0.5 * (right - left);
}

static xb_status piece_split(piece_list *list, double from, double to)
{
    const xb_law *law = list->out->law;
    bool upper = list->out->upper;
    if (to <= SMALLEST) return XB_OK;
    double middle = 0.5 * (from + to);
    xb_piece piece = {.from = from,
                      .to = to,
                      .middle = middle,
                      .inverse_half = 2 / (to - from),
                      .origin = origin_of(law, upper, to)};
    piece.times_s = from == 0 && piece.origin != 0;
    double error = 0;
    if (to - from <= NARROWEST) {
        piece_chord(&piece, law, upper);
        return piece_append(list, &piece, error);
    }
    if (from > 0 || piece.times_s) {
        piece_fit(&piece, law, upper);
        if (piece_good(&error, &piece, law, upper))
            return piece_append(list, &piece, error);
    }
    XB_TRY(piece_split(list, from, middle));
    return piece_split(list, middle, to);
}

/* A law made from data is smooth only between its panels, so the search starts with
 * those. */
static xb_status split_panels(piece_list *list, double *edge, int64_t n)
{
    const xb_law *law = list->out->law;
    bool upper = list->out->upper;
    double from = 0;
    law->family->panels(law, edge, n);
    for (int64_t j = 1; j + 1 < n; j++) {
        double v = law->family->tail(law, edge[upper ? n - 1 - j : j], upper);
        double s = sqrt(2 * v);
        if (!(v < 0.5) || s >= 1) break;
        if (s - from <= NARROWEST) continue;
        XB_TRY(piece_split(list, from, s));
        from = s;
    }
    return piece_split(list, from, 1);
}

/* After all pieces are made: stores their ends behind them, and the index. */
static xb_status pieces_close(piece_list *list)
{
    xb_pieces *p = list->out;
    assert(p->n > 0); /* the last piece ends at 1 */
    void *block = p->piece;
    int64_t bytes = (int64_t)xb_pieces_bytes(p->n),
            room = list->capacity * (int64_t)sizeof(xb_piece);
    XB_TRY(xb_grow(list->ctx, &block, &room, bytes, 1));
    p->piece = block;
    double *end = (double *)(void *)(p->piece + p->n);
    for (int64_t i = 0; i < p->n; i++) end[i] = p->piece[i].to;
    for (int i = 0, at = 0; i < XB_PIECE_INDEX; i++) {
        while (p->piece[at].to <= (double)i / XB_PIECE_INDEX) at++;
        p->index[i] = (uint16_t)at;
    }
    return XB_OK;
}

xb_status xb_pieces_build(xb_ctx *ctx, xb_pieces *out, const xb_law *law, bool upper)
{
    xb_pieces p = {.law = law, .upper = upper};
    piece_list list = {ctx, &p, 0};
    xb_status status;
    if (law->family->from_data) {
        int64_t n = law->family->panels(law, NULL, 0);
        double *edge = xb_new(ctx, n, sizeof *edge);
        status = edge ? split_panels(&list, edge, n) : XB_E_MEMORY;
        free(edge);
    } else {
        status = piece_split(&list, 0, 1);
    }
    if (status == XB_OK) status = pieces_close(&list);
    if (status != XB_OK) {
        xb_pieces_free(&p);
        return status;
    }
    *out = p;
    return XB_OK;
}

void xb_pieces_free(xb_pieces *p)
{
    free(p->piece);
    p->piece = NULL;
    p->n = 0;
}

double xb_pieces_eval(const xb_pieces *p, double v)
{
    double s = sqrt(2 * v); /* (D6) */
    if (!(s >= p->piece[0].from))
        return p->law->family->tail_quantile(p->law, v, p->upper).x;
    return xb_pieces_value(p, s);
}
