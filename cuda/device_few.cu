/* device_few.cu: a dense layer in which groups of up to 32 examples have a draw each,
 * which is never stored in memory; maths N1, N9. device_grouped.cu calls it and adds the
 * sums.
 *
 * A block has 64 outputs, the rows of one group and a slice of the inputs, of which its
 * warps take 16 at a time, in turn; this is a step. A thread makes weights where the
 * tensor cores expect them: inputs 2q, 2q + 1, 2q + 8, 2q + 9 of outputs 2g and 2g + 1
 * and of those 16, 32 and 48 further on, which are the four words of two neighbouring
 * counters. So threads exchange nothing. tensor.cuh has the arithmetic.
 *
 * A thread leaves out the draws of a counter that has slow ones, and notes the counter.
 * In the end the block's threads make what was left out, and then each adds up some of
 * the block's sums: those of the warps, and what was left out, in the order of the
 * threads. */
#include "grouped.cuh"
#include "table.cuh"
#include "tensor.cuh"

enum { WIDTH = 64, LANES = 16, WARPS = THREADS / 32, WORDS = 4, TILES = WIDTH / 8 };
enum { SLICE_LEAST = 8 };    /* steps of a slice */
enum { LATE = XBC_LATE(7) }; /* notes of a thread; the rest is found again */
enum { PAIR = 2 };           /* neighbours: inputs, or counters */

/* The number of fragments of 16 rows of a group. */
static int tall_of(int64_t group) { return group <= 16 ? 1 : 2; }

/* mu and sigma of eight inputs and the block's outputs; rows are padded so that the four
 * threads that read neighbouring pairs of inputs use different banks. */
enum { DEEP = STEP / 2, LINE = WIDTH + 4, STAGES = 2 };

struct few_stage {
    float mu[DEEP][LINE], sigma[DEEP][LINE];
};

/* Stages while the block multiplies, and then the sums of 16 rows and slow draws. */
template <class S> union few_room {
    few_stage stage[WARPS][STAGES];
    struct {
        float sum[WARPS][16][WIDTH];
        float4 part[LATE][THREADS]; /* what note [i][t] adds to four weights */
        near_pieces<S> near;
    } end;
};

template <class S> struct few_memory {
    float table[S::floats];
    few_room<S> room;
    uint32_t note[LATE + 1][THREADS]; /* a thread's steps before * 8 + place in the step;
                                         the last one is for those without room */
    uint16_t list[LATE * THREADS];    /* all notes, as i * THREADS + t */
    uint16_t of_lane[LANES][LATE * WARPS * 4]; /* those of four outputs, in order */
    uint8_t notes[THREADS][PAIR]; /* how many a thread has for either output */
    uint32_t count, of[LANES], more;
};

/* ---- places */

/* A place in a step is one of a thread's eight counters: its input 2q + at % 2 + at / 2 %
 * 2 * 8 and, at / 4, which of two neighbouring outputs. */
static __device__ __forceinline__ int input_at(uint32_t t, uint32_t at)
{
    return (int)(t % 4 * 2 + at % 2 + at / 2 % 2 * 8);
}
/* The first of its four outputs. */
static __device__ __forceinline__ int output_at(uint32_t t, uint32_t at)
{
    return (int)(t % 32 / 4 * 2 + at / 4);
}

struct few_place : group_slice {
    uint32_t number, input_counters; /* the counter of input 0 and output 0; the distance
                                        from one input to the next */

    __device__ __forceinline__ few_place(const xbc_grouped &job, int64_t slices)
        : group_slice(job, slices)
    {
        const int64_t wide = job.out / WIDTH;
        input_counters = (uint32_t)(wide * LANES);
        number =
            (uint32_t)((job.first / WIDTH + blockIdx.y * job.in * wide + blockIdx.x) *
                       LANES);
    }
    /* The step in which thread t noted something. */
    __device__ __forceinline__ int step_of(uint32_t t, uint32_t note) const
    {
        return begin + (int)(t / 32) + (int)(note / 8) * WARPS;
    }
    __device__ __forceinline__ uint32_t counter(int input, int output) const
    {
        return number + (uint32_t)input * input_counters + (uint32_t)output;
    }
    /* Where the weight is. Inputs beyond the last one repeat it, because their x is 0. */
    __device__ __forceinline__ int64_t weight(const xbc_grouped &job, int input,
                                              int output) const
    {
        return (int64_t)(input < (int)job.in ? input : (int)job.in - 1) * job.out +
               blockIdx.x * WIDTH + output;
    }
};

