/* device_grouped.cu: a dense layer whose groups of examples have a draw each, without the
 * draws ever being in memory: y [group] = x [group] (mu + sigma z [group]); maths N1, N9.
 *
 * A block has 64 outputs, up to ROWS examples of one group and a slice of the inputs.
 * Step by step, of 16 inputs, a thread makes the four weights of one counter and splits
 * them and its share of x for tensor cores (tensor.cuh). Slow draws count as 0 and are
 * added at the end, in the order of threads. Sums over slices in a fixed order. */
#include "table.cuh"
#include "tensor.cuh"

enum { WIDTH = 64, LANES = 16, WARPS = THREADS / 32 };
enum { BLOCKS_WANTED = 384, SLICE_LEAST = 8 * STEP };
enum { LATE = 4 }; /* counters of a thread with slow draws; the rest is made at once */

static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* WM warps by WARPS / WM, MT fragments of 16 rows each. */
template <int WM, int MT> struct Layout {
    static const int wm = WM, mt = MT, rows = 16 * WM * MT;
    static const int nt = 8 * WM / WARPS; /* fragments of 8 outputs a warp */
};

static int64_t rows_of_block(int64_t group) { return group <= 16 ? 16 : 64; }

static int64_t blocks_of_group(int64_t group)
{
    return quotient_up(group, rows_of_block(group));
}

static int64_t slices_of(int64_t groups, int64_t group, int64_t in, int64_t out)
{
    int64_t blocks = out / WIDTH * groups * blocks_of_group(group);
    int64_t wanted = BLOCKS_WANTED / blocks, most = in / SLICE_LEAST;
    return wanted < 1 || most < 1 ? 1 : wanted < most ? wanted : most;
}

/* A table that leaves room for the tiles. */
bool xbc_grouped_suits(const xbc_source *source, int64_t out)
{
    return out % WIDTH == 0 && source->columns == XB_COLUMNS &&
           source->degree + source->halves <= 5;
}

/* For these rows and any fewer: slices beyond the first are no more than BLOCKS_WANTED
 * blocks have. */
int64_t xbc_grouped_room(int64_t rows, int64_t group, int64_t out)
{
    int64_t columns = out / WIDTH > 0 ? out / WIDTH : 1;
    return (quotient_up(BLOCKS_WANTED, columns) * rows_of_block(group) + rows) * out;
}

/* A thread's counters with slow draws, by their step; then their weights, one counter of
 * each thread at a time. */
struct late_weights {
    uint32_t at[LATE][THREADS];
    float value[THREADS][4];
    __align__(16) uint8_t count[THREADS];
};

/* A block's rows of the batch, its draw and its inputs. */
template <class L> struct grouped_place {
    int64_t row0, at; /* at: the thread's first weight */
    int rows, begin, end;
    int lane, input; /* of a step */
    uint32_t number, step_counters;

    __device__ __forceinline__ grouped_place(const xbc_grouped &job, int64_t slices)
    {
        const int64_t blocks = quotient_up_on(job.group, L::rows);
        const int64_t draw = blockIdx.y / blocks, part = blockIdx.y % blocks;
        int64_t from = draw * job.group - job.skip, to = from + job.group;
        to = to < job.rows ? to : job.rows;
        from = from < 0 ? 0 : from;
        row0 = from + part * L::rows;
        int64_t left = to - row0;
        rows = (int)(left < L::rows ? left : L::rows); /* none or less: nothing to do */
        begin = (int)(blockIdx.z * job.in / slices);
        end = (int)((blockIdx.z + 1) * job.in / slices);
        lane = (int)threadIdx.x % LANES, input = (int)threadIdx.x / LANES;
        at = (int64_t)(begin + input) * job.out + blockIdx.x * WIDTH + lane;
        const int64_t wide = job.out / WIDTH;
        number = (uint32_t)((job.first / WIDTH + draw * job.in * wide +
                             (begin + input) * wide + blockIdx.x) *
                                LANES +
                            lane);
        step_counters = (uint32_t)(STEP * wide * LANES);
    }
    static __device__ __forceinline__ int64_t quotient_up_on(int64_t a, int64_t b)
    {
        return (a + b - 1) / b;
    }
};

/* What a thread needs for a step, on its way from memory while the one before is at work:
 * its share of the rows of x, inputs [first, first + STEP), and mu and sigma of its four
 * weights. */
