/* gradient_noise.c: how noisy a step's gradient is under each estimator (maths V15).
 *
 * At the weights of a trained model, on one batch, the gradient of phase 2 is made again
 * and again with fresh draws; its variance, summed over the weights, determines how many
 * steps an estimator needs. Only the draws change and the batch stays, so that the result
 * is the noise of the weights, not of the data. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "vi/trainer.h"

enum { MOST = 8 }; /* four estimators, each with and without pairs */

typedef struct row {
    xb_estimator estimator;
    bool antithetic;
    xb_estimate mean, spread;
} row;

struct xb_gradient_noise {
    int64_t count;
    row row[MOST];
};

static void send(const xb_trainer *t, float *to, const float *from, int64_t n)
{
    t->backend->put(t->backend, to, from, n * (int64_t)sizeof *to);
}

/* Copies the model's weights to where phase 2 reads them; rho itself is not read. */
static void place_weights(xb_trainer *t)
{
    const xb_model *m = t->model;
    send(t, t->theta, m->mu, t->p);
    send(t, t->sigma, m->sigma, t->p);
    send(t, t->state, m->state, t->net_states);
    if (m->noise_net) {
        send(t, t->theta + t->noise, m->noise_mu, t->q);
        send(t, t->noise_state, m->noise_state, t->states - t->net_states);
    }
    for (int64_t k = 0; !m->noise_net && k < t->q; k++) {
        const float log_sd =
            (float)(k < t->targets ? m->noise_log_sd[k] : log(m->noise_degrees - 2));
        send(t, t->theta + t->noise + k, &log_sd, 1);
    }
    t->place.phase = XB_PHASE_VI;
    xb_trainer_shuffle(t);
}

static double half_square(const float *a, const float *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = (double)a[i] - (double)b[i];
        sum += 0.5 * d * d;
    }
    return sum;
}

/* Mean of independent values and its standard error, one value at a time (Welford). */
static void add_value(double *mean, double *square, int64_t count, double value)
{
    double step = value - *mean;
    *mean += step / (double)count;
    *square += step * (value - *mean);
}

/* (V15) Pairs of gradients: half their squared distance has the variance as mean. */
static xb_status measure(xb_trainer *t, row *out, float *kept, int64_t pairs)
{
    const xb_backend *b = t->backend;
    const int64_t bytes = t->noise * (int64_t)sizeof *kept;
    float *now = kept + t->noise;
    double mean[2] = {0}, square[2] = {0}, loss = 0;
    const double cost = (double)t->opt.draws, n = (double)pairs;
    place_weights(t);
    for (int64_t k = 1; k <= pairs; k++) {
        t->draw = 2 * k;
        XB_TRY(xb_trainer_batch_gradient(t, &loss));
        b->get(b, kept, t->gradient, bytes);
        t->draw = 2 * k + 1;
        XB_TRY(xb_trainer_batch_gradient(t, &loss));
        b->get(b, now, t->gradient, bytes);
        for (int part = 0; part < 2; part++)
            add_value(&mean[part], &square[part], k,
                      half_square(kept + part * t->rho, now + part * t->rho, t->p));
    }
    const double to_error = 1 / (n * (n - 1));
    out->mean = (xb_estimate){cost * mean[0], cost * sqrt(square[0] * to_error)};
    out->spread = (xb_estimate){cost * mean[1], cost * sqrt(square[1] * to_error)};
    return XB_OK;
}

static xb_status measure_one(xb_ctx *ctx, row *out, const xb_model *model,
                             const xb_train_data *data, const xb_train_options *opt,
                             int64_t pairs)
{
    xb_trainer *t = NULL;
    xb_train_options free_widths =
        *opt; /* the gradient is with respect to mu and sigma, for any parametrisation */
    free_widths.cells = NULL;
    XB_TRY(xb_trainer_build(ctx, &t, model, data, &free_widths));
    float *kept = xb_new(ctx, 2 * t->noise, sizeof *kept);
    xb_status status = kept ? measure(t, out, kept, pairs) : XB_E_MEMORY;
    free(kept);
    xb_trainer_destroy(t);
    return status;
}

static xb_status measure_all(xb_ctx *ctx, xb_gradient_noise *out, const xb_model *model,
                             const xb_train_data *data, const xb_train_options *opt,
                             int64_t pairs)
{
    for (int k = 0; k < MOST; k++) {
        const xb_estimator e = (xb_estimator)(k / 2);
        xb_train_options o = *opt;
        o.estimator = (int)e;
        o.group = 1;
        o.noise_prior = 0; /* the model keeps only the means of the noise net */
        o.antithetic = k % 2 == 1;
        o.draws = o.antithetic ? 2 : 1;
        o.temperature = (xb_schedule){.kind = XB_SCHEDULE_CONSTANT, .value = 1};
        if (!xb_model_allows(model, e)) continue;
        if (o.antithetic && !xb_law_is_symmetric(model->law)) continue;
        row *at = &out->row[out->count++];
        *at = (row){.estimator = e, .antithetic = o.antithetic};
        XB_TRY(measure_one(ctx, at, model, data, &o, pairs));
    }
    return XB_OK;
}

xb_status xb_train_gradient_noise(xb_ctx *ctx, xb_gradient_noise **out,
                                  const xb_model *model, const xb_train_data *data,
                                  const xb_train_options *opt, int64_t pairs)
{
    xb_train_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, train, &chosen, opt, task));
    XB_TRY(xb_train_check(ctx, data, &chosen));
    if (pairs < 2)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld %s of gradients, expected 2 or more",
                       (long long)pairs, xb_plural(pairs, "pair", "pairs"));
    if (data->features != model->features || data->classes != model->classes)
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "data of %lld features and %lld classes, expected %lld and %lld as "
            "in the model",
            (long long)data->features, (long long)data->classes,
            (long long)model->features, (long long)model->classes);
    xb_gradient_noise *noise = xb_new(ctx, 1, sizeof *noise);
    if (!noise) return XB_E_MEMORY;
    xb_status status = measure_all(ctx, noise, model, data, &chosen, pairs);
    if (status == XB_OK)
        *out = noise;
    else
        xb_gradient_noise_destroy(noise);
    return status;
}

void xb_gradient_noise_destroy(xb_gradient_noise *n) { free(n); }
int64_t xb_gradient_noise_count(const xb_gradient_noise *n) { return n->count; }

xb_estimator xb_gradient_noise_estimator(const xb_gradient_noise *n, int64_t i)
{
    return n->row[i].estimator;
}

bool xb_gradient_noise_antithetic(const xb_gradient_noise *n, int64_t i)
{
    return n->row[i].antithetic;
}

xb_estimate xb_gradient_noise_mean(const xb_gradient_noise *n, int64_t i)
{
    return n->row[i].mean;
}

xb_estimate xb_gradient_noise_spread(const xb_gradient_noise *n, int64_t i)
{
    return n->row[i].spread;
}
