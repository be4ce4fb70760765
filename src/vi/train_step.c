/* train_step.c: one step of either phase (maths V1, V10).
 *
 * Phase 2 minimises F/N = -(1/b) sum log p / T + KL/N: the data's share averaged over
 * the batch, the KL of all weights counted once for the whole data set. Numbers are
 * looked at before the parameters move: a step that is not finite changes nothing. */
#include <math.h>
#include <string.h>

#include "crossbayes/net.h"
#include "vi/kl.h"
#include "vi/trainer.h"
#include "vi/update.h"

static void scale_all(float *x, int64_t n, double factor)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) x[i] = (float)((double)x[i] * factor);
}

static double phase_1_loss(const xb_trainer *t, float *dy, const float *y, int64_t batch)
{
    if (t->model->likelihood == XB_LIKELIHOOD_SOFTMAX)
        return xb_nll_softmax(dy, y, t->blabel, batch, t->outputs);
    return xb_nll_square(dy, y, t->by, batch);
}

double xb_trainer_loss(xb_trainer *t, float *dy, const float *y, int64_t batch,
                       double scale, double *d_log_sd)
{
    double loss;
    if (t->model->likelihood == XB_LIKELIHOOD_SOFTMAX)
        loss = xb_nll_softmax(dy, y, t->blabel, batch, t->outputs);
    else if (t->model->noise_net)
        loss = xb_nll_heteroscedastic(dy, dy ? t->d_raw : NULL, y, t->raw, t->by, batch,
                                      1, 1, XB_SD_SOFTPLUS, XB_NOISE_LEAST);
    else
        loss = xb_nll_gaussian(dy, d_log_sd, y, t->by, (double)t->theta[t->noise], batch);
    if (!dy) return loss;
    scale_all(dy, batch * t->outputs, scale);
    if (t->model->noise_net) scale_all(t->d_raw, batch, scale);
    return loss;
}

/* What the loss of a pass needs and leaves. */
typedef struct loss_job {
    xb_trainer *t;
    double scale, loss, d_log_sd;
} loss_job;

static void phase_1_dy(void *arg, float *dy, const float *y, int64_t batch)
{
    loss_job *job = arg;
    job->loss = phase_1_loss(job->t, dy, y, batch) / (double)batch;
    scale_all(dy, batch * job->t->outputs, 1 / (double)batch);
}

static xb_status phase_1_step(xb_trainer *t, int64_t batch, double *loss)
{
    const xb_weights weights = {t->theta, NULL, t->state, t->state};
    const xb_gradient gradient = {t->gradient, NULL, NULL};
    loss_job job = {.t = t};
    XB_TRY(xb_pass_step(t->ctx, t->pass, &gradient, true, t->bx, batch, &weights, NULL,
                        phase_1_dy, &job));
    *loss = job.loss;
    return XB_OK;
}

static void phase_2_dy(void *arg, float *dy, const float *y, int64_t batch)
{
    loss_job *job = arg;
    job->loss = xb_trainer_loss(job->t, dy, y, batch, job->scale, &job->d_log_sd);
}

/* One draw of the weights: its share of the loss and of the gradient. */
static xb_status one_draw(xb_trainer *t, int64_t batch, int64_t draw, double scale,
                          double *nll)
{
    const xb_weights weights = {t->theta, t->sigma, t->state, t->state};
    const xb_gradient gradient = {t->gradient, t->gradient + t->rho, NULL};
    const xb_noise noise = {.sampler = t->sampler,
                            .key = t->noise_key,
                            .step = (uint32_t)t->place.step,
                            .sample = (uint32_t)draw,
                            .antithetic = t->opt.antithetic};
    loss_job job = {.t = t, .scale = scale};
    XB_TRY(xb_pass_step(t->ctx, t->pass, &gradient, draw == 0, t->bx, batch, &weights,
                        &noise, phase_2_dy, &job));
    *nll += job.loss / (double)t->opt.samples;
    if (t->model->likelihood == XB_LIKELIHOOD_GAUSSIAN)
        t->gradient[t->noise] += (float)(job.d_log_sd * scale);
    if (!t->model->noise_net) return XB_OK;
    const xb_gradient noise_gradient = {t->gradient + t->noise, NULL, NULL};
    return xb_pass_backward(t->ctx, t->noise_pass, &noise_gradient, t->d_raw);
}

