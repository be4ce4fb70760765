/* draws.c: the model's outputs under many draws of its weights (maths P1).
 *
 * The draws are divided among the threads, each with its own pass and context; a draw
 * does not depend on the thread that makes it. Within a piece, inputs are scaled in
 * chunks. The weights of a small net are drawn once for a chunk, which then goes through
 * all layers in tiles that stay in the first cache. In a large net each layer is drawn
 * when it runs, for a chunk wide enough that this costs little and narrow enough for the
 * memory of images. A device draws all layers at once unless the net is very large, and
 * keeps the outputs of many draws, because it stands still while the host takes them.
 * Chunks are independent, so their width is free. Progress is reported between slabs of
 * chunks, and between rounds of a small net's draws. If a backend can make many draws at
 * once, draws_together.c uses that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/count_mass.h"
#include "base/memory.h"
#include "crossbayes/extend.h"
#include "data/rows.h"
#include "run/pass.h"
#include "predict/draws.h"
#include "predict/process_draws.h"

enum {
    SMALL_NET = 1 << 15,  /* parameters */
    DEVICE_NET = 1 << 20, /* the same for a device's draws of the whole net */
    TILE_LEAST = 96,      /* rows of a small net's pass, a multiple of 12 */
    TILE_MOST = 336,
    TILE_REALS = 5376,        /* of its widest layer: 21 kB, beyond the least rows */
    SMALL_BYTES = 1 << 20,    /* of inputs in a small net's chunk, beyond one tile */
    CHUNK = 256,              /* rows of a large net's chunk at most */
    CHUNK_BYTES = 16 << 20,   /* of activations at most, beyond one row */
    DEVICE_BYTES = 1 << 30,   /* the same for a device, which needs much work at once */
    DEVICE_OUTPUTS = 1 << 16, /* numbers that a device keeps for the host at most */
    SLAB_WORK = 1 << 24,      /* inputs times draws between progress events */
};
/* Weights times rows of a small net between progress events: about a second. */
static const int64_t ROUND_WORK = INT64_C(1) << 33;

typedef struct worker {
    xb_ctx *ctx;
    xb_pass *pass;
    /* buffers of the pass's backend, parts of `memory` */
    void *memory;
    float *x;        /* [chunk][features], scaled */
    uint8_t *pixels; /* [2][chunk][features] the same as bytes, this chunk's and the next
                        one's, where the backend reads images; or NULL */
    int64_t ahead;   /* first row of the chunk that is there already; -1: none */
    float *out;      /* [kept][chunk][outputs]; the host's: [tile][outputs] */
    float *theta;    /* all weights; NULL: each layer draws its own */
    /* the host's copies of x and out, if the backend has memory of its own */
    float *room_x, *room_out;
    xb_status status;
} worker;

typedef struct draw_job {
    const xb_model *model;
    const xb_predict_options *opt;
    const xb_sampler *sampler;
    const xb_rows *rows;
    const xb_backend *backend;
    xb_weights *weights; /* [members] the model's weights in the backend's memory */
    void **memory;       /* [members] the buffers that hold them */
    double *value;       /* [count][n][outputs] */
    float *raw;          /* the same before xb_predict_values; one of the two is NULL */
    int64_t n, first, count, outputs;
    int64_t tile, chunk; /* rows of a pass, and held by a worker */
    int64_t kept;        /* draws whose outputs a device keeps */
    int64_t begin, end;  /* rows of the slab */
    int64_t from, to;    /* draws of the round */
    worker *worker;      /* [workers]: as many as threads, one for a device; draws are cut
                            among them */
    int64_t workers;
} draw_job;

void xb_predict_values(const xb_model *m, double *value, const float *out, int64_t rows)
{
    int64_t outputs = xb_model_outputs(m);
    if (m->likelihood != XB_LIKELIHOOD_SOFTMAX) {
        for (int64_t k = 0; k < outputs; k++)
            for (int64_t i = k; i < rows * outputs; i += outputs)
                value[i] = m->y_mean[k] + m->y_sd[k] * (double)out[i];
        for (int64_t i = 0; xb_model_of_counts(m) && i < rows * outputs; i++)
            value[i] = xb_count_rate(value[i]); /* (P20) */
        return;
    }
    for (int64_t i = 0; i < rows; i++, out += outputs, value += outputs) {
        double top = (double)out[0], sum = 0;
        for (int64_t k = 1; k < outputs; k++) top = fmax(top, (double)out[k]);
        for (int64_t k = 0; k < outputs; k++) sum += value[k] = exp((double)out[k] - top);
        for (int64_t k = 0; k < outputs; k++) value[k] /= sum;
    }
}

