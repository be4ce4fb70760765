/* train_members.c: trains the members of an ensemble other than the first (maths V50):
 * they have the same rows, net and settings, but their own initial values, shuffles and
 * weight draws. As many are trained at a time as there are threads, each on its own
 * thread with its own context; the numbers of a member depend on its seed alone. All of
 * them pause from time to time, so that only the caller's thread calls the progress
 * function. */
#include <stdlib.h>

#include "base/comm.h"
#include "base/memory.h"
#include "base/os.h"
#include "vi/likelihood_choice.h"
#include "vi/member_seed.h"
#include "vi/trainer.h"

#define SLICE 0.1 /* seconds between two calls of the progress function */

/* A member in training. */
typedef struct member {
    xb_ctx *ctx;
    xb_trainer *trainer;
    xb_model *model;     /* set once it is done */
    int64_t done, total; /* steps */
    xb_status status;
} member;

typedef struct team {
    const xb_train_data *data;
    xb_train_options opt; /* options of all members, except for the seed */
    const xb_model *start;
    uint64_t seed;
    member *member;                /* [members], the first one without a trainer */
    int64_t members, first, count; /* `first` and `count` are those in training */
} team;

static bool note_progress(void *arg, const xb_progress *p)
{
    member *m = arg;
    m->done = p->done;
    m->total = p->total;
    return true;
}

static xb_train_options options_of(const team *t, int64_t i)
{
    xb_train_options opt = t->opt;
    opt.seed = xb_member_seed(t->seed, i);
    if (t->start)
        opt.start = xb_model_member_at(t->start, i % xb_model_member_count(t->start));
    return opt;
}

static xb_status begin(const xb_ctx *ctx, team *t, int64_t i)
{
    const int threads = (int)(xb_ctx_threads(ctx) / t->count);
    member *m = &t->member[i];
    const xb_train_options opt = options_of(t, i);
    XB_TRY(xb_ctx_create(&m->ctx));
    xb_ctx_set_threads(m->ctx, threads > 0 ? threads : 1);
    xb_ctx_set_backend(m->ctx, ctx->backend);
    xb_ctx_set_progress(m->ctx, note_progress, m);
    XB_TRY(xb_trainer_create(m->ctx, &m->trainer, t->data, &opt));
    m->trainer->traced = false;
    return XB_OK;
}

/* Does some steps; makes the model if these were the last. */
static void go_on(void *arg, int64_t piece)
{
    team *t = arg;
    member *m = &t->member[t->first + piece];
    const double until = xb_os_seconds() + SLICE;
    while (m->status == XB_OK && !xb_trainer_done(m->trainer) && xb_os_seconds() < until)
        m->status = xb_trainer_advance(m->ctx, m->trainer);
    if (m->status != XB_OK || m->model || !xb_trainer_done(m->trainer)) return;
    m->status = xb_trainer_best_model(m->ctx, &m->model, m->trainer);
}

static xb_status failure(xb_ctx *ctx, const team *t)
{
    for (int64_t i = t->first; i < t->first + t->count; i++) {
        const member *m = &t->member[i];
        if (m->status != XB_OK)
            return xb_fail(ctx, m->status, "member %lld: %s", (long long)i + 1,
                           m->ctx ? xb_ctx_message(m->ctx) : "not enough memory");
    }
    return XB_OK;
}

static bool all_done(const team *t)
{
    for (int64_t i = t->first; i < t->first + t->count; i++)
        if (!t->member[i].model) return false;
    return true;
}

/* Steps of all members except the first; for members that have not started, those of the
 * others.
 */
static xb_status tell(xb_ctx *ctx, const team *t)
{
    int64_t done = 0, total = t->member[t->first].total;
    for (int64_t i = 1; i < t->first + t->count; i++)
        done += t->member[i].model ? total : t->member[i].done;
    return xb_progress_tell(ctx, "training members", done, total * (t->members - 1));
}

