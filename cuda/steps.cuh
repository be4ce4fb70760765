/* steps.cuh: where a net that trains inside one block keeps its numbers, and how they
 * are loaded and stored; see device_steps.cu.
 *
 * Rows of kernels and of activations are padded to multiples of four: [in][outp],
 * where outp is the number of outputs rounded up to four, and numbers beyond the last
 * output are 0. A link's bias is one more row of its kernel. Each kernel is stored a
 * second time transposed, [outp][inp], for the backward pass. */
#ifndef XBC_STEPS_CUH
#define XBC_STEPS_CUH

#include "activation.cuh"
#include "table.cuh"

enum { STEP_THREADS = 512, STEP_LANES = 32 };

/* What a place among the weights holds; places beyond the end of a row hold nothing. */
enum { PLACE_REAL = 1, PLACE_MOVES = 2, PLACE_RANDOM = 4, PLACE_TENSOR = 3 /* bits */ };

/* The arrays in the job's room, in their order. */
struct step_room {
    float *mu, *rho, *sigma;         /* [weights] */
    float *first, *second;           /* [2][weights]: of mu, of rho */
    float *w, *z;                    /* [weights], [2][weights]: theta, and draws of
                                        this step and of the next one; with `local`
                                        sigma^2, and nothing */
    float *turned, *turned_variance; /* [turned] */
    float *part;                     /* [slices][2][weights]: gradients */
    double *row_sum;                 /* [outputs][batch] */
    float *x, *target;               /* [2][batch][inp], [2][batch][targets]: this step's
                                        and the next one's; labels as they are */
    float *y, *e;                    /* [units]: of all links */
    float *gradient;                 /* [2][batch][widest] */
    uint8_t *place;                  /* [weights] */
};

/* Every array begins at a multiple of four floats. */
static __host__ __device__ __forceinline__ int whole_quads(int n) { return (n + 3) / 4 * 4; }

static __device__ __forceinline__ step_room room_of(const xbc_steps &job, float *at)
{
    step_room r;
    const int w = job.weights, units = job.units;
    r.row_sum = (double *)(void *)at, at += whole_quads(2 * job.sums_each * job.batch);
    r.mu = at, at += w;
    r.rho = at, at += w;
    r.sigma = at, at += w;
    r.first = at, at += 2 * w;
    r.second = at, at += 2 * w;
    r.w = at, at += w;
    r.z = at, at += 2 * w;
    r.turned = at, at += job.turned;
    r.turned_variance = at, at += job.turned;
    r.part = at, at += 2 * w * job.slices;
    r.x = at, at += 2 * job.batch * job.link[0].inp;
    r.target = at, at += whole_quads(2 * job.batch * job.targets);
    r.y = at, at += units;
    r.e = at, at += units;
    r.gradient = at, at += 2 * job.batch * job.widest;
    r.place = (uint8_t *)(void *)at;
    return r;
}

/* The number of floats of all these arrays, for the host. */
static inline int64_t room_floats(const xbc_steps *job)
{
    const int64_t w = job->weights;
    return whole_quads(2 * job->sums_each * job->batch) +
           whole_quads(2 * job->batch * job->targets) +
           2 * (int64_t)job->batch * (job->link[0].inp + job->widest) + 10 * w +
           2 * (int64_t)job->turned + 2 * w * job->slices + 2 * (int64_t)job->units +
           (w + 3) / 4;
}

/* ---- loading and storing parameters */

/* Calls f(place among the weights, number among the parameters, tensor 2 l or 2 l + 1)
 * for this thread's share of the weights without padding; a link's parameters are its
 * kernel, then its bias. */
template <class F>
static __device__ __forceinline__ void each_parameter(const xbc_steps &job, F f)
{
    for (int l = 0; l < job.links; l++) {
        const xbc_step_link &k = job.link[l];
        const int n = (k.in + k.bias) * k.out;
        for (int i = (int)threadIdx.x; i < n; i += STEP_THREADS)
            f(k.at + i / k.out * k.outp + i % k.out, k.offset + i,
              2 * l + (i >= k.in * k.out));
    }
}

