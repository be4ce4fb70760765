/* train_choice.c: training from end to end; if no net is given, it is chosen from the
 * data. F is an upper bound of the negative log evidence, so it accounts for the weights
 * of the deeper net: more layers win if the data justify them (V18; docs/networks.md has
 * the numbers). With a temperature F is not such a bound, and nothing is chosen. The
 * second training has no checkpoint: a resumed run gets the first from its checkpoint at
 * once. */
#include <math.h>
#include <stdio.h>

#include "vi/likelihood_choice.h"
#include "vi/trainer.h"

void xb_trained_drop(xb_trained *one)
{
    xb_model_destroy(one->model);
    xb_train_report_destroy(one->report);
    *one = (xb_trained){0};
}

/* A run that stops early saves its last good state and says where. A step that is not
 * finite has changed nothing, but the one before may already have diverged; in that case
 * the earlier checkpoint is kept. */
static xb_status stop_short(xb_trainer *t, xb_status why)
{
    if (!t->opt.checkpoint || (why != XB_E_CANCELLED && why != XB_E_NUMERIC)) return why;
    if (!xb_trainer_is_sound(t)) return why;
    char message[XB_MESSAGE_MAX];
    snprintf(message, sizeof message, "%s",
             why == XB_E_CANCELLED ? "training stopped on request"
                                   : xb_ctx_message(t->ctx));
    XB_TRY(xb_checkpoint_save(t, t->opt.checkpoint));
    return xb_fail(t->ctx, why, "%s; the last good state is in %s", message,
                   t->opt.checkpoint);
}

static xb_status run(xb_ctx *ctx, xb_trainer *t, xb_trained *out, bool reported)
{
    while (!xb_trainer_done(t)) {
        xb_status status = xb_trainer_advance(ctx, t);
        if (status != XB_OK) return stop_short(t, status);
    }
    if (t->opt.checkpoint) XB_TRY(xb_checkpoint_save(t, t->opt.checkpoint));
    XB_TRY(xb_trainer_best_model(ctx, &out->model, t));
    return reported ? xb_trainer_report(ctx, &out->report, t) : XB_OK;
}

xb_status xb_train_one(xb_ctx *ctx, xb_trained *out, const xb_train_data *data,
                       const xb_train_options *opt, bool traced, bool reported)
{
    xb_trainer *t = NULL;
    XB_TRY(xb_trainer_create(ctx, &t, data, opt));
    t->traced = traced || opt->checkpoint; /* where the trace goes on from */
    xb_status status = run(ctx, t, out, reported);
    xb_trainer_destroy(t);
    if (status != XB_OK) xb_trained_drop(out);
    return status;
}

bool xb_train_comparable(const xb_train_data *data, const xb_train_options *o)
{
    const bool table = data->x && o->input.h * o->input.w <= 1;
    const xb_schedule *t = &o->temperature;
    return table && !o->noise_net && !o->start && t->kind == XB_SCHEDULE_CONSTANT &&
           t->value == 1;
}

/* Whether no net is given and F is a bound. */
static bool is_open(const xb_train_data *data, const xb_train_options *o)
{
    return !o->net && o->effort != XB_TRAIN_EFFORT_QUICK && xb_train_comparable(data, o);
}

static bool is_better(const xb_train_report *a, const xb_train_report *b)
{
    if (isfinite(xb_train_report_value(b, XB_TRACE_VALIDATION)))
        return xb_train_report_value(a, XB_TRACE_VALIDATION) >
               xb_train_report_value(b, XB_TRACE_VALIDATION);
    return xb_train_report_f(a).value < xb_train_report_f(b).value;
}

xb_status xb_train_keep_better(xb_ctx *ctx, xb_trained *first, xb_trained *other)
{
    if (is_better(other->report, first->report)) {
        const xb_trained swap = *first;
        *first = *other;
        *other = swap;
    }
    return xb_train_report_left(ctx, first->report, other->report,
                                xb_model_net_text(other->model));
}

static xb_status try_deeper(xb_ctx *ctx, xb_trained *first, const xb_train_data *data,
                            const xb_train_options *opt, bool traced)
{
    char net[64];
    snprintf(
        net, sizeof net, "dense 50, relu, dense 50, relu, dense %lld",
        (long long)(data->classes > 0 ? data->classes : xb_train_targets(data, opt)));
    xb_train_options deeper = *opt;
    deeper.net = net;
    deeper.checkpoint = NULL;
    deeper.resume = false;
    deeper.task = "training a deeper net";
    xb_trained other = {0};
    xb_status status = xb_train_one(ctx, &other, data, &deeper, traced, true);
    if (status == XB_OK) status = xb_train_keep_better(ctx, first, &other);
    xb_trained_drop(&other);
    return status == XB_E_NUMERIC ? XB_OK : status; /* the first one stands */
}

xb_status xb_train(xb_ctx *ctx, xb_model **out, xb_train_report **report,
                   const xb_train_data *data, const xb_train_options *opt)
{
    xb_train_options chosen;
    xb_trained one = {0};
    XB_TRY(XB_OPTIONS_READ(ctx, train, &chosen, opt, task));
    const bool open = is_open(data, &chosen), any = xb_likelihood_is_open(data, &chosen);
    xb_status status =
        xb_train_one(ctx, &one, data, &chosen, report, report || open || any);
    if (status == XB_OK && open && !xb_train_report_stopped(one.report))
        status = try_deeper(ctx, &one, data, &chosen, report);
    if (status == XB_OK && any && !xb_train_report_stopped(one.report))
        status = xb_likelihood_choose(ctx, &one, data, &chosen, report);
    if (status == XB_OK)
        status = xb_train_members(ctx, &one.model, data, &chosen,
                                  open && data->classes == 0 &&
                                      !xb_train_report_stopped(one.report));
    if (status != XB_OK) {
        xb_trained_drop(&one);
        return status;
    }
    *out = one.model;
    if (report)
        *report = one.report;
    else
        xb_train_report_destroy(one.report);
    return XB_OK;
}
