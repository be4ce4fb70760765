/* noise_posterior.c: while it learns, the noise net's kernels are random too (maths V19).
 *
 * A noise net fitted by maximum likelihood has no penalty: with few rows it declares the
 * residuals of its best fits noise-free, and F, which does not include its weights,
 * improves. Here its kernels have a Gaussian posterior and a normal prior around 0, which
 * means constant noise; their KL is a part of F. A model keeps the posterior's means.
 * This net is never on an array, so its law is Gaussian whatever the model's law is. */
#include "vi/noise_posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/pass.h"
#include "vi/kl.h"
#include "vi/trainer.h"

static bool has_conv(const xb_net *net)
{
    for (int i = 0; i < xb_net_tensor_count(net); i++)
        if (xb_net_tensor_at(net, i)->ndim == 4) return true;
    return false;
}

xb_status xb_noise_posterior_make(xb_ctx *ctx, xb_noise_posterior *p, const xb_model *m,
                                  const xb_train_options *opt)
{
    if (!m->noise_net || m->pixels || !(opt->noise_prior > 0)) return XB_OK;
    xb_net_options random = xb_net_options_default();
    random.stochastic = XB_STOCHASTIC_KERNELS;
    XB_TRY(xb_net_parse(ctx, &p->net, xb_net_text(m->noise_net),
                        xb_net_input(m->noise_net), &random));
    XB_TRY(xb_law_parse(ctx, &p->law, "gaussian"));
    XB_TRY(xb_sampler_create(ctx, &p->sampler, p->law, NULL));
    p->estimator = has_conv(p->net) ? XB_ESTIMATOR_FLIPOUT : XB_ESTIMATOR_LOCAL;
    p->key = xb_key_make(~opt->seed, XB_PURPOSE_WEIGHT);
    p->kl = xb_new(ctx, xb_net_tensor_count(p->net), sizeof(xb_kl *));
    if (!p->kl) return XB_E_MEMORY;
    for (int i = 0; i < xb_net_tensor_count(p->net); i++) {
        const xb_tensor *k = xb_net_tensor_at(p->net, i);
        if (!k->stochastic) continue;
        const int64_t inputs = k->size / k->shape[k->ndim - 1];
        const xb_prior prior = {.kind = XB_PRIOR_NORMAL,
                                .sd = opt->noise_prior *
                                      sqrt(2 / (double)inputs)}; /* (V14) */
        XB_TRY(xb_kl_create(ctx, &p->kl[i], p->law, &prior, 0));
    }
    return XB_OK;
}

void xb_noise_posterior_free(xb_noise_posterior *p)
{
    for (int i = 0; p->kl && i < xb_net_tensor_count(p->net); i++)
        xb_kl_destroy(p->kl[i]);
    free(p->kl);
    xb_sampler_destroy(p->sampler);
    xb_law_destroy(p->law);
    xb_net_destroy(p->net);
    *p = (xb_noise_posterior){0};
}

void xb_noise_posterior_fill(xb_trainer *t)
{
    const xb_noise_posterior *p = &t->noise_posterior;
    for (int i = 0; p->net && i < xb_net_tensor_count(p->net); i++) {
        const xb_tensor *k = xb_net_tensor_at(p->net, i);
        if (k->stochastic)
            t->backend->spread_fill(t->backend, t->ctx, XB_SIGMA_TRANSFORM_EXP,
                                    p->sigma + k->offset, t->theta + p->rho + k->offset,
                                    k->size);
    }
}

static xb_weights weights_of(const xb_trainer *t)
{
    return (xb_weights){t->theta + t->noise, t->noise_posterior.sigma, t->noise_state,
                        t->noise_state};
}

static xb_noise noise_of(const xb_trainer *t)
{
    const xb_noise_posterior *p = &t->noise_posterior;
    return (xb_noise){.sampler = p->sampler, .key = p->key, .step = (uint32_t)t->draw};
}

static xb_gradient gradient_of(const xb_trainer *t)
{
    const xb_noise_posterior *p = &t->noise_posterior;
    return (xb_gradient){t->gradient + t->noise, p->net ? t->gradient + p->rho : NULL,
                         NULL};
}

