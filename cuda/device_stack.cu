/* device_stack.cu: blocks in a row (device_block.cu), each with a batchnorm after it, on
 * tensor cores, if there is no backward pass; maths N2-N4, N6, N18. tensor.cuh has the
 * arithmetic, whose order is that of device_block_tensor.cu.
 *
 * One kernel first splits the weights of all blocks and makes one multiplication and one
 * addition of each batchnorm. Then each block writes its outputs as the next one reads
 * them: normalised and split. The 16 words of 16 channels of a pixel are four for each
 * of four threads: hi of two pairs of channels, then lo of both, which is what the
 * thread needs for its fragments. So a block of threads copies its inputs to shared
 * memory as they are, and a thread reads 16 bytes at a time.
 *
 * A block of threads has some windows of the pool, of one image or of several small
 * ones, and a warp has 16 of them for 16 output channels: the fragment rows g and g + 8
 * are two places of window g, and those of the next fragment are the two places below. */
#include "block.cuh"
#include "tensor.cuh"

enum { STACK_THREADS = 128, STACK_WARPS = STACK_THREADS / 32 };
enum { SET = 16, GROUPS = SET / 8, NT = 2, OUTS = 8 * NT }; /* windows, outputs of a warp */

/* ---- weights and batchnorms of all blocks */

/* Steps of 16 inputs: 16 channels of a tap or, with three channels, pairs of the 3 x 9
 * inputs of a window; each row of nine takes five pairs. */
enum { IMAGE_STEPS = 2, ROW_PAIRS = 5, IMAGE_PAIRS = 3 * ROW_PAIRS };

XB_BOTH int stack_steps(int c) { return c == 3 ? IMAGE_STEPS : c / STEP * TAPS; }

struct ready_block {
    const float *w, *bias; /* w NULL: only a batchnorm */
    xbc_affine after;
    int c, oc;
    uint4 *weights; /* [steps][oc / 8][32]: hi of two pairs, then lo of both */
    float4 *ends;   /* [oc]: bias, then mean, gain and shift of the batchnorm */
};

struct ready_blocks {
    ready_block block[XBC_STACK + 1];
};

/* Input 2 pair + i of a step, for output `out`. */
static __device__ __forceinline__ float ready_weight(const ready_block &b, int step,
                                                     int pair, int i, int out)
{
    if (b.c != 3)
        return b.w[((int64_t)(step % TAPS * b.c) + step / TAPS * STEP + 2 * pair + i) *
                       b.oc +
                   out];
    const int p = step * STEP / 2 + pair, at = p % ROW_PAIRS * 2 + i;
    return p < IMAGE_PAIRS && at < 9 ? b.w[(p / ROW_PAIRS * 9 + at) * b.oc + out] : 0;
}

/* (N4) */
static __device__ __forceinline__ float4 ready_end(const ready_block &b, int k)
{
    const float bias = b.bias ? b.bias[k] : 0;
    if (!b.after.scale) return float4{bias, 0, 1, 0};
    const float inverse =
        (float)(1 / sqrt((double)b.after.variance[k] + b.after.epsilon));
    return float4{bias, b.after.mean[k], b.after.scale[k] * inverse, b.after.shift[k]};
}

static __global__ void __launch_bounds__(THREADS)
    stack_ready(const __grid_constant__ ready_blocks job)
{
    const ready_block &b = job.block[blockIdx.y];
    const int tiles = b.oc / 8;
    for
        EACH(i, b.oc) b.ends[i] = ready_end(b, (int)i);
    if (!b.w) return;
    for
        EACH(i, (int64_t)stack_steps(b.c) * tiles * 32)
        {
            const int lane = (int)i % 32, tile = (int)i / 32 % tiles,
                      step = (int)i / 32 / tiles;
            const int out = 8 * tile + lane / 4, pair = lane % 4;
            const split_pair low(ready_weight(b, step, pair, 0, out),
                                 ready_weight(b, step, pair, 1, out));
            const split_pair high(ready_weight(b, step, pair + 4, 0, out),
                                  ready_weight(b, step, pair + 4, 1, out));
            b.weights[i] = uint4{low.hi, high.hi, low.lo, high.lo};
        }
}

/* ---- a block's own part of the work */

