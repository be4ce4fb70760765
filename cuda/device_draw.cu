/* device_draw.cu: draws to memory, signs, and the check of all words; maths R2, D9,
 * N7, N10. The four words of a counter belong to elements that are 16 apart, and a thread
 * takes two neighbouring counters at a time, so that eight neighbouring threads write
 * sixteen neighbouring elements. */
#include "late.cuh"
#include "table.cuh"

enum { TOGETHER = 4 }; /* blocks on a multiprocessor at once */

/* The counters that hold elements [first, first + count): the first one, `begin`, and
 * their number. */
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

/* Blocks take the counters of a run by tiles, one in each round, and a thread two
 * neighbouring counters of a tile. Steps from round to round are here because the
 * processor adds a kernel's constants as fast as registers. */
enum { TILE = 2 * THREADS };

struct draw_steps {
    int64_t begin;   /* the run's first counter, a multiple of 16 */
    uint32_t tiles;  /* whole ones */
    uint32_t number; /* counters from one round to the next */
    int64_t bytes;   /* of their draws */

    __device__ __forceinline__ uint32_t rounds(void) const
    {
        return tiles > blockIdx.x ? (tiles - blockIdx.x - 1) / gridDim.x + 1 : 0;
    }
    /* The first counter of thread t in a round. */
    __device__ __forceinline__ int64_t counter(uint32_t t, uint32_t round) const
    {
        return begin + (blockIdx.x + (int64_t)round * gridDim.x) * TILE + 2 * t;
    }
};

static __device__ __forceinline__ float2 &pair_at(float *p)
{
    return *(float2 *)(void *)p;
}

/* Where a thread puts draws. */
template <bool Z, bool THETA> struct draw_place {
    float *z, *theta;
    const float *mu, *sigma;

    /* of the counter's first element */
    __device__ __forceinline__ draw_place(const xbc_draws &job, int64_t counter)
    {
        const int64_t i = element_of(counter, 0) - job.first;
        if (Z) z = job.z + i;
        if (THETA) theta = job.theta + i, mu = job.mu + i, sigma = job.sigma + i;
    }
    template <class P>
    static __device__ __forceinline__ void advance(P **p, int64_t bytes)
    {
        *p = (P *)((const char *)*p + bytes);
    }
    __device__ __forceinline__ void next(int64_t bytes)
    {
        if (Z) advance(&z, bytes);
        if (THETA) advance(&theta, bytes), advance(&mu, bytes), advance(&sigma, bytes);
    }
    __device__ __forceinline__ void put(int at, float v) const
    {
        if (Z) z[at] = v;
        if (THETA) theta[at] = mu[at] + sigma[at] * v;
    }
    /* The same for two neighbours; `at` is even. */
    __device__ __forceinline__ void put_pair(int at, float v, float w) const
    {
        if (Z) pair_at(z + at) = float2{v, w};
        if (!THETA) return;
        const float2 m = *(const float2 *)(const void *)(mu + at),
                     s = *(const float2 *)(const void *)(sigma + at);
        pair_at(theta + at) = float2{m.x + s.x * v, m.y + s.y * w};
    }
};

/* The words of two neighbouring counters. */
static __device__ __forceinline__ void pair_words(uint32_t word[8],
                                                  const stream_keys &keys,
                                                  uint32_t number)
{
    counter_words(word, keys, number);
    counter_words(word + 4, keys, number + 1);
}

/* The slow draws of two counters. */
template <class S, bool Z, bool THETA>
static __device__ __noinline__ void draw_late(const own_copy<S> own,
                                              const near_pieces<S> *near,
                                              const xbc_draws &job,
                                              const stream_keys &keys, int64_t counter)
{
    const draw_place<Z, THETA> to(job, counter);
    uint32_t word[8];
    float value[8];
    pair_words(word, keys, (uint32_t)counter);
    fast_values<S>(value, own, word);
    each_slow(word, value, [&](uint32_t w, unsigned j) {
        const float v = near_value<S>(near, job.source.at, w);
        to.put((int)(16 * (j % 4) + j / 4), job.negate ? -v : v);
    });
}

/* A thread's rounds that have slow draws, a bit for each; they are computed again. */
enum { NOTES = 3, ROUNDS_MOST = 32 * NOTES };

/* The eight draws of two counters, made side by side, since their steps need different
 * units of the processor. Tells whether some may be slow. */
template <class S, bool Z, bool THETA>
static __device__ __forceinline__ bool draw_pair(const own_copy<S> &own,
                                                 const stream_keys &keys,
                                                 const draw_place<Z, THETA> &to,
                                                 uint32_t number)
{
    uint32_t word[8];
    float v[8];
    pair_words(word, keys, number);
    XB_UNROLLED
    for (int j = 0; j < 8; j++) v[j] = fast_value<S>(own, word[j % 2 * 4 + j / 2]);
    XB_UNROLLED
    for (int j = 0; j < 4; j++) to.put_pair(16 * j, v[2 * j], v[2 * j + 1]);
    return any_slow(v);
}

