/* device_block_tensor.cu: the kernels of block.cuh on tensor cores; maths N2, N3, N6,
 * N18. tensor.cuh has the arithmetic and its error.
 *
 * A block of threads has a tile of 16 x 16 outputs of the convolution, which are 8 x 8
 * windows of the pool, and the 18 x 18 inputs that they depend on, each split into two
 * numbers of bf16, 16 channels at a time. A warp has two rows of eight windows: the
 * fragment rows g and g + 8 are two places of window g, and those of the next fragment
 * are the other two, so that one thread has all four places of a window and can pool
 * them alone. A tap is one step of 16 inputs; with three input channels a step is a
 * row of taps: four pixels of four channels, where the fourth pixel and the fourth
 * channel have weights of 0. The gradient with respect to the input is computed in the
 * same way with the kernel turned around and, as input, dy at the stored places. */
#include "block.cuh"
#include "tensor.cuh"

enum { TILE_THREADS = 128, TILE_WARPS = TILE_THREADS / 32 };
enum { PATCH = 18, WINDOWS = 8, WINDOW_ROWS = 2 }; /* windows of a row, rows of a warp */
enum { PIECES = 2 * WINDOW_ROWS };                 /* fragments of 16 pixels of a warp */

/* Words of a pixel in shared memory: pairs of channels, and padding so that pixels two
 * apart are in different banks. Three channels need two words, and each row one more
 * pixel. */
template <bool THREE> struct tile_shape {
    static const int words = THREE ? 2 : 10, across = THREE ? PATCH + 1 : (int)PATCH;
    static const int steps = THREE ? 3 : (int)TAPS; /* of 16 inputs each */
};

template <bool THREE> struct tile_inputs {
    uint32_t part[2][PATCH * tile_shape<THREE>::across * tile_shape<THREE>::words];
};

/* A tile's place: its image, its first pixel, the outputs of its threads. */
struct tile_place {
    int64_t row;
    int y0, x0, out0;

    __device__ __forceinline__ tile_place(int tiles_y, int tiles_x, int out)
    {
        const int64_t each = (int64_t)tiles_y * tiles_x;
        row = blockIdx.x / each;
        const int at = (int)(blockIdx.x - row * each);
        y0 = at / tiles_x * 2 * WINDOWS, x0 = at % tiles_x * 2 * WINDOWS, out0 = out;
    }
};

static __device__ __forceinline__ void put_quad(uint32_t *part, int lo, int at, float4 v)
{
    const split_pair a(v.x, v.y), b(v.z, v.w);
    part[at] = a.hi, part[at + 1] = b.hi;
    part[lo + at] = a.lo, part[lo + at + 1] = b.lo;
}

/* ---- inputs of a tile */

/* Calls put(i, load(i)) for each i of a thread. */
template <class Load, class Put>
static __device__ __forceinline__ void each_load(int count, Load load, Put put)
{
    for (int i = (int)threadIdx.x; i < count; i += TILE_THREADS) put(i, load(i));
}

static __device__ __forceinline__ float4 quad_at(const float *from)
{
    return *(const float4 *)(const void *)from;
}

/* (N4) What batchnorm makes of four channels. */
struct tile_norm {
    float4 mean, gain, shift;

    __device__ __forceinline__ tile_norm(const xbc_block &job, int k)
    {
        mean = gain = shift = float4{0, 0, 0, 0};
        if (!job.mean) return;
        mean = {job.mean[k], job.mean[k + 1], job.mean[k + 2], job.mean[k + 3]};
        gain = {job.gain[k], job.gain[k + 1], job.gain[k + 2], job.gain[k + 3]};
        shift = {job.shift[k], job.shift[k + 1], job.shift[k + 2], job.shift[k + 3]};
    }
    __device__ __forceinline__ float4 of(float4 v) const
    {
        return float4{(v.x - mean.x) * gain.x + shift.x, (v.y - mean.y) * gain.y + shift.y,
                      (v.z - mean.z) * gain.z + shift.z, (v.w - mean.w) * gain.w + shift.w};
    }
};

