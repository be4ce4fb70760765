/* train_score.c: the scores of an epoch: the log predictive density of rows held
 * out (log of the mean over a few draws, always the same ones), the median standard
 * deviation, the noise. No allocation. */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "run/pass.h"
#include "vi/trainer.h"

/* A batch of rows held out, on the host. */
typedef struct held_rows {
    const float *out, *raw, *by;
    const int32_t *label;
    double shape; /* for the student likelihood */
} held_rows;

static int64_t bytes_of(int64_t n) { return n * (int64_t)sizeof(float); }

/* Fills everything except `out`. */
static held_rows rows_of(xb_trainer *t, int64_t batch)
{
    const xb_backend *b = t->backend;
    const xb_train_rooms *r = &t->room;
    const int64_t numbers = bytes_of(batch * t->targets);
    if (!t->model->noise_net && t->q > 0)
        for (int64_t k = 0; k < t->targets; k++) t->log_sd[k] = xb_trainer_log_sd(t, k);
    return (held_rows){.by = xb_host_got(b, t->by, r->by, numbers),
                       .label = xb_host_got(b, t->blabel, r->blabel, bytes_of(batch)),
                       .raw = xb_host_got(b, t->raw, r->raw, numbers),
                       .shape = xb_trainer_shape(t)};
}

/* The negative log density of target k; y is the net's output for it. */
static double target_nll(const xb_trainer *t, const held_rows *h, const float *y,
                         const float *by, int64_t k)
{
    const xb_model *m = t->model;
    switch (m->likelihood) {
    case XB_LIKELIHOOD_STUDENT:
        return xb_nll_student(NULL, NULL, NULL, y, by, t->log_sd[k], h->shape, 1, 1);
    case XB_LIKELIHOOD_POISSON:
        return xb_nll_poisson(NULL, y, by, m->y_mean[k], m->y_sd[k], 1, 1);
    case XB_LIKELIHOOD_NEGATIVE_BINOMIAL:
        return xb_nll_negative_binomial(NULL, NULL, y, by, m->y_mean[k], m->y_sd[k],
                                        t->log_sd[k], 1, 1);
    default: return xb_nll_gaussian(NULL, NULL, y, by, t->log_sd[k], 1);
    }
}

/* Log density of row i of the batch. */
static double log_density(const xb_trainer *t, const held_rows *h, int64_t i)
{
    const float *y = h->out + i * t->outputs;
    if (t->model->likelihood == XB_LIKELIHOOD_SOFTMAX)
        return -xb_nll_softmax(NULL, y, h->label + i, 1, t->outputs);
    const int64_t targets = t->targets, at = i * targets;
    if (t->model->noise_net)
        return -xb_nll_heteroscedastic(NULL, NULL, y, h->raw + at, h->by + at, 1, targets,
                                       targets, XB_SD_SOFTPLUS, t->model->noise_least);
    double sum = 0;
    for (int64_t k = 0; k < targets; k++)
        sum -= target_nll(t, h, y + k, h->by + at + k, k);
    return sum;
}

/* log sum exp, one term at a time. */
static void add_term(double *peak, double *mass, double term)
{
    if (term > *peak) {
        *mass = *mass * exp(*peak - term) + 1;
        *peak = term;
    } else {
        *mass += exp(term - *peak);
    }
}

