/* device_many.cu: a small net of dense layers under many draws of its weights. This
 * takes two launches: one for all draws of all weights, then one with a thread for
 * each row and draw. For narrow nets it is one launch, in which a block draws the
 * weights that it uses; maths N1, N6, N7. Every output is one chain of multiply-adds
 * in the order of the inputs. The bias is added last, as in the layers' own kernels
 * (device_product.cu), but first in narrow nets. */
#include "activation.cuh"
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

/* ---- narrow nets: a thread's rows stay in registers from layer to layer */

/* Layers have up to W outputs, and a thread has R rows. A block has one draw, whose
 * weights it keeps in shared memory: for each link [in + 1][W], with the bias as the
 * last row and 0 beyond the last output. All threads of a warp read the same four
 * weights at once. */
enum { NARROW_THREADS = 128, NARROW_FLOATS = 4 << 10 };
enum { NARROW_BLOCKS = 5 }; /* on a multiprocessor at once */

template <int W, int R> struct narrow_rows {
    float value[R][W];
};

/* Where a link's weights begin, in rows of W. */
static __device__ __forceinline__ int rows_before(const xbc_many &job, int link)
{
    int rows = 0;
    for (int i = 0; i < link; i++) rows += job.link[i].in + 1;
    return rows;
}

/* sum [r] += x [r] times a row of weights */
template <int W, int R>
static __device__ __forceinline__ void add_input(float sum[R][W], const float x[R],
                                                 const float *w)
{
    XB_UNROLLED
    for (int o = 0; o < W; o += 4) {
        const float4 v = *(const float4 *)(const void *)(w + o);
        XB_UNROLLED
        for (int r = 0; r < R; r++) {
            sum[r][o] = fmaf(x[r], v.x, sum[r][o]);
            sum[r][o + 1] = fmaf(x[r], v.y, sum[r][o + 1]);
            sum[r][o + 2] = fmaf(x[r], v.z, sum[r][o + 2]);
            sum[r][o + 3] = fmaf(x[r], v.w, sum[r][o + 3]);
        }
    }
}

/* Sums begin with the bias, or with 0 if there is none. */
template <int W, int R>
static __device__ __forceinline__ void begin_sums(float sum[R][W], const float *bias)
{
    XB_UNROLLED
    for (int o = 0; o < W; o += 4) {
        const float4 v = *(const float4 *)(const void *)(bias + o);
        XB_UNROLLED
        for (int r = 0; r < R; r++)
            sum[r][o] = v.x, sum[r][o + 1] = v.y, sum[r][o + 2] = v.z, sum[r][o + 3] = v.w;
    }
}

template <xbc_act ACT, int W, int R>
static __device__ __forceinline__ void finish_as(narrow_rows<W, R> *to,
                                                 const float sum[R][W])
{
    XB_UNROLLED
    for (int o = 0; o < W; o++) XB_UNROLLED
    for (int r = 0; r < R; r++)
        to->value[r][o] =
            ACT == XBC_ELU ? quick_elu(sum[r][o]) : activated(sum[r][o], ACT);
}

/* applies the activation; values beyond the last output are never read */
template <int W, int R>
static __device__ __forceinline__ void finish(narrow_rows<W, R> *to, const float sum[R][W],
                                              const xbc_link &l)
{
    switch (l.act) {
    case XBC_ELU: finish_as<XBC_ELU, W, R>(to, sum); break;
    case XBC_RELU: finish_as<XBC_RELU, W, R>(to, sum); break;
    case XBC_TANH: finish_as<XBC_TANH, W, R>(to, sum); break;
    case XBC_SIGMOID: finish_as<XBC_SIGMOID, W, R>(to, sum); break;
    default: finish_as<XBC_NONE, W, R>(to, sum); break;
    }
}

/* A thread's rows are NARROW_THREADS apart; rows beyond the last one repeat it. */
static __device__ __forceinline__ int64_t row_of(const xbc_many &job, int64_t first, int r)
{
    const int64_t row = first + r * NARROW_THREADS + threadIdx.x;
    return row < job.rows ? row : job.rows - 1;
}

