/* train_settings.c: options of training: their defaults, their checks, and their texts in
 * models and checkpoints. */
#include <math.h>
#include <stdlib.h>

#include "base/count_mass.h"
#include "crossbayes/json.h"
#include "data/rows.h"
#include "law/lawfile.h"
#include "vi/trainer.h"

void xb_train_options_init(xb_train_options *opt, size_t size)
{
    xb_adam_options adam = xb_adam_options_default();
    adam.rate = 3e-3; /* with 1e-3, 10,000 steps leave sigma far from its final value */
    const xb_train_options standard = {
        .prior = {.kind = XB_PRIOR_NORMAL}, /* its width is chosen */
        .prior_by_fan = true,
        .estimator = XB_ESTIMATOR_AUTO,
        .draws = 1,
        .batch = 100,
        .mle_epochs = -1,
        .epochs = -1,
        .adam = adam,
        .sigma_rate = 1,
        .rate = {.kind = XB_SCHEDULE_COSINE},
        .temperature = {.kind = XB_SCHEDULE_CONSTANT, .value = 1},
        .sigma_transform = XB_SIGMA_TRANSFORM_EXP,
        .sigma = 0.01,
        .validation_draws = 16,
        .seed = 1,
        .checkpoint_seconds = 60,
        .noise_prior = 0.3, /* (V19) */
    };
    xb_options_fill(opt, size, &standard, sizeof standard);
}

/* (V14) Targets that are numbers are learnt with a spread of 1, logits have none. */
xb_prior xb_train_prior(const xb_train_options *o, xb_likelihood likelihood)
{
    xb_prior prior = o->prior;
    if (prior.kind == XB_PRIOR_NORMAL && prior.sd == 0)
        prior.sd = o->prior_by_fan && likelihood == XB_LIKELIHOOD_SOFTMAX ? 5 : 1;
    return prior;
}

static xb_status check_sizes(xb_ctx *ctx, const xb_train_options *o)
{
    if (o->batch < 1 || o->batch > INT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "batch is %lld, expected 1 or more",
                       (long long)o->batch);
    if (o->draws < 1 || o->draws > INT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "draws per step is %lld, expected 1 or more",
                       (long long)o->draws);
    if (o->group < 0)
        return xb_fail(ctx, XB_E_ARGUMENT, "groups of %lld rows, expected 0 or more",
                       (long long)o->group);
    if (o->antithetic && o->draws % 2 != 0)
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "draws per step is %lld, expected an even number: antithetic draws "
            "come in pairs",
            (long long)o->draws);
    if (!(o->sigma > 0) || !isfinite(o->sigma))
        return xb_fail(ctx, XB_E_ARGUMENT, "sigma starts at %g, expected more than 0",
                       o->sigma);
    if (!(o->sigma_rate >= 0) || !isfinite(o->sigma_rate))
        return xb_fail(ctx, XB_E_ARGUMENT, "sigma_rate is %g, expected 0 or more",
                       o->sigma_rate);
    if (!(o->noise_prior >= 0) || !isfinite(o->noise_prior))
        return xb_fail(ctx, XB_E_ARGUMENT, "noise_prior is %g, expected 0 or more",
                       o->noise_prior);
    if (!(o->n_eff_penalty >= 0) || !isfinite(o->n_eff_penalty))
        return xb_fail(ctx, XB_E_ARGUMENT, "n_eff_penalty is %g, expected 0 or more",
                       o->n_eff_penalty);
    if (!(o->validation >= 0 && o->validation < 1))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "held-out share %g: expected 0 or more, and below 1",
                       o->validation);
    if (o->validation_draws < 1 || o->validation_draws > INT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld draws for a score, expected 1 or more",
                       (long long)o->validation_draws);
    return XB_OK;
}

