/* device_fused.cu: a dense layer in which every example has its own draw, which is
 * never stored in memory: y [row] = x [row] (mu + sigma z [row]); maths N1, N9.
 *
 * A block has 64 outputs, ROWS examples and a slice of the inputs. A thread has one of
 * 16 lanes and one of 16 inputs at a time: the four words of its counter are four
 * outputs that are 16 apart. mu and sigma are loaded once for ROWS draws. Sums are
 * added over threads, then over slices, in a fixed order. */
#include "table.cuh"

#if !defined(XBC_FUSED_BLOCKS)
#define XBC_FUSED_BLOCKS 2 /* blocks on a multiprocessor at once */
#endif

enum { LANES = 16, WIDTH = 64, INPUTS = THREADS / LANES, ROWS_MOST = 4 };
enum { BLOCKS_WANTED = 264, SLICE_LEAST = 4 * INPUTS };

static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int rows_together(int64_t rows) { return rows < ROWS_MOST ? 1 : ROWS_MOST; }

/* The number of slices of the inputs; it depends only on the sizes. */
static int64_t slices_of(int64_t rows, int64_t in, int64_t out)
{
    int64_t blocks = out / WIDTH * quotient_up(rows, rows_together(rows));
    int64_t wanted = quotient_up(BLOCKS_WANTED, blocks), most = in / SLICE_LEAST;
    return wanted < 1 || most < 1 ? 1 : wanted < most ? wanted : most;
}

/* Room for this number of rows and any smaller one: at most BLOCKS_WANTED blocks of
 * ROWS_MOST rows, and one slice of all rows. */
int64_t xbc_fused_room(int64_t rows, int64_t in, int64_t out)
{
    (void)in;
    int64_t blocks = quotient_up(BLOCKS_WANTED, out / WIDTH > 0 ? out / WIDTH : 1);
    return (ROWS_MOST * blocks + rows) * out;
}

