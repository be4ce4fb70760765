/* train_model.c: the model before and after training: made first with nets, law and
 * scales but no parameters, and later from the parameters that a trainer holds at any
 * time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/json.h"
#include "law/family.h"
#include "law/lawfile.h"
#include "vi/trainer.h"

/* ---- before */

static xb_status copy_law(xb_ctx *ctx, xb_law **out, const xb_law *law)
{
    if (!law) return xb_law_parse(ctx, out, "gaussian");
    if (law->family->no_file) { /* the functions are shared, with another owner */
        *out = xb_law_share(law);
        return XB_OK;
    }
    json_t *root = xb_law_to_json(law);
    if (!root) return xb_fail(ctx, XB_E_MEMORY, "not enough memory for a law");
    xb_status status = xb_law_from_json(ctx, out, root, xb_law_text(law));
    json_decref(root);
    return status;
}

static xb_status choose_likelihood(xb_ctx *ctx, xb_model *m, const xb_train_data *data,
                                   const xb_train_options *opt)
{
    bool classes = data->classes > 0;
    m->likelihood = opt->likelihood;
    if (m->likelihood == XB_LIKELIHOOD_AUTO)
        m->likelihood = opt->noise_net ? XB_LIKELIHOOD_HETEROSCEDASTIC
                        : classes      ? XB_LIKELIHOOD_SOFTMAX
                                       : XB_LIKELIHOOD_GAUSSIAN;
    if (classes == (m->likelihood == XB_LIKELIHOOD_SOFTMAX)) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT, "likelihood %s does not suit a target of %s%s",
                   xb_likelihood_name(m->likelihood), classes ? "classes" : "numbers",
                   classes ? ", which expects softmax"
                           : ": learn the target as classes, or choose another");
}

static const char STANDARD_DENSE[] = "dense 50, relu";
static const char STANDARD_CONV[] =
    "conv 16, relu, maxpool 2 ceil, batchnorm, conv 32, relu, maxpool 2 ceil, batchnorm,"
    " flatten, dense 64, relu";

static xb_shape input_shape(const xb_train_data *data, const xb_train_options *opt)
{
    xb_shape shape = opt->input;
    if (xb_shape_size(shape) == 0 && data->images)
        xb_images_shape(data->images, &shape.h, &shape.w, &shape.c);
    return shape;
}

/* (V19) Hidden units of the noise net. */
static int64_t noise_units(int64_t rows)
{
    const int64_t least = 3, most = 50, units = llround(sqrt((double)rows) / 10);
    return units < least ? least : units > most ? most : units;
}

enum { NOISE_TEXT = 64 };

/* The noise net that is not given: without a prior, and for images, it has the layers of
 * the net, as in the paper. */
static const char *noise_text(char text[NOISE_TEXT], const xb_model *m, int64_t rows,
                              const xb_train_options *opt, bool picture, const char *net)
{
    if (picture || !(opt->noise_prior > 0)) return net;
    snprintf(text, NOISE_TEXT, "dense %lld, tanh, dense %lld",
             (long long)noise_units(rows), (long long)xb_model_outputs(m));
    return text;
}

static xb_status make_nets(xb_ctx *ctx, xb_model *m, const xb_train_data *data,
                           const xb_train_options *opt)
{
    xb_shape input = input_shape(data, opt);
    bool picture = input.h * input.w > 1;
    char standard[160];
    snprintf(standard, sizeof standard, "%s, dense %lld",
             picture ? STANDARD_CONV : STANDARD_DENSE, (long long)xb_model_outputs(m));
    const char *text = opt->net ? opt->net : standard;
    xb_net_options net = xb_net_options_default();
    net.stochastic = opt->stochastic;
    xb_net_options fixed = xb_net_options_default();
    fixed.stochastic = XB_STOCHASTIC_NONE;
    if (xb_shape_size(input) == 0) input = (xb_shape){1, 1, m->features};
    if (xb_shape_size(input) != m->features)
        return xb_fail(ctx, XB_E_ARGUMENT, "an input of %lld x %lld x %lld for %lld %s",
                       (long long)input.h, (long long)input.w, (long long)input.c,
                       (long long)m->features,
                       xb_plural(m->features, "column", "columns"));
    XB_TRY(xb_net_parse(ctx, &m->net, text, input, &net));
    if (m->likelihood != XB_LIKELIHOOD_HETEROSCEDASTIC)
        return xb_model_check_nets(ctx, m);
    char noise[NOISE_TEXT];
    const char *second = opt->noise_net
                             ? opt->noise_net
                             : noise_text(noise, m, data->n, opt, picture, text);
    XB_TRY(xb_net_parse(ctx, &m->noise_net, second, input, &fixed));
    return xb_model_check_nets(ctx, m);
}

