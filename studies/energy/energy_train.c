/* energy_train.c: a net whose output at x = 0 becomes a standard normal; maths G4-G5.
 *
 * A step draws the output as often as the batch has examples: all of them are x = 0, and
 * local reparametrisation gives each its own exact draw, with one random number for each
 * unit. energy_loss.c computes the loss of the sample, the backward pass its gradient,
 * and Adam the update; nothing is allocated. If n_eff_penalty is set, energy_keep.c adds
 * its penalty. */
#include "energy/energy_train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "crossbayes/json.h"
#include "energy/energy_keep.h"

enum { WIDTH_MAX = 4096, DEPTH_MAX = 64, DRAWS_MAX = 4096 };

/* Steps between two calls of the progress listener. */
enum { TELL_EVERY = 256 };

static const double NO_NOISE = 1e-6; /* standard deviation of the likelihood, which has no
                                        noise of its own */

typedef struct energy_run {
    xb_ctx *ctx;
    xb_energy_options opt;
    xb_net *net;
    xb_law *law; /* the Gaussian law */
    int64_t p;
    float *theta, *gradient, *first, *second; /* [mu p][rho p] */
    float *sigma;                             /* [p], kept up to date with rho */
    float *x;                                 /* [draws], zeros: the input */
    xb_sampler *sampler;
    xb_pass *pass;
    xb_energy_keep *keep; /* NULL: not requested */
    xb_key key;
    xb_energy_table table;
    bool walks; /* whether the backend may do many steps at once */
} energy_run;

void xb_energy_options_init(xb_energy_options *opt, size_t size)
{
    const xb_energy_options standard = {
        .width = 16, .depth = 2, .steps = 10000, .draws = 100, .rate = 1e-3, .seed = 1};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

static xb_status check(xb_ctx *ctx, const xb_energy_options *o)
{
    const struct {
        const char *what;
        int64_t value, least, most;
    } counts[] = {{"a width", o->width, 1, WIDTH_MAX},
                  {"a depth", o->depth, 1, DEPTH_MAX},
                  {"steps", o->steps, 0, INT32_MAX},
                  {"draws per step", o->draws, 2, DRAWS_MAX}};
    for (int i = 0; i < XB_COUNT(counts); i++)
        if (counts[i].value < counts[i].least || counts[i].value > counts[i].most)
            return xb_fail(ctx, XB_E_ARGUMENT, "%s of %lld: expected %lld to %lld",
                           counts[i].what, (long long)counts[i].value,
                           (long long)counts[i].least, (long long)counts[i].most);
    if (!(o->rate > 0) || !isfinite(o->rate))
        return xb_fail(ctx, XB_E_ARGUMENT, "learning rate %g: expected more than 0",
                       o->rate);
    if (!(o->n_eff_penalty >= 0) || !isfinite(o->n_eff_penalty))
        return xb_fail(ctx, XB_E_ARGUMENT, "n_eff_penalty is %g, expected 0 or more",
                       o->n_eff_penalty);
    return XB_OK;
}

/* ---- the net */

xb_status xb_energy_net_text(xb_ctx *ctx, char **out, const xb_energy_options *o)
{
    enum { PER_LAYER = 24 };
    size_t size = (size_t)(o->depth + 1) * PER_LAYER, used = 0;
    char *text = xb_new(ctx, (int64_t)size, 1);
    if (!text) return XB_E_MEMORY;
    for (int64_t l = 0; l < o->depth; l++)
        used += (size_t)snprintf(text + used, size - used, "dense %lld, elu, ",
                                 (long long)o->width);
    snprintf(text + used, size - used, "dense 1");
    *out = text;
    return XB_OK;
}

xb_status xb_energy_settings(xb_ctx *ctx, char **out, const xb_energy_options *o)
{
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)o->seed);
    json_t *root = json_pack(
        "{s:s, s:I, s:I, s:b, s:I, s:I, s:f, s:f, s:s, s:s, s:s}", "training", "energy",
        "width", (json_int_t)o->width, "depth", (json_int_t)o->depth, "kernels_only",
        o->kernels_only, "steps", (json_int_t)o->steps, "draws", (json_int_t)o->draws,
        "rate", o->rate, "n_eff_penalty", o->n_eff_penalty, "seed", seed, "version",
        xb_version(), "backend", o->backend ? o->backend : "cpu");
    xb_status status = xb_json_text(ctx, out, root);
    json_decref(root);
    return status;
}