/* The windows of a block of threads, and where the pixels that they depend on are in its
 * memory: of each row, even columns come before odd ones, so that neighbouring windows
 * read neighbouring 64 bytes. */
struct stack_tile {
    int wide, high, images; /* windows across and down, images */
    int tiles_x, tiles_y;
    int across;                 /* warps side by side along the outputs */
    int odd, row, image, plane; /* pixels to the odd columns, from row to row, from image
                                   to image, from 16 channels to the next */
    uint32_t by_columns, by_pixels, by_windows, by_wide; /* divisors, for `divided` */
};

struct stack_part {
    xbc_window conv;
    int ph, pw;
    int64_t rows;
    const void *x;
    const uint4 *weights;
    const float4 *ends;
    void *y;
    bool last; /* outputs are floats */
    stack_tile tile;
};

/* The first image and pixel of a block of threads. */
struct stack_place {
    int64_t row;
    int y0, x0;

    __device__ __forceinline__ stack_place(const stack_tile &t)
    {
        const int each = t.tiles_y * t.tiles_x, set = (int)blockIdx.x / each,
                  at = (int)blockIdx.x - set * each;
        row = (int64_t)set * t.images;
        y0 = at / t.tiles_x * 2 * t.high, x0 = at % t.tiles_x * 2 * t.wide;
    }
};

/* Window number i of the tile. */
struct stack_window {
    int image, y, x;
    bool is;

    __device__ __forceinline__ stack_window(const stack_tile &t, int i)
    {
        image = divided(i, t.by_windows);
        is = image < t.images;
        if (!is) image = i = 0;
        const int rest = i - image * t.wide * t.high;
        y = divided(rest, t.by_wide), x = rest - y * t.wide;
    }
};

/* Copies 16 bytes, or writes zeros; they are there after copies_done(). */
#if defined(XB_EMULATED)
static inline void copy_quad(uint4 *to, const uint4 *from, bool in)
{
    *to = in ? *from : uint4{0, 0, 0, 0};
}
static inline void copies_done(void) {}
#else
static __device__ __forceinline__ void copy_quad(uint4 *to, const uint4 *from, bool in)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from), "r"(in ? 16 : 0)
                 : "memory");
}
static __device__ __forceinline__ void copies_done(void)
{
    asm volatile("cp.async.wait_all;" : : : "memory");
}
#endif

static __device__ __forceinline__ void load_patches(uint4 *to, const stack_part &job,
                                                    const stack_place &here)
{
    const stack_tile &t = job.tile;
    const xbc_window &g = job.conv;
    const int columns = 2 * t.wide + 2, pixels = columns * (2 * t.high + 2);
    const int quad = (int)threadIdx.x % 4, quads = g.c / 4;
    const uint4 *x = (const uint4 *)job.x + here.row * g.h * g.w * quads + quad;
    for (int i = (int)threadIdx.x / 4; i < pixels * t.images; i += STACK_THREADS / 4) {
        const int image = divided(i, t.by_pixels), rest = i - image * pixels;
        const int r = divided(rest, t.by_columns), c = rest - r * columns;
        const int iy = here.y0 - g.top + r, ix = here.x0 - g.left + c;
        const bool in = iy >= 0 && iy < g.h && ix >= 0 && ix < g.w &&
                        here.row + image < job.rows;
        const uint4 *from = in ? x + ((int64_t)(image * g.h + iy) * g.w + ix) * quads : x;
        uint4 *at = to + (image * t.image + r * t.row + c % 2 * t.odd + c / 2) * 4 + quad;
        for (int k = 0; k < quads; k += 4) copy_quad(at + k * t.plane, from + k, in);
    }
}

/* The sums of a warp: groups of eight windows, their two rows, tiles of eight outputs. */
typedef float stack_sums[GROUPS][2][NT][4];

/* A step's products for all sums; a [GROUPS][2] has the left and the right pixel of the
 * windows' rows. */
