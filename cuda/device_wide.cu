/* device_wide.cu: a dense layer whose groups of examples have a draw each, on Hopper GPUs,
 * where draws and products run side by side; maths N1, N9. device_grouped.cu has the same
 * for others.
 *
 * A block has 128 outputs, N rows and a slice of the inputs, which it takes 32 at a time, a
 * stage. Warps have roles. Producers make the weights of a stage, split into two bf16
 * numbers, in shared memory. Consumers multiply: the weights are the rows of the left
 * operand, the examples the columns of the right one. One warp fetches mu and sigma ahead
 * of the producers and x ahead of the consumers, and makes the slow draws of a stage
 * between the two. x is split once, into the order in which it lies in shared memory. */
#include "hopper.cuh"
#include "table.cuh"
#include "tensor.cuh"
#include "wide.cuh"

enum { OUTPUTS = 128, DEEP = 32, LANES = 16, WIDTH = 64 };
enum { GROUP = 128, UNITS = 8 }; /* threads that multiply together; shares of a stage, each
                                    a warp's */
enum { PITCH = OUTPUTS + 4 }; /* floats of a row of mu and sigma: no bank is asked twice */
enum { LATE = 128 };          /* slow draws of a stage; producers make the rest themselves */

static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- shared memory */

/* A slow draw: its word, where it goes, and its weight's mean and width. */
struct late_draw {
    uint32_t word, at; /* at: input * OUTPUTS + output */
    float mu, sigma;
};

struct weight_stage {
    char part[2][OUTPUTS * DEEP * 2]; /* hi, lo */
};

template <int N> struct input_stage {
    char part[2][N * DEEP * 2];
};

struct moment_stage {
    float mu[DEEP][PITCH], sigma[DEEP][PITCH];
};

/* Few rows: the products are little work, so that there are more producers. Of many the
 * sums need registers, which producers give up. */
template <class S, int N> struct wide_room {
    static const int groups = N > 64 ? 2 : 1, warps = N > 128 ? 16 : 20,
                     producers = warps - 4 * groups - 1, threads = 32 * warps;
    static const int w_stages = N > 64 ? 3 : 4, x_stages = 3, m_stages = N > 128 ? 2 : 3;
    static const int consumer_registers = N > 128 ? 160 : 112,
                     producer_registers = N > 128 ? 96 : 80;
    float table[S::floats];
    weight_stage w[w_stages];
    input_stage<N> x[x_stages];
    moment_stage m[m_stages];
    late_draw late[w_stages][LATE];
    uint32_t late_count[w_stages];
    phase_barrier m_full[m_stages], x_full[x_stages], x_empty[x_stages];
    phase_barrier w_drawn[w_stages], w_full[w_stages], w_empty[w_stages];
};

template <class R> static __device__ __forceinline__ void start_barriers(R *room)
{
    for (int i = 0; i < R::m_stages; i++) barrier_init(&room->m_full[i], 32);
    for (int i = 0; i < R::x_stages; i++)
        barrier_init(&room->x_full[i], 32), barrier_init(&room->x_empty[i], 4 * R::groups);
    for (int i = 0; i < R::w_stages; i++) {
        barrier_init(&room->w_drawn[i], UNITS);
        barrier_init(&room->w_full[i], 32);
        barrier_init(&room->w_empty[i], 4 * R::groups);
        room->late_count[i] = 0;
    }
    barrier_ready();
}

/* ---- a block's place */

struct wide_place {
    int64_t row0;
    int rows;                  /* none or less: nothing to do */
    int begin, stages;         /* from which stage on, how many */
    uint32_t number, counters; /* of its first weight; from one input to the next */

    __device__ __forceinline__ wide_place(const xbc_grouped &job, int64_t slices, int n)
    {
        const int64_t blocks = (job.group + n - 1) / n;
        const int64_t draw = blockIdx.y / blocks, part = blockIdx.y % blocks;
        int64_t from = draw * job.group - job.skip, to = from + job.group;
        to = to < job.rows ? to : job.rows;
        from = from < 0 ? 0 : from;
        row0 = from + part * n;
        const int64_t left = to - row0, all = (job.in + DEEP - 1) / DEEP;
        rows = (int)(left < n ? left : n);
        begin = (int)(blockIdx.z * all / slices);
        stages = (int)((blockIdx.z + 1) * all / slices) - begin;
        const int64_t wide = job.out / WIDTH;
        counters = (uint32_t)(wide * LANES);
        number = (uint32_t)((job.first / WIDTH + draw * job.in * wide + 2 * blockIdx.x) *
                            LANES);
    }
};

