/* device_wide.cu: a dense layer in which each group of examples has its own draw, for
 * Hopper GPUs, where draws and products run side by side; maths N1, N9.
 * device_grouped.cu does the same on other GPUs.
 *
 * A block has 128 outputs, N rows and a slice of the inputs, of which it takes 32 at a
 * time; this is a stage. Warps have roles. Producers make the weights of a stage, each
 * split into two bf16 numbers, in shared memory. Consumers multiply: the weights are
 * the rows of the left operand, the examples the columns of the right one. Between the
 * two, one or two warps make the slow draws of a stage. x is split once, into the
 * order in which it lies in shared memory.
 *
 * A thread of a producer has four neighbouring counters of one input, so that it reads
 * and writes four neighbouring outputs at once: in shared memory the weights of
 * neighbouring outputs lie side by side. */
#include "grouped.cuh"
#include "hopper.cuh"
#include "table.cuh"
#include "tensor.cuh"

enum { OUTPUTS = 128, DEEP = 32, LANES = 16, WIDTH = 64 };
/* The number of threads that multiply together, of such groups, each with 64 outputs, and
 * of shares of a stage, one for each warp. */
enum { GROUP = 128, GROUPS = 2, UNITS = 8 };
/* The number of threads with slow draws that a stage has room for; if there are more,
 * all threads are searched. The emulation has room for few, so that tests cover both
 * cases. */
#if defined(XB_EMULATED)
enum { LATE = 2 };
#else
enum { LATE = 64 };
#endif

static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- shared memory */

struct weight_stage {
    char part[2][OUTPUTS * DEEP * 2]; /* hi, lo */
};

template <int N> struct input_stage {
    char part[2][N * DEEP * 2];
};

/* With many rows the sums need registers, which the producers give up. */
template <class S, int N> struct wide_room {
    static const int warps = N > 128 ? 16 : 20, late_warps = N > 128 ? 1 : 2,
                     producers = warps - 4 * GROUPS - late_warps, threads = 32 * warps;
    static const int w_stages = 4, x_stages = 3;
    static const int consumer_registers = N > 128 ? 160 : 104,
                     producer_registers = N > 128 ? 96 : 88;
    float table[S::floats];
    weight_stage w[w_stages];
    input_stage<N> x[x_stages];
    uint32_t late[w_stages][LATE], late_count[w_stages];
    phase_barrier x_full[x_stages], x_empty[x_stages];
    phase_barrier w_drawn[w_stages], w_full[w_stages], w_empty[w_stages];
};

template <class R> static __device__ __forceinline__ void start_barriers(R *room)
{
    for (int i = 0; i < R::x_stages; i++)
        barrier_init(&room->x_full[i], 1), barrier_init(&room->x_empty[i], 4 * GROUPS);
    for (int i = 0; i < R::w_stages; i++) {
        barrier_init(&room->w_drawn[i], 32 * UNITS);
        barrier_init(&room->w_full[i], 32);
        barrier_init(&room->w_empty[i], 4 * GROUPS);
        room->late_count[i] = 0;
    }
    barrier_ready();
}

/* ---- a block's place */

struct wide_place {
    int64_t row0;
    int rows;                  /* 0 or less: there is nothing to do */
    int begin, stages;         /* the first stage and the number of stages */
    uint32_t number, counters; /* the counter of its first weight; the distance from
                                  one input to the next */

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

/* Which of the `deep` buffers stage s uses, and the parity of its phase. */
static __device__ __forceinline__ unsigned phase_of(int s, int deep)
{
    return (unsigned)(s / deep) & 1;
}

/* ---- producers */

/* A thread's part of a share of a stage: for input k and one half of the outputs,
 * outputs l to l + 3 and those 16, 32 and 48 further on. What a warp writes at once
 * lies side by side. */
struct producer_place {
    int output, k;
    uint32_t number; /* the first of its four counters */

