/* device_block.cu: a convolution of 3 x 3 at stride 1, its relu and its maxpool of 2
 * as one operation, forward and backward; maths N2, N3, N6, N18. What lies between
 * them is never in memory: of each window of the pool only the largest value and its
 * place are written.
 *
 * A thread computes a square of four neighbouring outputs of the convolution, for EACH
 * channels, and reads the 4 x 4 inputs that these depend on. The gradient with respect
 * to the input is computed in the same way with the kernel turned around: its inputs
 * are the gradients with respect to the convolution's outputs, which are dy at the
 * stored places and 0 elsewhere. For the gradient with respect to the kernel only the
 * places count: a thread has one output channel and one to four input channels, and
 * goes from window to window. Every sum is a chain of multiply-adds in a fixed order. */
#include <type_traits>

#include "block.cuh"

enum { PATCH = 16 };
enum { BLOCK_THREADS = 128, CHANNELS_AT_ONCE = 32 };

/* ---- patches: 4 x 4 inputs of one channel group, 0 outside */

/* A patch of the convolution's input. */
struct input_patch {
    const float *x; /* [rows][h][w][c] */
    int h, w, c, ph, pw, top, left;

    __device__ __forceinline__ int squares() const { return ph * pw; }
    __device__ __forceinline__ int channels() const { return c; }

    template <int CT>
    __device__ __forceinline__ void load(float to[PATCH][CT], int64_t square, int k) const
    {
        const int64_t row = square / (ph * pw);
        const int at = (int)(square - row * (ph * pw)), py = at / pw, px = at - py * pw;
        const float *image = x + row * h * w * c + k;
        XB_UNROLLED
        for (int i = 0; i < PATCH; i++) {
            const int iy = 2 * py - top + i / 4, ix = 2 * px - left + i % 4;
            const bool in = iy >= 0 && iy < h && ix >= 0 && ix < w;
            const float *from = image + ((int64_t)iy * w + ix) * c;
            if (CT == 4) {
                const float4 v =
                    in ? *(const float4 *)(const void *)from : float4{0, 0, 0, 0};
                to[i][0] = v.x, to[i][1] = v.y, to[i][2] = v.z, to[i][3] = v.w;
            } else {
                XB_UNROLLED
                for (int j = 0; j < CT; j++) to[i][j] = in && k + j < c ? from[j] : 0;
            }
        }
    }
};

/* A patch of the gradient with respect to the convolution's outputs. */
struct gradient_patch {
    const float *dy;      /* [rows][ph][pw][oc] */
    const uint8_t *place; /* the same */
    int h, w, oh, ow, oc, ph, pw, top, left;

    __device__ __forceinline__ int squares() const { return (h + 1) / 2 * ((w + 1) / 2); }
    __device__ __forceinline__ int channels() const { return oc; }

    /* Where the patch begins in the second half of a window, each window is read only
     * once. */
    __device__ __forceinline__ void load_odd(float to[PATCH][4], int64_t base, int y0,
                                             int x0) const
    {
        XB_UNROLLED
        for (int n = 0; n < 9; n++) {
            const int py = (y0 + 1) / 2 - 1 + n / 3, px = (x0 + 1) / 2 - 1 + n % 3;
            const bool in = py >= 0 && py < ph && px >= 0 && px < pw;
            const int64_t from = base + ((int64_t)py * pw + px) * oc;
            float4 d = {0, 0, 0, 0};
            uint32_t where = 0;
            if (in) {
                d = *(const float4 *)(const void *)(dy + from);
                where = *(const uint32_t *)(const void *)(place + from);
            }
            const float v[4] = {d.x, d.y, d.z, d.w};
            XB_UNROLLED
            for (int s = 0; s < SQUARE; s++) {
                const int iy = 2 * (n / 3) - 1 + s / 2, ix = 2 * (n % 3) - 1 + s % 2;
                if (iy < 0 || iy > 3 || ix < 0 || ix > 3) continue;
                XB_UNROLLED
                for (int j = 0; j < 4; j++)
                    to[4 * iy + ix][j] = (where >> 8 * j & 255) == (uint32_t)s ? v[j] : 0;
            }
        }
    }

