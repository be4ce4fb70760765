/* train_leap.c: trains small nets many steps at a time if the backend has `steps`
 * (backend/steps.h): on a GPU a call costs more than such a step.
 *
 * The host knows beforehand what a step needs (its rows, its rate, the number of its
 * noise), so one call does whole epochs. Afterwards the trainer goes through them epoch
 * by epoch for its sums and its trace. The numbers do not depend on how many steps a call
 * has. A step that is not finite ends a call; the same step is then tried layer by layer,
 * which reports where it broke (train_step.c). */
#include <stdlib.h>

#include "backend/steps.h"
#include "base/memory.h"
#include "run/chains.h"
#include "vi/kl.h"
#include "vi/trainer.h"

enum {
    STEPS_MOST = 1024, /* of a call, */
    EPOCHS_MOST = 64   /* which are some milliseconds */
};

struct xb_leap {
    xb_chain *chain;
    xb_step_tensor *tensor; /* [tensors] of phase 2 */
    xb_step_tensor *still;  /* the same of phase 1 */
    double constant;        /* of the KL of all weights */
    int64_t epochs;         /* of a call, at most; 1: fewer steps */
    void *room;             /* B */
    int32_t *orders;        /* B [epochs][n] */
    int32_t *shuffled;      /* [epochs][n], the host's side */
    xb_one_step *step;      /* [STEPS_MOST], of the last call */
    xb_step_sums *sums;
    float *kept; /* [epochs][q + p] */
    int64_t done;
    bool able[XB_PHASES];
    bool broken; /* the next step is not finite */
};

void xb_leap_destroy(xb_leap *leap)
{
    if (!leap) return;
    free(leap->chain), free(leap->tensor), free(leap->still), free(leap->shuffled);
    free(leap->step), free(leap->sums), free(leap->kept);
    free(leap);
}

/* ---- whether a run can */

static bool is_simple(const xb_trainer *t)
{
    const xb_likelihood l = t->model->likelihood;
    return t->x && !t->opt.cells && !t->opt.array && !(t->opt.n_eff_penalty > 0) &&
           !t->model->noise_net && t->opt.draws == 1 &&
           t->opt.sigma_transform == XB_SIGMA_TRANSFORM_EXP && t->states == 0 &&
           !t->opt.mirror && (l == XB_LIKELIHOOD_GAUSSIAN || l == XB_LIKELIHOOD_SOFTMAX);
}

static bool read_tensor(xb_trainer *t, xb_leap *leap, int i)
{
    const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
    xb_step_tensor *to = &leap->tensor[i];
    double constant = 0;
    to->random = k->stochastic;
    to->moves = k->stochastic || !t->opt.freeze;
    leap->still[i] = (xb_step_tensor){.moves = true};
    if (!k->stochastic) return true;
    if (!xb_kl_normal(t->kl[i], &to->mean, &to->precision, &constant)) return false;
    leap->constant += (double)k->size * constant;
    return true;
}

static xb_many_steps steps_of(const xb_trainer *t, const xb_leap *leap, int phase)
{
    const bool vi = phase == XB_PHASE_VI;
    return (xb_many_steps){.chain = leap->chain,
                           .tensor = vi ? leap->tensor : leap->still,
                           .net = t->model->net,
                           .estimator = (xb_estimator)t->opt.estimator,
                           .sampler = vi ? t->sampler : NULL,
                           .key = t->noise_key,
                           .batch = t->opt.batch,
                           .x = t->x,
                           .order = t->order,
                           .theta = t->theta,
                           .first = t->first,
                           .second = t->second,
                           .sigma = t->sigma,
                           .rho = t->rho,
                           .noise = t->noise,
                           .noises = vi ? t->q : 0,
                           .adam = xb_adam_rates_of(&t->opt.adam, 0),
                           .sigma_rate = t->opt.sigma_rate,
                           .kl_weight = 1 / (double)t->n,
                           .count = STEPS_MOST,
                           .keeps = leap->epochs,
                           .step = leap->step,
                           .sums = leap->sums,
                           .kept = leap->kept};
}

/* All rows, not a batch's. */
static xb_loss loss_of(const xb_trainer *t)
{
    xb_loss loss = xb_trainer_loss(t, 1);
    loss.target = t->y;
    loss.label = t->label;
    return loss;
}

