/* device_predict.cu: a narrow net of dense layers under many draws of its weights, in one
 * launch; maths N1, N6, N7.
 *
 * A block draws the weights of one draw into shared memory, and its warps take 32 rows at
 * a time through the net. A warp's sums stay where the tensor cores leave them: a thread
 * has rows g and g + 8 of 16, and outputs 2q and 2q + 1 of every eight. These are also
 * the places in which the tensor cores expect the next layer's inputs, if input 2q is
 * called number q and input 2q + 1 number q + 4 of a step of eight. So rows go from layer
 * to layer without being moved. The first layer, whose inputs come from memory, and a
 * single output are chains of multiply-adds. Sums begin with the bias. */
#include "activation.cuh"
#include "predict.cuh"
#include "table.cuh"
#include "tensor.cuh"

enum { WARPS = 4, MANY = 32 * WARPS };               /* warps and threads of a block */
enum { PIECES = 2, ROWS = 16 * PIECES };             /* fragments and rows of a warp */
enum { BYTES_MOST = 40 << 10, ROWS_MOST = 1 << 30 }; /* of weights, of a job */

/* ---- weights in shared memory. Layers have up to W outputs; what lies beyond the last
 * input or output is 0 */

enum form { INPUTS, TURNED, SINGLE };

/* INPUTS, the first layer: [input][W], and the bias as one input more. TURNED: for each
 * step of 8 inputs and each 8 outputs a thread's four numbers, two weights' first parts,
 * then their second ones; then the bias, a thread's four numbers for each 8 outputs.
 * SINGLE, a last layer of one output: [W], and the bias. */
static __host__ __device__ form form_of(const xbc_many &job, int link)
{
    return link == 0                                          ? INPUTS
           : link == job.links - 1 && job.link[link].out == 1 ? SINGLE
                                                              : TURNED;
}

template <int W> static __host__ __device__ int floats_of(const xbc_many &job, int link)
{
    switch (form_of(job, link)) {
    case INPUTS: return (job.link[link].in + 1) * W;
    case TURNED: return 2 * W * W + 2 * W;
    default: return W + 4; /* a multiple of four */
    }
}

/* Where the first part of a weight is; its second part is two numbers further on. */
template <int W> static __device__ __forceinline__ int turned_place(int in, int out)
{
    const int thread = out % 8 * 4 + in % 8 / 2, step = in / 8 * (W / 8) + out / 8;
    return (step * 32 + thread) * 4 + in % 2;
}

/* Where a bias is; it is there twice, for a thread's two rows. */
template <int W> static __device__ __forceinline__ int bias_place(int out)
{
    return 2 * W * W + out / 2 * 4 + out % 2;
}

/* Stores the weight of an input and output or, input = l.in, the bias of an output. */
template <int W>
static __device__ __forceinline__ void put_weight(float *w, form f, const xbc_link &l,
                                                  int in, int out, float value)
{
    if (f == INPUTS) {
        w[in * W + out] = value;
    } else if (f == SINGLE) {
        w[in < l.in ? in : W] = value;
    } else if (in == l.in) {
        w[bias_place<W>(out)] = w[bias_place<W>(out) + 2] = value;
    } else {
        const float hi = tf32_part(value);
        float *to = w + turned_place<W>(in, out);
        to[0] = hi, to[2] = value - hi;
    }
}

/* One counter of the kernel or, b = 1, the bias of a link. */
template <int W>
static __device__ __forceinline__ void draw_into(float *w, const xbc_many &job, int link,
                                                 int b, const xbc_tensor &k,
                                                 const stream_keys &keys, int c,
                                                 float turn)
{
    const xbc_link &l = job.link[link];
    const form f = form_of(job, link);
    const uint32_t by = ~0u / (uint32_t)l.out + 1;
    const xb_draw_source *d = job.source.at; /* so few draws read the table where it is */
    uint32_t word[4];
    counter_words(word, keys, (uint32_t)c);
    XB_UNROLLED
    for (int j = 0; j < 4; j++) {
        const int e = c / 16 * 64 + c % 16 + 16 * j;
        if (e >= k.size) continue;
        const int line = divided(e, by); /* e / l.out */
        const float mu = job.mu[k.offset + e];
        const float value =
            k.stochastic
                ? mu + job.sigma[k.offset + e] * (turn * value_by(d->table, d, word[j]))
                : mu;
        put_weight<W>(w, f, l, b ? l.in : line, b ? e : e - line * l.out, value);
    }
}

