/* quantile_fit.c: the quantile as one polynomial on half the range, three ways;
 * maths D1-D5. The paper's two (direct and corrected) are kept for comparison; draws use
 * pieces.c and draw_table.c.
 *
 * All three are Legendre expansions that interpolate at Gauss-Lobatto points:
 *   direct     G(v), v in [0, 1/2]: G has a square root at 0, error ~ n^-1
 *   corrected  G - G2, G2 = -1 + sqrt(2 v / K): v^{3/2} remains, error ~ n^-3,
 *              and useless where K is so small that G2 leaves the support
 *   spectral   G as a function of s = sqrt(2 v): analytic, error geometric
 * Quantile values at the points come from Brent's method. */
#include "study/quantile_fit.h"

#include <math.h>
#include <stdlib.h>

#include "crossbayes/extend.h"
#include "crossbayes/rule.h"
#include "study/brent.h"

enum { DEGREE_MAX = 200, CHECKS = 2000 };

struct xb_quantile_fit {
    xb_quantile_kind kind;
    int degree;
    double slope; /* the slope K */
    double u_error;
    double coef[]; /* [degree + 1], Legendre */
};

typedef struct quantile_target {
    const xb_law *law;
    double v;
} quantile_target;

static double excess_mass(const void *arg, double x)
{
    const quantile_target *at = arg;
    return xb_law_cdf(at->law, x) - at->v;
}

static double quantile_by_brent(const xb_law *law, double v)
{
    quantile_target at = {law, v};
    if (v <= 0) return xb_law_lower(law);
    return xb_brent(excess_mass, &at, xb_law_lower(law), 0, 1e-15);
}

/* (D3) The inverse of the distribution's second-order expansion at the edge. */
static double edge_expansion(double v, double slope) { return -1 + sqrt(2 * v / slope); }

/* The tail mass at a point y in [-1, 1] of the fitted variable. */
static double mass_at(xb_quantile_kind kind, double y)
{
    double r = 0.5 * (1 + y); /* [0, 1]: 2 v, or s */
    return kind == XB_QUANTILE_SPECTRAL ? 0.5 * r * r : 0.5 * r;
}

static double variable_of(xb_quantile_kind kind, double v)
{
    return kind == XB_QUANTILE_SPECTRAL ? 2 * sqrt(2 * v) - 1 : 4 * v - 1; /* (D4) */
}

/* Legendre coefficients of the interpolant at the Lobatto points. (D2) */
static void legendre_fit(double *coef, int degree, const xb_rule *lobatto,
                         const double *value)
{
    for (int k = 0; k <= degree; k++) coef[k] = 0;
    const double *node = xb_rule_nodes(lobatto), *weight = xb_rule_weights(lobatto);
    for (int64_t j = 0; j < xb_rule_count(lobatto); j++) {
        double older = 0, p = 1, x = node[j];
        for (int k = 0; k <= degree; k++) {
            double norm = k < degree ? k + 0.5 : 0.5 * degree; /* 1 / discrete norm */
            coef[k] += norm * weight[j] * value[j] * p;
            double next = ((2 * k + 1) * x * p - k * older) / (k + 1);
            older = p;
            p = next;
        }
    }
}

static double legendre_sum(const double *coef, int degree, double x)
{
    double older = 0, p = 1, sum = 0;
    for (int k = 0; k <= degree; k++) {
        sum += coef[k] * p;
        double next = ((2 * k + 1) * x * p - k * older) / (k + 1);
        older = p;
        p = next;
    }
    return sum;
}

double xb_quantile_fit_eval(const xb_quantile_fit *fit, double v)
{
    double x = legendre_sum(fit->coef, fit->degree, variable_of(fit->kind, v));
    return fit->kind == XB_QUANTILE_CORRECTED ? x + edge_expansion(v, fit->slope) : x;
}

double xb_quantile_fit_u_error(const xb_quantile_fit *fit) { return fit->u_error; }

/* Largest |Q(G(v)) - v| on a grid that is even in s, and how far G leaves [-1, 0]. */
static double judge(xb_quantile_fit *fit, const xb_law *law)
{
    double outside = 0;
    for (int j = 1; j <= CHECKS; j++) {
        double s = (double)j / CHECKS, v = 0.5 * s * s;
        double x = xb_quantile_fit_eval(fit, v);
        fit->u_error = fmax(fit->u_error, fabs(xb_law_cdf(law, x) - v));
        outside = fmax(outside, fmax(-1 - x, x));
    }
    return outside;
}

static xb_status make_fit(xb_ctx *ctx, xb_quantile_fit *fit, const xb_law *law)
{
    xb_rule *lobatto = NULL;
    XB_TRY(xb_rule_lobatto(ctx, &lobatto, fit->degree + 1));
    double *value = xb_new(ctx, xb_rule_count(lobatto), sizeof *value);
    if (value) {
        for (int64_t j = 0; j < xb_rule_count(lobatto); j++) {
            double v = mass_at(fit->kind, xb_rule_nodes(lobatto)[j]);
            value[j] = quantile_by_brent(law, v);
            if (fit->kind == XB_QUANTILE_CORRECTED)
                value[j] -= edge_expansion(v, fit->slope);
        }
        legendre_fit(fit->coef, fit->degree, lobatto, value);
    }
    xb_rule_destroy(lobatto);
    xb_status status = value ? XB_OK : XB_E_MEMORY;
    xb_free(value);
    return status;
}

/* The corrected fit is useless if the expansion that it subtracts leaves the support by
 * far, because no polynomial of reasonable degree compensates for that. */
static xb_status check_use(xb_ctx *ctx, const xb_quantile_fit *fit, const xb_law *law,
                           double outside)
{
    const double tolerance = 0.01;
    if (fit->kind != XB_QUANTILE_CORRECTED || outside <= tolerance) return XB_OK;
    return xb_fail(
        ctx, XB_E_NUMERIC,
        "%s: the corrected fit of degree %d leaves the support by %.3g (end slope"
        " K = %.3g is too small for it)",
        xb_law_text(law), fit->degree, outside, fit->slope);
}

xb_status xb_quantile_fit_create(xb_ctx *ctx, xb_quantile_fit **out, const xb_law *law,
                                 xb_quantile_kind kind, int degree, bool force)
{
    double slope = xb_law_number(law, "K");
    if (isnan(slope))
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "%s: quantiles by one polynomial are available for mtj and ecram only",
            xb_law_text(law));
    if (degree < 1 || degree > DEGREE_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a quantile fit of degree %d: expected 1 to %d", degree,
                       DEGREE_MAX);
    size_t size = sizeof(xb_quantile_fit) + (size_t)(degree + 1) * sizeof(double);
    xb_quantile_fit *fit = xb_new(ctx, 1, size);
    if (!fit) return XB_E_MEMORY;
    fit->kind = kind;
    fit->degree = degree;
    fit->slope = slope;
    xb_status status = make_fit(ctx, fit, law);
    double outside = status == XB_OK ? judge(fit, law) : 0;
    if (status == XB_OK && !force) status = check_use(ctx, fit, law, outside);
    if (status != XB_OK) {
        xb_free(fit);
        return status;
    }
    *out = fit;
    return XB_OK;
}

void xb_quantile_fit_destroy(xb_quantile_fit *fit) { xb_free(fit); }
