/* model.c: the parts of a model and their accessors. model_file.c reads files; train.c
 * fills a model. */
#include "vi/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/choice.h"
#include "base/memory.h"
#include "data/rows.h"
#include "vi/weight_cells.h"

static const char *const likelihood_names[] = {
    "auto",    "gaussian", "heteroscedastic",  "softmax",
    "student", "poisson",  "negative-binomial"};

const char *xb_likelihood_name(xb_likelihood l)
{
    return (int)l >= 0 && (int)l < XB_COUNT(likelihood_names) ? likelihood_names[l] : "?";
}

xb_status xb_likelihood_parse(xb_ctx *ctx, xb_likelihood *out, const char *text)
{
    int found = 0;
    XB_TRY(xb_choice_parse(ctx, &found, "likelihood", text, likelihood_names,
                           XB_COUNT(likelihood_names)));
    *out = (xb_likelihood)found;
    return XB_OK;
}

xb_status xb_model_new(xb_ctx *ctx, xb_model **out)
{
    xb_model *model = xb_new(ctx, 1, sizeof *model);
    if (!model) return XB_E_MEMORY;
    model->noise_least = XB_NOISE_LEAST;
    *out = model;
    return XB_OK;
}

xb_status xb_model_columns(xb_ctx *ctx, xb_model *model, int64_t features,
                           int64_t classes)
{
    if (features > XB_MODEL_INPUTS_MAX)
        return xb_fail(ctx, XB_E_INPUT, "inputs of %lld numbers, expected at most %d",
                       (long long)features, XB_MODEL_INPUTS_MAX);
    model->features = features;
    model->classes = classes;
    model->feature_name = xb_new(ctx, features, sizeof *model->feature_name);
    model->class_name = xb_new(ctx, classes, sizeof *model->class_name);
    model->x_mean = xb_new(ctx, features, sizeof *model->x_mean);
    model->x_sd = xb_new(ctx, features, sizeof *model->x_sd);
    model->x_low = xb_new(ctx, features, sizeof *model->x_low);
    model->x_bend = xb_new(ctx, features, sizeof *model->x_bend);
    bool all = model->feature_name && model->class_name && model->x_mean && model->x_sd &&
               model->x_low && model->x_bend;
    return all ? XB_OK : XB_E_MEMORY;
}

xb_status xb_model_plain_recipe(xb_ctx *ctx, xb_model *model)
{
    if (model->pixels) return XB_OK;
    return xb_recipe_plain(ctx, &model->recipe, model->feature_name, model->x_mean,
                           model->features);
}

xb_status xb_model_set_recipe(xb_ctx *ctx, xb_model *model, const xb_recipe *recipe)
{
    xb_recipe *copy = NULL;
    if (!recipe) return XB_OK;
    XB_TRY(xb_recipe_copy(ctx, &copy, recipe));
    xb_recipe_destroy(model->recipe);
    model->recipe = copy;
    return XB_OK;
}

xb_status xb_model_targets(xb_ctx *ctx, xb_model *m, int64_t targets)
{
    m->target_each = xb_new(ctx, targets, sizeof *m->target_each);
    m->y_mean = xb_new(ctx, 4 * targets, sizeof *m->y_mean);
    if (!m->target_each || !m->y_mean) return XB_E_MEMORY;
    m->targets = targets;
    m->y_sd = m->y_mean + targets;
    m->noise_log_sd = m->y_sd + targets;
    m->target_spread = m->noise_log_sd + targets;
    for (int64_t k = 0; k < targets; k++) m->y_sd[k] = m->target_spread[k] = 1;
    return XB_OK;
}

xb_status xb_model_take_cells(xb_ctx *ctx, xb_model *m, const xb_weight_cells *cells)
{
    const int64_t n = xb_net_param_count(m->net) * xb_weight_cells_count(cells);
    XB_TRY(xb_weight_cells_copy(ctx, &m->cells, cells));
    m->cell = xb_new(ctx, n, sizeof *m->cell);
    return m->cell ? XB_OK : XB_E_MEMORY;
}

int64_t xb_model_noise_states(const xb_model *model)
{
    return model->noise_net ? xb_net_state_count(model->noise_net) : 0;
}

xb_status xb_model_blocks(xb_ctx *ctx, xb_model *model)
{
    int64_t n = xb_net_param_count(model->net);
    int64_t noise = model->noise_net ? xb_net_param_count(model->noise_net) : 0;
    model->mu = xb_new(ctx, n, sizeof *model->mu);
    model->sigma = xb_new(ctx, n, sizeof *model->sigma);
    model->state = xb_new(ctx, xb_net_state_count(model->net), sizeof *model->state);
    model->noise_mu = xb_new(ctx, noise, sizeof *model->noise_mu);
    model->noise_state =
        xb_new(ctx, xb_model_noise_states(model), sizeof *model->noise_state);
    bool all = model->mu && model->sigma && model->state && model->noise_mu &&
               model->noise_state;
    return all ? XB_OK : XB_E_MEMORY;
}

