/* device_grouped.cu: a dense layer whose groups of examples have a draw each, without the
 * draws ever being in memory: y [group] = x [group] (mu + sigma z [group]); maths N1, N9.
 *
 * A warp makes the weights of 16 inputs and 64 outputs where the tensor cores want them: a
 * thread needs inputs 2q, 2q + 1, 2q + 8, 2q + 9 of outputs g, g + 8, g + 16, ... , and the
 * four words of a counter are four outputs 16 apart. So eight counters are a thread's share
 * of the eight tiles of a step, with nothing to exchange (tensor.cuh has the arithmetic).
 * mu and sigma are on their way to shared memory while the step before is at work.
 *
 * Few rows (up to 32): warps take steps of the inputs in turn and add up at the end, in
 * their order. Many (up to 256 a block): a warp has 16 or 32 rows, the weights that one
 * warp makes are shared by all, and x is split once, into the order in which threads read
 * it. Slow draws count as 0 at first; of few rows they are added at the end, in the order of
 * threads, of many put where the weights are shared. Inputs are cut into slices, whose sums
 * the last block to end adds in their order. */
#include "table.cuh"
#include "tensor.cuh"

enum { WIDTH = 64, LANES = 16, WARPS = THREADS / 32, TILES = WIDTH / 8, HALF_TILES = 4 };
enum { FEW_MOST = 32 };
enum { SLICE_LEAST = 8 }; /* steps */
enum { LATE = 4 }; /* counters of a thread with slow draws; the rest is found again */

static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Fragments of 16 rows that a warp has, and rows of a block. */
static int tall_of(int64_t group)
{
    return group <= 16 || (group > FEW_MOST && group <= 16 * WARPS) ? 1 : 2;
}

static int64_t rows_of_block(int64_t group)
{
    return 16 * tall_of(group) * (group > FEW_MOST ? WARPS : 1);
}

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

/* A table that leaves room for the tiles. */
bool xbc_grouped_suits(const xbc_source *source, int64_t out)
{
    return out % WIDTH == 0 && source->columns == XB_COLUMNS &&
           source->degree + source->halves <= 5;
}

/* Words of x, split: of every block's rows and whole steps. */
static int64_t split_words(int64_t groups, int64_t group, int64_t in)
{
    return groups * blocks_of_group(group) * rows_of_block(group) *
           quotient_up(in, STEP) * STEP;
}

/* For these rows and any fewer: slices beyond the first are no more than the blocks that
 * are wanted have. */
int64_t xbc_grouped_room(int64_t rows, int64_t group, int64_t in, int64_t out)
{
    const int64_t columns = out / WIDTH > 0 ? out / WIDTH : 1,
                  groups = quotient_up(rows, group) + 1;
    return split_words(groups, group, in) +
           (quotient_up(blocks_wanted(), columns) * rows_of_block(group) + rows) * out;
}

/* ---- a block's place, and a thread's in it */

struct grouped_place {
    int64_t row0;
    int rows;       /* none or less: nothing to do */
    int begin, end; /* steps */
    int warp, g, q; /* g, q: as the tensor cores count a warp's threads */
    uint32_t number, input_counters; /* of input 0, output g; from one input to the next */

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
        number = (uint32_t)((job.first / WIDTH + draw * job.in * wide + blockIdx.x) * LANES +
                            g);
    }
    /* Input `e` (0 to 3) of the thread's four in a step. */
    __device__ __forceinline__ int input(int step, int e) const
    {
        return step * STEP + 2 * q + e / 2 * 8 + e % 2;
    }
    /* Where its weight of input k and output g is; inputs beyond the last repeat it, since
     * their x is 0. */
    __device__ __forceinline__ int64_t weight(const xbc_grouped &job, int k) const
    {
        return (int64_t)(k < (int)job.in ? k : (int)job.in - 1) * job.out +
               blockIdx.x * WIDTH + g;
    }
};

/* ---- mu and sigma of half a step, on their way */

/* Rows are a step's inputs; of 64 outputs those of the half. A row's eight quads are in an
 * order of its own, so that threads read from different banks. */
enum { STAGE_ROW = WIDTH / 2 };
struct weight_stage {
    float mu[STEP * STAGE_ROW], sigma[STEP * STAGE_ROW];
};