/* The place of a kernel's weight in the transposed copy. */
static __device__ __forceinline__ int turned_place(const xbc_step_link &k, int at)
{
    const int i = at - k.at, row = divided(i, k.by_outp), column = i - row * k.outp;
    return row < k.in ? k.turned + column * k.inp + row : -1;
}

static __device__ __forceinline__ const xbc_step_link &link_at(const xbc_steps &job,
                                                               int tensor)
{
    return job.link[tensor / 2];
}

static __device__ __forceinline__ void load_state(const xbc_steps &job, const step_room &r,
                                                  float *all, int64_t floats)
{
    for (int64_t i = threadIdx.x; i < floats; i += STEP_THREADS) all[i] = 0;
    __syncthreads();
    each_parameter(job, [&](int at, int64_t i, int tensor) {
        const xbc_step_tensor &t = link_at(job, tensor).tensor[tensor % 2];
        const int turned = turned_place(link_at(job, tensor), at), w = job.weights;
        const float mu = job.theta[i], sigma = t.random ? job.sigma[i] : 0;
        r.mu[at] = mu, r.sigma[at] = sigma;
        r.first[at] = job.first[i], r.second[at] = job.second[i];
        r.place[at] = (uint8_t)(PLACE_REAL | (t.moves ? PLACE_MOVES : 0) |
                                (t.random ? PLACE_RANDOM : 0) | tensor << PLACE_TENSOR);
        if (t.random) {
            r.rho[at] = job.theta[job.rho + i];
            r.first[w + at] = job.first[job.rho + i];
            r.second[w + at] = job.second[job.rho + i];
        }
        r.w[at] = job.local ? sigma * sigma : mu;
        if (turned >= 0)
            r.turned[turned] = mu, r.turned_variance[turned] = sigma * sigma;
    });
}

static __device__ __forceinline__ void store_state(const xbc_steps &job, const step_room &r)
{
    each_parameter(job, [&](int at, int64_t i, int) {
        const int w = job.weights;
        job.theta[i] = r.mu[at];
        job.first[i] = r.first[at], job.second[i] = r.second[at];
        if (!(r.place[at] & PLACE_RANDOM)) return;
        job.sigma[i] = r.sigma[at];
        job.theta[job.rho + i] = r.rho[at];
        job.first[job.rho + i] = r.first[w + at];
        job.second[job.rho + i] = r.second[w + at];
    });
}

/* ---- a batch */

/* One number of a batch, of [rows][inputs, targets], and where it goes. */
static __device__ __forceinline__ float number_of(const xbc_steps &job, const xbc_step &step,
                                                  int row, int k)
{
    const int in = job.link[0].in;
    const int64_t which = job.order[step.first + row];
    return k < in ? job.x[which * in + k] : job.target[which * job.targets + k - in];
}

static __device__ __forceinline__ float *place_of(const xbc_steps &job, const step_room &r,
                                                  int turn, int row, int k)
{
    const int in = job.link[0].in;
    return k < in ? r.x + (turn * job.batch + row) * job.link[0].inp + k
                  : r.target + (turn * job.batch + row) * job.targets + k - in;
}

/* The rows of the next step, loaded while this one runs: each thread keeps EARLY
 * numbers in registers and loads the rest when it stores them. */
enum { EARLY = 2 };
struct early_rows {
    float value[EARLY];
};

static __device__ __forceinline__ early_rows fetch_rows(const xbc_steps &job,
                                                        const xbc_step &step)
{
    early_rows e = {};
    const int each = job.link[0].in + job.targets, n = job.x ? step.rows * each : 0;
    XB_UNROLLED
    for (int j = 0; j < EARLY; j++) {
        const int i = (int)threadIdx.x + j * STEP_THREADS, row = divided(i, job.by_each);
        if (i < n) e.value[j] = number_of(job, step, row, i - row * each);
    }
    return e;
}