    template <int CT>
    __device__ __forceinline__ void load(float to[PATCH][CT], int64_t square, int k) const
    {
        const int64_t row = square / squares();
        const int at = (int)(square - row * squares()), wide = (w + 1) / 2;
        const int y0 = at / wide * 2 + top - 2, x0 = at % wide * 2 + left - 2;
        const int64_t base = row * ph * pw * oc + k;
        if (CT == 4 && top % 2 && left % 2) {
            load_odd((float(*)[4])to, base, y0, x0);
            return;
        }
        XB_UNROLLED
        for (int i = 0; i < PATCH; i++) {
            const int cy = y0 + i / 4, cx = x0 + i % 4;
            const bool in = cy >= 0 && cy < oh && cy / 2 < ph && cx >= 0 && cx < ow &&
                            cx / 2 < pw;
            const int mine = cy % 2 * 2 + cx % 2;
            const int64_t from = base + ((int64_t)(cy / 2) * pw + cx / 2) * oc;
            XB_UNROLLED
            for (int j = 0; j < CT; j++)
                to[i][j] =
                    in && k + j < oc && place[from + j] == mine ? dy[from + j] : 0;
        }
    }
};

/* ---- the weights of a block's output channels, CHANNELS_AT_ONCE inputs at a time */

/* w [3][3][c][oc]. `turned`: inputs and outputs are exchanged, and the window is
 * upside down. */
struct kernel_view {
    const float *w;
    int c, oc;
    bool turned;

    __device__ __forceinline__ float at(int tap, int in, int out) const
    {
        if (in >= (turned ? oc : c) || out >= (turned ? c : oc)) return 0;
        return turned ? w[((int64_t)(TAPS - 1 - tap) * c + out) * oc + in]
                      : w[((int64_t)tap * c + in) * oc + out];
    }
};

template <int EACH_OUT>
static __device__ __forceinline__ void load_weights(float *to, const kernel_view &view,
                                                    int first, int count, int out0)
{
    __syncthreads();
    for (int i = (int)threadIdx.x; i < count * TAPS * EACH_OUT; i += BLOCK_THREADS) {
        const int out = i % EACH_OUT, tap = i / EACH_OUT % TAPS, in = i / EACH_OUT / TAPS;
        to[i] = view.at(tap, first + in, out0 + out);
    }
    __syncthreads();
}

/* sum [SQUARE][EACH_OUT] += one input channel's patch times its weights */
template <int EACH_OUT, int CT>
static __device__ __forceinline__ void add_channel(float sum[SQUARE][EACH_OUT],
                                                   const float patch[PATCH][CT], int j,
                                                   const float *w)
{
    XB_UNROLLED
    for (int tap = 0; tap < TAPS; tap++) XB_UNROLLED
    for (int o = 0; o < EACH_OUT; o += 4) {
        const float4 v = *(const float4 *)(const void *)(w + tap * EACH_OUT + o);
        XB_UNROLLED
        for (int s = 0; s < SQUARE; s++) {
            const float x = patch[(s / 2 + tap / 3) * 4 + s % 2 + tap % 3][j];
            sum[s][o] = fmaf(x, v.x, sum[s][o]);
            sum[s][o + 1] = fmaf(x, v.y, sum[s][o + 1]);
            sum[s][o + 2] = fmaf(x, v.z, sum[s][o + 2]);
            sum[s][o + 3] = fmaf(x, v.w, sum[s][o + 3]);
        }
    }
}

/* All inputs of a thread's square. */
template <int EACH_OUT, int CT, class Patch>
static __device__ __forceinline__ void correlate(float sum[SQUARE][EACH_OUT], float *w,
                                                 const Patch &patch,
                                                 const kernel_view &view, int64_t square,
                                                 bool is, int out0)
{
    const int channels = patch.channels();
    for (int first = 0; first < channels; first += CHANNELS_AT_ONCE) {
        const int left = channels - first,
                  count = left < CHANNELS_AT_ONCE ? left : (int)CHANNELS_AT_ONCE;
        load_weights<EACH_OUT>(w, view, first, count, out0);
        for (int k = 0; is && k < count; k += CT) {
            float x[PATCH][CT];
            patch.template load<CT>(x, square, first + k);
            XB_UNROLLED
            for (int j = 0; j < CT; j++)
                add_channel<EACH_OUT, CT>(sum, x, j, w + (k + j) * TAPS * EACH_OUT);
        }
    }
}

