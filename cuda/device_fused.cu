/* device_fused.cu: a dense layer in which every example has its own draw, which is
 * never stored in memory: y [row] = x [row] (mu + sigma z [row]); maths N1, N9.
 *
 * All of it is a line of tiles, each of 64 outputs and ROWS examples, one after another,
 * by steps of 16 inputs; every block takes an equal part of the line, so that all of
 * them end together. A thread has one of 16 lanes and one of a step's inputs: the four
 * words of its counter are four outputs that are 16 apart. mu and sigma are loaded once
 * for ROWS draws. Sums are added over threads, then over blocks, in a fixed order. */
#include "late.cuh"
#include "table.cuh"

enum { LANES = 16, WIDTH = 64, INPUTS = THREADS / LANES, ROWS_MOST = 4 };
enum { TOGETHER = 2 }; /* blocks on a multiprocessor at once */
/* Blocks in all, as many as an H200 runs at once, and the fewest steps of one. They are
 * the same on every device, and so are the sums. */
enum { BLOCKS_MOST = 132 * TOGETHER, STEPS_LEAST = 4 };

static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int rows_together(int64_t rows) { return rows < ROWS_MOST ? 1 : ROWS_MOST; }

/* The line of tiles, cut for blocks; it depends only on sizes. Its stretch of a tile and
 * a block is number tile + block of the sums, since from one stretch to the next the tile
 * or the block goes on. */
struct fused_line {
    int64_t wide, steps; /* tiles side by side; steps of a tile */
    int64_t tiles, blocks;

    fused_line(int64_t rows, int64_t in, int64_t out)
    {
        wide = out / WIDTH, steps = quotient_up(in, INPUTS);
        tiles = wide * quotient_up(rows, rows_together(rows));
        const int64_t most = quotient_up(tiles * steps, STEPS_LEAST);
        blocks = most < BLOCKS_MOST ? most : (int64_t)BLOCKS_MOST;
    }
    /* Where a block begins, and the block that has a step of the line. */
    __device__ __forceinline__ int64_t begin(int64_t block) const
    {
        return block * tiles * steps / blocks;
    }
    __device__ __forceinline__ int64_t block_of(int64_t step) const
    {
        return ((step + 1) * blocks - 1) / (tiles * steps);
    }
};

/* Room for this number of rows and any smaller one. */
int64_t xbc_fused_room(int64_t rows, int64_t in, int64_t out)
{
    (void)in;
    return (rows + ROWS_MOST) * out + ROWS_MOST * BLOCKS_MOST * WIDTH;
}

/* The outputs, rows and inputs of a stretch: its tile's steps from `step` to `stop`, as
 * far as they are the tile's. */
template <int ROWS> struct place {
    int lane, mine, begin, end, steps, output;
    int64_t tile, row0, at; /* at: the thread's first weight */

    __device__ __forceinline__ place(const xbc_fused &job, const fused_line &line,
                                     int64_t step, int64_t stop)
    {
        tile = step / line.steps;
        const int64_t from = step - tile * line.steps, left = line.steps - from;
        steps = (int)(stop - step < left ? stop - step : left);
        lane = (int)threadIdx.x % LANES, mine = (int)threadIdx.x / LANES;
        begin = (int)from * INPUTS, end = begin + steps * INPUTS;
        if (end > job.in) end = (int)job.in;
        row0 = tile / line.wide * ROWS, output = (int)(tile % line.wide) * WIDTH;
        at = (int64_t)(begin + mine) * job.out + output + lane;
    }
    /* Rows beyond the last one repeat it; their results are not stored. */
    __device__ __forceinline__ const float *x(const xbc_fused &job, int r) const
    {
        return job.x + (row0 + r < job.rows ? row0 + r : job.rows - 1) * job.in;
    }
};

/* Where the draws of a block are in the stream. Thread t's input number i is input
 * begin + t / LANES + i INPUTS. */
