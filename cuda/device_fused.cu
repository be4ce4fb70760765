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
enum { BLOCKS_WANTED = 1056, SLICE_LEAST = 4 * INPUTS };

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

/* Where the draws of a thread are in the stream. */
template <class S> struct fused_draws {
    const own_copy<S> own;
    const stream_keys &keys;
    uint32_t counter, row_step, input_step; /* the first input's counter, and its
                                               distance to the next row and input */

    __device__ __forceinline__ fused_draws(const float *table, const stream_keys &k,
                                           const xbc_fused &job, int lane, int begin,
                                           int64_t row0)
        : own(table), keys(k)
    {
        const int64_t blocks = job.out / WIDTH;
        row_step = (uint32_t)(job.in * blocks * LANES);
        input_step = (uint32_t)(blocks * LANES);
        counter = (uint32_t)((job.first / WIDTH + row0 * job.in * blocks +
                              begin * blocks + blockIdx.x) *
                                 LANES +
                             lane);
    }
    /* The counter of input at / ROWS, row at % ROWS. */
    template <int ROWS>
    __device__ __forceinline__ uint32_t number(const place<ROWS> &here, uint32_t at) const
    {
        uint32_t first = (uint32_t)(here.begin + here.mine);
        return counter + (at / ROWS - first) * input_step + at % ROWS * row_step;
    }
    __device__ __forceinline__ void values(float z[4], uint32_t number) const
    {
        uint32_t word[4];
        counter_words(word, keys, number);
        XB_UNROLLED
        for (int j = 0; j < 4; j++) z[j] = fast_value<S>(own, word[j]);
    }
};

/* The counters of a thread that have slow draws. Those for which there is no room are
 * only counted, and found again later. */
enum { LATE = 8 };

struct late_draws {
    uint32_t at[LATE][THREADS]; /* input * ROWS + row */
};

/* Slow draws of one input count as 0 and are noted. */
template <int ROWS>
static __device__ __forceinline__ void put_aside(float z[ROWS][4], late_draws *late,
                                                 int *waiting, uint32_t at)
{
    XB_UNROLLED
    for (int r = 0; r < ROWS; r++) {
        if (!any_slow(z[r])) continue;
        XB_UNROLLED
        for (int j = 0; j < 4; j++) z[r][j] = z[r][j] == z[r][j] ? z[r][j] : 0;
        if (*waiting < LATE) late->at[*waiting][threadIdx.x] = at + (uint32_t)r;
        ++*waiting;
    }
}

/* Adds the draws of one input for all rows to the sums of four outputs. The rows' draws
 * are made side by side, without a branch between them: their steps need different units
 * of the processor. */
template <class S, int ROWS>
static __device__ __forceinline__ void use_draws(float sum[ROWS][4],
                                                 const fused_draws<S> &draws,
                                                 uint32_t counter, late_draws *late,
                                                 int *waiting, uint32_t at,
                                                 const float x[ROWS], const float mu[4],
                                                 const float sigma[4])
{
    float z[ROWS][4], all = 0;
    XB_UNROLLED
    for (int r = 0; r < ROWS; r++)
        draws.values(z[r], counter + (uint32_t)r * draws.row_step);
    XB_UNROLLED
    for (int r = 0; r < ROWS; r++) all += (z[r][0] + z[r][1]) + (z[r][2] + z[r][3]);
    if (all != all) put_aside<ROWS>(z, late, waiting, at);
    XB_UNROLLED
    for (int r = 0; r < ROWS; r++) XB_UNROLLED
    for (int j = 0; j < 4; j++)
        sum[r][j] = fmaf(x[r], fmaf(sigma[j], z[r][j], mu[j]), sum[r][j]);
}

/* Adds the slow draws of input at / ROWS and row at % ROWS to their sums. */
template <class S, int ROWS>
static __device__ __forceinline__ void add_late(float *sum, const xbc_fused &job,
                                                const fused_draws<S> &draws,
                                                const place<ROWS> &here, uint32_t at)
{
    uint32_t word[4], row = at % ROWS;
    int64_t input = at / ROWS;
    float x = here.x(job, (int)row)[input];
    counter_words(word, draws.keys, draws.template number<ROWS>(here, at));
    each_slow<S>(draws.own, word, [&](uint32_t w, unsigned j) {
        uint32_t output = LANES * j + (uint32_t)here.lane;
        float z = slow_value(job.source.at, w);
        float s = job.sigma[input * job.out + blockIdx.x * WIDTH + output];
        sum[row * WIDTH + output] += x * s * (job.negate ? -z : z);
    });
}

