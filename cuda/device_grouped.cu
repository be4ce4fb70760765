/* device_grouped.cu: a dense layer in which each group of examples has its own draw,
 * which is never stored in memory: y [group] = x [group] (mu + sigma z [group]); maths
 * N1, N9.
 *
 * A warp makes the weights of 16 inputs and 64 outputs in the places where the tensor
 * cores expect them: a thread needs inputs 2q, 2q + 1, 2q + 8, 2q + 9 of outputs g, g
 * + 8, g + 16, ..., and the four words of a counter are four outputs that are 16
 * apart. So eight counters are a thread's share of the eight tiles of a step, and
 * threads exchange nothing (tensor.cuh has the arithmetic).
 *
 * A block has up to 256 rows. A warp has 16 or 32 of them, and all warps share the
 * weights that one of them makes, whose slow draws are put in last. Inputs are cut into
 * slices, whose sums are added in their order. x is split once, into the order in which
 * threads read it. device_few.cu takes few rows. */
#include "grouped.cuh"
#include "table.cuh"
#include "tensor.cuh"

enum { WIDTH = 64, LANES = 16, WARPS = THREADS / 32, TILES = WIDTH / 8, HALF_TILES = 4 };
enum { SLICE_LEAST = 8 }; /* steps */
static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* The number of fragments of 16 rows of a warp, and of rows of a block. */
static int tall_of(int64_t group) { return group <= 16 * WARPS ? 1 : 2; }

static int64_t rows_of_block(int64_t group) { return 16 * tall_of(group) * WARPS; }

static int64_t blocks_of_group(int64_t group)
{
    return quotient_up(group, rows_of_block(group));
}

static int64_t blocks_wanted(void) { return 2 * xbc_processors(); }

static int64_t slices_of(int64_t groups, int64_t group, int64_t in, int64_t out)
{
    int64_t blocks = out / WIDTH * groups * blocks_of_group(group);
    int64_t wanted = blocks_wanted() / blocks, most = in / STEP / SLICE_LEAST;
    return wanted < 1 || most < 1 ? 1 : wanted < most ? wanted : most;
}

/* Whether the table leaves room for the tiles. */
bool xbc_grouped_suits(const xbc_source *source, int64_t out)
{
    return out % WIDTH == 0 && source->columns == XB_COLUMNS &&
           source->degree + source->halves <= 5;
}

/* The number of words of x after splitting, for whole blocks of rows and whole steps. */
static int64_t split_words(int64_t groups, int64_t group, int64_t in)
{
    return groups * blocks_of_group(group) * rows_of_block(group) *
           quotient_up(in, STEP) * STEP;
}

/* Room for this number of rows and any smaller one: the slices beyond the first have
 * at most as many blocks as are wanted. */
int64_t xbc_grouped_room(int64_t rows, int64_t group, int64_t in, int64_t out)
{
    const int64_t columns = out / WIDTH > 0 ? out / WIDTH : 1,
                  groups = quotient_up(rows, group) + 1;
    const int64_t plain =
        split_words(groups, group, in) +
        (quotient_up(blocks_wanted(), columns) * rows_of_block(group) + rows) * out;
    const int64_t wide = group > XBC_SIXTEEN ? xbc_wide_room(groups, rows, group, in, out)
                                             : 0,
                  few = xbc_few_room(rows, out), most = plain > wide ? plain : wide;
    return most > few ? most : few;
}

/* ---- a block's place, and a thread's in it */

struct grouped_place {
    int64_t row0;
    int rows;       /* 0 or less: there is nothing to do */
    int begin, end; /* steps */
    int warp, g, q; /* g, q: a thread's place in its warp, as the tensor cores count */
    uint32_t number, input_counters; /* the counter of input 0 and output g; the
                                        distance from one input to the next */

