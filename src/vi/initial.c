/* initial.c: initial values of parameters: as the net defines them (maths N17); after
 * phase 1, one small value for all standard deviations, and for the noise what the
 * trained net leaves unexplained (maths V11). */
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/count_mass.h"
#include "run/pass.h"
#include "vi/trainer.h"

/* The host's copy of a part of `live`. */
static float *side_of(const xb_trainer *t, const float *part)
{
    float *live = xb_host_side(t->backend, t->live, t->room.live);
    return live + (part - t->live);
}

void xb_trainer_start_weights(xb_trainer *t)
{
    xb_key key = xb_key_make(t->opt.seed, XB_PURPOSE_INIT);
    xb_key other = xb_key_make(~t->opt.seed, XB_PURPOSE_INIT);
    float *theta = side_of(t, t->theta), *state = side_of(t, t->state);
    const xb_model *start = t->opt.start;
    xb_net_params_start(t->model->net, theta, key);
    xb_net_state_start(t->model->net, state);
    if (t->model->noise_net) {
        xb_net_params_start(t->model->noise_net, theta + t->noise, other);
        xb_net_state_start(t->model->noise_net, state + t->net_states);
    }
    if (start) {
        memcpy(theta, start->mu, (size_t)t->p * sizeof *theta);
        memcpy(state, start->state, (size_t)t->net_states * sizeof *state);
    }
    if (t->opt.cells) xb_tied_start(t, theta);
    xb_host_sent(t->backend, t->live, t->room.live, t->n_live * (int64_t)sizeof *theta);
}

void xb_trainer_fill_sigma(xb_trainer *t)
{
    if (t->opt.cells) xb_tied_fill(t);
    for (int i = 0; i < xb_net_tensor_count(t->model->net) && !t->opt.cells; i++) {
        const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
        if (k->stochastic)
            t->backend->spread_fill(t->backend, t->ctx, t->opt.sigma_transform,
                                    t->sigma + k->offset, t->theta + t->rho + k->offset,
                                    k->size);
    }
    xb_noise_posterior_fill(t);
}

static void fill(const xb_trainer *t, float *to, double value, int64_t n)
{
    t->backend->fill(t->backend, to, (float)value, n);
}

/* The sum of squared residuals of target k in the batch. */
static double left_of(const xb_trainer *t, int64_t batch, int64_t k)
{
    const int64_t stride = t->targets, bytes = batch * stride * (int64_t)sizeof(float);
    const float *out = xb_host_got(t->backend, t->out, t->room.out, bytes);
    const float *by = xb_host_got(t->backend, t->by, t->room.by, bytes);
    double sum = 0;
    for (int64_t i = k; i < batch * stride; i += stride) {
        double e = (double)out[i] - (double)by[i];
        sum += e * e;
    }
    return sum;
}

/* (V41) Sums the squares of counts beyond Poisson's variance, and those of their
 * rates. */
static void add_beyond(const xb_trainer *t, int64_t batch, int64_t k, double sum[2])
{
    const int64_t stride = t->targets, bytes = batch * stride * (int64_t)sizeof(float);
    const float *out = xb_host_got(t->backend, t->out, t->room.out, bytes);
    const float *by = xb_host_got(t->backend, t->by, t->room.by, bytes);
    for (int64_t i = k; i < batch * stride; i += stride) {
        const double rate =
            xb_count_rate(t->model->y_mean[k] + t->model->y_sd[k] * (double)out[i]);
        const double e = (double)by[i] - rate;
        sum[0] += e * e - rate;
        sum[1] += rate * rate;
    }
}

/* The residual of target k after phase 1, over the training rows: its root mean square,
 * or for counts the dispersion. */
static xb_status residual(xb_trainer *t, double *out, int64_t k)
{
    const xb_weights weights = {t->theta, NULL, t->state, NULL};
    double sum = 0, beyond[2] = {0};
    for (int64_t b = 0; b < t->batches; b++) {
        int64_t first = b * t->n / t->batches,
                batch = (b + 1) * t->n / t->batches - first;
        xb_trainer_take(t, first, batch);
        XB_TRY(xb_pass_forward_within(t->ctx, t->pass, t->out, t->bx, batch, &weights,
                                      NULL, XB_MODE_PREDICT));
        if (xb_model_of_counts(t->model))
            add_beyond(t, batch, k, beyond);
        else
            sum += left_of(t, batch, k);
    }
    *out = beyond[1] > 0 ? beyond[0] / beyond[1] : sqrt(sum / (double)t->n);
    return xb_comm_check(t->ctx);
}

/* The noise net starts as a constant: its last kernel is 0, and its last bias makes the
 * standard deviation of target k equal to `sd`. */
static void start_noise_net(xb_trainer *t, double sd, int64_t k)
{
    const xb_net *net = t->model->noise_net;
    int last = xb_net_tensor_count(net) - 1;
    const xb_tensor *bias = xb_net_tensor_at(net, last);
    if (bias->role != XB_ROLE_BIAS) return;
    float *w = t->theta + t->noise;
    const xb_tensor *kernel = xb_net_tensor_at(net, last - 1);
    fill(t, w + kernel->offset, 0, kernel->size);
    const double above = fmax(sd - t->model->noise_least, 0.1 * sd);
    fill(t, w + bias->offset + k,
         xb_sigma_transform_inverse(XB_SIGMA_TRANSFORM_SOFTPLUS, above), 1);
    const xb_noise_posterior *p = &t->noise_posterior;
    if (p->net)
        fill(t, t->theta + p->rho,
             xb_sigma_transform_inverse(XB_SIGMA_TRANSFORM_EXP, t->opt.sigma), t->q);
}

xb_status xb_trainer_start_vi(xb_trainer *t)
{
    const double least = 0.05; /* relative to the target's sd, because an overfitted net
                                  leaves too small a residual */
    fill(t, t->theta + t->rho,
         xb_sigma_transform_inverse(t->opt.sigma_transform, t->opt.sigma), t->p);
    fill(t, t->first, 0, t->n_theta);
    fill(t, t->second, 0, t->n_theta);
    for (int64_t k = 0; t->q > 0 && k < t->targets; k++) {
        const double spread = t->model->target_spread[k];
        double sd = 0;
        XB_TRY(residual(t, &sd, k));
        if (xb_model_of_counts(t->model)) {
            fill(t, t->theta + t->noise + k, log(fmin(fmax(sd, least), 1)), 1);
            continue;
        }
        if (!(sd > least * spread)) sd = least * spread;
        if (t->model->noise_net)
            start_noise_net(t, sd, k);
        else
            fill(t, t->theta + t->noise + k, log(sd), 1);
    }
    const double shape = log(8); /* ten degrees of freedom: nearly normal */
    if (t->model->likelihood == XB_LIKELIHOOD_STUDENT)
        fill(t, t->theta + t->noise + t->targets, shape, 1);
    xb_trainer_fill_sigma(t);
    return XB_OK;
}