/* 16 channels from k on, 0 outside the image. */
static __device__ __forceinline__ void load_inputs(tile_inputs<false> *to,
                                                   const xbc_block &job,
                                                   const tile_place &here, int k)
{
    const xbc_window &g = job.conv;
    const int words = tile_shape<false>::words, lo = PATCH * PATCH * words;
    const int quad = (int)threadIdx.x % 4 * 4; /* TILE_THREADS is a multiple of 4 */
    const float *image = job.x + here.row * g.h * g.w * g.c + k + quad;
    const tile_norm norm(job, k + quad);
    const auto load = [&](int i) {
        const int y = here.y0 - g.top + i / 4 / PATCH, x = here.x0 - g.left + i / 4 % PATCH;
        if (y < 0 || y >= g.h || x < 0 || x >= g.w) return float4{0, 0, 0, 0};
        const float4 v = quad_at(image + ((int64_t)y * g.w + x) * g.c);
        return job.mean ? norm.of(v) : v;
    };
    each_load(PATCH * PATCH * 4, load, [&](int i, float4 v) {
        put_quad(to->part[0], lo, i / 4 * words + quad / 2, v);
    });
}

/* All three channels. */
static __device__ __forceinline__ void load_inputs(tile_inputs<true> *to,
                                                   const xbc_block &job,
                                                   const tile_place &here, int)
{
    const xbc_window &g = job.conv;
    const float *image = job.x + here.row * g.h * g.w * g.c;
    const int across = tile_shape<true>::across, lo = PATCH * across * 2;
    const auto load = [&](int i) {
        const int y = here.y0 - g.top + i / across, x = here.x0 - g.left + i % across;
        if (y < 0 || y >= g.h || x < 0 || x >= g.w || i % across >= PATCH)
            return float4{0, 0, 0, 0};
        const float *from = image + ((int64_t)y * g.w + x) * 3;
        return float4{from[0], from[1], from[2], 0};
    };
    each_load(PATCH * across, load,
              [&](int i, float4 v) { put_quad(to->part[0], lo, i * 2, v); });
}

/* A window's gradients of four channels, and their places, a byte each. */
struct window_quad {
    float4 d;
    uint32_t where;

    __device__ __forceinline__ float4 at(uint32_t place) const
    {
        return float4{(where & 255) == place ? d.x : 0, (where >> 8 & 255) == place ? d.y : 0,
                      (where >> 16 & 255) == place ? d.z : 0, where >> 24 == place ? d.w : 0};
    }
};

/* The gradient with respect to the convolution's outputs, 16 channels from k on; each
 * window that the tile touches is read once. */
static __device__ __forceinline__ void load_gradients(tile_inputs<false> *to,
                                                      const xbc_block &job,
                                                      const tile_place &here, int k)
{
    enum { ACROSS = PATCH / 2 + 1 };
    const xbc_window &g = job.conv;
    const int words = tile_shape<false>::words, lo = PATCH * PATCH * words;
    const int quad = (int)threadIdx.x % 4 * 4;
    const int cy = here.y0 + g.top - 2, cx = here.x0 + g.left - 2;
    const int py0 = (cy + 2) / 2 - 1, px0 = (cx + 2) / 2 - 1; /* rounded down */
    const auto load = [&](int i) {
        const int py = py0 + i / 4 / ACROSS, px = px0 + i / 4 % ACROSS;
        if (py < 0 || py >= job.ph || px < 0 || px >= job.pw)
            return window_quad{{0, 0, 0, 0}, 0};
        const int64_t from = ((here.row * job.ph + py) * job.pw + px) * g.oc + k + quad;
        return window_quad{quad_at(job.dy + from),
                           *(const uint32_t *)(const void *)(job.place + from)};
    };
    each_load(ACROSS * ACROSS * 4, load, [&](int i, const window_quad &v) {
        XB_UNROLLED
        for (int s = 0; s < SQUARE; s++) {
            const int y = 2 * (py0 + i / 4 / ACROSS) + s / 2 - cy,
                      x = 2 * (px0 + i / 4 % ACROSS) + s % 2 - cx;
            if (y >= 0 && y < PATCH && x >= 0 && x < PATCH)
                put_quad(to->part[0], lo, (y * PATCH + x) * words + quad / 2,
                         v.at((uint32_t)s));
        }
    });
}