xb_status xb_noise_posterior_forward(xb_trainer *t, int64_t batch)
{
    const xb_weights weights = weights_of(t);
    const xb_noise noise = noise_of(t);
    return xb_pass_forward_within(t->ctx, t->noise_pass, t->raw, t->bx, batch, &weights,
                                  t->noise_posterior.net ? &noise : NULL, XB_MODE_TRAIN);
}

xb_status xb_noise_posterior_backward(xb_trainer *t)
{
    const xb_gradient gradient = gradient_of(t);
    return xb_pass_backward_within(t->ctx, t->noise_pass, &gradient, t->d_raw);
}

/* ---- both ways in one step */

typedef struct inner_step {
    xb_trainer *trainer;
    xb_noise_inside inside;
    double scale, *nll;
    xb_status status;
} inner_step;

/* The noise net's loss: the step of the other net, which reads `raw` and fills `d_raw`.
 */
static bool run_inside(void *arg, xb_real *dy, const xb_real *y, int64_t batch)
{
    inner_step *s = arg;
    const xb_trainer *t = s->trainer;
    const xb_backend *b = t->backend;
    const int64_t bytes = batch * t->targets * (int64_t)sizeof *dy;
    b->copy(b, t->raw, y, bytes);
    s->status = s->inside(s->trainer, batch, 0, s->scale, s->nll);
    if (s->status == XB_OK) b->copy(b, dy, t->d_raw, bytes);
    return s->status == XB_OK;
}

xb_status xb_noise_posterior_step(xb_trainer *t, int64_t batch, xb_noise_inside inside,
                                  double scale, double *nll)
{
    const xb_weights weights = weights_of(t);
    const xb_noise noise = noise_of(t);
    const xb_gradient gradient = gradient_of(t);
    inner_step inner = {.trainer = t, .inside = inside, .scale = scale, .nll = nll};
    const xb_status status = xb_pass_step_around(
        t->ctx, t->noise_pass, &gradient, true, t->bx, batch, &weights,
        t->noise_posterior.net ? &noise : NULL, run_inside, &inner);
    return inner.status != XB_OK ? inner.status : status;
}

double xb_noise_posterior_kl(xb_trainer *t)
{
    const xb_noise_posterior *p = &t->noise_posterior;
    double sum = 0;
    for (int i = 0; p->net && i < xb_net_tensor_count(p->net); i++) {
        const xb_tensor *k = xb_net_tensor_at(p->net, i);
        if (!k->stochastic) continue;
        const int64_t mu = t->noise + k->offset, rho = p->rho + k->offset;
        const xb_kl_block block = {.grad_mu = t->gradient + mu,
                                   .grad_sigma = t->gradient + rho,
                                   .mu = t->theta + mu,
                                   .sigma = p->sigma + k->offset,
                                   .rho = t->theta + rho,
                                   .n = k->size,
                                   .weight = 1 / (double)t->n};
        sum += xb_kl_sum_rho(t->backend, t->ctx, p->kl[i], XB_SIGMA_TRANSFORM_EXP,
                             &block); /* (V19) */
    }
    return sum;
}

/* ---- the floor */

xb_status xb_target_grain(xb_ctx *ctx, xb_grain *out, const double *y, int64_t stride,
                          const int64_t *row, int64_t n)
{
    double *sorted = xb_new(ctx, n, sizeof *sorted), least = INFINITY;
    if (!sorted) return XB_E_MEMORY;
    for (int64_t i = 0; i < n; i++) sorted[i] = y[row[i] * stride];
    xb_status status = xb_sort_doubles(ctx, sorted, n);
    int64_t equal = 1, most = 1;
    for (int64_t i = 1; i < n; i++) {
        const bool differs = sorted[i] > sorted[i - 1];
        if (differs) least = fmin(least, sorted[i] - sorted[i - 1]);
        equal = differs ? 1 : equal + 1;
        if (equal > most) most = equal;
    }
    free(sorted);
    out->step = isfinite(least) ? least : 0;
    out->share = most > 1 ? (double)most / (double)n : 0;
    return status;
}