/* Checks that the nets agree, because another model's means fit only the same net. */
static xb_status check_start(xb_ctx *ctx, const xb_model *m, const xb_model *start)
{
    if (!start) return XB_OK;
    xb_shape a = xb_net_input(m->net), b = xb_net_input(start->net);
    bool same = strcmp(xb_net_text(m->net), xb_net_text(start->net)) == 0 && a.h == b.h &&
                a.w == b.w && a.c == b.c;
    if (same) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT, "net '%s' cannot start from a model of net '%s'",
                   xb_net_text(m->net), xb_net_text(start->net));
}

xb_status xb_train_model_make(xb_ctx *ctx, xb_model *m, const xb_train_data *data,
                              const xb_train_options *opt)
{
    XB_TRY(choose_likelihood(ctx, m, data, opt));
    m->prior = xb_train_prior(opt, m->likelihood);
    XB_TRY(xb_model_fit_columns(ctx, m, data, opt));
    XB_TRY(xb_train_check_counts(ctx, data, m));
    XB_TRY(make_nets(ctx, m, data, opt));
    XB_TRY(check_start(ctx, m, opt->start));
    XB_TRY(copy_law(ctx, &m->law, opt->law));
    if (opt->cells) XB_TRY(xb_model_take_cells(ctx, m, opt->cells));
    return xb_model_blocks(ctx, m);
}

/* The fingerprint that a checkpoint must match. */
xb_status xb_trainer_fingerprint(xb_trainer *t)
{
    char *settings = NULL, prior[XB_PRIOR_TEXT];
    const xb_model *m = t->model;
    XB_TRY(xb_train_settings(t->ctx, &settings, t));
    xb_prior_text(prior, &m->prior);
    const char *noise = m->noise_net ? xb_net_text(m->noise_net) : "";
    int64_t size = (int64_t)(strlen(settings) + strlen(xb_net_text(m->net)) +
                             strlen(noise) + strlen(xb_law_text(m->law))) +
                   512;
    t->fingerprint = xb_new(t->ctx, size, 1);
    if (t->fingerprint)
        snprintf(t->fingerprint, (size_t)size,
                 "%s|%s|%lld|%s|%.17g|%s|%s|%016llx|%016llx|%s", xb_net_text(m->net),
                 noise, (long long)xb_net_stochastic_count(m->net), xb_law_text(m->law),
                 xb_law_sd(m->law), xb_likelihood_name(m->likelihood), prior,
                 (unsigned long long)t->checksum,
                 (unsigned long long)(t->opt.start ? xb_model_checksum(t->opt.start) : 0),
                 settings);
    free(settings);
    return t->fingerprint ? XB_OK : XB_E_MEMORY;
}

/* ---- after */

static void fetch(const xb_trainer *t, float *to, const float *from, int64_t n)
{
    t->backend->get(t->backend, to, from, n * (int64_t)sizeof *to);
}

static void fetch_numbers(xb_trainer *t)
{
    xb_model *m = t->own;
    xb_trainer_fill_sigma(t);
    fetch(t, m->mu, t->theta, t->p);
    fetch(t, m->sigma, t->sigma, t->p);
    if (m->cells) xb_tied_fetch(t, m->cell);
    fetch(t, m->state, t->state, t->net_states);
    if (m->noise_net) {
        fetch(t, m->noise_mu, t->theta + t->noise, t->q);
        fetch(t, m->noise_state, t->noise_state, t->states - t->net_states);
    }
    for (int64_t k = 0; !m->noise_net && t->q > 0 && k < m->targets; k++)
        m->noise_log_sd[k] = xb_trainer_log_sd(t, k);
    m->noise_degrees = xb_student_degrees(xb_trainer_shape(t));
}

