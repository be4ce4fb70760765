/* model_file.c: reads a model from a file; see model_file.h. Every shape is checked
 * before memory is allocated, and every value afterwards. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/filekind.h"
#include "crossbayes/json.h"
#include "crossbayes/safetensors.h"
#include "data/json_parse.h"
#include "law/functions.h"
#include "law/lawfile.h"
#include "vi/model.h"
#include "vi/model_file.h"

typedef struct reader {
    xb_ctx *ctx;
    const char *path;
    const xb_safetensors *file;
    xb_model *model;
    char member[MEMBER_BYTES]; /* like the writer's */
} reader;

static xb_status refuse(const reader *r, const char *what)
{
    return xb_fail(r->ctx, XB_E_INPUT, "%s: %s", r->path, what);
}

/* Puts the file's name before the context's message. */
static xb_status in_file(const reader *r, xb_status status)
{
    if (status == XB_OK || status == XB_E_MEMORY) return status;
    char message[XB_MESSAGE_MAX];
    snprintf(message, sizeof message, "%s", xb_ctx_message(r->ctx));
    return xb_fail(r->ctx, XB_E_INPUT, "%s: %s", r->path, message);
}

static xb_status read_json(const reader *r, json_t **out, const char *key)
{
    const char *text = NULL;
    XB_TRY(xb_safetensors_get_text(r->ctx, &text, r->file, key));
    json_error_t error;
    const xb_status status = xb_json_parse(out, text, (int64_t)strlen(text), &error);
    if (status == XB_E_MEMORY)
        return xb_fail(r->ctx, status, "not enough memory for the metadata");
    if (status != XB_OK)
        return xb_fail(r->ctx, status, "%s: metadata '%s' is not JSON", r->path, key);
    return XB_OK;
}

static xb_status copy_text(const reader *r, char **out, const char *key)
{
    const char *text = NULL;
    XB_TRY(xb_safetensors_get_text(r->ctx, &text, r->file, key));
    *out = xb_strdup(r->ctx, text);
    return *out ? XB_OK : XB_E_MEMORY;
}

/* Copies the texts of an array of strings, whose number n is known. */
static xb_status copy_names(const reader *r, char **name, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text) return refuse(r, "a name in the metadata is not a text");
        name[i] = xb_strdup(r->ctx, text);
        if (!name[i]) return XB_E_MEMORY;
    }
    return XB_OK;
}

static xb_status read_input(const reader *r, xb_shape *out)
{
    json_t *list = NULL;
    XB_TRY(read_json(r, &list, "input"));
    json_int_t h = 0, w = 0, c = 0;
    bool good = json_unpack(list, "[I,I,I!]", &h, &w, &c) == 0;
    json_decref(list);
    enum { SIDE_MAX = 1 << 20, SIZE_MOST = 1 << 28 };
    if (!good || h < 1 || w < 1 || c < 1 || h > SIDE_MAX || w > SIDE_MAX ||
        c > SIDE_MAX || h * w > SIZE_MOST / c)
        return refuse(r, "'input' is not a shape of three numbers");
    *out = (xb_shape){h, w, c};
    return XB_OK;
}

/* Pixels have no names: their number follows from `input`. */
static xb_status make_columns(const reader *r, const json_t *features,
                              const json_t *classes, xb_shape input)
{
    xb_model *m = r->model;
    if (!json_is_array(features) || !json_is_array(classes))
        return refuse(r, "the names of columns are not a list");
    int64_t named = (int64_t)json_array_size(features), count = xb_shape_size(input);
    if (named != (m->pixels ? 0 : count))
        return refuse(r, "'input' and 'features' do not agree");
    XB_TRY(in_file(
        r, xb_model_columns(r->ctx, m, count, (int64_t)json_array_size(classes))));
    XB_TRY(copy_names(r, m->feature_name, features));
    return copy_names(r, m->class_name, classes);
}

