/* device_draw.cu: draws to memory, signs, and the check of all words; maths R2, D9, N7,
 * N10. A thread takes a counter, whose four words belong to elements 16 apart: sixteen
 * neighbouring threads write sixteen neighbours. */
#include "table.cuh"

#if !defined(XBC_DRAW_BLOCKS)
#define XBC_DRAW_BLOCKS 4 /* on a multiprocessor at once */
#endif

/* Counters that hold elements [first, first + count): from `begin`, how many. */
struct counters {
    int64_t begin, count;
};

static counters counters_of(int64_t first, int64_t count)
{
    int64_t begin = first / 64 * 16, end = (first + count + 63) / 64 * 16;
    return {begin, end - begin};
}

static __device__ __forceinline__ int64_t element_of(int64_t counter, int place)
{
    return counter / 16 * 64 + counter % 16 + 16 * place;
}

/* One panel, from a block's first element on, all of it: no index to find. */
template <class S>
static __global__ void __launch_bounds__(THREADS, XBC_DRAW_BLOCKS)
    draw_run(xbc_draws job, int64_t begin, int64_t count)
{
    __shared__ __align__(16) float table[S::floats];
    __shared__ late_draws late;
    table_load<S>(table, job.source.at);
    const int64_t step = (int64_t)gridDim.x * THREADS; /* a multiple of 16 */
    int64_t t = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    float *const z = job.z + (element_of(begin + t, 0) - job.first);
    const float turn = job.negate ? -1.0f : 1.0f;
    int waiting = 0;
    float *to = z;
    for (uint32_t round = 0; t < count; t += step, to += 4 * step, round++) {
        uint32_t word[4];
        xb_stream_counter_words(word, &job.where, (uint32_t)(begin + t));
        float v[4];
        XB_UNROLLED
        for (int j = 0; j < 4; j++) v[j] = fast_value<S>(table, word[j]);
        float any = (v[0] + v[1]) + (v[2] + v[3]);
        if (any != any) XB_UNROLLED
        for (int j = 0; j < 4; j++)
            if (v[j] != v[j] &&
                !put_late(&late, &waiting, word[j], round * 4 + (uint32_t)j))
                v[j] = slow_value(job.source.at, word[j]);
        XB_UNROLLED
        for (int j = 0; j < 4; j++) to[16 * j] = turn * v[j];
    }
    for (int i = 0; i < waiting; i++) {
        uint32_t place = late.place[i][threadIdx.x];
        float v = slow_value(job.source.at, late.word[i][threadIdx.x]);
        z[(int64_t)(place / 4) * 4 * step + 16 * (place % 4)] = turn * v;
    }
}

template <class S>
static __global__ void __launch_bounds__(THREADS)
    draw_panels(xbc_draws job, int64_t begin, int64_t count)
{
    __shared__ __align__(16) float table[S::floats];
    table_load<S>(table, job.source.at);
    for
        EACH(t, count)
        {
            uint32_t word[4];
            xb_stream_counter_words(word, &job.where, (uint32_t)(begin + t));
            XB_UNROLLED
            for (int j = 0; j < 4; j++) {
                int64_t e = element_of(begin + t, j) - job.first;
                if (e < 0 || e >= job.count) continue;
                int64_t panel = e / job.size, i = e - panel * job.size;
                float z = value_of<S>(table, job.source.at, word[j]);
                if (job.negate) z = -z;
                if (job.z) job.z[panel * job.stride + i] = z;
                if (job.theta)
                    job.theta[panel * job.stride + i] = job.mu[i] + job.sigma[i] * z;
            }
        }
}

/* Blocks that keep the device busy and share the cost of loading the table. */
static unsigned draw_blocks(int64_t count)
{
    int64_t most = 8 * (int64_t)xbc_processors(),
            wanted = (count + THREADS - 1) / THREADS;
    return (unsigned)(wanted < most ? wanted : most);
}

void xbc_draw(const xbc_draws *job)
{
    if (job->count <= 0) return;
    counters c = counters_of(job->first, job->count);
    bool run = job->first % 64 == 0 && job->count % 64 == 0 && job->size == job->count &&
               job->z && !job->theta;
    for_shape(job->source, [&](auto shape) {
        typedef decltype(shape) S;
        if (run)
            XBC_LAUNCH("drawing", draw_run<S>, draw_blocks(c.count), THREADS, *job,
                       c.begin, c.count);
        else
            XBC_LAUNCH("drawing", draw_panels<S>, draw_blocks(c.count), THREADS, *job,
                       c.begin, c.count);
    });
}

static __global__ void repeat(float *theta, const float *mu, int64_t size, int64_t stride,
                              int64_t count)
{
    for
        EACH(i, count * size) theta[i / size * stride + i % size] = mu[i % size];
}

void xbc_repeat(float *theta, const float *mu, int64_t size, int64_t stride,
                int64_t count)
{
    if (count * size > 0)
        XBC_LAUNCH("repeating", repeat, blocks_for(count * size), THREADS, theta, mu,
                   size, stride, count);
}

static __global__ void signs(float *sign, xb_stream where, int64_t first, int64_t count,
                             int64_t begin, int64_t n)
{
    for
        EACH(t, n)
        {
            uint32_t word[4];
            xb_stream_counter_words(word, &where, (uint32_t)(begin + t));
            for (int j = 0; j < 4; j++) {
                int64_t i = element_of(begin + t, j) - first;
                if (i >= 0 && i < count) sign[i] = word[j] >> 31 ? -1.0f : 1.0f;
            }
        }
}

void xbc_signs(float *sign, const xb_stream *where, int64_t first, int64_t count)
{
    counters c = counters_of(first, count);
    if (count > 0)
        XBC_LAUNCH("drawing signs", signs, blocks_for(c.count), THREADS, sign, *where,
                   first, count, c.begin, c.count);
}

template <class S>
static __global__ void __launch_bounds__(THREADS)
    check_words(uint64_t *sum, const xb_draw_source *d, uint32_t first)
{
    __shared__ __align__(16) float table[S::floats];
    __shared__ uint64_t part[THREADS];
    table_load<S>(table, d);
    uint32_t from = first + blockIdx.x * XBC_CHECK_WORDS;
    uint64_t mine = 0;
    for (unsigned i = threadIdx.x; i < XBC_CHECK_WORDS; i += THREADS) {
        float z = value_of<S>(table, d, from + i);
        uint32_t bits;
        memcpy(&bits, &z, sizeof bits);
        mine += xbc_check_term(from + i, bits);
    }
    part[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int i = 1; i < THREADS; i++) mine += part[i];
    sum[blockIdx.x] = mine;
}

void xbc_check_words(uint64_t *sum, const xbc_source *source, uint32_t first, int chunks)
{
    for_shape(*source, [&](auto shape) {
        XBC_LAUNCH("checking draws", check_words<decltype(shape)>, (unsigned)chunks,
                   THREADS, sum, source->at, first);
    });
}