/* Stage s of `deep` in turn: which it is, and the parity of its phase. */
static __device__ __forceinline__ unsigned phase_of(int s, int deep)
{
    return (unsigned)(s / deep) & 1;
}

/* ---- producers */

/* One weight, split, into a stage. */
static __device__ __forceinline__ void put_weight(weight_stage *to, int output, int k,
                                                  float value)
{
    const int at = operand_offset(OUTPUTS, output, k);
    const split_pair s(value, 0);
    *(uint16_t *)(void *)(to->part[0] + at) = (uint16_t)s.hi;
    *(uint16_t *)(void *)(to->part[1] + at) = (uint16_t)s.lo;
}

/* A thread's part of a share of a stage: four inputs of outputs l, l + 16, l + 32 and l +
 * 48 of one half. Lanes are dealt so that 16 of them write 128 bytes side by side. */
struct producer_place {
    int output, k0;
    uint32_t number; /* the counter of input k0 */

    __device__ __forceinline__ producer_place(const wide_place &here, int stage, int unit)
    {
        const int lane = (int)threadIdx.x % 32, l = lane % 8 + lane / 16 * 8, half = unit / 4;
        k0 = unit % 4 * 8 + lane / 8 % 2 * 4;
        output = WIDTH * half + l;
        number = here.number + (uint32_t)(LANES * half + l) +
                 (uint32_t)((here.begin + stage) * DEEP + k0) * here.counters;
    }
};

/* One of four by its number, in registers. */
template <class T> static __device__ __forceinline__ T chosen(const T v[4], unsigned j)
{
    return j == 0 ? v[0] : j == 1 ? v[1] : j == 2 ? v[2] : v[3];
}

/* Slow draws of a counter count as 0 and are put on the list; where it is full, they are
 * made at once. No call: with one, registers could not be dealt anew. */
template <class R>
static __device__ __forceinline__ void put_aside(R *room, int slot, const uint32_t word[4],
                                                 float z[4], const float *mu,
                                                 const float *sigma, int at,
                                                 const xbc_grouped &job)
{
    unsigned left = 0;
    XB_UNROLLED
    for (int j = 0; j < 4; j++)
        if (z[j] != z[j]) left |= 1u << j, z[j] = 0;
    for (; left; left &= left - 1) {
        const unsigned j = left & 1 ? 0 : left & 2 ? 1 : left & 4 ? 2 : 3;
        const uint32_t n = atomicAdd(&room->late_count[slot], 1u), w = chosen(word, j);
        if (n < LATE) {
            room->late[slot][n] =
                late_draw{w, (uint32_t)at + LANES * j, mu[LANES * j], sigma[LANES * j]};
            continue;
        }
        const float v = (job.negate ? -1.0f : 1.0f) * xb_source_slow(job.source.at, w);
        XB_UNROLLED
        for (unsigned i = 0; i < 4; i++) z[i] = i == j ? v : z[i];
    }
}

template <class S, class R>
static __device__ __forceinline__ void make_unit(R *room, int slot, const moment_stage &m,
                                                 const own_copy<S> &own,
                                                 const xbc_grouped &job,
                                                 const stream_keys &keys,
                                                 const producer_place &mine, uint32_t step)
{
    float w[4][4];
    XB_UNROLLED
    for (int i = 0; i < 4; i++) {
        uint32_t word[4];
        float z[4];
        counter_words(word, keys, mine.number + (uint32_t)i * step);
        XB_UNROLLED
        for (int j = 0; j < 4; j++) z[j] = fast_value<S>(own, word[j]);
        const float *mu = m.mu[mine.k0 + i] + mine.output,
                    *sigma = m.sigma[mine.k0 + i] + mine.output;
        if (any_slow(z))
            put_aside(room, slot, word, z, mu, sigma, (mine.k0 + i) * OUTPUTS + mine.output,
                      job);
        XB_UNROLLED
        for (int j = 0; j < 4; j++) w[i][j] = fmaf(sigma[LANES * j], z[j], mu[LANES * j]);
    }
    XB_UNROLLED
    for (int j = 0; j < 4; j++) {
        const split_pair a(w[0][j], w[1][j]), b(w[2][j], w[3][j]);
        const int at = operand_offset(OUTPUTS, mine.output + LANES * j, mine.k0);
        *(uint2 *)(void *)(room->w[slot].part[0] + at) = uint2{a.hi, b.hi};
        *(uint2 *)(void *)(room->w[slot].part[1] + at) = uint2{a.lo, b.lo};
    }
}