template <class S> struct fused_draws {
    const own_copy<S> own;
    const stream_keys &keys;
    uint32_t first, row_step, input_step; /* the counter of the first row, input and lane,
                                             and its distance to the next row and input */

    template <int ROWS>
    __device__ __forceinline__ fused_draws(const own_copy<S> &table, const stream_keys &k,
                                           const xbc_fused &job, const place<ROWS> &here)
        : own(table), keys(k)
    {
        const int64_t blocks = job.out / WIDTH;
        row_step = (uint32_t)(job.in * blocks * LANES);
        input_step = (uint32_t)(blocks * LANES);
        first = (uint32_t)(((job.first + here.output) / WIDTH +
                            (here.row0 * job.in + here.begin) * blocks) *
                           LANES);
    }
    /* The counter of the thread's input number i and of a row. */
    __device__ __forceinline__ uint32_t number(uint32_t t, uint32_t i, uint32_t row) const
    {
        return first + t % LANES + (t / LANES + i * INPUTS) * input_step + row * row_step;
    }
    __device__ __forceinline__ void values(float (&z)[4], uint32_t number) const
    {
        uint32_t word[4];
        counter_words(word, keys, number);
        fast_values<S>(z, own, word);
    }
};

/* ---- slow draws. A thread leaves out the draws of a counter that has slow ones, and
 * notes a bit for its input and row. After SHARE inputs, which are 32 of a thread, the
 * block's threads share the work, and each adds what belongs to its own sums, in their
 * order. */
enum { CHUNK = 8 * INPUTS, SHARE = 32 * INPUTS };

struct late_draws {
    late_list list;
    float4 part[LISTED]; /* what an item adds to the sums of four outputs */
};

/* What the draws of thread t's input number i add to its sums of a row. */
template <class S, int ROWS>
static __device__ __noinline__ float4 late_part(const xbc_fused &job,
                                                const fused_draws<S> &draws,
                                                const place<ROWS> &here, uint32_t t,
                                                uint32_t i, uint32_t row)
{
    const int64_t input = here.begin + t / LANES + (int64_t)i * INPUTS;
    const float x = here.x(job, (int)row)[input];
    const int64_t at = input * job.out + here.output + t % LANES;
    const float *mu = job.mu + at, *sigma = job.sigma + at;
    float z[4];
    counter_values<S>(z, draws.own, draws.keys, draws.number(t, i, row), job.negate,
                      [&](uint32_t word) { return slow_value(job.source.at, word); });
    const auto part = [&](int j) {
        return x * fmaf(sigma[LANES * j], z[j], mu[LANES * j]);
    };
    return float4{part(0), part(1), part(2), part(3)};
}

/* Adds the draws of one input for all rows to the sums of four outputs. The rows' draws
 * are made side by side, without a branch between them: their steps need different units
 * of the processor. Rows with slow draws get `bit`. */
template <class S, int ROWS>
static __device__ __forceinline__ void use_draws(float sum[ROWS][4],
                                                 uint32_t (&late)[ROWS], uint32_t bit,
                                                 const fused_draws<S> &draws,
                                                 uint32_t counter, const float x[ROWS],
                                                 const float mu[4], const float sigma[4])
{
    float z[ROWS][4];
    XB_UNROLLED
    for (int r = 0; r < ROWS; r++)
        draws.values(z[r], counter + (uint32_t)r * draws.row_step);
    XB_UNROLLED
    for (int r = 0; r < ROWS; r++) {
        const bool slow = any_slow(z[r]);
        if (slow) late[r] |= bit;
        XB_UNROLLED
        for (int j = 0; j < 4; j++) {
            const float w = fmaf(sigma[j], z[r][j], mu[j]);
            if (!slow) sum[r][j] = fmaf(x[r], w, sum[r][j]);
        }
    }
}

template <int ROWS>
static __device__ __forceinline__ void add_part(float sum[ROWS][4], uint32_t row,
                                                float4 v)
{
    XB_UNROLLED
    for (uint32_t r = 0; r < ROWS; r++) {
        if (r != row) continue;
        sum[r][0] += v.x, sum[r][1] += v.y, sum[r][2] += v.z, sum[r][3] += v.w;
    }
}

