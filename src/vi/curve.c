/* curve.c: building the table of curve.h.
 *
 * Each of 512 equal buckets is halved where Hermite's quintic through value,
 * slope and curvature of its two ends misses the function in between. Smooth functions
 * need one piece per bucket, so that a look-up takes one index and one polynomial; at a
 * spike the pieces go down to its width. */
#include "vi/curve.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
    BUCKETS = 512,
    DEPTH_MAX = 40,
    ROUNDINGS = 32, /* relative to the coefficients' rounding: halving cannot reduce the
                       error further */
};

typedef struct building {
    xb_ctx *ctx;
    xb_curve_fn function;
    void *arg;
    double tolerance;
    xb_curve_piece *piece; /* grows */
    int64_t n, capacity;
} building;

/* Hermite's quintic on [a, b]. */
static xb_curve_piece quintic(double a, double b, xb_curve_point p, xb_curve_point q)
{
    double h = b - a;
    double v0 = p.value, v1 = q.value, d0 = h * p.slope, d1 = h * q.slope;
    double k0 = h * h * p.curvature, k1 = h * h * q.curvature;
    double rise = v1 - v0;
    return (xb_curve_piece){a,
                            1 / h,
                            {v0, d0, 0.5 * k0,
                             10 * rise - 6 * d0 - 4 * d1 - 1.5 * k0 + 0.5 * k1,
                             -15 * rise + 8 * d0 + 7 * d1 + 1.5 * k0 - k1,
                             6 * rise - 3 * (d0 + d1) - 0.5 * k0 + 0.5 * k1}};
}

/* For a smooth function the error is proportional to s^3 (1-s)^3: it is largest in the
 * middle, and its slope is largest near these two points. */
static bool good_enough(const building *b, const xb_curve_piece *p)
{
    static const double at[] = {0.27, 0.5, 0.73};
    for (int k = 0; k < XB_COUNT(at); k++) {
        double s = at[k], value = 0, slope = 0;
        for (int j = XB_CURVE_COEFFICIENTS - 1; j >= 0; j--) {
            slope = slope * s + value;
            value = value * s + p->c[j];
        }
        xb_curve_point is = b->function(b->arg, p->start + s / p->inverse_width);
        double noise = ROUNDINGS * DBL_EPSILON * (fabs(is.value) + fabs(p->c[0]));
        if (!(fabs(value - is.value) <= b->tolerance + noise) ||
            !(fabs(slope * p->inverse_width - is.slope) <=
              b->tolerance + noise * p->inverse_width))
            return false;
    }
    return true;
}

static xb_status add(building *b, double from, double to, xb_curve_point p,
                     xb_curve_point q, int depth)
{
    xb_curve_piece piece = quintic(from, to, p, q);
    double middle = 0.5 * (from + to);
    if (depth < DEPTH_MAX && middle > from && middle < to && !good_enough(b, &piece)) {
        xb_curve_point m = b->function(b->arg, middle);
        XB_TRY(add(b, from, middle, p, m, depth + 1));
        return add(b, middle, to, m, q, depth + 1);
    }
    XB_TRY(xb_grow(b->ctx, (void **)&b->piece, &b->capacity, b->n + 2, sizeof piece));
    b->piece[b->n++] = piece;
    b->piece[b->n].start = INFINITY;
    return XB_OK;
}

xb_status xb_curve_build(xb_ctx *ctx, xb_curve_table *out, xb_curve_fn function,
                         void *arg, double lower, double upper, double tolerance)
{
    building b = {.ctx = ctx, .function = function, .arg = arg, .tolerance = tolerance};
    xb_curve_table curve = {.lower = lower, .upper = upper, .buckets = BUCKETS};
    double width = (upper - lower) / BUCKETS;
    curve.buckets_per_unit = 1 / width;
    curve.first = xb_new(ctx, BUCKETS + 1, sizeof *curve.first);
    xb_status status = curve.first ? XB_OK : XB_E_MEMORY;
    xb_curve_point left = function(arg, lower);
    for (int k = 0; status == XB_OK && k < BUCKETS; k++) {
        double from = lower + k * width, to = k + 1 < BUCKETS ? from + width : upper;
        xb_curve_point right = function(arg, to);
        curve.first[k] = (int32_t)b.n; /* rounding of a position before `from` is
                                          harmless */
        status = add(&b, from, to, left, right, 0);
        left = right;
    }
    curve.piece = b.piece;
    curve.pieces = b.n;
    if (status != XB_OK) {
        xb_curve_free(&curve);
        return status;
    }
    curve.first[BUCKETS] = (int32_t)(b.n - 1);
    *out = curve;
    return XB_OK;
}

void xb_curve_free(xb_curve_table *curve)
{
    free(curve->first);
    free(curve->piece);
    *curve = (xb_curve_table){.first = NULL, .piece = NULL};
}
