/* likelihood_choice.c: the likelihood of a target of numbers, left to the data (maths
 * V20).
 *
 * The net that was chosen under constant noise is trained again under each of the
 * others, with all other settings the same. F charges for everything that is fitted, so
 * it judges; with rows held out their log density does. Another likelihood is taken only
 * if it is ahead by more than twice the error of the difference: where nothing speaks for
 * it, noise stays constant. */
#include "vi/likelihood_choice.h"

#include <math.h>
#include <stdio.h>

bool xb_likelihood_is_open(const xb_train_data *data, const xb_train_options *o)
{
    const bool left = o->likelihood == XB_LIKELIHOOD_AUTO && data->classes == 0;
    return left && (!o->net || o->choose_likelihood) && xb_train_comparable(data, o) &&
           o->effort != XB_TRAIN_EFFORT_QUICK && !(o->noise_prior == 0);
}

static xb_tried_likelihood tried_of(const xb_trained *one)
{
    return (xb_tried_likelihood){
        .likelihood = xb_model_likelihood(one->model),
        .f = xb_train_report_f(one->report),
        .score = xb_train_report_value(one->report, XB_TRACE_VALIDATION)};
}

/* (V20) Two standard errors ahead by F, or ahead on rows held out. */
static bool is_ahead(const xb_tried_likelihood *a, const xb_tried_likelihood *b)
{
    if (isfinite(b->score)) return a->score > b->score;
    const double error = hypot(a->f.std_error, b->f.std_error);
    return a->f.value + (isfinite(error) ? 2 * error : 0) < b->f.value;
}

static xb_status try_one(xb_ctx *ctx, xb_trained *out, xb_likelihood likelihood,
                         const xb_trained *best, const xb_train_data *data,
                         const xb_train_options *opt, bool traced)
{
    char task[64];
    xb_train_options o = *opt;
    snprintf(task, sizeof task, "training with a %s likelihood",
             xb_likelihood_name(likelihood));
    o.net = xb_model_net_text(best->model);
    o.likelihood = likelihood;
    o.checkpoint = NULL;
    o.resume = false;
    o.task = task;
    return xb_train_one(ctx, out, data, &o, traced, true);
}

xb_status xb_likelihood_choose(xb_ctx *ctx, xb_trained *best, const xb_train_data *data,
                               const xb_train_options *opt, bool traced)
{
    static const xb_likelihood others[] = {XB_LIKELIHOOD_HETEROSCEDASTIC,
                                           XB_LIKELIHOOD_STUDENT};
    xb_tried_likelihood tried[XB_TRIED_MOST] = {tried_of(best)};
    const xb_backend *backend = NULL;
    int count = 1, kept = 0;
    XB_TRY(xb_backend_open(ctx, &backend, opt->backend));
    for (int i = 0; i < XB_COUNT(others); i++) {
        xb_trained other = {0};
        if (!backend->more_losses && others[i] > XB_LIKELIHOOD_SOFTMAX) continue;
        xb_status status = try_one(ctx, &other, others[i], best, data, opt, traced);
        if (status == XB_E_NUMERIC) continue; /* those before it stand */
        XB_TRY(status);
        tried[count] = tried_of(&other);
        if (is_ahead(&tried[count], &tried[kept])) {
            const xb_trained swap = *best;
            xb_train_report_inherit(other.report, best->report);
            *best = other;
            other = swap;
            kept = count;
        }
        xb_trained_drop(&other);
        count++;
    }
    xb_train_report_tried(best->report, tried, count, kept);
    return XB_OK;
}
