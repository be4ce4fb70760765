/* crossbayes/rule.h: quadratures. A rule is nodes and weights with
 *     sum_i weight[i] f(node[i])  ~  integral of f against the rule's measure.
 *
 * For rules made from a law the measure is the law itself, so the sum is an
 * expectation; the weights of a Gauss rule then add up to 1.
 */
#ifndef CROSSBAYES_RULE_H
#define CROSSBAYES_RULE_H

#include "crossbayes/law.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xb_rule xb_rule;

XB_API void xb_rule_destroy(xb_rule *rule); /* NULL is fine */
XB_API int64_t xb_rule_count(const xb_rule *rule);
/* The nodes [count], ascending, and their weights [count]; borrowed from the rule. */
XB_API const double *xb_rule_nodes(const xb_rule *rule);
XB_API const double *xb_rule_weights(const xb_rule *rule);

#define XB_RULE_MAX 4096

/* The standard rules (Q2-Q5), n >= 1 (Lobatto n >= 2).
 * Legendre and Lobatto on [-1, 1] with weight 1, Laguerre on [0, inf) with
 * exp(-x), Hermite with the standard normal density (weights add up to 1). */
XB_API xb_status xb_rule_legendre(xb_ctx *ctx, xb_rule **out, int64_t n);
XB_API xb_status xb_rule_lobatto(xb_ctx *ctx, xb_rule **out, int64_t n);
XB_API xb_status xb_rule_laguerre(xb_ctx *ctx, xb_rule **out, int64_t n);
XB_API xb_status xb_rule_hermite(xb_ctx *ctx, xb_rule **out, int64_t n);

/* How the recurrence coefficients of a law are computed. WHEELER is the paper's method,
 * from raw moments: it breaks down at n of about 10 to 30 and then fails with
 * XB_E_NUMERIC. STABLE is a discretised Lanczos procedure on the law's panels, accurate
 * up to n = 256 and beyond. */
typedef enum xb_recurrence_method {
    XB_RECURRENCE_STABLE = 0,
    XB_RECURRENCE_WHEELER = 1
} xb_recurrence_method;

/* "stable", "wheeler" */
XB_API const char *xb_recurrence_method_name(xb_recurrence_method method);
XB_API xb_status xb_recurrence_method_parse(xb_ctx *ctx, xb_recurrence_method *out,
                                            const char *text);

/* The largest number of points that a Gauss rule of the law can have: XB_RULE_MAX, or
 * fewer if high moments do not exist. n points need moments up to 2n - 2, so `student`
 * allows only n < (nu + 2) / 2.
 */
XB_API int64_t xb_rule_gauss_max(const xb_law *law);

/* The Gauss rule with the law as weight, exact for polynomials up to degree 2n - 1. Two
 * points give any Gaussian cross entropy exactly (Q7). XB_E_INPUT beyond
 * xb_rule_gauss_max(). */
XB_API xb_status xb_rule_gauss(xb_ctx *ctx, xb_rule **out, const xb_law *law, int64_t n,
                               xb_recurrence_method method);

/* alpha[0..n-1], beta[0..n-1] of the monic polynomials orthogonal under the
 * law; beta[0] = 1. */
XB_API xb_status xb_rule_recurrence(xb_ctx *ctx, double *alpha, double *beta,
                                    const xb_law *law, int64_t n,
                                    xb_recurrence_method method);

/* Composite rules for expectations E[f] under the law of functions that are not smooth.
 *
 * - SPLIT: Gauss-Legendre on both sides of a peak at 0, and the trapezoid rule across it
 * (bounded laws; the options set its width)
 * - LAGUERRE: two-sided Gauss-Laguerre, for laws on the real line
 * - LEGENDRE: plain Gauss-Legendre over the support, across any kink
 * - HERMITE: plain Gauss-Hermite, reweighted, for laws on the real line
 * - MODES: Gauss-Hermite around each mode of `bimodal` or `levels`
 * - TRAPEZOID: equidistant over the effective support (spectral for smooth laws on the
 * real line)
 * - SMOOTH: the law's panels, with the ends mapped by x = edge -+ v^2 so that q log q is
 * smooth; this is the recommended rule
 *
 * `n` is the requested total number of points; xb_rule_count() is the number used. */
typedef enum xb_composite {
    XB_COMPOSITE_SPLIT,
    XB_COMPOSITE_LAGUERRE,
    XB_COMPOSITE_LEGENDRE,
    XB_COMPOSITE_HERMITE,
    XB_COMPOSITE_MODES,
    XB_COMPOSITE_TRAPEZOID,
    XB_COMPOSITE_SMOOTH
} xb_composite;

/* "split", "laguerre", ... */
XB_API const char *xb_composite_name(xb_composite kind);
XB_API xb_status xb_composite_parse(xb_ctx *ctx, xb_composite *out, const char *text);

typedef struct xb_composite_options {
    size_t struct_size;
    double epsilon;           /* SPLIT: half-width of the trapezoid, 0.01 */
    int64_t trapezoid_points; /* SPLIT: points in it, 2 */
} xb_composite_options;

XB_OPTIONS(composite);
XB_API xb_status xb_rule_composite(xb_ctx *ctx, xb_rule **out, const xb_law *law,
                                   int64_t n, xb_composite kind,
                                   const xb_composite_options *opt);

/* Expectations by a rule of the law. */
XB_API double xb_rule_expect(const xb_rule *rule, double (*f)(void *arg, double x),
                             void *arg);
XB_API double xb_rule_variance(const xb_rule *rule);
/* KL(law || N(mean, sd^2)), nats. */
XB_API double xb_rule_kl_gaussian(const xb_rule *rule, const xb_law *law, double mean,
                                  double sd);

#ifdef __cplusplus
}
#endif
#endif
