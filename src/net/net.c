/* net.c: the table of layers and the public functions of a net; start reading here. The
 * text is read layer by layer; each kind reads its own words, infers its shape and
 * declares its tensors. pass.c runs a net. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/choice.h"
#include "base/memory.h"
#include "net/layer.h"

static const xb_layer_kind *const kinds[] = {
    &xb_layer_dense,     &xb_layer_conv,    &xb_layer_maxpool,
    &xb_layer_batchnorm, &xb_layer_elu,     &xb_layer_relu,
    &xb_layer_tanh,      &xb_layer_sigmoid, &xb_layer_flatten,
};

enum { LAYERS_MAX = 4096, TENSORS_PER_LAYER = 2 };

const char *xb_role_name(xb_role role)
{
    static const char *const name[] = {"kernel", "bias", "scale", "shift"};
    return name[role];
}

static const char *const choices[] = {[XB_STOCHASTIC_KERNELS] = "kernels",
                                      [XB_STOCHASTIC_ALL] = "all",
                                      [XB_STOCHASTIC_NONE] = "none"};

const char *xb_stochastic_name(xb_stochastic stochastic) { return choices[stochastic]; }

xb_status xb_stochastic_parse(xb_ctx *ctx, xb_stochastic *out, const char *text)
{
    int found;
    XB_TRY(xb_choice_parse(ctx, &found, "choice of random tensors", text, choices,
                           XB_COUNT(choices)));
    *out = (xb_stochastic)found;
    return XB_OK;
}

int64_t xb_shape_size(xb_shape s) { return s.h * s.w * s.c; }

static bool random_by_choice(const xb_net *net, xb_role role)
{
    if (net->opt.stochastic == XB_STOCHASTIC_NONE) return false;
    return role == XB_ROLE_KERNEL ||
           (role == XB_ROLE_BIAS && net->opt.stochastic == XB_STOCHASTIC_ALL);
}

xb_status xb_net_declare(xb_reading *r, xb_net *net, xb_layer *layer, int index,
                         xb_role role, int ndim, const int64_t *shape)
{
    xb_tensor t = {.layer = index,
                   .role = role,
                   .offset = net->param_count,
                   .size = 1,
                   .ndim = ndim,
                   .stochastic = random_by_choice(net, role)};
    snprintf(t.name, sizeof t.name, "%d.%s", index, xb_role_name(role));
    for (int i = 0; i < ndim; i++) {
        t.shape[i] = shape[i];
        if (t.size > XB_NET_SIZE_MAX / shape[i])
            return xb_reading_fail(r, "its %s has more than 2^31 elements",
                                   xb_role_name(role));
        t.size *= shape[i];
    }
    if (layer->tensors == 0) layer->tensor = net->n_tensor;
    layer->tensors++;
    net->tensor[net->n_tensor++] = t;
    net->param_count += t.size;
    return XB_OK;
}

/* NULL, with an error, if there is no such layer. */
static const xb_layer_kind *find_kind(xb_reading *r)
{
    const char *known[XB_COUNT(kinds)];
    if (!xb_reading_word(r)) {
        xb_reading_fail(r, "it is empty");
        return NULL;
    }
    for (int i = 0; i < XB_COUNT(kinds); i++) {
        known[i] = kinds[i]->name;
        if (strcmp(kinds[i]->name, r->word) == 0) return kinds[i];
    }
    xb_reading_unknown(r, "layer", known, XB_COUNT(kinds));
    return NULL;
}

static xb_status read_layer(xb_reading *r, xb_net *net, xb_shape in)
{
    xb_layer *layer = &net->layer[net->n_layer];
    *layer = (xb_layer){.in = in, .out = in, .tensor = -1, .bias = true};
    layer->kind = find_kind(r);
    if (!layer->kind) return XB_E_INPUT;
    if (layer->kind->parse) XB_TRY(layer->kind->parse(r, layer));
    if (xb_reading_word(r)) return xb_reading_unknown(r, "word", NULL, 0);
    if (layer->kind->infer) XB_TRY(layer->kind->infer(r, layer));
    if (layer->out.h * layer->out.w > XB_NET_SIZE_MAX / layer->out.c)
        return xb_reading_fail(r, "its output has more than 2^31 elements");
    if (layer->kind->declare) XB_TRY(layer->kind->declare(r, net, layer, net->n_layer));
    net->n_layer++;
    return XB_OK;
}

