/* sharing.c: the penalty that keeps n_eff large (maths V62): F/N gets -w log n_eff, with
 *
 *     n_eff = (sum a)^2 / sum a^2,   a_k = sigma_k^2 v_k,
 *
 * v_k the mean over rows of (df/dmu_k)^2, outputs summed. One more backward pass a step
 * estimates it: with random signs e_i as the gradient with respect to the outputs, the
 * square of the gradient that reaches mu_k has the mean sum_i (df_i/dmu_k)^2
 * (Hutchinson). v is a running mean over about 100 steps and treated as constant, so that
 * only sigma has a gradient. n_eff here counts all random weights of the net; G4 and A1
 * have it for one input. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "run/pass.h"
#include "vi/trainer.h"

struct xb_sharing {
    float *dy, *d_mu, *d_sigma, *state; /* B, of the extra pass */
    float *gradient, *sigma;            /* [p] the host's */
    float *sign;                        /* [batch][outputs] the host's */
    float *seen;                        /* [p] running means including this step */
    double *v;                          /* [p] the same, each weighted by what it holds */
};

xb_status xb_sharing_make(xb_trainer *t)
{
    if (!(t->opt.n_eff_penalty > 0)) return XB_OK;
    if (t->opt.cells)
        return xb_fail(t->ctx, XB_E_ARGUMENT,
                       "the penalty on n_eff needs widths that are free, not those of"
                       " cells");
    const xb_backend *b = t->backend;
    const int64_t p = t->p, out = t->opt.batch * t->outputs;
    struct xb_sharing *s = t->sharing = xb_new(t->ctx, 1, sizeof *s);
    if (!s) return XB_E_MEMORY;
    s->gradient = xb_new(t->ctx, p, sizeof *s->gradient);
    s->sigma = xb_new(t->ctx, p, sizeof *s->sigma);
    s->sign = xb_new(t->ctx, out, sizeof *s->sign);
    s->seen = xb_new(t->ctx, p, sizeof *s->seen);
    s->v = xb_new(t->ctx, p, sizeof *s->v);
    if (!s->gradient || !s->sigma || !s->sign || !s->seen || !s->v) return XB_E_MEMORY;
    void *buffer = NULL;
    XB_TRY(b->take(b, t->ctx, &buffer,
                   (2 * p + out + t->states + 1) * (int64_t)sizeof(float)));
    t->buffer[t->buffers++] = buffer;
    s->d_mu = buffer, s->d_sigma = s->d_mu + p, s->dy = s->d_sigma + p;
    s->state = s->dy + out; /* this pass must not move the state of batchnorm */
    return XB_OK;
}

void xb_sharing_free(struct xb_sharing *s)
{
    if (!s) return;
    free(s->gradient);
    free(s->sigma);
    free(s->sign);
    free(s->seen);
    free(s->v);
    free(s);
}

/* Computes the squares of the gradients that random signs give for every mean. */
static xb_status look(xb_trainer *t, int64_t batch)
{
    struct xb_sharing *s = t->sharing;
    const xb_backend *b = t->backend;
    const xb_weights weights = {t->theta, t->sigma, t->state, s->state};
    const xb_gradient gradient = {s->d_mu, s->d_sigma, NULL};
    const xb_noise noise = {
        .sampler = t->sampler, .key = t->noise_key, .step = (uint32_t)t->draw};
    const xb_stream where = {t->data_key, 1, 1, (uint32_t)t->draw};
    const int64_t n = batch * t->outputs, bytes = t->p * (int64_t)sizeof *s->d_mu;
    for (int64_t i = 0; i < n; i++)
        s->sign[i] = xb_stream_uniform(&where, i) < 0.5 ? -1 : 1;
    b->put(b, s->dy, s->sign, n * (int64_t)sizeof *s->sign);
    b->clear(b, s->d_mu, 2 * bytes);
    XB_TRY(xb_pass_forward_within(t->ctx, t->pass, t->out, t->bx, batch, &weights, &noise,
                                  XB_MODE_TRAIN));
    XB_TRY(xb_pass_backward_within(t->ctx, t->pass, &gradient, s->dy));
    b->get(b, s->gradient, s->d_mu, bytes);
    return XB_OK;
}

/* Updates the running means over about 100 steps, which start at 0. */
static void average(xb_trainer *t, int64_t batch)
{
    struct xb_sharing *s = t->sharing;
    const double keep = 0.99;
    const double held = 1 - pow(keep, (double)t->place.step + 1);
    t->backend->get(t->backend, s->seen, t->shares, t->p * (int64_t)sizeof *s->seen);
    for (int64_t k = 0; k < t->p; k++) {
        const double g = (double)s->gradient[k];
        s->seen[k] =
            (float)(keep * (double)s->seen[k] + (1 - keep) * g * g / (double)batch);
        s->v[k] = (double)s->seen[k] / held;
    }
}

void xb_sharing_keep(xb_trainer *t)
{
    if (!t->sharing) return;
    t->backend->put(t->backend, t->shares, t->sharing->seen,
                    t->p * (int64_t)sizeof *t->shares);
}

double xb_sharing_gradient(float *d_sigma, const float *sigma, const double *v, int64_t n,
                           double weight)
{
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < n; k++) {
        const double a = (double)sigma[k] * (double)sigma[k] * v[k];
        sum += a, squares += a * a;
    }
    if (!(squares > 0)) return NAN;
    for (int64_t k = 0; k < n && d_sigma; k++) { /* (V62) */
        const double s = (double)sigma[k], a = s * s * v[k];
        d_sigma[k] = (float)(4 * weight * s * v[k] * (a / squares - 1 / sum));
    }
    return sum * sum / squares;
}

/* Converts the penalty's gradient to one with respect to rho, and adds it. */
static void add(xb_trainer *t)
{
    struct xb_sharing *s = t->sharing;
    const xb_backend *b = t->backend;
    const int64_t bytes = t->p * (int64_t)sizeof *s->sigma;
    float *by_sigma = s->gradient;
    b->get(b, s->sigma, t->sigma, bytes);
    for (int64_t k = 0; k < t->p; k++) by_sigma[k] = 0;
    (void)xb_sharing_gradient(by_sigma, s->sigma, s->v, t->p, t->opt.n_eff_penalty);
    xb_sigma_transform_chain(t->ctx, t->opt.sigma_transform, by_sigma, s->sigma, t->p);
    b->get(b, s->sigma, t->gradient + t->rho, bytes);
    for (int64_t k = 0; k < t->p; k++) s->sigma[k] += by_sigma[k];
    b->put(b, t->gradient + t->rho, s->sigma, bytes);
}

xb_status xb_sharing_add(xb_trainer *t, int64_t batch)
{
    if (!t->sharing) return XB_OK;
    XB_TRY(look(t, batch));
    average(t, batch);
    add(t);
    return XB_OK;
}
