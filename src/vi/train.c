/* train.c: the two phases of training, step by step (maths V1, V10-V13): the work between
 * steps, at the end of an epoch and between the phases. The arithmetic of a step is in
 * train_step.c; which nets are trained is in train_choice.c. */
#include <errno.h>
#include <math.h>

#include "base/comm.h"
#include "base/os.h"
#include "vi/trainer.h"

/* ---- epochs */

static void trace_epoch(xb_trainer *t, double validation)
{
    double *row = t->trace + t->place.rows++ * XB_TRACE_COLUMNS;
    double steps = (double)t->batches;
    bool vi = t->place.phase == XB_PHASE_VI;
    row[XB_HISTORY_PHASE] = (double)t->place.phase + 1;
    row[XB_HISTORY_EPOCH] = (double)t->place.epoch + 1;
    row[XB_HISTORY_STEP] = (double)t->place.step;
    row[XB_HISTORY_LOG_LIKELIHOOD] = vi ? -t->sums.nll / steps : NAN;
    row[XB_HISTORY_KL] = vi ? t->sums.kl / steps : NAN;
    row[XB_HISTORY_F] = t->sums.f / steps;
    row[XB_HISTORY_TEMPERATURE] = vi ? t->sums.temperature / steps : NAN;
    row[XB_HISTORY_SIGMA_MEDIAN] =
        vi && t->traced ? (double)xb_trainer_sigma_median(t) : NAN;
    row[XB_HISTORY_NOISE_SD] = vi ? xb_trainer_noise_sd(t) : NAN;
    row[XB_HISTORY_VALIDATION] = validation;
}

static void keep_best(xb_trainer *t, double score)
{
    if (!(score > t->sums.best_score)) return;
    t->sums.best_score = score;
    t->place.best_epoch = t->place.epoch + 1;
    xb_trainer_copy(t, t->best_theta, t->theta, t->n_theta);
    xb_trainer_copy(t, t->best_state, t->state, t->states);
}

static xb_status finish_epoch(xb_trainer *t)
{
    double score = NAN;
    if (t->held > 0 && !t->unscored && t->place.phase == XB_PHASE_VI) {
        XB_TRY(xb_trainer_validate(t, &score));
        keep_best(t, score);
    }
    trace_epoch(t, score);
    double best = t->sums.best_score;
    t->sums = (xb_train_sums){.best_score = best};
    t->place.epoch++;
    t->place.batch = 0;
    t->ordered = false;
    return XB_OK;
}

static bool phase_is_over(const xb_trainer *t)
{
    const xb_train_place *p = &t->place;
    if (p->epoch >= t->epochs[p->phase]) return true;
    bool counts = p->phase == XB_PHASE_VI && t->held > 0 && t->opt.patience > 0;
    return counts && p->epoch - p->best_epoch >= t->opt.patience;
}

bool xb_trainer_done(const xb_trainer *t)
{
    return t->stopped || (t->place.phase == XB_PHASE_VI && phase_is_over(t));
}

/* Goes on to the second phase if the first is over. */
static xb_status change_phase(xb_trainer *t)
{
    if (t->place.phase != XB_PHASE_MLE || !phase_is_over(t)) return XB_OK;
    XB_TRY(xb_trainer_start_vi(t));
    t->place = (xb_train_place){.phase = XB_PHASE_VI, .rows = t->place.rows};
    return XB_OK;
}

/* ---- steps */

static xb_status save_now_and_then(xb_trainer *t)
{
    if (!t->opt.checkpoint) return XB_OK;
    double now = xb_os_seconds();
    if (now - t->saved_at < t->opt.checkpoint_seconds) return XB_OK;
    t->saved_at = now;
    return xb_checkpoint_save(t, t->opt.checkpoint);
}

static xb_status tell(xb_trainer *t)
{
    int64_t first = t->epochs[XB_PHASE_MLE] * t->batches;
    int64_t done = t->place.step + (t->place.phase == XB_PHASE_VI ? first : 0);
    return xb_progress_tell(t->ctx, t->opt.task ? t->opt.task : "training", done,
                            first + t->epochs[XB_PHASE_VI] * t->batches);
}

static xb_status ask_to_go_on(xb_trainer *t)
{
    if (!t->opt.on_epoch || t->opt.on_epoch(t->opt.on_epoch_arg, t)) return XB_OK;
    t->stopped = t->opt.stop_keeps;
    if (t->stopped) return XB_OK;
    return xb_fail(t->ctx, XB_E_CANCELLED, "training stopped on request");
}