static bool is_small(const xb_net *net) { return xb_net_param_count(net) <= SMALL_NET; }

/* Whether all weights are drawn before the layers run. */
static bool draws_first(const xb_backend *b, const xb_net *net)
{
    return is_small(net) || (!b->host && xb_net_param_count(net) <= DEVICE_NET);
}

/* (P1, P7) The noise of draw s, counted from the job's first; members draw at steps of
 * their own. */
static xb_noise noise_of(const draw_job *job, int64_t s)
{
    const int64_t draw = job->first + s;
    const uint32_t member = (uint32_t)xb_member_of(job->model, draw);
    return (xb_noise){.sampler = job->sampler,
                      .key = xb_key_make(job->opt->seed, XB_PURPOSE_WEIGHT),
                      .step = XB_PREDICT_STEP - member,
                      .sample = (uint32_t)xb_member_draw(job->model, draw),
                      .antithetic = job->opt->antithetic};
}

/* Runs the chunk in w->x, which starts at `row`, under draw s. A device's outputs go to
 * `kept`, the host's are handed out. */
static xb_status one_draw(draw_job *job, worker *w, int64_t s, int64_t row, int64_t rows,
                          float *kept)
{
    const xb_model *m = job->model;
    const xb_weights *weights = &job->weights[xb_member_of(m, job->first + s)];
    const xb_weights drawn = {w->theta, NULL, weights->state, NULL};
    const xb_noise noise = noise_of(job, s);
    const bool host = job->backend->host;
    if (w->theta) XB_TRY(xb_pass_draw_within(w->ctx, w->pass, w->theta, weights, &noise));
    for (int64_t i = 0; i < rows; i += job->tile) {
        int64_t some = rows - i < job->tile ? rows - i : job->tile;
        int64_t at = (s * job->n + row + i) * job->outputs;
        float *own = job->raw ? job->raw + at : w->out;
        float *out = host ? own : kept + i * job->outputs;
        XB_TRY(xb_pass_forward_within(w->ctx, w->pass, out, w->x + i * m->features, some,
                                      w->theta ? &drawn : weights,
                                      w->theta ? NULL : &noise, XB_MODE_PREDICT));
        if (host && job->value) xb_predict_values(m, job->value + at, own, some);
    }
    return XB_OK;
}

/* The bytes of the chunk that starts at `row`. */
static uint8_t *pixels_of(const draw_job *job, const worker *w, int64_t row)
{
    return w->pixels + row / job->chunk % 2 * job->chunk * job->model->features;
}

/* Copies the images of a chunk unless they are there; `beside`: while the backend works
 * on another chunk. */
static void put_images(const draw_job *job, worker *w, int64_t row, bool beside)
{
    const xb_backend *b = job->backend;
    const xb_rows *from = job->rows;
    const int64_t width = job->model->features, left = job->n - row,
                  rows = left < job->chunk ? left : job->chunk;
    uint8_t *to = pixels_of(job, w, row);
    if (w->ahead == row) return;
    void (*put)(const xb_backend *, void *, const void *, int64_t) =
        beside && b->put_beside ? b->put_beside : b->put;
    if (!from->select) put(b, to, from->bytes + row * width, rows * width);
    for (int64_t i = 0; from->select && i < rows; i++)
        put(b, to + i * width, from->bytes + from->select[row + i] * width, width);
    w->ahead = row;
}

/* The same under draws s .. s + count - 1 on a device, and meanwhile the images of the
 * chunk from row `next` on, -1: none. */
static xb_status kept_draws(draw_job *job, worker *w, int64_t s, int64_t count,
                            int64_t row, int64_t rows, int64_t next)
{
    const xb_backend *b = job->backend;
    const int64_t each = rows * job->outputs;
    for (int64_t d = 0; d < count; d++)
        XB_TRY(one_draw(job, w, s + d, row, rows, w->out + d * each));
    if (w->pixels && next >= 0) put_images(job, w, next, true);
    b->get(b, w->room_out, w->out, count * each * (int64_t)sizeof *w->out);
    XB_TRY(xb_backend_check(b, w->ctx));
    for (int64_t d = 0; d < count; d++) {
        const int64_t at = ((s + d) * job->n + row) * job->outputs;
        const float *got = w->room_out + d * each;
        if (job->value)
            xb_predict_values(job->model, job->value + at, got, rows);
        else
            memcpy(job->raw + at, got, (size_t)each * sizeof *got);
    }
    return XB_OK;
}

