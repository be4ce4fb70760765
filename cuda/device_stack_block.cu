/* device_stack_block.cu: a block of a stack on tensor cores (stack.cuh); maths N2-N4, N6,
 * N18. The order of the sums is that of device_block_tensor.cu.
 *
 * A block of threads has some windows of the pool, of one image or of several small
 * ones, and copies the inputs that they depend on to shared memory. A warp has 16 windows
 * for 16 output channels. The products' rows are the outputs, and their columns one place
 * of eight windows, so that the words of a pixel are a fragment as they are read, and a
 * thread has all four places of its windows. */
#include "stack.cuh"

enum { STACK_THREADS = 128, STACK_WARPS = STACK_THREADS / 32 };
enum { SET = 16, GROUPS = SET / 8 }; /* windows of a warp */

/* The windows of a block of threads, and where the pixels that they depend on are in its
 * memory: of each row, even columns come before odd ones, so that neighbouring windows
 * read neighbouring 64 bytes. */
struct stack_tile {
    int wide, high, images; /* windows across and down, images */
    int tiles_x, tiles_y;
    int across;                 /* warps side by side along the outputs */
    int odd, row, image, plane; /* pixels to the odd columns, from row to row, from image
                                   to image, from 16 channels to the next */
    int lines;                  /* of the patch that the threads copy at a time */
    uint32_t by_across, by_windows, by_wide, by_tiles; /* divisors, for `divided` */
};

struct tiled_part : stack_part {
    stack_tile tile;
};

/* The first image and window of a block of threads. */
struct stack_place {
    int64_t row;
    int py, px;

    __device__ __forceinline__ stack_place(const stack_tile &t)
    {
        const int y = divided((int)blockIdx.y, t.by_tiles);
        row = (int64_t)blockIdx.x * t.images;
        py = y * t.high, px = ((int)blockIdx.y - y * t.tiles_x) * t.wide;
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
                 : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from),
                   "r"(in ? 16 : 0)
                 : "memory");
}
static __device__ __forceinline__ void copies_done(void)
{
    asm volatile("cp.async.wait_all;" : : : "memory");
}
#endif

/* A thread has one column of the patch, four channels of each 16, and some lines. */
static __device__ __forceinline__ void load_patches(uint4 *to, const tiled_part &job,
                                                    const stack_place &here)
{
    const stack_tile &t = job.tile;
    const xbc_window &g = job.conv;
    const int across = 8 * t.wide + 8, lines = 2 * t.high + 2, quads = g.c / 4;
    const int first = divided((int)threadIdx.x, t.by_across);
    const int rest = (int)threadIdx.x - first * across, column = rest / 4;
    const int ix = 2 * here.px - g.left + column, iy = 2 * here.py - g.top;
    const uint4 *x = (const uint4 *)job.x + rest % 4;
    if (first >= t.lines) return;
    to += (first * t.row + column % 2 * t.odd + column / 2) * 4 + rest % 4;
    for (int i = 0; i < t.images; i++, to += t.image * 4) {
        const bool is = ix >= 0 && ix < g.w && here.row + i < job.rows;
        const uint4 *from = x + (((here.row + i) * g.h + iy + first) * g.w + ix) * quads;
        uint4 *at = to;
        for (int line = first; line < lines; line += t.lines) {
            const bool in = is && iy + line >= 0 && iy + line < g.h;
            for (int k = 0; k < quads; k += 4)
                copy_quad(at + k * t.plane, in ? from + k : x, in);
            at += t.lines * t.row * 4, from += (int64_t)t.lines * g.w * quads;
        }
    }
}

/* The sums of a warp: groups of eight windows, places. */
typedef float stack_sums[GROUPS][SQUARE][4];

/* Inputs of a thread for one place, and weights: hi, then lo. */
struct stack_left {
    uint32_t part[2][4];

    __device__ __forceinline__ stack_left(const uint4 *weights)
    {
        const uint4 hi = weights[0], lo = weights[32];
        part[0][0] = hi.x, part[0][1] = hi.y, part[0][2] = hi.z, part[0][3] = hi.w;
        part[1][0] = lo.x, part[1][1] = lo.y, part[1][2] = lo.z, part[1][3] = lo.w;
    }
};
struct stack_right {
    uint32_t part[2][2];
};