    __device__ __forceinline__ producer_place(const wide_place &here, int stage, int unit,
                                              int lane)
    {
        const int l = lane % 4 * 4, half = unit / 4;
        k = unit % 4 * 8 + lane / 4;
        output = WIDTH * half + l;
        number = here.number + (uint32_t)(LANES * half + l) +
                 (uint32_t)((here.begin + stage) * DEEP + k) * here.counters;
    }
    /* Where its first weight is. Inputs beyond the last one repeat it, because their x
     * is 0. */
    __device__ __forceinline__ int64_t weight(const xbc_grouped &job,
                                              const wide_place &here, int stage) const
    {
        const int input = (here.begin + stage) * DEEP + k, last = (int)job.in - 1;
        return (int64_t)(input < last ? input : last) * job.out + blockIdx.x * OUTPUTS +
               output;
    }
};

/* A thread's means and widths of a unit. They are loaded before its draws are made,
 * which take longer than memory does. */
struct unit_moments {
    float mu[4][4], sigma[4][4]; /* [j][counter] */

    __device__ __forceinline__ unit_moments(const xbc_grouped &job, int64_t at)
    {
        XB_UNROLLED
        for (int j = 0; j < 4; j++) {
            ask_four(mu[j], job.mu + at + LANES * j);
            ask_four(sigma[j], job.sigma + at + LANES * j);
        }
    }
};

/* Values of four counters, [j][counter]; slow ones are 0. Bit 4 counter + j of the result
 * says that a value is slow. */
template <class S>
static __device__ __forceinline__ unsigned unit_values(float z[4][4],
                                                       const own_copy<S> &own,
                                                       const stream_keys &keys,
                                                       uint32_t number)
{
    unsigned slow = 0;
    XB_UNROLLED
    for (int c = 0; c < 4; c++) {
        uint32_t word[4];
        float value[4];
        counter_words(word, keys, number + (uint32_t)c);
        XB_UNROLLED
        for (int j = 0; j < 4; j++) value[j] = fast_value<S>(own, word[j]);
        if (any_slow(value)) {
            XB_UNROLLED
            for (int j = 0; j < 4; j++)
                if (value[j] != value[j]) value[j] = 0, slow |= 1u << (4 * c + j);
        }
        XB_UNROLLED
        for (int j = 0; j < 4; j++) z[j][c] = value[j];
    }
    return slow;
}

template <class S, class R>
static __device__ __forceinline__ void make_unit(R *room, int slot, int unit,
                                                 const unit_moments &m,
                                                 const own_copy<S> &own,
                                                 const stream_keys &keys,
                                                 const producer_place &mine)
{
    float z[4][4];
    const unsigned slow = unit_values<S>(z, own, keys, mine.number);
    XB_UNROLLED
    for (int j = 0; j < 4; j++) {
        uint32_t hi[2], lo[2];
        XB_UNROLLED
        for (int c = 0; c < 4; c += 2) {
            const split_pair w(fmaf(m.sigma[j][c], z[j][c], m.mu[j][c]),
                               fmaf(m.sigma[j][c + 1], z[j][c + 1], m.mu[j][c + 1]));
            hi[c / 2] = w.hi, lo[c / 2] = w.lo;
        }
        const int at = turned_offset(OUTPUTS, mine.output + LANES * j, mine.k);
        *(uint2 *)(void *)(room->w[slot].part[0] + at) = uint2{hi[0], hi[1]};
        *(uint2 *)(void *)(room->w[slot].part[1] + at) = uint2{lo[0], lo[1]};
    }
    if (slow) {
        const uint32_t n = atomicAdd(&room->late_count[slot], 1u);
        if (n < LATE)
            room->late[slot][n] = (uint32_t)unit << 21 | threadIdx.x % 32 << 16 | slow;
    }
}

/* The producers take the shares of all stages in turn. */
template <class S, class R>
static __device__ __forceinline__ void produce(R *room, const xbc_grouped &job,
                                               const stream_keys &keys,
                                               const wide_place &here, int producer)
{
    const own_copy<S> own(room->table);
    const int lane = (int)threadIdx.x % 32;
    for (int u = producer; u < UNITS * here.stages; u += R::producers) {
        const int s = u / UNITS, slot = s % R::w_stages, unit = u % UNITS;
        const producer_place mine(here, s, unit, lane);
        const unit_moments moments(job, mine.weight(job, here, s));
        if (s >= R::w_stages)
            barrier_wait(&room->w_empty[slot], phase_of(s, R::w_stages) ^ 1);
        make_unit<S>(room, slot, unit, moments, own, keys, mine);
        written_for_products();
        barrier_arrive(&room->w_drawn[slot]);
    }
}

/* ---- the warps between producers and consumers, which make slow draws */

/* Puts the slow draws of one thread's share of a unit, given as bits, into the stage. */
static __device__ __forceinline__ void make_late(weight_stage *to, const xbc_grouped &job,
                                                 const stream_keys &keys,
                                                 const wide_place &here, int s, int unit,
                                                 int lane, unsigned slow)
{
    const producer_place place(here, s, unit, lane);
    const int64_t first = place.weight(job, here, s);
    for (; slow; slow &= slow - 1) {
        const unsigned bit = lowest_bit(slow), c = bit / 4, j = bit % 4;
        const int off = (int)(c + LANES * j),
                  at = turned_offset(OUTPUTS, place.output + off, place.k);
        const float mu = job.mu[first + off], sigma = job.sigma[first + off];
        uint32_t word[4];
        counter_words(word, keys, place.number + c);
        const float z = xb_source_slow(job.source.at, j == 0   ? word[0]
                                                      : j == 1 ? word[1]
                                                      : j == 2 ? word[2]
                                                               : word[3]);
        const split_pair w(fmaf(sigma, job.negate ? -z : z, mu), 0);
        *(uint16_t *)(void *)(to->part[0] + at) = (uint16_t)w.hi;
        *(uint16_t *)(void *)(to->part[1] + at) = (uint16_t)w.lo;
    }
}

template <class S, class R>
static __device__ __forceinline__ void add_late(R *room, const own_copy<S> &own,
                                                const xbc_grouped &job,
                                                const stream_keys &keys,
                                                const wide_place &here, int s, int slot)
{
    const uint32_t noted = room->late_count[slot];
    const bool all = noted > LATE;
    for (uint32_t i = threadIdx.x % 32; i < (all ? 32 * UNITS : noted); i += 32) {
        const uint32_t which = all ? i << 16 : room->late[slot][i];
        const int unit = (int)(which >> 21), lane = (int)(which >> 16 & 31);
        unsigned slow = which & 0xffff;
        if (all) {
            float z[4][4];
            slow =
                unit_values<S>(z, own, keys, producer_place(here, s, unit, lane).number);
        }
        make_late(&room->w[slot], job, keys, here, s, unit, lane, slow);
    }
}

/* Each of these warps takes every late_warps-th stage. */
template <class S, class R>
static __device__ __forceinline__ void attend(R *room, const xbc_grouped &job,
                                              const stream_keys &keys,
                                              const wide_place &here, int first)
{
    const own_copy<S> own(room->table);
    for (int s = first; s < here.stages; s += R::late_warps) {
        const int slot = s % R::w_stages;
        barrier_wait(&room->w_drawn[slot], phase_of(s, R::w_stages));
        add_late<S>(room, own, job, keys, here, s, slot);
        written_for_products();
        barrier_arrive(&room->w_full[slot]);
    }
}

/* ---- consumers */

/* One thread loads the inputs of a stage as soon as all warps have used the previous
 * contents. */
template <class R>
static __device__ __forceinline__ void fetch_inputs(R *room, const char *image,
                                                    const wide_place &here, int s)
{
    if (s >= here.stages || threadIdx.x != 0) return;
    const int slot = s % R::x_stages;
    const unsigned size = sizeof room->x[0];
    if (s >= R::x_stages)
        barrier_wait(&room->x_empty[slot], phase_of(s, R::x_stages) ^ 1);
    barrier_expect(&room->x_full[slot], size);
    bulk_copy(&room->x[slot], image + (int64_t)(here.begin + s) * size, size,
              &room->x_full[slot]);
}

/* The largest number of columns of one product: more would need more registers than a
 * thread starts with. */
template <int N> struct columns {
    static const int each = N > 128 ? 128 : N, count = N / each;
};

/* The three products of a step of 16 inputs; the small ones are added first. */
template <int N, class R>
static __device__ __forceinline__ void multiply(float (&sum)[columns<N>::each / 2],
                                                const R *room, int w, int x, int tile,
                                                int part, int k)
{
    const int each = columns<N>::each, row = turned_offset(OUTPUTS, 64 * tile, k),
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
    const int t = (int)threadIdx.x % GROUP;
    int row = t % 4 * 2;
    float *at = to + row * out + t / 32 * 16 + t % 32 / 4;
    XB_UNROLLED
    for (int i = 0; i < COUNT; i += 4) {
        if (row < rows) at[0] = sum[i], at[8] = sum[i + 2];
        if (row + 1 < rows) at[out] = sum[i + 1], at[out + 8] = sum[i + 3];
        at += 8 * out, row += 8;
    }
}

template <int N, class R>
static __device__ __forceinline__ void consume(R *room, const xbc_grouped &job,
                                               const wide_place &here, const char *image,
                                               float *part, int group)
{
    const int parts = columns<N>::count, each = columns<N>::each; /* sets of columns */
    float sum[parts][each / 2];
    XB_UNROLLED
    for (int t = 0; t < parts; t++) XB_UNROLLED
    for (int i = 0; i < each / 2; i++) sum[t][i] = 0;
    previous_done(); /* x is split; the weights did not wait for that */
    for (int s = 0; s + 1 < R::x_stages; s++) fetch_inputs(room, image, here, s);
    for (int s = 0; s < here.stages; s++) {
        const int w = s % R::w_stages, x = s % R::x_stages;
        barrier_wait(&room->w_full[w], phase_of(s, R::w_stages));
        barrier_wait(&room->x_full[x], phase_of(s, R::x_stages));
        if (threadIdx.x == 0) room->late_count[w] = 0;
        XB_UNROLLED
        for (int t = 0; t < parts; t++) product_fence(sum[t]);
        product_begin();
        XB_UNROLLED
        for (int k = 0; k < DEEP; k += 16) XB_UNROLLED
        for (int t = 0; t < parts; t++) multiply<N>(sum[t], room, w, x, group, t, k);
        fetch_inputs(room, image, here, s + R::x_stages - 1);
        product_wait();
        XB_UNROLLED
        for (int t = 0; t < parts; t++) product_fence(sum[t]);
        if (threadIdx.x % 32 == 0)
            barrier_arrive(&room->w_empty[w]), barrier_arrive(&room->x_empty[x]);
    }
    float *to =
        part + (blockIdx.z * job.rows + here.row0) * job.out + blockIdx.x * OUTPUTS;
    XB_UNROLLED
    for (int t = 0; t < parts; t++)
        put_sums(to + t * each * job.out + 64 * group, sum[t], job.out,
                 here.rows - t * each);
}

template <class S, int N>
static __global__ void __launch_bounds__((wide_room<S, N>::threads), 1)
    wide_product(const __grid_constant__ xbc_grouped job,
                 const __grid_constant__ stream_keys keys, const char *images,
                 float *part, int64_t slices)
{
    typedef wide_room<S, N> R;
    XBC_DYNAMIC(memory);
    R *room = (R *)(void *)memory;
    const wide_place here(job, slices, N);
    const int64_t all = (job.in + DEEP - 1) / DEEP;
    const char *image = images + blockIdx.y * all * (int64_t)sizeof room->x[0];
    next_may_start();
    if (here.rows <= 0) return; /* the whole block */
    if (threadIdx.x == 0) start_barriers(room);
    table_load<S, R::threads>(room->table, job.source.at, job.negate ? -1.0f : 1.0f);
    const int warp = (int)threadIdx.x / 32;
    if (warp < 4 * GROUPS) {
        if (N > 64) registers_more<R::consumer_registers>();
        consume<N>(room, job, here, image, part, warp / 4);
    } else {
        if (N > 64) registers_fewer<R::producer_registers>();
        const int first = warp - 4 * GROUPS - R::late_warps;
        if (first >= 0)
            produce<S>(room, job, keys, here, first);
        else
            attend<S>(room, job, keys, here, first + R::late_warps);
    }
}

/* Writes x as stages [blockIdx.y of the product][stage][hi, lo][group of 8
 * inputs][row][8]; rows and inputs beyond the last are 0. A thread has 8 inputs of a
 * row. */
static __global__ void __launch_bounds__(THREADS)
    split_stages(const __grid_constant__ xbc_grouped job, uint4 *to, int64_t count, int n)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x,
                  all = (job.in + DEEP - 1) / DEEP;
    next_may_start();
    if (i >= count) return;
    const int64_t row = i % n, eight = i / n % (DEEP / 8),
                  stage = i / n / (DEEP / 8) % all, block = i / n / (DEEP / 8) / all;
    const int64_t each = (job.group + n - 1) / n, draw = block / each;
    int64_t from = draw * job.group - job.skip, end = from + job.group;
    end = end < job.rows ? end : job.rows;
    from = (from < 0 ? 0 : from) + block % each * n + row;
    const int64_t k = stage * DEEP + 8 * eight;
    __align__(16) float v[8];
    const float *at = job.x + from * job.in + k;
    const bool is = from < end, whole = is && k + 8 <= job.in;
    if (whole && (uintptr_t)at % 16 == 0) {
        *(float4 *)(void *)v = ((const float4 *)(const void *)at)[0];
        *(float4 *)(void *)(v + 4) = ((const float4 *)(const void *)at)[1];
    } else {
        XB_UNROLLED
        for (int p = 0; p < 8; p++) v[p] = is && k + p < job.in ? at[p] : 0;
    }
    uint32_t hi[4], lo[4];
    XB_UNROLLED
    for (int p = 0; p < 4; p++) {
        const split_pair s(v[2 * p], v[2 * p + 1]);
        hi[p] = s.hi, lo[p] = s.lo;
    }
    uint4 *stage_at = to + (block * all + stage) * (2 * DEEP / 8) * n + eight * n + row;
    stage_at[0] = uint4{hi[0], hi[1], hi[2], hi[3]};
    stage_at[DEEP / 8 * n] = uint4{lo[0], lo[1], lo[2], lo[3]};
}