/* The weights of the block's draw; the counters of all tensors are one run. */
template <int W>
static __device__ __forceinline__ void draw_links(float *w, const xbc_many &job,
                                                  stream_keys keys, int counters)
{
    const uint32_t sample = keys.sample + blockIdx.x;
    const float turn = job.antithetic && sample % 2 ? -1.0f : 1.0f;
    keys.sample = job.antithetic ? sample & ~1u : sample;
    for (int i = (int)threadIdx.x; i < counters; i += MANY) {
        int c = i, tensor = 0, link = 0, b = 0, at = 0, n;
        while (c >= (n = (int)(job.tensor[tensor].size + 63) / 64 * 16)) {
            c -= n, tensor++;
            if (b++ == job.link[link].bias) b = 0, at += floats_of<W>(job, link++);
        }
        keys.tensor = job.tensor[tensor].number;
        draw_into<W>(w + at, job, link, b, job.tensor[tensor], keys, c, turn);
    }
}

/* ---- a warp's rows */

/* Number i of a sum is row g + 8 (i / 2) and output 2q + i % 2. */
template <int W> struct warp_sums {
    float value[PIECES][W / 8][4];
};

/* The layer's results, as the next layer reads them: number i is row g + 8 (i % 2) and
 * output 2q + i / 2. */
template <int W> struct warp_rows {
    float value[PIECES][W / 8][4];
};

static __device__ __forceinline__ int lane_of(void) { return (int)threadIdx.x % 32; }

static __device__ __forceinline__ float2 two_at(const float *p)
{
    return *(const float2 *)(const void *)p;
}
static __device__ __forceinline__ float4 four_at(const float *p)
{
    return *(const float4 *)(const void *)p;
}

template <xbc_act ACT, int W>
static __device__ __forceinline__ void finish_as(warp_rows<W> *rows,
                                                 const warp_sums<W> &sum)
{
    XB_UNROLLED
    for (int t = 0; t < W / 8; t++) XB_UNROLLED
    for (int p = 0; p < PIECES; p++) XB_UNROLLED
    for (int i = 0; i < 4; i++) {
        const float v = sum.value[p][t][i];
        rows->value[p][t][i / 2 + i % 2 * 2] =
            ACT == XBC_ELU ? quick_elu(v) : activated(v, ACT);
    }
}

template <int W>
static __device__ __forceinline__ void finish(warp_rows<W> *rows, const warp_sums<W> &sum,
                                              xbc_act act)
{
    if (act == XBC_ELU)
        finish_as<XBC_ELU, W>(rows, sum);
    else if (act == XBC_RELU)
        finish_as<XBC_RELU, W>(rows, sum);
    else if (act == XBC_TANH)
        finish_as<XBC_TANH, W>(rows, sum);
    else if (act == XBC_SIGMOID)
        finish_as<XBC_SIGMOID, W>(rows, sum);
    else
        finish_as<XBC_NONE, W>(rows, sum);
}

/* Adds input k to the sums or, with the first input, begins them with the bias. */
template <bool FIRST, int W>
static __device__ __forceinline__ void add_input(warp_sums<W> *sum, const float *w,
                                                 const float *bias,
                                                 const float *const (&row)[PIECES][2],
                                                 int k)
{
    float x[PIECES][2];
    XB_UNROLLED
    for (int p = 0; p < PIECES; p++) XB_UNROLLED
    for (int h = 0; h < 2; h++) x[p][h] = row[p][h][k];
    XB_UNROLLED
    for (int t = 0; t < W / 8; t++) {
        const int at = 8 * t + lane_of() % 4 * 2;
        const float2 v = two_at(w + k * W + at),
                     b = FIRST ? two_at(bias + at) : float2{0, 0};
        XB_UNROLLED
        for (int p = 0; p < PIECES; p++) XB_UNROLLED
        for (int i = 0; i < 4; i++) {
            float *s = &sum->value[p][t][i];
            *s = fmaf(x[p][i / 2], i % 2 ? v.y : v.x, FIRST ? i % 2 ? b.y : b.x : *s);
        }
    }
}