/* A step's products for all sums. */
static __device__ __forceinline__ void multiply_places(
    stack_sums sum, const stack_left &w, const stack_right in[GROUPS][SQUARE])
{
    XB_UNROLLED
    for (int product = 0; product < 3; product++) XB_UNROLLED
    for (int h = 0; h < GROUPS; h++) XB_UNROLLED
    for (int s = 0; s < SQUARE; s++)
        warp_mma(sum[h][s], w.part[product == 1], in[h][s].part[product == 0]);
}

/* The words of a pixel. */
static __device__ __forceinline__ stack_right pixel_at(const uint4 *at)
{
    const uint4 v = *at;
    return stack_right{{{v.x, v.y}, {v.z, v.w}}};
}

/* Four neighbouring pixels of a row of the patch. */
static __device__ __forceinline__ void load_line(stack_right line[4], const uint4 *at,
                                                 int odd)
{
    XB_UNROLLED
    for (int i = 0; i < 4; i++) line[i] = pixel_at(at + i / 2 * 4 + i % 2 * odd);
}

/* All taps of 16 channels; a line of the patch is read once for both rows of a window. */
static __device__ __forceinline__ void multiply_taps(stack_sums sum, const uint4 *patch,
                                                     const int at[GROUPS], int row,
                                                     int odd, const uint4 *weights,
                                                     int step)
{
    stack_right line[GROUPS][2][4];
    XB_UNROLLED
    for (int h = 0; h < GROUPS; h++) load_line(line[h][0], patch + at[h], odd);
    XB_UNROLLED
    for (int y = 0; y < 3; y++) {
        XB_UNROLLED
        for (int h = 0; h < GROUPS; h++)
            load_line(line[h][(y + 1) % 2], patch + at[h] + (y + 1) * row, odd);
        XB_UNROLLED
        for (int x = 0; x < 3; x++, weights += step) {
            stack_right in[GROUPS][SQUARE];
            XB_UNROLLED
            for (int i = 0; i < GROUPS * SQUARE; i++)
                in[i / 4][i % 4] = line[i / 4][(y + i / 2 % 2) % 2][x + i % 2];
            multiply_places(sum, stack_left(weights), in);
        }
    }
}

/* ---- outputs */

/* Where a window's outputs go. */
struct stack_output {
    int64_t at; /* pixels from the beginning */
    bool is, right, below;

    __device__ __forceinline__ stack_output(const tiled_part &job,
                                            const stack_place &here, int i)
    {
        const stack_window w(job.tile, i);
        const int py = here.py + w.y, px = here.px + w.x;
        const int64_t row = here.row + w.image;
        at = row * (job.ph * job.pw) + (py * job.pw + px);
        is = w.is && row < job.rows && py < job.ph && px < job.pw;
        right = 2 * px + 1 < job.conv.ow, below = 2 * py + 1 < job.conv.oh;
    }
};

/* The outputs of a warp, from its first window and output channel on. A thread has
 * channels g and g + 8 of two windows; it exchanges with its neighbour, so that each has
 * two pairs of channels of one window. */
static __device__ __forceinline__ void put_windows(const tiled_part &job,
                                                   const stack_place &here,
                                                   const stack_sums sum, int first,
                                                   int out0)
{
    const int lane = (int)threadIdx.x % 32, g = lane / 4, mine = g % 2, pair = g / 2;
    const float4 ends[2] = {job.ends[out0 + g], job.ends[out0 + g + 8]};
    XB_UNROLLED
    for (int h = 0; h < GROUPS; h++) {
        const int i = first + 8 * h + lane % 4 * 2;
        bool right[2] = {true, true}, below[2] = {true, true};
        for (int j = 0; j < 2 && job.cut; j++) {
            const stack_output w(job, here, i + j);
            right[j] = w.right, below[j] = w.below;
        }
        float v[2][2]; /* channels g, g + 8; windows */
        XB_UNROLLED
        for (int j = 0; j < 4; j++) {
            const float4 e = ends[j / 2];
            const float all[SQUARE] = {sum[h][0][j], sum[h][1][j], sum[h][2][j],
                                       sum[h][3][j]};
            const float best = largest_of(all, right[j % 2], below[j % 2], e.x);
            v[j / 2][j % 2] = (best - e.y) * e.z + e.w;
        }
        float two[2][2];
        XB_UNROLLED
        for (int j = 0; j < 2; j++) {
            const float other =
                __shfl_xor_sync(0xffffffffu, mine ? v[j][0] : v[j][1], 4);
            two[j][0] = mine ? other : v[j][0], two[j][1] = mine ? v[j][1] : other;
        }
        const stack_output w(job, here, i + mine);
        if (!w.is) continue;
        const int64_t to = w.at * job.conv.oc + out0;
        if (job.last) {
            float *y = (float *)job.y + to + 2 * pair;
            y[0] = two[0][0], y[1] = two[0][1], y[8] = two[1][0], y[9] = two[1][1];
        } else {
            const split_pair low(two[0][0], two[0][1]), high(two[1][0], two[1][1]);
            ((uint4 *)job.y)[to / 4 + pair] = uint4{low.hi, high.hi, low.lo, high.lo};
        }
    }
}