static xb_status make_net(xb_ctx *ctx, xb_net **out, const xb_energy_options *o)
{
    xb_net_options how = xb_net_options_default();
    how.stochastic = o->kernels_only ? XB_STOCHASTIC_KERNELS : XB_STOCHASTIC_ALL;
    char *text = NULL;
    XB_TRY(xb_energy_net_text(ctx, &text, o));
    xb_status status = xb_net_parse(ctx, out, text, (xb_shape){1, 1, 1}, &how);
    xb_free(text);
    return status;
}

/* ---- where training starts (G4) */

static const double SIGMA = 0.1; /* initial sigma of every weight */

/* Random biases start at 0. Fixed biases must not all be 0: at x = 0 the net would then
 * be constant 0, whatever its weights. */
static void start_biases(energy_run *r, const xb_tensor *t)
{
    const xb_stream where = {.key = xb_key_make(r->opt.seed, XB_PURPOSE_INIT),
                             .tensor = UINT32_MAX - (uint32_t)t->layer};
    for (int64_t i = 0; i < t->size; i++)
        r->theta[t->offset + i] =
            t->stochastic ? 0 : (float)(2 * xb_stream_uniform(&where, i) - 1);
}

static void fill_sigma(energy_run *r)
{
    const xb_net *net = r->net;
    for (int i = 0; i < xb_net_tensor_count(net); i++) {
        const xb_tensor *t = xb_net_tensor_at(net, i);
        if (t->stochastic)
            xb_sigma_transform_fill(r->ctx, XB_SIGMA_TRANSFORM_EXP, r->sigma + t->offset,
                                    r->theta + r->p + t->offset, t->size);
    }
}

static void start(energy_run *r)
{
    const xb_net *net = r->net;
    float rho = (float)xb_sigma_transform_inverse(XB_SIGMA_TRANSFORM_EXP, SIGMA);
    xb_net_params_start(net, r->theta, xb_key_make(r->opt.seed, XB_PURPOSE_INIT));
    for (int i = 0; i < xb_net_tensor_count(net); i++)
        if (xb_net_tensor_at(net, i)->role == XB_ROLE_BIAS)
            start_biases(r, xb_net_tensor_at(net, i));
    for (int64_t i = 0; i < r->p; i++) r->theta[r->p + i] = rho;
    fill_sigma(r);
}

/* ---- steps */

/* Converts the gradient that the loss left, with respect to sigma, to one with respect to
 * rho. */
static void chain(energy_run *r)
{
    const xb_net *net = r->net;
    for (int i = 0; i < xb_net_tensor_count(net); i++) {
        const xb_tensor *t = xb_net_tensor_at(net, i);
        if (t->stochastic)
            xb_sigma_transform_chain(r->ctx, XB_SIGMA_TRANSFORM_EXP,
                                     r->gradient + r->p + t->offset, r->sigma + t->offset,
                                     t->size);
    }
}

typedef struct energy_loss {
    const energy_run *r;
    double value;
} energy_loss;

static bool find_loss(void *arg, float *df, const float *f, int64_t draws)
{
    energy_loss *loss = arg;
    loss->value = xb_energy_loss_by(&loss->r->table, df, f, draws);
    return true;
}

/* Computes the loss and its gradient with respect to (mu, rho). */
static xb_status find_gradient(energy_run *r, double *loss, int64_t number)
{
    const xb_weights weights = {r->theta, r->sigma, NULL, NULL};
    const xb_gradient gradient = {r->gradient, r->gradient + r->p, NULL};
    xb_noise noise = {.sampler = r->sampler, .key = r->key, .step = (uint32_t)number};
    energy_loss of = {r, NAN};
    XB_TRY(xb_pass_step(r->ctx, r->pass, &gradient, true, r->x, r->opt.draws, &weights,
                        &noise, find_loss, &of));
    *loss = of.value;
    noise.sample = 1;
    if (r->keep)
        XB_TRY(xb_energy_keep_add(r->ctx, r->keep, gradient.sigma, &weights, &noise,
                                  r->opt.n_eff_penalty));
    chain(r);
    return XB_OK;
}

static xb_status step(energy_run *r, int64_t number)
{
    const xb_schedule falling = {.kind = XB_SCHEDULE_COSINE};
    const xb_adam_block block = {r->theta, r->first, r->second, r->gradient,
                                 2 * r->p, 1,        NULL};
    xb_adam_options adam = xb_adam_options_default();
    double loss = NAN;
    adam.rate = r->opt.rate;
    XB_TRY(find_gradient(r, &loss, number));
    if (!isfinite(loss))
        return xb_fail(r->ctx, XB_E_NUMERIC, "training diverged at step %lld (loss %g)",
                       (long long)number + 1, loss);
    xb_adam_step(r->ctx, &adam, &block, 1, number + 1,
                 xb_schedule_at(&falling, number, r->opt.steps));
    fill_sigma(r);
    return XB_OK;
}

