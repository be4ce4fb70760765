/* trainer_state.c: the state of a trainer that callers may read and change: its position,
 * its arrays, and the gradient of the bound for the caller's rows. */
#include <math.h>
#include <string.h>

#include "vi/trainer.h"

/* ---- the position */

int64_t xb_trainer_phase(const xb_trainer *t) { return t->place.phase + 1; }
int64_t xb_trainer_epochs_done(const xb_trainer *t) { return t->place.epoch; }
int64_t xb_trainer_epoch_count(const xb_trainer *t) { return t->epochs[t->place.phase]; }
int64_t xb_trainer_steps_done(const xb_trainer *t) { return t->place.step; }

int64_t xb_trainer_step_count(const xb_trainer *t)
{
    return t->batches * xb_trainer_epoch_count(t);
}

double xb_trainer_rate(const xb_trainer *t)
{
    const int64_t total = xb_trainer_step_count(t);
    return t->opt.adam.rate * xb_schedule_at(&t->opt.rate, t->place.step, total);
}

double xb_trainer_step_value(const xb_trainer *t, xb_history_column c)
{
    const bool vi = t->place.phase == XB_PHASE_VI;
    switch (c) {
    case XB_HISTORY_PHASE: return (double)t->place.phase + 1;
    case XB_HISTORY_EPOCH: return (double)t->place.epoch;
    case XB_HISTORY_STEP: return (double)t->place.step;
    case XB_HISTORY_SIGMA_MEDIAN: return vi ? (double)xb_trainer_sigma_median(t) : NAN;
    case XB_HISTORY_NOISE_SD: return vi ? xb_trainer_noise_sd(t) : NAN;
    default: return t->last[c];
    }
}

double xb_trainer_epoch_value(const xb_trainer *t, xb_history_column c)
{
    if (t->place.rows == 0) return NAN;
    return t->trace[(t->place.rows - 1) * XB_TRACE_COLUMNS + (int)c];
}

/* ---- arrays */

typedef struct array {
    const char *name;
    float *at; /* B */
    int64_t n;
} array;

enum { SIGMA = 1, RHO = 2, CELLS = 11, ARRAYS = 14 };

/* Arrays of cells exist only if the weights are made of cells. */
static int64_t arrays_of(const xb_trainer *t) { return t->opt.cells ? ARRAYS : CELLS; }

static array array_at(const xb_trainer *t, int64_t i)
{
    float *theta = t->theta, *first = t->first, *second = t->second;
    const array all[ARRAYS] = {
        {"mu", theta, t->p},
        [SIGMA] = {"sigma", t->sigma, t->p},
        [RHO] = {"rho", theta + t->rho, t->p},
        {"noise", theta + t->noise, t->q},
        {"state", t->state, t->states},
        {"mu_first", first, t->p},
        {"rho_first", first + t->rho, t->p},
        {"noise_first", first + t->noise, t->q},
        {"mu_second", second, t->p},
        {"rho_second", second + t->rho, t->p},
        {"noise_second", second + t->noise, t->q},
        [CELLS] = {"cells", theta + t->cells, t->n_cells * t->p},
        {"cells_first", first + t->cells, t->n_cells * t->p},
        {"cells_second", second + t->cells, t->n_cells * t->p},
    };
    return i >= 0 && i < arrays_of(t) ? all[i] : (array){0};
}

int64_t xb_trainer_array_count(const xb_trainer *t) { return t ? arrays_of(t) : 0; }

const char *xb_trainer_array_name(const xb_trainer *t, int64_t i)
{
    return array_at(t, i).name;
}

int64_t xb_trainer_array_size(const xb_trainer *t, int64_t i) { return array_at(t, i).n; }

int64_t xb_trainer_array_find(const xb_trainer *t, const char *name)
{
    for (int64_t i = 0; i < arrays_of(t); i++)
        if (strcmp(array_at(t, i).name, name) == 0) return i;
    return -1;
}