static xb_status read_columns(const reader *r, xb_shape input)
{
    json_t *features = NULL, *classes = NULL;
    const char *inputs = xb_safetensors_text(r->file, "inputs");
    if (inputs && strcmp(inputs, PIXELS) != 0)
        return refuse(r, "its inputs are of a kind that this version does not know");
    r->model->pixels = inputs != NULL;
    xb_status status = read_json(r, &features, "features");
    if (status == XB_OK) status = read_json(r, &classes, "classes");
    if (status == XB_OK) status = make_columns(r, features, classes, input);
    json_decref(features);
    json_decref(classes);
    return status;
}

/* Checks that the recipe's features are the model's, name by name. */
static xb_status check_recipe(const reader *r)
{
    const xb_model *m = r->model;
    bool same = m->recipe->features == m->features;
    for (int64_t i = 0; same && i < m->recipe->columns; i++) {
        const xb_recipe_column *c = &m->recipe->column[i];
        for (int64_t k = 0; same && k < xb_recipe_width(c); k++) {
            char *name = xb_recipe_feature_name(r->ctx, c, k);
            if (!name) return XB_E_MEMORY;
            same = strcmp(name, m->feature_name[c->first + k]) == 0;
            free(name);
        }
    }
    return same ? XB_OK : refuse(r, "'table' and 'features' do not agree");
}

/* Models of plain tables have no recipe: it follows from their names and scales. */
static xb_status read_recipe(const reader *r)
{
    json_t *root = NULL;
    if (!xb_safetensors_text(r->file, "table"))
        return xb_model_plain_recipe(r->ctx, r->model);
    if (r->model->pixels) return refuse(r, "'table' is given for a model of images");
    XB_TRY(read_json(r, &root, "table"));
    xb_status status = xb_recipe_from_json(r->ctx, &r->model->recipe, root, r->path);
    json_decref(root);
    return status == XB_OK ? check_recipe(r) : status;
}

/* Reads the names of several targets; the name of a single target is the text
 * `target`. */
static xb_status name_targets(const reader *r, const json_t *list)
{
    xb_model *m = r->model;
    const int64_t n = list ? (int64_t)json_array_size(list) : 1;
    if (list && (!json_is_array(list) || n < 2 || m->classes > 0))
        return refuse(r, "'targets' is not a list of several targets of numbers");
    XB_TRY(xb_model_targets(r->ctx, m, n));
    if (list) return copy_names(r, m->target_each, list);
    return copy_text(r, &m->target_each[0], "target");
}

static xb_status read_targets(const reader *r)
{
    json_t *list = NULL;
    XB_TRY(copy_text(r, &r->model->target_name, "target"));
    if (xb_safetensors_text(r->file, "targets")) XB_TRY(read_json(r, &list, "targets"));
    xb_status status = name_targets(r, list);
    json_decref(list);
    return status;
}

static xb_status read_law(const reader *r)
{
    json_t *law = NULL;
    XB_TRY(read_json(r, &law, "law"));
    xb_status status = json_is_object(law)
                           ? xb_law_from_json(r->ctx, &r->model->law, law, r->path)
                           : refuse(r, "the law is not a JSON object");
    if (status == XB_OK) xb_law_warn(r->ctx, r->model->law, r->path);
    json_decref(law);
    return status;
}

static xb_status read_nets(const reader *r, xb_shape input)
{
    xb_model *m = r->model;
    const char *text = NULL;
    XB_TRY(xb_safetensors_get_text(r->ctx, &text, r->file, "net"));
    XB_TRY(in_file(r, xb_net_parse(r->ctx, &m->net, text, input, NULL)));
    if (m->likelihood == XB_LIKELIHOOD_HETEROSCEDASTIC) {
        xb_net_options fixed = xb_net_options_default();
        fixed.stochastic = XB_STOCHASTIC_NONE;
        XB_TRY(xb_safetensors_get_text(r->ctx, &text, r->file, "noise_net"));
        XB_TRY(in_file(r, xb_net_parse(r->ctx, &m->noise_net, text, input, &fixed)));
    }
    return in_file(r, xb_model_check_nets(r->ctx, m));
}