static __device__ __forceinline__ void put_rows(const xbc_steps &job, const step_room &r,
                                                const xbc_step &step, const early_rows &e,
                                                int turn)
{
    const int each = job.link[0].in + job.targets, n = job.x ? step.rows * each : 0;
    XB_UNROLLED
    for (int j = 0; j < EARLY; j++) {
        const int i = (int)threadIdx.x + j * STEP_THREADS, row = divided(i, job.by_each);
        if (i < n) *place_of(job, r, turn, row, i - row * each) = e.value[j];
    }
    for (int i = (int)threadIdx.x + EARLY * STEP_THREADS; i < n; i += STEP_THREADS) {
        const int row = divided(i, job.by_each), k = i - row * each;
        *place_of(job, r, turn, row, k) = number_of(job, step, row, k);
    }
}

/* ---- draws */

/* Calls f(element, value) for the elements of counter c that are below `count`. */
template <class V, class F>
static __device__ __forceinline__ void four_draws(const stream_keys &keys, int c, int count,
                                                  V value, F f)
{
    uint32_t word[4];
    counter_words(word, keys, (uint32_t)c);
    XB_UNROLLED
    for (int j = 0; j < 4; j++) {
        const int i = c / 16 * 64 + c % 16 + 16 * j;
        if (i < count) f(i, value(word[j]));
    }
}

/* Draws for all weights; the counters of all tensors are one run. The last threads
 * take the first counters, because the others may be busy with something else. */
static __device__ __forceinline__ void draw_weights(const xbc_steps &job, float *z,
                                                    stream_keys keys)
{
    for (int i = STEP_THREADS - 1 - (int)threadIdx.x; i < job.counters;
         i += STEP_THREADS) {
        int l = 0, from = 0;
        while (i >= job.link[l].end[1]) from = job.link[l++].end[1];
        const xbc_step_link &k = job.link[l];
        const int b = i >= k.end[0], c = i - (b ? k.end[0] : from);
        const xbc_step_tensor &t = k.tensor[b];
        const int base = k.at + b * k.in * k.outp;
        keys.tensor = t.number;
        four_draws(
            keys, c, b ? k.out : k.in * k.out,
            [&](uint32_t word) {
                return t.random ? value_by(job.source.at->table, job.source.at, word) : 0;
            },
            [&](int e, float value) {
                const int row = divided(e, k.by_out), column = e - row * k.out;
                z[base + row * k.outp + column] = value;
            });
    }
}

/* (N7, N11) What a pass reads of weight `at`: theta or, with `local`, mean and
 * variance. For kernels the transposed copy is written as well. */
template <bool LOCAL>
static __device__ __forceinline__ void put_weight(const xbc_steps &job, const step_room &r,
                                                  int at, float theta, float sigma)
{
    const int turned = turned_place(link_at(job, r.place[at] >> PLACE_TENSOR), at);
    const float variance = sigma * sigma;
    r.w[at] = LOCAL ? variance : theta;
    if (turned < 0) return;
    r.turned[turned] = theta;
    if (LOCAL) r.turned_variance[turned] = variance;
}

/* The same for the first step. */
static __device__ __forceinline__ void put_weights(const xbc_steps &job,
                                                   const step_room &r, const float *z)
{
    for (int i = (int)threadIdx.x; i < job.weights; i += STEP_THREADS)
        if (r.place[i] & PLACE_REAL)
            put_weight<false>(job, r, i, r.mu[i] + r.sigma[i] * z[i], 0);
}

/* (N11) One draw for each unit and row, under the number of the unit's kernel; the
 * draws of all links are one run. */
template <class S>
static __device__ __forceinline__ void draw_units(const xbc_steps &job, const step_room &r,
                                                  const own_copy<S> &own,
                                                  stream_keys keys, int rows)
{
    int l = 0, from = 0, end = (rows * job.link[0].out + 63) / 64 * 16;
    for (int i = (int)threadIdx.x;; i += STEP_THREADS) {
        while (i >= end) {
            if (++l == job.links) return;
            from = end, end += (rows * job.link[l].out + 63) / 64 * 16;
        }
        const xbc_step_link &k = job.link[l];
        float *e = r.e + k.y;
        keys.tensor = k.tensor[0].number;
        four_draws(
            keys, i - from, rows * k.out,
            [&](uint32_t word) { return value_of<S>(own, job.source.at, 1, word); },
            [&](int at, float z) {
                const int row = divided(at, k.by_out);
                e[row * k.outp + at - row * k.out] = z;
            });
    }
}

#endif