template <class L> struct next_step {
    static const int pairs = STEP / 2 * L::rows, each = (pairs + THREADS - 1) / THREADS;
    float x[each][2], mu[4], sigma[4];

    static __device__ __forceinline__ bool has(int i, int *row, int *pair)
    {
        int p = (int)threadIdx.x + i * THREADS;
        *row = p / (STEP / 2), *pair = p % (STEP / 2);
        return pairs % THREADS == 0 || p < pairs;
    }
    __device__ __forceinline__ void load(const xbc_grouped &job,
                                         const grouped_place<L> &here, int first,
                                         const float *mu_at, const float *sigma_at)
    {
        int row, pair;
        const float *from = job.x + here.row0 * job.in + first;
        const int left = here.end - first, in = (int)job.in;
        XB_UNROLLED
        for (int i = 0; i < each; i++) {
            bool is = has(i, &row, &pair) && row < here.rows;
            const uint32_t at = (uint32_t)(row * in + 2 * pair);
            x[i][0] = is && 2 * pair < left ? from[at] : 0;
            x[i][1] = is && 2 * pair + 1 < left ? from[at + 1] : 0;
        }
        bool is = first + here.input < here.end;
        XB_UNROLLED
        for (int j = 0; j < 4; j++) {
            mu[j] = is ? mu_at[LANES * j] : 0;
            sigma[j] = is ? sigma_at[LANES * j] : 0;
        }
    }
    __device__ __forceinline__ void put_rows(split_tile<L::rows> *a) const
    {
        int row, pair;
        XB_UNROLLED
        for (int i = 0; i < each; i++) {
            if (!has(i, &row, &pair)) break;
            const split_pair s(x[i][0], x[i][1]);
            a->part[0][row][pair] = s.hi, a->part[1][row][pair] = s.lo;
        }
    }
};

/* One input's weights of four outputs, split, into their column. */
static __device__ __forceinline__ void put_weights(split_tile<WIDTH> *b, int lane,
                                                   int input, const float w[4])
{
    XB_UNROLLED
    for (int j = 0; j < 4; j++) {
        const split_pair s(w[j], 0);
        const int column = lane + LANES * j;
        ((uint16_t *)b->part[0][column])[input] = (uint16_t)s.hi;
        ((uint16_t *)b->part[1][column])[input] = (uint16_t)s.lo;
    }
}

/* The slow draws of one counter times sigma, 0 where they are not slow. */
template <class S>
static __device__ __forceinline__ void slow_weights(float value[4],
                                                    const own_copy<S> &own,
                                                    const xbc_grouped &job,
                                                    const stream_keys &keys,
                                                    uint32_t number, const float *sigma)
{
    uint32_t word[4];
    counter_words(word, keys, number);
    for (int j = 0; j < 4; j++) value[j] = 0;
    each_slow<S>(own, word, [&](uint32_t w, unsigned j) {
        float z = slow_value(job.source.at, w);
        value[j] = sigma[LANES * j] * (job.negate ? -z : z);
    });
}

/* Slow weights number i of all threads, in their order; a thread adds for one row. */
template <class L>
static __device__ __forceinline__ void add_late(float *to, const late_weights &late,
                                                const xbc_grouped &job,
                                                const grouped_place<L> &here, int i)
{
    const int row = (int)threadIdx.x;
    for (int t = 0; t < THREADS && row < here.rows; t++) {
        if (t % 4 == 0 && *(const uint32_t *)(const void *)(late.count + t) == 0) {
            t += 3; /* four threads that have none */
            continue;
        }
        if (late.count[t] <= i) continue;
        int64_t k = here.begin + (int64_t)late.at[i][t] * STEP + t / LANES;
        for (int j = 0; j < 4; j++)
            if (late.value[t][j] != 0)
                to[row * job.out + t % LANES + LANES * j] +=
                    job.x[(here.row0 + row) * job.in + k] * late.value[t][j];
    }
}