/* Copies rows [row, row + rows) to w->x, as the net reads them. */
static void bring_rows(const draw_job *job, worker *w, int64_t row, int64_t rows)
{
    const xb_backend *b = job->backend;
    const xb_rows *from = job->rows;
    const int64_t width = job->model->features;
    if (w->pixels) {
        put_images(job, w, row, false);
        b->pixels(b, w->x, pixels_of(job, w, row), NULL, rows,
                  xb_net_input(job->model->net));
        return;
    }
    float *x = xb_host_side(b, w->x, w->room_x);
    xb_model_take_rows(job->model, x, from, row, rows);
    xb_host_sent(b, w->x, x, rows * width * (int64_t)sizeof *x);
}

static void run_piece(void *arg, int64_t piece)
{
    draw_job *job = arg;
    worker *w = &job->worker[piece];
    int64_t begin = job->from + piece * (job->to - job->from) / job->workers;
    int64_t end = job->from + (piece + 1) * (job->to - job->from) / job->workers;
    if (begin == end) return;
    for (int64_t row = job->begin; row < job->end; row += job->chunk) {
        int64_t rows = job->end - row < job->chunk ? job->end - row : job->chunk;
        bring_rows(job, w, row, rows);
        for (int64_t s = begin; s < end && w->status == XB_OK; s += job->kept) {
            const int64_t count = end - s < job->kept ? end - s : job->kept;
            const int64_t next =
                s + count == end && row + rows < job->n ? row + rows : -1;
            w->status = job->backend->host
                            ? one_draw(job, w, s, row, rows, NULL)
                            : kept_draws(job, w, s, count, row, rows, next);
        }
    }
}

static int64_t widest_of(const xb_net *net)
{
    int64_t widest = xb_shape_size(xb_net_input(net));
    for (int l = 0; l < xb_net_layer_count(net); l++) {
        int64_t size = xb_shape_size(xb_net_layer_output(net, l));
        if (size > widest) widest = size;
    }
    return widest;
}

static int64_t clamped(int64_t rows, int64_t least, int64_t most)
{
    return rows < least ? least : rows > most ? most : rows;
}

/* The limit is judged by the widest layer and the next. */
int64_t xb_chunk_rows(const xb_backend *b, const xb_net *net)
{
    int64_t each = 2 * (int64_t)sizeof(float) * widest_of(net);
    return clamped((b->host ? CHUNK_BYTES : DEVICE_BYTES) / each, 1, CHUNK);
}

/* The number of rows that go through a small net together, a multiple of twelve because
 * products work on twelve rows at a time. */
static int64_t tile_for(const xb_net *net)
{
    return clamped(TILE_REALS / widest_of(net) / 12 * 12, TILE_LEAST, TILE_MOST);
}

static void plan_rows(draw_job *job)
{
    const xb_model *m = job->model;
    if (!is_small(m->net)) {
        job->tile = job->chunk = xb_chunk_rows(job->backend, m->net);
        return;
    }
    job->tile = tile_for(m->net);
    int64_t bytes = (int64_t)sizeof(float) * m->features * job->tile;
    int64_t rows = (SMALL_BYTES / bytes + 1) * job->tile;
    job->chunk = rows < job->n ? rows : job->n;
}

static void plan_draws(draw_job *job)
{
    const int64_t most = DEVICE_OUTPUTS / (job->chunk * job->outputs + 1);
    job->kept = job->backend->host || most < 1 ? 1 : clamped(job->count, 1, most);
}

static int64_t lines_of(int64_t n) { return (n + 15) / 16 * 16; }

static xb_status take_worker(xb_ctx *ctx, worker *w, const draw_job *job)
{
    const xb_backend *b = job->backend;
    bool drawn = draws_first(b, job->model->net);
    int64_t x = lines_of(job->chunk * job->model->features);
    int64_t out = lines_of((b->host ? job->tile : job->kept * job->chunk) * job->outputs);
    int64_t theta = drawn ? lines_of(xb_net_param_count(job->model->net)) : 0;
    bool images = b->pixels && job->rows->bytes;
    int64_t all = x + out + theta + (images ? (x + 1) / 2 : 0);
    XB_TRY(b->take(b, ctx, &w->memory, all * (int64_t)sizeof *w->x));
    w->x = w->memory;
    w->ahead = -1;
    w->out = w->x + x;
    if (drawn) w->theta = w->out + out;
    if (images) w->pixels = (uint8_t *)(w->out + out + theta);
    if (b->host) return XB_OK;
    w->room_x = xb_new(ctx, x, sizeof *w->x);
    w->room_out = xb_new(ctx, out, sizeof *w->out);
    return w->room_x && w->room_out ? XB_OK : XB_E_MEMORY;
}

