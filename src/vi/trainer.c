/* trainer.c: creates and destroys a training run: scales and splits rows, lays out
 * blocks, builds passes and tables. After this nothing is allocated until the end. */
#include "vi/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/os.h"
#include "data/rows.h"
#include "run/pass.h"
#include "vi/kl.h"

/* Numbers of steps sufficient for small nets, and of epochs that even the largest data
 * get; nets of images, whose steps are expensive, get fewer (V13). */
enum { MLE_STEPS = 2000, MLE_EPOCHS = 5, VI_STEPS = 10000, VI_EPOCHS = 10 };
enum { IMAGE_MLE_STEPS = 500, IMAGE_VI_STEPS = 1000, IMAGE_EPOCHS = 5 };

static int64_t chosen(const xb_trainer *t, int64_t wanted, int64_t steps, int64_t least)
{
    enum { TIMES = 3 };
    const int64_t batches = t->batches;
    if (wanted >= 0) return wanted;
    if (t->opt.effort == XB_TRAIN_EFFORT_QUICK)
        steps /= TIMES, least = (least + 1) / TIMES;
    if (t->opt.effort == XB_TRAIN_EFFORT_FULL) steps *= TIMES, least *= TIMES;
    int64_t epochs = (steps + batches - 1) / batches;
    return epochs > least ? epochs : least;
}

static void plan(xb_trainer *t)
{
    t->batches = (t->n + t->opt.batch - 1) / t->opt.batch;
    bool images = t->model->pixels;
    t->epochs[XB_PHASE_MLE] =
        chosen(t, t->opt.mle_epochs, images ? IMAGE_MLE_STEPS : MLE_STEPS,
               images ? IMAGE_EPOCHS : MLE_EPOCHS);
    t->epochs[XB_PHASE_VI] = chosen(t, t->opt.epochs, images ? IMAGE_VI_STEPS : VI_STEPS,
                                    images ? IMAGE_EPOCHS : VI_EPOCHS);
}

/* ---- rows */

/* Allocates a buffer of n numbers and, with `room`, the host's copy of it if the buffer
 * is not the host's. */
static xb_status take(xb_trainer *t, void *out, int64_t n, size_t size, void *room)
{
    const xb_backend *b = t->backend;
    void **buffer = &t->buffer[t->buffers];
    XB_TRY(b->take(b, t->ctx, buffer, n * (int64_t)size));
    t->buffers++;
    memcpy(out, buffer, sizeof *buffer);
    if (!room || b->host) return XB_OK;
    void *side = xb_new(t->ctx, n, size);
    memcpy(room, &side, sizeof side);
    return side ? XB_OK : XB_E_MEMORY;
}

/* Copies the targets example by example on the host, then all of them to the backend. */
static xb_status copy_targets(xb_trainer *t, const xb_train_data *data)
{
    const xb_model *m = t->model;
    const xb_backend *b = t->backend;
    const int64_t n = data->n * t->targets;
    void *side = b->host ? NULL : xb_new(t->ctx, n, sizeof(float));
    if (!b->host && !side) return XB_E_MEMORY;
    void *to = data->classes > 0 ? (void *)t->label : (void *)t->y;
    void *at = xb_host_side(b, to, side);
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = i % t->targets;
        double y = data->y[t->select[i / t->targets] * t->targets + k];
        if (data->classes > 0)
            ((int32_t *)at)[i] = (int32_t)y;
        else
            ((float *)at)[i] = xb_model_scaled_target(m, k, y);
    }
    xb_host_sent(b, to, side, n * (int64_t)sizeof(float));
    free(side);
    return XB_OK;
}

static xb_status copy_inputs(xb_trainer *t, int64_t n)
{
    const xb_backend *b = t->backend;
    float *side = b->host ? NULL : xb_new(t->ctx, n * t->features, sizeof *side);
    if (!b->host && !side) return XB_E_MEMORY;
    xb_model_take_rows(t->model, xb_host_side(b, t->x, side), &t->rows, 0, n);
    xb_host_sent(b, t->x, side, n * t->features * (int64_t)sizeof *side);
    free(side);
    return XB_OK;
}

/* Images as bytes into the memory of a backend that reads them; where there is too little
 * of it they are sent batch by batch. */
static xb_status bring_images(xb_trainer *t, int64_t n)
{
    const xb_backend *b = t->backend;
    if (!b->pixels || !t->rows.bytes) return XB_OK;
    xb_status status = take(t, &t->pixels, n * t->features, 1, NULL);
    if (status == XB_E_MEMORY) return XB_OK;
    XB_TRY(status);
    for (int64_t i = 0; i < n; i++)
        b->put(b, t->pixels + i * t->features, t->rows.bytes + t->select[i] * t->features,
               t->features);
    return take(t, &t->turned, n, sizeof *t->turned, &t->room.turned);
}