/* ---- memory */

/* Copies eight inputs of mu or sigma from input k on, while the warp goes on. Inputs
 * beyond the last one repeat it, because their x is 0. */
static __device__ __forceinline__ void copy_lines(float (&to)[DEEP][LINE],
                                                  const float *from,
                                                  const xbc_grouped &job, int k,
                                                  bool aligned)
{
    const int lane = (int)threadIdx.x % 32, column = lane % 16 * 4,
              last = (int)job.in - 1;
    XB_UNROLLED
    for (int m = 0; m < DEEP / 2; m++) {
        const int line = 2 * m + lane / 16, input = k + line < last ? k + line : last;
        copy_four(&to[line][column],
                  from + (int64_t)input * job.out + blockIdx.x * WIDTH + column, aligned);
    }
}

static __device__ __forceinline__ void copy_stage(few_stage *to, const xbc_grouped &job,
                                                  int k, bool aligned)
{
    copy_lines(to->mu, job.mu, job, k, aligned);
    copy_lines(to->sigma, job.sigma, job, k, aligned);
    copies_end();
}

static __device__ __forceinline__ bool aligned_for(const void *p, size_t bytes)
{
    return (uintptr_t)p % bytes == 0;
}

static __device__ __forceinline__ float2 two_at(const float *p)
{
    return *(const float2 *)(const void *)p;
}

/* ---- weights */

/* A thread's share of a step's tiles, a pair of inputs in each word; tile 2 j + c has the
 * outputs of word j and counter c. */
struct step_tiles {
    uint32_t hi[TILES][2], lo[TILES][2];
};

/* The draws of two inputs, [input][counter][word], made side by side. Draws of counters
 * that have slow ones become 0, and their places are noted; `at`: the first place. */
template <class S, class M>
static __device__ __forceinline__ void make_draws(
    float z[PAIR][PAIR][WORDS], M *m, const own_copy<S> &own, const stream_keys &keys,
    uint32_t number, uint32_t input_counters, uint32_t *waiting, uint32_t at)
{
    bool slow[PAIR][PAIR], any = false;
    XB_UNROLLED
    for (uint32_t i = 0; i < PAIR; i++) XB_UNROLLED
    for (uint32_t c = 0; c < PAIR; c++) {
        uint32_t word[WORDS];
        counter_words(word, keys, number + i * input_counters + c);
        XB_UNROLLED
        for (int j = 0; j < WORDS; j++) z[i][c][j] = fast_value<S>(own, word[j]);
    }
    XB_UNROLLED
    for (int n = 0; n < 4; n++)
        slow[n / 2][n % 2] = any_slow(z[n / 2][n % 2]), any |= slow[n / 2][n % 2];
    if (any) XB_UNROLLED
    for (uint32_t n = 0; n < 4; n++) {
        const uint32_t i = n / 2, c = n % 2;
        if (!slow[i][c]) continue;
        z[i][c][0] = z[i][c][1] = z[i][c][2] = z[i][c][3] = 0;
        m->note[*waiting < LATE ? *waiting : (uint32_t)LATE][threadIdx.x] =
            at + i + 4 * c;
        ++*waiting;
    }
}

/* Makes the weights of one half p of a step from the stage; s: the number of the warp's
 * steps before. */