/* The room for the phases that the backend can do in this way; 0: there is none. */
static int64_t find_room(const xb_trainer *t, xb_leap *leap)
{
    int64_t most = 0;
    for (int phase = 0; phase < XB_PHASES; phase++) {
        xb_many_steps steps = steps_of(t, leap, phase);
        steps.loss = loss_of(t);
        const int64_t bytes = t->backend->steps_room(&steps);
        leap->able[phase] = bytes > 0;
        if (bytes > most) most = bytes;
    }
    return most;
}

/* ---- its memory */

static int64_t epochs_of(const xb_trainer *t)
{
    const int64_t rows_most = 1 << 20, kept_most = 1 << 22; /* numbers of all epochs */
    int64_t epochs = STEPS_MOST / t->batches;
    if (epochs > rows_most / t->n) epochs = rows_most / t->n;
    if (epochs > kept_most / (t->q + t->p + 1)) epochs = kept_most / (t->q + t->p + 1);
    if (epochs > EPOCHS_MOST) epochs = EPOCHS_MOST;
    return epochs > 1 ? epochs : 1;
}

static xb_status take_buffers(xb_trainer *t, xb_leap *leap, int64_t room)
{
    const xb_backend *b = t->backend;
    XB_TRY(b->take(b, t->ctx, &leap->room, room));
    t->buffer[t->buffers++] = leap->room;
    void *orders = NULL;
    XB_TRY(
        b->take(b, t->ctx, &orders, leap->epochs * t->n * (int64_t)sizeof *leap->orders));
    t->buffer[t->buffers++] = leap->orders = orders;
    return XB_OK;
}

static xb_status make(xb_trainer *t, xb_leap *leap, bool *suits)
{
    const int tensors = xb_net_tensor_count(t->model->net);
    leap->epochs = epochs_of(t);
    leap->tensor = xb_new(t->ctx, tensors, sizeof *leap->tensor);
    leap->still = xb_new(t->ctx, tensors, sizeof *leap->still);
    leap->step = xb_new(t->ctx, STEPS_MOST, sizeof *leap->step);
    leap->sums = xb_new(t->ctx, STEPS_MOST, sizeof *leap->sums);
    leap->kept = xb_new(t->ctx, leap->epochs * (t->q + t->p), sizeof *leap->kept);
    leap->shuffled = xb_new(t->ctx, leap->epochs * t->n, sizeof *leap->shuffled);
    if (!leap->tensor || !leap->still || !leap->step || !leap->sums || !leap->kept ||
        !leap->shuffled)
        return XB_E_MEMORY;
    XB_TRY(xb_chain_links(t->ctx, &leap->chain, t->model->net));
    *suits = leap->chain && leap->chain->n_link > 0;
    for (int i = 0; *suits && i < tensors; i++) *suits = read_tensor(t, leap, i);
    const int64_t room = *suits ? find_room(t, leap) : 0;
    *suits = room > 0;
    return *suits ? take_buffers(t, leap, room) : XB_OK;
}

xb_status xb_leap_create(xb_trainer *t)
{
    bool suits = false;
    if (!t->backend->steps_room || !is_simple(t)) return XB_OK;
    xb_leap *leap = xb_new(t->ctx, 1, sizeof *leap);
    if (!leap) return XB_E_MEMORY;
    const xb_status status = make(t, leap, &suits);
    if (suits && status == XB_OK)
        t->leap = leap;
    else
        xb_leap_destroy(leap);
    return status;
}

/* ---- a call */

/* Batch k of an epoch whose order begins at `from`, as step number `number`. */
static xb_one_step step_of(const xb_trainer *t, int64_t from, int64_t k, int64_t number)
{
    const int phase = (int)t->place.phase;
    const int64_t total = t->epochs[phase] * t->batches;
    const int64_t first = k * t->n / t->batches;
    const int64_t rows = (k + 1) * t->n / t->batches - first;
    const double rate = xb_schedule_at(&t->opt.rate, number, total);
    const double temperature =
        phase == XB_PHASE_VI ? xb_trainer_temperature(t, number) : 1;
    return (xb_one_step){.first = from + first,
                         .rows = rows,
                         .number = (uint32_t)number,
                         .scale = 1 / ((double)rows * temperature),
                         .rate = xb_adam_corrected(&t->opt.adam, number + 1, rate)};
}