    __device__ __forceinline__ grouped_place(const xbc_grouped &job, int64_t slices,
                                             int block_rows)
    {
        const int64_t blocks = (job.group + block_rows - 1) / block_rows;
        const int64_t draw = blockIdx.y / blocks, part = blockIdx.y % blocks;
        int64_t from = draw * job.group - job.skip, to = from + job.group;
        to = to < job.rows ? to : job.rows;
        from = from < 0 ? 0 : from;
        row0 = from + part * block_rows;
        const int64_t left = to - row0, steps = (job.in + STEP - 1) / STEP;
        rows = (int)(left < block_rows ? left : block_rows);
        begin = (int)(blockIdx.z * steps / slices);
        end = (int)((blockIdx.z + 1) * steps / slices);
        warp = (int)threadIdx.x / 32, g = (int)threadIdx.x % 32 / 4,
        q = (int)threadIdx.x % 4;
        const int64_t wide = job.out / WIDTH;
        input_counters = (uint32_t)(wide * LANES);
        number =
            (uint32_t)((job.first / WIDTH + draw * job.in * wide + blockIdx.x) * LANES +
                       g);
    }
    /* Input `e` (0 to 3) of the thread's four in a step. */
    __device__ __forceinline__ int input(int step, int e) const
    {
        return step * STEP + 2 * q + e / 2 * 8 + e % 2;
    }
    /* Where the weight of input k and output g is. Inputs beyond the last one repeat
     * it, because their x is 0. */
    __device__ __forceinline__ int64_t weight(const xbc_grouped &job, int k) const
    {
        return (int64_t)(k < (int)job.in ? k : (int)job.in - 1) * job.out +
               blockIdx.x * WIDTH + g;
    }
};

/* mu and sigma of inputs e, e + 1, ... of a step's four, with four outputs each. All
 * are loaded at once, because memory is what a multiprocessor waits for. */
template <int N> struct some_weights {
    float mu[N][4], sigma[N][4];

    __device__ __forceinline__ void load(const xbc_grouped &job,
                                         const grouped_place &here, int step, int e,
                                         int half)
    {
        XB_UNROLLED
        for (int n = 0; n < N; n++) {
            const int64_t at = here.weight(job, here.input(step, e + n)) + 8 * half;
            const float *m = job.mu + at, *s = job.sigma + at;
            XB_UNROLLED
            for (int j = 0; j < 4; j++)
                mu[n][j] = m[LANES * j], sigma[n][j] = s[LANES * j];
        }
    }
};

/* ---- weights */

/* A thread's share of four tiles, [tile][register], each weight split in two. */
struct half_tiles {
    uint32_t hi[HALF_TILES][2], lo[HALF_TILES][2];
};

/* The slow draws of one counter times sigma; 0 for draws that are not slow. */
template <class S>
static __device__ __noinline__ float4 slow_weights(const own_copy<S> own,
                                                   const xbc_grouped &job,
                                                   const stream_keys &keys,
                                                   uint32_t number, const float *sigma)
{
    uint32_t word[4];
    float fast[4], value[4] = {};
    counter_words(word, keys, number);
    fast_values<S>(fast, own, word);
    each_slow(word, fast, [&](uint32_t w, unsigned j) {
        float z = slow_value(job.source.at, w);
        float v = sigma[LANES * j] * (job.negate ? -z : z);
        value[0] = j == 0 ? v : value[0], value[1] = j == 1 ? v : value[1];
        value[2] = j == 2 ? v : value[2], value[3] = j == 3 ? v : value[3];
    });
    return float4{value[0], value[1], value[2], value[3]};
}

/* The counter of input `e` of a step's four, of either half. */
static __device__ __forceinline__ uint32_t counter_of(const grouped_place &here, int step,
                                                      int half, int e)
{
    return here.number + (uint32_t)here.input(step, e) * here.input_counters +
           8 * (uint32_t)half;
}

/* The slow weights of that counter. */
template <class S>
static __device__ __forceinline__ float4 slow_at(const own_copy<S> &own,
                                                 const xbc_grouped &job,
                                                 const stream_keys &keys,
                                                 const grouped_place &here, int step,
                                                 int half, int e)
{
    const float *sigma = job.sigma + here.weight(job, here.input(step, e)) + 8 * half;
    return slow_weights<S>(own, job, keys, counter_of(here, step, half, e), sigma);
}

/* Makes the tiles of one half of a step, with the weights of N inputs at once. Returns
 * as bits which of its four counters have slow draws. */
