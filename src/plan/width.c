/* width.c: how wide the hidden layers of a net must be for the law's shape not to
 * matter, for untrained nets, whose shares are all equal; maths A9. The search doubles
 * the width, then bisects; every try is a prediction (plan.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/layer.h"
#include "plan/plan.h"

enum { TRY_DRAWS = 8192 };

void xb_plan_equal_shares(const xb_net *net, xb_real *mu, xb_real *sigma)
{
    memset(mu, 0, (size_t)net->param_count * sizeof *mu);
    memset(sigma, 0, (size_t)net->param_count * sizeof *sigma);
    for (int t = 0; t < net->n_tensor; t++) {
        const xb_tensor *tensor = &net->tensor[t];
        int64_t inputs = xb_shape_size(net->layer[tensor->layer].in);
        for (int64_t i = 0; i < tensor->size; i++) {
            if (tensor->stochastic)
                sigma[tensor->offset + i] = (xb_real)(1 / sqrt((double)inputs));
            if (tensor->role == XB_ROLE_SCALE) mu[tensor->offset + i] = 1;
        }
    }
}

/* The net's text with every dense layer but the last of this width, and one output: with
 * equal shares all are alike. */
static xb_status widened(xb_ctx *ctx, char **out, const xb_net *net, int64_t width)
{
    size_t size = (size_t)net->n_layer * XB_LAYER_TEXT, used = 0;
    char *text = xb_new(ctx, (int64_t)size, 1);
    if (!text) return XB_E_MEMORY;
    for (int i = 0; i < net->n_layer; i++) {
        xb_layer layer = net->layer[i];
        if (layer.kind == &xb_layer_dense) layer.units = i + 1 < net->n_layer ? width : 1;
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 layer.kind->name);
        if (layer.kind->write) layer.kind->write(&layer, text + used, size - used);
        used = strlen(text);
    }
    *out = text;
    return XB_OK;
}

static xb_status predict(xb_ctx *ctx, xb_plan *plan, const xb_net *net, const xb_law *law,
                         const xb_plan_options *opt)
{
    int64_t inputs = xb_shape_size(net->input), n = net->param_count;
    xb_real *room = xb_new(ctx, 2 * n + inputs, sizeof *room);
    if (!room) return XB_E_MEMORY;
    xb_real *x = room + 2 * n;
    xb_plan_equal_shares(net, room, room + n);
    for (int64_t i = 0; i < inputs; i++) x[i] = 1;
    const xb_weights weights = {room, room + n, NULL, NULL};
    xb_status status = xb_plan_predict(ctx, plan, net, &weights, x, law, opt);
    free(room);
    return status;
}

static xb_status try_width(xb_ctx *ctx, xb_plan *plan, const xb_net *net, int64_t width,
                           const xb_law *law, const xb_plan_options *opt)
{
    char *text = NULL;
    xb_net *wide = NULL;
    XB_TRY(widened(ctx, &text, net, width));
    xb_status status = xb_net_parse(ctx, &wide, text, net->input, NULL);
    if (status == XB_OK) status = predict(ctx, plan, wide, law, opt);
    xb_net_destroy(wide);
    free(text);
    return status;
}

static xb_status search(xb_ctx *ctx, xb_plan_width *out, const xb_net *net,
                        const xb_law *law, const xb_plan_options *opt)
{
    xb_plan_width best = {0};
    int64_t low = 0, high = 0;
    for (int64_t width = 1; high - low != 1;) {
        xb_plan plan = {0};
        XB_TRY(try_width(ctx, &plan, net, width, law, opt));
        if (plan.trusted && plan.predicted.value <= opt->tolerance)
            high = width, best = (xb_plan_width){width, plan.predicted};
        else
            low = width;
        if (low == XB_PLAN_WIDEST) best = (xb_plan_width){0, plan.predicted};
        if (low == XB_PLAN_WIDEST || high == 1) break;
        width = high ? (low + high) / 2 : 2 * low;
    }
    *out = best;
    return XB_OK;
}

xb_status xb_plan_find_width(xb_ctx *ctx, xb_plan_width *out, const char *text,
                             int64_t inputs, const xb_law *law,
                             const xb_plan_options *opt)
{
    xb_plan_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, plan, &chosen, opt, backend));
    xb_net *net = NULL;
    chosen.weight_draws = 0; /* shares are not needed */
    if (chosen.draws > TRY_DRAWS) chosen.draws = TRY_DRAWS;
    XB_TRY(xb_net_parse(ctx, &net, text, (xb_shape){1, 1, inputs}, NULL));
    xb_status status = search(ctx, out, net, law, &chosen);
    xb_net_destroy(net);
    return status;
}
