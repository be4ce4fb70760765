/* checkpoint.c: a training run on disk, in one safetensors file: all of `live`, the
 * position of the run, the sums of the current epoch and the trace. Orders, noise and
 * standard deviations are functions of these. The fingerprint (net, law, settings,
 * checksum of the data) must agree when the run is resumed. */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/files.h"
#include "base/os.h"
#include "crossbayes/filekind.h"
#include "crossbayes/safetensors.h"
#include "vi/trainer.h"

enum {
    PLACES = sizeof(xb_train_place) / sizeof(int64_t),
    SUMS = sizeof(xb_train_sums) / sizeof(double)
};

/* The progress function is not called here, because this file is written when a stop was
 * requested. */
static xb_status write_undisturbed(xb_trainer *t, const char *path,
                                   const xb_stored *tensors, int64_t n,
                                   const xb_stored_text *texts, int64_t n_texts)
{
    xb_progress_fn listener = t->ctx->progress;
    t->ctx->progress = NULL;
    xb_status status = xb_safetensors_write(t->ctx, path, tensors, n, texts, n_texts);
    t->ctx->progress = listener;
    return status;
}

static int64_t live_bytes(const xb_trainer *t)
{
    return t->n_live * (int64_t)sizeof *t->live;
}

xb_status xb_checkpoint_save(xb_trainer *t, const char *path)
{
    if (!xb_comm_first(t->ctx)) return XB_OK; /* rank 0 saves the same state */
    const float *live = xb_host_got(t->backend, t->live, t->room.live, live_bytes(t));
    XB_TRY(xb_backend_check(t->backend, t->ctx));
    const xb_stored tensors[] = {
        {"live", XB_STORED_F32, 1, {t->n_live}, live},
        {"place", XB_STORED_I64, 1, {PLACES}, &t->place},
        {"sums", XB_STORED_F64, 1, {SUMS}, &t->sums},
        {"trace", XB_STORED_F64, 2, {t->place.rows, XB_TRACE_COLUMNS}, t->trace},
    };
    const xb_stored_text texts[] = {{"crossbayes", "checkpoint"},
                                    {"fingerprint", t->fingerprint}};
    return write_undisturbed(t, path, tensors, XB_COUNT(tensors), texts, XB_COUNT(texts));
}

static bool within(int64_t value, int64_t limit) { return value >= 0 && value <= limit; }

static bool possible(const xb_trainer *t, const xb_train_place *p)
{
    if (!within(p->phase, XB_PHASES - 1)) return false;
    int64_t epochs = t->epochs[p->phase];
    int64_t before = p->phase == XB_PHASE_VI ? t->epochs[XB_PHASE_MLE] : 0;
    return within(p->epoch, epochs) && within(p->batch, t->batches - 1) &&
           p->step == p->epoch * t->batches + p->batch && p->rows == before + p->epoch &&
           within(p->best_epoch, epochs);
}

static xb_status refuse(const xb_trainer *t, const char *path, const char *why)
{
    return xb_fail(t->ctx, XB_E_INPUT, "%s: %s", path, why);
}

/* Names the settings that differ. */
static xb_status refuse_other(const xb_trainer *t, const char *path,
                              const char *fingerprint)
{
    char what[XB_MESSAGE_MAX / 2];
    xb_resume_difference(what, sizeof what, fingerprint, t->fingerprint);
    return xb_fail(t->ctx, XB_E_INPUT, "%s: left by another run: %s", path, what);
}

/* If there is no score so far, the best one is -INFINITY. */
static bool all_finite(const float *live, int64_t n, const xb_train_sums *s)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(live[i])) return false;
    return isfinite(s->nll) && isfinite(s->kl) && isfinite(s->f) &&
           isfinite(s->temperature) && s->best_score < INFINITY;
}

static xb_status take(xb_trainer *t, const char *path, const xb_safetensors *file)
{
    const xb_stored *live = NULL, *place = NULL, *sums = NULL, *trace = NULL;
    const int64_t places = PLACES, n_sums = SUMS;
    const char *kind = xb_safetensors_text(file, "crossbayes");
    const char *fingerprint = xb_safetensors_text(file, "fingerprint");
    if (!kind || strcmp(kind, "checkpoint") != 0 || !fingerprint)
        return refuse(t, path, "not a checkpoint of crossbayes");
    if (strcmp(fingerprint, t->fingerprint) != 0)
        return refuse_other(t, path, fingerprint);
    XB_TRY(xb_safetensors_get(t->ctx, &live, file, "live", XB_STORED_F32, &t->n_live, 1));
    XB_TRY(xb_safetensors_get(t->ctx, &place, file, "place", XB_STORED_I64, &places, 1));
    XB_TRY(xb_safetensors_get(t->ctx, &sums, file, "sums", XB_STORED_F64, &n_sums, 1));
    const xb_train_place *p = place->data;
    if (!possible(t, p)) return refuse(t, path, "names an invalid step");
    const int64_t shape[2] = {p->rows, XB_TRACE_COLUMNS};
    XB_TRY(xb_safetensors_get(t->ctx, &trace, file, "trace", XB_STORED_F64, shape, 2));
    if (!all_finite(live->data, t->n_live, sums->data))
        return refuse(t, path, "holds a number that is not finite");
    t->backend->put(t->backend, t->live, live->data, live_bytes(t));
    memcpy(t->trace, trace->data,
           (size_t)(p->rows * XB_TRACE_COLUMNS) * sizeof *t->trace);
    t->place = *p;
    memcpy(&t->sums, sums->data, sizeof t->sums);
    return XB_OK;
}

xb_status xb_checkpoint_load(xb_trainer *t, const char *path)
{
    xb_safetensors *file = NULL;
    XB_TRY(xb_files_own(t->ctx, path));
    xb_status status = xb_safetensors_open(t->ctx, &file, path);
    if (status == XB_OK) status = take(t, path, file);
    xb_safetensors_destroy(file);
    return xb_filekind_explain(t->ctx, status, path, XB_KIND_CHECKPOINT);
}