template <class S, int N>
static __device__ __forceinline__ unsigned make_half(
    half_tiles *to, const own_copy<S> &own, const xbc_grouped &job,
    const stream_keys &keys, const grouped_place &here, int step, int half)
{
    unsigned slow = 0;
    some_weights<N> some;
    XB_UNROLLED
    for (int p = 0; p < 2; p++) {
        float w[2][4];
        XB_UNROLLED
        for (int i = 0; i < 2; i++) {
            const int e = 2 * p + i;
            if (e % N == 0) some.load(job, here, step, e, half);
            float z[4];
            uint32_t word[4];
            counter_words(word, keys, counter_of(here, step, half, e));
            XB_UNROLLED
            for (int j = 0; j < 4; j++) z[j] = fast_value<S>(own, word[j]);
            if (any_slow(z)) {
                slow |= 1u << e;
                XB_UNROLLED
                for (int j = 0; j < 4; j++) z[j] = z[j] == z[j] ? z[j] : 0;
            }
            XB_UNROLLED
            for (int j = 0; j < 4; j++)
                w[i][j] = fmaf(some.sigma[e % N][j], z[j], some.mu[e % N][j]);
        }
        XB_UNROLLED
        for (int j = 0; j < HALF_TILES; j++) {
            const split_pair s(w[0][j], w[1][j]);
            to->hi[j][p] = s.hi, to->lo[j][p] = s.lo;
        }
    }
    return slow;
}

/* ---- inputs */

/* A thread's share of 16 rows and 16 inputs of x, split: rows g and g + 8 of inputs 2q,
 * 2q + 1, then of 2q + 8, 2q + 9. */
struct input_tile {
    uint32_t hi[4], lo[4];

    __device__ __forceinline__ void load(const uint4 *from, int64_t tile)
    {
        const uint4 *at = from + tile * 64 + threadIdx.x % 32;
        const uint4 h = at[0], l = at[32];
        hi[0] = h.x, hi[1] = h.y, hi[2] = h.z, hi[3] = h.w;
        lo[0] = l.x, lo[1] = l.y, lo[2] = l.z, lo[3] = l.w;
    }
};

/* Writes x as tiles [blockIdx.y of the product][tile of its rows][step][hi, lo][thread
 * of a warp]; rows and inputs beyond the last are 0. A warp makes a tile. */
static __global__ void __launch_bounds__(THREADS)
    split_inputs(const __grid_constant__ xbc_grouped job, uint4 *to, int64_t tiles,
                 int block_rows)
{
    const int64_t tile = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32,
                  steps = (job.in + STEP - 1) / STEP;
    const int lane = (int)threadIdx.x % 32, g = lane / 4, q = lane % 4;
    if (tile >= tiles) return;
    const int64_t tall = block_rows / 16, block = tile / steps / tall,
                  part = tile / steps % tall;
    const int64_t each = (job.group + block_rows - 1) / block_rows, draw = block / each;
    int64_t from = draw * job.group - job.skip, end = from + job.group;
    end = end < job.rows ? end : job.rows;
    from = (from < 0 ? 0 : from) + block % each * block_rows + 16 * part;
    uint32_t hi[4], lo[4];
    XB_UNROLLED
    for (int i = 0; i < 4; i++) {
        const int64_t row = from + g + i % 2 * 8,
                      k = tile % steps * STEP + 2 * q + i / 2 * 8;
        const float *at = job.x + row * job.in + k;
        const bool is = row < end;
        const split_pair s(is && k < job.in ? at[0] : 0,
                           is && k + 1 < job.in ? at[1] : 0);
        hi[i] = s.hi, lo[i] = s.lo;
    }
    to[tile * 64 + lane] = uint4{hi[0], hi[1], hi[2], hi[3]};
    to[tile * 64 + 32 + lane] = uint4{lo[0], lo[1], lo[2], lo[3]};
}

/* The tile of the block's rows 16 i to 16 i + 15, at a step. */
static __device__ __forceinline__ int64_t tile_at(const xbc_grouped &job, int block_tiles,
                                                  int i, int step)
{
    const int64_t steps = (job.in + STEP - 1) / STEP;
    return ((int64_t)blockIdx.y * block_tiles + i) * steps + step;
}

/* sum [tile] += x times weights; the small products are added first */
static __device__ __forceinline__ void multiply_tile(float sum[4], const input_tile &x,
                                                     const uint32_t hi[2],
                                                     const uint32_t lo[2])
{
    warp_mma(sum, x.lo, hi);
    warp_mma(sum, x.hi, lo);
    warp_mma(sum, x.hi, hi);
}