/* A copy of the inputs, scaled, in a quarter of the machine's memory at most; beyond that
 * they are scaled where they lie, batch by batch, to the same numbers. */
static bool is_kept(const xb_train_data *data)
{
    const double bytes = (double)data->n * (double)data->features * sizeof(float);
    return bytes <= xb_os_memory() / 4;
}

static xb_status take_rows(xb_trainer *t, const xb_train_data *data)
{
    xb_holdout holdout;
    const xb_rows given = xb_train_rows(data);
    XB_TRY(xb_model_check_rows(t->ctx, t->model, &given));
    XB_TRY(xb_holdout_make(t->ctx, &holdout, data, &t->opt));
    t->select = holdout.row;
    t->held = holdout.held;
    t->n = holdout.n;
    if (data->x && is_kept(data))
        XB_TRY(take(t, &t->x, data->n * t->features, sizeof *t->x, NULL));
    XB_TRY(take(t, &t->y, data->n * t->targets, sizeof *t->y, NULL));
    XB_TRY(take(t, &t->label, data->n, sizeof *t->label, NULL));
    XB_TRY(take(t, &t->order, data->n, sizeof *t->order, &t->room.order));
    t->peak = xb_new(t->ctx, t->held, sizeof *t->peak);
    t->mass = xb_new(t->ctx, t->held, sizeof *t->mass);
    t->log_sd = xb_new(t->ctx, t->targets, sizeof *t->log_sd);
    if (!t->peak || !t->mass || !t->log_sd) return XB_E_MEMORY;
    t->rows = given;
    t->rows.select = t->select;
    XB_TRY(copy_targets(t, data));
    if (t->x) XB_TRY(copy_inputs(t, data->n));
    XB_TRY(bring_images(t, data->n));
    t->checksum = xb_train_checksum(data, t->targets);
    if (data->names) xb_frame_rest(data->names);
    return XB_OK;
}

/* ---- blocks */

enum { LINE = 16 }; /* reals of a cache line, a vector register */

static int64_t padded(int64_t n) { return (n + LINE - 1) / LINE * LINE; }

/* Each part starts on its own cache line, which makes the sweeps of a step a fifth
 * faster. */
static void place_parts(xb_trainer *t)
{
    float *p = t->live;
    t->theta = p, p += t->n_theta;
    t->first = p, p += t->n_theta;
    t->second = p, p += t->n_theta;
    t->best_theta = p, p += t->n_theta;
    t->state = p, p += t->states;
    t->noise_state = t->state + t->net_states;
    t->best_state = p, p += t->states;
    if (t->opt.n_eff_penalty > 0) t->shares = p;
    t->gradient = t->live + padded(t->n_live);
    t->sigma = t->gradient + t->n_theta;
    t->noise_posterior.sigma = t->sigma + t->rho;
}

static xb_status take_live(xb_trainer *t)
{
    t->rho = padded(t->p);
    t->noise = 2 * t->rho;
    t->noise_posterior.rho = t->noise + padded(t->q);
    t->cells = t->noise_posterior.rho + (t->noise_posterior.net ? padded(t->q) : 0);
    if (t->opt.cells) t->n_cells = xb_weight_cells_count(t->opt.cells);
    t->n_theta = t->cells + padded(t->n_cells * t->p);
    t->n_live = 4 * t->n_theta + 2 * t->states + (t->opt.n_eff_penalty > 0 ? t->p : 0);
    int64_t all = padded(t->n_live) + t->n_theta + t->rho + t->cells - t->noise;
    XB_TRY(take(t, &t->live, all, sizeof *t->live, &t->room.live));
    XB_TRY(take(t, &t->kept_state, t->states, sizeof *t->kept_state, NULL));
    t->bits = xb_new(t->ctx, t->p, sizeof *t->bits);
    int64_t rows = t->epochs[0] + t->epochs[1];
    t->trace = xb_new(t->ctx, rows * XB_TRACE_COLUMNS, sizeof *t->trace);
    if (!t->bits || !t->trace) return XB_E_MEMORY;
    place_parts(t);
    return XB_OK;
}