static __device__ __forceinline__ void multiply_places(stack_sums sum,
                                                       const uint4 a[GROUPS][2][2],
                                                       const uint4 w[NT])
{
    XB_UNROLLED
    for (int product = 0; product < 3; product++) XB_UNROLLED
    for (int h = 0; h < GROUPS; h++) XB_UNROLLED
    for (int r = 0; r < 2; r++) {
        const uint4 &l = a[h][r][0], &m = a[h][r][1];
        const uint32_t hi[4] = {l.x, m.x, l.y, m.y}, lo[4] = {l.z, m.z, l.w, m.w};
        XB_UNROLLED
        for (int t = 0; t < NT; t++) {
            const uint32_t whi[2] = {w[t].x, w[t].y}, wlo[2] = {w[t].z, w[t].w};
            warp_mma(sum[h][r][t], product == 0 ? lo : hi, product == 1 ? wlo : whi);
        }
    }
}

/* Four neighbouring pixels of a row of the patch. */
static __device__ __forceinline__ void load_line(uint4 line[4], const uint4 *at, int odd)
{
    line[0] = at[0], line[1] = at[odd], line[2] = at[4], line[3] = at[odd + 4];
}

/* All taps of 16 channels; a line of the patch is read once, for both rows of a window. */
static __device__ __forceinline__ void multiply_taps(stack_sums sum, const uint4 *patch,
                                                     const int at[GROUPS], int row, int odd,
                                                     const uint4 *weights, int step)
{
    uint4 line[GROUPS][2][4];
    XB_UNROLLED
    for (int h = 0; h < GROUPS; h++) load_line(line[h][0], patch + at[h], odd);
    XB_UNROLLED
    for (int y = 0; y < 3; y++) {
        XB_UNROLLED
        for (int h = 0; h < GROUPS; h++)
            load_line(line[h][(y + 1) % 2], patch + at[h] + (y + 1) * row, odd);
        XB_UNROLLED
        for (int x = 0; x < 3; x++, weights += step) {
            uint4 a[GROUPS][2][2], w[NT];
            XB_UNROLLED
            for (int t = 0; t < NT; t++) w[t] = weights[t * 32];
            XB_UNROLLED
            for (int i = 0; i < GROUPS * 4; i++)
                a[i / 4][i / 2 % 2][i % 2] = line[i / 4][(y + i / 2) % 2][x + i % 2];
            multiply_places(sum, a, w);
        }
    }
}

/* ---- outputs */

/* Two neighbouring channels of a window: the largest value, relu, batchnorm. */
static __device__ __forceinline__ void end_pair(float v[2], const float4 *ends,
                                                const float top[4], const float bottom[4],
                                                bool right, bool below)
{
    XB_UNROLLED
    for (int j = 0; j < 2; j++) {
        const float4 e = ends[j];
        const float sum[SQUARE] = {top[j], top[j + 2], bottom[j], bottom[j + 2]};
        v[j] = (largest_of(sum, right, below, e.x) - e.y) * e.z + e.w;
    }
}

/* The outputs of a warp, from its window and output channel on. */
static __device__ __forceinline__ void put_windows(const stack_part &job,
                                                   const stack_place &here,
                                                   const stack_sums sum, int first,
                                                   int out0)
{
    const int lane = (int)threadIdx.x % 32, q = lane % 4, oc = job.conv.oc;
    const float4 *ends = job.ends + out0 + 2 * q;
    XB_UNROLLED
    for (int h = 0; h < GROUPS; h++) {
        const stack_window w(job.tile, first + 8 * h + lane / 4);
        const int py = here.y0 / 2 + w.y, px = here.x0 / 2 + w.x;
        const int64_t row = here.row + w.image;
        if (!w.is || row >= job.rows || py >= job.ph || px >= job.pw) continue;
        const bool right = 2 * px + 1 < job.conv.ow, below = 2 * py + 1 < job.conv.oh;
        const int64_t to = ((row * job.ph + py) * job.pw + px) * oc + out0;
        float v[NT][2];
        XB_UNROLLED
        for (int t = 0; t < NT; t++)
            end_pair(v[t], ends + 8 * t, sum[h][0][t], sum[h][1][t], right, below);
        if (job.last) {
            float *y = (float *)job.y + to + 2 * q;
            y[0] = v[0][0], y[1] = v[0][1], y[8] = v[1][0], y[9] = v[1][1];
        } else {
            const split_pair low(v[0][0], v[0][1]), high(v[1][0], v[1][1]);
            ((uint4 *)job.y)[to / 4 + q] = uint4{low.hi, high.hi, low.lo, high.lo};
        }
    }
}