static xb_status check_array(xb_ctx *ctx, const xb_trainer *t, const array *a, int64_t i)
{
    if (a->name) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT, "array %lld of a trainer: expected 0 to %lld",
                   (long long)i, (long long)arrays_of(t) - 1);
}

xb_status xb_trainer_array_get(xb_ctx *ctx, float *out, const xb_trainer *t, int64_t i)
{
    const array a = array_at(t, i);
    XB_TRY(check_array(ctx, t, &a, i));
    t->backend->get(t->backend, out, a.at, a.n * (int64_t)sizeof *out);
    return XB_OK;
}

/* Checks that values are finite and, if `t` is given, positive where its weights are
 * random. */
static xb_status check_values(xb_ctx *ctx, const array *a, const float *value,
                              const xb_trainer *t)
{
    for (int64_t i = 0; i < a->n; i++)
        if (!isfinite(value[i]))
            return xb_fail(ctx, XB_E_ARGUMENT, "%s: value %lld is not finite", a->name,
                           (long long)i);
    for (int k = 0; t && k < xb_net_tensor_count(t->model->net); k++) {
        const xb_tensor *w = xb_net_tensor_at(t->model->net, k);
        for (int64_t i = w->offset; w->stochastic && i < w->offset + w->size; i++)
            if (!(value[i] > 0))
                return xb_fail(ctx, XB_E_ARGUMENT,
                               "%s: value %lld is %g, expected more than 0", a->name,
                               (long long)i, (double)value[i]);
    }
    return XB_OK;
}

static void put_rho(const xb_trainer *t, const float *sigma)
{
    const xb_backend *b = t->backend;
    for (int k = 0; k < xb_net_tensor_count(t->model->net); k++) {
        const xb_tensor *w = xb_net_tensor_at(t->model->net, k);
        for (int64_t i = w->offset; w->stochastic && i < w->offset + w->size; i++) {
            const float rho = (float)xb_sigma_transform_inverse(t->opt.sigma_transform,
                                                                (double)sigma[i]);
            b->put(b, t->theta + t->rho + i, &rho, sizeof rho);
        }
    }
}

xb_status xb_trainer_array_set(xb_ctx *ctx, xb_trainer *t, int64_t i, const float *value)
{
    const array a = array_at(t, i);
    t->ctx = ctx;
    XB_TRY(check_array(ctx, t, &a, i));
    if (t->opt.cells && (i == SIGMA || i == RHO))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%s follows from the states of the cells: set cells", a.name);
    XB_TRY(check_values(ctx, &a, value, i == SIGMA ? t : NULL));
    if (i == SIGMA)
        put_rho(t, value);
    else
        t->backend->put(t->backend, a.at, value, a.n * (int64_t)sizeof *value);
    if (i == SIGMA || i == RHO || t->opt.cells) xb_trainer_fill_sigma(t);
    return XB_OK;
}

/* ---- the gradient */

static xb_status take_given(xb_trainer *t, const xb_train_data *d)
{
    const xb_model *m = t->model;
    const xb_backend *b = t->backend;
    const xb_rows rows = xb_train_rows(d);
    if (d->features != m->features || d->classes != m->classes || !d->y)
        return xb_fail(t->ctx, XB_E_ARGUMENT,
                       "the rows do not match the trainer's columns and target");
    if (d->n < 1 || d->n > t->opt.batch)
        return xb_fail(t->ctx, XB_E_ARGUMENT,
                       "a gradient of %lld rows: expected 1 to %lld, a batch",
                       (long long)d->n, (long long)t->opt.batch);
    XB_TRY(xb_train_check_values(t->ctx, d, t->targets));
    XB_TRY(xb_train_check_counts(t->ctx, d, m));
    XB_TRY(xb_model_check_rows(t->ctx, m, &rows));
    xb_model_take_rows(m, xb_host_side(b, t->bx, t->room.bx), &rows, 0, d->n);
    xb_host_sent(b, t->bx, t->room.bx, d->n * t->features * (int64_t)sizeof *t->bx);
    float *y = xb_host_side(b, t->by, t->room.by);
    int32_t *label = xb_host_side(b, t->blabel, t->room.blabel);
    for (int64_t i = 0; i < d->n; i++) {
        const double *target = xb_train_target(d, t->targets, i);
        for (int64_t k = 0; k < t->targets; k++)
            y[i * t->targets + k] = xb_model_scaled_target(m, k, target[k]);
        label[i] = (int32_t)(d->classes > 0 ? *target : 0);
    }
    xb_host_sent(b, t->by, t->room.by, d->n * t->targets * (int64_t)sizeof *y);
    xb_host_sent(b, t->blabel, t->room.blabel, d->n * (int64_t)sizeof *label);
    return XB_OK;
}