template <class S, class M>
static __device__ __forceinline__ void make_half(
    step_tiles *to, M *m, const few_stage &stage, const own_copy<S> &own,
    const stream_keys &keys, const few_place &here, int step, uint32_t s, uint32_t p,
    uint32_t *waiting)
{
    const int k = input_at(threadIdx.x, 0), output = output_at(threadIdx.x, 0);
    float z[PAIR][PAIR][WORDS];
    make_draws<S>(z, m, own, keys, here.counter(step * STEP + k + (int)p * DEEP, output),
                  here.input_counters, waiting, 8 * s + 2 * p);
    XB_UNROLLED
    for (int j = 0; j < WORDS; j++) {
        const int at = output + LANES * j;
        const float2 mu[PAIR] = {two_at(&stage.mu[k][at]), two_at(&stage.mu[k + 1][at])},
                     sigma[PAIR] = {two_at(&stage.sigma[k][at]),
                                    two_at(&stage.sigma[k + 1][at])};
        const split_pair w(fmaf(sigma[0].x, z[0][0][j], mu[0].x),
                           fmaf(sigma[1].x, z[1][0][j], mu[1].x)),
            v(fmaf(sigma[0].y, z[0][1][j], mu[0].y),
              fmaf(sigma[1].y, z[1][1][j], mu[1].y));
        to->hi[2 * j][p] = w.hi, to->lo[2 * j][p] = w.lo;
        to->hi[2 * j + 1][p] = v.hi, to->lo[2 * j + 1][p] = v.lo;
    }
}

/* Adds the products of a step to the sums; the small products are added first. */
template <int MT>
static __device__ __forceinline__ void multiply_step(float sum[MT][TILES][4],
                                                     const step_tiles &w,
                                                     const xbc_grouped &job,
                                                     const few_place &here, int step)
{
    XB_UNROLLED
    for (int i = 0; i < MT; i++) {
        const int k0 = step * STEP + input_at(threadIdx.x, 0), k[2] = {k0, k0 + DEEP};
        some_inputs x;
        uint4 h, l;
        x.ask(job, here, 16 * i + (int)threadIdx.x % 32 / 4, k), x.split(&h, &l);
        const uint32_t hi[4] = {h.x, h.y, h.z, h.w}, lo[4] = {l.x, l.y, l.z, l.w};
        XB_UNROLLED
        for (int n = 0; n < TILES; n++) warp_mma(sum[i][n], lo, w.hi[n]);
        XB_UNROLLED
        for (int n = 0; n < TILES; n++) warp_mma(sum[i][n], hi, w.lo[n]);
        XB_UNROLLED
        for (int n = 0; n < TILES; n++) warp_mma(sum[i][n], hi, w.hi[n]);
    }
}

/* ---- slow draws */

/* Notes the thread's slow counters again, from its number `first` on. */
template <class S, class M>
static __device__ __noinline__ void find_again(M *m, const own_copy<S> own,
                                               const stream_keys &keys,
                                               const few_place &here, uint32_t first)
{
    const uint32_t t = threadIdx.x;
    uint32_t seen = 0;
    for (uint32_t note = 0; here.step_of(t, note) < here.end; note++) {
        const uint32_t at =
            note % 8 / 4 * 2 + note / 2 % 2 + note % 2 * 4; /* as they are made */
        uint32_t word[WORDS];
        float z[WORDS];
        counter_words(word, keys,
                      here.counter(here.step_of(t, note) * STEP + input_at(t, at),
                                   output_at(t, at)));
        XB_UNROLLED
        for (int j = 0; j < WORDS; j++) z[j] = fast_value<S>(own, word[j]);
        if (!any_slow(z)) continue;
        if (seen >= first && seen < first + LATE)
            m->note[seen - first][t] = note / 8 * 8 + at;
        seen++;
    }
}

/* sigma times the draws that thread t left out and noted. */
template <class S>
static __device__ __forceinline__ float4
late_part(const own_copy<S> &own, const near_pieces<S> *near, const xbc_grouped &job,
          const stream_keys &keys, const few_place &here, uint32_t t, uint32_t note)
{
    const int input = here.step_of(t, note) * STEP + input_at(t, note),
              output = output_at(t, note % 8);
    return late_weights<S>(own, near, job, keys, here.counter(input, output),
                           job.sigma + here.weight(job, input, output));
}

/* Lists the thread's notes by their outputs, behind those of threads before it. */
template <class M>
static __device__ __forceinline__ void list_by_lane(M *m, uint32_t mine)
{
    const uint32_t t = threadIdx.x,
                   own = t / 32 * 4 + t % 4; /* among those of its outputs */
    for (uint32_t c = 0; c < PAIR; c++) {
        const uint32_t lane = (uint32_t)output_at(t, 4 * c);
        if (own < WARPS * 4 - 1 && m->notes[t][c] == 0) continue;
        uint32_t at = 0;
        for (uint32_t n = 0; n < own; n++)
            at += m->notes[n / 4 * 32 + t % 32 / 4 * 4 + n % 4][c];
        for (uint32_t i = 0; i < mine; i++)
            if (m->note[i][t] / 4 % 2 == c)
                m->of_lane[lane][at++] = (uint16_t)(i * THREADS + t);
        if (own == WARPS * 4 - 1) m->of[lane] = at; /* the last one */
    }
}

