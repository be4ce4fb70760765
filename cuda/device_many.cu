/* device_many.cu: a small net of dense layers under many draws of its weights; maths
 * N1, N6, N7. This takes two launches: one for all draws of all weights, then one with a
 * thread for each row and draw. Every output is one chain of multiply-adds in the order
 * of the inputs, and the bias is added last, as in the layers' own kernels
 * (device_product.cu). Narrow nets need one launch (device_predict.cu). */
#include "activation.cuh"
#include "predict.cuh"
#include "table.cuh"

enum { ROWS = 128, TOGETHER = 8 }; /* rows of a block; outputs computed together */

/* One counter of a tensor: four weights. */
template <class S>
static __device__ __forceinline__ void draw_counter(float *theta, const xbc_many &job,
                                                    const own_copy<S> &own,
                                                    const stream_keys &keys,
                                                    const xbc_tensor &k, uint32_t c,
                                                    float turn)
{
    uint32_t word[4];
    counter_words(word, keys, c);
    XB_UNROLLED
    for (int j = 0; j < 4; j++) {
        const int64_t e = c / 16 * 64 + c % 16 + 16 * j, at = k.offset + e;
        if (e >= k.size) continue;
        const float mu = job.mu[at];
        theta[at] =
            k.stochastic
                ? mu + job.sigma[at] *
                           (turn * value_of<S>(own, job.source.at, 1, word[j]))
                : mu;
    }
}

/* Blocks take draws in strides of the grid; the counters of all tensors are one run. */
template <class S>
static __global__ void __launch_bounds__(THREADS)
    draw_samples(const __grid_constant__ xbc_many job, stream_keys keys, int64_t counters)
{
    __shared__ __align__(16) float table[S::floats];
    table_load<S>(table, job.source.at, 1);
    const own_copy<S> own(table);
    const uint32_t first = keys.sample;
    for (int64_t d = blockIdx.x; d < job.count; d += gridDim.x) {
        const uint32_t sample = first + (uint32_t)d;
        const float turn = job.antithetic && sample % 2 ? -1.0f : 1.0f;
        keys.sample = job.antithetic ? sample & ~1u : sample;
        for (int64_t i = threadIdx.x; i < counters; i += THREADS) {
            int64_t c = i;
            int t = 0;
            for (; c >= (job.tensor[t].size + 63) / 64 * 16; t++)
                c -= (job.tensor[t].size + 63) / 64 * 16;
            keys.tensor = job.tensor[t].number;
            draw_counter<S>(job.theta + d * job.params, job, own, keys, job.tensor[t],
                            (uint32_t)c, turn);
        }
    }
}

/* One row through one layer. */
static __device__ __forceinline__ void one_link(float *to, const float *from,
                                                const float *w, const xbc_link &l)
{
    for (int o = 0; o < l.out; o += TOGETHER) {
        float sum[TOGETHER] = {};
        for (int k = 0; k < l.in; k++) XB_UNROLLED
        for (int j = 0; j < TOGETHER; j++)
            if (o + j < l.out) sum[j] = fmaf(from[k], w[k * l.out + o + j], sum[j]);
        XB_UNROLLED
        for (int j = 0; j < TOGETHER; j++)
            if (o + j < l.out) {
                float v = l.bias ? sum[j] + w[l.in * l.out + o + j] : sum[j];
                to[o + j] = activated(v, l.act);
            }
    }
}

static __global__ void __launch_bounds__(ROWS)
    many_rows(const __grid_constant__ xbc_many job)
{
    float room[2][XBC_WIDEST];
    const int64_t row = (int64_t)blockIdx.x * ROWS + threadIdx.x, draw = blockIdx.y;
    if (row >= job.rows) return;
    const float *theta = job.theta + draw * job.params;
    const float *from = job.x + row * job.link[0].in;
    for (int i = 0; i < job.links; i++) {
        const xbc_link &l = job.link[i];
        bool last = i + 1 == job.links;
        float *to = last ? job.y + (draw * job.rows + row) * l.out : room[i % 2];
        one_link(to, from, theta + l.offset, l);
        from = to;
    }
}

static void launch_rows(const xbc_many &job)
{
    XBC_LAUNCH("predicting", many_rows,
               dim3((unsigned)((job.rows + ROWS - 1) / ROWS), (unsigned)job.count), ROWS, job);
}

void xbc_many_draws(const xbc_many *job)
{
    const int64_t SOME = 1 << 15; /* the number of draws of one launch */
    for (int64_t first = 0; first < job->count; first += SOME) {
        xbc_many some = *job;
        some.count = job->count - first < SOME ? job->count - first : SOME;
        some.where.sample += (uint32_t)first;
        some.theta += first * job->params;
        some.y += first * job->rows * job->link[job->links - 1].out;
        if (xbc_predict_narrow(&some)) continue;
        const stream_keys keys = keys_of(some.where);
        const int64_t wave = 4 * (int64_t)xbc_processors();
        const unsigned blocks = (unsigned)(some.count < wave ? some.count : wave);
        for_shape(job->source, [&](auto shape) {
            XBC_LAUNCH("drawing", draw_samples<decltype(shape)>, blocks, THREADS, some, keys,
                       counters_of(*job));
        });
        launch_rows(some);
    }
}