static void get_scaled(const xb_trainer *t, float *out, const float *from, int64_t n,
                       double scale)
{
    if (!out) return;
    t->backend->get(t->backend, out, from, n * (int64_t)sizeof *out);
    for (int64_t i = 0; i < n; i++) out[i] = (float)(scale * (double)out[i]);
}

/* The learnt parameter is rho: d/dsigma = d/drho / (dsigma/drho). */
static void get_sigma_gradient(const xb_trainer *t, float *out, double scale)
{
    const xb_backend *b = t->backend;
    if (!out) return;
    memset(out, 0, (size_t)t->p * sizeof *out);
    for (int k = 0; scale > 0 && k < xb_net_tensor_count(t->model->net); k++) {
        const xb_tensor *w = xb_net_tensor_at(t->model->net, k);
        if (!w->stochastic) continue;
        get_scaled(t, out + w->offset, t->gradient + t->rho + w->offset, w->size, scale);
        for (int64_t i = w->offset; i < w->offset + w->size && !t->opt.cells; i++) {
            float rho;
            b->get(b, &rho, t->theta + t->rho + i, sizeof rho);
            const double slope =
                xb_sigma_transform_slope(t->opt.sigma_transform, (double)rho);
            out[i] = (float)((double)out[i] / slope);
        }
    }
}

/* The step's own gradient is that of F/N; the first phase has no sigma. */
xb_status xb_trainer_gradient(xb_ctx *ctx, double *f, float *d_mu, float *d_sigma,
                              float *d_noise, xb_trainer *t, const xb_train_data *rows,
                              int64_t draw)
{
    const xb_backend *b = t->backend;
    const bool vi = t->place.phase == XB_PHASE_VI;
    const double scale = vi ? (double)t->n : 1;
    const xb_train_sums sums = t->sums;
    double last[XB_TRACE_COLUMNS], loss = 0;
    memcpy(last, t->last, sizeof last);
    t->ctx = ctx;
    t->draw = draw >= 0 ? draw : t->place.step;
    if (rows) XB_TRY(take_given(t, rows));
    if (!rows && !t->ordered) xb_trainer_shuffle(t);
    t->ordered |= !rows;
    xb_status status = rows ? xb_trainer_gradient_of(t, rows->n, &loss)
                            : xb_trainer_batch_gradient(t, &loss);
    b->copy(b, t->state, t->kept_state, t->states * (int64_t)sizeof *t->state);
    t->sums = sums;
    memcpy(t->last, last, sizeof last);
    if (status != XB_OK) return status;
    *f = loss;
    get_scaled(t, d_mu, t->gradient, t->p, scale);
    get_sigma_gradient(t, d_sigma, vi ? scale : 0);
    get_scaled(t, d_noise, t->gradient + t->noise, t->q, scale);
    return XB_OK;
}

xb_status xb_trainer_cell_gradient(xb_ctx *ctx, double *f, float *d_cells, xb_trainer *t,
                                   const xb_train_data *rows, int64_t draw)
{
    const double scale = t->place.phase == XB_PHASE_VI ? (double)t->n : 1;
    if (!t->opt.cells)
        return xb_fail(ctx, XB_E_ARGUMENT, "the trainer's weights are not made of cells");
    XB_TRY(xb_trainer_gradient(ctx, f, NULL, NULL, NULL, t, rows, draw));
    get_scaled(t, d_cells, t->gradient + t->cells, t->n_cells * t->p, scale);
    return XB_OK;
}