/* Finishes a step that was interrupted before, or does up to `most` steps. */
static xb_status some_steps(xb_trainer *t, int64_t most)
{
    if (!t->ordered) xb_trainer_shuffle(t);
    t->ordered = true;
    if (t->place.batch < t->batches) XB_TRY(xb_leap_within(t, most));
    const bool ended = t->place.batch == t->batches;
    if (ended) XB_TRY(finish_epoch(t));
    XB_TRY(save_now_and_then(t));
    XB_TRY(tell(t));
    if (!ended) return XB_OK;
    XB_TRY(ask_to_go_on(t));
    return change_phase(t);
}

xb_status xb_trainer_step(xb_ctx *ctx, xb_trainer *t)
{
    t->ctx = ctx;
    XB_TRY(change_phase(t));
    return xb_trainer_done(t) ? XB_OK : some_steps(t, 1);
}

xb_status xb_trainer_epoch(xb_ctx *ctx, xb_trainer *t)
{
    const int64_t rows = t->place.rows;
    t->ctx = ctx;
    XB_TRY(change_phase(t));
    while (t->place.rows == rows && !xb_trainer_done(t))
        XB_TRY(some_steps(t, t->batches));
    return XB_OK;
}

/* Runs epochs that need no attention in between: no rows are held out and there is no
 * callback. */
static xb_status some_epochs(xb_trainer *t, int64_t epochs)
{
    XB_TRY(xb_leap_epochs(t, epochs));
    xb_status status = XB_OK;
    for (int64_t e = 0; e < epochs && status == XB_OK && xb_leap_epoch(t, e); e++)
        status = finish_epoch(t);
    xb_leap_done(t);
    XB_TRY(status);
    XB_TRY(save_now_and_then(t));
    XB_TRY(tell(t));
    return change_phase(t);
}

xb_status xb_trainer_advance(xb_ctx *ctx, xb_trainer *t)
{
    t->ctx = ctx;
    XB_TRY(change_phase(t));
    if (xb_trainer_done(t)) return XB_OK;
    const int64_t epochs = xb_leap_reach(t);
    return epochs > 0 ? some_epochs(t, epochs) : some_steps(t, t->batches);
}

/* ---- from one run to the next */

xb_status xb_trainer_save(xb_ctx *ctx, xb_trainer *t, const char *path)
{
    t->ctx = ctx;
    return xb_checkpoint_save(t, path);
}

xb_status xb_trainer_resume(xb_ctx *ctx, xb_trainer *t, const char *path)
{
    t->ctx = ctx;
    XB_TRY(xb_checkpoint_load(t, path));
    t->ordered = false;
    t->stopped = false;
    xb_trainer_fill_sigma(t);
    return change_phase(t);
}

static xb_status begin(xb_trainer *t)
{
    XB_TRY(xb_trainer_fingerprint(t));
    xb_trainer_start_weights(t);
    const char *path = t->opt.checkpoint;
    const bool together = xb_comm_together(t->ctx) != NULL;
    const bool first = !together || xb_comm_first(t->ctx);
    const bool asked = t->opt.resume && path;
    const bool there = asked && first && (xb_os_exists(path) || errno != ENOENT);
    if (there) XB_TRY(xb_checkpoint_load(t, path));
    if (asked && together) XB_TRY(xb_trainer_share_state(t, there));
    xb_trainer_fill_sigma(t);
    t->saved_at = xb_os_seconds();
    return change_phase(t);
}

xb_status xb_trainer_make(xb_ctx *ctx, xb_trainer **out, const xb_train_data *data,
                          const xb_train_options *opt)
{
    xb_train_options chosen;
    xb_trainer *t = NULL;
    xb_model *model = NULL;
    XB_TRY(XB_OPTIONS_READ(ctx, train, &chosen, opt, task));
    XB_TRY(xb_train_check(ctx, data, &chosen));
    XB_TRY(xb_model_new(ctx, &model));
    xb_status status = xb_train_model_make(ctx, model, data, &chosen);
    if (status == XB_OK) status = xb_trainer_build(ctx, &t, model, data, &chosen);
    if (status != XB_OK) {
        xb_model_destroy(model);
        return status;
    }
    t->own = model;
    t->traced = true;
    *out = t;
    return XB_OK;
}

xb_status xb_trainer_create(xb_ctx *ctx, xb_trainer **out, const xb_train_data *data,
                            const xb_train_options *opt)
{
    xb_trainer *t = NULL;
    XB_TRY(xb_trainer_make(ctx, &t, data, opt));
    const xb_status status = begin(t);
    if (status == XB_OK)
        *out = t;
    else
        xb_trainer_destroy(t);
    return status;
}
