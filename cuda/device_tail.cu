/* device_tail.cu: small dense layers at the end of a net, each with a batchnorm and an
 * activation after it or without, as one kernel if there is no backward pass; maths N1,
 * N4, N6. Every output is one chain of multiply-adds in the order of the inputs, and the
 * bias is added last, as in device_product.cu. A block of threads has some rows, and a
 * thread an output of each layer. */
#include "activation.cuh"

enum { TAIL_THREADS = 128, TAIL_ROWS = 4, TAIL_INPUTS = 1024 };
enum { TAIL_WEIGHTS = 1 << 16, AHEAD = 16 }; /* in all; read ahead by a thread */

static __device__ __forceinline__ void add_product(float sum[TAIL_ROWS], float w,
                                                   const float4 &x)
{
    sum[0] = fmaf(x.x, w, sum[0]), sum[1] = fmaf(x.y, w, sum[1]);
    sum[2] = fmaf(x.z, w, sum[2]), sum[3] = fmaf(x.w, w, sum[3]);
}

/* One output of all rows, from the inputs x [in]. */
static __device__ __forceinline__ void dense_output(float sum[TAIL_ROWS], const float4 *x,
                                                    const xbc_tail_link &l, int out)
{
    const float *w = l.w + out;
    int k = 0;
    for (; k + AHEAD <= l.in; k += AHEAD) {
        float some[AHEAD];
        XB_UNROLLED
        for (int j = 0; j < AHEAD; j++) some[j] = w[(k + j) * l.out];
        XB_UNROLLED
        for (int j = 0; j < AHEAD; j++) add_product(sum, some[j], x[k + j]);
    }
    for (; k < l.in; k++) add_product(sum, w[k * l.out], x[k]);
}

/* (N4, N6) What becomes of the sum of an output. */
static __device__ __forceinline__ float end_of(const xbc_tail_link &l, float sum, int out)
{
    float v = l.bias ? sum + l.bias[out] : sum;
    if (l.after.scale) {
        const double variance = (double)l.after.variance[out] + l.after.epsilon;
        const float gain = l.after.scale[out] * (float)(1 / sqrt(variance));
        v = (v - l.after.mean[out]) * gain + l.after.shift[out];
    }
    return activated(v, l.act);
}

static __global__ void __launch_bounds__(TAIL_THREADS)
    tail_forward(const __grid_constant__ xbc_tail job)
{
    __shared__ float4 room[2][TAIL_INPUTS]; /* numbers of all rows */
    const int64_t row = (int64_t)blockIdx.x * TAIL_ROWS;
    const int in = job.link[0].in, out = (int)threadIdx.x;
    for (int i = out; i < in * TAIL_ROWS; i += TAIL_THREADS) {
        const bool is = row + i / in < job.rows;
        ((float *)&room[0][i % in])[i / in] = is ? job.x[row * in + i] : 0;
    }
    __syncthreads();
    for (int k = 0; k < job.links; k++) {
        const xbc_tail_link &l = job.link[k];
        float sum[TAIL_ROWS] = {};
        if (out < l.out) {
            dense_output(sum, room[k % 2], l, out);
            XB_UNROLLED
            for (int r = 0; r < TAIL_ROWS; r++) {
                sum[r] = end_of(l, sum[r], out);
                if (k + 1 == job.links && row + r < job.rows)
                    job.y[(row + r) * l.out + out] = sum[r];
            }
            room[(k + 1) % 2][out] = float4{sum[0], sum[1], sum[2], sum[3]};
        }
        __syncthreads();
    }
}

bool xbc_tail_suits(const xbc_tail *job)
{
    int64_t weights = 0;
    for (int k = 0; k < job->links; k++) {
        const xbc_tail_link &l = job->link[k];
        if (l.in > TAIL_INPUTS || l.out > XBC_WIDEST) return false;
        weights += (int64_t)l.in * l.out;
    }
    return weights <= TAIL_WEIGHTS;
}

void xbc_tail_forward(const xbc_tail *job)
{
    XBC_LAUNCH("multiplying", tail_forward,
               (unsigned)((job->rows + TAIL_ROWS - 1) / TAIL_ROWS), TAIL_THREADS, *job);
}