/* The outputs, rows and inputs of a block. */
template <int ROWS> struct place {
    int lane, mine, begin, end;
    int64_t row0, at; /* at: the thread's first weight */

    __device__ __forceinline__ place(const xbc_fused &job, int64_t slices)
    {
        lane = (int)threadIdx.x % LANES, mine = (int)threadIdx.x / LANES;
        begin = (int)(blockIdx.z * job.in / slices);
        end = (int)((blockIdx.z + 1) * job.in / slices);
        row0 = (int64_t)blockIdx.y * ROWS;
        at = (int64_t)(begin + mine) * job.out + blockIdx.x * WIDTH + lane;
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

    __device__ __forceinline__ fused_draws(const float *table, const stream_keys &k,
                                           const xbc_fused &job, int begin, int64_t row0)
        : own(table), keys(k)
    {
        const int64_t blocks = job.out / WIDTH;
        row_step = (uint32_t)(job.in * blocks * LANES);
        input_step = (uint32_t)(blocks * LANES);
        first = (uint32_t)((job.first / WIDTH + row0 * job.in * blocks + begin * blocks +
                            blockIdx.x) *
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
        XB_UNROLLED
        for (int j = 0; j < 4; j++) z[j] = fast_value<S>(own, word[j]);
    }
};

/* ---- slow draws. A thread leaves out the draws of a counter that has slow ones, and
 * notes the counter; those for which there is no room are only counted, and found again
 * later. After SHARE inputs the block's threads share the work, and each adds what
 * belongs to its own sums, in their order. Under a Gaussian law nearly all threads have
 * one counter then. */
enum { LATE = XBC_LATE(8), CHUNK = 8 * INPUTS, SHARE = 6 * CHUNK };

struct late_draws {
    float4 part[LATE][THREADS]; /* what note [i][t] adds to the sums of four outputs */
    uint32_t note[LATE + 1][THREADS]; /* input number * ROWS_MOST + row; the last one is
                                         for those without room */
    uint16_t list[LATE * THREADS];
    uint32_t count;
};

/* What a note of thread t adds to its sums. */
template <class S, int ROWS>
static __device__ __noinline__ float4 late_part(const xbc_fused &job,
                                                const fused_draws<S> &draws,
                                                const place<ROWS> &here, uint32_t t,
                                                uint32_t note)
{
    const uint32_t i = note / ROWS_MOST, row = note % ROWS_MOST;
    const int64_t input = here.begin + t / LANES + (int64_t)i * INPUTS;
    const float x = here.x(job, (int)row)[input];
    const float *sigma = job.sigma + input * job.out + blockIdx.x * WIDTH + t % LANES;
    uint32_t word[4];
    float z[4];
    counter_words(word, draws.keys, draws.number(t, i, row));
    XB_UNROLLED
    for (int j = 0; j < 4; j++) z[j] = fast_value<S>(draws.own, word[j]);
    each_slow<S>(draws.own, word, [&](uint32_t w, unsigned at) {
        const float v = slow_value(job.source.at, w);
        XB_UNROLLED
        for (unsigned j = 0; j < 4; j++)
            if (j == at) z[j] = job.negate ? -v : v;
    });
    return float4{x * sigma[0] * z[0], x * sigma[LANES] * z[1],
                  x * sigma[2 * LANES] * z[2], x * sigma[3 * LANES] * z[3]};
}

/* Makes the parts of all notes. */
template <class S, int ROWS>
static __device__ __forceinline__ void share_late(late_draws *late, uint32_t waiting,
                                                  const xbc_fused &job,
                                                  const fused_draws<S> &draws,
                                                  const place<ROWS> &here)
{
    const uint32_t n = waiting < LATE ? waiting : (uint32_t)LATE;
    const uint32_t to = n > 0 ? atomicAdd(&late->count, n) : 0;
    for (uint32_t i = 0; i < n; i++)
        late->list[to + i] = (uint16_t)(i * THREADS + threadIdx.x);
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < late->count; k += THREADS) {
        const uint32_t i = late->list[k] / THREADS, t = late->list[k] % THREADS;
        late->part[i][t] = late_part<S, ROWS>(job, draws, here, t, late->note[i][t]);
    }
    __syncthreads();
    if (threadIdx.x == 0) late->count = 0;
}

/* ---- */

/* Adds the draws of one input for all rows to the sums of four outputs. The rows' draws
 * are made side by side, without a branch between them: their steps need different units
 * of the processor. */
template <class S, int ROWS>
static __device__ __forceinline__ void use_draws(float sum[ROWS][4],
                                                 const fused_draws<S> &draws,
                                                 uint32_t counter, late_draws *late,
                                                 uint32_t *waiting, uint32_t i,
                                                 const float x[ROWS], const float mu[4],
                                                 const float sigma[4])
{
    float z[ROWS][4];
    bool slow[ROWS], any = false;
    XB_UNROLLED
    for (int r = 0; r < ROWS; r++)
        draws.values(z[r], counter + (uint32_t)r * draws.row_step);
    XB_UNROLLED
    for (int r = 0; r < ROWS; r++) slow[r] = any_slow(z[r]), any |= slow[r];
    if (any) XB_UNROLLED
    for (uint32_t r = 0; r < ROWS; r++) {
        if (!slow[r]) continue;
        z[r][0] = z[r][1] = z[r][2] = z[r][3] = 0;
        late->note[*waiting < LATE ? *waiting : (uint32_t)LATE][threadIdx.x] =
            i * ROWS_MOST + r;
        ++*waiting;
    }
    XB_UNROLLED
    for (int r = 0; r < ROWS; r++) XB_UNROLLED
    for (int j = 0; j < 4; j++)
        sum[r][j] = fmaf(x[r], fmaf(sigma[j], z[r][j], mu[j]), sum[r][j]);
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

/* Adds what the thread's inputs number `from` to `to` - 1 have left out. */
template <class S, int ROWS>
static __device__ __forceinline__ void add_late(float sum[ROWS][4], late_draws *late,
                                                uint32_t waiting, const xbc_fused &job,
                                                const fused_draws<S> &draws,
                                                const place<ROWS> &here, uint32_t from,
                                                uint32_t to)
{
    const uint32_t t = threadIdx.x;
    share_late<S, ROWS>(late, waiting, job, draws, here);
    for (uint32_t i = 0; i < waiting && i < LATE; i++)
        add_part<ROWS>(sum, late->note[i][t] % ROWS_MOST, late->part[i][t]);
    uint32_t seen = 0;
    for (uint32_t i = from; waiting > LATE && i < to; i++)
        for (uint32_t row = 0; row < ROWS; row++) {
            float z[4];
            draws.values(z, draws.number(t, i, row));
            if (any_slow(z) && seen++ >= LATE)
                add_part<ROWS>(
                    sum, row,
                    late_part<S, ROWS>(job, draws, here, t, i * ROWS_MOST + row));
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
                                                   const place<ROWS> &here, int first,
                                                   int end)
{
    __syncthreads();
    for (int i = (int)threadIdx.x; i < CHUNK * ROWS; i += THREADS) {
        int r = i / CHUNK, k = first + i % CHUNK;
        if (k < end) x[i % CHUNK][r] = here.x(job, r)[k];
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

template <class S, int ROWS>
static __global__ void __launch_bounds__(THREADS, XBC_FUSED_BLOCKS)
    fused_slice(const __grid_constant__ xbc_fused job,
                const __grid_constant__ stream_keys keys, float *part, int64_t slices)
{
    XBC_DYNAMIC(memory);
    fused_memory<S, ROWS> *m = (fused_memory<S, ROWS> *)(void *)memory;
    if (threadIdx.x == 0) m->late.count = 0;
    table_load<S>(m->table, job.source.at, job.negate ? -1.0f : 1.0f);
    const place<ROWS> here(job, slices);
    const fused_draws<S> draws(m->table, keys, job, here.begin, here.row0);
    const float *mu_at = job.mu + here.at, *sigma_at = job.sigma + here.at;
    uint32_t counter = draws.number(threadIdx.x, 0, 0), waiting = 0, i = 0, shared = 0;
    float sum[ROWS][4] = {};
    for (int first = here.begin; first < here.end; first += CHUNK) {
        load_inputs<ROWS>(m->room.x, job, here, first, here.end);
        for (int n = here.mine; n < CHUNK && first + n < here.end; n += INPUTS) {
            float mu[4], sigma[4], x[ROWS];
            XB_UNROLLED
            for (int j = 0; j < 4; j++)
                mu[j] = mu_at[LANES * j], sigma[j] = sigma_at[LANES * j];
            XB_UNROLLED
            for (int r = 0; r < ROWS; r++) x[r] = m->room.x[n][r];
            use_draws<S, ROWS>(sum, draws, counter, &m->late, &waiting, i++, x, mu,
                               sigma);
            counter += INPUTS * draws.input_step;
            mu_at += INPUTS * job.out, sigma_at += INPUTS * job.out;
        }
        if ((first - here.begin) % SHARE < SHARE - CHUNK && first + CHUNK < here.end)
            continue;
        add_late<S, ROWS>(sum, &m->late, waiting, job, draws, here, shared, i);
        shared = i, waiting = 0;
    }
    __syncthreads(); /* sums take the inputs' place */
    add_up<ROWS>(m->room.sum, sum, here);
    for (int k = (int)threadIdx.x; k < ROWS * WIDTH; k += THREADS) {
        float all = 0;
        for (int n = 0; n < HALF; n++) all += m->room.sum[n][k];
        int64_t row = here.row0 + k / WIDTH;
        if (row < job.rows)
            part[(blockIdx.z * job.rows + row) * job.out + blockIdx.x * WIDTH +
                 k % WIDTH] = all;
    }
}

static __global__ void add_slices(float *y, const float *part, const float *bias,
                                  int64_t n, int64_t slices)
{
    for
        EACH(i, n)
        {
            float sum = bias ? bias[i] : 0;
            for (int64_t s = 0; s < slices; s++) sum += part[s * n + i];
            y[i] = sum;
        }
}

template <class S, int ROWS> static void launch_rows(const xbc_fused *job, int64_t slices)
{
    const size_t bytes = sizeof(fused_memory<S, ROWS>);
    static_assert(sizeof(fused_memory<S, ROWS>) <= XBC_SHARED_MOST,
                  "any GPU has room for this");
    const dim3 blocks((unsigned)(job->out / WIDTH),
                      (unsigned)quotient_up(job->rows, ROWS), (unsigned)slices);
    XBC_LAUNCH_SHARED("multiplying draws", (fused_slice<S, ROWS>), blocks, THREADS, bytes,
                      *job, keys_of(job->where), job->room, slices);
}

/* One launch takes as many rows as a grid has room for. */
static void fused_rows(const xbc_fused *job)
{
    int64_t slices = slices_of(job->rows, job->in, job->out), n = job->rows * job->out;
    for_shape(job->source, [&](auto shape) {
        if (rows_together(job->rows) == 1)
            launch_rows<decltype(shape), 1>(job, slices);
        else
            launch_rows<decltype(shape), ROWS_MOST>(job, slices);
    });
    XBC_LAUNCH("multiplying draws", add_slices, blocks_for(n), THREADS, job->y,
               (const float *)job->room, job->bias, n, slices);
}

void xbc_fused_forward(const xbc_fused *job)
{
    const int64_t SOME = 1 << 15; /* a multiple of ROWS_MOST */
    for (int64_t row = 0; row < job->rows; row += SOME) {
        xbc_fused some = *job;
        some.rows = job->rows - row < SOME ? job->rows - row : SOME;
        some.first = job->first + row * job->in * job->out;
        some.x = job->x + row * job->in, some.y = job->y + row * job->out;
        if (job->bias) some.bias = job->bias + row * job->out;
        fused_rows(&some);
    }
}