xb_status xb_train_check_values(xb_ctx *ctx, const xb_train_data *d, int64_t targets)
{
    const xb_rows rows = xb_train_rows(d);
    XB_TRY(xb_rows_check(ctx, &rows));
    for (int64_t i = 0; i < d->n * targets; i++) {
        double y = xb_train_target(d, targets, i / targets)[i % targets];
        bool known = d->classes == 0 || (y >= 0 && y < (double)d->classes);
        if (!isfinite(y) || !known)
            return xb_fail(ctx, XB_E_INPUT, "row %lld: %g is not a valid target",
                           (long long)(i / targets) + 1, y);
    }
    return XB_OK;
}

bool xb_is_count(double y) { return y >= 0 && y <= XB_COUNT_MOST && y == floor(y); }

xb_status xb_train_check_counts(xb_ctx *ctx, const xb_train_data *d, const xb_model *m)
{
    for (int64_t i = 0; i < d->n * m->targets && xb_model_of_counts(m); i++) {
        const double y = xb_train_target(d, m->targets, i / m->targets)[i % m->targets];
        if (!xb_is_count(y))
            return xb_fail(
                ctx, XB_E_INPUT,
                "row %lld: target %g: likelihood %s expects whole numbers, 0 to"
                " %.0f",
                (long long)(i / m->targets) + 1, y, xb_likelihood_name(m->likelihood),
                XB_COUNT_MOST);
    }
    return XB_OK;
}

static xb_status check_targets(xb_ctx *ctx, const xb_train_data *d,
                               const xb_train_options *o)
{
    const int64_t named = d->names ? xb_frame_target_count(d->names) : 0;
    if (o->targets < 0 || (o->targets > 1 && d->classes > 0) ||
        (o->targets > 0 && named > 0 && o->targets != named))
        return xb_fail(
            ctx, XB_E_ARGUMENT, "%lld targets are described, but the data have %lld",
            (long long)o->targets, (long long)(d->classes > 0 || named == 0 ? 1 : named));
    return XB_OK;
}

enum { LEAST_ROWS = 2 }; /* a single row has no spread, so any certainty would fit it */

/* The least share of n rows that is a row, rounded up to two digits. */
static double least_share(int64_t n)
{
    const double share = 1 / (double)n, unit = pow(10, floor(log10(share)) - 1);
    return unit * ceil(share / unit);
}

static xb_status check_held(xb_ctx *ctx, const xb_train_data *d,
                            const xb_train_options *o)
{
    const int64_t held = xb_train_held(d, o);
    if (o->patience > 0 && held == 0)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "patience needs a validation score, but no rows are held out: set "
                       "a validation share");
    if (o->validation > 0 && held == 0)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "a validation share of %g holds out none of %lld rows: expected "
                       "%.2g or more, or 0 for no validation",
                       o->validation, (long long)d->n, least_share(d->n));
    if (held < 0 || d->n - held < LEAST_ROWS)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld of %lld rows held out: expected %d or more to learn from",
                       (long long)held, (long long)d->n, LEAST_ROWS);
    return XB_OK;
}

xb_status xb_train_check(xb_ctx *ctx, const xb_train_data *d, const xb_train_options *o)
{
    if (!d->y) return xb_fail(ctx, XB_E_ARGUMENT, "the data have no target");
    if (d->n < LEAST_ROWS || d->n > INT32_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld training %s: expected %d to 2^31 - 1",
                       (long long)d->n, xb_plural(d->n, "row", "rows"), LEAST_ROWS);
    if (d->features < 1)
        return xb_fail(ctx, XB_E_ARGUMENT, "the data have no column besides the target");
    if (d->classes == 1)
        return xb_fail(ctx, XB_E_INPUT,
                       "the target has only one class: expected two or more");
    XB_TRY(check_sizes(ctx, o));
    XB_TRY(check_targets(ctx, d, o));
    if (o->epochs == 0 && o->mle_epochs == 0)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "0 epochs in both phases: nothing would be learnt; expected 1 or "
                       "more in one of them");
    if (o->members < 0 || o->members > XB_MEMBERS_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld members: expected 1 to %d",
                       (long long)o->members, XB_MEMBERS_MAX);
    XB_TRY(check_held(ctx, d, o));
    XB_TRY(xb_adam_check(ctx, &o->adam));
    return xb_train_check_values(ctx, d, xb_train_targets(d, o));
}