static void free_names(char **name, int64_t n)
{
    for (int64_t i = 0; name && i < n; i++) free(name[i]);
    free(name);
}

/* An ensemble borrows the process of its first member. */
void xb_model_set_process(xb_model *m, xb_process *process)
{
    xb_process_destroy(m->process);
    m->process = process;
    if (m->member) m->member[0]->process = process;
}

double xb_model_process_length(const xb_model *m)
{
    return m->process ? m->process->length : NAN;
}

void xb_model_destroy(xb_model *model)
{
    if (!model) return;
    if (model->member) {
        xb_model_part(model);
        return;
    }
    xb_net_destroy(model->net);
    xb_net_destroy(model->noise_net);
    xb_law_destroy(model->law);
    xb_weight_cells_destroy(model->cells);
    free(model->cell);
    free_names(model->feature_name, model->features);
    free_names(model->class_name, model->classes);
    xb_recipe_destroy(model->recipe);
    free(model->x_mean);
    free(model->x_sd);
    free(model->x_low);
    free(model->x_bend);
    free(model->target_name);
    free_names(model->target_each, model->targets);
    free(model->y_mean); /* frees the whole block */
    free(model->mu);
    free(model->sigma);
    free(model->state);
    free(model->noise_mu);
    free(model->noise_state);
    free(model->settings);
    free(model->provenance);
    free(model->calibration);
    xb_process_destroy(model->process);
    free(model);
}

int64_t xb_model_outputs(const xb_model *model)
{
    return model->likelihood == XB_LIKELIHOOD_SOFTMAX ? model->classes : model->targets;
}

xb_status xb_model_check_nets(xb_ctx *ctx, const xb_model *model)
{
    int64_t outputs = xb_shape_size(xb_net_output(model->net));
    if (outputs != xb_model_outputs(model))
        return xb_fail(ctx, XB_E_INPUT,
                       "net '%s' has %lld %s, %s needs %lld: end it with 'dense %lld'",
                       xb_net_text(model->net), (long long)outputs,
                       xb_plural(outputs, "output", "outputs"),
                       model->classes       ? "a target of that many classes"
                       : model->targets > 1 ? "as many targets"
                                            : "this target",
                       (long long)xb_model_outputs(model),
                       (long long)xb_model_outputs(model));
    if (!model->noise_net) return XB_OK;
    if (xb_shape_size(xb_net_output(model->noise_net)) == model->targets) return XB_OK;
    if (model->targets == 1)
        return xb_fail(ctx, XB_E_INPUT, "noise net '%s': expected one output",
                       xb_net_text(model->noise_net));
    return xb_fail(ctx, XB_E_INPUT,
                   "noise net '%s': expected %lld outputs, one for each target",
                   xb_net_text(model->noise_net), (long long)model->targets);
}

void xb_model_scale_inputs(const xb_model *model, float *out, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < model->features; j++) {
            int64_t at = i * model->features + j;
            out[at] = (float)xb_model_scaled_input(model, j, x[at]);
        }
}

/* (V16) */
static void scale_bytes(float *out, const uint8_t *x, int64_t n)
{
    float level[256];
    for (int i = 0; i < 256; i++) level[i] = (float)(i / 255.0);
    for (int64_t i = 0; i < n; i++) out[i] = level[x[i]];
}

void xb_model_take_rows(const xb_model *model, float *out, const xb_rows *rows,
                        int64_t first, int64_t count)
{
    const int64_t width = rows->features;
    for (int64_t i = 0; i < count; i++, out += width) {
        int64_t at = (rows->select ? rows->select[first + i] : first + i) * width;
        if (rows->bytes)
            scale_bytes(out, rows->bytes + at, width);
        else if (rows->scaled)
            memcpy(out, rows->scaled + at, (size_t)width * sizeof *out);
        else
            xb_model_scale_inputs(model, out, rows->x + at, 1);
    }
}

/* The largest scaled value, whose square fits into a float; beyond it a net's sums soon
 * become infinite. */
#define SCALED_MAX 1e18

xb_status xb_model_check_rows(xb_ctx *ctx, const xb_model *m, const xb_rows *rows)
{
    XB_TRY(xb_rows_check(ctx, rows));
    for (int64_t i = 0; rows->x && i < rows->n; i++) {
        const double *x = rows->x + (rows->select ? rows->select[i] : i) * m->features;
        for (int64_t j = 0; j < m->features; j++) {
            double scaled = xb_model_scaled_input(m, j, x[j]);
            if (fabs(scaled) <= SCALED_MAX) continue;
            return xb_fail(ctx, XB_E_INPUT,
                           "row %lld, column '%s': %g is %.2g standard deviations from "
                           "the training data, expected at most %g",
                           (long long)(rows->first + i + 1), xb_model_feature_name(m, j),
                           x[j], fabs(scaled), SCALED_MAX);
        }
    }
    return XB_OK;
}

