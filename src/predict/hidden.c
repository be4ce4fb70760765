/* hidden.c: draws of the activations below a net's last dense layer; maths E1.
 *
 * The net is cut before its last layer by its text; the parameter blocks of the remaining
 * net are the beginning of the whole net's. Every draw is an example with its own
 * weights, at a place in the stream that does not depend on the law, so that all laws use
 * the same words. */
#include "predict/hidden.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "backend/backend.h"

/* Training counts its steps from 0 and predictions use the last one; neither reaches
 * these. */
#define DENSITY_STEP (UINT32_MAX - 1)

xb_status xb_hidden_check(xb_ctx *ctx, const xb_net *net, const xb_weights *weights,
                          const char *backend)
{
    const xb_layer *last = &net->layer[net->n_layer - 1];
    if (last->kind != &xb_layer_dense || last->out.c != 1)
        return xb_fail(ctx, XB_E_ARGUMENT, "'%s': expected 'dense 1' as the last layer",
                       net->text);
    if (!net->tensor[last->tensor].stochastic)
        return xb_fail(ctx, XB_E_ARGUMENT, "the last kernel of '%s' is not random",
                       net->text);
    if (!weights->sigma) return xb_fail(ctx, XB_E_ARGUMENT, "random weights need sigma");
    const xb_backend *found = NULL;
    return xb_backend_open(ctx, &found, backend);
}

/* The layers below the last, with the same tensors random. */
static xb_status cut(xb_ctx *ctx, xb_hidden *h, const xb_net *net)
{
    char *text = xb_strdup(ctx, net->text);
    if (!text) return XB_E_MEMORY;
    *strrchr(text, ',') = '\0';
    xb_status status = xb_net_parse(ctx, &h->below, text, net->input, &net->opt);
    free(text);
    for (int i = 0; status == XB_OK && i < h->below->n_tensor; i++) {
        h->below->tensor[i].stochastic = net->tensor[i].stochastic;
        h->random |= net->tensor[i].stochastic;
    }
    return status;
}

xb_status xb_hidden_make(xb_ctx *ctx, xb_hidden *out, const xb_net *net,
                         const xb_weights *weights, const xb_real *x, uint64_t seed,
                         const char *backend)
{
    XB_TRY(xb_hidden_check(ctx, net, weights, backend));
    xb_hidden h = {.width = net->layer[net->n_layer - 1].in.c,
                   .weights = *weights,
                   .x = x,
                   .key = xb_key_make(seed, XB_PURPOSE_WEIGHT),
                   .backend = backend};
    if (net->n_layer > 1) XB_TRY(cut(ctx, &h, net));
    *out = h;
    return XB_OK;
}

void xb_hidden_free(xb_hidden *h)
{
    xb_net_destroy(h->below);
    *h = (xb_hidden){0};
}

xb_output_layer xb_output_layer_of(const xb_net *net, const xb_weights *weights)
{
    const xb_layer *last = &net->layer[net->n_layer - 1];
    const xb_tensor *kernel = &net->tensor[last->tensor], *bias = kernel + 1;
    xb_output_layer out = {.mu = weights->mu + kernel->offset,
                           .sigma = weights->sigma + kernel->offset};
    if (last->tensors < 2) return out;
    out.bias_mu = (double)weights->mu[bias->offset];
    if (bias->stochastic) out.bias_sigma = (double)weights->sigma[bias->offset];
    return out;
}

/* ---- drawing */

typedef struct hidden_run {
    const xb_hidden *hidden;
    xb_ctx *ctx;
    xb_pass *pass;
    xb_real *x; /* [XB_HIDDEN_BATCH][input] */
    xb_real *h; /* [XB_HIDDEN_BATCH][width], the last batch */
} hidden_run;

static xb_status make_pass(hidden_run *run)
{
    xb_pass_options opt = xb_pass_options_default();
    opt.backend = run->hidden->backend;
    opt.batch = XB_HIDDEN_BATCH;
    opt.gradients = false;
    opt.estimator = XB_ESTIMATOR_EXAMPLE;
    return xb_pass_create(run->ctx, &run->pass, run->hidden->below, &opt);
}

static xb_status fill_run(hidden_run *run, const xb_hidden *hidden)
{
    run->hidden = hidden;
    if (xb_ctx_create(&run->ctx) != XB_OK) return XB_E_MEMORY;
    xb_ctx_set_threads(run->ctx, 1);
    int64_t input =
        hidden->below ? xb_shape_size(xb_net_input(hidden->below)) : hidden->width;
    run->x = xb_new(run->ctx, XB_HIDDEN_BATCH * input, sizeof *run->x);
    run->h = xb_new(run->ctx, XB_HIDDEN_BATCH * hidden->width, sizeof *run->h);
    if (!run->x || !run->h) return XB_E_MEMORY;
    for (int64_t i = 0; i < XB_HIDDEN_BATCH; i++)
        memcpy(run->x + i * input, hidden->x, (size_t)input * sizeof *run->x);
    return hidden->below ? make_pass(run) : XB_OK;
}

static void close_run(void *arg)
{
    hidden_run *run = arg;
    if (!run) return;
    xb_pass_destroy(run->pass);
    xb_ctx_destroy(run->ctx);
    free(run->x);
    free(run->h);
    free(run);
}

static xb_status open_run(void **out, const void *self)
{
    hidden_run *run = xb_new(NULL, 1, sizeof *run);
    if (!run) return XB_E_MEMORY;
    xb_status status = fill_run(run, self);
    if (status == XB_OK)
        *out = run;
    else
        close_run(run);
    return status;
}

static xb_status draw(void *arg, const xb_real **h, int law, int block, int64_t first,
                      int64_t count)
{
    hidden_run *run = arg;
    const xb_hidden *hidden = run->hidden;
    *h = hidden->below ? run->h : run->x;
    if (!hidden->below) return XB_OK;
    const xb_noise noise = {.sampler = hidden->sampler[law],
                            .key = hidden->key,
                            .step = DENSITY_STEP,
                            .sample = (uint32_t)block,
                            .first = first};
    return xb_pass_forward(run->ctx, run->pass, run->h, run->x, count, &hidden->weights,
                           hidden->random ? &noise : NULL, XB_MODE_PREDICT);
}

xb_hidden_source xb_hidden_source_of(const xb_hidden *h)
{
    return (xb_hidden_source){
        .self = h, .width = h->width, .open = open_run, .close = close_run, .draw = draw};
}
