/* one_output.c: a net with several outputs as the net of one of them; maths A20. The
 * other outputs are ignored, because a plan concerns the law of one output. */
#include "plan/one_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/layer.h"

static const xb_layer *last_of(const xb_net *net)
{
    return &net->layer[net->n_layer - 1];
}

/* The same layers, the last with one output, the same tensors random. */
static xb_status narrow(xb_ctx *ctx, xb_net **out, const xb_net *net)
{
    const char *comma = strrchr(net->text, ',');
    const size_t size = strlen(net->text) + sizeof "dense 1 nobias";
    char *text = xb_new(ctx, (int64_t)size, 1);
    if (!text) return XB_E_MEMORY;
    snprintf(text, size, "%.*sdense 1%s", comma ? (int)(comma - net->text) + 2 : 0,
             net->text, last_of(net)->bias ? "" : " nobias");
    xb_status status = xb_net_parse(ctx, out, text, net->input, &net->opt);
    free(text);
    for (int i = 0; status == XB_OK && i < net->n_tensor; i++)
        (*out)->tensor[i].stochastic = net->tensor[i].stochastic;
    return status;
}

/* Column `output` of the tensors of the last layer, [in][outputs] and [outputs]; all of
 * the others. */
static void copy_weights(xb_real *to, const xb_real *from, const xb_net *one,
                         const xb_net *net, int64_t output)
{
    const int64_t outputs = last_of(net)->units;
    for (int t = 0; t < net->n_tensor; t++) {
        const xb_tensor *small = &one->tensor[t], *whole = &net->tensor[t];
        const bool last = whole->layer == net->n_layer - 1;
        for (int64_t i = 0; i < small->size; i++)
            to[small->offset + i] =
                from[whole->offset + (last ? i * outputs + output : i)];
    }
}

bool xb_one_output_needed(const xb_net *net)
{
    return last_of(net)->kind == &xb_layer_dense && last_of(net)->units > 1;
}

xb_status xb_one_output_make(xb_ctx *ctx, xb_one_output *out, const xb_net *net,
                             const xb_weights *weights, int64_t output)
{
    xb_one_output one = {0};
    if (output < 0 || output >= last_of(net)->units)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "output %lld of a net with %lld: expected 0 to %lld",
                       (long long)output, (long long)last_of(net)->units,
                       (long long)last_of(net)->units - 1);
    if (!weights->sigma) return xb_fail(ctx, XB_E_ARGUMENT, "random weights need sigma");
    XB_TRY(narrow(ctx, &one.net, net));
    const int64_t n = one.net->param_count;
    one.block = xb_new(ctx, 2 * n, sizeof *one.block);
    if (!one.block) {
        xb_one_output_free(&one);
        return XB_E_MEMORY;
    }
    copy_weights(one.block, weights->mu, one.net, net, output);
    copy_weights(one.block + n, weights->sigma, one.net, net, output);
    one.weights = (xb_weights){one.block, one.block + n, weights->state, NULL};
    *out = one;
    return XB_OK;
}

int64_t xb_one_output_element(const xb_net *net, int64_t tensor, int64_t element,
                              int64_t output)
{
    const bool last = net->tensor[tensor].layer == net->n_layer - 1;
    return last ? element * last_of(net)->units + output : element;
}

void xb_one_output_free(xb_one_output *one)
{
    xb_net_destroy(one->net);
    free(one->block);
}
