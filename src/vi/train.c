/* train.c: the two phases of training, epoch by epoch (maths V1, V10-V13).
 *
 * The outer function makes a model with nets, law and scales but no numbers, a trainer
 * around it, runs the trainer, and moves its numbers into the model. Steps are in
 * train_step.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "crossbayes/json.h"
#include "law/lawfile.h"
#include "vi/trainer.h"

/* ---- the model without its numbers */

static xb_status copy_law(xb_ctx *ctx, xb_law **out, const xb_law *law)
{
    if (!law) return xb_law_parse(ctx, out, "gaussian");
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
        m->likelihood = classes ? XB_LIKELIHOOD_SOFTMAX : XB_LIKELIHOOD_GAUSSIAN;
    if (classes == (m->likelihood == XB_LIKELIHOOD_SOFTMAX)) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT, "likelihood %s does not suit a target of %s",
                   xb_likelihood_name(m->likelihood), classes ? "classes" : "numbers");
}

static const char STANDARD_DENSE[] = "dense 50, relu";
static const char STANDARD_CONV[] =
    "conv 16, relu, maxpool 2 ceil, batchnorm, conv 32, relu, maxpool 2 ceil, batchnorm,"
    " flatten, dense 64, relu";

static xb_status make_nets(xb_ctx *ctx, xb_model *m, const xb_train_options *opt)
{
    bool picture = opt->input.h * opt->input.w > 1;
    char standard[160];
    snprintf(standard, sizeof standard, "%s, dense %lld",
             picture ? STANDARD_CONV : STANDARD_DENSE, (long long)xb_model_outputs(m));
    const char *text = opt->net ? opt->net : standard;
    xb_net_options net = xb_net_options_default();
    net.stochastic = opt->stochastic;
    xb_net_options fixed = xb_net_options_default();
    fixed.stochastic = XB_STOCHASTIC_NONE;
    xb_shape input = opt->input;
    if (xb_shape_size(input) == 0) input = (xb_shape){1, 1, m->features};
    if (xb_shape_size(input) != m->features)
        return xb_fail(ctx, XB_E_ARGUMENT, "an input of %lld x %lld x %lld for %lld %s",
                       (long long)input.h, (long long)input.w, (long long)input.c,
                       (long long)m->features,
                       xb_plural(m->features, "column", "columns"));
    XB_TRY(xb_net_parse(ctx, &m->net, text, input, &net));
    if (m->likelihood == XB_LIKELIHOOD_HETEROSCEDASTIC)
        XB_TRY(xb_net_parse(ctx, &m->noise_net, opt->noise_net ? opt->noise_net : text,
                            input, &fixed));
    return xb_model_check_nets(ctx, m);
}

/* Another model's means only fit a net that is the same. */
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

static xb_status make_model(xb_ctx *ctx, xb_model *m, const xb_train_data *data,
                            const xb_train_options *opt)
{
    XB_TRY(choose_likelihood(ctx, m, data, opt));
    m->prior = xb_train_prior(opt, m->likelihood);
    XB_TRY(xb_model_fit_columns(ctx, m, data, opt));
    XB_TRY(make_nets(ctx, m, opt));
    XB_TRY(check_start(ctx, m, opt->start));
    XB_TRY(copy_law(ctx, &m->law, opt->law));
    return xb_model_blocks(ctx, m);
}

/* ---- epochs */

