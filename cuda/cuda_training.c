/* cuda_training.c: many steps of training in one launch: describes the library's steps
 * as the kernel reads them (device_steps.cu). The lock is not held while the device
 * works, so that steps of several nets, requested by several threads, run side by
 * side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/steps.h"
#include "cuda_module.h"

/* The largest number of multiply-adds of a step for one block. At half of its peak
 * rate they take 0.3 ms, as long as the launches of a step that runs layer by layer. */
static const double WORK_MOST = 0x1p25;

static int quads(int64_t n) { return (int)((n + 3) / 4 * 4); }

static xbc_step_tensor tensor_of(const xb_many_steps *s, int i)
{
    const xb_step_tensor *t = &s->tensor[i];
    return (xbc_step_tensor){.number = (uint32_t)i,
                             .moves = t->moves,
                             .random = t->random,
                             .mean = t->mean,
                             .precision = t->precision};
}

static xbc_act act_of(xb_act f)
{
    switch (f) {
    case XB_ACT_ELU: return XBC_ELU;
    case XB_ACT_RELU: return XBC_RELU;
    case XB_ACT_TANH: return XBC_TANH;
    case XB_ACT_SIGMOID: return XBC_SIGMOID;
    default: return XBC_NONE;
    }
}

/* (N6) The slope as a function of the output: elu y + 1 below 0, relu 0 there, tanh 1
 * - y^2, sigmoid y - y^2. */
static void set_slope(xbc_step_link *k)
{
    static const float slope[][2][3] = {[XBC_NONE] = {{1, 0, 0}, {1, 0, 0}},
                                        [XBC_ELU] = {{1, 1, 0}, {1, 0, 0}},
                                        [XBC_RELU] = {{0, 0, 0}, {1, 0, 0}},
                                        [XBC_TANH] = {{1, 0, -1}, {1, 0, -1}},
                                        [XBC_SIGMOID] = {{0, 1, -1}, {0, 1, -1}}};
    memcpy(k->slope, slope[k->act], sizeof k->slope);
}

static uint32_t divisor(int n)
{
    return n == 1 ? 0 : (uint32_t)(((UINT64_C(1) << 32) + (uint64_t)n - 1) / (uint64_t)n);
}

static int counters_of(int64_t size) { return (int)((size + 63) / 64 * 16); }

static void set_divisors(xbc_step_link *k)
{
    k->by_out = divisor(k->out), k->by_outp = divisor(k->outp);
    k->by_columns = divisor(k->outp / 4), k->by_across = divisor(k->inp / 4);
}

/* Appends a link. */
static void add_link(xbc_steps *job, const xb_many_steps *s, const xb_chain_link *from)
{
    xbc_step_link *k = &job->link[job->links++];
    *k = (xbc_step_link){.in = (int)from->in,
                         .out = (int)from->out,
                         .bias = from->tensors == 2,
                         .inp = quads(from->in),
                         .outp = quads(from->out),
                         .at = job->weights,
                         .turned = job->turned,
                         .y = job->units,
                         .offset = from->offset,
                         .act = act_of(from->f)};
    k->tensor[0] = tensor_of(s, from->number);
    if (k->bias) k->tensor[1] = tensor_of(s, from->number + 1);
    set_divisors(k);
    set_slope(k);
    k->end[0] = job->counters += counters_of((int64_t)k->in * k->out);
    k->end[1] = job->counters += k->bias ? counters_of(k->out) : 0;
    job->weights += (k->in + k->bias) * k->outp;
    job->turned += k->outp * k->inp;
    job->units += job->batch * k->outp;
    if (k->outp > job->widest) job->widest = k->outp;
}

/* The number of parts of the batch whose gradients are computed side by side, more
 * than one if a layer has too few weights for all threads. */
static int slices_of(const xbc_steps *job)
{
    return job->weights <= 512    ? 12
           : job->weights <= 1024 ? 8
           : job->weights <= 4096 ? 2
                                  : 1;
}

static double work_of(const xb_many_steps *s, bool local)
{
    double sum = 0;
    for (int i = 0; i < s->chain->n_link; i++) sum += (double)s->chain->link[i].size;
    return sum * (double)s->batch * (local ? 6 : 3);
}

static bool reads_loss(xbc_steps *job, const xb_many_steps *s)
{
    if (s->energy) {
        job->loss = XBC_ENERGY;
        job->outputs = job->sums_each = 1;
        return s->chain->link[s->chain->n_link - 1].out == 1;
    }
    const int64_t outputs = s->loss.outputs;
    job->loss = s->loss.kind == XB_LOSS_SOFTMAX    ? XBC_SOFTMAX
                : s->loss.kind == XB_LOSS_GAUSSIAN ? XBC_GAUSSIAN
                                                   : XBC_SQUARE;
    job->outputs = (int)outputs;
    job->targets = s->loss.kind == XB_LOSS_SOFTMAX ? 1 : (int)outputs;
    job->sums_each = s->loss.kind == XB_LOSS_GAUSSIAN ? (int)outputs : 1;
    if (s->noises > XBC_STEP_SUMS || outputs > s->chain->link[s->chain->n_link - 1].out)
        return false;
    return s->loss.kind == XB_LOSS_SOFTMAX || s->loss.kind == XB_LOSS_SQUARE ||
           (s->loss.kind == XB_LOSS_GAUSSIAN && outputs <= XBC_STEP_SUMS);
}