/* The shortest form of every layer. */
static void write_text(const xb_net *net, char *text, size_t size)
{
    for (int i = 0; i < net->n_layer; i++) {
        const xb_layer *layer = &net->layer[i];
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", i ? ", " : "", layer->kind->name);
        used = strlen(text);
        if (layer->kind->write) layer->kind->write(layer, text + used, size - used);
    }
}

static xb_status read_net(xb_ctx *ctx, xb_net *net, const char *text)
{
    int64_t layers = 1;
    for (const char *p = text; *p; p++) layers += *p == ',';
    if (layers > LAYERS_MAX)
        return xb_fail(ctx, XB_E_INPUT, "a net of %lld layers: expected at most %d",
                       (long long)layers, LAYERS_MAX);
    net->layer = xb_new(ctx, layers, sizeof *net->layer);
    net->tensor = xb_new(ctx, TENSORS_PER_LAYER * layers, sizeof *net->tensor);
    net->text = xb_new(ctx, XB_LAYER_TEXT * layers, 1);
    if (!net->layer || !net->tensor || !net->text) return XB_E_MEMORY;
    xb_reading r = {.ctx = ctx, .text = text};
    xb_shape shape = net->input;
    while (xb_reading_layer(&r)) {
        XB_TRY(read_layer(&r, net, shape));
        shape = net->layer[net->n_layer - 1].out;
    }
    write_text(net, net->text, (size_t)(XB_LAYER_TEXT * layers));
    return XB_OK;
}

static xb_status check_input(xb_ctx *ctx, xb_shape s)
{
    const int64_t side = 1 << 24;
    if (s.h >= 1 && s.w >= 1 && s.c >= 1 && s.h <= side && s.w <= side && s.c <= side &&
        s.h * s.w <= XB_NET_SIZE_MAX / s.c)
        return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "an input of %lld x %lld x %lld: expected 1 or more of each, at most"
                   " 2^31 in all",
                   (long long)s.h, (long long)s.w, (long long)s.c);
}

void xb_net_options_init(xb_net_options *opt, size_t size)
{
    const xb_net_options standard = {.stochastic = XB_STOCHASTIC_KERNELS};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

xb_status xb_net_parse(xb_ctx *ctx, xb_net **out, const char *text, xb_shape input,
                       const xb_net_options *opt)
{
    xb_net_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, net, &chosen, opt, stochastic));
    XB_TRY(check_input(ctx, input));
    xb_net *net = xb_new(ctx, 1, sizeof *net);
    if (!net) return XB_E_MEMORY;
    net->input = input;
    net->opt = chosen;
    xb_status status = read_net(ctx, net, text);
    if (status != XB_OK) {
        xb_net_destroy(net);
        return status;
    }
    *out = net;
    return XB_OK;
}

void xb_net_destroy(xb_net *net)
{
    if (!net) return;
    free(net->layer);
    free(net->tensor);
    free(net->text);
    free(net);
}

const char *xb_net_text(const xb_net *net) { return net->text; }
xb_shape xb_net_input(const xb_net *net) { return net->input; }
xb_shape xb_net_output(const xb_net *net) { return net->layer[net->n_layer - 1].out; }
int64_t xb_net_layer_count(const xb_net *net) { return net->n_layer; }
const char *xb_net_layer_name(const xb_net *net, int64_t layer)
{
    return net->layer[layer].kind->name;
}
xb_shape xb_net_layer_output(const xb_net *net, int64_t layer)
{
    return net->layer[layer].out;
}
int64_t xb_net_tensor_count(const xb_net *net) { return net->n_tensor; }
const xb_tensor *xb_net_tensor_at(const xb_net *net, int64_t i)
{
    return &net->tensor[i];
}