static __global__ void __launch_bounds__(STACK_THREADS, 4)
    stack_forward(const __grid_constant__ stack_part job)
{
    XBC_DYNAMIC(memory);
    uint4 *patch = (uint4 *)(void *)memory;
    const stack_tile &tile = job.tile;
    const stack_place here(tile);
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int first = warp / tile.across * SET;
    const int out0 = ((int)blockIdx.y * tile.across + warp % tile.across) * OUTS;
    const int step = job.conv.oc * 4;
    int at[GROUPS];
    load_patches(patch, job, here);
    XB_UNROLLED
    for (int h = 0; h < GROUPS; h++) {
        const stack_window w(tile, first + 8 * h + lane / 4);
        at[h] = (w.image * tile.image + 2 * w.y * tile.row + w.x) * 4 + lane % 4;
    }
    const uint4 *weights = job.weights + out0 * 4 + lane;
    stack_sums sum = {};
    copies_done();
    __syncthreads();
    for (int k = 0; k < job.conv.c; k += STEP) {
        multiply_taps(sum, patch, at, tile.row * 4, tile.odd * 4, weights, step);
        patch += tile.plane * 4, weights += TAPS * step;
    }
    put_windows(job, here, sum, first, out0);
}

/* ---- the first block, of three channels: two copies of the patch as pairs of
 * neighbouring numbers, which begin at even and at odd numbers of a row */

enum { SIDE = 8, IMAGE_ROWS = 2 * SIDE + 2, LINE_PAIRS = IMAGE_ROWS * 3 / 2 };

static __device__ __forceinline__ void load_image(uint2 patch[IMAGE_ROWS][2][LINE_PAIRS],
                                                  const stack_part &job,
                                                  const stack_place &here)
{
    const xbc_window &g = job.conv;
    const int wide = 3 * g.w;
    const float *image = (const float *)job.x + here.row * g.h * wide;
    for (int i = (int)threadIdx.x; i < IMAGE_ROWS * LINE_PAIRS; i += STACK_THREADS) {
        const int r = i / LINE_PAIRS, pair = i % LINE_PAIRS;
        const int y = here.y0 - g.top + r, x = (here.x0 - g.left) * 3 + 2 * pair;
        const float *line = image + (int64_t)y * wide;
        const bool in = y >= 0 && y < g.h;
        float v[3];
        XB_UNROLLED
        for (int j = 0; j < 3; j++)
            v[j] = in && x + j >= 0 && x + j < wide ? line[x + j] : 0;
        const split_pair even(v[0], v[1]), odd(v[1], v[2]);
        patch[r][0][pair] = uint2{even.hi, even.lo};
        patch[r][1][pair] = uint2{odd.hi, odd.lo};
    }
}

/* The numbers of a pixel that a thread needs: pairs p and p + 4 of a step. */
static __device__ __forceinline__ uint4 image_pairs(const uint2 *at, int low, int high)
{
    const uint2 a = at[low], b = at[high];
    return uint4{a.x, b.x, a.y, b.y};
}

/* Where pair p of a window begins; the pairs beyond the last have weights of 0. */
static __device__ __forceinline__ int pair_offset(int p)
{
    p = p < IMAGE_PAIRS ? p : IMAGE_PAIRS - 1;
    return p / ROW_PAIRS * 2 * LINE_PAIRS + p % ROW_PAIRS;
}

static __global__ void __launch_bounds__(STACK_THREADS, 6)
    stack_image(const __grid_constant__ stack_part job)
{
    __shared__ uint2 patch[IMAGE_ROWS][2][LINE_PAIRS];
    const stack_place here(job.tile);
    const int lane = (int)threadIdx.x % 32, q = lane % 4, out0 = (int)blockIdx.y * OUTS;
    const int first = (int)threadIdx.x / 32 * SET;
    load_image(patch, job, here);
    const uint4 *weights = job.weights + out0 * 4 + lane;
    stack_sums sum = {};
    __syncthreads();
    XB_UNROLLED
    for (int s = 0; s < IMAGE_STEPS; s++, weights += job.conv.oc * 4) {
        const int low = pair_offset(s * STEP / 2 + q), high = pair_offset(s * STEP / 2 + q + 4);
        uint4 a[GROUPS][2][2], w[NT];
        XB_UNROLLED
        for (int t = 0; t < NT; t++) w[t] = weights[t * 32];
        XB_UNROLLED
        for (int i = 0; i < GROUPS * 2; i++) {
            const int y = first / SIDE + i / 2;
            const uint2 *at = &patch[2 * y + i % 2][0][3 * (lane / 4)];
            a[i / 2][i % 2][0] = image_pairs(at, low, high);
            a[i / 2][i % 2][1] = image_pairs(at + LINE_PAIRS + 1, low, high);
        }
        multiply_places(sum, a, w);
    }
    put_windows(job, here, sum, first, out0);
}