static xb_status open_worker(xb_ctx *ctx, worker *w, const draw_job *job)
{
    xb_pass_options opt = xb_pass_options_default();
    opt.backend = job->opt->backend;
    opt.batch = job->tile;
    opt.gradients = false;
    opt.estimator = XB_ESTIMATOR_SHARED;
    XB_TRY(take_worker(ctx, w, job));
    if (xb_ctx_create(&w->ctx) != XB_OK)
        return xb_fail(ctx, XB_E_MEMORY, "not enough memory for a context");
    xb_ctx_set_threads(w->ctx, 1);
    return xb_pass_create(ctx, &w->pass, job->model->net, &opt);
}

static void close_worker(worker *w, const xb_backend *b)
{
    xb_pass_destroy(w->pass);
    xb_ctx_destroy(w->ctx);
    b->release(b, w->memory);
    free(w->room_x);
    free(w->room_out);
}

static bool failed(const draw_job *job)
{
    for (int64_t i = 0; i < job->workers; i++)
        if (job->worker[i].status != XB_OK) return true;
    return false;
}

/* Draws of a round: a small net's are as many for each worker, a large net's are all. */
static int64_t round_of(const draw_job *job)
{
    const int64_t each = xb_net_param_count(job->model->net) * (job->end - job->begin);
    if (!is_small(job->model->net) || each <= 0) return job->count;
    const int64_t draws = (ROUND_WORK / each + 1) * job->workers;
    return draws < job->count ? draws : job->count;
}

static xb_status run_rounds(xb_ctx *ctx, draw_job *job)
{
    const int64_t round = round_of(job), rows = job->end - job->begin;
    for (job->from = 0; job->from < job->count && !failed(job); job->from = job->to) {
        job->to = job->count - job->from < round ? job->count : job->from + round;
        xb_parallel_for(ctx, job->workers, run_piece, job);
        const int64_t done = rows * job->to / job->count;
        if (job->begin + done < job->n)
            XB_TRY(xb_progress_tell(ctx, "predicting", job->begin + done, job->n));
    }
    return XB_OK;
}

/* Slabs of whole chunks; small nets have only one. */
static xb_status run_slabs(xb_ctx *ctx, draw_job *job)
{
    int64_t work = job->count * job->model->features;
    int64_t chunks = SLAB_WORK / (work * job->chunk) + 1;
    int64_t slab = chunks * job->chunk;
    for (job->begin = 0; job->begin < job->n && !failed(job); job->begin = job->end) {
        job->end = job->n - job->begin < slab ? job->n : job->begin + slab;
        XB_TRY(run_rounds(ctx, job));
    }
    return XB_OK;
}

/* Makes a member's weights available to the backend: unchanged, or as a copy. */
static xb_status bring_weights(xb_ctx *ctx, const draw_job *job, int64_t i)
{
    const xb_model *m = xb_model_member_at(job->model, i);
    const xb_backend *b = job->backend;
    int64_t p = xb_net_param_count(m->net), states = xb_net_state_count(m->net);
    job->weights[i] = (xb_weights){m->mu, m->sigma, m->state, NULL};
    if (b->host) return XB_OK;
    int64_t each = (int64_t)sizeof(float);
    XB_TRY(b->take(b, ctx, &job->memory[i], (2 * p + states) * each));
    float *to = job->memory[i];
    b->put(b, to, m->mu, p * each);
    b->put(b, to + p, m->sigma, p * each);
    b->put(b, to + 2 * p, m->state, states * each);
    job->weights[i] = (xb_weights){to, to + p, to + 2 * p, NULL};
    return XB_OK;
}

static xb_draw_slab slab_of(const draw_job *job)
{
    return (xb_draw_slab){.model = job->model,
                          .opt = job->opt,
                          .sampler = job->sampler,
                          .rows = job->rows,
                          .backend = job->backend,
                          .value = job->value,
                          .raw = job->raw,
                          .first = job->first,
                          .count = job->count,
                          .outputs = job->outputs};
}