template <int W, int R>
static __device__ __forceinline__ void first_link(narrow_rows<W, R> *to, const float *w,
                                                  const xbc_many &job, int64_t first)
{
    const xbc_link &l = job.link[0];
    float sum[R][W];
    begin_sums<W, R>(sum, w + l.in * W);
    for (int k = 0; k < l.in; k++) {
        float x[R];
        XB_UNROLLED
        for (int r = 0; r < R; r++) x[r] = job.x[row_of(job, first, r) * l.in + k];
        add_input<W, R>(sum, x, w + k * W);
    }
    finish<W, R>(to, sum, l);
}

/* One layer with IN inputs. A number that is known at compile time needs no branches,
 * so that weights are read ahead; 0: the number is that of the link. */
template <int W, int R, int IN>
static __device__ __forceinline__ void middle_link(narrow_rows<W, R> *rows, const float *w,
                                                   const xbc_link &l)
{
    float sum[R][W];
    begin_sums<W, R>(sum, w + (IN ? IN : l.in) * W);
    XB_UNROLLED
    for (int k = 0; k < W; k++) {
        if (k >= (IN ? IN : l.in)) break;
        float x[R];
        XB_UNROLLED
        for (int r = 0; r < R; r++) x[r] = rows->value[r][k];
        add_input<W, R>(sum, x, w + k * W);
    }
    finish<W, R>(rows, sum, l);
}

/* The net's outputs, one after the other. */
template <int W, int R, int IN>
static __device__ __forceinline__ void last_link(const xbc_many &job,
                                                 const narrow_rows<W, R> &rows,
                                                 const float *w, const xbc_link &l,
                                                 int64_t first)
{
    const int in = IN ? IN : l.in;
    for (int o = 0; o < l.out; o++) {
        float sum[R];
        XB_UNROLLED
        for (int r = 0; r < R; r++) sum[r] = w[in * W + o];
        XB_UNROLLED
        for (int k = 0; k < W; k++) {
            if (k >= in) break;
            XB_UNROLLED
            for (int r = 0; r < R; r++)
                sum[r] = fmaf(rows.value[r][k], w[k * W + o], sum[r]);
        }
        XB_UNROLLED
        for (int r = 0; r < R; r++) {
            const int64_t row = first + r * NARROW_THREADS + threadIdx.x;
            if (row < job.rows)
                job.y[(blockIdx.x * job.rows + row) * l.out + o] = activated(sum[r], l.act);
        }
    }
}

/* One counter of the kernel or, b = 1, the bias of a link. */
template <int W>
static __device__ __forceinline__ void draw_into(float *w, const xbc_many &job,
                                                 const xbc_link &l, int b,
                                                 const xbc_tensor &k,
                                                 const stream_keys &keys, int c, float turn)
{
    const uint32_t by = ~0u / (uint32_t)l.out + 1;
    const xb_draw_source *d = job.source.at; /* so few draws read the table where it is */
    uint32_t word[4];
    counter_words(word, keys, (uint32_t)c);
    XB_UNROLLED
    for (int j = 0; j < 4; j++) {
        const int e = c / 16 * 64 + c % 16 + 16 * j;
        if (e >= k.size) continue;
        const int line = divided(e, by); /* e / l.out */
        const int row = b ? l.in : line, column = b ? e : e - line * l.out;
        const float mu = job.mu[k.offset + e];
        w[row * W + column] =
            k.stochastic ? mu + job.sigma[k.offset + e] *
                                    (turn * value_by(d->table, d, word[j]))
                         : mu;
    }
}

/* The weights of the block's draw; the counters of all tensors are one run. */
template <int W>
static __device__ __forceinline__ void draw_links(float *w, const xbc_many &job,
                                                  stream_keys keys,
                                                  int counters)
{
    const uint32_t sample = keys.sample + blockIdx.x;
    const float turn = job.antithetic && sample % 2 ? -1.0f : 1.0f;
    keys.sample = job.antithetic ? sample & ~1u : sample;
    for (int i = (int)threadIdx.x; i < counters; i += NARROW_THREADS) {
        int c = i, tensor = 0, link = 0, b = 0, n;
        while (c >= (n = (int)(job.tensor[tensor].size + 63) / 64 * 16)) {
            c -= n, tensor++;
            if (b++ == job.link[link].bias) b = 0, link++;
        }
        keys.tensor = job.tensor[tensor].number;
        draw_into<W>(w + rows_before(job, link) * W, job, job.link[link], b,
                        job.tensor[tensor], keys, c, turn);
    }
}