/* Rows beyond the last one repeat it. */
template <int W>
static __device__ __forceinline__ void first_link(warp_rows<W> *rows, const float *w,
                                                  const xbc_many &job, int first)
{
    const int in = job.link[0].in, last = (int)job.rows - 1;
    const float *row[PIECES][2];
    XB_UNROLLED
    for (int p = 0; p < PIECES; p++) XB_UNROLLED
    for (int h = 0; h < 2; h++) {
        const int n = first + 16 * p + 8 * h + lane_of() / 4;
        row[p][h] = job.x + (int64_t)(n < last ? n : last) * in;
    }
    warp_sums<W> sum;
    add_input<true, W>(&sum, w, w + in * W, row, 0);
#pragma unroll 1 /* often there is one input */
    for (int k = 1; k < in; k++) add_input<false, W>(&sum, w, NULL, row, k);
    finish<W>(rows, sum, job.link[0].act);
}

/* Adds the products of the two parts of x and w; the small ones are added first. */
template <int W>
static __device__ __forceinline__ void turned_link(warp_rows<W> *rows, const float *w,
                                                   xbc_act act)
{
    warp_sums<W> sum;
    XB_UNROLLED
    for (int t = 0; t < W / 8; t++) {
        const float4 b = four_at(w + bias_place<W>(8 * t + lane_of() % 4 * 2));
        XB_UNROLLED
        for (int p = 0; p < PIECES; p++) {
            float *s = sum.value[p][t];
            s[0] = b.x, s[1] = b.y, s[2] = b.z, s[3] = b.w;
        }
    }
    XB_UNROLLED
    for (int step = 0; step < W / 8; step++) {
        float lo[PIECES][4];
        XB_UNROLLED
        for (int p = 0; p < PIECES; p++) XB_UNROLLED
        for (int i = 0; i < 4; i++) {
            const float x = rows->value[p][step][i];
            lo[p][i] = x - tf32_part(x);
        }
        XB_UNROLLED
        for (int t = 0; t < W / 8; t++) {
            const float4 v = four_at(w + ((step * (W / 8) + t) * 32 + lane_of()) * 4);
            const float w_hi[2] = {v.x, v.y}, w_lo[2] = {v.z, v.w};
            XB_UNROLLED
            for (int p = 0; p < PIECES; p++) {
                float *s = sum.value[p][t];
                const float *hi = rows->value[p][step]; /* its lower bits do not count */
                warp_mma_tf32(s, lo[p], w_hi);
                warp_mma_tf32(s, hi, w_lo);
                warp_mma_tf32(s, hi, w_hi);
            }
        }
    }
    finish<W>(rows, sum, act);
}

/* ---- outputs */

/* The sums over four neighbouring threads of their four numbers; thread q gets that of
 * number q. */
static __device__ __forceinline__ float sum_over_four(const float v[4], int q)
{
    const bool odd = q % 2, upper = q / 2;
    const float a = (odd ? v[1] : v[0]) + __shfl_xor_sync(~0u, odd ? v[0] : v[1], 1),
                b = (odd ? v[3] : v[2]) + __shfl_xor_sync(~0u, odd ? v[2] : v[3], 1);
    return (upper ? b : a) + __shfl_xor_sync(~0u, upper ? a : b, 2);
}

/* `to`: the draw's outputs. */
template <int W>
static __device__ __forceinline__ void single_link(float *to, const xbc_many &job,
                                                   const warp_rows<W> &rows,
                                                   const float *w, xbc_act act, int first)
{
    const int q = lane_of() % 4;
    float sum[2 * PIECES] = {};
    XB_UNROLLED
    for (int t = 0; t < W / 8; t++) {
        const float2 v = two_at(w + 8 * t + 2 * q);
        XB_UNROLLED
        for (int r = 0; r < 2 * PIECES; r++) {
            const float *x = rows.value[r / 2][t] + r % 2;
            sum[r] = fmaf(x[2], v.y, fmaf(x[0], v.x, sum[r]));
        }
    }
    const int row = first + 8 * q + lane_of() / 4;
    const float y = sum_over_four(sum, q) + w[W];
    if (row < (int)job.rows) to[row] = act == XBC_NONE ? y : activated(y, act);
}