static xb_status read_kind(const reader *r)
{
    const char *kind = xb_safetensors_text(r->file, "crossbayes");
    if (!kind || strcmp(kind, MODEL_KIND) != 0)
        return refuse(r, "not a model of crossbayes (its metadata does not say so)");
    const char *format = xb_safetensors_text(r->file, "format");
    const bool many = xb_safetensors_text(r->file, "members") != NULL;
    if (!format || (strcmp(format, many ? ENSEMBLE_FORMAT : MODEL_FORMAT) != 0 &&
                    strcmp(format, BENT_FORMAT) != 0))
        return refuse(r, "its format is unknown to this version");
    return XB_OK;
}

static xb_status read_texts(const reader *r, xb_shape input)
{
    xb_model *m = r->model;
    const char *text = NULL;
    XB_TRY(xb_safetensors_get_text(r->ctx, &text, r->file, "likelihood"));
    XB_TRY(in_file(r, xb_likelihood_parse(r->ctx, &m->likelihood, text)));
    if (m->likelihood == XB_LIKELIHOOD_AUTO)
        return refuse(r, "its likelihood is unknown to this version");
    XB_TRY(xb_safetensors_get_text(r->ctx, &text, r->file, "prior"));
    XB_TRY(in_file(r, xb_prior_parse(r->ctx, &m->prior, text)));
    XB_TRY(copy_text(r, &m->settings, "settings"));
    XB_TRY(copy_text(r, &m->provenance, "provenance"));
    XB_TRY(read_columns(r, input));
    if ((m->classes > 0) != (m->likelihood == XB_LIKELIHOOD_SOFTMAX))
        return refuse(r, "likelihood and classes do not agree");
    XB_TRY(read_targets(r));
    return read_law(r);
}

static xb_status check_finite(const reader *r, const xb_stored *t, bool positive)
{
    int64_t bytes = 0;
    (void)xb_stored_bytes(&bytes, t);
    int64_t n = bytes / xb_stored_type_size(t->type);
    const float *f = t->data;
    const double *d = t->data;
    for (int64_t i = 0; i < n; i++) {
        double v = t->type == XB_STORED_F32 ? (double)f[i] : d[i];
        if (isfinite(v) && (!positive || v > 0)) continue;
        return xb_fail(r->ctx, XB_E_INPUT, "%s: %s: value %lld is %g, expected %s",
                       r->path, t->name, (long long)i, v,
                       positive ? "more than 0" : "a finite number");
    }
    return XB_OK;
}

/* With dest NULL it only checks, before memory is allocated. */
static xb_status take(const reader *r, void *dest, const char *name, xb_stored_type type,
                      const int64_t *shape, int ndim, bool positive)
{
    const xb_stored *t = NULL;
    char full[MEMBER_BYTES + NAME_MAX_BYTES];
    snprintf(full, sizeof full, "%s%s", r->member, name);
    XB_TRY(xb_safetensors_get(r->ctx, &t, r->file, full, type, shape, ndim));
    XB_TRY(check_finite(r, t, positive));
    int64_t bytes = 0;
    (void)xb_stored_bytes(&bytes, t);
    if (dest) memcpy(dest, t->data, (size_t)bytes);
    return XB_OK;
}

static bool is_there(const reader *r, const char *name)
{
    char full[MEMBER_BYTES + NAME_MAX_BYTES];
    snprintf(full, sizeof full, "%s%s", r->member, name);
    return xb_safetensors_find(r->file, full) >= 0;
}