/* ---- weights */

/* w [3][3][c][oc]. `turned`: the inputs are the oc channels, and the window is upside
 * down. */
struct tile_kernel {
    const float *w;
    int c, oc;
    bool turned;

    __device__ __forceinline__ float at(int tap, int in, int out) const
    {
        return turned ? w[((int64_t)(TAPS - 1 - tap) * c + out) * oc + in]
                      : w[((int64_t)tap * c + in) * oc + out];
    }
};

/* Input i of a step's 16 from channel k on. */
template <bool THREE>
static __device__ __forceinline__ float step_weight(const tile_kernel &w, int step, int i,
                                                    int k, int out)
{
    if (!THREE) return w.at(step, k + i, out);
    return i / 4 < 3 && i % 4 < 3 ? w.at(3 * step + i / 4, i % 4, out) : 0;
}

/* In the order in which threads read them: hi of two pairs, then lo of two pairs. */
template <int NT, bool THREE>
static __device__ __forceinline__ void load_weights(uint4 *to, const tile_kernel &w, int k,
                                                    int out0)
{
    const int lane = (int)threadIdx.x % 32, q = 2 * (lane % 4);
    const auto load = [&](int i) {
        const int out = out0 + i / 32 % NT * 8 + lane / 4, step = i / 32 / NT;
        return float4{step_weight<THREE>(w, step, q, k, out),
                      step_weight<THREE>(w, step, q + 1, k, out),
                      step_weight<THREE>(w, step, q + 8, k, out),
                      step_weight<THREE>(w, step, q + 9, k, out)};
    };
    each_load(tile_shape<THREE>::steps * NT * 32, load, [&](int i, float4 v) {
        const split_pair a(v.x, v.y), b(v.z, v.w);
        to[i] = uint4{a.hi, b.hi, a.lo, b.lo};
    });
}

/* ---- products */

/* sum += inputs times weights, over the steps of the tile. */
template <int NT, bool THREE>
static __device__ __forceinline__ void multiply_tile(float sum[PIECES][NT][4],
                                                     const tile_inputs<THREE> &in,
                                                     const uint4 *weights)
{
    typedef tile_shape<THREE> shape;
    const int lane = (int)threadIdx.x % 32, g = lane / 4, q = lane % 4,
              warp = (int)threadIdx.x / 32;
    const int from = (2 * WINDOW_ROWS * warp * shape::across + 2 * g) * shape::words + q;
    const uint32_t *row = in.part[0] + from;
    const int other = (int)(sizeof in.part[0] / sizeof in.part[0][0]);
#pragma unroll 1 /* registers */
    for (int y = 0; y < 3; y++, row += shape::across * shape::words) XB_UNROLLED
    for (int x = 0; x < shape::steps / 3; x++) {
        uint32_t hi[NT][2], lo[NT][2];
        XB_UNROLLED
        for (int t = 0; t < NT; t++) {
            const uint4 w = weights[((y * (shape::steps / 3) + x) * NT + t) * 32 + lane];
            hi[t][0] = w.x, hi[t][1] = w.y, lo[t][0] = w.z, lo[t][1] = w.w;
        }
        XB_UNROLLED
        for (int p = 0; p < PIECES; p++) {
            uint32_t left[2][4];
            XB_UNROLLED
            for (int h = 0; h < 2; h++) {
                const uint32_t *at =
                    row + h * other + (p * shape::across + x) * shape::words;
                left[h][0] = at[0], left[h][1] = at[shape::words];
                left[h][2] = at[4], left[h][3] = at[shape::words + 4];
            }
            XB_UNROLLED
            for (int t = 0; t < NT; t++) warp_mma(sum[p][t], left[1], hi[t]);
            XB_UNROLLED
            for (int t = 0; t < NT; t++) warp_mma(sum[p][t], left[0], lo[t]);
            XB_UNROLLED
            for (int t = 0; t < NT; t++) warp_mma(sum[p][t], left[0], hi[t]);
        }
    }
}