template <int W>
static __device__ __forceinline__ void put_rows(float *to, const xbc_many &job,
                                                const warp_rows<W> &rows, int out,
                                                int first)
{
    XB_UNROLLED
    for (int p = 0; p < PIECES; p++) XB_UNROLLED
    for (int t = 0; t < W / 8; t++) XB_UNROLLED
    for (int i = 0; i < 4; i++) {
        const int row = first + 16 * p + i % 2 * 8 + lane_of() / 4,
                  o = 8 * t + lane_of() % 4 * 2 + i / 2;
        if (row < (int)job.rows && o < out)
            to[(int64_t)row * out + o] = rows.value[p][t][i];
    }
}

template <int W>
static __device__ __forceinline__ void take_rows(float *to, const xbc_many &job,
                                                 const float *w, int first)
{
    const int last = job.links - 1;
    const bool single = job.link[last].out == 1;
    warp_rows<W> rows;
    first_link<W>(&rows, w, job, first);
    w += (job.link[0].in + 1) * W;
    for (int i = 1; i < last + !single; i++, w += 2 * W * W + 2 * W)
        turned_link<W>(&rows, w, job.link[i].act);
    if (single)
        single_link<W>(to, job, rows, w, job.link[last].act, first);
    else
        put_rows<W>(to, job, rows, job.link[last].out, first);
}

/* blockIdx.x: the draw; blockIdx.y: which of the parts of the rows. */
template <int W>
static __global__ void __launch_bounds__(MANY, W > 16 ? 2 : 8)
    narrow_net(const __grid_constant__ xbc_many job,
               const __grid_constant__ stream_keys keys, int floats, int counters)
{
    XBC_DYNAMIC(w);
    for (int i = (int)threadIdx.x; i < floats; i += MANY) w[i] = 0;
    __syncthreads();
    draw_links<W>(w, job, keys, counters);
    __syncthreads();
    const int warp = (int)threadIdx.x / 32, every = (int)gridDim.y * WARPS * ROWS;
    float *to = job.y + blockIdx.x * job.rows * job.link[job.links - 1].out;
    for (int first = ((int)blockIdx.y * WARPS + warp) * ROWS; first < job.rows;
         first += every)
        take_rows<W>(to, job, w, first);
}

/* ---- the host's side */

/* The floats of the weights in shared memory if layers have at most W outputs; 0 if the
 * job does not suit: a wider layer, a single layer, too many floats or rows. A link's
 * tensors lie one after the other. */
template <int W> static int narrow_floats(const xbc_many &job)
{
    int64_t floats = 0;
    int tensors = 0;
    if (job.rows > ROWS_MOST) return 0;
    for (int i = 0; i < job.links; i++) {
        if (job.link[i].out > W || job.link[i].in > BYTES_MOST) return 0;
        floats += floats_of<W>(job, i);
        tensors += 1 + job.link[i].bias;
    }
    const bool fits = floats * (int64_t)sizeof(float) <= BYTES_MOST;
    return job.links > 1 && tensors == job.tensors && fits ? (int)floats : 0;
}

/* If there are too few draws to keep the device busy, several blocks share a draw's
 * rows. */
template <int W> static void launch_narrow(const xbc_many &job, int floats)
{
    const int64_t each = WARPS * ROWS, most = (job.rows + each - 1) / each;
    const int64_t wanted = 8 * (int64_t)xbc_processors() / job.count;
    const int64_t parts = wanted < 1 ? 1 : wanted < most ? wanted : most;
    if (!xbc_sound()) return;
    XBC_START_ON((narrow_net<W>), dim3((unsigned)job.count, (unsigned)parts), MANY,
                 (size_t)floats * sizeof(float), 0, job, keys_of(job.where), floats,
                 (int)counters_of(job));
    xbc_good(cudaGetLastError(), "predicting");
}

bool xbc_predict_narrow(const xbc_many *job)
{
    const int narrow = narrow_floats<16>(*job), middling = narrow_floats<32>(*job);
    if (narrow)
        launch_narrow<16>(*job, narrow);
    else if (middling)
        launch_narrow<32>(*job, middling);
    return narrow || middling;
}
