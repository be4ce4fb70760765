/* train_choice.c: training from end to end; if no net is given, it is chosen from the
 * data. F is an upper bound of the negative log evidence, so it accounts for the weights
 * of the deeper net: more layers win if the data justify them (V18; docs/networks.md has
 * the numbers), and a deeper net that is far behind halfway is given up there. It costs
 * four times as much, so it comes last: the likelihood is chosen for the small net (V20),
 * and for the deeper one again only if that has won. With a temperature F is not such a
 * bound, and nothing is chosen. The second training has no checkpoint: a resumed run gets
 * the first from its checkpoint at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "vi/distinct_rows.h"
#include "vi/likelihood_choice.h"
#include "vi/prior_choice.h"
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
    const bool broken = t->ctx->comm && t->ctx->comm->broken; /* in mid-step */
    const bool lost = broken && why != XB_E_INPUT && why != XB_E_ARGUMENT; /* a rank */
    if (!t->opt.checkpoint || (why != XB_E_CANCELLED && why != XB_E_NUMERIC && !lost))
        return why;
    if (!xb_comm_first(t->ctx) || !xb_trainer_is_sound(t)) return why;
    char message[XB_MESSAGE_MAX];
    snprintf(message, sizeof message, "%s",
             why == XB_E_CANCELLED ? "training stopped on request"
                                   : xb_ctx_message(t->ctx));
    XB_TRY(xb_checkpoint_save(t, t->opt.checkpoint));
    return xb_fail(t->ctx, why, "%s; the last good state is in %s", message,
                   t->opt.checkpoint);
}

xb_status xb_train_left(xb_trainer *t, xb_status status)
{
    if (status != XB_OK) return stop_short(t, status);
    return t->opt.checkpoint ? xb_checkpoint_save(t, t->opt.checkpoint) : XB_OK;
}

/* (V18) Whether a run that has done half of its epochs is too far behind `first`. */
static xb_status give_up(xb_ctx *ctx, bool *out, xb_trainer *t,
                         const xb_train_report *first)
{
    xb_train_report *now = NULL;
    XB_TRY(xb_trainer_report(ctx, &now, t));
    *out = !isnan(xb_train_report_behind(now, first));
    xb_train_report_destroy(now);
    return XB_OK;
}

/* first: the report of the net that this one must be better than, or NULL. */
static xb_status run(xb_ctx *ctx, xb_trainer *t, xb_trained *out, bool reported,
                     const xb_train_report *first)
{
    const int64_t half = t->epochs[XB_PHASE_MLE] + t->epochs[XB_PHASE_VI] / 2;
    bool over = false, asked = !first;
    xb_status status = XB_OK;
    while (status == XB_OK && !over && !xb_trainer_done(t)) {
        status = xb_trainer_advance(ctx, t);
        if (status != XB_OK || asked || t->place.rows < half) continue;
        asked = true;
        status = give_up(ctx, &over, t, first);
    }
    XB_TRY(xb_train_left(t, status));
    XB_TRY(xb_trainer_best_model(ctx, &out->model, t));
    return reported ? xb_trainer_report(ctx, &out->report, t) : XB_OK;
}

static xb_status train_against(xb_ctx *ctx, xb_trained *out, const xb_train_data *data,
                               const xb_train_options *opt, bool traced, bool reported,
                               const xb_train_report *first)
{
    xb_trainer *t = NULL;
    XB_TRY(xb_trainer_create(ctx, &t, data, opt));
    t->traced = traced || opt->checkpoint; /* where the trace goes on from */
    xb_status status = run(ctx, t, out, reported, first);
    xb_trainer_destroy(t);
    if (status != XB_OK) xb_trained_drop(out);
    return status;
}

xb_status xb_train_one(xb_ctx *ctx, xb_trained *out, const xb_train_data *data,
                       const xb_train_options *opt, bool traced, bool reported)
{
    return train_against(ctx, out, data, opt, traced, reported, NULL);
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
    if (isfinite(xb_train_report_value(b, XB_HISTORY_VALIDATION)))
        return xb_train_report_value(a, XB_HISTORY_VALIDATION) >
               xb_train_report_value(b, XB_HISTORY_VALIDATION);
    return xb_train_report_f(a).value < xb_train_report_f(b).value;
}

static void swap_two(xb_trained *a, xb_trained *b)
{
    const xb_trained swap = *a;
    *a = *b;
    *b = swap;
}

/* (V18) The deeper net is kept if its F is lower by more than twice the error, or if it
 * scores higher on rows held out. What ranks have trained to its end side by side is
 * judged halfway too, as if it had been given up there. */
