/* train_step.c: one step of either phase (maths V1, V10).
 *
 * Phase 2 minimises F/N = -(1/b) sum log p / T + KL/N: the data's share averaged over
 * the batch, the KL of all weights counted once for the whole data set. Numbers are
 * checked before the parameters change, so a step that is not finite changes nothing. */
#include <math.h>

#include "base/comm.h"
#include "run/pass.h"
#include "vi/kl.h"
#include "vi/trainer.h"

static xb_loss_kind kind_of(xb_likelihood likelihood)
{
    switch (likelihood) {
    case XB_LIKELIHOOD_HETEROSCEDASTIC: return XB_LOSS_HETEROSCEDASTIC;
    case XB_LIKELIHOOD_STUDENT: return XB_LOSS_STUDENT;
    case XB_LIKELIHOOD_POISSON: return XB_LOSS_POISSON;
    case XB_LIKELIHOOD_NEGATIVE_BINOMIAL: return XB_LOSS_NEGATIVE_BINOMIAL;
    default: return XB_LOSS_GAUSSIAN;
    }
}

/* (V10) Phase 1 has squares, classes or Poisson counts; phase 2 the likelihood. */
xb_loss xb_trainer_loss(const xb_trainer *t, double scale)
{
    xb_loss loss = {.kind = XB_LOSS_SQUARE,
                    .outputs = t->outputs,
                    .target = t->by,
                    .label = t->blabel,
                    .log_sd = t->theta + t->noise,
                    .d_log_sd = t->gradient + t->noise,
                    .raw = t->raw,
                    .d_raw = t->d_raw,
                    .least = t->model->noise_least,
                    .scale = scale,
                    .link = t->link};
    if (t->model->likelihood == XB_LIKELIHOOD_SOFTMAX)
        loss.kind = XB_LOSS_SOFTMAX;
    else if (t->place.phase == XB_PHASE_VI)
        loss.kind = kind_of(t->model->likelihood);
    else if (xb_model_of_counts(t->model))
        loss.kind = XB_LOSS_POISSON;
    return loss;
}

static xb_status phase_1_step(xb_trainer *t, int64_t batch, double *loss)
{
    const xb_weights weights = xb_aware_weights(t, false, 0);
    const xb_gradient gradient = {t->gradient, NULL, NULL};
    const xb_loss of = xb_trainer_loss(t, 1 / (double)batch);
    double sum = 0;
    XB_TRY(xb_pass_step_within(t->ctx, t->pass, &sum, &gradient, true, t->bx, batch,
                               &weights, NULL, &of));
    *loss = sum / (double)batch;
    return XB_OK;
}

/* One draw of the weights: its share of the loss and of the gradient. */
static xb_status one_draw(xb_trainer *t, int64_t batch, int64_t draw, double scale,
                          double *nll)
{
    const xb_weights weights = xb_aware_weights(t, true, draw);
    const xb_gradient gradient = {t->gradient, t->gradient + t->rho, NULL};
    const xb_noise noise = {.sampler = t->sampler,
                            .key = t->noise_key,
                            .step = (uint32_t)t->draw,
                            .sample = (uint32_t)draw,
                            .antithetic = t->opt.antithetic};
    const xb_loss of = xb_trainer_loss(t, scale);
    double loss = 0;
    XB_TRY(xb_pass_step_within(t->ctx, t->pass, &loss, &gradient, draw == 0, t->bx, batch,
                               &weights, &noise, &of));
    *nll += loss / (double)t->opt.draws;
    return XB_OK;
}

/* All draws; several share one pass of the noise net, which goes back for each. */
static xb_status all_draws(xb_trainer *t, int64_t batch, double scale, double *nll)
{
    const bool noisy = t->model->noise_net;
    if (noisy && t->opt.draws == 1)
        return xb_noise_posterior_step(t, batch, one_draw, scale, nll);
    if (noisy) XB_TRY(xb_noise_posterior_forward(t, batch));
    for (int64_t s = 0; s < t->opt.draws; s++) {
        XB_TRY(one_draw(t, batch, s, scale, nll));
        if (noisy) XB_TRY(xb_noise_posterior_backward(t));
    }
    return XB_OK;
}

static double add_kl(xb_trainer *t)
{
    double sum = 0, weight = 1 / (double)t->n;
    for (int i = 0; i < xb_net_tensor_count(t->model->net); i++) {
        const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
        if (!k->stochastic) continue;
        int64_t mu = k->offset, rho = t->rho + k->offset;
        const xb_kl_block block = {.grad_mu = t->gradient + mu,
                                   .grad_sigma = t->gradient + rho,
                                   .mu = t->theta + mu,
                                   .sigma = t->sigma + mu,
                                   .rho = t->theta + rho,
                                   .n = k->size,
                                   .weight = weight};
        sum += t->opt.cells ? xb_kl_sum_sigma(t->backend, t->ctx, t->kl[i], &block)
                            : xb_kl_sum_rho(t->backend, t->ctx, t->kl[i],
                                            t->opt.sigma_transform, &block);
    }
    return sum;
}