/* Extends the last block if this one follows it directly and has the same kind. */
static void add_block(xb_trainer *t, int phase, int64_t offset, int64_t n, double rate,
                      float *sigma)
{
    if (n == 0) return;
    xb_adam_block *next = &t->block[phase][t->blocks[phase]], *last = next - 1;
    if (t->blocks[phase] > 0 && last->parameter + last->n == t->theta + offset &&
        last->rate == rate && !last->sigma && !sigma) {
        last->n += n;
        return;
    }
    t->blocks[phase]++;
    *next = (xb_adam_block){.parameter = t->theta + offset,
                            .first = t->first + offset,
                            .second = t->second + offset,
                            .gradient = t->gradient + offset,
                            .n = n,
                            .rate = rate,
                            .sigma = sigma};
}

/* (V31) Both phases change the states of random tensors; other tensors are trained as
 * usual. */
static void add_tied(xb_trainer *t)
{
    for (int i = 0; i < xb_net_tensor_count(t->model->net); i++) {
        const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
        for (int phase = 0; phase < XB_PHASES; phase++) {
            if (!k->stochastic && (phase == XB_PHASE_MLE || !t->opt.freeze))
                add_block(t, phase, k->offset, k->size, 1, NULL);
            for (int64_t c = 0; k->stochastic && c < t->n_cells; c++)
                add_block(t, phase, t->cells + c * t->p + k->offset, k->size, 1, NULL);
        }
    }
}

/* Phase 1 moves the means, phase 2 means and standard deviations of random tensors, and
 * the others too unless they are frozen. */
static xb_status make_blocks(xb_trainer *t)
{
    const xb_noise_posterior *p = &t->noise_posterior;
    int tensors = xb_net_tensor_count(t->model->net);
    int noise = p->net ? xb_net_tensor_count(p->net) : 0;
    bool exp = t->opt.sigma_transform == XB_SIGMA_TRANSFORM_EXP;
    const bool tied = t->opt.cells;
    for (int i = 0; i < XB_PHASES; i++) {
        int most = (2 + (int)t->n_cells) * tensors + noise + 1;
        t->block[i] = xb_new(t->ctx, most, sizeof *t->block[i]);
        if (!t->block[i]) return XB_E_MEMORY;
    }
    if (tied) add_tied(t);
    if (!tied) add_block(t, XB_PHASE_MLE, 0, t->p, 1, NULL);
    for (int i = 0; i < tensors && !tied; i++) {
        const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
        if (k->stochastic || !t->opt.freeze)
            add_block(t, XB_PHASE_VI, k->offset, k->size, 1, NULL);
    }
    for (int i = 0; i < tensors && !tied; i++) {
        const xb_tensor *k = xb_net_tensor_at(t->model->net, i);
        if (k->stochastic)
            add_block(t, XB_PHASE_VI, t->rho + k->offset, k->size, t->opt.sigma_rate,
                      exp ? t->sigma + k->offset : NULL);
    }
    add_block(t, XB_PHASE_VI, t->noise, t->q, 1, NULL);
    for (int i = 0; i < noise; i++) {
        const xb_tensor *k = xb_net_tensor_at(p->net, i);
        if (k->stochastic)
            add_block(t, XB_PHASE_VI, p->rho + k->offset, k->size, t->opt.sigma_rate,
                      p->sigma + k->offset);
    }
    return XB_OK;
}

/* (V40) Centres of the log rates, then their units. */
static xb_status take_link(xb_trainer *t)
{
    const xb_model *m = t->model;
    XB_TRY(take(t, &t->link, 2 * t->targets, sizeof *t->link, NULL));
    for (int64_t k = 0; k < t->targets; k++) {
        t->backend->fill(t->backend, t->link + k, (float)m->y_mean[k], 1);
        t->backend->fill(t->backend, t->link + t->targets + k, (float)m->y_sd[k], 1);
    }
    return XB_OK;
}

static xb_status take_batch(xb_trainer *t)
{
    int64_t b = t->opt.batch, numbers = b * t->targets;
    XB_TRY(take(t, &t->bx, b * t->features, sizeof *t->bx, &t->room.bx));
    XB_TRY(take(t, &t->by, numbers, sizeof *t->by, &t->room.by));
    XB_TRY(take(t, &t->blabel, b, sizeof *t->blabel, &t->room.blabel));
    XB_TRY(take(t, &t->out, b * t->outputs, sizeof *t->out, &t->room.out));
    XB_TRY(take(t, &t->raw, numbers, sizeof *t->raw, &t->room.raw));
    XB_TRY(take(t, &t->d_raw, numbers, sizeof *t->d_raw, NULL));
    return xb_model_of_counts(t->model) ? take_link(t) : XB_OK;
}