/* Shares of all stages in turn, one producer after the other. */
template <class S, class R>
static __device__ __forceinline__ void produce(R *room, const xbc_grouped &job,
                                               const stream_keys &keys,
                                               const wide_place &here, int producer)
{
    const own_copy<S> own(room->table);
    for (int u = producer; u < UNITS * here.stages; u += R::producers) {
        const int s = u / UNITS, slot = s % R::w_stages, from = s % R::m_stages;
        const producer_place mine(here, s, u % UNITS);
        if (s >= R::w_stages)
            barrier_wait(&room->w_empty[slot], phase_of(s, R::w_stages) ^ 1);
        barrier_wait(&room->m_full[from], phase_of(s, R::m_stages));
        make_unit<S>(room, slot, room->m[from], own, job, keys, mine, here.counters);
        written_for_products();
        __syncwarp();
        if (threadIdx.x % 32 == 0) barrier_arrive(&room->w_drawn[slot]);
    }
}

/* ---- the warp between: every thread by itself, with a share of each copy */

template <class R>
static __device__ __forceinline__ void fetch_moments(R *room, const xbc_grouped &job,
                                                     const wide_place &here, int s)
{
    if (s >= here.stages) return;
    const int slot = s % R::m_stages, row = (int)threadIdx.x % 32;
    const int64_t k = (int64_t)(here.begin + s) * DEEP + row,
                  at = (k < job.in ? k : job.in - 1) * job.out + blockIdx.x * OUTPUTS;
    const unsigned bytes = OUTPUTS * sizeof(float);
    barrier_expect(&room->m_full[slot], 2 * bytes);
    bulk_copy(room->m[slot].mu[row], job.mu + at, bytes, &room->m_full[slot]);
    bulk_copy(room->m[slot].sigma[row], job.sigma + at, bytes, &room->m_full[slot]);
}

template <class R>
static __device__ __forceinline__ void fetch_inputs(R *room, const char *image,
                                                    const wide_place &here, int s)
{
    if (s >= here.stages) return;
    const int slot = s % R::x_stages;
    const unsigned size = sizeof room->x[0], share = size / 32,
                   at = (unsigned)threadIdx.x % 32 * share;
    if (s >= R::x_stages)
        barrier_wait(&room->x_empty[slot], phase_of(s, R::x_stages) ^ 1);
    barrier_expect(&room->x_full[slot], share);
    bulk_copy((char *)&room->x[slot] + at, image + (int64_t)(here.begin + s) * size + at,
              share, &room->x_full[slot]);
}

template <class R>
static __device__ __forceinline__ void add_late(R *room, const xbc_grouped &job, int slot)
{
    const uint32_t noted = room->late_count[slot],
                   count = noted < LATE ? noted : (uint32_t)LATE;
    for (uint32_t i = threadIdx.x % 32; i < count; i += 32) {
        const late_draw d = room->late[slot][i];
        const float z = xb_source_slow(job.source.at, d.word);
        put_weight(&room->w[slot], (int)(d.at % OUTPUTS), (int)(d.at / OUTPUTS),
                   fmaf(d.sigma, job.negate ? -z : z, d.mu));
    }
}

template <class R>
static __device__ __forceinline__ void attend(R *room, const xbc_grouped &job,
                                              const char *image, const wide_place &here)
{
    for (int s = 0; s < R::m_stages; s++) fetch_moments(room, job, here, s);
    fetch_inputs(room, image, here, 0);
    for (int s = 0; s < here.stages; s++) {
        const int slot = s % R::w_stages;
        barrier_wait(&room->w_drawn[slot], phase_of(s, R::w_stages));
        fetch_moments(room, job, here, s + R::m_stages);
        add_late(room, job, slot);
        written_for_products();
        barrier_arrive(&room->w_full[slot]);
        fetch_inputs(room, image, here, s + 1);
    }
}

/* ---- consumers */

/* Columns of one product at most: more would need more registers than a thread starts with. */
template <int N> struct columns {
    static const int each = N > 128 ? 128 : N, count = N / each;
};

/* The three products of a step of 16 inputs, the small ones first. */
template <int N, class R>
static __device__ __forceinline__ void multiply(float (&sum)[columns<N>::each / 2],
                                                const R *room, int w, int x, int tile,
                                                int part, int k)
{
    const int each = columns<N>::each, row = operand_offset(OUTPUTS, 64 * tile, k),
              column = operand_offset(N, part * each, k);
    const operand w_hi = operand_at(room->w[w].part[0] + row, OUTPUTS),
                  w_lo = operand_at(room->w[w].part[1] + row, OUTPUTS),
                  x_hi = operand_at(room->x[x].part[0] + column, N),
                  x_lo = operand_at(room->x[x].part[1] + column, N);
    group_product<each>(sum, w_lo, x_hi, OUTPUTS, N);
    group_product<each>(sum, w_hi, x_lo, OUTPUTS, N);
    group_product<each>(sum, w_hi, x_hi, OUTPUTS, N);
}

