/* device_many.cu: a small net of dense layers under many draws of its weights, in two
 * launches: all draws of all weights, then a thread for each row and draw; maths N1, N6,
 * N7. Every output is one chain of multiply-adds in the order of the inputs, as layer by
 * layer (device_product.cu). */
#include "activation.cuh"
#include "table.cuh"

enum { ROWS = 128, TOGETHER = 8 }; /* rows of a block, outputs found together */

/* A block has one draw: counter by counter, tensor by tensor. */
template <class S>
static __global__ void __launch_bounds__(THREADS)
    draw_samples(const __grid_constant__ xbc_many job, stream_keys keys)
{
    __shared__ __align__(16) float table[S::floats];
    const uint32_t sample = keys.sample + blockIdx.x;
    const float turn = job.antithetic && sample % 2 ? -1.0f : 1.0f;
    float *theta = job.theta + blockIdx.x * job.params;
    table_load<S>(table, job.source.at, turn);
    const own_copy<S> own(table);
    keys.sample = job.antithetic ? sample & ~1u : sample;
    for (int t = 0; t < job.tensors; t++) {
        const xbc_tensor &k = job.tensor[t];
        keys.tensor = k.number;
        for (uint32_t c = threadIdx.x; c < (uint32_t)((k.size + 63) / 64 * 16);
             c += THREADS) {
            uint32_t word[4];
            counter_words(word, keys, c);
            XB_UNROLLED
            for (int j = 0; j < 4; j++) {
                int64_t e = c / 16 * 64 + c % 16 + 16 * j, at = k.offset + e;
                if (e >= k.size) continue;
                float mu = job.mu[at];
                theta[at] = k.stochastic
                                ? mu + job.sigma[at] * value_of<S>(own, job.source.at,
                                                                   turn, word[j])
                                : mu;
            }
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

void xbc_many_draws(const xbc_many *job)
{
    const int64_t SOME = 1 << 15; /* draws of one launch */
    for (int64_t first = 0; first < job->count; first += SOME) {
        xbc_many some = *job;
        some.count = job->count - first < SOME ? job->count - first : SOME;
        some.where.sample += (uint32_t)first;
        some.theta += first * job->params;
        some.y += first * job->rows * job->link[job->links - 1].out;
        const stream_keys keys = keys_of(some.where);
        for_shape(job->source, [&](auto shape) {
            XBC_LAUNCH("drawing", draw_samples<decltype(shape)>, (unsigned)some.count,
                       THREADS, some, keys);
        });
        XBC_LAUNCH("predicting", many_rows,
                   dim3((unsigned)((job->rows + ROWS - 1) / ROWS), (unsigned)some.count),
                   ROWS, some);
    }
}
