/* outline.c: the parts of a plan that need no density: n_eff, the rule of thumb, and the
 * contributions of each layer and of the few largest weights; maths A1, A2. They follow
 * from the shares that shares.c measured. */
#include <math.h>

#include "net/layer.h"
#include "plan/plan.h"
#include "plan/shares.h"

double xb_weight_shares_rule(double part[XB_PLAN_ORDER + 1], const xb_charfn *law,
                             const double power[XB_PLAN_ORDER + 1])
{
    double sum = 0, factorial = 2;
    for (int n = 0; n < 3; n++) part[n] = 0;
    for (int n = 3; n <= XB_PLAN_ORDER; n++) {
        factorial *= n;
        double k = law->series[n] * factorial * power[n]; /* the output's cumulant */
        sum += part[n] = k * k / (2 * factorial);
    }
    return sum;
}

/* Sums of |a|^n over (sum of a^2)^(n / 2), a the root mean square. */
static void power_sums(double power[XB_PLAN_ORDER + 1], const xb_weight_shares *s,
                       double total)
{
    for (int n = 0; n <= XB_PLAN_ORDER; n++) power[n] = 0;
    for (int64_t k = 0; k < s->count; k++) {
        double a = sqrt(s->second[k] / total), term = a;
        for (int n = 1; n <= XB_PLAN_ORDER; n++, term *= a) power[n] += term;
    }
}

static double sum_of(const xb_weight_shares *s, int64_t from, int64_t to)
{
    double sum = 0;
    for (int64_t k = from; k < to; k++) sum += s->second[k];
    return sum;
}

/* (A1) Upper bound of the share of the variance; values above 1 are cut to 1. */
static double share_of(double second, double total) { return fmin(1, second / total); }

static void outline_layers(xb_plan *plan, const xb_net *net, const xb_weight_shares *s,
                           double total)
{
    for (int i = 0; i < net->n_layer; i++) {
        const xb_layer *layer = &net->layer[i];
        if (layer->tensors == 0) continue;
        const xb_tensor *first = &net->tensor[layer->tensor];
        const xb_tensor *last = first + layer->tensors - 1;
        if (!first->stochastic && !last->stochastic) continue;
        int64_t from = first->offset, to = last->offset + last->size;
        double sum = sum_of(s, from, to);
        plan->layer[plan->layers++] = (xb_plan_layer){
            .layer = i,
            .share = share_of(sum, total),
            .n_eff = sum > 0 ? xb_weight_shares_n_eff_of(s, from, to) : NAN};
    }
}

static void insert_weight(xb_plan *plan, xb_plan_weight w)
{
    int at = plan->weights < XB_PLAN_WEIGHTS ? plan->weights++ : XB_PLAN_WEIGHTS - 1;
    if (plan->weight[at].share > w.share) return;
    for (; at > 0 && plan->weight[at - 1].share < w.share; at--)
        plan->weight[at] = plan->weight[at - 1];
    plan->weight[at] = w;
}

static void outline_weights(xb_plan *plan, const xb_net *net, const xb_weight_shares *s,
                            double total)
{
    for (int t = 0; t < net->n_tensor; t++) {
        const xb_tensor *tensor = &net->tensor[t];
        for (int64_t i = 0; tensor->stochastic && i < tensor->size; i++)
            insert_weight(
                plan,
                (xb_plan_weight){t, i, share_of(s->second[tensor->offset + i], total)});
    }
}

xb_status xb_weight_shares_plan(xb_ctx *ctx, xb_plan *plan, const xb_net *net,
                                const xb_weights *weights, const xb_real *x,
                                const xb_charfn *law, const xb_plan_options *opt)
{
    xb_weight_shares shares;
    double power[XB_PLAN_ORDER + 1];
    XB_TRY(xb_weight_shares_make(ctx, &shares, net, weights, x, opt));
    double total = shares.variance;
    xb_status status = XB_OK;
    if (!(total > 0) || !isfinite(xb_weight_shares_n_eff(&shares))) {
        status = xb_fail(ctx, XB_E_ARGUMENT, "no random weight changes the output here");
    } else {
        plan->n_eff = xb_weight_shares_n_eff(&shares);
        power_sums(power, &shares, total);
        plan->rule = xb_weight_shares_rule(plan->by_cumulant, law, power);
        outline_weights(plan, net, &shares, total);
        outline_layers(plan, net, &shares, total);
    }
    xb_weight_shares_free(&shares);
    return status;
}