double xb_trainer_temperature(const xb_trainer *t, int64_t step)
{
    return xb_schedule_at(&t->opt.temperature, step, t->epochs[XB_PHASE_VI] * t->batches);
}

double xb_trainer_note(xb_trainer *t, int64_t batch, double temperature, double nll,
                       double kl)
{
    nll *= (double)t->n / (double)batch;
    t->sums.nll += nll;
    t->sums.kl += kl;
    t->sums.temperature += temperature;
    t->last[XB_HISTORY_LOG_LIKELIHOOD] = -nll;
    t->last[XB_HISTORY_KL] = kl;
    t->last[XB_HISTORY_TEMPERATURE] = temperature;
    return nll / temperature + kl; /* (V1) */
}

static xb_status phase_2_step(xb_trainer *t, int64_t batch, double *f)
{
    const double temperature = xb_trainer_temperature(t, t->place.step);
    double scale = 1 / ((double)batch * temperature * (double)t->opt.draws), nll = 0;
    XB_TRY(all_draws(t, batch, scale, &nll));
    double kl = add_kl(t) + xb_noise_posterior_kl(t);
    XB_TRY(xb_sharing_add(t, batch));
    *f = xb_trainer_note(t, batch, temperature, nll, kl);
    return XB_OK;
}

static xb_status check_step(xb_trainer *t, double loss)
{
    const xb_backend *b = t->backend;
    bool finite = isfinite(loss) && b->squares_finite(b, t->gradient, t->n_theta);
    XB_TRY(xb_backend_check(b, t->ctx)); /* fails if the numbers are not valid */
    XB_TRY(xb_comm_check(t->ctx));
    if (finite) return XB_OK;
    char where[XB_FAULT_TEXT];
    xb_trainer_fault(where, t);
    return xb_fail(t->ctx, XB_E_NUMERIC,
                   "training diverged at step %lld of phase %lld, %s (loss %g):"
                   " try a smaller learning rate",
                   (long long)t->place.step + 1, (long long)t->place.phase + 1, where,
                   loss);
}

/* Computes and checks the gradient. Batchnorm's state and the epoch's sums change
 * meanwhile and are restored if the step fails. */
xb_status xb_trainer_gradient_of(xb_trainer *t, int64_t batch, double *loss)
{
    const xb_backend *b = t->backend;
    const int64_t states = t->states * (int64_t)sizeof *t->state;
    const xb_train_sums kept_sums = t->sums;
    b->copy(b, t->kept_state, t->state, states);
    b->clear(b, t->gradient + t->noise,
             (t->n_theta - t->noise) * (int64_t)sizeof *t->gradient);
    xb_status status = t->place.phase == XB_PHASE_MLE ? phase_1_step(t, batch, loss)
                                                      : phase_2_step(t, batch, loss);
    if (status == XB_OK && t->opt.cells) xb_tied_chain(t);
    if (status == XB_OK) status = check_step(t, *loss);
    if (status == XB_OK) return XB_OK;
    b->copy(b, t->state, t->kept_state, states);
    t->sums = kept_sums;
    return status;
}

xb_status xb_trainer_batch_gradient(xb_trainer *t, double *loss)
{
    int64_t batch = xb_trainer_gather(t, t->place.batch);
    if (t->opt.mirror) xb_trainer_mirror(t, t->place.batch, batch);
    return xb_trainer_gradient_of(t, batch, loss);
}

xb_status xb_trainer_move(xb_trainer *t)
{
    int phase = (int)t->place.phase;
    double loss = 0;
    t->draw = t->place.step;
    XB_TRY(xb_trainer_batch_gradient(t, &loss));
    if (phase == XB_PHASE_VI) xb_sharing_keep(t);
    double rate =
        xb_schedule_at(&t->opt.rate, t->place.step, t->epochs[phase] * t->batches);
    xb_adam_step_within(t->backend, t->ctx, &t->opt.adam, t->block[phase],
                        t->blocks[phase], t->place.step + 1, rate);
    bool filled = t->opt.sigma_transform == XB_SIGMA_TRANSFORM_EXP; /* Adam has filled
                                                                       it */
    if (t->opt.cells || (phase == XB_PHASE_VI && !filled)) xb_trainer_fill_sigma(t);
    t->sums.f += loss;
    t->last[XB_HISTORY_F] = loss;
    return XB_OK;
}