/* ---- forward */

template <int EACH_OUT, int CT>
static __global__ void __launch_bounds__(BLOCK_THREADS, EACH_OUT == 16 ? 2 : 3)
    block_forward(const __grid_constant__ xbc_block job)
{
    __shared__ __align__(16) float w[CHANNELS_AT_ONCE * TAPS * EACH_OUT];
    const xbc_window &g = job.conv;
    const input_patch patch = {job.x, g.h, g.w, g.c, job.ph, job.pw, g.top, g.left};
    const kernel_view view = {job.w, g.c, g.oc, false};
    const int64_t square = (int64_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    const bool is = square < job.rows * patch.squares();
    const int out0 = (int)blockIdx.y * EACH_OUT;
    float sum[SQUARE][EACH_OUT] = {};
    correlate<EACH_OUT, CT>(sum, w, patch, view, square, is, out0);
    if (!is) return;
    const int at = (int)(square % patch.squares()), py = at / job.pw, px = at % job.pw;
    const bool right = 2 * px + 1 < g.ow, below = 2 * py + 1 < g.oh;
    XB_UNROLLED
    for (int o = 0; o < EACH_OUT; o++) {
        if (out0 + o >= g.oc) break;
        const float b = job.bias ? job.bias[out0 + o] : 0;
        float best = sum[0][o] + b; /* (N3) the first of equal values wins; a NaN wins
                                       over all numbers */
        int where = 0;
        XB_UNROLLED
        for (int s = 1; s < SQUARE; s++) {
            const bool in = (s % 2 == 0 || right) && (s / 2 == 0 || below);
            const float v = sum[s][o] + b;
            if (in && !(v <= best) && best == best) best = v, where = s;
        }
        const int64_t to = square * g.oc + out0 + o;
        if (job.place) job.place[to] = (uint8_t)(best <= 0 ? NOWHERE : where);
        job.y[to] = best <= 0 ? 0 : best;
    }
}

/* ---- backward: the gradient with respect to the input */

template <int EACH_OUT, int CT>
static __global__ void __launch_bounds__(BLOCK_THREADS, 2)
    block_input(const __grid_constant__ xbc_block job)
{
    __shared__ __align__(16) float w[CHANNELS_AT_ONCE * TAPS * EACH_OUT];
    const xbc_window &g = job.conv;
    const gradient_patch patch = {job.dy, job.place, g.h,    g.w,   g.oh,  g.ow,
                                  g.oc,   job.ph,    job.pw, g.top, g.left};
    const kernel_view view = {job.w, g.c, g.oc, true};
    const int64_t square = (int64_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    const bool is = square < job.rows * patch.squares();
    const int out0 = (int)blockIdx.y * EACH_OUT;
    float sum[SQUARE][EACH_OUT] = {};
    correlate<EACH_OUT, CT>(sum, w, patch, view, square, is, out0);
    if (!is) return;
    const int64_t row = square / patch.squares();
    const int at = (int)(square - row * patch.squares()), wide = (g.w + 1) / 2;
    XB_UNROLLED
    for (int s = 0; s < SQUARE; s++) {
        const int y = at / wide * 2 + s / 2, x = at % wide * 2 + s % 2;
        if (y >= g.h || x >= g.w) continue;
        float *to = job.dx + ((row * g.h + y) * g.w + x) * g.c + out0;
        XB_UNROLLED
        for (int o = 0; o < EACH_OUT; o++)
            if (out0 + o < g.c) to[o] = sum[s][o];
    }
}

/* ---- backward: the gradient with respect to the kernel */

/* The threads of a block: one for each of `items` pairs of an output channel and CT
 * inputs, and as many such sets side by side as there is room for, each with its own
 * windows. */
enum { WEIGHT_THREADS = 256 };

struct weight_place {
    int oc, c0, across, lane, lanes;
    bool is;

    template <int CT> __device__ __forceinline__ static weight_place of(const xbc_window &g)
    {
        const int items = g.oc * ((g.c + CT - 1) / CT);
        const int across = items < WEIGHT_THREADS ? items : (int)WEIGHT_THREADS;
        const int item = (int)(blockIdx.y * WEIGHT_THREADS + threadIdx.x % across);
        weight_place p;
        p.across = across;
        p.oc = item % g.oc, p.c0 = item / g.oc * CT;
        p.lanes = WEIGHT_THREADS / across;
        p.lane = (int)threadIdx.x / across;
        p.is = item < items && p.lane < p.lanes;
        return p;
    }
};

template <int CT>
static __device__ __forceinline__ void add_window(float sum[TAPS][CT], const xbc_block &job,
                                                  const weight_place &p, int64_t window,
                                                  float d, int where)
{
    const xbc_window &g = job.conv;
    const int64_t row = window / (job.ph * job.pw);
    const int at = (int)(window - row * (job.ph * job.pw));
    const int y0 = at / job.pw * 2 + where / 2 - g.top,
              x0 = at % job.pw * 2 + where % 2 - g.left;
    const float *image = job.x + row * g.h * g.w * g.c + p.c0;
    bool row_in[3], column_in[3];
    XB_UNROLLED
    for (int i = 0; i < 3; i++) {
        row_in[i] = y0 + i >= 0 && y0 + i < g.h;
        column_in[i] = x0 + i >= 0 && x0 + i < g.w;
    }
    const float *corner = image + ((int64_t)y0 * g.w + x0) * g.c;
    XB_UNROLLED
    for (int tap = 0; tap < TAPS; tap++) {
        const bool in = row_in[tap / 3] && column_in[tap % 3];
        const float *from = corner + (tap / 3 * g.w + tap % 3) * g.c;
        if (CT == 4) {
            const float4 v = in ? *(const float4 *)(const void *)from : float4{0, 0, 0, 0};
            sum[tap][0] = fmaf(d, v.x, sum[tap][0]);
            sum[tap][1 % CT] = fmaf(d, v.y, sum[tap][1 % CT]);
            sum[tap][2 % CT] = fmaf(d, v.z, sum[tap][2 % CT]);
            sum[tap][3 % CT] = fmaf(d, v.w, sum[tap][3 % CT]);
        } else {
            XB_UNROLLED
            for (int j = 0; j < CT; j++)
                sum[tap][j] = fmaf(d, in ? from[j] : 0, sum[tap][j]);
        }
    }
}

/* The sum over a block's lanes of one number, in their order, for lane 0. */
static __device__ __forceinline__ float lane_sum(float *room, const weight_place &p,
                                                 float value)
{
    __syncthreads();
    room[threadIdx.x] = value;
    __syncthreads();
    if (p.lane > 0 || !p.is) return 0;
    for (int l = 1; l < p.lanes; l++) value += room[(int)threadIdx.x + l * p.across];
    return value;
}

template <int CT>
static __global__ void __launch_bounds__(WEIGHT_THREADS, 3)
    block_weight(const __grid_constant__ xbc_block job, int64_t slices)
{
    __shared__ float room[WEIGHT_THREADS];
    const xbc_window &g = job.conv;
    const weight_place p = weight_place::of<CT>(g);
    const int64_t windows = job.rows * job.ph * job.pw;
    const int64_t begin = blockIdx.x * windows / slices,
                  end = (blockIdx.x + 1) * windows / slices;
    float sum[TAPS][CT] = {}, bias = 0;
    for (int64_t i = begin + p.lane; p.is && i < end; i += p.lanes) {
        const int where = job.place[i * g.oc + p.oc];
        const float d = where == NOWHERE ? 0 : job.dy[i * g.oc + p.oc];
        add_window<CT>(sum, job, p, i, d, where % NOWHERE);
        bias += d;
    }
    float *dw = job.dw + blockIdx.x * (int64_t)(TAPS * g.c * g.oc + (job.bias ? g.oc : 0));
    XB_UNROLLED
    for (int tap = 0; tap < TAPS; tap++) XB_UNROLLED
    for (int j = 0; j < CT; j++) {
        const float all = lane_sum(room, p, sum[tap][j]);
        if (p.is && p.lane == 0 && p.c0 + j < g.c)
            dw[((int64_t)tap * g.c + p.c0 + j) * g.oc + p.oc] = all;
    }
    const float all = lane_sum(room, p, bias);
    if (job.bias && p.is && p.lane == 0 && p.c0 == 0)
        dw[(int64_t)TAPS * g.c * g.oc + p.oc] = all;
}

/* ---- launches */

template <int N> using constant = std::integral_constant<int, N>;

/* Calls f(output channels of a thread, input channels at a time): four inputs if they
 * are neighbours in memory, and fewer outputs if there would be too few threads
 * otherwise. */
template <class F> static void for_sizes(int inputs, int64_t squares, int outputs, F f)
{
    const int64_t wave = 384 * (int64_t)xbc_processors(); /* threads that run at once */
    const int each = outputs >= 16 && squares * up(outputs, 16) >= wave  ? 16
                     : outputs > 4 && squares * up(outputs, 8) >= wave ? 8
                                                                         : 4;
    if (inputs % 4 == 0 && each == 16)
        f(constant<16>(), constant<4>());
    else if (inputs % 4 == 0 && each == 8)
        f(constant<8>(), constant<4>());
    else if (inputs % 4 == 0)
        f(constant<4>(), constant<4>());
    else if (each == 16)
        f(constant<16>(), constant<1>());
    else
        f(constant<4>(), constant<1>());
}

void xbc_block_forward(const xbc_block *job)
{
    const xbc_window &g = job->conv;
    const int64_t squares = job->rows * job->ph * job->pw;
    if (xbc_tensor_block_forward(job)) return;
    for_sizes(g.c, squares, g.oc, [&](auto each, auto ct) {
        constexpr int EACH_OUT = decltype(each)::value, CT = decltype(ct)::value;
        const dim3 blocks((unsigned)up(squares, BLOCK_THREADS),
                          (unsigned)up(g.oc, EACH_OUT));
        XBC_LAUNCH("convolving", (block_forward<EACH_OUT, CT>), blocks, BLOCK_THREADS,
                   *job);
    });
}

void xbc_block_input(const xbc_block *job)
{
    const xbc_window &g = job->conv;
    const int64_t squares = job->rows * ((g.h + 1) / 2) * ((g.w + 1) / 2);
    if (xbc_tensor_block_input(job)) return;
    for_sizes(g.oc, squares, g.c, [&](auto each, auto ct) {
        constexpr int EACH_OUT = decltype(each)::value, CT = decltype(ct)::value;
        const dim3 blocks((unsigned)up(squares, BLOCK_THREADS), (unsigned)up(g.c, EACH_OUT));
        XBC_LAUNCH("convolving backwards", (block_input<EACH_OUT, CT>), blocks,
                   BLOCK_THREADS, *job);
    });
}

/* As many slices as keep the device busy and fit into memory; if threads are few, each
 * slice has fewer windows. */
int64_t xbc_block_slices(const xbc_block *job)
{
    const int64_t LEAST = 16, ENOUGH = 64, MOST = 1056, FLOATS = 1 << 23;
    const int64_t n = (int64_t)TAPS * job->conv.c * job->conv.oc + job->conv.oc;
    const int64_t windows = job->rows * job->ph * job->pw,
                  across = up(n / TAPS / 4 + 1, WEIGHT_THREADS);
    int64_t slices = up(windows, ENOUGH), filled = 2 * xbc_processors() / across;
    if (slices < filled) slices = filled < up(windows, LEAST) ? filled : up(windows, LEAST);
    slices = slices < MOST ? slices : MOST;
    slices = slices < FLOATS / n ? slices : FLOATS / n;
    return slices > 1 ? slices : 1;
}

template <int CT> static void launch_weight(const xbc_block *job, int64_t slices)
{
    const int64_t items = job->conv.oc * up(job->conv.c, CT);
    XBC_LAUNCH("finding gradients", block_weight<CT>,
               dim3((unsigned)slices, (unsigned)up(items, WEIGHT_THREADS)), WEIGHT_THREADS,
               *job, slices);
}

void xbc_block_weight(const xbc_block *job)
{
    if (job->conv.c % 4 == 0)
        launch_weight<4>(job, xbc_block_slices(job));
    else if (job->conv.c == 3)
        launch_weight<3>(job, xbc_block_slices(job));
    else
        launch_weight<1>(job, xbc_block_slices(job));
}