static xb_status keep_deeper(xb_ctx *ctx, bool *won, xb_trained *first,
                             xb_trained *deeper)
{
    const xb_estimate a = xb_train_report_f(first->report);
    const xb_estimate b = xb_train_report_f(deeper->report);
    const double behind = xb_train_report_behind(deeper->report, first->report);
    const double error = hypot(a.std_error, b.std_error);
    const bool held = xb_train_report_held_count(first->report) > 0;
    const bool clear = held || !isfinite(error) || b.value + 2 * error < a.value;
    *won = isnan(behind) && clear && is_better(deeper->report, first->report);
    if (*won) swap_two(first, deeper);
    return xb_train_report_left(ctx, first->report, deeper->report,
                                xb_model_net_text(deeper->model), behind);
}

enum { NET_TEXT = 64 }; /* any net that is chosen here */

/* Its likelihood is that of `first` for counts, and else the one asked for, or constant
 * noise, which costs least. */
static xb_train_options deeper_options(char net[NET_TEXT], const xb_trained *first,
                                       const xb_train_data *data,
                                       const xb_train_options *opt)
{
    snprintf(
        net, NET_TEXT, "dense 50, relu, dense 50, relu, dense %lld",
        (long long)(data->classes > 0 ? data->classes : xb_train_targets(data, opt)));
    xb_train_options deeper = *opt;
    deeper.net = net;
    if (first->model && xb_model_of_counts(first->model))
        deeper.likelihood = xb_model_likelihood(first->model);
    deeper.checkpoint = NULL;
    deeper.resume = false;
    deeper.task = "training a deeper net";
    return deeper;
}

static xb_status try_deeper(xb_ctx *ctx, xb_trained *first, const xb_train_data *data,
                            const xb_train_options *opt, bool traced, bool any)
{
    char net[NET_TEXT];
    const xb_train_options deeper = deeper_options(net, first, data, opt);
    xb_trained other = {0};
    bool won = false;
    xb_status status =
        train_against(ctx, &other, data, &deeper, traced, true, first->report);
    if (status == XB_OK) status = keep_deeper(ctx, &won, first, &other);
    xb_trained_drop(&other);
    if (status == XB_E_NUMERIC) return XB_OK; /* the first one stands */
    XB_TRY(status);
    return won && any ? xb_likelihood_choose(ctx, first, data, opt, traced, false)
                      : XB_OK;
}

/* ---- skewed columns, as they are or as logarithms (V21) */

/* Whether both are to be tried. */
static xb_status skew_is_open(xb_ctx *ctx, bool *out, const xb_train_data *data,
                              const xb_train_options *opt)
{
    xb_holdout holdout = {0};
    *out = false;
    if (opt->skewed != XB_SKEWED_AUTO || data->classes > 0 || !is_open(data, opt))
        return XB_OK;
    XB_TRY(xb_train_check(ctx, data, opt));
    XB_TRY(xb_holdout_make(ctx, &holdout, data, opt));
    const xb_status status =
        xb_columns_skewed(ctx, out, data->x, data->features, holdout.row, holdout.n);
    xb_holdout_free(&holdout);
    return status;
}

static xb_train_options bent_options(const xb_train_options *opt)
{
    xb_train_options bent = *opt;
    bent.skewed = XB_SKEWED_LOG;
    bent.checkpoint = NULL;
    bent.resume = false;
    bent.task = "training on logarithms of skewed columns";
    return bent;
}

/* Keeps the better one, for all that is trained after it. */
static void settle_skew(xb_train_options *opt, xb_trained *first, xb_trained *bent)
{
    const bool taken = bent->report && is_better(bent->report, first->report);
    if (taken) swap_two(first, bent);
    opt->skewed = taken ? XB_SKEWED_LOG : XB_SKEWED_KEEP;
    xb_trained_drop(bent);
}

static xb_status try_bent(xb_ctx *ctx, xb_trained *first, const xb_train_data *data,
                          xb_train_options *opt, bool traced)
{
    const xb_train_options o = bent_options(opt);
    bool open = false;
    xb_trained bent = {0};
    XB_TRY(skew_is_open(ctx, &open, data, opt));
    if (!open) return XB_OK;
    const xb_status status = xb_train_one(ctx, &bent, data, &o, traced, true);
    if (status != XB_OK && status != XB_E_NUMERIC) return status;
    settle_skew(opt, first, &bent);
    return XB_OK;
}

/* The same by ranks, side by side; *tried: there was something to try, and the first net
 * is trained. */
static xb_status bend_by_ranks(xb_ctx *ctx, bool *tried, xb_trained *one,
                               const xb_train_data *data, xb_train_options *opt,
                               bool traced)
{
    xb_trained bent = {0};
    XB_TRY(skew_is_open(ctx, tried, data, opt));
    if (!*tried) return XB_OK;
    xb_train_item item[2] = {
        {.data = *data, .opt = *opt, .traced = traced, .out = one},
        {.data = *data, .opt = bent_options(opt), .traced = traced, .out = &bent}};
    XB_TRY(xb_train_items(ctx, item, 2));
    if (item[0].status != XB_OK) {
        xb_trained_drop(&bent);
        return xb_fail(ctx, item[0].status, "%s", item[0].why);
    }
    settle_skew(opt, one, &bent);
    return XB_OK;
}