/* The counters beyond the last whole tile. */
template <class S, bool Z, bool THETA>
static __device__ __noinline__ void draw_rest(const own_copy<S> own,
                                              const near_pieces<S> *near,
                                              const xbc_draws &job,
                                              const stream_keys &keys, int64_t first,
                                              int64_t end)
{
    for (int64_t c = first + 2 * (int64_t)threadIdx.x; c < end; c += TILE)
        if (draw_pair<S>(own, keys, draw_place<Z, THETA>(job, c), (uint32_t)c))
            draw_late<S, Z, THETA>(own, near, job, keys, c);
}

/* Sets a bit: one instruction under a condition, where the compiler uses two. */
static __device__ __forceinline__ void note_slow(uint32_t *bits, uint32_t bit, bool slow)
{
#if defined(__CUDA_ARCH__)
    asm("{\n.reg .pred p;\nsetp.ne.u32 p, %1, 0;\n@p or.b32 %0, %0, %2;\n}"
        : "+r"(*bits)
        : "r"((uint32_t)slow), "r"(bit));
#else
    if (slow) *bits |= bit;
#endif
}

/* One whole panel from the first element of a block on: no index has to be computed. */
template <class S, bool Z, bool THETA>
static __global__ void __launch_bounds__(THREADS, TOGETHER)
    draw_run(const __grid_constant__ xbc_draws job,
             const __grid_constant__ stream_keys keys,
             const __grid_constant__ draw_steps run, int64_t end)
{
    __shared__ __align__(16) float table[S::floats];
    __shared__ uint32_t note[NOTES][THREADS];
    __shared__ late_list list;
    __shared__ near_pieces<S> near;
    near_load<S>(&near, job.source);
    table_load<S>(table, job.source.at, job.negate ? -1.0f : 1.0f);
    const own_copy<S> own(table);
    const uint32_t rounds = run.rounds();
    draw_place<Z, THETA> to(job, run.counter(threadIdx.x, 0));
    uint32_t number = (uint32_t)run.counter(threadIdx.x, 0);
    for (uint32_t k = 0; k < NOTES; k++) {
        const uint32_t left = rounds > 32 * k ? rounds - 32 * k : 0, first = left > 0,
                       last = left < 32 ? first << left : 0; /* no bit 32 */
        uint32_t slow = 0;
        for (uint32_t bit = first; bit != last; bit += bit) {
            note_slow(&slow, bit, draw_pair<S>(own, keys, to, number));
            number += run.number, to.next(run.bytes);
        }
        note[k][threadIdx.x] = slow;
    }
    if (blockIdx.x == run.tiles % gridDim.x)
        draw_rest<S, Z, THETA>(own, &near, job, keys,
                               run.begin + (int64_t)run.tiles * TILE, end);
    uint32_t late[NOTES];
    for (int k = 0; k < NOTES; k++) late[k] = note[k][threadIdx.x];
    for (bool more = true; more; __syncthreads()) {
        const late_items items = list_late(&list, late);
        XB_ROLLED
        for (uint32_t i = threadIdx.x; i < items.all; i += THREADS) {
            const uint32_t t = list.item[i] % THREADS, round = list.item[i] / THREADS;
            draw_late<S, Z, THETA>(own, &near, job, keys, run.counter(t, round));
        }
        more = items.more;
    }
}

template <class S>
static __global__ void __launch_bounds__(THREADS)
    draw_panels(xbc_draws job, stream_keys keys, int64_t begin, int64_t count)
{
    __shared__ __align__(16) float table[S::floats];
    const float turn = job.negate ? -1.0f : 1.0f;
    table_load<S>(table, job.source.at, turn);
    const own_copy<S> own(table);
    for
        EACH(t, count)
        {
            uint32_t word[4];
            counter_words(word, keys, (uint32_t)(begin + t));
            XB_UNROLLED
            for (int j = 0; j < 4; j++) {
                int64_t e = element_of(begin + t, j) - job.first;
                if (e < 0 || e >= job.count) continue;
                int64_t panel = job.count > job.size ? e / job.size : 0;
                int64_t i = e - panel * job.size;
                float z = value_of<S>(own, job.source.at, turn, word[j]);
                if (job.z) job.z[panel * job.stride + i] = z;
                if (job.theta)
                    job.theta[panel * job.stride + i] = job.mu[i] + job.sigma[i] * z;
            }
        }
}

/* The number of blocks: whole waves that keep the device busy and share the cost of
 * loading the table, with so few draws for each thread that there is room for its slow
 * ones. */
static unsigned draw_blocks(int64_t count)
{
    const int64_t wave = TOGETHER * (int64_t)xbc_processors(), some = ROUNDS_MOST,
                  tiles = (count + TILE - 1) / TILE,
                  waves = (tiles + wave * some - 1) / (wave * some);
    return (unsigned)(tiles < wave ? tiles : waves * wave);
}