static void set_text(json_t **root, const char *key, const char *text)
{
    xb_json_set(root, key, xb_json_string(text));
}

static void set_count(json_t **root, const char *key, int64_t value)
{
    xb_json_set(root, key, json_integer(value));
}

static void set_real(json_t **root, const char *key, double value)
{
    xb_json_set(root, key, json_real(value));
}

static void set_schedules(json_t **root, const xb_train_options *o)
{
    char text[XB_SCHEDULE_TEXT];
    xb_schedule_text(text, &o->rate);
    set_text(root, "rate_schedule", text);
    xb_schedule_text(text, &o->temperature);
    set_text(root, "temperature", text);
}

static void set_optimiser(json_t **root, const xb_train_options *o)
{
    set_real(root, "rate", o->adam.rate);
    set_real(root, "beta1", o->adam.beta1);
    set_real(root, "beta2", o->adam.beta2);
    set_real(root, "epsilon", o->adam.epsilon);
    set_real(root, "sigma_rate", o->sigma_rate);
    set_text(root, "sigma_transform", xb_sigma_transform_name(o->sigma_transform));
    set_real(root, "sigma", o->sigma);
}

static json_t *array_json(const xb_train_array *a)
{
    json_t *root = json_object();
    set_count(&root, "dac_bits", a->dac_bits);
    set_count(&root, "adc_bits", a->adc_bits);
    set_count(&root, "levels", a->levels);
    set_real(&root, "error", a->error);
    set_real(&root, "floor", a->floor);
    return root;
}

xb_status xb_train_settings(xb_ctx *ctx, char **out, const xb_trainer *t)
{
    const xb_train_options *o = &t->opt;
    json_t *root = json_object();
    set_text(&root, "estimator", xb_estimator_name((xb_estimator)o->estimator));
    set_count(&root, "group", o->group);
    set_count(&root, "draws", o->draws);
    xb_json_set(&root, "antithetic", json_boolean(o->antithetic));
    xb_json_set(&root, "freeze", json_boolean(o->freeze));
    xb_json_set(&root, "prior_by_fan", json_boolean(o->prior_by_fan));
    set_count(&root, "batch", o->batch);
    set_count(&root, "mle_epochs", t->epochs[XB_PHASE_MLE]);
    set_count(&root, "epochs", t->epochs[XB_PHASE_VI]);
    set_optimiser(&root, o);
    set_schedules(&root, o);
    if (t->model->noise_net) set_real(&root, "noise_prior", o->noise_prior);
    set_real(&root, "validation", o->validation);
    set_count(&root, "patience", o->patience);
    if (o->validation_draws != xb_train_options_default().validation_draws)
        set_count(&root, "validation_draws", o->validation_draws);
    if (xb_model_input_bend(t->model)) set_text(&root, "skewed", "log");
    if (o->mirror) xb_json_set(&root, "mirror", json_true());
    if (o->cells) set_text(&root, "cells", xb_weight_cells_text(o->cells));
    if (o->array) xb_json_set(&root, "array", array_json(o->array));
    if (o->n_eff_penalty > 0) set_real(&root, "n_eff_penalty", o->n_eff_penalty);
    if (o->target_sd != 0) {
        set_real(&root, "target_mean", o->target_mean);
        set_real(&root, "target_sd", o->target_sd);
    }
    xb_json_set(&root, "seed", json_integer((json_int_t)o->seed));
    xb_status status = xb_json_text(ctx, out, root);
    json_decref(root);
    return status;
}

xb_status xb_train_provenance(xb_ctx *ctx, char **out, const xb_trainer *t)
{
    char sum[24];
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)t->checksum);
    json_t *root = xb_provenance(ctx);
    xb_json_set(&root, "seed", json_integer((json_int_t)t->opt.seed));
    set_count(&root, "rows", t->n);
    set_count(&root, "rows_held_out", t->held);
    set_text(&root, "data_checksum", sum);
    xb_status status = xb_json_text(ctx, out, root);
    json_decref(root);
    return status;
}
