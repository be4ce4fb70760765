/* steps.cuh: where a net that trains inside one block keeps its numbers, and how they
 * come and go; see device_steps.cu.
 *
 * Rows of kernels and of activations are whole quads: [in][outp], outp the outputs rounded
 * up to four, 0 beyond the last. A link's bias is one more row of its kernel. Kernels are
 * there a second time turned, [outp][inp], for the way back. */
#ifndef XBC_STEPS_CUH
#define XBC_STEPS_CUH

#include "activation.cuh"
#include "table.cuh"

enum { STEP_THREADS = 512, STEP_LANES = 32 };

/* What a place among the weights is; beyond the rows' ends nothing. */
enum { PLACE_REAL = 1, PLACE_MOVES = 2, PLACE_RANDOM = 4, PLACE_TENSOR = 3 /* bits */ };

/* Arrays of the job's room, in its order. */
struct step_room {
    float *mu, *rho, *sigma;         /* [weights] */
    float *first, *second;           /* [2][weights]: of mu, of rho */
    float *w, *z;                    /* [weights]: theta and its draws; local: sigma^2, - */
    float *turned, *turned_variance; /* [turned] */
    float *part;                     /* [slices][2][weights]: gradients */
    double *row_sum;                 /* [outputs][batch] */
    float *x, *target;               /* [2][batch][inp], [2][batch][targets]: this step's
                                        and the next one's; labels as they are */
    float *y, *e;                    /* [units]: of all links */
    float *gradient;                 /* [2][batch][widest] */
    uint8_t *place;                  /* [weights] */
};

/* Every array begins at a quad. */
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
    r.z = at, at += w;
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

/* Floats of all that, for the host. */
static inline int64_t room_floats(const xbc_steps *job)
{
    const int64_t w = job->weights;
    return whole_quads(2 * job->sums_each * job->batch) +
           whole_quads(2 * job->batch * job->targets) +
           2 * (int64_t)job->batch * (job->link[0].inp + job->widest) + 9 * w +
           2 * (int64_t)job->turned + 2 * w * job->slices + 2 * (int64_t)job->units +
           (w + 3) / 4;
}

/* ---- parameters in and out */

/* f(place among the weights, number among the parameters, tensor 2 l or 2 l + 1) for this
 * thread's share of the real ones; a link's parameters are its kernel, then its bias. */
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

/* The other place of a kernel's weight. */
static __device__ __forceinline__ int turned_place(const xbc_step_link &k, int at)
{
    const int i = at - k.at, row = i / k.outp, column = i % k.outp;
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

/* Its rows, for the step after this one: they arrive while it runs. */
static __device__ __forceinline__ void gather(const xbc_steps &job, const step_room &r,
                                              const xbc_step &step, int turn)
{
    const int in = job.link[0].in, inp = job.link[0].inp, targets = job.targets;
    if (!job.x) return;
    float *x = r.x + turn * job.batch * inp, *to = r.target + turn * job.batch * targets;
    for (int i = (int)threadIdx.x; i < step.rows * (in + targets); i += STEP_THREADS) {
        const int row = i / (in + targets), k = i % (in + targets);
        const int64_t which = job.order[step.first + row];
        if (k < in)
            x[row * inp + k] = job.x[which * in + k];
        else
            to[row * targets + k - in] = job.target[which * targets + k - in];
    }
}

/* ---- draws */

/* A value of any law, its table in memory: weights are few. */
static __device__ __forceinline__ float value_by(const xb_draw_source *d, uint32_t word)
{
    const xb_draw_table &t = d->table;
    float r;
    const uint32_t column =
        (uint32_t)xb_table_column(&r, word, t.columns, t.halves) - XB_CELL_BIAS;
    const float *coef = t.row[t.columns == XB_COLUMNS_WIDE ? column : 2 * column];
    float y = coef[t.degree];
    for (int j = t.degree - 1; j >= 0; j--) y = xb_fused(y, r, coef[j]);
    const float z = xb_table_signed(y, word);
    return z == z ? z : slow_value(d, word);
}

/* f(element, value) for this thread's share of the first `count` of a stream. */
template <class V, class F>
static __device__ __forceinline__ void each_draw(const stream_keys &keys, int count,
                                                 V value, F f)
{
    const int counters = (count + 63) / 64 * 16;
    for (int c = (int)threadIdx.x; c < counters; c += STEP_THREADS) {
        uint32_t word[4];
        counter_words(word, keys, (uint32_t)c);
        XB_UNROLLED
        for (int j = 0; j < 4; j++) {
            const int i = c / 16 * 64 + c % 16 + 16 * j;
            if (i < count) f(i, value(word[j]));
        }
    }
}

/* (N7) theta of all weights, and the kernels of it turned. */
static __device__ __forceinline__ void draw_weights(const xbc_steps &job,
                                                    const step_room &r, stream_keys keys)
{
    for (int l = 0; l < job.links; l++) {
        const xbc_step_link &k = job.link[l];
        for (int b = 0; b <= k.bias; b++) {
            const xbc_step_tensor &t = k.tensor[b];
            const int base = k.at + b * k.in * k.outp, rows = b ? 1 : k.in;
            keys.tensor = t.number;
            const auto put = [&](int i, float z) {
                const int at = base + i / k.out * k.outp + i % k.out;
                const int turned = turned_place(k, at);
                r.z[at] = z;
                r.w[at] = r.mu[at] + r.sigma[at] * z;
                if (turned >= 0) r.turned[turned] = r.w[at];
            };
            if (t.random)
                each_draw(
                    keys, rows * k.out,
                    [&](uint32_t word) { return value_by(job.source.at, word); }, put);
            else
                for (int i = (int)threadIdx.x; i < rows * k.out; i += STEP_THREADS)
                    put(i, 0);
        }
    }
}

/* (N11) One for each unit and row, under the number of the unit's kernel. */
template <class S>
static __device__ __forceinline__ void draw_units(const xbc_steps &job, const step_room &r,
                                                  const own_copy<S> &own,
                                                  stream_keys keys, int rows)
{
    for (int l = 0; l < job.links; l++) {
        const xbc_step_link &k = job.link[l];
        const bool whole = k.out == k.outp;
        float *e = r.e + k.y;
        keys.tensor = k.tensor[0].number;
        each_draw(
            keys, rows * k.out,
            [&](uint32_t word) { return value_of<S>(own, job.source.at, 1, word); },
            [&](int i, float z) {
                e[whole ? i : i / k.out * k.outp + i % k.out] = z;
            });
    }
}

#endif