/* Adds what threads have left out since their input number `from`. */
template <class S, int ROWS>
static __device__ __forceinline__ void add_late(float sum[ROWS][4], late_draws *work,
                                                uint32_t (&late)[ROWS],
                                                const xbc_fused &job,
                                                const fused_draws<S> &draws,
                                                const place<ROWS> &here, uint32_t from)
{
    for (bool more = true; more;) {
        const late_items items = list_late(&work->list, late);
        const uint16_t *item = work->list.item;
        XB_ROLLED
        for (uint32_t k = threadIdx.x; k < items.all; k += THREADS) {
            const uint32_t t = item[k] % THREADS, bit = item[k] / THREADS;
            work->part[k] =
                late_part<S, ROWS>(job, draws, here, t, from + bit % 32, bit / 32);
        }
        __syncthreads();
        XB_ROLLED
        for (uint32_t k = items.first; k < items.end; k++)
            add_part<ROWS>(sum, item[k] / THREADS / 32, work->part[k]);
        more = items.more;
        __syncthreads();
    }
}

/* A block's memory beside the table holds inputs while it multiplies, and sums
 * afterwards. */
enum { HALF = INPUTS / 2 };
template <int ROWS> union fused_room {
    float x[CHUNK][ROWS];
    float sum[HALF][ROWS * WIDTH];
};

/* Loads x of the chunk's inputs as [input][row]. */
template <int ROWS>
static __device__ __forceinline__ void load_inputs(float x[CHUNK][ROWS],
                                                   const xbc_fused &job,
                                                   const place<ROWS> &here, int first)
{
    __syncthreads();
    for (int i = (int)threadIdx.x; i < CHUNK * ROWS; i += THREADS) {
        int r = i / CHUNK, k = first + i % CHUNK;
        if (k < here.end) x[i % CHUNK][r] = here.x(job, r)[k];
    }
    __syncthreads();
}

/* Stores the sums of the upper half of the block's inputs, then adds those of the
 * lower half. */
template <int ROWS>
static __device__ __forceinline__ void add_up(float to[HALF][ROWS * WIDTH],
                                              const float sum[ROWS][4],
                                              const place<ROWS> &here)
{
    float *own = to[here.mine % HALF] + here.lane;
    for (int upper = 1; upper >= 0; upper--) {
        if ((here.mine >= HALF) == upper) XB_UNROLLED
        for (int r = 0; r < ROWS; r++) XB_UNROLLED
        for (int j = 0; j < 4; j++) {
            float *at = own + r * WIDTH + LANES * j;
            *at = upper ? sum[r][j] : *at + sum[r][j];
        }
        __syncthreads();
    }
}

template <class S, int ROWS> struct fused_memory {
    float table[S::floats];
    fused_room<ROWS> room;
    late_draws late;
};

/* The sums of a stretch, by threads. */
template <class S, int ROWS>
static __device__ __forceinline__ void multiply(float sum[ROWS][4],
                                                fused_memory<S, ROWS> *m,
                                                const xbc_fused &job,
                                                const fused_draws<S> &draws,
                                                const place<ROWS> &here)
{
    const float *mu_at = job.mu + here.at, *sigma_at = job.sigma + here.at;
    uint32_t counter = draws.number(threadIdx.x, 0, 0), from = 0, late[ROWS] = {},
             bit = 1;
    for (int first = here.begin; first < here.end; first += CHUNK) {
        load_inputs<ROWS>(m->room.x, job, here, first);
        const int count = here.end - first < CHUNK ? here.end - first : CHUNK;
        for (int n = here.mine; n < count; n += INPUTS) {
            float mu[4], sigma[4], x[ROWS];
            XB_UNROLLED
            for (int j = 0; j < 4; j++)
                mu[j] = load_once(mu_at + LANES * j),
                sigma[j] = load_once(sigma_at + LANES * j);
            XB_UNROLLED
            for (int r = 0; r < ROWS; r++) x[r] = m->room.x[n][r];
            use_draws<S, ROWS>(sum, late, bit, draws, counter, x, mu, sigma);
            counter += INPUTS * draws.input_step, bit += bit;
            mu_at += INPUTS * job.out, sigma_at += INPUTS * job.out;
        }
        const int done = first - here.begin + CHUNK;
        if (done % SHARE != 0 && first + CHUNK < here.end) continue;
        add_late<S, ROWS>(sum, &m->late, late, job, draws, here, from);
        from = (uint32_t)(done / INPUTS), bit = 1;
    }
}