void xbc_draw(const xbc_draws *job)
{
    if (job->count <= 0) return;
    counters c = counters_of(job->first, job->count);
    const uintptr_t places = (uintptr_t)job->z | (uintptr_t)job->theta |
                             (uintptr_t)job->mu | (uintptr_t)job->sigma;
    const bool run = job->first % 64 == 0 && job->count % 64 == 0 &&
                     job->size == job->count && places % sizeof(float2) == 0;
    const stream_keys keys = keys_of(job->where);
    const unsigned blocks = draw_blocks(c.count);
    const draw_steps steps = {c.begin, (uint32_t)(c.count / TILE), blocks * TILE,
                              blocks * (int64_t)(4 * TILE * sizeof(float))};
    const int64_t end = c.begin + c.count;
    for_shape(job->source, [&](auto shape) {
        typedef decltype(shape) S;
        if (run && job->z && job->theta)
            XBC_LAUNCH("drawing", (draw_run<S, true, true>), blocks, THREADS, *job, keys,
                       steps, end);
        else if (run && job->z)
            XBC_LAUNCH("drawing", (draw_run<S, true, false>), blocks, THREADS, *job, keys,
                       steps, end);
        else if (run)
            XBC_LAUNCH("drawing", (draw_run<S, false, true>), blocks, THREADS, *job, keys,
                       steps, end);
        else
            XBC_LAUNCH("drawing", draw_panels<S>, blocks, THREADS, *job, keys, c.begin,
                       c.count);
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

/* ---- a whole net: a block has some neighbouring elements of one tensor */

enum { NET_ELEMENTS = 4 * THREADS };

XB_BOTH int64_t net_blocks(int64_t size)
{
    return (size + NET_ELEMENTS - 1) / NET_ELEMENTS;
}

template <class S>
static __global__ void __launch_bounds__(THREADS)
    draw_net(const __grid_constant__ xbc_net_draw job, stream_keys keys)
{
    __shared__ __align__(16) float table[S::floats];
    int64_t part = blockIdx.x;
    int k = 0;
    for (; part >= net_blocks(job.tensor[k].size); k++)
        part -= net_blocks(job.tensor[k].size);
    const xbc_tensor &tensor = job.tensor[k];
    float *theta = job.theta + tensor.offset;
    const float *mu = job.mu + tensor.offset, *sigma = job.sigma + tensor.offset;
    const int64_t counter = part * THREADS + threadIdx.x;
    if (!tensor.stochastic) { /* the whole block */
        for (int j = 0; j < 4; j++) {
            const int64_t i = element_of(counter, j);
            if (i < tensor.size) theta[i] = mu[i];
        }
        return;
    }
    const float turn = job.negate ? -1.0f : 1.0f;
    table_load<S>(table, job.source.at, turn);
    const own_copy<S> own(table);
    uint32_t word[4];
    keys.tensor = tensor.number;
    counter_words(word, keys, (uint32_t)counter);
    XB_UNROLLED
    for (int j = 0; j < 4; j++) {
        const int64_t i = element_of(counter, j);
        if (i < tensor.size)
            theta[i] = mu[i] + sigma[i] * value_of<S>(own, job.source.at, turn, word[j]);
    }
}

void xbc_draw_net(const xbc_net_draw *job)
{
    int64_t blocks = 0;
    for (int k = 0; k < job->tensors; k++) blocks += net_blocks(job->tensor[k].size);
    if (blocks > 0)
        for_shape(job->source, [&](auto shape) {
            XBC_LAUNCH("drawing", draw_net<decltype(shape)>, (unsigned)blocks, THREADS,
                       *job, keys_of(job->where));
        });
}

static __global__ void signs(float *sign, stream_keys keys, int64_t first, int64_t count,
                             int64_t begin, int64_t n)
{
    for
        EACH(t, n)
        {
            uint32_t word[4];
            counter_words(word, keys, (uint32_t)(begin + t));
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
        XBC_LAUNCH("drawing signs", signs, blocks_for(c.count), THREADS, sign,
                   keys_of(*where), first, count, c.begin, c.count);
}

/* A slow draw counts wrong if its two ways differ. */
template <class S>
static __global__ void __launch_bounds__(THREADS)
    check_words(uint64_t *sum, const __grid_constant__ xbc_source source, uint32_t first)
{
    __shared__ __align__(16) float table[S::floats];
    __shared__ near_pieces<S> near;
    __shared__ uint64_t part[THREADS];
    near_load<S>(&near, source);
    table_load<S>(table, source.at, 1);
    const own_copy<S> own(table);
    uint32_t from = first + blockIdx.x * XBC_CHECK_WORDS;
    uint64_t mine = 0;
    for (unsigned i = threadIdx.x; i < XBC_CHECK_WORDS; i += THREADS) {
        float z = fast_value<S>(own, from + i);
        if (z != z) {
            z = near_value<S>(&near, source.at, from + i);
            mine += z != slow_value(source.at, from + i);
        }
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
                   THREADS, sum, *source, first);
    });
}