/* ---- passes */

/* The default number of rows that share a draw: it makes a tenth of the draws, which is
 * still ten for a batch of 100. */
enum { CHOSEN_GROUP = 10 };

/* (N11) Outputs of a convolution share weights, which `local` would draw separately for
 * each. */
static bool has_random_conv(const xb_net *net)
{
    for (int i = 0; i < xb_net_tensor_count(net); i++) {
        const xb_tensor *k = xb_net_tensor_at(net, i);
        if (k->stochastic && k->role == XB_ROLE_KERNEL && k->ndim == 4) return true;
    }
    return false;
}

bool xb_model_allows(const xb_model *m, xb_estimator e)
{
    if (e == XB_ESTIMATOR_FLIPOUT) return xb_law_is_symmetric(m->law);
    if (e != XB_ESTIMATOR_LOCAL) return true;
    return xb_law_is_gaussian(m->law) && !has_random_conv(m->net);
}

/* The exact estimator with the least gradient noise. Nets of images share a draw, which
 * is fastest: their many outputs average gradient noise. */
static xb_estimator estimator_for(const xb_model *m)
{
    if (m->pixels) return XB_ESTIMATOR_SHARED;
    if (xb_model_allows(m, XB_ESTIMATOR_LOCAL)) return XB_ESTIMATOR_LOCAL;
    return xb_model_allows(m, XB_ESTIMATOR_FLIPOUT) ? XB_ESTIMATOR_FLIPOUT
                                                    : XB_ESTIMATOR_EXAMPLE;
}

static xb_status choose_estimator(xb_trainer *t)
{
    xb_train_options *o = &t->opt;
    bool automatic = o->estimator == XB_ESTIMATOR_AUTO;
    if (automatic) o->estimator = (int)estimator_for(t->model);
    if (o->group == 0) o->group = automatic ? CHOSEN_GROUP : 1;
    if (o->estimator != XB_ESTIMATOR_LOCAL || !has_random_conv(t->model->net))
        return XB_OK;
    return xb_fail(
        t->ctx, XB_E_ARGUMENT,
        "estimator local is biased for conv layers, because it draws their outputs as if "
        "they were independent; expected flipout, example or shared");
}

/* (V14) The prior of a tensor: for kernels it is scaled by the number of a unit's inputs,
 * so that wide nets do not start from absurd functions. */
static xb_prior prior_of(const xb_trainer *t, const xb_tensor *k)
{
    xb_prior prior = t->model->prior;
    if (!t->opt.prior_by_fan || k->role != XB_ROLE_KERNEL) return prior;
    const int64_t inputs = k->size / k->shape[k->ndim - 1];
    double factor = sqrt(2 / (double)inputs);
    prior.mean *= factor, prior.sd *= factor;
    prior.scale *= factor;
    prior.s1 *= factor, prior.s2 *= factor;
    return prior;
}

static xb_status make_kl(xb_trainer *t)
{
    const xb_net *net = t->model->net;
    t->kl = xb_new(t->ctx, xb_net_tensor_count(net), sizeof(xb_kl *));
    if (!t->kl) return XB_E_MEMORY;
    for (int i = 0; i < xb_net_tensor_count(net); i++) {
        const xb_tensor *k = xb_net_tensor_at(net, i);
        xb_prior prior = prior_of(t, k);
        if (!k->stochastic) continue;
        XB_TRY(xb_kl_create(t->ctx, &t->kl[i], t->model->law, &prior, 0));
        XB_TRY(xb_kl_place(t->ctx, t->kl[i], t->backend));
    }
    return XB_OK;
}

static xb_status make_passes(xb_trainer *t)
{
    XB_TRY(choose_estimator(t));
    xb_pass_options opt = xb_pass_options_default();
    opt.backend = t->opt.backend;
    opt.batch = t->opt.batch;
    opt.estimator = (xb_estimator)t->opt.estimator;
    opt.group = t->opt.group;
    XB_TRY(
        xb_pass_create(t->ctx, &t->pass, t->rounded ? t->rounded : t->model->net, &opt));
    const xb_noise_posterior *p = &t->noise_posterior;
    opt.estimator = p->net ? p->estimator : XB_ESTIMATOR_SHARED;
    if (t->model->noise_net)
        XB_TRY(xb_pass_create(t->ctx, &t->noise_pass,
                              p->net ? p->net : t->model->noise_net, &opt));
    XB_TRY(xb_sampler_create(t->ctx, &t->sampler, t->model->law, NULL));
    XB_TRY(xb_trainer_join(t));
    return make_kl(t);
}