const xb_net *xb_model_net(const xb_model *m) { return m->net; }
const xb_net *xb_model_noise_net(const xb_model *m) { return m->noise_net; }
const char *xb_model_net_text(const xb_model *m) { return xb_net_text(m->net); }
const xb_law *xb_model_law(const xb_model *m) { return m->law; }
const xb_weight_cells *xb_model_cells(const xb_model *m) { return m->cells; }

const float *xb_model_cell_states(const xb_model *m, int64_t tensor)
{
    if (!m->cells || tensor < 0 || tensor >= xb_net_tensor_count(m->net)) return NULL;
    const xb_tensor *t = xb_net_tensor_at(m->net, tensor);
    return t->stochastic ? m->cell + xb_weight_cells_count(m->cells) * t->offset : NULL;
}
xb_prior xb_model_prior(const xb_model *m) { return m->prior; }
xb_likelihood xb_model_likelihood(const xb_model *m) { return m->likelihood; }
const char *xb_model_settings(const xb_model *m) { return m->settings; }
const char *xb_model_provenance(const xb_model *m) { return m->provenance; }

xb_weights xb_model_weights(const xb_model *m)
{
    return (xb_weights){m->mu, m->sigma, m->state, NULL};
}

xb_weights xb_model_noise_weights(const xb_model *m)
{
    if (!m->noise_net) return (xb_weights){0};
    return (xb_weights){m->noise_mu, NULL, m->noise_state, NULL};
}

bool xb_model_of_images(const xb_model *m) { return m->pixels; }
int64_t xb_model_feature_count(const xb_model *m) { return m->features; }
const char *xb_model_feature_name(const xb_model *m, int64_t i)
{
    return m->feature_name[i] ? m->feature_name[i] : "";
}
const char *xb_model_target_name(const xb_model *m) { return m->target_name; }
int64_t xb_model_class_count(const xb_model *m) { return m->classes; }
const char *xb_model_class_name(const xb_model *m, int64_t k) { return m->class_name[k]; }
const xb_recipe *xb_model_recipe(const xb_model *m) { return m->recipe; }
const double *xb_model_input_mean(const xb_model *m) { return m->x_mean; }
const double *xb_model_input_sd(const xb_model *m) { return m->x_sd; }
double xb_model_target_mean(const xb_model *m) { return m->y_mean[0]; }
double xb_model_target_sd(const xb_model *m) { return m->y_sd[0]; }
double xb_model_noise_sd(const xb_model *m) { return xb_model_target_at(m, 0).noise_sd; }
int64_t xb_model_target_count(const xb_model *m) { return m->targets; }

bool xb_model_has_one_noise(const xb_model *m)
{
    return m->likelihood == XB_LIKELIHOOD_GAUSSIAN ||
           m->likelihood == XB_LIKELIHOOD_STUDENT;
}

double xb_model_noise_degrees(const xb_model *m)
{
    return m->likelihood == XB_LIKELIHOOD_STUDENT ? m->noise_degrees : NAN;
}

bool xb_model_of_counts(const xb_model *m)
{
    return m->likelihood == XB_LIKELIHOOD_POISSON ||
           m->likelihood == XB_LIKELIHOOD_NEGATIVE_BINOMIAL;
}

double xb_model_dispersion(const xb_model *m, int64_t k)
{
    const int64_t members = xb_model_member_count(m);
    double sum = 0;
    if (!xb_model_of_counts(m) || k < 0 || k >= m->targets) return NAN;
    if (m->likelihood == XB_LIKELIHOOD_POISSON) return 0;
    for (int64_t i = 0; i < members; i++)
        sum += exp(xb_model_member_at(m, i)->noise_log_sd[k]) / (double)members;
    return sum;
}

void xb_model_sizes(const xb_model *m, double *size)
{
    for (int64_t i = 0; i < xb_model_member_count(m); i++)
        for (int64_t k = 0; k < m->targets; k++)
            *size++ = 1 / xb_model_dispersion(xb_model_member_at(m, i), k);
}

/* (P7) For an ensemble, the root mean square over members. */
static double noise_sd(const xb_model *m, int64_t k)
{
    double square = 0;
    if (m->likelihood == XB_LIKELIHOOD_NEGATIVE_BINOMIAL)
        return sqrt(xb_model_dispersion(m, k));
    if (!xb_model_has_one_noise(m)) return NAN;
    if (!m->member) return m->y_sd[k] * exp(m->noise_log_sd[k]);
    for (int64_t i = 0; i < m->members; i++) {
        const double one = noise_sd(m->member[i], k);
        square += one * one / (double)m->members;
    }
    return sqrt(square);
}

xb_model_target xb_model_target_at(const xb_model *m, int64_t k)
{
    if (k < 0 || k >= m->targets) return (xb_model_target){NULL, NAN, NAN, NAN};
    return (xb_model_target){.name = m->target_each[k],
                             .mean = m->y_mean[k],
                             .sd = m->y_sd[k],
                             .noise_sd = noise_sd(m, k)};
}