static xb_status copy_cells(xb_ctx *ctx, xb_model *to, const xb_model *from)
{
    const int64_t n = xb_net_param_count(from->net) * xb_weight_cells_count(from->cells);
    XB_TRY(xb_model_take_cells(ctx, to, from->cells));
    memcpy(to->cell, from->cell, (size_t)n * sizeof *to->cell);
    return XB_OK;
}

static xb_status copy_model(xb_ctx *ctx, xb_model **out, const xb_trainer *t)
{
    const xb_model *m = t->own;
    char *settings = NULL, *provenance = NULL;
    XB_TRY(xb_backend_check(t->backend, ctx));
    xb_model_parts parts = {.net = m->net,
                            .weights = xb_model_weights(m),
                            .law = m->law,
                            .prior = m->prior,
                            .likelihood = m->likelihood,
                            .noise_degrees = m->noise_degrees,
                            .noise_net = m->noise_net,
                            .noise_mu = m->noise_mu,
                            .noise_state = m->noise_state,
                            .pixels = m->pixels,
                            .feature_name = (const char *const *)m->feature_name,
                            .input_mean = m->x_mean,
                            .input_sd = m->x_sd,
                            .classes = m->classes,
                            .class_name = (const char *const *)m->class_name};
    xb_status status = xb_train_settings(ctx, &settings, t);
    if (status == XB_OK) status = xb_train_provenance(ctx, &provenance, t);
    parts.settings = settings;
    parts.provenance = provenance;
    xb_model *copy = NULL;
    xb_model_target *target = xb_new(ctx, m->targets, sizeof *target);
    if (!target) status = XB_E_MEMORY;
    for (int64_t k = 0; target && k < m->targets; k++)
        target[k] = xb_model_target_at(m, k);
    if (status == XB_OK)
        status = xb_model_create_targets(ctx, &copy, &parts, target, m->targets);
    for (int64_t k = 0; status == XB_OK && k < m->targets; k++)
        copy->noise_log_sd[k] = m->noise_log_sd[k]; /* to the last bit */
    if (status == XB_OK) copy->noise_least = m->noise_least;
    for (int64_t j = 0; status == XB_OK && j < m->features; j++) {
        copy->x_low[j] = m->x_low[j];
        copy->x_bend[j] = m->x_bend[j];
    }
    if (status == XB_OK) status = xb_model_set_recipe(ctx, copy, m->recipe);
    if (status == XB_OK && m->cells) status = copy_cells(ctx, copy, m);
    free(target);
    free(settings);
    free(provenance);
    if (status == XB_OK)
        *out = copy;
    else
        xb_model_destroy(copy);
    return status;
}

/* Returns a copy of the state [n_live], to be restored later; NULL: memory has run
 * out. */
static float *lend(const xb_trainer *t)
{
    float *live = xb_new(t->ctx, t->n_live, sizeof *live);
    if (live) fetch(t, live, t->live, t->n_live);
    return live;
}

static void give_back(xb_trainer *t, float *live)
{
    t->backend->put(t->backend, t->live, live, t->n_live * (int64_t)sizeof *live);
    xb_trainer_fill_sigma(t);
    free(live);
}

void xb_trainer_copy(const xb_trainer *t, float *to, const float *from, int64_t n)
{
    t->backend->copy(t->backend, to, from, n * (int64_t)sizeof *to);
}

/* Before the second phase, the model is the one that the phase would start from. */
xb_status xb_trainer_model(xb_ctx *ctx, xb_model **out, xb_trainer *t)
{
    t->ctx = ctx;
    const bool early = t->place.phase == XB_PHASE_MLE;
    float *kept = early ? lend(t) : NULL;
    if (early && !kept) return XB_E_MEMORY;
    xb_status status = early ? xb_trainer_start_vi(t) : XB_OK;
    fetch_numbers(t);
    if (early) give_back(t, kept);
    return status == XB_OK ? copy_model(ctx, out, t) : status;
}

xb_status xb_trainer_best_model(xb_ctx *ctx, xb_model **out, xb_trainer *t)
{
    t->ctx = ctx;
    if (!isfinite(t->sums.best_score)) return xb_trainer_model(ctx, out, t);
    float *kept = lend(t);
    if (!kept) return XB_E_MEMORY;
    xb_trainer_copy(t, t->theta, t->best_theta, t->n_theta);
    xb_trainer_copy(t, t->state, t->best_state, t->states);
    fetch_numbers(t);
    give_back(t, kept);
    return copy_model(ctx, out, t);
}
