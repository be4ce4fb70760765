/* standard.c: the textbook rules, each a row of recurrence coefficients given
 * to the one Jacobi-matrix routine (base/gauss.h); maths Q2-Q5.
 *
 * Lobatto is Golub's (1973) change of the last coefficient, in closed form for
 * the Legendre weight, so that -1 and 1 become nodes.
 *
 * Against GSL's fixed-point rules, n <= 128: nodes within 2e-15 of the largest
 * node, weights within 2e-13 of the largest weight (GSL's share is in it). */
#include "rule/standard.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/gauss.h"
#include "base/memory.h"

void xb_rule_free(xb_rule *rule)
{
    free(rule->nodes);
    *rule = (xb_rule){0, NULL, NULL};
}

xb_status xb_rule_new(xb_ctx *ctx, xb_rule *out, int64_t n)
{
    double *block = xb_new(ctx, 2 * n, sizeof *block);
    if (!block) return XB_E_MEMORY;
    *out = (xb_rule){n, block, block + n};
    return XB_OK;
}

void xb_rule_weights_from_log(double *weights, int64_t n)
{
    for (int64_t i = 0; i < n; i++) weights[i] = fmax(exp(weights[i]), DBL_TRUE_MIN);
}

xb_status xb_rule_check_count(xb_ctx *ctx, const char *what, int64_t n, int64_t least)
{
    if (n >= least && n <= XB_RULE_MAX) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT, "a %s rule of %lld points: expected %lld to %d",
                   what, (long long)n, (long long)least, XB_RULE_MAX);
}

static void legendre(double *alpha, double *beta, int64_t n)
{
    (void)alpha;
    beta[0] = 2;
    for (int64_t k = 1; k < n; k++)
        beta[k] = 1 / (4 - 1.0 / ((double)k * (double)k)); /* (Q2) */
}

static void lobatto(double *alpha, double *beta, int64_t n)
{
    legendre(alpha, beta, n);
    beta[n - 1] = (double)(n - 1) / (double)(2 * n - 3); /* (Q3) */
}

static void laguerre(double *alpha, double *beta, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        alpha[k] = (double)(2 * k + 1);
        beta[k] = k > 0 ? (double)k * (double)k : 1; /* (Q4) */
    }
}

static void hermite(double *alpha, double *beta, int64_t n)
{
    (void)alpha;
    beta[0] = 1;
    for (int64_t k = 1; k < n; k++) beta[k] = (double)k; /* (Q5) */
}

static const struct {
    const char *name;
    void (*coefficients)(double *alpha, double *beta, int64_t n);
    int64_t least;
    bool symmetric;
} standards[] = {
    [XB_STANDARD_LEGENDRE] = {"Legendre", legendre, 1, true},
    [XB_STANDARD_LOBATTO] = {"Lobatto", lobatto, 2, true},
    [XB_STANDARD_LAGUERRE] = {"Laguerre", laguerre, 1, false},
    [XB_STANDARD_HERMITE] = {"Hermite", hermite, 1, true},
};

xb_status xb_standard_log_rule(xb_ctx *ctx, xb_rule *out, xb_standard kind, int64_t n)
{
    XB_TRY(xb_rule_check_count(ctx, standards[kind].name, n, standards[kind].least));
    xb_rule rule = {0, NULL, NULL};
    double *alpha = xb_new(ctx, 2 * n, sizeof *alpha);
    xb_status status = alpha ? xb_rule_new(ctx, &rule, n) : XB_E_MEMORY;
    if (status == XB_OK) {
        standards[kind].coefficients(alpha, alpha + n, n);
        status = xb_gauss(ctx, rule.nodes, rule.weights, alpha, alpha + n, n,
                          standards[kind].symmetric);
    }
    free(alpha);
    if (status != XB_OK) {
        xb_rule_free(&rule);
        return status;
    }
    *out = rule;
    return XB_OK;
}

static xb_status standard(xb_ctx *ctx, xb_rule *out, xb_standard kind, int64_t n)
{
    XB_TRY(xb_standard_log_rule(ctx, out, kind, n));
    xb_rule_weights_from_log(out->weights, n);
    return XB_OK;
}

xb_status xb_rule_fill_legendre(xb_ctx *ctx, xb_rule *out, int64_t n)
{
    return standard(ctx, out, XB_STANDARD_LEGENDRE, n);
}

xb_status xb_rule_fill_lobatto(xb_ctx *ctx, xb_rule *out, int64_t n)
{
    XB_TRY(standard(ctx, out, XB_STANDARD_LOBATTO, n));
    out->nodes[0] = -1; /* what the eigenvalues are to the last bit but one */
    out->nodes[n - 1] = 1;
    return XB_OK;
}

xb_status xb_rule_fill_laguerre(xb_ctx *ctx, xb_rule *out, int64_t n)
{
    return standard(ctx, out, XB_STANDARD_LAGUERRE, n);
}

xb_status xb_rule_fill_hermite(xb_ctx *ctx, xb_rule *out, int64_t n)
{
    return standard(ctx, out, XB_STANDARD_HERMITE, n);
}