static xb_status call(xb_trainer *t, const int32_t *order, int64_t count, int64_t keeps)
{
    const xb_backend *b = t->backend;
    xb_leap *leap = t->leap;
    xb_many_steps steps = steps_of(t, leap, (int)t->place.phase);
    steps.loss = loss_of(t);
    steps.order = order;
    steps.count = count;
    steps.keeps = keeps;
    leap->done = b->steps(&steps, leap->room);
    leap->broken = leap->done < count;
    return xb_backend_check(b, t->ctx);
}

/* Step i of the last call in the sums, and place after it. */
static void note(xb_trainer *t, int64_t i)
{
    const xb_leap *leap = t->leap;
    const xb_step_sums *s = &leap->sums[i];
    const int64_t rows = leap->step[i].rows;
    double f = s->loss / (double)rows;
    if (t->place.phase == XB_PHASE_VI)
        f = xb_trainer_note(t, rows, xb_trainer_temperature(t, t->place.step), s->loss,
                            s->kl + leap->constant);
    t->sums.f += f;
    t->last[XB_HISTORY_F] = f;
    t->draw = t->place.step;
    t->place.batch++;
    t->place.step++;
}

static bool is_able(const xb_trainer *t)
{
    return t->leap && t->leap->able[t->place.phase] && !t->leap->broken && !t->dealt;
}

/* One step layer by layer, as without a leap. */
static xb_status one_step(xb_trainer *t)
{
    XB_TRY(xb_trainer_move(t));
    if (t->leap) t->leap->broken = false;
    t->place.batch++;
    t->place.step++;
    return XB_OK;
}

xb_status xb_leap_within(xb_trainer *t, int64_t most)
{
    if (!is_able(t)) return one_step(t);
    xb_leap *leap = t->leap;
    int64_t count = t->batches - t->place.batch;
    if (count > most) count = most;
    if (count > STEPS_MOST) count = STEPS_MOST;
    for (int64_t i = 0; i < count; i++)
        leap->step[i] = step_of(t, 0, t->place.batch + i, t->place.step + i);
    XB_TRY(call(t, t->order, count, 0));
    for (int64_t i = 0; i < leap->done; i++) note(t, i);
    return leap->done > 0 ? XB_OK : one_step(t);
}

/* ---- whole epochs */

int64_t xb_leap_reach(const xb_trainer *t)
{
    const xb_leap *leap = t->leap;
    if (!is_able(t) || t->place.batch > 0 || (t->held > 0 && !t->unscored) ||
        t->opt.on_epoch)
        return 0;
    const int64_t left = t->epochs[t->place.phase] - t->place.epoch;
    const int64_t epochs = left < leap->epochs ? left : leap->epochs;
    return epochs > 1 ? epochs : 0;
}

static void plan_epoch(xb_trainer *t, int64_t e)
{
    xb_leap *leap = t->leap;
    int32_t *order = leap->shuffled + e * t->n;
    xb_shuffle(order, t->n, t->data_key, (uint32_t)t->place.phase,
               (uint32_t)(t->place.epoch + e));
    for (int64_t k = 0; k < t->batches; k++)
        leap->step[e * t->batches + k] =
            step_of(t, e * t->n, k, t->place.step + e * t->batches + k);
    leap->step[(e + 1) * t->batches - 1].keep = t->place.phase == XB_PHASE_VI;
}

xb_status xb_leap_epochs(xb_trainer *t, int64_t epochs)
{
    xb_leap *leap = t->leap;
    for (int64_t e = 0; e < epochs; e++) plan_epoch(t, e);
    t->backend->put(t->backend, leap->orders, leap->shuffled,
                    epochs * t->n * (int64_t)sizeof *leap->orders);
    return call(t, leap->orders, epochs * t->batches,
                t->place.phase == XB_PHASE_VI ? epochs : 0);
}

bool xb_leap_epoch(xb_trainer *t, int64_t epoch)
{
    const xb_leap *leap = t->leap;
    const int64_t from = epoch * t->batches, to = from + t->batches;
    for (int64_t i = from; i < to && i < leap->done; i++) note(t, i);
    t->seen = leap->kept + epoch * (t->q + t->p);
    return leap->done >= to;
}

void xb_leap_done(xb_trainer *t)
{
    t->seen = NULL;
    t->ordered = false; /* the order of an epoch that broke off is made again */
}
