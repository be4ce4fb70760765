/* gaussrule.c: the Gauss rule of a law: recurrence.c for the coefficients,
 * base/gauss.h for nodes and weights; maths Q1, Q6, Q7. */
#include <stdlib.h>

#include "base/gauss.h"
#include "base/memory.h"
#include "rule/standard.h"

xb_status xb_rule_fill_gauss(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n,
                             xb_recurrence_method method)
{
    XB_TRY(xb_rule_check_count(ctx, "Gauss", n, 1));
    xb_rule rule = {0, NULL, NULL};
    double *alpha = xb_new(ctx, 2 * n, sizeof *alpha);
    if (!alpha) return XB_E_MEMORY;
    xb_status status = xb_rule_recurrence(ctx, alpha, alpha + n, law, n, method);
    if (status == XB_OK) status = xb_rule_new(ctx, &rule, n);
    if (status == XB_OK)
        status = xb_gauss(ctx, rule.nodes, rule.weights, alpha, alpha + n, n,
                          xb_law_is_symmetric(law));
    free(alpha);
    if (status != XB_OK) {
        xb_rule_free(&rule);
        return status;
    }
    xb_rule_weights_from_log(rule.weights, n);
    *out = rule;
    return XB_OK;
}