/* ---- sums */

/* Calls f(row, column, value) for each of a thread's outputs. */
template <int MT, class F>
static __device__ __forceinline__ void each_sum(const float sum[MT][TILES][4], F f)
{
    const int lane = (int)threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;
    XB_UNROLLED
    for (int i = 0; i < MT; i++) XB_UNROLLED
    for (int t = 0; t < TILES; t++) XB_UNROLLED
    for (int k = 0; k < 4; k++)
        f(16 * i + row + k / 2 * 8, 8 * t + column + k % 2, sum[i][t][k]);
}

/* Replaces one weight in shared memory: input e of four is the half e % 2 of word e /
 * 2. */
static __device__ __forceinline__ void put_weight(uint4 *to, int e, float value)
{
    uint16_t *half = (uint16_t *)(void *)to + e;
    const split_pair s(value, 0);
    half[0] = (uint16_t)s.hi, half[4] = (uint16_t)s.lo;
}

/* Which of a thread's counters of a step have slow draws, as bits. */
template <class S>
static __device__ __forceinline__ void put_slow(
    uint4 to[2][HALF_TILES][32], const own_copy<S> &own, const xbc_grouped &job,
    const stream_keys &keys, const grouped_place &here, int step, unsigned slow)
{
    const int lane = (int)threadIdx.x % 32;
    for (int n = 0; slow; n++, slow >>= 1) {
        if (!(slow & 1)) continue;
        const int half = n / 4, e = n % 4;
        const float4 v = slow_at<S>(own, job, keys, here, step, half, e);
        const float value[4] = {v.x, v.y, v.z, v.w};
        const float *mu = job.mu + here.weight(job, here.input(step, e)) + 8 * half;
        XB_UNROLLED
        for (int j = 0; j < HALF_TILES; j++)
            if (value[j] != 0)
                put_weight(&to[half][j][lane], e, mu[LANES * j] + value[j]);
    }
}

template <class S, int MT>
static __global__ void __launch_bounds__(THREADS, 2)
    grouped_rows(const __grid_constant__ xbc_grouped job,
                 const __grid_constant__ stream_keys keys, const uint4 *tiles,
                 float *part, int64_t slices)
{
    __shared__ __align__(16) float table[S::floats];
    /* the weights of WARPS steps, each made by one warp, in the order in which threads
     * read them */
    __shared__ __align__(16) uint4 weights[WARPS][2][HALF_TILES][32];
    table_load<S>(table, job.source.at, job.negate ? -1.0f : 1.0f);
    const own_copy<S> own(table);
    const grouped_place here(job, slices, 16 * MT * WARPS);
    if (here.rows <= 0) return; /* the whole block */
    const int m0 = here.warp * 16 * MT, lane = (int)threadIdx.x % 32;
    float sum[MT][TILES][4] = {};
    for (int first = here.begin; first < here.end; first += WARPS) {
        const int left = here.end - first, count = left < WARPS ? left : (int)WARPS;
        if (here.warp < count) {
            unsigned slow = 0;
            XB_UNROLLED
            for (int half = 0; half < 2; half++) {
                half_tiles w;
                slow |= make_half < S,
                    MT == 1 ? 4
                            : 1 > (&w, own, job, keys, here, first + here.warp, half)
                                      << 4 * half;
                XB_UNROLLED
                for (int j = 0; j < HALF_TILES; j++)
                    weights[here.warp][half][j][lane] =
                        uint4{w.hi[j][0], w.hi[j][1], w.lo[j][0], w.lo[j][1]};
            }
            if (slow)
                put_slow<S>(weights[here.warp], own, job, keys, here, first + here.warp,
                            slow);
        }
        __syncthreads();
        input_tile next[MT]; /* loaded while the step before is computed */
        const int64_t at = tile_at(job, MT * WARPS, here.warp * MT, first),
                      steps = (job.in + STEP - 1) / STEP;
        XB_UNROLLED
        for (int i = 0; i < MT; i++) next[i].load(tiles, at + i * steps);
        for (int s = 0; m0 < here.rows && s < count; s++) {
            input_tile x[MT];
            XB_UNROLLED
            for (int i = 0; i < MT; i++) {
                x[i] = next[i];
                if (s + 1 < count) next[i].load(tiles, at + i * steps + s + 1);
            }
            XB_UNROLLED
            for (int half = 0; half < 2; half++) XB_UNROLLED
            for (int j = 0; j < HALF_TILES; j++) {
                const uint4 w = weights[s][half][j][lane];
                const uint32_t hi[2] = {w.x, w.y}, lo[2] = {w.z, w.w};
                XB_UNROLLED
                for (int i = 0; i < MT; i++)
                    multiply_tile(sum[i][2 * j + half], x[i], hi, lo);
            }
        }
        __syncthreads();
    }
    float *to = part + (blockIdx.z * job.rows + here.row0) * job.out + blockIdx.x * WIDTH;
    each_sum<MT>(sum, [&](int row, int column, float v) {
        if (m0 + row < here.rows) to[(m0 + row) * job.out + column] = v;
    });
}