/* The backend that `auto` means for this net: only the CPU supports cells. */
static const char *backend_of(const xb_trainer *t)
{
    const bool host = t->opt.cells || t->opt.array;
    return xb_backend_for(t->ctx, t->opt.backend, t->model->net,
                          host ? 0 : (double)t->opt.batch, XB_AUTO_PASS);
}

static xb_status build(xb_trainer *t, const xb_train_data *data)
{
    const xb_model *m = t->model;
    t->opt.backend = backend_of(t);
    XB_TRY(xb_backend_open(t->ctx, &t->backend, t->opt.backend));
    if (m->likelihood >= XB_LIKELIHOOD_STUDENT && !t->backend->more_losses)
        return xb_fail(t->ctx, XB_E_ARGUMENT,
                       "likelihood %s is not available on this backend; train on the "
                       "CPU, or with likelihood gaussian",
                       xb_likelihood_name(m->likelihood));
    t->features = m->features;
    t->outputs = xb_model_outputs(m);
    t->targets = m->targets;
    t->noise_key = xb_key_make(t->opt.seed, XB_PURPOSE_WEIGHT);
    t->data_key = xb_key_make(t->opt.seed, XB_PURPOSE_DATA);
    t->write_key = xb_key_make(t->opt.seed, XB_PURPOSE_ARRAY);
    XB_TRY(take_rows(t, data));
    if (t->opt.batch > t->n) t->opt.batch = t->n;
    plan(t);
    t->p = xb_net_param_count(m->net);
    t->net_states = xb_net_state_count(m->net);
    t->states = t->net_states + xb_model_noise_states(m);
    t->q = m->noise_net                              ? xb_net_param_count(m->noise_net)
           : m->likelihood == XB_LIKELIHOOD_GAUSSIAN ? m->targets
           : m->likelihood == XB_LIKELIHOOD_STUDENT  ? m->targets + 1
           : m->likelihood == XB_LIKELIHOOD_NEGATIVE_BINOMIAL ? m->targets
                                                              : 0;
    XB_TRY(xb_noise_posterior_make(t->ctx, &t->noise_posterior, m, &t->opt));
    XB_TRY(xb_tied_check(t));
    XB_TRY(xb_aware_make(t));
    XB_TRY(take_live(t));
    if (t->write_error)
        XB_TRY(take(t, &t->written, 2 * t->rho, sizeof *t->written, NULL));
    XB_TRY(xb_sharing_make(t));
    XB_TRY(make_blocks(t));
    XB_TRY(take_batch(t));
    t->sums.best_score = -INFINITY;
    for (int i = 0; i < XB_TRACE_COLUMNS; i++) t->last[i] = NAN;
    XB_TRY(make_passes(t));
    return xb_leap_create(t);
}

xb_status xb_trainer_build(xb_ctx *ctx, xb_trainer **out, const xb_model *model,
                           const xb_train_data *data, const xb_train_options *opt)
{
    xb_trainer *t = xb_new(ctx, 1, sizeof *t);
    if (!t) return XB_E_MEMORY;
    t->ctx = ctx;
    t->opt = *opt;
    t->model = model;
    xb_status status = build(t, data);
    if (status == XB_OK)
        *out = t;
    else
        xb_trainer_destroy(t);
    return status;
}

void xb_trainer_destroy(xb_trainer *t)
{
    if (!t) return;
    const xb_train_rooms *r = &t->room;
    void *const blocks[] = {
        t->peak,   t->mass,     t->bits,     t->trace,       t->select, r->live,
        r->bx,     r->by,       r->out,      r->raw,         r->order,  r->turned,
        r->blabel, t->block[0], t->block[1], t->fingerprint, t->log_sd};
    for (int i = 0; i < XB_COUNT(blocks); i++) free(blocks[i]);
    for (int i = 0; i < t->buffers; i++) t->backend->release(t->backend, t->buffer[i]);
    xb_leap_destroy(t->leap);
    xb_sampler_destroy(t->sampler);
    for (int i = 0; t->kl && i < xb_net_tensor_count(t->model->net); i++)
        xb_kl_destroy(t->kl[i]);
    free(t->kl);
    xb_pass_destroy(t->pass);
    xb_net_destroy(t->rounded);
    xb_sampler_destroy(t->write_error);
    xb_sharing_free(t->sharing);
    xb_pass_destroy(t->noise_pass);
    xb_noise_posterior_free(&t->noise_posterior);
    xb_model_destroy(t->own);
    free(t);
}