/* blockIdx.x: the draw; blockIdx.y: which of the parts of the rows. */
template <int W, int R>
static __global__ void __launch_bounds__(NARROW_THREADS, NARROW_BLOCKS)
    narrow_net(const __grid_constant__ xbc_many job, const __grid_constant__ stream_keys keys,
               int floats, int counters)
{
    __shared__ __align__(16) float w[NARROW_FLOATS];
    for (int i = (int)threadIdx.x; i < floats; i += NARROW_THREADS) w[i] = 0;
    __syncthreads();
    draw_links<W>(w, job, keys, counters);
    __syncthreads();
    const int64_t each = R * NARROW_THREADS, last = job.links - 1;
    for (int64_t first = blockIdx.y * each; first < job.rows; first += gridDim.y * each) {
        narrow_rows<W, R> rows;
        const float *at = w;
        first_link<W, R>(&rows, at, job, first);
        for (int i = 1; i < last; i++) {
            at += (job.link[i - 1].in + 1) * W;
            if (job.link[i].in == W)
                middle_link<W, R, W>(&rows, at, job.link[i]);
            else
                middle_link<W, R, 0>(&rows, at, job.link[i]);
        }
        at += (job.link[last - 1].in + 1) * W;
        if (job.link[last].in == W)
            last_link<W, R, W>(job, rows, at, job.link[last], first);
        else
            last_link<W, R, 0>(job, rows, at, job.link[last], first);
    }
}

/* The floats of the weights in shared memory if layers have at most `width` outputs; 0 if
 * the net does not suit: a wider layer, a single layer, or too many floats. A link's
 * tensors lie one after the other. */
static int narrow_floats(const xbc_many *job, int width)
{
    int rows = 0, tensors = 0;
    for (int i = 0; i < job->links; i++) {
        if (job->link[i].out > width) return 0;
        rows += job->link[i].in + 1;
        tensors += 1 + job->link[i].bias;
    }
    const bool fits = job->links > 1 && tensors == job->tensors && rows <= NARROW_FLOATS;
    return fits && rows * width <= NARROW_FLOATS ? rows * width : 0;
}

static int64_t counters_of(const xbc_many *job)
{
    int64_t sum = 0;
    for (int t = 0; t < job->tensors; t++) sum += (job->tensor[t].size + 63) / 64 * 16;
    return sum;
}

/* If there are too few draws to keep the device busy, several blocks share a draw's
 * rows. */
template <int W, int R> static void launch_narrow(const xbc_many &job)
{
    const int64_t each = R * NARROW_THREADS, most = (job.rows + each - 1) / each;
    const int64_t wanted = 8 * (int64_t)xbc_processors() / job.count;
    const int64_t parts = wanted < 1 ? 1 : wanted < most ? wanted : most;
    XBC_LAUNCH("predicting", (narrow_net<W, R>),
               dim3((unsigned)job.count, (unsigned)parts), NARROW_THREADS, job,
               keys_of(job.where), narrow_floats(&job, W), (int)counters_of(&job));
}

/* With two rows a thread reads each weight once for both. */
static bool launch_as_narrow(const xbc_many &job)
{
    const bool narrow = narrow_floats(&job, 16) > 0, middling = narrow_floats(&job, 32) > 0;
    if (narrow)
        launch_narrow<16, 2>(job);
    else if (middling)
        launch_narrow<32, 1>(job);
    return narrow || middling;
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
        if (launch_as_narrow(some)) continue;
        const stream_keys keys = keys_of(some.where);
        const int64_t wave = 4 * (int64_t)xbc_processors();
        const unsigned blocks = (unsigned)(some.count < wave ? some.count : wave);
        for_shape(job->source, [&](auto shape) {
            XBC_LAUNCH("drawing", draw_samples<decltype(shape)>, blocks, THREADS, some, keys,
                       counters_of(job));
        });
        launch_rows(some);
    }
}