/* With mu and sigma NULL it only checks, and marks which tensors are random. */
static xb_status take_net(const reader *r, xb_net *net, float *mu, float *sigma)
{
    for (int i = 0; i < xb_net_tensor_count(net); i++) {
        const xb_tensor *t = xb_net_tensor_at(net, i);
        char name[NAME_MAX_BYTES];
        snprintf(name, sizeof name, "%s.mu", t->name);
        XB_TRY(take(r, mu ? mu + t->offset : NULL, name, XB_STORED_F32, t->shape, t->ndim,
                    false));
        snprintf(name, sizeof name, "%s.sigma", t->name);
        bool random = is_there(r, name);
        bool can = t->role == XB_ROLE_KERNEL || t->role == XB_ROLE_BIAS;
        if (random && !can)
            return refuse(r, "a sigma belongs to a tensor that cannot be random");
        if (can) XB_TRY(in_file(r, xb_net_set_stochastic(r->ctx, net, i, random)));
        if (random)
            XB_TRY(take(r, sigma ? sigma + t->offset : NULL, name, XB_STORED_F32,
                        t->shape, t->ndim, true));
    }
    return XB_OK;
}

static xb_status take_noise_net(const reader *r, float *mu)
{
    const xb_net *net = r->model->noise_net;
    for (int i = 0; i < xb_net_tensor_count(net); i++) {
        const xb_tensor *t = xb_net_tensor_at(net, i);
        char name[NAME_MAX_BYTES];
        snprintf(name, sizeof name, "noise.%s", t->name);
        XB_TRY(take(r, mu ? mu + t->offset : NULL, name, XB_STORED_F32, t->shape, t->ndim,
                    false));
    }
    return XB_OK;
}

/* Checks that states are in their range, except for the rounding of a float. */
static xb_status check_states(const reader *r, const xb_tensor *t, const float *state)
{
    const xb_weight_cells *c = r->model->cells;
    const double low = xb_weight_cells_low(c), high = xb_weight_cells_high(c);
    const double slack = 1e-6 * fmax(fabs(low), fabs(high));
    for (int64_t i = 0; i < xb_weight_cells_count(c) * t->size; i++)
        if (!((double)state[i] >= low - slack && (double)state[i] <= high + slack))
            return xb_fail(r->ctx, XB_E_INPUT,
                           "%s: %s.cells: state %lld is %g, expected %g to %g", r->path,
                           t->name, (long long)i, (double)state[i], low, high);
    return XB_OK;
}

static xb_status take_cells(const reader *r)
{
    xb_model *m = r->model;
    const char *text = xb_safetensors_text(r->file, "cells");
    xb_weight_cells *cells = NULL;
    if (!text) return XB_OK;
    XB_TRY(in_file(r, xb_weight_cells_parse(r->ctx, &cells, text)));
    xb_status status = xb_model_take_cells(r->ctx, m, cells);
    xb_weight_cells_destroy(cells);
    for (int i = 0; i < xb_net_tensor_count(m->net) && status == XB_OK; i++) {
        const xb_tensor *t = xb_net_tensor_at(m->net, i);
        const int64_t n = xb_weight_cells_count(m->cells), shape[2] = {n, t->size};
        char name[NAME_MAX_BYTES];
        if (!t->stochastic) continue;
        snprintf(name, sizeof name, "%s.cells", t->name);
        status = take(r, m->cell + n * t->offset, name, XB_STORED_F32, shape, 2, false);
        if (status == XB_OK) status = check_states(r, t, m->cell + n * t->offset);
    }
    return status;
}

static xb_status take_nets(const reader *r)
{
    xb_model *m = r->model;
    XB_TRY(take_net(r, m->net, NULL, NULL));
    if (m->noise_net) XB_TRY(take_noise_net(r, NULL));
    XB_TRY(xb_model_blocks(r->ctx, m));
    XB_TRY(take_net(r, m->net, m->mu, m->sigma));
    if (m->noise_net) XB_TRY(take_noise_net(r, m->noise_mu));
    int64_t state = xb_net_state_count(m->net);
    if (state > 0)
        XB_TRY(take(r, m->state, "batchnorm.state", XB_STORED_F32, &state, 1, false));
    state = xb_model_noise_states(m);
    if (state == 0) return XB_OK;
    return take(r, m->noise_state, "noise.batchnorm.state", XB_STORED_F32, &state, 1,
                false);
}