/* to [row][output]: a group's sums of 64 outputs */
template <int COUNT>
static __device__ __forceinline__ void put_sums(float *to, const float (&sum)[COUNT],
                                                int64_t out, int rows)
{
    const int t = (int)threadIdx.x % GROUP, output = t / 32 * 16 + t % 32 / 4,
              row = t % 4 * 2;
    XB_UNROLLED
    for (int i = 0; i < COUNT; i++) {
        const int n = i / 4 * 8 + row + i % 2;
        if (n < rows) to[n * out + output + i % 4 / 2 * 8] = sum[i];
    }
}

template <int N, class R>
static __device__ __forceinline__ void consume(R *room, const xbc_grouped &job,
                                               const wide_place &here, float *part, int group)
{
    /* a group's tiles of 64 outputs, each with all columns: either is one */
    const int tiles = 2 / R::groups, parts = columns<N>::count, each = columns<N>::each;
    float sum[tiles * parts][each / 2];
    XB_UNROLLED
    for (int t = 0; t < tiles * parts; t++) XB_UNROLLED
    for (int i = 0; i < each / 2; i++) sum[t][i] = 0;
    for (int s = 0; s < here.stages; s++) {
        const int w = s % R::w_stages, x = s % R::x_stages;
        barrier_wait(&room->w_full[w], phase_of(s, R::w_stages));
        barrier_wait(&room->x_full[x], phase_of(s, R::x_stages));
        if (threadIdx.x == 0) room->late_count[w] = 0;
        XB_UNROLLED
        for (int t = 0; t < tiles * parts; t++) product_fence(sum[t]);
        product_begin();
        XB_UNROLLED
        for (int k = 0; k < DEEP; k += 16) XB_UNROLLED
        for (int t = 0; t < tiles * parts; t++)
            multiply<N>(sum[t], room, w, x, group * tiles + t / parts, t % parts, k);
        product_wait();
        XB_UNROLLED
        for (int t = 0; t < tiles * parts; t++) product_fence(sum[t]);
        if (threadIdx.x % 32 == 0)
            barrier_arrive(&room->w_empty[w]), barrier_arrive(&room->x_empty[x]);
    }
    float *to = part + (blockIdx.z * job.rows + here.row0) * job.out + blockIdx.x * OUTPUTS;
    XB_UNROLLED
    for (int t = 0; t < tiles * parts; t++)
        put_sums(to + t % parts * each * job.out + 64 * (group * tiles + t / parts), sum[t],
                 job.out, here.rows - t % parts * each);
}

template <class S, int N>
static __global__ void __launch_bounds__((wide_room<S, N>::threads), 1)
    wide_product(const __grid_constant__ xbc_grouped job,
                 const __grid_constant__ stream_keys keys, const char *images, float *part,
                 int64_t slices)
{
    typedef wide_room<S, N> R;
    XBC_DYNAMIC(memory);
    R *room = (R *)(void *)memory;
    const wide_place here(job, slices, N);
    const int64_t all = (job.in + DEEP - 1) / DEEP;
    const char *image = images + blockIdx.y * all * (int64_t)sizeof room->x[0];
    if (here.rows <= 0) return; /* the whole block */
    if (threadIdx.x == 0) start_barriers(room);
    table_load<S, R::threads>(room->table, job.source.at, job.negate ? -1.0f : 1.0f);
    const int warp = (int)threadIdx.x / 32;
    if (warp < 4 * R::groups) {
        if (N > 64) registers_more<R::consumer_registers>();
        consume<N>(room, job, here, part, warp / 4);
    } else {
        if (N > 64) registers_fewer<R::producer_registers>();
        if (warp + 1 < R::warps)
            produce<S>(room, job, keys, here, warp - 4 * R::groups);
        else
            attend(room, job, image, here);
    }
}

/* x as stages [blockIdx.y of the product][stage][hi, lo][group of 8 inputs][row][8]; rows
 * and inputs that are not there are 0. A thread has 8 inputs of a row. */
