/* plan_handle.c: plans as their users hold them. */
#include <stdlib.h>

#include "base/memory.h"
#include "plan/one_output.h"
#include "plan/plan.h"

/* One output of several: the plan of the net that makes it, its weights named as those of
 * the whole net. */
static xb_status fill_one(xb_ctx *ctx, xb_plan *plan, const xb_net *net,
                          const xb_weights *weights, const xb_real *x, const xb_law *law,
                          const xb_plan_options *opt)
{
    xb_plan_options chosen;
    xb_one_output one;
    XB_TRY(XB_OPTIONS_READ(ctx, plan, &chosen, opt, backend));
    XB_TRY(xb_one_output_make(ctx, &one, net, weights, chosen.output));
    xb_status status = xb_plan_fill(ctx, plan, one.net, &one.weights, x, law, &chosen);
    for (int i = 0; status == XB_OK && i < plan->weights; i++)
        plan->weight[i].element = xb_one_output_element(
            net, plan->weight[i].tensor, plan->weight[i].element, chosen.output);
    xb_one_output_free(&one);
    return status;
}

xb_status xb_plan_create(xb_ctx *ctx, xb_plan **out, const xb_net *net,
                         const xb_weights *weights, const xb_real *x, const xb_law *law,
                         const xb_plan_options *opt)
{
    xb_plan *plan = xb_new(ctx, 1, sizeof *plan);
    if (!plan) return XB_E_MEMORY;
    xb_status status = xb_one_output_needed(net)
                           ? fill_one(ctx, plan, net, weights, x, law, opt)
                           : xb_plan_fill(ctx, plan, net, weights, x, law, opt);
    if (status == XB_OK)
        *out = plan;
    else
        xb_plan_destroy(plan);
    return status;
}

void xb_plan_destroy(xb_plan *plan) { free(plan); }

xb_plan_verdict xb_plan_verdict_of(const xb_plan *plan) { return plan->verdict; }
xb_estimate xb_plan_predicted(const xb_plan *plan) { return plan->predicted; }
xb_estimate xb_plan_measured(const xb_plan *plan) { return plan->measured; }
bool xb_plan_trusted(const xb_plan *plan) { return plan->trusted; }
double xb_plan_n_eff(const xb_plan *plan) { return plan->n_eff; }
double xb_plan_n_eff_needed(const xb_plan *plan) { return plan->needed; }
double xb_plan_rule(const xb_plan *plan) { return plan->rule; }
double xb_plan_rule_part(const xb_plan *plan, int64_t order)
{
    return plan->by_cumulant[order];
}
int64_t xb_plan_layer_count(const xb_plan *plan) { return plan->layers; }
xb_plan_layer xb_plan_layer_at(const xb_plan *plan, int64_t i) { return plan->layer[i]; }
int64_t xb_plan_weight_count(const xb_plan *plan) { return plan->weights; }
xb_plan_weight xb_plan_weight_at(const xb_plan *plan, int64_t i)
{
    return plan->weight[i];
}
