/* trial.c: arrays on chips. Chip c has the same device errors and the same random words
 * in its reads for every array and for the digital model, so scores are compared chip by
 * chip (maths X72). Arrays and chips are independent pieces of work, each with its own
 * context, so they run in parallel and give the same bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "design/search.h"
#include "predict/predict.h"

enum { BATCH = 16 }; /* number of pieces between two reports of progress */

typedef struct trial {
    const xb_candidate *candidate;
    int64_t chip;
    double *score; /* [draws][XB_QUALITIES] */
    double *row;   /* [draws][n] */
    double busy_ns;
    xb_band pj;
    xb_status status;
    char message[XB_MESSAGE_MAX];
} trial;

typedef struct trial_batch {
    const xb_design *d;
    trial piece[BATCH];
    int64_t n;
    xb_status (*run)(xb_ctx *ctx, const xb_design *d, trial *t);
} trial_batch;

static void run_piece(void *arg, int64_t i)
{
    trial_batch *b = arg;
    trial *t = &b->piece[i];
    xb_ctx *own = NULL;
    t->status = xb_ctx_create(&own);
    if (t->status == XB_OK) {
        xb_ctx_set_threads(own, 1);
        t->status = b->run(own, b->d, t);
        snprintf(t->message, sizeof t->message, "%s", xb_ctx_message(own));
    }
    xb_ctx_destroy(own);
}

/* Reports the error of the first piece that failed. */
static xb_status run_batch(xb_ctx *ctx, trial_batch *b)
{
    xb_parallel_for(ctx, b->n, run_piece, b);
    for (int64_t i = 0; i < b->n; i++)
        if (b->piece[i].status != XB_OK)
            return xb_fail(ctx, b->piece[i].status, "%s", b->piece[i].message);
    return XB_OK;
}

static xb_status put_on(xb_ctx *ctx, xb_analog **out, const xb_design *d,
                        const xb_candidate *c, int64_t chip)
{
    xb_analog_options opt = d->analog;
    opt.chip += (uint64_t)chip;
    opt.seed += (uint64_t)chip;
    const bool own = d->calibration == NULL;
    return xb_analog_create(ctx, out, d->variant[c->variant].model, &c->array,
                            own ? d->x : d->calibration,
                            own ? d->judge.n : d->calibration_n, &opt);
}

/* ---- costs */

static xb_status find_cost(xb_ctx *ctx, const xb_design *d, trial *t)
{
    xb_analog *analog = NULL;
    xb_cost_model *cost = NULL;
    XB_TRY(put_on(ctx, &analog, d, t->candidate, 0));
    xb_status status = xb_cost_model_create(ctx, &cost, analog, 1);
    if (status == XB_OK) {
        const int64_t array = xb_cost_model_design_find("array");
        t->pj = xb_cost_model_energy_pj(cost, array, -1, -1);
        for (int64_t i = 0; i < xb_cost_model_layer_count(cost); i++)
            t->busy_ns += xb_cost_model_time_ns(cost, array, i);
    }
    xb_cost_model_destroy(cost);
    xb_analog_destroy(analog);
    return status;
}

/* (X75) A device is read again when its layer is read again, which is not before all
 * layers have been read. */
static void take_cost(xb_candidate *c, const trial *t)
{
    xb_array *a = &c->array;
    const bool remembers = a->correlation_time_ns > 0 || a->memory.lags > 0;
    if (remembers) a->read_interval_ns = fmax(a->read_interval_ns, t->busy_ns);
    c->draw_pj = t->pj;
    c->draw_ns = fmax(t->busy_ns, a->read_interval_ns);
}

/* Keeps one of several arrays that have become equal. */
static void drop_equal(xb_design *d)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < d->candidates; i++) {
        bool known = false;
        for (int64_t k = 0; k < kept && !known; k++)
            known = d->candidate[k].variant == d->candidate[i].variant &&
                    xb_space_same(&d->candidate[k].array, &d->candidate[i].array);
        if (!known) d->candidate[kept++] = d->candidate[i];
    }
    d->candidates = kept;
}