static void let_go(team *t)
{
    for (int64_t i = t->first; i < t->first + t->count; i++) {
        xb_trainer_destroy(t->member[i].trainer);
        xb_ctx_destroy(t->member[i].ctx);
        t->member[i].trainer = NULL;
        t->member[i].ctx = NULL;
    }
}

/* Trains members first .. first + count - 1 in parallel. */
static xb_status run_some(xb_ctx *ctx, team *t)
{
    for (int64_t i = t->first; i < t->first + t->count; i++)
        t->member[i].status = begin(ctx, t, i);
    xb_status status = failure(ctx, t);
    while (status == XB_OK && !all_done(t)) {
        xb_parallel_for(ctx, t->count, go_on, t);
        status = failure(ctx, t);
        if (status == XB_OK) status = tell(ctx, t);
    }
    let_go(t);
    return status;
}

/* Trains members one after the other, each by all ranks together. */
static xb_status run_together(xb_ctx *ctx, team *t)
{
    for (int64_t i = 1; i < t->members; i++) {
        const xb_train_options opt = options_of(t, i);
        xb_trained one = {0};
        XB_TRY(xb_train_one(ctx, &one, t->data, &opt, false, false));
        t->member[i].model = one.model;
    }
    return XB_OK;
}

static xb_status run_all(xb_ctx *ctx, team *t)
{
    if (xb_comm_together(ctx)) return run_together(ctx, t);
    const int64_t threads = t->opt.on_epoch ? 1 : xb_ctx_threads(ctx);
    for (t->first = 1; t->first < t->members; t->first += t->count) {
        const int64_t left = t->members - t->first;
        t->count = left < threads ? left : threads;
        XB_TRY(run_some(ctx, t));
    }
    return XB_OK;
}

/* The choices made for the first member hold for all members. */
static void settle(team *t, const xb_model *first, const xb_train_options *opt)
{
    t->opt = *opt;
    t->seed = opt->seed;
    t->start = opt->start;
    t->opt.net = xb_model_net_text(first);
    t->opt.noise_net = first->noise_net ? xb_net_text(first->noise_net) : NULL;
    t->opt.likelihood = xb_model_likelihood(first);
    t->opt.prior = xb_model_prior(first);
    t->opt.checkpoint = NULL;
    t->opt.resume = false;
}

static xb_status join(xb_ctx *ctx, xb_model **model, team *t)
{
    xb_model **list = xb_new(ctx, t->members, sizeof(xb_model *));
    if (!list) return XB_E_MEMORY;
    list[0] = *model;
    for (int64_t i = 1; i < t->members; i++) list[i] = t->member[i].model;
    xb_status status = xb_model_join(ctx, model, list, t->members);
    for (int64_t i = 1; status == XB_OK && i < t->members; i++) t->member[i].model = NULL;
    free(list);
    return status;
}

/* All members hold out the same rows as the first. */
static xb_status hold_out(xb_ctx *ctx, xb_train_data *same, xb_holdout *holdout,
                          const xb_train_options *opt)
{
    XB_TRY(xb_holdout_make(ctx, holdout, same, opt));
    same->select = holdout->row;
    same->held = holdout->held;
    return XB_OK;
}

int64_t xb_train_member_count(const xb_train_options *opt, bool open)
{
    if (opt->members > 0) return opt->members;
    if (opt->effort == XB_TRAIN_EFFORT_FULL) return XB_MEMBERS_FULL;
    return open ? XB_MEMBERS_OPEN : XB_MEMBERS_DEFAULT;
}

xb_status xb_train_members(xb_ctx *ctx, xb_model **model, const xb_train_data *data,
                           const xb_train_options *opt, bool open)
{
    xb_train_data same = *data;
    xb_holdout holdout = {0};
    team t = {.data = &same, .members = xb_train_member_count(opt, open)};
    if (t.members == 1) return XB_OK;
    settle(&t, *model, opt);
    t.member = xb_new(ctx, t.members, sizeof *t.member);
    if (!t.member) return XB_E_MEMORY;
    xb_status status = XB_OK;
    if (xb_train_held(data, opt) > 0) status = hold_out(ctx, &same, &holdout, opt);
    if (status == XB_OK) status = run_all(ctx, &t);
    if (status == XB_OK) status = join(ctx, model, &t);
    for (int64_t i = 1; i < t.members; i++) xb_model_destroy(t.member[i].model);
    free(t.member);
    xb_holdout_free(&holdout);
    return status;
}

