/* model_write.c: writes a model to a file; see model_file.h. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/json.h"
#include "crossbayes/safetensors.h"
#include "law/functions.h"
#include "law/lawfile.h"
#include "vi/model.h"
#include "vi/model_file.h"

enum { TEXTS_MAX = 24, TENSORS_BESIDE = 10 };

typedef struct writer {
    xb_stored *tensor;
    char (*name)[NAME_MAX_BYTES]; /* as many names */
    int64_t n;
    char member[MEMBER_BYTES]; /* before the names of a member's tensors; "": the first's
                                */
    xb_stored_text text[TEXTS_MAX];
    char *owned[TEXTS_MAX]; /* texts to free */
    int n_text;
} writer;

static xb_stored *add_tensor(writer *w, xb_stored_type type, const void *data, int ndim,
                             const int64_t *shape)
{
    xb_stored *t = &w->tensor[w->n];
    *t = (xb_stored){.name = w->name[w->n], .type = type, .ndim = ndim, .data = data};
    for (int i = 0; i < ndim; i++) t->shape[i] = shape[i];
    w->n++;
    return t;
}

static void add_vector(writer *w, const char *name, xb_stored_type type, const void *data,
                       int64_t n)
{
    snprintf(w->name[w->n], NAME_MAX_BYTES, "%s%s", w->member, name);
    add_tensor(w, type, data, 1, &n);
}

static void add_net(writer *w, const char *prefix, const xb_net *net, const float *mu,
                    const float *sigma)
{
    for (int i = 0; i < xb_net_tensor_count(net); i++) {
        const xb_tensor *t = xb_net_tensor_at(net, i);
        snprintf(w->name[w->n], NAME_MAX_BYTES, "%s%s%s%s", w->member, prefix, t->name,
                 sigma ? ".mu" : "");
        add_tensor(w, XB_STORED_F32, mu + t->offset, t->ndim, t->shape);
        if (!sigma || !t->stochastic) continue;
        snprintf(w->name[w->n], NAME_MAX_BYTES, "%s%s%s.sigma", w->member, prefix,
                 t->name);
        add_tensor(w, XB_STORED_F32, sigma + t->offset, t->ndim, t->shape);
    }
}

static void add_targets(writer *w, const xb_model *m, const double *target)
{
    const int64_t shape[2] = {m->targets, 2};
    const bool one = m->targets == 1;
    snprintf(w->name[w->n], NAME_MAX_BYTES, "%starget.scale", w->member);
    add_tensor(w, XB_STORED_F64, target, one ? 1 : 2, one ? shape + 1 : shape);
    if (m->likelihood == XB_LIKELIHOOD_STUDENT)
        add_vector(w, "noise.degrees", XB_STORED_F64, &m->noise_degrees, 1);
    if (m->likelihood == XB_LIKELIHOOD_NEGATIVE_BINOMIAL)
        add_vector(w, "noise.log_dispersion", XB_STORED_F64, m->noise_log_sd, m->targets);
    if (xb_model_has_one_noise(m))
        add_vector(w, "noise.log_sd", XB_STORED_F64, m->noise_log_sd, m->targets);
}

/* Adds the states of random tensors [cells][size]. */
static void add_cells(writer *w, const xb_model *m)
{
    for (int i = 0; i < xb_net_tensor_count(m->net); i++) {
        const xb_tensor *t = xb_net_tensor_at(m->net, i);
        const int64_t shape[2] = {xb_weight_cells_count(m->cells), t->size};
        if (!t->stochastic) continue;
        snprintf(w->name[w->n], NAME_MAX_BYTES, "%s%s.cells", w->member, t->name);
        add_tensor(w, XB_STORED_F32, xb_model_cell_states(m, i), 2, shape);
    }
}

/* Adds the tensors of one member; target [targets][2]. */
static void add_tensors(writer *w, const xb_model *m, const double *target)
{
    add_net(w, "", m->net, m->mu, m->sigma);
    if (m->cells) add_cells(w, m);
    if (m->noise_net) add_net(w, "noise.", m->noise_net, m->noise_mu, NULL);
    if (!m->pixels && !w->member[0]) { /* shared by all members */
        add_vector(w, "input.mean", XB_STORED_F64, m->x_mean, m->features);
        add_vector(w, "input.sd", XB_STORED_F64, m->x_sd, m->features);
        if (xb_model_input_bend(m)) {
            add_vector(w, "input.low", XB_STORED_F64, m->x_low, m->features);
            add_vector(w, "input.bend", XB_STORED_F64, m->x_bend, m->features);
        }
    }
    add_targets(w, m, target);
    if (m->noise_net && m->noise_least != XB_NOISE_LEAST)
        add_vector(w, "noise.least", XB_STORED_F64, &m->noise_least, 1);
    int64_t state = xb_net_state_count(m->net);
    if (state > 0) add_vector(w, "batchnorm.state", XB_STORED_F32, m->state, state);
    state = xb_model_noise_states(m);
    if (state > 0)
        add_vector(w, "noise.batchnorm.state", XB_STORED_F32, m->noise_state, state);
}

