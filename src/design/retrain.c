/* retrain.c: the models of a search (maths X77): the given one, and models that are
 * trained again: with other widths, with a penalty that keeps n_eff large, or with the
 * effects of their array. Arrays that differ in nothing that training knows share a
 * model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbar/analog.h"
#include "design/search.h"
#include "predict/predict.h"

/* ---- which models */

static bool same_written(const xb_train_array *a, const xb_train_array *b)
{
    return a->dac_bits == b->dac_bits && a->adc_bits == b->adc_bits &&
           a->levels == b->levels && a->error == b->error && a->floor == b->floor;
}

static bool same_variant(const xb_variant *a, const xb_variant *b)
{
    return a->width == b->width && a->penalty == b->penalty && a->aware == b->aware &&
           (!a->aware || same_written(&a->written, &b->written));
}

static xb_variant wanted(const xb_design *d, const xb_candidate *c)
{
    xb_variant v = {.width = xb_space_value_of(&d->space, c->index, XB_AXIS_WIDTH, 0),
                    .penalty = xb_space_value_of(&d->space, c->index, XB_AXIS_N_EFF, 0),
                    .aware =
                        xb_space_value_of(&d->space, c->index, XB_AXIS_AWARE, 0) != 0};
    if (v.aware) xb_array_training(&c->array, &v.written);
    return v;
}

static xb_status check(xb_ctx *ctx, const xb_design *d)
{
    static const xb_axis_kind kinds[] = {XB_AXIS_WIDTH, XB_AXIS_N_EFF, XB_AXIS_AWARE};
    for (int i = 0; i < XB_COUNT(kinds); i++) {
        const xb_axis *axis = xb_space_axis(&d->space, kinds[i]);
        if (axis && !d->opt.retrain)
            return xb_fail(ctx, XB_E_INPUT,
                           "%s is a number of the model, which takes rows to train it"
                           " again on",
                           axis->key);
    }
    return XB_OK;
}

static void choose_variants(xb_design *d)
{
    d->variant[d->variants++] = (xb_variant){.model = d->model};
    for (int64_t i = 0; i < d->candidates; i++) {
        const xb_variant v = wanted(d, &d->candidate[i]);
        int64_t k = 0;
        while (k < d->variants && !same_variant(&d->variant[k], &v)) k++;
        if (k == d->variants) d->variant[d->variants++] = v;
        d->candidate[i].variant = k;
    }
}

/* ---- training */

/* The learning rate of a net that starts from the given model, as a fraction of the usual
 * rate. docs/design.md has the comparison. */
static const double LATER_RATE = 1.0 / 3;

/* The text of the net with other widths of its hidden dense layers; free() it. */
static char *net_of_width(xb_ctx *ctx, const xb_net *net, double width)
{
    const int64_t size = XB_LAYER_TEXT * (int64_t)(net->n_layer + 1);
    char *text = xb_new(ctx, size, 1);
    int last = net->n_layer - 1;
    while (last > 0 && net->layer[last].kind != &xb_layer_dense) last--;
    for (int l = 0; text && l < net->n_layer; l++) {
        xb_layer layer = net->layer[l];
        if (width > 0 && l < last && layer.kind == &xb_layer_dense)
            layer.units = (int64_t)width;
        size_t used = strlen(text);
        snprintf(text + used, (size_t)size - used, "%s%s", l ? ", " : "",
                 layer.kind->name);
        used = strlen(text);
        if (layer.kind->write)
            layer.kind->write(&layer, text + used, (size_t)size - used);
    }
    return text;
}

static xb_status train_variant(xb_ctx *ctx, xb_variant *v, const xb_design *d)
{
    const xb_model *m = d->model;
    xb_train_options opt;
    XB_TRY(XB_OPTIONS_READ(ctx, train, &opt, d->opt.train, task));
    char *net = net_of_width(ctx, m->net, v->width);
    if (!net) return XB_E_MEMORY;
    opt.net = net;
    opt.noise_net = m->noise_net ? xb_net_text(m->noise_net) : NULL;
    opt.likelihood = m->likelihood;
    opt.choose_likelihood = false;
    opt.law = m->law;
    opt.prior = m->prior;
    opt.input = xb_net_input(m->net);
    opt.members = xb_model_member_count(m);
    opt.array = v->aware ? &v->written : NULL;
    opt.n_eff_penalty = v->penalty;
    opt.checkpoint = NULL;
    opt.resume = false;
    opt.backend = d->analog.backend;
    if (v->width == 0 && opt.members == 1) { /* training starts from the given model */
        opt.start = m;
        opt.mle_epochs = 0;
        opt.adam.rate *= LATER_RATE;
    }
    const xb_status status = xb_train(ctx, &v->own, NULL, d->opt.retrain, &opt);
    v->model = v->own;
    free(net);
    return status;
}