int64_t xb_net_tensor_find(const xb_net *net, const char *name)
{
    for (int i = 0; i < net->n_tensor; i++)
        if (strcmp(net->tensor[i].name, name) == 0) return i;
    return -1;
}

xb_status xb_net_set_stochastic(xb_ctx *ctx, xb_net *net, int64_t tensor, bool stochastic)
{
    if (tensor < 0 || tensor >= net->n_tensor)
        return xb_fail(ctx, XB_E_ARGUMENT, "no tensor %lld: the net has %d",
                       (long long)tensor, net->n_tensor);
    xb_tensor *t = &net->tensor[tensor];
    if (stochastic && t->role != XB_ROLE_KERNEL && t->role != XB_ROLE_BIAS)
        return xb_fail(ctx, XB_E_ARGUMENT, "%s cannot be random: kernels and biases can",
                       t->name);
    t->stochastic = stochastic;
    return XB_OK;
}

int64_t xb_net_param_count(const xb_net *net) { return net->param_count; }
int64_t xb_net_state_count(const xb_net *net) { return net->state_count; }

static void start_kernel(const xb_tensor *t, xb_real *mu, xb_key key, int number)
{
    int64_t out = t->shape[t->ndim - 1], in = t->shape[t->ndim - 2];
    int64_t taps = t->size / (in * out);
    double reach = sqrt(6 / (double)(taps * (in + out))); /* (N17) */
    xb_stream where = {key, (uint32_t)number, 0, 0};
    for (int64_t i = 0; i < t->size; i++)
        mu[i] = (xb_real)(reach * (2 * xb_stream_uniform(&where, i) - 1));
}

/* (N17) Random biases spread the kinks of the units over the data; with biases of 0 all
 * units would bend at the same input. A bias is scaled by its unit's kernel. */
static void start_bias(const xb_tensor *bias, const xb_tensor *kernel, xb_real *mu,
                       xb_key key, int number)
{
    const xb_real *w = mu + kernel->offset;
    xb_stream where = {key, (uint32_t)number, 0, 0};
    for (int64_t j = 0; j < bias->size; j++) {
        double square = 0;
        for (int64_t i = j; i < kernel->size; i += bias->size)
            square += (double)w[i] * (double)w[i];
        mu[bias->offset + j] =
            (xb_real)(sqrt(square) * (2 * xb_stream_uniform(&where, j) - 1));
    }
}

static bool is_hidden_dense(const xb_net *net, int64_t layer)
{
    return net->layer[layer].kind == &xb_layer_dense && layer + 1 < net->n_layer;
}

void xb_net_params_start(const xb_net *net, xb_real *mu, xb_key key)
{
    for (int k = 0; k < net->n_tensor; k++) {
        const xb_tensor *t = &net->tensor[k];
        if (t->role == XB_ROLE_KERNEL)
            start_kernel(t, mu + t->offset, key, k);
        else if (t->role == XB_ROLE_BIAS && is_hidden_dense(net, t->layer))
            start_bias(t, t - 1, mu, key, k);
        else
            for (int64_t i = 0; i < t->size; i++)
                mu[t->offset + i] = t->role == XB_ROLE_SCALE ? 1 : 0;
    }
}

void xb_net_state_start(const xb_net *net, xb_real *state)
{
    for (int l = 0; l < net->n_layer; l++) {
        const xb_layer *layer = &net->layer[l];
        if (layer->kind != &xb_layer_batchnorm) continue;
        for (int64_t i = 0; i < 2 * layer->in.c; i++)
            state[layer->state + i] = i < layer->in.c ? 0 : 1;
    }
}

int64_t xb_net_stochastic_count(const xb_net *net)
{
    int64_t count = 0;
    for (int i = 0; i < net->n_tensor; i++)
        if (net->tensor[i].stochastic) count += net->tensor[i].size;
    return count;
}