/* ---- the host's side */

static int rows_of(int64_t group) { return group <= 64 ? 64 : group <= 128 ? 128 : 256; }

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

int64_t xbc_wide_words(int64_t groups, int64_t group, int64_t in)
{
    return blocks_of(groups, group) * rows_of(group) * quotient_up(in, DEEP) * DEEP;
}

/* Room for the sums of one slice, and for those of a block on each multiprocessor. */
int64_t xbc_wide_room(int64_t groups, int64_t rows, int64_t group, int64_t in,
                      int64_t out)
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
    XBC_LAUNCH_EARLY("multiplying draws", (wide_product<S, N>), blocks,
                     (unsigned)R::threads, sizeof(R), *job, keys_of(job->where),
                     (const char *)(void *)job->room, job->room + words, slices);
}

template <class S> static void launch_rows(const xbc_grouped *job, int64_t slices)
{
    switch (rows_of(job->group)) {
    case 64: launch_as<S, 64>(job, slices); break;
    case 128: launch_as<S, 128>(job, slices); break;
    default: launch_as<S, 256>(job, slices); break;
    }
}

/* The room holds x, split, and then the sums of slices. */
const float *xbc_wide_product(const xbc_grouped *job, int64_t slices)
{
    const int64_t words = xbc_wide_words(job->groups, job->group, job->in),
                  count = words / 8;
    XBC_LAUNCH("splitting inputs", split_stages, (unsigned)quotient_up(count, THREADS),
               THREADS, *job, (uint4 *)(void *)job->room, count, rows_of(job->group));
    if (!xbc_sound()) return job->room;
    for_grouped_shape(job->source,
                      [&](auto shape) { launch_rows<decltype(shape)>(job, slices); });
    return job->room + words;
}