static void trace_epoch(xb_trainer *t, double validation)
{
    double *row = t->trace + t->place.rows++ * XB_TRACE_COLUMNS;
    double steps = (double)t->batches;
    bool vi = t->place.phase == XB_PHASE_VI;
    row[XB_TRACE_PHASE] = (double)t->place.phase + 1;
    row[XB_TRACE_EPOCH] = (double)t->place.epoch + 1;
    row[XB_TRACE_STEP] = (double)t->place.step;
    row[XB_TRACE_LOG_LIKELIHOOD] = vi ? -t->sums.nll / steps : NAN;
    row[XB_TRACE_KL] = vi ? t->sums.kl / steps : NAN;
    row[XB_TRACE_F] = t->sums.f / steps;
    row[XB_TRACE_TEMPERATURE] = vi ? t->sums.temperature / steps : NAN;
    row[XB_TRACE_SIGMA] = vi && t->traced ? (double)xb_trainer_sigma_median(t) : NAN;
    row[XB_TRACE_NOISE] = vi ? xb_trainer_noise_sd(t) : NAN;
    row[XB_TRACE_VALIDATION] = validation;
}

static void move(const xb_trainer *t, float *to, const float *from, int64_t n)
{
    t->backend->copy(t->backend, to, from, n * (int64_t)sizeof *to);
}

static void keep_best(xb_trainer *t, double score)
{
    if (!(score > t->sums.best_score)) return;
    t->sums.best_score = score;
    t->place.best_epoch = t->place.epoch + 1;
    move(t, t->best_theta, t->theta, t->n_theta);
    move(t, t->best_state, t->state, t->states);
}

static xb_status finish_epoch(xb_trainer *t)
{
    double score = NAN;
    if (t->held > 0 && t->place.phase == XB_PHASE_VI) {
        XB_TRY(xb_trainer_validate(t, &score));
        keep_best(t, score);
    }
    trace_epoch(t, score);
    double best = t->sums.best_score;
    t->sums = (xb_train_sums){.best_score = best};
    t->place.epoch++;
    t->place.batch = 0;
    return XB_OK;
}

static bool phase_is_over(const xb_trainer *t)
{
    const xb_train_place *p = &t->place;
    if (p->epoch >= t->epochs[p->phase]) return true;
    bool counts = p->phase == XB_PHASE_VI && t->held > 0 && t->opt.patience > 0;
    return counts && p->epoch - p->best_epoch >= t->opt.patience;
}

static double now_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static xb_status save_now_and_then(xb_trainer *t)
{
    if (!t->opt.checkpoint) return XB_OK;
    double now = now_seconds();
    if (now - t->saved_at < t->opt.checkpoint_seconds) return XB_OK;
    t->saved_at = now;
    return xb_checkpoint_save(t);
}

static xb_status tell(xb_trainer *t)
{
    int64_t first = t->epochs[XB_PHASE_MLE] * t->batches;
    int64_t done = t->place.step + (t->place.phase == XB_PHASE_VI ? first : 0);
    return xb_progress_tell(t->ctx, t->opt.task ? t->opt.task : "training", done,
                            first + t->epochs[XB_PHASE_VI] * t->batches);
}

static xb_status run_epoch(xb_trainer *t)
{
    xb_trainer_shuffle(t);
    while (t->place.batch < t->batches) {
        XB_TRY(xb_trainer_step(t));
        t->place.batch++;
        t->place.step++;
        if (t->place.batch == t->batches) XB_TRY(finish_epoch(t));
        XB_TRY(save_now_and_then(t));
        XB_TRY(tell(t));
        if (t->place.batch == 0) return XB_OK;
    }
    return XB_OK;
}

static xb_status run_phases(xb_trainer *t)
{
    while (t->place.phase < XB_PHASES) {
        while (!phase_is_over(t)) XB_TRY(run_epoch(t));
        if (t->place.phase == XB_PHASE_VI) return XB_OK;
        XB_TRY(xb_trainer_start_vi(t));
        t->place = (xb_train_place){.phase = XB_PHASE_VI, .rows = t->place.rows};
    }
    return XB_OK;
}

/* A run that stops short leaves its last good state and says where. A step that is not
 * finite has changed nothing, but the one before may have gone too far: then what was
 * saved earlier stays. */