#if defined(XB_EMULATED)
static inline void fetch_quad(float *to, const float *from, bool)
{
    memcpy(to, from, 4 * sizeof *to);
}
static inline void fetch_end(void) {}
template <int LATER> static inline void fetch_wait(void) {}
#else
/* Not aligned: one by one. */
static __device__ __forceinline__ void fetch_quad(float *to, const float *from, bool aligned)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to);
    if (aligned) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from)
                     : "memory");
        return;
    }
    XB_UNROLLED
    for (uint32_t i = 0; i < 4; i++)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at + 4 * i),
                     "l"(from + i)
                     : "memory");
}
static __device__ __forceinline__ void fetch_end(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* All but the last LATER groups are here. */
template <int LATER> static __device__ __forceinline__ void fetch_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
}
#endif

/* A warp asks for its half of a step. */
static __device__ __forceinline__ void fetch_half(weight_stage *to, const xbc_grouped &job,
                                                  int step, int half)
{
    const int lane = (int)threadIdx.x % 32, quad = lane % 8;
    const bool aligned = ((uintptr_t)job.mu | (uintptr_t)job.sigma) % 16 == 0;
    const int64_t output = blockIdx.x * WIDTH + quad / 2 * LANES + 8 * half + quad % 2 * 4;
    XB_UNROLLED
    for (int i = 0; i < STEP; i += 4) {
        const int row = i + lane / 8, k = step * STEP + row;
        const int64_t from = (k < (int)job.in ? k : (int)job.in - 1) * job.out + output;
        const int at = row * STAGE_ROW + 4 * (quad ^ (row / 2 % 4 * 2));
        fetch_quad(to->mu + at, job.mu + from, aligned);
        fetch_quad(to->sigma + at, job.sigma + from, aligned);
    }
}

/* Where a thread's weight of input e (0 to 3) and output g + 16 j is. */
static __device__ __forceinline__ int staged_at(const grouped_place &here, int e, int j)
{
    return (2 * here.q + e / 2 * 8 + e % 2) * STAGE_ROW + 8 * (j ^ here.q) + here.g;
}

/* ---- weights */

/* A thread's share of four tiles, [tile][register], split. */
struct half_tiles {
    uint32_t hi[HALF_TILES][2], lo[HALF_TILES][2];
};