/* adds the bias of the row's draw; a thread has four neighbouring outputs */
static __global__ void add_grouped(float *y, const float *part, const float *bias,
                                   int64_t n, int64_t slices, int64_t out, int64_t group,
                                   int64_t skip)
{
    previous_done();
    for
        EACH(i, n / 4)
        {
            const int64_t at = (4 * i / out + skip) / group * out + 4 * i % out;
            float4 sum = {0, 0, 0, 0};
            XB_BY_FOUR
            for (int64_t s = 0; s < slices; s++) {
                const float4 v = ((const float4 *)(const void *)part)[s * (n / 4) + i];
                sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
            }
            if (bias) {
                sum.x += bias[at], sum.y += bias[at + 1];
                sum.z += bias[at + 2], sum.w += bias[at + 3];
            }
            float *to = y + 4 * i;
            to[0] = sum.x, to[1] = sum.y, to[2] = sum.z, to[3] = sum.w;
        }
}

template <class S>
static void launch_shape(const xbc_grouped *job, const stream_keys &keys, int64_t slices,
                         const uint4 *tiles, float *part)
{
    const dim3 blocks((unsigned)(job->out / WIDTH),
                      (unsigned)(job->groups * blocks_of_group(job->group)),
                      (unsigned)slices);
    if (tall_of(job->group) == 1)
        XBC_LAUNCH("multiplying draws", (grouped_rows<S, 1>), blocks, THREADS, *job, keys,
                   tiles, part, slices);
    else
        XBC_LAUNCH("multiplying draws", (grouped_rows<S, 2>), blocks, THREADS, *job, keys,
                   tiles, part, slices);
}

/* The sums of slices. They lie in the room behind x, which is split. */
static const float *plain_product(const xbc_grouped *job, int64_t slices)
{
    const int64_t words = split_words(job->groups, job->group, job->in);
    const int64_t count = words / (16 * STEP);
    const stream_keys keys = keys_of(job->where);
    uint4 *tiles = (uint4 *)(void *)job->room;
    float *part = job->room + words;
    XBC_LAUNCH("splitting inputs", split_inputs, (unsigned)quotient_up(count, WARPS),
               THREADS, *job, tiles, count, (int)rows_of_block(job->group));
    for_grouped_shape(job->source, [&](auto shape) {
        launch_shape<decltype(shape)>(job, keys, slices, tiles, part);
    });
    return part;
}

void xbc_grouped_forward(const xbc_grouped *job)
{
    if (job->wide && xbc_sixteen_forward(job)) return;
    const bool wide = job->wide && job->group > XBC_SIXTEEN && xbc_wide_suits(job),
               few = !wide && job->group <= XBC_FEW_MOST;
    const int64_t n = job->rows * job->out,
                  slices = wide  ? xbc_wide_slices(job)
                           : few ? xbc_few_slices(job)
                                 : slices_of(job->groups, job->group, job->in, job->out);
    const float *part = wide  ? xbc_wide_product(job, slices)
                        : few ? xbc_few_product(job, slices)
                              : plain_product(job, slices);
    if (wide)
        XBC_LAUNCH_EARLY("multiplying draws", add_grouped, blocks_for(n / 4), THREADS, 0,
                         job->y, part, job->bias, n, slices, job->out, job->group,
                         job->skip);
    else
        XBC_LAUNCH("multiplying draws", add_grouped, blocks_for(n / 4), THREADS, job->y,
                   part, job->bias, n, slices, job->out, job->group, job->skip);
}