static __global__ void __launch_bounds__(THREADS)
    split_stages(const __grid_constant__ xbc_grouped job, uint4 *to, int64_t count, int n)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x,
                  all = (job.in + DEEP - 1) / DEEP;
    if (i >= count) return;
    const int64_t row = i % n, eight = i / n % (DEEP / 8), stage = i / n / (DEEP / 8) % all,
                  block = i / n / (DEEP / 8) / all;
    const int64_t each = (job.group + n - 1) / n, draw = block / each;
    int64_t from = draw * job.group - job.skip, end = from + job.group;
    end = end < job.rows ? end : job.rows;
    from = (from < 0 ? 0 : from) + block % each * n + row;
    const int64_t k = stage * DEEP + 8 * eight;
    uint32_t hi[4], lo[4];
    XB_UNROLLED
    for (int p = 0; p < 4; p++) {
        const float *at = job.x + from * job.in + k + 2 * p;
        const bool is = from < end;
        const split_pair s(is && k + 2 * p < job.in ? at[0] : 0,
                           is && k + 2 * p + 1 < job.in ? at[1] : 0);
        hi[p] = s.hi, lo[p] = s.lo;
    }
    uint4 *stage_at = to + (block * all + stage) * (2 * DEEP / 8) * n + eight * n + row;
    stage_at[0] = uint4{hi[0], hi[1], hi[2], hi[3]};
    stage_at[DEEP / 8 * n] = uint4{lo[0], lo[1], lo[2], lo[3]};
}

/* ---- the host's side */

static int rows_of(int64_t group)
{
    return group <= 16 ? 16 : group <= 64 ? 64 : group <= 128 ? 128 : 256;
}

static int64_t blocks_of(int64_t groups, int64_t group)
{
    return groups * quotient_up(group, rows_of(group));
}

bool xbc_wide_suits(const xbc_grouped *job)
{
    const uintptr_t places =
        (uintptr_t)job->mu | (uintptr_t)job->sigma | (uintptr_t)job->room;
    return xbc_hopper() && job->out % OUTPUTS == 0 && places % 16 == 0;
}

/* Sums of slices are no more than all multiprocessors have, or those of one slice. */
int64_t xbc_wide_words(int64_t groups, int64_t group, int64_t in)
{
    return blocks_of(groups, group) * rows_of(group) * quotient_up(in, DEEP) * DEEP;
}

int64_t xbc_wide_room(int64_t groups, int64_t rows, int64_t group, int64_t in, int64_t out)
{
    return xbc_wide_words(groups, group, in) + rows * out +
           (int64_t)xbc_processors() * OUTPUTS * rows_of(group);
}

int64_t xbc_wide_slices(const xbc_grouped *job)
{
    const int64_t blocks = job->out / OUTPUTS * blocks_of(job->groups, job->group),
                  wanted = xbc_processors() / blocks, most = quotient_up(job->in, DEEP);
    return wanted < 1 ? 1 : wanted < most ? wanted : most;
}

template <class S, int N> static void launch_as(const xbc_grouped *job, int64_t slices)
{
    typedef wide_room<S, N> R;
    const dim3 blocks((unsigned)(job->out / OUTPUTS),
                      (unsigned)blocks_of(job->groups, job->group), (unsigned)slices);
    const int64_t words = xbc_wide_words(job->groups, job->group, job->in);
    if (!xbc_good(cudaFuncSetAttribute((const void *)wide_product<S, N>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       (int)sizeof(R)),
                  "multiplying draws"))
        return;
    XBC_START_ON((wide_product<S, N>), blocks, (unsigned)R::threads, sizeof(R), 0, *job,
                 keys_of(job->where), (const char *)(void *)job->room, job->room + words,
                 slices);
    xbc_good(cudaGetLastError(), "multiplying draws");
}

template <class S> static void launch_rows(const xbc_grouped *job, int64_t slices)
{
    switch (rows_of(job->group)) {
    case 16: launch_as<S, 16>(job, slices); break;
    case 64: launch_as<S, 64>(job, slices); break;
    case 128: launch_as<S, 128>(job, slices); break;
    default: launch_as<S, 256>(job, slices); break;
    }
}

/* The room: x, split, then the sums of slices. */
const float *xbc_wide_product(const xbc_grouped *job, int64_t slices)
{
    const int64_t words = xbc_wide_words(job->groups, job->group, job->in),
                  count = words / 8;
    XBC_LAUNCH("splitting inputs", split_stages, (unsigned)quotient_up(count, THREADS),
               THREADS, *job, (uint4 *)(void *)job->room, count, rows_of(job->group));
    if (!xbc_sound()) return job->room;
    if (job->source.halves == 2)
        launch_rows<Shape<XB_COLUMNS, 3, 2>>(job, slices);
    else if (job->source.degree == 3)
        launch_rows<Shape<XB_COLUMNS, 3, 1>>(job, slices);
    else
        launch_rows<Shape<XB_COLUMNS, 4, 1>>(job, slices);
    return job->room + words;
}