static xb_status score_rows(xb_trainer *t, int64_t first, int64_t batch)
{
    const xb_weights weights = {t->theta, t->sigma, t->state, NULL};
    const xb_weights fixed = {t->theta + t->noise, NULL, t->noise_state, NULL};
    xb_trainer_take(t, t->n + first, batch);
    if (t->model->noise_net)
        XB_TRY(xb_pass_forward_within(t->ctx, t->noise_pass, t->raw, t->bx, batch, &fixed,
                                      NULL, XB_MODE_PREDICT));
    held_rows h = rows_of(t, batch);
    for (int64_t s = 0; s < t->opt.validation_draws; s++) {
        const xb_noise noise = {.sampler = t->sampler,
                                .key = t->noise_key,
                                .step = UINT32_MAX,
                                .sample = (uint32_t)s,
                                .first = first};
        XB_TRY(xb_pass_forward_within(t->ctx, t->pass, t->out, t->bx, batch, &weights,
                                      &noise, XB_MODE_PREDICT));
        h.out =
            xb_host_got(t->backend, t->out, t->room.out, bytes_of(batch * t->outputs));
        for (int64_t i = 0; i < batch; i++)
            add_term(&t->peak[first + i], &t->mass[first + i], log_density(t, &h, i));
    }
    return XB_OK;
}

double xb_trainer_held_score(const xb_trainer *t, int64_t i)
{
    return t->peak[i] + log(t->mass[i] / (double)t->opt.validation_draws);
}

xb_status xb_trainer_validate(xb_trainer *t, double *score)
{
    double sum = 0;
    for (int64_t i = 0; i < t->held; i++) t->peak[i] = -INFINITY, t->mass[i] = 0;
    for (int64_t first = 0; first < t->held; first += t->opt.batch) {
        int64_t left = t->held - first;
        XB_TRY(score_rows(t, first, left < t->opt.batch ? left : t->opt.batch));
    }
    for (int64_t i = 0; i < t->held; i++) sum += xb_trainer_held_score(t, i);
    *score = sum / (double)t->held;
    return xb_comm_check(t->ctx);
}

/* The number of n words that are below `limit`. */
static int64_t count_below(const int32_t *word, int64_t n, int32_t limit)
{
    enum { MOST = 1 << 30 }; /* at a time */
    const xb_update *update = xb_update_best();
    int64_t count = 0;
    for (int64_t i = 0; i < n; i += MOST)
        count +=
            update->count_below(word + i, (int32_t)(n - i < MOST ? n - i : MOST), limit);
    return count;
}

/* The k-th smallest (from 0) of n positive floats, in the order of their bits:
 * found bit by bit, 31 counts without a branch. */
static float select_kth(const int32_t *bits, int64_t n, int64_t k)
{
    int32_t found = 0;
    for (int32_t bit = INT32_C(1) << 30; bit > 0; bit >>= 1)
        if (count_below(bits, n, found | bit) <= k) found |= bit;
    float value;
    memcpy(&value, &found, sizeof value);
    return value;
}

/* Copies n floats from position `from` of a kept step, or of the current buffer. */
static void look_at(const xb_trainer *t, void *to, const float *buffer, int64_t from,
                    int64_t n)
{
    if (t->seen)
        memcpy(to, t->seen + from, (size_t)n * sizeof *t->seen);
    else
        t->backend->get(t->backend, to, buffer, bytes_of(n));
}

float xb_trainer_sigma_median(const xb_trainer *t)
{
    int64_t n = 0;
    for (int i = 0; i < xb_net_tensor_count(t->model->net); i++) {
        const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
        if (!k->stochastic) continue;
        look_at(t, t->bits + n, t->sigma + k->offset, t->q + k->offset, k->size);
        n += k->size;
    }
    return n > 0 ? select_kth(t->bits, n, n / 2) : NAN;
}

double xb_trainer_log_sd(const xb_trainer *t, int64_t k)
{
    float log_sd;
    look_at(t, &log_sd, t->theta + t->noise + k, k, 1);
    return (double)log_sd;
}

double xb_trainer_shape(const xb_trainer *t)
{
    const bool student = t->model->likelihood == XB_LIKELIHOOD_STUDENT;
    return student ? xb_trainer_log_sd(t, t->targets) : NAN;
}

double xb_trainer_noise_sd(const xb_trainer *t)
{
    if (!xb_model_has_one_noise(t->model)) return NAN;
    double sum = 0;
    for (int64_t k = 0; k < t->targets; k++) sum += xb_trainer_log_sd(t, k);
    return exp(sum / (double)t->targets);
}