/* Makes what all notes of this round add, each thread having `mine`. */
template <class S, class M>
static __device__ __forceinline__ void share_late(M *m, const own_copy<S> &own,
                                                  const xbc_grouped &job,
                                                  const stream_keys &keys,
                                                  const few_place &here, uint32_t mine)
{
    const uint32_t to = mine > 0 ? atomicAdd(&m->count, mine) : 0;
    uint32_t second = 0;
    for (uint32_t i = 0; i < mine; i++) {
        m->list[to + i] = (uint16_t)(i * THREADS + threadIdx.x);
        second += m->note[i][threadIdx.x] / 4 % 2;
    }
    m->notes[threadIdx.x][0] = (uint8_t)(mine - second);
    m->notes[threadIdx.x][1] = (uint8_t)second;
    __syncthreads();
    for (uint32_t n = threadIdx.x; n < m->count; n += THREADS) {
        const uint32_t i = m->list[n] / THREADS, t = m->list[n] % THREADS;
        m->room.end.part[i][t] =
            late_part<S>(own, &m->room.end.near, job, keys, here, t, m->note[i][t]);
    }
    list_by_lane(m, mine);
    __syncthreads();
}

/* Adds it to the sums of a row and of four outputs from `lane` on. */
template <class M>
static __device__ __forceinline__ void add_late(float sum[WORDS], const M *m,
                                                const xbc_grouped &job,
                                                const few_place &here, int row, int lane)
{
    const float *x = job.x + (here.row0 + row) * job.in;
    for (uint32_t n = 0; n < m->of[lane]; n++) {
        const uint32_t i = m->of_lane[lane][n] / THREADS,
                       t = m->of_lane[lane][n] % THREADS, note = m->note[i][t];
        const int k = here.step_of(t, note) * STEP + input_at(t, note);
        if (k >= (int)job.in) continue;
        const float4 v = m->room.end.part[i][t];
        sum[0] += x[k] * v.x, sum[1] += x[k] * v.y;
        sum[2] += x[k] * v.z, sum[3] += x[k] * v.w;
    }
}

/* ---- */

/* Adds the warps' sums of 16 rows: a thread has four outputs of a row. */
template <class M>
static __device__ __forceinline__ void add_warps(float to[WORDS], M *m,
                                                 const float sum[TILES][4], int row,
                                                 int lane)
{
    const int warp = (int)threadIdx.x / 32, g = (int)threadIdx.x % 32 / 4,
              q = (int)threadIdx.x % 4;
    __syncthreads();
    XB_UNROLLED
    for (int n = 0; n < TILES; n++) XB_UNROLLED
    for (int v = 0; v < 4; v++) /* column 2q + v % 2 of the tile */
        m->room.end
            .sum[warp][g + v / 2 * 8][n / 2 * LANES + 2 * (2 * q + v % 2) + n % 2] =
            sum[n][v];
    __syncthreads();
    XB_UNROLLED
    for (int w = 0; w < WARPS; w++) XB_UNROLLED
    for (int j = 0; j < WORDS; j++) to[j] += m->room.end.sum[w][row][LANES * j + lane];
}