/* For a backend that makes many draws at once. */
static xb_status run_together(xb_ctx *ctx, draw_job *job)
{
    xb_weights weights = {0};
    void *memory = NULL;
    job->weights = &weights, job->memory = &memory; /* there are no members */
    xb_status status = bring_weights(ctx, job, 0);
    xb_draw_slab slab = slab_of(job);
    slab.weights = weights;
    if (status == XB_OK) status = xb_draws_together(ctx, &slab);
    job->backend->release(job->backend, memory);
    return status;
}

static xb_status run_workers(xb_ctx *ctx, draw_job *job)
{
    int64_t threads = job->backend->host ? xb_ctx_threads(ctx) : 1;
    job->workers = threads < job->count ? threads : job->count;
    const int64_t members = xb_model_member_count(job->model);
    job->worker = xb_new(ctx, job->workers, sizeof *job->worker);
    job->weights = xb_new(ctx, members, sizeof *job->weights);
    job->memory = xb_new(ctx, members, sizeof *job->memory);
    bool all = job->worker && job->weights && job->memory;
    xb_status status = all ? XB_OK : XB_E_MEMORY;
    for (int64_t i = 0; i < members && status == XB_OK; i++)
        status = bring_weights(ctx, job, i);
    for (int64_t i = 0; i < job->workers && status == XB_OK; i++)
        status = open_worker(ctx, &job->worker[i], job);
    if (status == XB_OK) status = run_slabs(ctx, job);
    for (int64_t i = 0; job->worker && i < job->workers; i++) {
        worker *w = &job->worker[i];
        if (status == XB_OK && w->status != XB_OK)
            status = xb_fail(ctx, w->status, "%s", xb_ctx_message(w->ctx));
        close_worker(w, job->backend);
    }
    for (int64_t i = 0; job->memory && i < members; i++)
        job->backend->release(job->backend, job->memory[i]);
    free(job->memory);
    free(job->weights);
    free(job->worker);
    return status;
}

/* (P7) One standard deviation for all members together. */
static xb_status joint_noise_sd(xb_ctx *ctx, double *sd, const draw_job *job)
{
    const xb_model *m = job->model;
    const int64_t members = xb_model_member_count(m);
    const int64_t n = job->rows->n * xb_model_outputs(m);
    if (members == 1)
        return xb_predict_noise_rows(ctx, sd, m, job->rows, job->opt->backend);
    double *each = xb_new(ctx, members * n, sizeof *each);
    if (!each) return XB_E_MEMORY;
    xb_status status = xb_predict_noise_rows(ctx, each, m, job->rows, job->opt->backend);
    if (status == XB_OK) xb_noise_of_members(sd, each, members, n);
    free(each);
    return status;
}

static xb_status check(xb_ctx *ctx, const xb_model *m, const xb_rows *rows, int64_t first,
                       int64_t count)
{
    const int64_t n = rows->n;
    const bool draws = first >= 0 && first <= UINT32_MAX && count >= 0 &&
                       count <= UINT32_MAX - first; /* a sum might overflow */
    if (n < 0 || !draws)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld inputs and %lld draws: expected 0 or more, below 2^32 draws",
                       (long long)n, (long long)count);
    if (rows->features != m->features)
        return xb_fail(ctx, XB_E_ARGUMENT, "inputs of %lld %s for a model of %lld",
                       (long long)rows->features,
                       xb_plural(rows->features, "number", "numbers"),
                       (long long)m->features);
    return n > 0 ? xb_model_check_rows(ctx, m, rows) : XB_OK;
}

static xb_status with_sampler(xb_ctx *ctx, draw_job *job, double *sd)
{
    const xb_model *m = job->model;
    xb_sampler *sampler = NULL;
    const xb_law *law = job->opt->law ? job->opt->law : m->law;
    const bool counts = xb_model_of_counts(m);
    if (sd && m->likelihood != XB_LIKELIHOOD_SOFTMAX && !counts)
        XB_TRY(joint_noise_sd(ctx, sd, job));
    if (job->count == 0 || job->n == 0) return XB_OK;
    XB_TRY(xb_sampler_create(ctx, &sampler, law, NULL));
    job->sampler = sampler;
    const xb_draw_slab slab = slab_of(job);
    xb_status status =
        xb_draws_together_suit(&slab) ? run_together(ctx, job) : run_workers(ctx, job);
    xb_sampler_destroy(sampler);
    const xb_process_draws process = {.model = m,
                                      .rows = job->rows,
                                      .raw = job->raw,
                                      .value = job->value,
                                      .first = job->first,
                                      .count = job->count,
                                      .seed = job->opt->seed};
    if (status == XB_OK && m->process) status = xb_process_add(ctx, &process);
    if (status == XB_OK && sd && counts && job->value)
        xb_count_sds(m, sd, job->value, job->n * job->outputs, job->first, job->count);
    return status;
}