static void add_text(writer *w, const char *key, const char *value)
{
    w->text[w->n_text++] = (xb_stored_text){key, value};
}

static xb_status add_json(xb_ctx *ctx, writer *w, const char *key, json_t *value)
{
    char *text = NULL;
    xb_status status = xb_json_line(ctx, &text, value);
    json_decref(value);
    XB_TRY(status);
    w->owned[w->n_text] = text;
    add_text(w, key, text);
    return XB_OK;
}

static json_t *names_json(char *const *name, int64_t n)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++) xb_json_add(&list, xb_json_string(name[i]));
    return list;
}

static json_t *shape_json(xb_shape shape)
{
    return json_pack("[I,I,I]", (json_int_t)shape.h, (json_int_t)shape.w,
                     (json_int_t)shape.c);
}

static xb_status add_texts(xb_ctx *ctx, writer *w, const xb_model *m,
                           char prior[XB_PRIOR_TEXT])
{
    xb_prior_text(prior, &m->prior);
    add_text(w, "crossbayes", MODEL_KIND);
    add_text(w, "format",
             xb_model_input_bend(m) ? BENT_FORMAT
             : m->member            ? ENSEMBLE_FORMAT
                                    : MODEL_FORMAT);
    if (m->member)
        XB_TRY(add_json(ctx, w, "members", json_integer((json_int_t)m->members)));
    add_text(w, "net", xb_net_text(m->net));
    if (m->noise_net) add_text(w, "noise_net", xb_net_text(m->noise_net));
    add_text(w, "likelihood", xb_likelihood_name(m->likelihood));
    add_text(w, "prior", prior);
    add_text(w, "target", m->target_name);
    add_text(w, "settings", m->settings);
    add_text(w, "provenance", m->provenance);
    XB_TRY(add_json(ctx, w, "input", shape_json(xb_net_input(m->net))));
    XB_TRY(add_json(ctx, w, "law", xb_law_to_json(m->law)));
    if (m->targets > 1)
        XB_TRY(add_json(ctx, w, "targets", names_json(m->target_each, m->targets)));
    if (m->cells) add_text(w, "cells", xb_weight_cells_text(m->cells));
    if (m->pixels) add_text(w, "inputs", PIXELS);
    int64_t names = m->pixels ? 0 : m->features;
    XB_TRY(add_json(ctx, w, "features", names_json(m->feature_name, names)));
    if (!m->pixels && !xb_recipe_is_plain(m->recipe))
        XB_TRY(add_json(ctx, w, "table", xb_recipe_to_json(m->recipe)));
    return add_json(ctx, w, "classes", names_json(m->class_name, m->classes));
}

xb_status xb_model_save(xb_ctx *ctx, const xb_model *m, const char *path)
{
    XB_TRY(xb_law_check_file(ctx, m->law));
    int64_t members = xb_model_member_count(m);
    int64_t most = 3 * xb_net_tensor_count(m->net) + TENSORS_BESIDE;
    if (m->noise_net) most += xb_net_tensor_count(m->noise_net);
    most *= members;
    double *target = xb_new(ctx, 2 * m->targets, sizeof *target);
    for (int64_t k = 0; target && k < m->targets; k++)
        target[2 * k] = m->y_mean[k], target[2 * k + 1] = m->y_sd[k];
    char prior[XB_PRIOR_TEXT];
    writer w = {0};
    w.tensor = xb_new(ctx, most, sizeof *w.tensor);
    w.name = xb_new(ctx, most, sizeof *w.name);
    xb_status status = w.tensor && w.name && target ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) status = add_texts(ctx, &w, m, prior);
    if (status == XB_OK) {
        for (int64_t i = 0; i < members; i++) {
            name_member(w.member, i);
            add_tensors(&w, xb_model_member_at(m, i), target);
        }
        name_member(w.member, 0);
        if (m->process) {
            add_vector(&w, "process.length", XB_STORED_F64, &m->process->length, 1);
            add_vector(&w, "process.factor", XB_STORED_F64, m->process->factor,
                       XB_PROCESS_FACTOR);
        }
        if (m->calibration)
            add_vector(&w, "calibration.level", XB_STORED_F64, m->calibration,
                       XB_CALIBRATION_LEVELS);
        status = xb_safetensors_write(ctx, path, w.tensor, w.n, w.text, w.n_text);
    }
    for (int i = 0; i < TEXTS_MAX; i++) free(w.owned[i]);
    free(w.name);
    free(w.tensor);
    free(target);
    return status;
}