enum { STACK_BLOCKS = 4, IMAGE_BLOCKS = 6 }; /* on a multiprocessor at once */

static __global__ void __launch_bounds__(STACK_THREADS, STACK_BLOCKS)
    stack_forward(const __grid_constant__ tiled_part job)
{
    XBC_DYNAMIC(memory);
    uint4 *patch = (uint4 *)(void *)memory;
    const stack_tile &tile = job.tile;
    const stack_place here(tile);
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int first = warp / tile.across * SET;
    const int out0 = ((int)blockIdx.z * tile.across + warp % tile.across) * OUTS;
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

/* ---- the first block, of three channels: a pixel is 16 bytes, and four threads have
 * four neighbouring pixels */

enum { SIDE = 8, IMAGE_LINES = 2 * SIDE + 2, IMAGE_ACROSS = IMAGE_LINES + 1 };

/* A thread has one column of the patch, and some lines; the last column is 0. */
static __device__ __forceinline__ void load_image(uint4 patch[IMAGE_LINES][IMAGE_ACROSS],
                                                  const tiled_part &job,
                                                  const stack_place &here)
{
    enum { LINES = STACK_THREADS / IMAGE_ACROSS, LOADS = IMAGE_LINES / LINES };
    const xbc_window &g = job.conv;
    const int first = (int)threadIdx.x / IMAGE_ACROSS,
              column = (int)threadIdx.x % IMAGE_ACROSS;
    const int x = 2 * here.px - g.left + column, y = 2 * here.py - g.top + first;
    const bool is = x >= 0 && x < g.w && column < IMAGE_LINES;
    const float *from = (const float *)job.x + ((here.row * g.h + y) * g.w + x) * 3;
    float v[LOADS][3];
    if (first >= LINES) return;
    XB_UNROLLED
    for (int i = 0; i < LOADS * 3; i++) {
        const int iy = y + i / 3 * LINES;
        const bool in = is && iy >= 0 && iy < g.h;
        v[i / 3][i % 3] = in ? from[i / 3 * LINES * g.w * 3 + i % 3] : 0;
    }
    XB_UNROLLED
    for (int i = 0; i < LOADS; i++) {
        const split_pair low(v[i][0], v[i][1]), high(v[i][2], 0);
        patch[first + i * LINES][column] = uint4{low.hi, high.hi, low.lo, high.lo};
    }
}

static __global__ void __launch_bounds__(STACK_THREADS, IMAGE_BLOCKS)
    stack_image(const __grid_constant__ tiled_part job)
{
    __shared__ uint4 patch[IMAGE_LINES][IMAGE_ACROSS];
    const stack_place here(job.tile);
    const int lane = (int)threadIdx.x % 32, out0 = (int)blockIdx.z * OUTS;
    const int first = (int)threadIdx.x / 32 * SET;
    load_image(patch, job, here);
    const uint4 *weights = job.weights + out0 * 4 + lane;
    const uint4 *at = &patch[first / SIDE * 2][lane / 4 * 2 + lane % 4];
    stack_sums sum = {};
    __syncthreads();
    stack_right line[GROUPS][4][2]; /* of a window: its lines, the left or right place */
    XB_UNROLLED
    for (int i = 0; i < GROUPS * 8; i++)
        line[i / 8][i / 2 % 4][i % 2] =
            pixel_at(at + (i / 8 * 2 + i / 2 % 4) * IMAGE_ACROSS + i % 2);
    XB_UNROLLED
    for (int y = 0; y < IMAGE_STEPS; y++, weights += job.conv.oc * 4) {
        stack_right in[GROUPS][SQUARE];
        XB_UNROLLED
        for (int i = 0; i < GROUPS * SQUARE; i++)
            in[i / 4][i % 4] = line[i / 4][y + i / 2 % 2][i % 2];
        multiply_places(sum, stack_left(weights), in);
    }
    put_windows(job, here, sum, first, out0);
}

/* ---- launches */

static uint32_t reciprocal(int n)
{
    return n == 1 ? 0 : (uint32_t)(((UINT64_C(1) << 32) + (uint64_t)n - 1) / (uint64_t)n);
}

/* The tile's places in memory; returns the pixels of all images. */
static int placed(stack_tile *t)
{
    const int lines = 2 * t->high + 2, across = 8 * t->wide + 8;
    t->odd = (t->wide + 1) | 1; /* even and odd columns begin in different banks */
    t->row = t->odd + t->wide + 1;
    t->image = lines * t->row | 1;
    t->plane = t->images * t->image;
    t->lines = STACK_THREADS / across;
    t->by_across = reciprocal(across), t->by_tiles = reciprocal(t->tiles_x);
    t->by_windows = reciprocal(t->wide * t->high), t->by_wide = reciprocal(t->wide);
    return t->plane;
}

static int warps_across(int oc) { return oc % 64 == 0 ? 4 : oc % 32 == 0 ? 2 : 1; }

enum { PIXELS_LEAST = 21 }; /* of a patch of one window, with its padding */

/* About the cycles that a tile takes: products of each 16 channels, and copies. */
static int64_t cost_of(const stack_tile &t, int c)
{
    const int64_t copies = t.images * up(2 * t.high + 2, t.lines);
    return 1300 * (c / STEP) + copies * (10 + c / STEP * 5) + 300;
}

enum { WIDEST = STACK_THREADS / 8 - 1 }; /* a thread for each 16 bytes of a line */

/* The shape for which all tiles take the least time. */
static stack_tile tile_of(const stack_part &b)
{
    const int across = warps_across(b.conv.oc), most = SET * STACK_WARPS / across;
    const int64_t pixels = xbc_shared_bytes() / (4 * b.conv.c);
    stack_tile best = {};
    int64_t least = INT64_MAX;
    for (int wide = 1; wide <= b.pw && wide <= most && wide <= WIDEST; wide++)
        for (int high = 1; high <= b.ph && high * wide <= most; high++) {
            stack_tile t = {};
            const bool whole = wide == b.pw && high == b.ph;
            t.wide = wide, t.high = high, t.across = across, t.images = 1;
            t.tiles_x = (int)up(b.pw, wide), t.tiles_y = (int)up(b.ph, high);
            const int each = placed(&t);
            if (each > pixels) continue;
            while (whole && (t.images + 1) * wide * high <= most &&
                   (t.images + 1) * each <= pixels)
                t.images++;
            const int64_t cost =
                up(b.rows, t.images) * t.tiles_x * t.tiles_y * cost_of(t, b.conv.c);
            if (cost < least) least = cost, best = t;
        }
    placed(&best);
    return best;
}

static dim3 blocks_of(const tiled_part *job, int outs)
{
    const stack_tile &t = job->tile;
    return dim3((unsigned)up(job->rows, t.images), (unsigned)(t.tiles_x * t.tiles_y),
                (unsigned)(job->conv.oc / outs));
}

static void launch_image(tiled_part *job)
{
    stack_tile &t = job->tile;
    t.wide = t.high = SIDE, t.images = t.across = 1;
    t.tiles_x = (int)up(job->pw, SIDE), t.tiles_y = (int)up(job->ph, SIDE);
    placed(&t);
    XBC_LAUNCH("convolving", stack_image, blocks_of(job, OUTS), STACK_THREADS, *job);
}

static void launch_block(tiled_part *job)
{
    job->tile = tile_of(*job);
    const int bytes = job->tile.plane * job->conv.c * 4;
    XBC_LAUNCH_SHARED("convolving", stack_forward,
                      blocks_of(job, OUTS * job->tile.across), STACK_THREADS, bytes, *job);
}

bool xbc_stack_suits(const xbc_stack_block *b)
{
    const int64_t least = (int64_t)PIXELS_LEAST * b->conv.c * 4, windows = 1 << 19;
    return (int64_t)b->ph * b->pw <= windows && /* places of tiles fit into 16 bits */
           (b->conv.c == 3 || b->conv.c % STEP == 0) && b->conv.oc % OUTS == 0 &&
           least <= xbc_shared_bytes();
}

void xbc_stack_part_forward(const stack_part *part)
{
    tiled_part job = {*part, {}};
    if (job.conv.c == 3)
        launch_image(&job);
    else
        launch_block(&job);
}