static xb_status take_dispersion(const reader *r)
{
    const double most = 300; /* its exponential is a number, and so is one over it */
    xb_model *m = r->model;
    XB_TRY(take(r, m->noise_log_sd, "noise.log_dispersion", XB_STORED_F64, &m->targets, 1,
                false));
    for (int64_t k = 0; k < m->targets; k++)
        if (fabs(m->noise_log_sd[k]) > most)
            return refuse(r, "noise.log_dispersion is beyond 300");
    return XB_OK;
}

static xb_status take_targets(const reader *r, double *target)
{
    xb_model *m = r->model;
    const int64_t shape[2] = {m->targets, 2};
    const int ndim = m->targets == 1 ? 1 : 2;
    XB_TRY(take(r, target, "target.scale", XB_STORED_F64, shape + 2 - ndim, ndim, false));
    for (int64_t k = 0; k < m->targets; k++) {
        if (!(target[2 * k + 1] > 0))
            return refuse(r, "the target's scale is not positive");
        m->y_mean[k] = target[2 * k];
        m->y_sd[k] = target[2 * k + 1];
    }
    if (m->likelihood == XB_LIKELIHOOD_STUDENT) {
        const int64_t one[] = {1};
        XB_TRY(take(r, &m->noise_degrees, "noise.degrees", XB_STORED_F64, one, 1, true));
        if (!(m->noise_degrees > 2)) return refuse(r, "noise.degrees is not above 2");
    }
    if (m->likelihood == XB_LIKELIHOOD_NEGATIVE_BINOMIAL) return take_dispersion(r);
    if (!xb_model_has_one_noise(m)) return XB_OK;
    return take(r, m->noise_log_sd, "noise.log_sd", XB_STORED_F64, shape, 1, false);
}

/* Reads the inputs, which all members share. */
static xb_status take_inputs(const reader *member)
{
    reader first = *member;
    xb_model *m = member->model;
    name_member(first.member, 0);
    for (int64_t j = 0; m->pixels && j < m->features; j++) m->x_sd[j] = 1;
    if (m->pixels) return XB_OK;
    XB_TRY(take(&first, m->x_mean, "input.mean", XB_STORED_F64, &m->features, 1, false));
    XB_TRY(take(&first, m->x_sd, "input.sd", XB_STORED_F64, &m->features, 1, true));
    if (!is_there(&first, "input.bend")) return XB_OK;
    XB_TRY(take(&first, m->x_low, "input.low", XB_STORED_F64, &m->features, 1, false));
    return take(&first, m->x_bend, "input.bend", XB_STORED_F64, &m->features, 1, false);
}

static xb_status take_scales(const reader *r)
{
    xb_model *m = r->model;
    const int64_t one = 1;
    XB_TRY(take_inputs(r));
    if (m->noise_net && is_there(r, "noise.least"))
        XB_TRY(take(r, &m->noise_least, "noise.least", XB_STORED_F64, &one, 1, true));
    double *target = xb_new(r->ctx, 2 * m->targets, sizeof *target);
    if (!target) return XB_E_MEMORY;
    xb_status status = take_targets(r, target);
    free(target);
    return status;
}

static xb_status read_model(const reader *r)
{
    xb_shape input = {0};
    XB_TRY(read_kind(r));
    XB_TRY(read_input(r, &input));
    XB_TRY(read_texts(r, input));
    XB_TRY(read_nets(r, input));
    XB_TRY(take_nets(r));
    XB_TRY(take_cells(r));
    XB_TRY(take_scales(r));
    return read_recipe(r);
}