/* The slow draws of one counter times sigma, 0 where they are not slow. */
template <class S>
static __device__ __noinline__ float4 slow_weights(const own_copy<S> own,
                                                   const xbc_grouped &job,
                                                   const stream_keys &keys, uint32_t number,
                                                   const float *sigma)
{
    uint32_t word[4];
    float value[4] = {};
    counter_words(word, keys, number);
    each_slow<S>(own, word, [&](uint32_t w, unsigned j) {
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

/* Slow weights of that counter. */
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

/* Tiles of one half of a step. Returns which of its four counters have slow draws, as
 * bits. */
template <class S>
static __device__ __forceinline__ unsigned
make_half(half_tiles *to, const own_copy<S> &own, const stream_keys &keys,
          const grouped_place &here, int step, int half, const weight_stage &stage)
{
    unsigned slow = 0;
    XB_UNROLLED
    for (int p = 0; p < 2; p++) {
        float w[2][4];
        XB_UNROLLED
        for (int i = 0; i < 2; i++) {
            const int e = 2 * p + i;
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
            for (int j = 0; j < 4; j++) {
                const int at = staged_at(here, e, j);
                w[i][j] = fmaf(stage.sigma[at], z[j], stage.mu[at]);
            }
        }
        XB_UNROLLED
        for (int j = 0; j < HALF_TILES; j++) {
            const split_pair s(w[0][j], w[1][j]);
            to->hi[j][p] = s.hi, to->lo[j][p] = s.lo;
        }
    }
    return slow;
}

/* Which of a step's eight counters have slow draws. */
template <class S>
static __device__ __forceinline__ unsigned slow_counters(const own_copy<S> &own,
                                                         const stream_keys &keys,
                                                         const grouped_place &here,
                                                         int step)
{
    unsigned slow = 0;
    for (int n = 0; n < 8; n++) {
        uint32_t word[4];
        float z[4];
        counter_words(word, keys, counter_of(here, step, n / 4, n % 4));
        for (int j = 0; j < 4; j++) z[j] = fast_value<S>(own, word[j]);
        if (any_slow(z)) slow |= 1u << n;
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

/* The same of few rows straight from x: rows and inputs that are not there are 0. */
static __device__ __forceinline__ void split_tile_of(input_tile *to, const xbc_grouped &job,
                                                     const grouped_place &here, int tile,
                                                     int step)
{
    XB_UNROLLED
    for (int i = 0; i < 4; i++) {
        const int row = 16 * tile + here.g + i % 2 * 8,
                  k = step * STEP + 2 * here.q + i / 2 * 8;
        const float *at = job.x + (here.row0 + row) * job.in + k;
        const bool is = row < here.rows;
        const split_pair s(is && k < (int)job.in ? at[0] : 0,
                           is && k + 1 < (int)job.in ? at[1] : 0);
        to->hi[i] = s.hi, to->lo[i] = s.lo;
    }
}

/* x as tiles [blockIdx.y of the product][tile of its rows][step][hi, lo][thread of a warp];
 * rows and inputs that are not there are 0. A warp makes a tile. */
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
        const split_pair s(is && k < job.in ? at[0] : 0, is && k + 1 < job.in ? at[1] : 0);
        hi[i] = s.hi, lo[i] = s.lo;
    }
    to[tile * 64 + lane] = uint4{hi[0], hi[1], hi[2], hi[3]};
    to[tile * 64 + 32 + lane] = uint4{lo[0], lo[1], lo[2], lo[3]};
}

/* Of the block's rows: the tile of 16 rows from 16 i on, at a step. */
static __device__ __forceinline__ int64_t tile_at(const xbc_grouped &job, int block_tiles,
                                                  int i, int step)
{
    const int64_t steps = (job.in + STEP - 1) / STEP;
    return ((int64_t)blockIdx.y * block_tiles + i) * steps + step;
}

/* sum [tile] += x times weights: the small products first */
static __device__ __forceinline__ void multiply_tile(float sum[4], const input_tile &x,
                                                     const uint32_t hi[2],
                                                     const uint32_t lo[2])
{
    warp_mma(sum, x.lo, hi);
    warp_mma(sum, x.hi, lo);
    warp_mma(sum, x.hi, hi);
}

/* ---- few rows */

/* Counters with slow draws are noted as step * 8 + their number. Those of all threads, one
 * thread after the other, are made side by side, a thread each. */
template <int MT> struct few_room {
    float sum[16 * MT][WIDTH];
    int late[LATE][THREADS];
    int before[THREADS]; /* slow counters of threads up to this one */
    int at[THREADS], owner[THREADS];
    float4 value[THREADS];
    int input[THREADS], lane[THREADS];
};

/* f(row, column, value) for each of a thread's outputs. */
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

/* `count` slow weights into the sums: a thread has some rows and the outputs of one of 16
 * lanes, and goes through all in their order. */
template <int MT>
static __device__ __forceinline__ void add_late(few_room<MT> *room, const xbc_grouped &job,
                                                const grouped_place &here, int count)
{
    const int lane = (int)threadIdx.x % LANES;
    for (int n = 0; n < count; n++) {
        if (room->lane[n] != lane || room->input[n] >= (int)job.in) continue;
        const float4 v = room->value[n];
        for (int r = (int)threadIdx.x / LANES; r < here.rows; r += THREADS / LANES) {
            const float x = job.x[(here.row0 + r) * job.in + room->input[n]];
            room->sum[r][lane] += x * v.x, room->sum[r][lane + 16] += x * v.y;
            room->sum[r][lane + 32] += x * v.z, room->sum[r][lane + 48] += x * v.w;
        }
    }
}

/* The thread's slow counter number i, beyond those that were noted. */
template <class S>
static __device__ __noinline__ int found_again(const own_copy<S> own,
                                               const stream_keys &keys,
                                               const grouped_place &here, int i)
{
    int seen = 0;
    for (int step = here.begin + here.warp; step < here.end; step += WARPS) {
        const unsigned slow = slow_counters<S>(own, keys, here, step);
        for (int n = 0; n < 8; n++)
            if (slow >> n & 1 && seen++ == i) return step * 8 + n;
    }
    return 0; /* never */
}

/* Sums of `count` over the threads up to each. */
static __device__ __forceinline__ void count_up(int *before, int count)
{
    before[threadIdx.x] = count;
    __syncthreads();
    for (unsigned far = 1; far < THREADS; far *= 2) {
        const int more = threadIdx.x >= far ? before[threadIdx.x - far] : 0;
        __syncthreads();
        before[threadIdx.x] += more;
        __syncthreads();
    }
}

/* Thread n makes slow counter n of those in the room. */
template <class S, int MT>
static __device__ __forceinline__ void make_late(few_room<MT> *room, const own_copy<S> &own,
                                                 const xbc_grouped &job,
                                                 const stream_keys &keys,
                                                 const grouped_place &here)
{
    const int n = (int)threadIdx.x, at = room->at[n], owner = room->owner[n];
    grouped_place its = here;
    its.g = owner % 32 / 4, its.q = owner % 4;
    its.number += (uint32_t)(its.g - here.g);
    room->value[n] = slow_at<S>(own, job, keys, its, at / 8, at / 4 % 2, at % 4);
    room->input[n] = its.input(at / 8, at % 4);
    room->lane[n] = its.g + at / 4 % 2 * 8;
}

template <class S, int MT>
static __device__ __forceinline__ void
all_late(few_room<MT> *room, const own_copy<S> &own, const xbc_grouped &job,
         const stream_keys &keys, const grouped_place &here, int waiting)
{
    if (!__syncthreads_or(waiting)) return;
    count_up(room->before, waiting);
    const int all = room->before[THREADS - 1], end = room->before[threadIdx.x];
    for (int first = 0; first < all; first += THREADS) {
        __syncthreads();
        for (int i = 0; i < waiting; i++) {
            const int n = end - waiting + i - first;
            if (n < 0 || n >= THREADS) continue;
            room->owner[n] = (int)threadIdx.x;
            room->at[n] = i < LATE ? room->late[i][threadIdx.x]
                                   : found_again<S>(own, keys, here, i);
        }
        __syncthreads();
        const int count = all - first < THREADS ? all - first : (int)THREADS;
        if ((int)threadIdx.x < count) make_late<S, MT>(room, own, job, keys, here);
        __syncthreads();
        add_late<MT>(room, job, here, count);
    }
}

/* ---- sums of slices */

/* How many slices of a block's outputs have ended; 0 again after the last. */
enum { COUNTED = 1 << 14 };
static __device__ uint32_t ended[COUNTED];

/* The last block to end adds the slices of its rows and outputs in their order, and the
 * bias of the draw. */
static __device__ __forceinline__ void add_slices(const xbc_grouped &job,
                                                  const grouped_place &here,
                                                  const float *part, int64_t slices)
{
    __shared__ bool last;
    uint32_t *count = &ended[blockIdx.y * gridDim.x + blockIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(count, 1u) + 1 == (uint32_t)slices;
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (threadIdx.x == 0) *count = 0;
    for (int i = (int)threadIdx.x; i < here.rows * WIDTH; i += THREADS) {
        const int64_t row = here.row0 + i / WIDTH, column = blockIdx.x * WIDTH + i % WIDTH,
                      at = row * job.out + column;
        float sum = 0;
        for (int64_t s = 0; s < slices; s++)
            sum += __ldcg(part + s * job.rows * job.out + at);
        if (job.bias) sum += job.bias[(row + job.skip) / job.group * job.out + column];
        job.y[at] = sum;
    }
}

/* ---- few rows, the kernel */

template <class S, int MT>
static __global__ void __launch_bounds__(THREADS, 2)
    grouped_few(const __grid_constant__ xbc_grouped job,
                const __grid_constant__ stream_keys keys, float *part, int64_t slices,
                bool adds)
{
    XBC_DYNAMIC(stages);
    __shared__ __align__(16) float table[S::floats];
    __shared__ __align__(16) few_room<MT> room;
    const grouped_place here(job, slices, 16 * MT);
    weight_stage *stage = (weight_stage *)(void *)stages + 2 * here.warp;
    const int first = here.begin + here.warp;
    if (here.rows > 0 && first < here.end) fetch_half(&stage[0], job, first, 0);
    fetch_end();
    table_load<S>(table, job.source.at, job.negate ? -1.0f : 1.0f);
    const own_copy<S> own(table);
    if (here.rows <= 0) return; /* the whole block */
    float sum[MT][TILES][4] = {};
    int waiting = 0;
    for (int step = first; step < here.end; step += WARPS) {
        input_tile x[MT];
        XB_UNROLLED
        for (int i = 0; i < MT; i++) split_tile_of(&x[i], job, here, i, step);
        unsigned slow = 0;
        XB_UNROLLED
        for (int half = 0; half < 2; half++) {
            half_tiles w;
            if (half == 0)
                fetch_half(&stage[1], job, step, 1);
            else if (step + WARPS < here.end)
                fetch_half(&stage[0], job, step + WARPS, 0);
            fetch_end();
            fetch_wait<1>();
            __syncwarp();
            slow |= make_half<S>(&w, own, keys, here, step, half, stage[half]) << 4 * half;
            __syncwarp();
            XB_UNROLLED
            for (int j = 0; j < HALF_TILES; j++) XB_UNROLLED
            for (int i = 0; i < MT; i++)
                multiply_tile(sum[i][2 * j + half], x[i], w.hi[j], w.lo[j]);
        }
        for (int n = 0; slow; n++, slow >>= 1) {
            if (!(slow & 1)) continue;
            if (waiting < LATE) room.late[waiting][threadIdx.x] = step * 8 + n;
            waiting++;
        }
    }
    for (int warp = 0; warp < WARPS; warp++) {
        __syncthreads();
        if (here.warp != warp) continue;
        each_sum<MT>(sum, [&](int row, int column, float v) {
            room.sum[row][column] = warp == 0 ? v : room.sum[row][column] + v;
        });
    }
    __syncthreads();
    all_late<S, MT>(&room, own, job, keys, here, waiting);
    __syncthreads();
    float *to = part + (blockIdx.z * job.rows + here.row0) * job.out + blockIdx.x * WIDTH;
    for (int i = (int)threadIdx.x; i < here.rows * WIDTH; i += THREADS)
        to[i / WIDTH * job.out + i % WIDTH] = room.sum[i / WIDTH][i % WIDTH];
    if (adds) add_slices(job, here, part, slices);
}

/* ---- many rows */

/* One weight anew, where it is shared: input e of four is the half e % 2 of word e / 2. */
static __device__ __forceinline__ void put_weight(uint4 *to, int e, float value)
{
    uint16_t *half = (uint16_t *)(void *)to + e;
    const split_pair s(value, 0);
    half[0] = (uint16_t)s.hi, half[4] = (uint16_t)s.lo;
}

/* A thread's counters of a step that have slow draws, as bits. */
template <class S>
static __device__ __forceinline__ void
put_slow(uint4 to[2][HALF_TILES][32], const own_copy<S> &own, const xbc_grouped &job,
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
    grouped_many(const __grid_constant__ xbc_grouped job,
                 const __grid_constant__ stream_keys keys, const uint4 *tiles, float *part,
                 int64_t slices, bool adds)
{
    XBC_DYNAMIC(stages);
    __shared__ __align__(16) float table[S::floats];
    /* of WARPS steps, each made by one warp, as threads read them */
    __shared__ __align__(16) uint4 weights[WARPS][2][HALF_TILES][32];
    table_load<S>(table, job.source.at, job.negate ? -1.0f : 1.0f);
    const own_copy<S> own(table);
    const grouped_place here(job, slices, 16 * MT * WARPS);
    weight_stage *stage = (weight_stage *)(void *)stages + 2 * here.warp;
    if (here.rows <= 0) return; /* the whole block */
    for (int half = 0; half < 2 && here.begin + here.warp < here.end; half++)
        fetch_half(&stage[half], job, here.begin + here.warp, half);
    fetch_end();
    const int m0 = here.warp * 16 * MT, lane = (int)threadIdx.x % 32;
    float sum[MT][TILES][4] = {};
    for (int first = here.begin; first < here.end; first += WARPS) {
        const int left = here.end - first, count = left < WARPS ? left : (int)WARPS;
        fetch_wait<0>();
        __syncwarp();
        if (here.warp < count) {
            unsigned slow = 0;
            XB_UNROLLED
            for (int half = 0; half < 2; half++) {
                half_tiles w;
                slow |= make_half<S>(&w, own, keys, here, first + here.warp, half,
                                     stage[half])
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
        for (int half = 0; half < 2 && first + WARPS + here.warp < here.end; half++)
            fetch_half(&stage[half], job, first + WARPS + here.warp, half);
        fetch_end();
        input_tile next[MT]; /* on its way while the step before is at work */
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
    if (adds) add_slices(job, here, part, slices);
}

/* The same where blocks are too many to be counted; + the bias of the row's draw. */
static __global__ void add_grouped(float *y, const float *part, const float *bias,
                                   int64_t n, int64_t slices, int64_t out, int64_t group,
                                   int64_t skip)
{
    for
        EACH(i, n)
        {
            float sum = 0;
            for (int64_t s = 0; s < slices; s++) sum += part[s * n + i];
            y[i] = bias ? sum + bias[(i / out + skip) / group * out + i % out] : sum;
        }
}

/* ---- launches */

static const size_t STAGES_BYTES = 2 * WARPS * sizeof(weight_stage);

#define START_GROUPED(kernel, ...)                                                       \
    do {                                                                                 \
        static bool has_room;                                                            \
        if (!has_room)                                                                   \
            has_room = xbc_good(                                                         \
                cudaFuncSetAttribute((const void *)kernel,                               \
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,        \
                                     (int)STAGES_BYTES),                                 \
                "taking shared memory");                                                 \
        if (!xbc_sound()) break;                                                         \
        XBC_START_ON(kernel, blocks, THREADS, STAGES_BYTES, 0, __VA_ARGS__);             \
        xbc_good(cudaGetLastError(), "multiplying draws");                               \
    } while (0)

template <class S>
static void launch_shape(const xbc_grouped *job, const stream_keys &keys, int64_t slices,
                         const uint4 *tiles, float *part, dim3 blocks, bool adds)
{
    const bool many = job->group > FEW_MOST, flat = tall_of(job->group) == 1;
    if (many && flat)
        START_GROUPED((grouped_many<S, 1>), *job, keys, tiles, part, slices, adds);
    else if (many)
        START_GROUPED((grouped_many<S, 2>), *job, keys, tiles, part, slices, adds);
    else if (flat)
        START_GROUPED((grouped_few<S, 1>), *job, keys, part, slices, adds);
    else
        START_GROUPED((grouped_few<S, 2>), *job, keys, part, slices, adds);
}

/* The room: x, split, then the sums of slices. */
void xbc_grouped_forward(const xbc_grouped *job)
{
    const int64_t slices = slices_of(job->groups, job->group, job->in, job->out);
    const int64_t words = split_words(job->groups, job->group, job->in);
    const int64_t count = words / (16 * STEP), n = job->rows * job->out;
    const dim3 blocks((unsigned)(job->out / WIDTH),
                      (unsigned)(job->groups * blocks_of_group(job->group)),
                      (unsigned)slices);
    const bool adds = (int64_t)blocks.x * blocks.y <= COUNTED;
    const stream_keys keys = keys_of(job->where);
    uint4 *tiles = (uint4 *)(void *)job->room;
    float *part = job->room + words;
    if (job->group > FEW_MOST)
        XBC_LAUNCH("splitting inputs", split_inputs, (unsigned)quotient_up(count, WARPS),
                   THREADS, *job, tiles, count, (int)rows_of_block(job->group));
    if (job->source.halves == 2)
        launch_shape<Shape<XB_COLUMNS, 3, 2>>(job, keys, slices, tiles, part, blocks, adds);
    else if (job->source.degree == 3)
        launch_shape<Shape<XB_COLUMNS, 3, 1>>(job, keys, slices, tiles, part, blocks, adds);
    else
        launch_shape<Shape<XB_COLUMNS, 4, 1>>(job, keys, slices, tiles, part, blocks, adds);
    if (!adds)
        XBC_LAUNCH("multiplying draws", add_grouped, blocks_for(n), THREADS, job->y,
                   (const float *)part, job->bias, n, slices, job->out, job->group,
                   job->skip);
}