/* Does steps from number `first` on, many at once if the backend can; *done is their
 * number. */
static xb_status walk(energy_run *r, int64_t *done, int64_t first)
{
    xb_energy_steps_options o = xb_energy_steps_options_default();
    const int64_t left = r->opt.steps - first;
    o.backend = r->opt.backend, o.key = r->key;
    o.draws = r->opt.draws, o.rate = r->opt.rate;
    o.first = first, o.total = r->opt.steps;
    o.count = left < TELL_EVERY ? left : TELL_EVERY;
    const xb_energy_state state = {r->theta, r->theta + r->p, r->sigma, r->first,
                                   r->second};
    return xb_energy_steps(r->ctx, done, &state, r->net, &o);
}

static xb_status run_steps(energy_run *r)
{
    for (int64_t k = 0; k < r->opt.steps;) {
        int64_t done = 0;
        if (r->walks) XB_TRY(walk(r, &done, k));
        r->walks = done > 0;
        if (done == 0) {
            XB_TRY(step(r, k));
            done = 1; /* a single step, which reports what is not finite */
        }
        if (k % TELL_EVERY == 0)
            XB_TRY(xb_progress_tell(r->ctx, "training", k, r->opt.steps));
        k += done;
    }
    return XB_OK;
}

/* ---- memory */

static xb_status prepare(energy_run *r)
{
    xb_pass_options opt = xb_pass_options_default();
    opt.backend = r->opt.backend;
    opt.batch = r->opt.draws;
    opt.estimator = XB_ESTIMATOR_LOCAL;
    XB_TRY(make_net(r->ctx, &r->net, &r->opt));
    XB_TRY(xb_law_parse(r->ctx, &r->law, "gaussian"));
    r->p = xb_net_param_count(r->net);
    r->theta = xb_new(r->ctx, 9 * r->p, sizeof *r->theta);
    r->x = xb_new(r->ctx, r->opt.draws, sizeof *r->x);
    if (!r->theta || !r->x) return XB_E_MEMORY;
    r->gradient = r->theta + 2 * r->p;
    r->first = r->theta + 4 * r->p;
    r->second = r->theta + 6 * r->p;
    r->sigma = r->theta + 8 * r->p;
    r->key = xb_key_make(r->opt.seed, XB_PURPOSE_WEIGHT);
    xb_energy_table_fill(&r->table);
    XB_TRY(xb_sampler_create(r->ctx, &r->sampler, r->law, NULL));
    r->walks = r->opt.n_eff_penalty == 0;
    if (r->opt.n_eff_penalty > 0)
        XB_TRY(xb_energy_keep_create(r->ctx, &r->keep, r->net, r->opt.backend));
    return xb_pass_create(r->ctx, &r->pass, r->net, &opt);
}

static void free_run(energy_run *r)
{
    xb_energy_keep_destroy(r->keep);
    xb_free(r->theta);
    xb_free(r->x);
    xb_sampler_destroy(r->sampler);
    xb_pass_destroy(r->pass);
    xb_law_destroy(r->law);
    xb_net_destroy(r->net);
}

static xb_status make_model(const energy_run *r, xb_model **out)
{
    static const char *const feature[] = {"x"};
    xb_model_parts parts = {.net = r->net,
                            .weights = {r->theta, r->sigma, NULL, NULL},
                            .law = r->law,
                            .prior = {.kind = XB_PRIOR_NORMAL, .sd = 1},
                            .likelihood = XB_LIKELIHOOD_GAUSSIAN,
                            .noise_sd = NO_NOISE,
                            .feature_name = feature,
                            .target_name = "y",
                            .target_sd = 1};
    char *settings = NULL;
    XB_TRY(xb_energy_settings(r->ctx, &settings, &r->opt));
    parts.settings = settings;
    xb_status status = xb_model_create(r->ctx, out, &parts);
    xb_free(settings);
    return status;
}

xb_status xb_energy_train(xb_ctx *ctx, xb_model **out, const xb_energy_options *opt)
{
    energy_run r = {.ctx = ctx};
    XB_TRY(XB_OPTIONS_READ(ctx, energy, &r.opt, opt, backend));
    XB_TRY(check(ctx, &r.opt));
    xb_status status = prepare(&r);
    if (status == XB_OK) {
        start(&r);
        status = run_steps(&r);
    }
    if (status == XB_OK) status = make_model(&r, out);
    free_run(&r);
    return status;
}