static bool reads_noise(xbc_steps *job, const xb_many_steps *s)
{
    job->noisy = s->sampler != NULL;
    job->local = job->noisy && s->estimator == XB_ESTIMATOR_LOCAL;
    if (job->noisy && !job->local && s->estimator != XB_ESTIMATOR_SHARED) return false;
    if (!job->local) return true;
    const xb_draw_source *from = xbc_host->source(s->sampler);
    const xbc_source source = {
        .columns = from->table.columns,
        .degree = from->table.degree,
        .halves = from->table.halves,
    };
    return xbc_steps_draws(&source);
}

/* Divisions by multiplication are exact while a number times its divisor is below 2^32:
 * numbers are places in arrays [lines][n], n the divisor. */
static bool divides(const xbc_steps *job)
{
    const double most = 0x1p32, batch = job->batch;
    const double each = job->link[0].in + job->targets;
    bool exact = batch * each * each < most;
    for (int i = 0; i < job->links; i++) {
        const xbc_step_link *k = &job->link[i];
        const double lines = fmax(batch, k->in + 1),
                     n = k->inp > k->outp ? k->inp : k->outp;
        exact = exact && lines * n * n < most;
    }
    return exact;
}

/* Fills the job except its buffers; returns false if it does not suit one block. */
static bool read_job(xbc_steps *job, const xb_many_steps *s)
{
    *job = (xbc_steps){.batch = (int)s->batch};
    if (s->chain->n_link > XBC_STEP_LINKS || !reads_noise(job, s) ||
        !reads_loss(job, s) || work_of(s, job->local) > WORK_MOST)
        return false;
    for (int i = 0; i < s->chain->n_link; i++) add_link(job, s, &s->chain->link[i]);
    job->by_each = divisor(job->link[0].in + job->targets);
    job->slices = slices_of(job);
    job->noises = (int)s->noises;
    job->parameters = s->net->param_count;
    job->kl_weight = s->kl_weight;
    job->beta1 = s->adam.beta1, job->beta2 = s->adam.beta2;
    job->rest1 = s->adam.rest1, job->rest2 = s->adam.rest2;
    job->epsilon = s->adam.epsilon;
    return divides(job);
}

/* ---- the room: the steps, their results, what is kept, and the kernel's own arrays */

static int64_t lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static int64_t place(xbc_steps *job, const xb_many_steps *s, char *room)
{
    const int64_t steps = lines(s->count * (int64_t)sizeof *job->step);
    const int64_t sums = lines(s->count * 2 * (int64_t)sizeof *job->sums);
    const int64_t kept =
        lines(s->keeps * (s->noises + s->net->param_count) * (int64_t)sizeof *job->kept);
    int64_t at = 0;
    job->step = (const xbc_step *)(void *)(room + at), at += steps;
    job->sums = (double *)(void *)(room + at), at += sums;
    job->done = (int64_t *)(void *)(room + at), at += 64;
    job->kept = (float *)(void *)(room + at), at += kept;
    job->room = (float *)(void *)(room + at);
    return at +
           (xbc_steps_shared(job) ? 0 : xbc_steps_floats(job) * (int64_t)sizeof(float));
}

int64_t xbc_op_steps_room(const xb_many_steps *s)
{
    xbc_steps job;
    return read_job(&job, s) ? place(&job, s, NULL) : 0;
}

/* ---- a call */

static xbc_step *plan_of(const xb_many_steps *s)
{
    xbc_step *plan = malloc((size_t)s->count * sizeof *plan);
    int64_t kept = 0;
    for (int64_t i = 0; plan && i < s->count; i++)
        plan[i] = (xbc_step){.first = s->step[i].first,
                             .rows = (int32_t)s->step[i].rows,
                             .number = s->step[i].number,
                             .keep = s->step[i].keep ? kept++ : -1,
                             .scale = s->step[i].scale,
                             .rate = (float)s->step[i].rate,
                             .sigma_rate = (float)(s->step[i].rate * s->sigma_rate)};
    return plan;
}

static void set_buffers(xbc_steps *job, const xb_many_steps *s)
{
    job->where = (xb_stream){.key = s->key};
    job->x = s->x;
    job->target = s->loss.kind == XB_LOSS_SOFTMAX
                      ? (const float *)(const void *)s->loss.label
                      : s->loss.target;
    job->order = s->order;
    job->theta = s->theta, job->first = s->first, job->second = s->second;
    job->sigma = s->sigma;
    job->rho = s->rho, job->noise = s->noise;
    job->count = s->count;
}

/* Call it with the lock held. Returns the number of the launch. */
static int start(xbc_steps *job, const xb_many_steps *s)
{
    xbc_step *plan = plan_of(s);
    if (!plan) xbc_fail("taking memory for steps");
    if (job->noisy) job->source = xbc_source_of(s->sampler);
    if (plan)
        xbc_put((void *)(uintptr_t)job->step, plan, (size_t)s->count * sizeof *plan);
    free(plan);
    return xbc_steps_start(job);
}

/* Call it with the lock held. Returns how many steps were done. */
static int64_t fetch(const xbc_steps *job, const xb_many_steps *s)
{
    int64_t done = 0;
    xbc_get(&done, job->done, sizeof done);
    xbc_get(s->sums, job->sums, (size_t)s->count * sizeof *s->sums);
    xbc_get(s->kept, job->kept,
            (size_t)(s->keeps * (s->noises + s->net->param_count)) * sizeof *s->kept);
    return xbc_error() ? 0 : done;
}

int64_t xbc_op_steps(const xb_many_steps *s, void *room)
{
    xbc_steps job;
    int64_t done = 0;
    int number;
    if (s->count == 0 || !read_job(&job, s)) return 0;
    place(&job, s, room);
    set_buffers(&job, s);
    XBC_INSIDE(number = start(&job, s));
    const int status = xbc_steps_wait(number);
    XBC_INSIDE(xbc_steps_end(number, status); done = fetch(&job, s));
    return done;
}