template <class S, class L>
static __global__ void __launch_bounds__(THREADS, 3)
    grouped_slice(const __grid_constant__ xbc_grouped job,
                  const __grid_constant__ stream_keys keys, float *part, int64_t slices)
{
    __shared__ __align__(16) float table[S::floats];
    __shared__ split_tile<L::rows> a;
    __shared__ split_tile<WIDTH> b;
    __shared__ late_weights late;
    table_load<S>(table, job.source.at, job.negate ? -1.0f : 1.0f);
    const own_copy<S> own(table);
    const grouped_place<L> here(job, slices);
    if (here.rows <= 0) return; /* the whole block */
    const int warp = (int)threadIdx.x / 32, m0 = warp % L::wm * 16 * L::mt,
              n0 = warp / L::wm * 8 * L::nt;
    const float *mu = job.mu + here.at, *sigma = job.sigma + here.at;
    float sum[L::mt][L::nt][4] = {};
    uint32_t number = here.number, step = 0;
    int waiting = 0;
    next_step<L> next;
    next.load(job, here, here.begin, mu, sigma);
    for (int first = here.begin; first < here.end; first += STEP, step++) {
        uint32_t word[4];
        float w[4], z[4];
        counter_words(word, keys, number);
        XB_UNROLLED
        for (int j = 0; j < 4; j++) w[j] = next.mu[j], z[j] = fast_value<S>(own, word[j]);
        if (any_slow(z)) {
            float now[4] = {};
            if (waiting < LATE)
                late.at[waiting][threadIdx.x] = step, waiting++;
            else if (first + here.input < here.end)
                slow_weights<S>(now, own, job, keys, number, sigma);
            XB_UNROLLED
            for (int j = 0; j < 4; j++) w[j] += now[j], z[j] = z[j] == z[j] ? z[j] : 0;
        }
        XB_UNROLLED
        for (int j = 0; j < 4; j++) w[j] = fmaf(next.sigma[j], z[j], w[j]);
        next.put_rows(&a);
        put_weights(&b, here.lane, here.input, w);
        __syncthreads();
        number += here.step_counters, mu += STEP * job.out, sigma += STEP * job.out;
        if (first + STEP < here.end) next.load(job, here, first + STEP, mu, sigma);
        multiply_step<L::mt, L::nt>(sum, a, b, m0, n0);
        __syncthreads();
    }
    float *to = part + (blockIdx.z * job.rows + here.row0) * job.out + blockIdx.x * WIDTH;
    each_output<L::mt, L::nt>(sum, m0, n0, [&](int row, int column, float v) {
        if (row < here.rows) to[row * job.out + column] = v;
    });
    late.count[threadIdx.x] = (uint8_t)waiting;
    for (int i = 0; i < LATE; i++) {
        __syncthreads();
        XB_UNROLLED
        for (int j = 0; j < 4; j++) late.value[threadIdx.x][j] = 0;
        if (i < waiting &&
            here.begin + (int)late.at[i][threadIdx.x] * STEP + here.input < here.end)
            slow_weights<S>(late.value[threadIdx.x], own, job, keys,
                            here.number + late.at[i][threadIdx.x] * here.step_counters,
                            job.sigma + here.at +
                                (int64_t)late.at[i][threadIdx.x] * STEP * job.out);
        __syncthreads();
        add_late<L>(to, late, job, here, i);
    }
}

/* + the bias of the row's draw */
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

template <class S, class L>
static void launch_layout(const xbc_grouped *job, const stream_keys &keys, int64_t slices)
{
    XBC_LAUNCH("multiplying draws", (grouped_slice<S, L>),
               dim3((unsigned)(job->out / WIDTH),
                    (unsigned)(job->groups * blocks_of_group(job->group)),
                    (unsigned)slices),
               THREADS, *job, keys, job->room, slices);
}

template <class S>
static void launch_shape(const xbc_grouped *job, const stream_keys &keys, int64_t slices)
{
    if (job->group <= 16)
        launch_layout<S, Layout<1, 1>>(job, keys, slices);
    else
        launch_layout<S, Layout<4, 1>>(job, keys, slices);
}

void xbc_grouped_forward(const xbc_grouped *job)
{
    int64_t slices = slices_of(job->groups, job->group, job->in, job->out);
    const stream_keys keys = keys_of(job->where);
    if (job->source.halves == 2)
        launch_shape<Shape<XB_COLUMNS, 3, 2>>(job, keys, slices);
    else if (job->source.degree == 3)
        launch_shape<Shape<XB_COLUMNS, 3, 1>>(job, keys, slices);
    else
        launch_shape<Shape<XB_COLUMNS, 4, 1>>(job, keys, slices);
    int64_t n = job->rows * job->out;
    XBC_LAUNCH("multiplying draws", add_grouped, blocks_for(n), THREADS, job->y,
               (const float *)job->room, job->bias, n, slices, job->out, job->group,
               job->skip);
}