typedef struct training {
    xb_design *d;
    int64_t first;
    xb_status *status;               /* [variants] */
    char (*message)[XB_MESSAGE_MAX]; /* [variants] */
} training;

static void train_piece(void *arg, int64_t i)
{
    const training *t = arg;
    const int64_t k = t->first + i;
    xb_ctx *own = NULL;
    t->status[k] = xb_ctx_create(&own);
    if (t->status[k] == XB_OK) {
        xb_ctx_set_threads(own, 1);
        t->status[k] = train_variant(own, &t->d->variant[k], t->d);
        snprintf(t->message[k], XB_MESSAGE_MAX, "%s", xb_ctx_message(own));
    }
    xb_ctx_destroy(own);
}

static xb_status train_batches(xb_ctx *ctx, training *t)
{
    enum { BATCH = 8 }; /* number of models between two reports of progress */
    const xb_design *d = t->d;
    for (t->first = 1; t->first < d->variants; t->first += BATCH) {
        const int64_t left = d->variants - t->first;
        XB_TRY(xb_progress_tell(ctx, "training models", t->first - 1, d->variants - 1));
        xb_parallel_for(ctx, left < BATCH ? left : BATCH, train_piece, t);
        for (int64_t k = t->first; k < t->first + BATCH && k < d->variants; k++)
            if (t->status[k] != XB_OK)
                return xb_fail(ctx, t->status[k], "training a model again: %s",
                               t->message[k]);
    }
    return XB_OK;
}

static xb_status train_all(xb_ctx *ctx, xb_design *d)
{
    training t = {.d = d,
                  .status = xb_new(ctx, d->variants, sizeof *t.status),
                  .message = xb_new(ctx, d->variants, sizeof *t.message)};
    const xb_status status = t.status && t.message ? train_batches(ctx, &t) : XB_E_MEMORY;
    free(t.status);
    free(t.message);
    return status;
}

/* ---- what the search needs from each model */

/* (P3, P7, P9) Finds the noise of the data: one for all reads, or one for each member. */
static xb_status find_noise(xb_ctx *ctx, const xb_design *d, xb_variant *v)
{
    const xb_rows rows = {.x = d->x, .n = d->judge.n, .features = v->model->features};
    const int64_t members = xb_model_member_count(v->model);
    const int64_t wide = d->judge.n * d->judge.outputs;
    if (d->judge.classes > 0) return XB_OK;
    v->judge.sds = members;
    v->sd = xb_new(ctx, members * wide, sizeof *v->sd);
    if (!v->sd) return XB_E_MEMORY;
    XB_TRY(xb_predict_noise_rows(ctx, v->sd, v->model, &rows, d->analog.backend));
    XB_TRY(xb_noise_tables(ctx, &v->heavy, v->model));
    v->judge.heavy = v->heavy;
    v->judge.sd = v->sd;
    return XB_OK;
}

static void largest_layer(const xb_model *model, int64_t *rows, int64_t *columns)
{
    const xb_net *net = model->net;
    *rows = *columns = 1;
    for (int l = 0; l < net->n_layer; l++) {
        if (!xb_host_layer(&net->layer[l])->linear) continue;
        const int64_t out = net->layer[l].out.c;
        const int64_t in = net->tensor[net->layer[l].tensor].size / out;
        if (in > *rows) *rows = in;
        if (out > *columns) *columns = out;
    }
}

static xb_status prepare(xb_ctx *ctx, const xb_design *d, xb_variant *v)
{
    v->judge = d->judge;
    v->paired = xb_new(ctx, d->chips_room * XB_QUALITIES, sizeof *v->paired);
    v->digital_row = xb_new(ctx, XB_QUALITIES * d->judge.n, sizeof *v->digital_row);
    if (!v->paired || !v->digital_row) return XB_E_MEMORY;
    return find_noise(ctx, d, v);
}

xb_status xb_variants_make(xb_ctx *ctx, xb_design *d)
{
    int64_t rows, columns;
    XB_TRY(check(ctx, d));
    d->variant = xb_new(ctx, d->candidates + 1, sizeof *d->variant);
    if (!d->variant) return XB_E_MEMORY;
    choose_variants(d);
    XB_TRY(train_all(ctx, d));
    for (int64_t i = 0; i < d->variants; i++) XB_TRY(prepare(ctx, d, &d->variant[i]));
    for (int64_t i = 0; i < d->candidates; i++) {
        xb_candidate *c = &d->candidate[i];
        largest_layer(d->variant[c->variant].model, &rows, &columns);
        xb_space_trim(&c->array, rows, columns);
    }
    return XB_OK;
}

void xb_variants_free(xb_design *d)
{
    for (int64_t i = 0; d->variant && i < d->variants; i++) {
        xb_model_destroy(d->variant[i].own);
        free(d->variant[i].sd);
        free(d->variant[i].heavy);
        free(d->variant[i].paired);
        free(d->variant[i].digital_row);
    }
    free(d->variant);
}