template <class S, int MT>
static __global__ void __launch_bounds__(THREADS, MT == 1 ? 2 : 1)
    few_rows(const __grid_constant__ xbc_grouped job,
             const __grid_constant__ stream_keys keys, float *part, int64_t slices)
{
    typedef few_memory<S> M;
    XBC_DYNAMIC(memory);
    M *m = (M *)(void *)memory;
    const few_place here(job, slices);
    if (here.rows <= 0) return; /* the whole block */
    near_load<S>(&m->room.end.near, job.source);
    table_load<S>(m->table, job.source.at, job.negate ? -1.0f : 1.0f);
    const own_copy<S> own(m->table);
    float sum[MT][TILES][4] = {};
    const bool aligned = aligned_for(job.mu, 16) && aligned_for(job.sigma, 16);
    const int warp = (int)threadIdx.x / 32;
    few_stage *stage = m->room.stage[warp];
    uint32_t waiting = 0, s = 0;
    if (here.begin + warp < here.end)
        copy_stage(&stage[0], job, (here.begin + warp) * STEP, aligned);
    for (int step = here.begin + warp; step < here.end; step += WARPS, s++) {
        step_tiles w;
        XB_UNROLLED
        for (uint32_t p = 0; p < 2; p++) {
            const int next = p == 0 ? step * STEP + DEEP : (step + WARPS) * STEP;
            copy_stage(&stage[1 - p], job, next, aligned);
            copies_wait(); /* not for the last ones */
            __syncwarp();
            make_half<S>(&w, m, stage[p], own, keys, here, step, s, p, &waiting);
            __syncwarp();
        }
        multiply_step<MT>(sum, w, job, here, step);
    }
    copies_wait_all();
    const int row0 = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
    float all[MT][WORDS] = {};
    XB_UNROLLED
    for (int i = 0; i < MT; i++) add_warps(all[i], m, sum[i], row0, lane);
    for (uint32_t first = 0; first == 0 || m->more; first += LATE) {
        __syncthreads();
        if (threadIdx.x == 0) m->count = 0, m->more = 0;
        if (first == 0) near_load<S>(&m->room.end.near, job.source);
        if (first > 0 && waiting > first) find_again<S>(m, own, keys, here, first);
        __syncthreads();
        if (waiting > first + LATE) m->more = 1;
        const uint32_t left = waiting > first ? waiting - first : 0;
        share_late<S>(m, own, job, keys, here, left < LATE ? left : (uint32_t)LATE);
        XB_UNROLLED
        for (int i = 0; i < MT; i++)
            if (16 * i + row0 < here.rows)
                add_late(all[i], m, job, here, 16 * i + row0, lane);
    }
    float *to = part + (blockIdx.z * job.rows + here.row0) * job.out + blockIdx.x * WIDTH;
    XB_UNROLLED
    for (int i = 0; i < MT; i++) XB_UNROLLED
    for (int j = 0; j < WORDS; j++) {
        const int row = 16 * i + row0;
        if (row < here.rows) to[row * job.out + LANES * j + lane] = all[i][j];
    }
}

/* ---- the host's side */

static int64_t slices_wanted(int64_t columns, int64_t groups)
{
    return 2 * (int64_t)xbc_processors() / (columns * groups);
}

int64_t xbc_few_slices(const xbc_grouped *job)
{
    const int64_t wanted = slices_wanted(job->out / WIDTH, job->groups),
                  most = job->in / STEP / SLICE_LEAST;
    return wanted < 1 || most < 1 ? 1 : wanted < most ? wanted : most;
}

/* All rows, and rows of blocks that are wanted and not there. */
int64_t xbc_few_room(int64_t rows, int64_t out)
{
    return (2 * (int64_t)xbc_processors() * XBC_FEW_MOST / (out / WIDTH) + rows) * out;
}

template <class S, int MT> static void launch_few(const xbc_grouped *job, int64_t slices)
{
    const size_t bytes = sizeof(few_memory<S>);
    static_assert(sizeof(few_memory<S>) <= XBC_SHARED_MOST, "any GPU has room for this");
    const dim3 blocks((unsigned)(job->out / WIDTH), (unsigned)job->groups,
                      (unsigned)slices);
    XBC_LAUNCH_SHARED("multiplying draws", (few_rows<S, MT>), blocks, THREADS, bytes,
                      *job, keys_of(job->where), job->room, slices);
}

template <class S> static void launch_shape(const xbc_grouped *job, int64_t slices)
{
    if (tall_of(job->group) == 1)
        launch_few<S, 1>(job, slices);
    else
        launch_few<S, 2>(job, slices);
}

const float *xbc_few_product(const xbc_grouped *job, int64_t slices)
{
    for_grouped_shape(job->source,
                      [&](auto shape) { launch_shape<decltype(shape)>(job, slices); });
    return job->room;
}