static xb_status stop_short(xb_trainer *t, xb_status why)
{
    if (!t->opt.checkpoint || (why != XB_E_CANCELLED && why != XB_E_NUMERIC)) return why;
    if (!xb_trainer_is_sound(t)) return why;
    char message[XB_MESSAGE_MAX];
    snprintf(message, sizeof message, "%s",
             why == XB_E_CANCELLED ? "training stopped on request"
                                   : xb_ctx_message(t->ctx));
    XB_TRY(xb_checkpoint_save(t));
    return xb_fail(t->ctx, why, "%s; the last good state is in %s", message,
                   t->opt.checkpoint);
}

/* ---- results */

static void fetch(const xb_trainer *t, float *to, const float *from, int64_t n)
{
    t->backend->get(t->backend, to, from, n * (int64_t)sizeof *to);
}

static xb_status fill_model(xb_trainer *t, xb_model *m)
{
    if (isfinite(t->sums.best_score)) {
        move(t, t->theta, t->best_theta, t->n_theta);
        move(t, t->state, t->best_state, t->states);
    }
    xb_trainer_fill_sigma(t);
    fetch(t, m->mu, t->theta, t->p);
    fetch(t, m->sigma, t->sigma, t->p);
    fetch(t, m->state, t->state, t->net_states);
    if (m->noise_net) {
        fetch(t, m->noise_mu, t->theta + t->noise, t->q);
        fetch(t, m->noise_state, t->noise_state, t->states - t->net_states);
    } else if (t->q == 1) {
        m->noise_log_sd = xb_trainer_log_sd(t);
    }
    XB_TRY(xb_backend_check(t->backend, t->ctx));
    XB_TRY(xb_train_settings(t->ctx, &m->settings, t));
    return xb_train_provenance(t->ctx, &m->provenance, t);
}

static xb_status make_trace(xb_trainer *t, xb_table **out)
{
    static const char *const columns[XB_TRACE_COLUMNS] = {
        "phase", "epoch",       "step",         "log_likelihood", "kl",
        "f",     "temperature", "sigma_median", "noise_sd",       "validation"};
    if (!out) return XB_OK;
    xb_table *table = NULL;
    XB_TRY(xb_table_create(t->ctx, &table, "trace", t->place.rows, XB_TRACE_COLUMNS,
                           columns));
    for (int64_t i = 0; i < t->place.rows; i++)
        for (int j = 0; j < XB_TRACE_COLUMNS; j++)
            xb_table_set(table, i, j, t->trace[i * XB_TRACE_COLUMNS + j]);
    *out = table;
    return XB_OK;
}

/* What a checkpoint must agree with. */
static xb_status make_fingerprint(xb_trainer *t)
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

static xb_status run(xb_trainer *t, xb_model *model, xb_table **trace)
{
    t->traced = trace || t->opt.checkpoint; /* where the trace goes on from */
    XB_TRY(make_fingerprint(t));
    xb_trainer_start_weights(t);
    XB_TRY(xb_checkpoint_load(t));
    xb_trainer_fill_sigma(t);
    t->saved_at = now_seconds();
    xb_status status = run_phases(t);
    if (status != XB_OK) return stop_short(t, status);
    XB_TRY(xb_checkpoint_save(t));
    XB_TRY(fill_model(t, model));
    return make_trace(t, trace);
}

xb_status xb_train(xb_ctx *ctx, xb_model **out, xb_table **trace,
                   const xb_train_data *data, const xb_train_options *opt)
{
    xb_train_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, train, &chosen, opt, task));
    opt = &chosen;
    XB_TRY(xb_train_check(ctx, data, opt));
    xb_model *model = NULL;
    xb_trainer *t = NULL;
    XB_TRY(xb_model_new(ctx, &model));
    xb_status status = make_model(ctx, model, data, opt);
    if (status == XB_OK) status = xb_trainer_create(ctx, &t, model, data, opt);
    if (status == XB_OK) status = run(t, model, trace);
    xb_trainer_destroy(t);
    if (status == XB_OK)
        *out = model;
    else
        xb_model_destroy(model);
    return status;
}