/* ---- inputs that no block of the stack made */

static __global__ void __launch_bounds__(THREADS)
    stack_enter(uint4 *to, const float *x, const float4 *ends, int64_t quads, int c)
{
    for
        EACH(i, quads)
        {
            const int64_t first = i / 4 * STEP;
            const int q = (int)(i % 4), k = (int)(first % c) + 2 * q;
            float v[4];
            XB_UNROLLED
            for (int j = 0; j < 4; j++) {
                const int at = j / 2 * 8 + j % 2;
                const float4 e = ends[k + at];
                v[j] = (x[first + 2 * q + at] - e.y) * e.z + e.w;
            }
            const split_pair low(v[0], v[1]), high(v[2], v[3]);
            to[i] = uint4{low.hi, high.hi, low.lo, high.lo};
        }
}

/* ---- launches */

static uint32_t reciprocal(int n)
{
    return n == 1 ? 0 : (uint32_t)(((UINT64_C(1) << 32) + (uint64_t)n - 1) / (uint64_t)n);
}

/* The tile's places in memory; returns the pixels of all images. */
static int placed(stack_tile *t)
{
    const int columns = 2 * t->wide + 2, lines = 2 * t->high + 2;
    t->odd = (t->wide + 1) | 1; /* even and odd columns begin in different banks */
    t->row = t->odd + t->wide + 1;
    t->image = lines * t->row | 1;
    t->plane = t->images * t->image;
    t->by_columns = reciprocal(columns), t->by_pixels = reciprocal(columns * lines);
    t->by_windows = reciprocal(t->wide * t->high), t->by_wide = reciprocal(t->wide);
    return t->plane;
}

static int warps_across(int oc) { return oc % 64 == 0 ? 4 : oc % 32 == 0 ? 2 : 1; }

enum { PIXELS_LEAST = 21 }; /* of a patch of one window, with its padding */

/* The shape that has the least work in products, and in copies, which take a fraction
 * of it. */
static stack_tile tile_of(const xbc_stack_block *b, int64_t rows)
{
    const int across = warps_across(b->conv.oc), most = SET * STACK_WARPS / across;
    const int64_t pixels = xbc_shared_bytes() / (4 * b->conv.c);
    stack_tile best = {};
    int64_t least = INT64_MAX;
    for (int wide = 1; wide <= b->pw && wide <= most; wide++)
        for (int high = 1; high <= b->ph && high * wide <= most; high++) {
            stack_tile t = {};
            const bool whole = wide == b->pw && high == b->ph;
            t.wide = wide, t.high = high, t.across = across, t.images = 1;
            const int each = placed(&t);
            if (each > pixels) continue;
            while (whole && (t.images + 1) * wide * high <= most &&
                   (t.images + 1) * each <= pixels)
                t.images++;
            t.tiles_x = (int)up(b->pw, wide), t.tiles_y = (int)up(b->ph, high);
            const int64_t cost = up(rows, t.images) * t.tiles_x * t.tiles_y *
                                 (8 * most + t.images * each);
            if (cost < least) least = cost, best = t;
        }
    placed(&best);
    return best;
}

static dim3 blocks_of(const stack_part *job, int outs)
{
    const stack_tile &t = job->tile;
    return dim3((unsigned)(up(job->rows, t.images) * t.tiles_x * t.tiles_y),
                (unsigned)(job->conv.oc / outs));
}