/* ---- ranks that train one or several nets each */

/* The deeper net, beside the first one if that is still to be trained. No deeper net: it
 * has diverged. */
static xb_status train_two(xb_ctx *ctx, xb_trained *one, xb_trained *deeper,
                           const xb_train_data *data, const xb_train_options *opt,
                           bool traced)
{
    char net[NET_TEXT];
    const int begin = one->model ? 1 : 0;
    xb_train_item item[2] = {{.data = *data, .opt = *opt, .traced = traced, .out = one},
                             {.data = *data,
                              .opt = deeper_options(net, one, data, opt),
                              .traced = traced,
                              .out = deeper}};
    XB_TRY(xb_train_items(ctx, item + begin, 2 - begin));
    if (begin == 0 && item[0].status != XB_OK)
        return xb_fail(ctx, item[0].status, "%s", item[0].why);
    return XB_OK;
}

/* Works as try_deeper() does, with a deeper net that is trained already; for counts that
 * net has another likelihood, so it is trained anew. */
static xb_status deepen_by_ranks(xb_ctx *ctx, xb_trained *one, xb_trained *deeper,
                                 const xb_train_data *data, const xb_train_options *opt,
                                 bool traced, bool any)
{
    bool won = false;
    if (any && xb_model_of_counts(one->model)) {
        xb_trained_drop(deeper);
        XB_TRY(train_two(ctx, one, deeper, data, opt, traced));
    }
    if (!deeper->model) return XB_OK;
    XB_TRY(keep_deeper(ctx, &won, one, deeper));
    return won && any ? xb_likelihood_choose(ctx, one, data, opt, traced, true) : XB_OK;
}

/* There must be work for every rank: as many nets side by side as there are ranks. */
static xb_status check_ranks(xb_ctx *ctx, int64_t nets)
{
    const xb_comm *comm = ctx->comm;
    if (!comm->strict || nets >= comm->size) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "training: %lld %s can be trained side by side here, and their steps"
                   " are not shared: %lld ranks are too many, use at most %lld",
                   (long long)nets, xb_plural(nets, "net", "nets"), (long long)comm->size,
                   (long long)nets);
}

static xb_status train_by_ranks(xb_ctx *ctx, xb_trained *one, const xb_train_data *data,
                                xb_train_options *opt, bool traced)
{
    const bool open = is_open(data, opt), any = xb_likelihood_is_open(data, opt);
    const int64_t members = xb_train_member_count(opt, open && data->classes == 0);
    const int64_t tried = any ? 2 : 1, others = members - 1;
    if (!open && !any) {
        XB_TRY(check_ranks(ctx, members));
        return xb_train_members_by_ranks(ctx, one, traced, data, opt, members);
    }
    XB_TRY(check_ranks(ctx, open || others < tried ? (others > 2 ? others : 2) : others));
    xb_train_item first = {.data = *data, .opt = *opt, .traced = traced, .out = one};
    xb_trained deeper = {0};
    bool bent = false;
    XB_TRY(bend_by_ranks(ctx, &bent, one, data, opt, traced));
    xb_status status = open ? train_two(ctx, one, &deeper, data, opt, traced)
                            : xb_train_items(ctx, &first, 1);
    if (status == XB_OK && first.status != XB_OK)
        status = xb_fail(ctx, first.status, "%s", first.why);
    if (status == XB_OK && any)
        status = xb_likelihood_choose(ctx, one, data, opt, traced, true);
    if (status == XB_OK && open)
        status = deepen_by_ranks(ctx, one, &deeper, data, opt, traced, any);
    xb_trained_drop(&deeper);
    if (status == XB_OK && members > 1)
        status = xb_train_members_by_ranks(ctx, one, false, data, opt, members);
    return status;
}

/* ---- the whole */

static xb_status train_here(xb_ctx *ctx, xb_trained *one, const xb_train_data *data,
                            xb_train_options *opt, bool report)
{
    const bool open = is_open(data, opt), any = xb_likelihood_is_open(data, opt);
    XB_TRY(xb_train_one(ctx, one, data, opt, report, report || open || any));
    if (open && !xb_train_report_stopped(one->report))
        XB_TRY(try_bent(ctx, one, data, opt, report));
    if (any && !xb_train_report_stopped(one->report))
        XB_TRY(xb_likelihood_choose(ctx, one, data, opt, report, false));
    if (open && !xb_train_report_stopped(one->report))
        XB_TRY(try_deeper(ctx, one, data, opt, report, any));
    return xb_train_members(ctx, &one->model, data, opt,
                            open && data->classes == 0 &&
                                !xb_train_report_stopped(one->report));
}