/* The number of members: 1, or what the file says. */
static xb_status read_members(const reader *r, int64_t *out)
{
    const char *text = xb_safetensors_text(r->file, "members");
    char *end = NULL;
    *out = text ? strtoll(text, &end, 10) : 1;
    if (!text || (end != text && *end == '\0' && *out >= 2 && *out <= XB_MEMBERS_MAX))
        return XB_OK;
    return xb_fail(r->ctx, XB_E_INPUT, "%s: %s members: expected 2 to %d", r->path, text,
                   XB_MEMBERS_MAX);
}

/* Reads members [members], one after the other; after a failure those read so far are
 * there. */
static xb_status read_each(reader *r, xb_model **member, int64_t members)
{
    for (int64_t i = 0; i < members; i++) {
        XB_TRY(xb_model_new(r->ctx, &member[i]));
        r->model = member[i];
        name_member(r->member, i);
        XB_TRY(read_model(r));
    }
    return XB_OK;
}

/* Reads the calibration of the whole ensemble. */
static xb_status take_calibration(reader *r, xb_model *model)
{
    double level[XB_CALIBRATION_LEVELS];
    const int64_t size = XB_CALIBRATION_LEVELS;
    name_member(r->member, 0);
    if (!is_there(r, "calibration.level")) return XB_OK;
    XB_TRY(take(r, level, "calibration.level", XB_STORED_F64, &size, 1, false));
    return in_file(r, xb_model_set_calibration(r->ctx, model, level));
}

/* Reads the process beside all members. */
static xb_status take_process(reader *r, xb_model *model)
{
    const int64_t one = 1, size = XB_PROCESS_FACTOR;
    double length = 0;
    xb_process *process = NULL;
    name_member(r->member, 0);
    if (!is_there(r, "process.length")) return XB_OK;
    if (model->classes > 0 || model->targets > 1 || model->pixels)
        return refuse(r, "a Gaussian process is given for a net that cannot have one");
    XB_TRY(take(r, &length, "process.length", XB_STORED_F64, &one, 1, true));
    XB_TRY(take(r, NULL, "process.factor", XB_STORED_F64, &size, 1, false));
    XB_TRY(in_file(r, xb_process_create(r->ctx, &process, length, model->features)));
    xb_status status =
        take(r, process->factor, "process.factor", XB_STORED_F64, &size, 1, false);
    for (int64_t i = 0; i < XB_PROCESS_FEATURES && status == XB_OK; i++)
        if (!(process->factor[i * (i + 3) / 2] >= 1))
            status = refuse(r, "process.factor has a diagonal below 1");
    if (status == XB_OK)
        xb_model_set_process(model, process);
    else
        xb_process_destroy(process);
    return status;
}

static xb_status read_all(xb_model **out, reader *r)
{
    int64_t members = 1;
    XB_TRY(read_members(r, &members));
    xb_model **member = xb_new(r->ctx, members, sizeof(xb_model *)), *whole = NULL;
    if (!member) return XB_E_MEMORY;
    xb_status status = read_each(r, member, members);
    if (status == XB_OK) status = xb_model_join(r->ctx, &whole, member, members);
    for (int64_t i = 0; !whole && i < members; i++) xb_model_destroy(member[i]);
    free(member);
    if (status == XB_OK) status = take_calibration(r, whole);
    if (status == XB_OK) status = take_process(r, whole);
    if (status == XB_OK)
        *out = whole;
    else
        xb_model_destroy(whole);
    return status;
}

xb_status xb_model_load(xb_ctx *ctx, xb_model **out, const char *path)
{
    xb_safetensors *file = NULL;
    xb_status status = xb_safetensors_open(ctx, &file, path);
    if (status == XB_OK) status = read_all(out, &(reader){ctx, path, file, NULL, ""});
    xb_safetensors_destroy(file);
    return xb_filekind_explain(ctx, status, path, XB_KIND_MODEL);
}
