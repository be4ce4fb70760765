/* standard.h: helpers shared by the files of rule/: memory for a rule, weights from their
 * logarithms, and the standard rules with logarithmic weights. */
#ifndef XB_RULE_STANDARD_H
#define XB_RULE_STANDARD_H

#include "base/ctx.h"
#include "crossbayes/rule.h"

typedef enum xb_standard {
    XB_STANDARD_LEGENDRE,
    XB_STANDARD_LOBATTO,
    XB_STANDARD_LAGUERRE,
    XB_STANDARD_HERMITE
} xb_standard;

/* A rule as the library holds it: one block, owned by `nodes`. */
struct xb_rule {
    int64_t n;
    double *nodes;   /* [n] ascending */
    double *weights; /* [n] */
};

void xb_rule_free(xb_rule *rule); /* leaves an empty rule; empty is fine */

/* The rules of crossbayes/rule.h by value. */
xb_status xb_rule_fill_legendre(xb_ctx *ctx, xb_rule *out, int64_t n);
xb_status xb_rule_fill_lobatto(xb_ctx *ctx, xb_rule *out, int64_t n);
xb_status xb_rule_fill_laguerre(xb_ctx *ctx, xb_rule *out, int64_t n);
xb_status xb_rule_fill_hermite(xb_ctx *ctx, xb_rule *out, int64_t n);
xb_status xb_rule_fill_gauss(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                             xb_recurrence_method method);
xb_status xb_rule_fill_composite(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                                 xb_composite kind, const xb_composite_options *opt);

/* Zeroed room for n nodes and weights, 1 <= n. */
xb_status xb_rule_new(xb_ctx *ctx, xb_rule *out, int64_t n);

/* Weights in place from their logarithms. A weight too small for a double becomes the
 * smallest one, because weights of Gauss rules are always positive. */
void xb_rule_weights_from_log(double *weights, int64_t n);

/* Fails with XB_E_ARGUMENT unless least <= n <= XB_RULE_MAX. */
xb_status xb_rule_check_count(xb_ctx *ctx, const char *what, int64_t n, int64_t least);

/* Nodes and logarithms of the weights in the rule's two arrays (Q2-Q5). */
xb_status xb_standard_log_rule(xb_ctx *ctx, xb_rule *out, xb_standard kind, int64_t n);

#endif