/* Ranks share the steps of nets that are large enough, and else have nets of their own.
 */
static xb_status train_together(xb_ctx *ctx, xb_trained *one, const xb_train_data *data,
                                xb_train_options *opt, bool report)
{
    bool divides = false;
    XB_TRY(ctx->comm->meet(ctx, ctx->comm));
    XB_TRY(xb_train_divides(ctx, &divides, data, opt));
    return divides ? train_here(ctx, one, data, opt, report)
                   : train_by_ranks(ctx, one, data, opt, report);
}

/* ---- the prior's scale (V23) */

/* What is settled before the model is trained: net, likelihood and columns as F chooses
 * them with the standard scale, and the scale. The former stay, because F makes wide
 * priors too expensive. `first` is the training that chose them, if there was anything to
 * choose. */
typedef struct settled {
    char net[NET_TEXT]; /* "": as it was given */
    xb_likelihood likelihood;
    xb_skewed skewed;
    xb_fitted_prior prior;
} settled;

static xb_status settle(xb_ctx *ctx, settled *out, xb_trained *first,
                        const xb_train_data *data, const xb_train_options *opt)
{
    xb_train_options o = *opt;
    o.members = 1;
    o.checkpoint = NULL;
    o.resume = false;
    o.on_epoch = NULL;
    const bool open = is_open(data, &o);
    if (open || xb_likelihood_is_open(data, &o)) {
        XB_TRY(train_here(ctx, first, data, &o, true));
        o.net = xb_model_net_text(first->model);
        o.likelihood = xb_model_likelihood(first->model);
    }
    XB_TRY(xb_prior_fit(ctx, &out->prior, data, &o));
    if (open) snprintf(out->net, sizeof out->net, "%s", o.net);
    out->likelihood = o.likelihood;
    out->skewed = o.skewed;
    return XB_OK;
}

/* Every rank settles it for itself, because these trainings are short; what rank 0 has
 * found counts, in case another rank's processor rounds differently. */
static xb_status settle_together(xb_ctx *ctx, settled *out, xb_trained *first,
                                 const xb_train_data *data, const xb_train_options *opt)
{
    xb_comm *comm = ctx->comm;
    ctx->comm = NULL;
    const xb_status status = settle(ctx, out, first, data, opt);
    ctx->comm = comm;
    XB_TRY(status);
    xb_comm_share(comm, out, sizeof *out);
    return xb_comm_check(ctx);
}

/* *fitted: the scale was fitted. `found` keeps the text of the net. */
static xb_status fit_prior(xb_ctx *ctx, bool *fitted, settled *found, xb_trained *first,
                           xb_train_options *opt, const xb_train_data *data)
{
    const bool open = is_open(data, opt);
    *fitted = opt->prior_scale == XB_PRIOR_SCALE_FITTED ||
              (open && xb_prior_fits_itself(data, opt));
    if (!*fitted) return XB_OK;
    XB_TRY(xb_prior_fit_check(ctx, data, opt));
    opt->members = xb_train_member_count(opt, open && data->classes == 0);
    XB_TRY(xb_comm_together(ctx) ? settle_together(ctx, found, first, data, opt)
                                 : settle(ctx, found, first, data, opt));
    if (found->net[0]) opt->net = found->net;
    opt->prior.sd = found->prior.sd;
    opt->likelihood = found->likelihood;
    opt->skewed = found->skewed;
    return XB_OK;
}

/* The report says how the prior was fitted, and what was chosen before. */
static void report_fit(xb_train_report *report, const xb_fitted_prior *fitted,
                       const xb_trained *first)
{
    xb_train_report_prior(report, fitted);
    if (!first->report) return;
    xb_train_report_repeat(report, first->report);
    xb_train_report_inherit(report, first->report);
}

xb_status xb_train(xb_ctx *ctx, xb_model **out, xb_train_report **report,
                   const xb_train_data *data, const xb_train_options *opt)
{
    xb_train_options chosen;
    xb_trained one = {0};
    xb_distinct rows;
    XB_TRY(XB_OPTIONS_READ(ctx, train, &chosen, opt, task));
    XB_TRY(xb_distinct_rows(ctx, &rows, data, &chosen));
    settled found = {0};
    bool fitted = false;
    xb_trained first = {0};
    xb_status status = fit_prior(ctx, &fitted, &found, &first, &chosen, &rows.data);
    if (status == XB_OK)
        status = xb_comm_together(ctx)
                     ? train_together(ctx, &one, &rows.data, &chosen, report)
                     : train_here(ctx, &one, &rows.data, &chosen, report);
    free(rows.select);
    if (one.report) xb_train_report_copies(one.report, rows.copies);
    if (one.report && fitted) report_fit(one.report, &found.prior, &first);
    xb_trained_drop(&first);
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