static xb_status run(xb_ctx *ctx, draw_job *job, double *sd)
{
    XB_TRY(check(ctx, job->model, job->rows, job->first, job->count));
    xb_predict_options opt = *job->opt;
    job->n = job->rows->n;
    opt.backend = xb_backend_for(ctx, opt.backend, job->model->net,
                                 (double)job->n * (double)job->count, XB_AUTO_WHOLE);
    job->opt = &opt;
    XB_TRY(xb_backend_open(ctx, &job->backend, opt.backend));
    job->outputs = xb_model_outputs(job->model);
    plan_rows(job);
    plan_draws(job);
    return with_sampler(ctx, job, sd);
}

/* ---- ranks together, each with a run of the draws */

/* Whether there is enough work, some milliseconds, to pay for the messages. */
static bool is_worth(const draw_job *job)
{
    const double least = 1 << 24, net = (double)xb_net_param_count(job->model->net);
    return (double)job->rows->n * (double)job->count * net >= least;
}

/* A draw is a function of its number (P1), so it does not matter which rank makes it. All
 * ranks get all draws. */
static xb_status run_by_ranks(xb_ctx *ctx, const draw_job *job, xb_comm *comm)
{
    const int64_t width = job->rows->n * xb_model_outputs(job->model);
    int64_t *cut = xb_new(ctx, comm->size + 1, sizeof *cut);
    if (!cut) return XB_E_MEMORY;
    for (int64_t r = 0; r <= comm->size; r++) cut[r] = r * job->count / comm->size;
    draw_job own = *job;
    own.first += cut[comm->rank];
    own.count = cut[comm->rank + 1] - cut[comm->rank];
    own.value += cut[comm->rank] * width;
    xb_status status = run(ctx, &own, NULL);
    if (status == XB_OK)
        xb_comm_gather(comm, job->value, width * (int64_t)sizeof *job->value, cut);
    if (status == XB_OK) status = xb_comm_check(ctx);
    free(cut);
    return status;
}

static xb_status run_together_or_here(xb_ctx *ctx, draw_job *job, double *sd)
{
    xb_comm *comm = xb_comm_together(ctx);
    if (!comm || job->rows->n < 1 || job->count < comm->size || !is_worth(job))
        return run(ctx, job, sd);
    XB_TRY(check(ctx, job->model, job->rows, job->first, job->count));
    XB_TRY(comm->meet(ctx, comm));
    XB_TRY(run_by_ranks(ctx, job, comm));
    if (!sd) return XB_OK;
    if (xb_model_of_counts(job->model)) {
        xb_count_sds(job->model, sd, job->value,
                     job->rows->n * xb_model_outputs(job->model), job->first, job->count);
        return XB_OK;
    }
    draw_job none = *job;
    none.count = 0;
    return run(ctx, &none, sd);
}

xb_status xb_predict_draws_rows(xb_ctx *ctx, double *value, double *sd,
                                const xb_model *model, const xb_rows *rows, int64_t first,
                                int64_t count, const xb_predict_options *opt)
{
    xb_predict_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, predict, &chosen, opt, backend));
    draw_job job = {.model = model,
                    .opt = &chosen,
                    .rows = rows,
                    .value = value,
                    .first = first,
                    .count = count};
    return run_together_or_here(ctx, &job, sd);
}

xb_status xb_predict_raw_rows(xb_ctx *ctx, float *raw, const xb_model *model,
                              const xb_rows *rows, int64_t first, int64_t count,
                              const xb_predict_options *opt)
{
    draw_job job = {.model = model,
                    .opt = opt,
                    .rows = rows,
                    .raw = raw,
                    .first = first,
                    .count = count};
    return run(ctx, &job, NULL);
}

xb_status xb_predict_draws(xb_ctx *ctx, double *value, double *sd, const xb_model *model,
                           const double *x, int64_t n, int64_t first, int64_t count,
                           const xb_predict_options *opt)
{
    const xb_rows rows = {.x = x, .n = n, .features = model->features};
    return xb_predict_draws_rows(ctx, value, sd, model, &rows, first, count, opt);
}