static void launch_image(stack_part *job)
{
    stack_tile &t = job->tile;
    t.wide = t.high = SIDE, t.images = t.across = 1;
    t.tiles_x = (int)up(job->pw, SIDE), t.tiles_y = (int)up(job->ph, SIDE);
    placed(&t);
    XBC_LAUNCH("convolving", stack_image, blocks_of(job, OUTS), STACK_THREADS, *job);
}

static void launch_block(stack_part *job, const xbc_stack_block *b)
{
    job->tile = tile_of(b, job->rows);
    const int bytes = job->tile.plane * b->conv.c * 4;
    if (!xbc_sound() ||
        !xbc_good(cudaFuncSetAttribute((const void *)stack_forward,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                  "convolving"))
        return;
    XBC_START_ON(stack_forward, blocks_of(job, OUTS * job->tile.across), STACK_THREADS,
                 (size_t)bytes, 0, *job);
    xbc_good(cudaGetLastError(), "convolving");
}

bool xbc_stack_suits(const xbc_stack_block *b)
{
    const int64_t least = (int64_t)PIXELS_LEAST * b->conv.c * 4;
    return (b->conv.c == 3 || b->conv.c % STEP == 0) && b->conv.oc % OUTS == 0 &&
           least <= xbc_shared_bytes();
}

/* ---- the whole stack; its room: weights and ends of each block, ends of `before`, and
 * two buffers in turn */

static int64_t weight_quads(const xbc_window &g) { return (int64_t)stack_steps(g.c) * g.oc * 4; }

static int64_t widest_input(const xbc_stack *job)
{
    int64_t widest = 0;
    for (int i = 0; i < job->blocks; i++) {
        const xbc_window &g = job->block[i].conv;
        const int64_t size = g.c == 3 ? 0 : job->rows * g.h * g.w * g.c;
        widest = size > widest ? size : widest;
    }
    return widest;
}

int64_t xbc_stack_room(const xbc_stack *job)
{
    int64_t quads = job->block[0].conv.c;
    for (int i = 0; i < job->blocks; i++)
        quads += weight_quads(job->block[i].conv) + job->block[i].conv.oc;
    return 4 * quads + 2 * widest_input(job);
}

/* Prepares all blocks; returns the room that is left. */
static float *make_ready(const xbc_stack *job, ready_blocks *ready)
{
    float4 *room = (float4 *)(void *)job->room;
    int64_t most = 0;
    for (int i = 0; i <= job->blocks; i++) {
        ready_block *to = &ready->block[i];
        const xbc_stack_block *b = &job->block[i];
        const bool is = i < job->blocks;
        const int64_t quads = is ? weight_quads(b->conv) : 0;
        *to = {};
        to->after = is ? b->after : job->before;
        to->c = is ? b->conv.c : 0, to->oc = is ? b->conv.oc : job->block[0].conv.c;
        if (is) to->w = b->w, to->bias = b->bias;
        to->weights = (uint4 *)(void *)room, room += quads;
        to->ends = room, room += to->oc;
        most = quads > most ? quads : most;
    }
    XBC_LAUNCH("splitting weights", stack_ready,
               dim3((unsigned)up(most, THREADS), (unsigned)job->blocks + 1), THREADS, *ready);
    return (float *)room;
}

void xbc_stack_forward(const xbc_stack *job)
{
    ready_blocks ready;
    float *buffer[2] = {make_ready(job, &ready), NULL};
    buffer[1] = buffer[0] + widest_input(job);
    const xbc_window &first = job->block[0].conv;
    const void *x = job->x;
    if (first.c != 3) {
        const int64_t quads = job->rows * first.h * first.w * first.c / 4;
        x = buffer[1];
        XBC_LAUNCH("splitting inputs", stack_enter, blocks_for(quads), THREADS,
                   (uint4 *)(void *)buffer[1], job->x, ready.block[job->blocks].ends, quads,
                   first.c);
    }
    for (int i = 0; i < job->blocks; i++) {
        const xbc_stack_block *b = &job->block[i];
        const bool last = i == job->blocks - 1;
        stack_part part = {b->conv, b->ph, b->pw, job->rows, x, ready.block[i].weights,
                           ready.block[i].ends, last ? job->y : buffer[i % 2], last, {}};
        if (b->conv.c == 3)
            launch_image(&part);
        else
            launch_block(&part, b);
        x = part.y;
    }
}
