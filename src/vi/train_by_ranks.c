/* train_by_ranks.c: trainings that do not depend on each other, dealt to ranks: members
 * of an ensemble, nets and likelihoods that are tried. For nets whose steps are too short
 * to be shared (train_crew.c). A training's result is its state at the end, as a
 * checkpoint has it; every rank makes model and report from it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/memory.h"
#include "vi/likelihood_choice.h"

typedef struct packed_end {
    int64_t status;
    char why[256];
} packed_end;

/* ---- one training, to its end */

static xb_status finish(xb_ctx *ctx, xb_trainer *t)
{
    xb_status status = XB_OK;
    while (status == XB_OK && !xb_trainer_done(t)) status = xb_trainer_epoch(ctx, t);
    return xb_train_left(t, status);
}

/* The state at the end and how it went, in one block. */
static xb_status pack(xb_ctx *ctx, char **out, int64_t *bytes, const xb_trainer *t,
                      xb_status how)
{
    packed_end end = {.status = how};
    if (how != XB_OK) snprintf(end.why, sizeof end.why, "%s", xb_ctx_message(ctx));
    *bytes = (int64_t)sizeof end + (how == XB_OK ? xb_trainer_packed(t) : 0);
    *out = xb_room(ctx, *bytes, 1);
    if (!*out) return XB_E_MEMORY;
    memcpy(*out, &end, sizeof end);
    if (how == XB_OK) xb_trainer_pack(t, *out + sizeof end);
    return XB_OK;
}

static xb_status train(xb_ctx *ctx, char **out, int64_t *bytes, const xb_train_item *item)
{
    xb_trainer *t = NULL;
    XB_TRY(xb_trainer_create(ctx, &t, &item->data, &item->opt));
    t->traced = item->traced || item->opt.checkpoint;
    xb_status status = finish(ctx, t);
    if (status == XB_OK || status == XB_E_NUMERIC)
        status = pack(ctx, out, bytes, t, status);
    xb_trainer_destroy(t);
    return status;
}

/* Model and report of a state. */
static xb_status take(xb_ctx *ctx, xb_train_item *item, const char *from, int64_t bytes)
{
    packed_end end = {.status = XB_E_INPUT};
    if (bytes >= (int64_t)sizeof end) memcpy(&end, from, sizeof end);
    item->status = (xb_status)end.status;
    memcpy(item->why, end.why, sizeof item->why);
    item->why[sizeof item->why - 1] = '\0';
    if (item->status != XB_OK) return XB_OK;
    xb_trainer *t = NULL;
    xb_train_options opt = item->opt;
    opt.checkpoint = NULL;
    opt.resume = false;
    XB_TRY(xb_trainer_create(ctx, &t, &item->data, &opt));
    xb_status status =
        xb_trainer_unpack(t, from + sizeof end, bytes - (int64_t)sizeof end);
    if (status == XB_OK) xb_trainer_fill_sigma(t);
    if (status == XB_OK) status = xb_trainer_best_model(ctx, &item->out->model, t);
    if (status == XB_OK) status = xb_trainer_report(ctx, &item->out->report, t);
    xb_trainer_destroy(t);
    return status;
}

/* ---- all of them */

/* Rank 0 begins with the first: its checkpoint is rank 0's. */
static xb_status deal_items(xb_ctx *ctx, xb_work *work, xb_train_item *item, char **own,
                            int64_t *bytes)
{
    int64_t i = -1;
    bool more = true;
    if (xb_comm_first(ctx)) XB_TRY(train(ctx, own, bytes, &item[0]));
    while (more && (more = xb_work_next(work, &i))) {
        char *packed = NULL;
        int64_t size = 0;
        XB_TRY(train(ctx, &packed, &size, &item[i + 1]));
        const xb_status status = xb_work_put(ctx, work, i, packed, size);
        free(packed);
        XB_TRY(status);
    }
    return xb_work_collect(ctx, work);
}

/* The first one's state from rank 0 to everyone. */
static xb_status share_first(xb_ctx *ctx, char **own, int64_t *bytes)
{
    xb_comm *comm = ctx->comm;
    xb_comm_share(comm, bytes, sizeof *bytes);
    XB_TRY(xb_comm_check(ctx));
    if (!*own) *own = xb_room(ctx, *bytes, 1);
    if (!*own) return XB_E_MEMORY;
    xb_comm_share(comm, *own, *bytes);
    return xb_comm_check(ctx);
}

static xb_status take_all(xb_ctx *ctx, xb_train_item *item, int64_t n,
                          const xb_work *work, const char *own, int64_t bytes)
{
    XB_TRY(take(ctx, &item[0], own, bytes));
    for (int64_t i = 1; i < n; i++) {
        const char *from = xb_work_result(work, i - 1, &bytes);
        XB_TRY(take(ctx, &item[i], from, bytes));
    }
    return XB_OK;
}

xb_status xb_train_items(xb_ctx *ctx, xb_train_item *item, int64_t n)
{
    xb_work *work = NULL;
    char *own = NULL;
    int64_t bytes = 0;
    XB_TRY(xb_work_open(ctx, &work, "nets", n - 1));
    xb_status status = deal_items(ctx, work, item, &own, &bytes);
    if (status == XB_OK) status = share_first(ctx, &own, &bytes);
    if (status == XB_OK) status = take_all(ctx, item, n, work, own, bytes);
    xb_work_close(work);
    free(own);
    return status;
}

xb_status xb_train_divides(xb_ctx *ctx, bool *out, const xb_train_data *data,
                           const xb_train_options *opt)
{
    xb_trainer *t = NULL;
    xb_train_options o = *opt;
    o.checkpoint = NULL;
    o.resume = false;
    XB_TRY(xb_trainer_make(ctx, &t, data, &o));
    *out = t->dealt;
    xb_trainer_destroy(t);
    return XB_OK;
}