/* Adds up a thread's sums and its slow draws, in the place of its half. */
template <class S, int ROWS>
static __device__ __forceinline__ void put_sums(float *to, const float sum[ROWS][4],
                                                const late_draws &late, int waiting,
                                                const xbc_fused &job,
                                                const fused_draws<S> &draws,
                                                const place<ROWS> &here)
{
    XB_UNROLLED
    for (int r = 0; r < ROWS; r++) XB_UNROLLED
    for (int j = 0; j < 4; j++) to[r * WIDTH + LANES * j + here.lane] = sum[r][j];
    for (int i = 0; i < waiting && i < LATE; i++)
        add_late<S, ROWS>(to, job, draws, here, late.at[i][threadIdx.x]);
    if (waiting <= LATE) return;
    int seen = 0; /* slow draws that were only counted are found again */
    for (uint32_t n = (uint32_t)(here.begin + here.mine); n < (uint32_t)here.end;
         n += INPUTS)
        for (uint32_t at = n * ROWS; at < (n + 1) * ROWS; at++) {
            float z[4];
            draws.values(z, draws.template number<ROWS>(here, at));
            if (any_slow(z) && seen++ >= LATE)
                add_late<S, ROWS>(to, job, draws, here, at);
        }
}

/* A block's memory beside the table holds inputs while it multiplies, and sums
 * afterwards. */
enum { CHUNK = 8 * INPUTS, HALF = INPUTS / 2 };
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
template <class S, int ROWS>
static __device__ __forceinline__ void add_up(float to[HALF][ROWS * WIDTH],
                                              float sum[ROWS][4], const late_draws &late,
                                              int waiting, const xbc_fused &job,
                                              const fused_draws<S> &draws,
                                              const place<ROWS> &here)
{
    bool upper = here.mine >= HALF;
    float *own = to[here.mine % HALF];
    if (upper) put_sums<S, ROWS>(own, sum, late, waiting, job, draws, here);
    __syncthreads();
    if (!upper) {
        XB_UNROLLED
        for (int r = 0; r < ROWS; r++) XB_UNROLLED
        for (int j = 0; j < 4; j++) sum[r][j] += own[r * WIDTH + LANES * j + here.lane];
        put_sums<S, ROWS>(own, sum, late, waiting, job, draws, here);
    }
    __syncthreads();
}

template <class S, int ROWS>
static __global__ void __launch_bounds__(THREADS, XBC_FUSED_BLOCKS)
    fused_slice(const __grid_constant__ xbc_fused job,
                const __grid_constant__ stream_keys keys, float *part, int64_t slices)
{
    __shared__ __align__(16) float table[S::floats];
    __shared__ __align__(16) fused_room<ROWS> room;
    __shared__ late_draws late;
    table_load<S>(table, job.source.at, job.negate ? -1.0f : 1.0f);
    const place<ROWS> here(job, slices);
    const fused_draws<S> draws(table, keys, job, here.lane, here.begin + here.mine,
                               here.row0);
    const float *mu_at = job.mu + here.at, *sigma_at = job.sigma + here.at;
    uint32_t counter = draws.counter;
    float sum[ROWS][4] = {};
    int waiting = 0;
    for (int first = here.begin; first < here.end; first += CHUNK) {
        load_inputs<ROWS>(room.x, job, here, first, here.end);
        for (int n = here.mine; n < CHUNK && first + n < here.end; n += INPUTS) {
            float mu[4], sigma[4], x[ROWS];
            XB_UNROLLED
            for (int j = 0; j < 4; j++)
                mu[j] = mu_at[LANES * j], sigma[j] = sigma_at[LANES * j];
            XB_UNROLLED
            for (int r = 0; r < ROWS; r++) x[r] = room.x[n][r];
            use_draws<S, ROWS>(sum, draws, counter, &late, &waiting,
                               (uint32_t)((first + n) * ROWS), x, mu, sigma);
            counter += INPUTS * draws.input_step;
            mu_at += INPUTS * job.out, sigma_at += INPUTS * job.out;
        }
    }
    __syncthreads(); /* sums take the inputs' place */
    add_up<S, ROWS>(room.sum, sum, late, waiting, job, draws, here);
    for (int i = (int)threadIdx.x; i < ROWS * WIDTH; i += THREADS) {
        float all = 0;
        for (int n = 0; n < HALF; n++) all += room.sum[n][i];
        int64_t row = here.row0 + i / WIDTH;
        if (row < job.rows)
            part[(blockIdx.z * job.rows + row) * job.out + blockIdx.x * WIDTH +
                 i % WIDTH] = all;
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
    int64_t groups = quotient_up(job->rows, ROWS);
    XBC_LAUNCH("multiplying draws", (fused_slice<S, ROWS>),
               dim3((unsigned)(job->out / WIDTH), (unsigned)groups, (unsigned)slices),
               THREADS, *job, keys_of(job->where), job->room, slices);
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