template <class S, int ROWS>
static __global__ void __launch_bounds__(THREADS, TOGETHER)
    fused_stretches(const __grid_constant__ xbc_fused job,
                    const __grid_constant__ stream_keys keys,
                    const __grid_constant__ fused_line line)
{
    XBC_DYNAMIC(memory);
    fused_memory<S, ROWS> *m = (fused_memory<S, ROWS> *)(void *)memory;
    table_load<S>(m->table, job.source.at, job.negate ? -1.0f : 1.0f);
    const own_copy<S> own(m->table);
    const int64_t stop = line.begin(blockIdx.x + 1);
    for (int64_t step = line.begin(blockIdx.x); step < stop;) {
        const place<ROWS> here(job, line, step, stop);
        const fused_draws<S> draws(own, keys, job, here);
        float sum[ROWS][4] = {};
        multiply<S, ROWS>(sum, m, job, draws, here);
        __syncthreads(); /* sums take the inputs' place */
        add_up<ROWS>(m->room.sum, sum, here);
        float *to = job.room + (here.tile + blockIdx.x) * ROWS * WIDTH;
        for (int k = (int)threadIdx.x; k < ROWS * WIDTH; k += THREADS) {
            float all = 0;
            for (int n = 0; n < HALF; n++) all += m->room.sum[n][k];
            to[k] = all;
        }
        step += here.steps;
    }
}

/* A block has a tile, whose stretches it adds. */
template <int ROWS>
static __global__ void __launch_bounds__(ROWS *WIDTH)
    add_stretches(const __grid_constant__ xbc_fused job,
                  const __grid_constant__ fused_line line)
{
    const int64_t tile = blockIdx.x, row = tile / line.wide * ROWS + threadIdx.x / WIDTH,
                  i = row * job.out + tile % line.wide * WIDTH + threadIdx.x % WIDTH;
    if (row >= job.rows) return;
    const int64_t from = line.block_of(tile * line.steps),
                  to = line.block_of((tile + 1) * line.steps - 1);
    float sum = job.bias ? job.bias[i] : 0;
    for (int64_t b = from; b <= to; b++)
        sum += job.room[(tile + b) * ROWS * WIDTH + threadIdx.x];
    job.y[i] = sum;
}

template <class S, int ROWS> static void launch_rows(const xbc_fused *job)
{
    const size_t bytes = sizeof(fused_memory<S, ROWS>);
    static_assert(sizeof(fused_memory<S, ROWS>) <= XBC_SHARED_MOST,
                  "any GPU has room for this");
    const fused_line line(job->rows, job->in, job->out);
    XBC_LAUNCH_SHARED("multiplying draws", (fused_stretches<S, ROWS>),
                      (unsigned)line.blocks, THREADS, bytes, *job, keys_of(job->where),
                      line);
    XBC_LAUNCH("multiplying draws", add_stretches<ROWS>, (unsigned)line.tiles,
               ROWS * WIDTH, *job, line);
}

void xbc_fused_forward(const xbc_fused *job)
{
    for_shape(job->source, [&](auto shape) {
        if (rows_together(job->rows) == 1)
            launch_rows<decltype(shape), 1>(job);
        else
            launch_rows<decltype(shape), ROWS_MOST>(job);
    });
}
