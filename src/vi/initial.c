/* initial.c: where parameters start: as the net has it (maths N17); after phase 1 the
 * standard deviations at one small value and the noise at what the trained net leaves
 * unexplained (maths V11). */
#include <math.h>
#include <string.h>

#include "vi/trainer.h"

void xb_trainer_start_weights(xb_trainer *t)
{
    xb_key key = xb_key_make(t->opt.seed, XB_PURPOSE_INIT);
    xb_key other = xb_key_make(~t->opt.seed, XB_PURPOSE_INIT);
    xb_net_params_start(t->model->net, t->theta, key);
    xb_net_state_start(t->model->net, t->state);
    if (t->model->noise_net) {
        xb_net_params_start(t->model->noise_net, t->theta + t->noise, other);
        xb_net_state_start(t->model->noise_net, t->noise_state);
    }
    const xb_model *start = t->opt.start;
    if (!start) return;
    memcpy(t->theta, start->mu, (size_t)t->p * sizeof *t->theta);
    memcpy(t->state, start->state, (size_t)t->net_states * sizeof *t->state);
}

void xb_trainer_fill_sigma(xb_trainer *t)
{
    for (int i = 0; i < xb_net_tensor_count(t->model->net); i++) {
        const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
        if (k->stochastic)
            xb_spread_fill(t->ctx, t->opt.spread, t->sigma + k->offset,
                           t->theta + t->rho + k->offset, k->size);
    }
}

/* Root mean square of what the net of phase 1 leaves, over the rows learnt from. */
static xb_status residual(xb_trainer *t, double *out)
{
    const xb_weights weights = {t->theta, NULL, t->state, t->state};
    double sum = 0;
    for (int64_t i = 0; i < t->n; i++) t->order[i] = (int32_t)i;
    for (int64_t k = 0; k < t->batches; k++) {
        int64_t batch = xb_trainer_gather(t, k);
        XB_TRY(xb_pass_forward(t->ctx, t->pass, t->out, t->bx, batch, &weights, NULL,
                               XB_MODE_PREDICT));
        sum += xb_nll_square(NULL, t->out, t->by, batch);
    }
    *out = sqrt(sum / (double)t->n);
    return XB_OK;
}

/* The noise net says one constant: its last kernel is 0, its last bias what makes the
 * standard deviation `sd`. */
static void start_noise_net(xb_trainer *t, double sd)
{
    const xb_net *net = t->model->noise_net;
    int last = xb_net_tensor_count(net) - 1;
    const xb_tensor *bias = xb_net_tensor_at(net, last);
    if (bias->role != XB_ROLE_BIAS) return;
    float *w = t->theta + t->noise;
    const xb_tensor *kernel = xb_net_tensor_at(net, last - 1);
    memset(w + kernel->offset, 0, (size_t)kernel->size * sizeof *w);
    w[bias->offset] = (float)xb_spread_rho(XB_SPREAD_SOFTPLUS, sd - XB_NOISE_LEAST);
}

xb_status xb_trainer_start_vi(xb_trainer *t)
{
    const double least =
        0.05; /* of the target's sd: an overfitted net leaves too little */
    float rho = (float)xb_spread_rho(t->opt.spread, t->opt.sigma);
    for (int64_t i = 0; i < t->p; i++) t->theta[t->rho + i] = rho;
    size_t bytes = (size_t)t->n_theta * sizeof *t->first;
    memset(t->first, 0, bytes);
    memset(t->second, 0, bytes);
    xb_trainer_fill_sigma(t);
    if (t->q == 0) return XB_OK;
    double sd = 0;
    XB_TRY(residual(t, &sd));
    if (!(sd > least * t->model->target_spread)) sd = least * t->model->target_spread;
    if (t->model->noise_net)
        start_noise_net(t, sd);
    else
        t->theta[t->noise] = (float)log(sd);
    return XB_OK;
}