/* ---- each member by one rank */

/* Makes a model of the first member's shape: what members take over from it, without its
 * numbers. */
static xb_status settle_shape(xb_ctx *ctx, xb_model **shape, team *t,
                              const xb_train_data *data, const xb_train_options *opt)
{
    XB_TRY(xb_train_check(ctx, data, opt));
    XB_TRY(xb_model_new(ctx, shape));
    XB_TRY(xb_train_model_make(ctx, *shape, data, opt));
    settle(t, *shape, opt);
    return XB_OK;
}

/* Items of members from the first that is still to be trained on. */
static void make_items(xb_train_item *item, xb_trained *out, const team *t, int64_t begin)
{
    for (int64_t i = begin; i < t->members; i++)
        item[i] =
            (xb_train_item){.data = *t->data, .opt = options_of(t, i), .out = &out[i]};
}

static xb_status take_items(xb_ctx *ctx, team *t, const xb_train_item *item,
                            xb_trained *out, int64_t begin)
{
    for (int64_t i = begin; i < t->members; i++) {
        if (item[i].status != XB_OK && i == 0)
            return xb_fail(ctx, item[i].status, "%s", item[i].why);
        if (item[i].status != XB_OK)
            return xb_fail(ctx, item[i].status, "member %lld: %s", (long long)i + 1,
                           item[i].why);
        if (i == 0) continue;
        t->member[i].model = out[i].model;
        out[i].model = NULL;
    }
    return XB_OK;
}

static xb_status run_by_ranks(xb_ctx *ctx, team *t, xb_trained *first, bool traced,
                              const xb_train_data *data, const xb_train_options *opt)
{
    const int64_t begin = first->model ? 1 : 0;
    xb_train_item *item = xb_new(ctx, t->members, sizeof *item);
    xb_trained *out = xb_new(ctx, t->members, sizeof *out);
    xb_status status = item && out ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) {
        make_items(item, out, t, begin);
        if (begin == 0)
            item[0] = (xb_train_item){
                .data = *data, .opt = *opt, .traced = traced, .out = first};
        status = xb_train_items(ctx, item + begin, t->members - begin);
    }
    if (status == XB_OK) status = take_items(ctx, t, item, out, begin);
    for (int64_t i = 1; out && i < t->members; i++) xb_trained_drop(&out[i]);
    free(out);
    free(item);
    return status;
}

xb_status xb_train_members_by_ranks(xb_ctx *ctx, xb_trained *first, bool traced,
                                    const xb_train_data *data,
                                    const xb_train_options *opt, int64_t members)
{
    xb_train_data same = *data;
    xb_holdout holdout = {0};
    xb_model *shape = NULL;
    team t = {.data = &same, .members = members};
    t.member = xb_new(ctx, members, sizeof *t.member);
    if (!t.member) return XB_E_MEMORY;
    xb_status status = XB_OK;
    if (first->model)
        settle(&t, first->model, opt);
    else
        status = settle_shape(ctx, &shape, &t, data, opt);
    if (status == XB_OK && xb_train_held(data, opt) > 0)
        status = hold_out(ctx, &same, &holdout, opt);
    if (status == XB_OK) status = run_by_ranks(ctx, &t, first, traced, data, opt);
    if (status == XB_OK && members > 1) status = join(ctx, &first->model, &t);
    for (int64_t i = 1; i < members; i++) xb_model_destroy(t.member[i].model);
    xb_model_destroy(shape);
    free(t.member);
    xb_holdout_free(&holdout);
    return status;
}