/* ---- forward */

/* (N3) The first of equal values wins; a NaN wins over all numbers. */
static __device__ __forceinline__ float best_of(const float v[SQUARE], bool right,
                                                bool below, int *where)
{
    float best = v[0];
    *where = 0;
    XB_UNROLLED
    for (int s = 1; s < SQUARE; s++) {
        const bool in = (s % 2 == 0 || right) && (s / 2 == 0 || below);
        if (in && !(v[s] <= best) && best == best) best = v[s], *where = s;
    }
    if (!(best <= 0)) return best;
    *where = NOWHERE;
    return 0;
}

/* Two neighbouring channels of a thread's window. */
static __device__ __forceinline__ void put_window(const xbc_block &job, int64_t row, int py,
                                                  int px, int out, const float first[4],
                                                  const float second[4])
{
    const xbc_window &g = job.conv;
    const bool right = 2 * px + 1 < g.ow, below = 2 * py + 1 < g.oh;
    const int64_t to = ((row * job.ph + py) * job.pw + px) * g.oc + out;
    XB_UNROLLED
    for (int j = 0; j < 2; j++) {
        const float b = job.bias ? job.bias[out + j] : 0;
        const float sum[SQUARE] = {first[j], first[j + 2], second[j], second[j + 2]};
        if (!job.place) {
            job.y[to + j] = largest_of(sum, right, below, b);
            continue;
        }
        const float v[SQUARE] = {sum[0] + b, sum[1] + b, sum[2] + b, sum[3] + b};
        int where;
        job.y[to + j] = best_of(v, right, below, &where);
        job.place[to + j] = (uint8_t)where;
    }
}

template <int NT, bool THREE>
static __global__ void __launch_bounds__(TILE_THREADS, NT == 4 ? 4 : THREE ? 7 : 5)
    tile_forward(const __grid_constant__ xbc_block job, int tiles_y, int tiles_x)
{
    __shared__ __align__(16) tile_inputs<THREE> in;
    __shared__ __align__(16) uint4 weights[tile_shape<THREE>::steps * NT * 32];
    const xbc_window &g = job.conv;
    const tile_place here(tiles_y, tiles_x, (int)blockIdx.y * NT * 8);
    const tile_kernel w = {job.w, g.c, g.oc, false};
    float sum[PIECES][NT][4] = {};
    for (int k = 0; k < g.c; k += STEP) {
        __syncthreads();
        load_inputs(&in, job, here, k);
        load_weights<NT, THREE>(weights, w, k, here.out0);
        __syncthreads();
        multiply_tile<NT, THREE>(sum, in, weights);
    }
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int px = here.x0 / 2 + lane / 4;
    XB_UNROLLED
    for (int r = 0; r < WINDOW_ROWS; r++) {
        const int py = here.y0 / 2 + WINDOW_ROWS * warp + r;
        if (py >= job.ph || px >= job.pw) continue;
        XB_UNROLLED
        for (int t = 0; t < NT; t++)
            put_window(job, here.row, py, px, here.out0 + 8 * t + lane % 4 * 2,
                       sum[2 * r][t], sum[2 * r + 1][t]);
    }
}

/* ---- backward: the gradient with respect to the input */

