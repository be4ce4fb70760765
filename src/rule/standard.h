/* standard.h: what the files of rule/ share: room for a rule, weights from
 * their logarithms, and the standard rules with logarithmic weights. */
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

/* Zeroed room for n nodes and weights, 1 <= n. */
xb_status xb_rule_new(xb_ctx *ctx, xb_rule *out, int64_t n);

/* Weights in place from their logarithms. One too small for a double becomes
 * the smallest there is: weights of Gauss rules are positive, always. */
void xb_rule_weights_from_log(double *weights, int64_t n);

/* Fails with XB_E_ARGUMENT unless least <= n <= XB_RULE_MAX. */
xb_status xb_rule_check_count(xb_ctx *ctx, const char *what, int64_t n, int64_t least);

/* Nodes and logarithms of the weights in the rule's two arrays (Q2-Q5). */
xb_status xb_standard_log_rule(xb_ctx *ctx, xb_rule *out, xb_standard kind, int64_t n);

#endif