xb_status xb_trial_costs(xb_ctx *ctx, xb_design *d)
{
    trial_batch *b = xb_new(ctx, 1, sizeof *b);
    if (!b) return XB_E_MEMORY;
    xb_status status = XB_OK;
    drop_equal(d);
    b->d = d;
    b->run = find_cost;
    for (int64_t i = 0; i < d->candidates && status == XB_OK; i += b->n) {
        b->n = d->candidates - i < BATCH ? d->candidates - i : BATCH;
        for (int64_t k = 0; k < b->n; k++)
            b->piece[k] = (trial){.candidate = &d->candidate[i + k]};
        status = xb_progress_tell(ctx, "costs of arrays", i, d->candidates);
        if (status == XB_OK) status = run_batch(ctx, b);
        for (int64_t k = 0; k < b->n && status == XB_OK; k++)
            take_cost(&d->candidate[i + k], &b->piece[k]);
    }
    free(b);
    if (status == XB_OK) drop_equal(d);
    return status;
}

/* ---- reads */

/* Computes the scores of value [reads][n][outputs] for every number of draws. */
static xb_status judge_all(xb_ctx *ctx, const xb_design *d, const xb_judge *judge,
                           double *score, double *rows, const double *value)
{
    const int64_t n = judge->n, wanted = d->condition[0].quality;
    double *room = xb_room(ctx, xb_judge_room(judge, d->reads), sizeof *room);
    double *row = xb_room(ctx, XB_QUALITIES * n, sizeof *row);
    if (room && row) {
        xb_judge_prepare(judge, room, value, d->reads);
        for (int64_t k = 0; k < d->n_draws; k++) {
            xb_judge_rows(judge, row, room, value, d->reads, (int64_t)d->draws[k]);
            for (int q = 0; q < XB_QUALITIES; q++)
                score[k * XB_QUALITIES + q] = xb_judge_score(judge, row, q);
            memcpy(rows + k * n, row + wanted * n, (size_t)n * sizeof *row);
        }
    }
    const bool all = room && row;
    free(row);
    free(room);
    return all ? XB_OK : XB_E_MEMORY;
}

static xb_status read_chip(xb_ctx *ctx, const xb_design *d, trial *t)
{
    const int64_t n = d->judge.n;
    xb_analog *analog = NULL;
    double *value = xb_room(ctx, d->reads * n * d->judge.outputs, sizeof *value);
    if (!value) return XB_E_MEMORY;
    xb_status status = put_on(ctx, &analog, d, t->candidate, t->chip);
    if (status == XB_OK)
        status = xb_analog_draws(ctx, value, NULL, analog, d->x, n, 0, d->reads);
    if (status == XB_OK)
        status = judge_all(ctx, d, &d->variant[t->candidate->variant].judge, t->score,
                           t->row, value);
    xb_analog_destroy(analog);
    free(value);
    return status;
}

static void take_reads(xb_design *d, xb_candidate *c, const trial *t)
{
    const int64_t size = d->n_draws * XB_QUALITIES, n = d->judge.n;
    memcpy(c->score + t->chip * size, t->score, (size_t)size * sizeof *t->score);
    for (int64_t i = 0; i < d->n_draws * n; i++) c->row[i] += t->row[i];
    c->chips = t->chip + 1;
}

static xb_status take_room(xb_ctx *ctx, trial_batch *b, const xb_design *d)
{
    for (int i = 0; i < BATCH; i++) {
        b->piece[i].score =
            xb_new(ctx, d->n_draws * XB_QUALITIES, sizeof *b->piece[i].score);
        b->piece[i].row = xb_new(ctx, d->n_draws * d->judge.n, sizeof(double));
        if (!b->piece[i].score || !b->piece[i].row) return XB_E_MEMORY;
    }
    return XB_OK;
}

static void free_batch(trial_batch *b)
{
    for (int i = 0; b && i < BATCH; i++) {
        free(b->piece[i].score);
        free(b->piece[i].row);
    }
    free(b);
}

/* Runs the batch and adds its results in order. */
static xb_status flush(xb_ctx *ctx, xb_design *d, trial_batch *b)
{
    XB_TRY(run_batch(ctx, b));
    for (int64_t i = 0; i < b->n; i++)
        take_reads(d, (xb_candidate *)(uintptr_t)b->piece[i].candidate, &b->piece[i]);
    b->n = 0;
    return XB_OK;
}

/* Reads the candidates [from, to) that are not dropped, on chips up to `chips`. */
static xb_status read_range(xb_ctx *ctx, xb_design *d, trial_batch *b, int64_t from,
                            int64_t to, int64_t chips)
{
    for (int64_t i = from; i < to; i++) {
        const xb_candidate *c = &d->candidate[i];
        for (int64_t chip = c->chips; c->alive && chip < chips; chip++) {
            b->piece[b->n].candidate = c;
            b->piece[b->n++].chip = chip;
            if (b->n < BATCH) continue;
            char task[64];
            snprintf(task, sizeof task, "reading arrays on %lld chips", (long long)chips);
            XB_TRY(xb_progress_tell(ctx, task, i - from, to - from));
            XB_TRY(flush(ctx, d, b));
        }
    }
    return flush(ctx, d, b);
}