template <int NT>
static __global__ void __launch_bounds__(TILE_THREADS, NT == 4 ? 4 : 5)
    tile_input(const __grid_constant__ xbc_block job, int tiles_y, int tiles_x)
{
    __shared__ __align__(16) tile_inputs<false> in;
    __shared__ __align__(16) uint4 weights[TAPS * NT * 32];
    const xbc_window &g = job.conv;
    const tile_place here(tiles_y, tiles_x, (int)blockIdx.y * NT * 8);
    const tile_kernel w = {job.w, g.c, g.oc, true};
    float sum[PIECES][NT][4] = {};
    for (int k = 0; k < g.oc; k += STEP) {
        __syncthreads();
        load_gradients(&in, job, here, k);
        load_weights<NT, false>(weights, w, k, here.out0);
        __syncthreads();
        multiply_tile<NT, false>(sum, in, weights);
    }
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    XB_UNROLLED
    for (int p = 0; p < PIECES; p++) {
        const int y = here.y0 + 2 * WINDOW_ROWS * warp + p;
        XB_UNROLLED
        for (int i = 0; i < 2; i++) {
            const int x = here.x0 + 2 * (lane / 4) + i;
            if (y >= g.h || x >= g.w) continue;
            float *to = job.dx + ((here.row * g.h + y) * g.w + x) * g.c + here.out0 +
                        lane % 4 * 2;
            XB_UNROLLED
            for (int t = 0; t < NT; t++)
                to[8 * t] = sum[p][t][2 * i], to[8 * t + 1] = sum[p][t][2 * i + 1];
        }
    }
}

/* ---- launches */

/* The same limit as for other products (device_product.cu): smaller ones are chains of
 * multiply-adds. */
static bool enough_work(const xbc_block *job)
{
    const xbc_window &g = job->conv;
    return job->rows * g.oh * g.ow * TAPS * g.c * g.oc >= 1 << 18;
}

/* The number of tiles of all images, for rows x columns pixels each. */
struct tile_count {
    int y, x;
    int64_t all;

    tile_count(int64_t rows, int h, int w)
    {
        y = (int)up(h, 2 * WINDOWS), x = (int)up(w, 2 * WINDOWS), all = rows * y * x;
    }
    bool fits() const { return all <= INT32_MAX; }
};

template <bool THREE> static void launch_forward(const xbc_block *job, const tile_count &n)
{
    const int oc = job->conv.oc;
    if (oc % 32 == 0)
        XBC_LAUNCH("convolving", (tile_forward<4, THREE>),
                   dim3((unsigned)n.all, (unsigned)(oc / 32)), TILE_THREADS, *job, n.y, n.x);
    else
        XBC_LAUNCH("convolving", (tile_forward<2, THREE>),
                   dim3((unsigned)n.all, (unsigned)(oc / 16)), TILE_THREADS, *job, n.y, n.x);
}

bool xbc_block_suits(const xbc_block *job)
{
    const xbc_window &g = job->conv;
    return (g.c == 3 || g.c % STEP == 0) && g.oc % 16 == 0 &&
           (job->mean || enough_work(job));
}

bool xbc_tensor_block_forward(const xbc_block *job)
{
    const xbc_window &g = job->conv;
    const tile_count n(job->rows, 2 * job->ph, 2 * job->pw);
    if (!xbc_block_suits(job) || !n.fits()) return false;
    if (g.c == 3)
        launch_forward<true>(job, n);
    else
        launch_forward<false>(job, n);
    return true;
}

bool xbc_tensor_block_input(const xbc_block *job)
{
    const xbc_window &g = job->conv;
    const tile_count n(job->rows, g.h, g.w);
    if (!xbc_block_suits(job) || g.c == 3 || !n.fits()) return false;
    if (g.c % 32 == 0)
        XBC_LAUNCH("convolving backwards", tile_input<4>,
                   dim3((unsigned)n.all, (unsigned)(g.c / 32)), TILE_THREADS, *job, n.y, n.x);
    else
        XBC_LAUNCH("convolving backwards", tile_input<2>,
                   dim3((unsigned)n.all, (unsigned)(g.c / 16)), TILE_THREADS, *job, n.y, n.x);
    return true;
}