static double add_kl(xb_trainer *t)
{
    double sum = 0, weight = 1 / (double)t->n;
    for (int i = 0; i < xb_net_tensor_count(t->model->net); i++) {
        const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
        if (!k->stochastic) continue;
        int64_t mu = k->offset, rho = t->rho + k->offset;
        sum += xb_kl_sum_rho(t->ctx, t->kl[i], t->opt.spread, t->gradient + mu,
                             t->gradient + rho, t->theta + mu, t->sigma + mu,
                             t->theta + rho, k->size, weight);
    }
    return sum;
}

static xb_status phase_2_step(xb_trainer *t, int64_t batch, double *f)
{
    int64_t total = t->epochs[XB_PHASE_VI] * t->batches;
    double temperature = xb_schedule_at(&t->opt.temperature, t->place.step, total);
    double scale = 1 / ((double)batch * temperature * (double)t->opt.samples);
    double nll = 0, n = (double)t->n;
    const xb_weights fixed = {t->theta + t->noise, NULL, t->noise_state, t->noise_state};
    if (t->model->noise_net)
        XB_TRY(xb_pass_forward(t->ctx, t->noise_pass, t->raw, t->bx, batch, &fixed, NULL,
                               XB_MODE_TRAIN));
    for (int64_t s = 0; s < t->opt.samples; s++)
        XB_TRY(one_draw(t, batch, s, scale, &nll));
    double kl = add_kl(t);
    nll *= n / (double)batch;
    *f = nll / temperature + kl; /* (V1) */
    t->sums.nll += nll;
    t->sums.kl += kl;
    t->sums.temperature += temperature;
    return XB_OK;
}

static xb_status check_step(xb_trainer *t, double loss)
{
    if (isfinite(loss) && xb_update_best()->squares_finite(t->gradient, t->n_theta))
        return XB_OK;
    char where[XB_FAULT_TEXT];
    xb_trainer_fault(where, t);
    return xb_fail(
        t->ctx, XB_E_NUMERIC,
        "training left the finite numbers at step %lld of phase %lld, %s (loss %g):"
        " try a smaller learning rate",
        (long long)t->place.step + 1, (long long)t->place.phase + 1, where, loss);
}

/* The gradient, checked. Batchnorm's state and the epoch's sums move on the way and are
 * put back where the step does not count. */
xb_status xb_trainer_gradient(xb_trainer *t, double *loss)
{
    int64_t batch = xb_trainer_gather(t, t->place.batch);
    if (t->opt.mirror) xb_trainer_mirror(t, t->place.batch, batch);
    size_t states = (size_t)t->states * sizeof *t->state;
    const xb_train_sums kept_sums = t->sums;
    memcpy(t->kept_state, t->state, states);
    memset(t->gradient + t->noise, 0, (size_t)t->q * sizeof *t->gradient);
    xb_status status = t->place.phase == XB_PHASE_MLE ? phase_1_step(t, batch, loss)
                                                      : phase_2_step(t, batch, loss);
    if (status == XB_OK) status = check_step(t, *loss);
    if (status == XB_OK) return XB_OK;
    memcpy(t->state, t->kept_state, states);
    t->sums = kept_sums;
    return status;
}

xb_status xb_trainer_step(xb_trainer *t)
{
    int phase = (int)t->place.phase;
    double loss = 0;
    XB_TRY(xb_trainer_gradient(t, &loss));
    double rate =
        xb_schedule_at(&t->opt.rate, t->place.step, t->epochs[phase] * t->batches);
    xb_adam_step(t->ctx, &t->opt.adam, t->block[phase], t->blocks[phase],
                 t->place.step + 1, rate);
    bool filled = t->opt.spread == XB_SPREAD_EXP; /* by Adam */
    if (phase == XB_PHASE_VI && !filled) xb_trainer_fill_sigma(t);
    t->sums.f += loss;
    return XB_OK;
}