static xb_status read_some(xb_ctx *ctx, xb_design *d, int64_t from, int64_t to,
                           int64_t chips)
{
    trial_batch *b = xb_new(ctx, 1, sizeof *b);
    if (!b) return XB_E_MEMORY;
    b->d = d;
    b->run = read_chip;
    xb_status status = take_room(ctx, b, d);
    if (status == XB_OK) status = read_range(ctx, d, b, from, to, chips);
    free_batch(b);
    return status;
}

xb_status xb_trial_read(xb_ctx *ctx, xb_design *d, int64_t chips)
{
    return read_some(ctx, d, 0, d->candidates, chips);
}

xb_status xb_trial_extend(xb_ctx *ctx, xb_design *d, int64_t candidate, int64_t chips)
{
    return read_some(ctx, d, candidate, candidate + 1, chips);
}

/* ---- the digital model */

/* The number of chips whose digital draws are scored together: at most 128 MB of draws.
 */
static int64_t pooled_chips(const xb_design *d)
{
    const int64_t most = 1 << 24;
    const int64_t fit = most / (d->reads * d->judge.n * d->judge.outputs);
    return fit < 1 ? 1 : fit < d->chips_room ? fit : d->chips_room;
}

/* Computes rows [XB_QUALITIES][n] of one prediction that has all `draws` draws. */
static xb_status judge_whole(xb_ctx *ctx, const xb_judge *judge, double *row,
                             const double *value, int64_t draws)
{
    double *room = xb_room(ctx, xb_judge_room(judge, draws), sizeof *room);
    if (!room) return XB_E_MEMORY;
    xb_judge_prepare(judge, room, value, draws);
    xb_judge_rows(judge, row, room, value, draws, draws);
    free(room);
    return XB_OK;
}

static xb_status digital_chips(xb_ctx *ctx, const xb_design *d, xb_variant *v,
                               double *value, double *row, int64_t pooled)
{
    const int64_t wide = d->judge.n * d->judge.outputs;
    xb_predict_options opt = xb_predict_options_default();
    opt.backend = d->analog.backend;
    for (int64_t chip = 0; chip < d->chips_room; chip++) {
        double *own = value + (chip < pooled ? chip : pooled) * d->reads * wide;
        opt.seed = d->analog.seed + (uint64_t)chip;
        XB_TRY(xb_predict_draws(ctx, own, NULL, v->model, d->x, d->judge.n, 0, d->reads,
                                &opt));
        XB_TRY(judge_whole(ctx, &v->judge, row, own, d->reads));
        for (int q = 0; q < XB_QUALITIES; q++)
            v->paired[chip * XB_QUALITIES + q] = xb_judge_score(&v->judge, row, q);
    }
    return judge_whole(ctx, &v->judge, v->digital_row, value, pooled * d->reads);
}

static xb_status digital_variant(xb_ctx *ctx, const xb_design *d, xb_variant *v)
{
    const int64_t pooled = pooled_chips(d), wide = d->judge.n * d->judge.outputs;
    double *value = xb_room(ctx, (pooled + 1) * d->reads * wide, sizeof *value);
    double *row = xb_room(ctx, XB_QUALITIES * d->judge.n, sizeof *row);
    xb_status status =
        value && row ? digital_chips(ctx, d, v, value, row, pooled) : XB_E_MEMORY;
    free(row);
    free(value);
    for (int q = 0; q < XB_QUALITIES && status == XB_OK; q++) { /* (X72) */
        double mean = 0;
        for (int64_t c = 0; c < pooled; c++)
            mean += v->paired[c * XB_QUALITIES + q] / (double)pooled;
        v->digital[q] = xb_judge_score(&v->judge, v->digital_row, q);
        v->offset[q] = mean - v->digital[q];
    }
    return status;
}

xb_status xb_trial_digital(xb_ctx *ctx, xb_design *d)
{
    for (int64_t i = 0; i < d->variants; i++)
        XB_TRY(digital_variant(ctx, d, &d->variant[i]));
    return XB_OK;
}
