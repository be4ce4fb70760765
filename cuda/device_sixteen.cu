/* device_sixteen.cu: a dense layer in which groups of up to 16 examples have a draw each,
 * which is never stored in memory, for GPUs whose blocks can have much shared memory;
 * maths N1, N9. device_grouped.cu calls it, and device_few.cu does the same elsewhere.
 *
 * One block runs on a multiprocessor. It has one or two panels of 64 outputs, the rows of
 * one group and a slice of the inputs. A warp has eight of the 16 lanes of a panel, that
 * is 32 outputs, and takes 16 inputs at a time, which is a step; two or four warps share
 * one. A thread makes weights where the tensor cores expect them: of one lane, whose four
 * words belong to four tiles, and of inputs 2q, 2q + 1, 2q + 8 and 2q + 9. So threads
 * exchange nothing, and the sums of a warp are 16 registers of each thread. One thread of
 * a step's warps requests mu and sigma, half a step at a time, and they come while draws
 * are made. x is split once, into the order in which threads read it.
 *
 * A warp leaves out the draws of two counters if some are slow, and notes the place. In
 * the end the block's threads make what was left out, and each warp multiplies it by the
 * inputs of its notes as if these were inputs of a step. The last block of a tile of
 * outputs adds the slices in their order. */
#include "sixteen_memory.cuh"

/* The number of slices of each tile of outputs that are there. */
enum { TILES_MOST = 256 };
static __device__ uint32_t slices_there[TILES_MOST];

/* ---- weights */

/* A thread's share of the four tiles of a step, a pair of inputs in each word. */
struct step_tiles {
    uint32_t hi[WORDS][2], lo[WORDS][2];
};

/* Adds the products of a step to the sums; the small products are added first. */
static __device__ __forceinline__ void multiply_step(float sum[WORDS][4],
                                                     const step_tiles &w, const uint4 &xh,
                                                     const uint4 &xl)
{
    const uint32_t hi[4] = {xh.x, xh.y, xh.z, xh.w}, lo[4] = {xl.x, xl.y, xl.z, xl.w};
    XB_UNROLLED
    for (int n = 0; n < WORDS; n++) warp_mma(sum[n], lo, w.hi[n]);
    XB_UNROLLED
    for (int n = 0; n < WORDS; n++) warp_mma(sum[n], hi, w.lo[n]);
    XB_UNROLLED
    for (int n = 0; n < WORDS; n++) warp_mma(sum[n], hi, w.hi[n]);
}

/* The draws of two inputs; tells whether some are slow. */
template <class S>
static __device__ __forceinline__ bool make_draws(float (&z)[PAIR * WORDS],
                                                  const own_copy<S> &own,
                                                  const stream_keys &keys,
                                                  uint32_t number, uint32_t distance)
{
    uint32_t word[PAIR * WORDS];
    counter_words(word, keys, number);
    counter_words(word + WORDS, keys, number + distance);
    XB_UNROLLED
    for (int j = 0; j < PAIR * WORDS; j++) z[j] = fast_value<S>(own, word[j]);
    return any_slow(z);
}

/* Notes the places of a warp's slow draws, in their order. There is room for NOTES of
 * them, from number `first` on. */
static __device__ __forceinline__ void note_slow(uint32_t *note, uint32_t who, bool mine,
                                                 uint32_t place, uint32_t first,
                                                 uint32_t *waiting)
{
    const uint32_t at =
        *waiting - first + (uint32_t)__popc(who & ((1u << lane_of()) - 1));
    if (mine && at < NOTES) note[at] = place;
    *waiting += (uint32_t)__popc(who);
}

/* Makes the draws of half a step; slow ones are noted and become 0. */
template <class S>
static __device__ __forceinline__ void draw_half(float (&z)[PAIR * WORDS], uint32_t *note,
                                                 const own_copy<S> &own,
                                                 const stream_keys &keys, uint32_t number,
                                                 uint32_t distance, uint32_t place,
                                                 uint32_t *waiting)
{
    const bool slow = make_draws<S>(z, own, keys, number, distance);
    const uint32_t who = __ballot_sync(0xffffffffu, slow);
    if (!who) return;
    note_slow(note, who, slow, place, 0, waiting);
    XB_UNROLLED
    for (int j = 0; j < PAIR * WORDS; j++) z[j] = slow ? 0 : z[j];
}

/* The weights of half p of a step. */
template <int PANELS>
static __device__ __forceinline__ void make_half(step_tiles *to,
                                                 const stage_place<PANELS> &from,
                                                 const float z[PAIR * WORDS], int p)
{
    XB_UNROLLED
    for (int j = 0; j < WORDS; j++) {
        const split_pair w(from.weight(p, 0, j, z[j]),
                           from.weight(p, 1, j, z[WORDS + j]));
        to->hi[j][p] = w.hi, to->lo[j][p] = w.lo;
    }
}

/* ---- slow draws */

/* Notes the warp's slow counters again, from its number `first` on. */
template <class S, class M, class H>
static __device__ __noinline__ void find_again(M *m, const own_copy<S> own,
                                               const stream_keys &keys, const H &here,
                                               uint32_t first)
{
    const uint32_t t = threadIdx.x % 32;
    const int warp = here.warp, lane = here.lane0(warp) + lane_at(t);
    uint32_t seen = 0;
    for (uint32_t turn = 0; here.step(warp, turn) < here.end; turn++)
        for (uint32_t p = 0; p < 2; p++) {
            const uint32_t place = 32 * p + t;
            float z[PAIR * WORDS];
            const bool slow = make_draws<S>(
                z, own, keys,
                here.counter(here.step(warp, turn) * STEP + input_at(place), lane),
                here.input_counters);
            note_slow(m->note[warp], __ballot_sync(0xffffffffu, slow), slow,
                      PLACES * turn + place, first, &seen);
        }
}

/* Lists the warp's notes, `mine`, whose order does not matter. */
template <class M, class H>
static __device__ __forceinline__ void list_notes(M *m, const H &here, uint32_t mine)
{
    const uint32_t lane = threadIdx.x % 32;
    if (lane < mine)
        m->list[atomicAdd(&m->count, 1u)] =
            (uint16_t)((uint32_t)here.warp * NOTES + lane);
}

/* Makes what all listed notes add. */
template <class S, class M, class H>
static __device__ __forceinline__ void make_late(M *m, const own_copy<S> &own,
                                                 const xbc_grouped &job,
                                                 const stream_keys &keys, const H &here)
{
    for (uint32_t n = threadIdx.x; n < PAIR * m->count; n += ALL) {
        const uint32_t warp = m->list[n / PAIR] / NOTES, i = m->list[n / PAIR] % NOTES,
                       note = m->note[warp][i];
        const int input = here.input_of((int)warp, note) + (int)(n % PAIR),
                  last = (int)job.in - 1,
                  at = here.lane0((int)warp) + lane_at(note % PLACES);
        const float *sigma = job.sigma +
                             (int64_t)(input < last ? input : last) * job.out +
                             blockIdx.x * M::P::outputs + here.output(at);
        m->room.end.part[warp][i][n % PAIR] =
            late_weights<S>(own, &m->near, job, keys, here.counter(input, at), sigma);
    }
}

/* Up to eight of a warp's notes as a step: a thread has numbers q and q + 4. */
struct late_step {
    uint32_t first, count;
    uint4 hi, lo; /* x at their inputs */

    template <class M, class H>
    __device__ __forceinline__ late_step(const M *m, const xbc_grouped &job,
                                         const H &here, uint32_t from, uint32_t all)
        : first(from + threadIdx.x % 4), count(all)
    {
        int k[2];
        XB_UNROLLED
        for (uint32_t p = 0; p < 2; p++)
            k[p] = first + 4 * p < count
                       ? here.input_of(here.warp, m->note[here.warp][first + 4 * p])
                       : (int)job.in;
        some_inputs x;
        x.ask(job, here, lane_of() / 4, k), x.split(&hi, &lo);
    }
    template <class M, class H>
    __device__ __forceinline__ void add(float sum[WORDS][4], const M *m,
                                        const H &here) const
    {
        step_tiles w;
        XB_UNROLLED
        for (uint32_t p = 0; p < 2; p++) {
            const uint32_t n = first + 4 * p < count ? first + 4 * p : 0;
            const float4 *part = m->room.end.part[here.warp][n], a = part[0], b = part[1];
            const bool own = first + 4 * p < count &&
                             lane_at(m->note[here.warp][n] % PLACES) == lane_of() / 4;
            const float v[PAIR][WORDS] = {{a.x, a.y, a.z, a.w}, {b.x, b.y, b.z, b.w}};
            XB_UNROLLED
            for (int j = 0; j < WORDS; j++) {
                const split_pair s(own ? v[0][j] : 0, own ? v[1][j] : 0);
                w.hi[j][p] = s.hi, w.lo[j][p] = s.lo;
            }
        }
        multiply_step(sum, w, hi, lo);
    }
};

/* All slow draws, as many at a time as there is room for; a warp has `waiting`. */
template <class S, class M, class H>
static __device__ __forceinline__ void add_slow(float sum[WORDS][4], M *m,
                                                const own_copy<S> &own,
                                                const xbc_grouped &job,
                                                const stream_keys &keys, const H &here,
                                                uint32_t waiting)
{
    for (uint32_t first = 0; first == 0 || m->more; first += NOTES) {
        if (first > 0) {
            __syncthreads();
            if (threadIdx.x == 0) m->count = 0, m->more = 0;
            if (waiting > first) find_again<S>(m, own, keys, here, first);
            __syncthreads();
        }
        const uint32_t left = waiting > first ? waiting - first : 0,
                       mine = left < NOTES ? left : (uint32_t)NOTES;
        if (left > NOTES) m->more = 1;
        list_notes(m, here, mine);
        __syncthreads(); /* parts take the place of stages */
        make_late<S>(m, own, job, keys, here);
        __syncthreads();
        for (uint32_t n = 0; n < mine; n += HALF)
            late_step(m, job, here, n, mine).add(sum, m, here);
    }
}

/* ---- */

/* Adds the warps' sums. Calls f(row, column, sum) for each of the block's outputs. */
template <class M, class H, class F>
static __device__ __forceinline__ void each_sum(M *m, const float sum[WORDS][4],
                                                const H &here, F f)
{
    const int turn = here.warp / M::P::across, g = lane_of() / 4,
              column = here.output(here.lane0(here.warp) + lane_of() % 4 * 2);
    __syncthreads();
    XB_UNROLLED
    for (int n = 0; n < WORDS; n++) XB_UNROLLED
    for (int v = 0; v < 4; v += 2)
        *(float2 *)(void *)&m->room.end.sum[turn][g + v / 2 * 8][column + LANES * n] =
            float2{sum[n][v], sum[n][v + 1]};
    __syncthreads();
    for (int i = (int)threadIdx.x; i < here.rows * M::P::outputs; i += ALL) {
        const int row = i / M::P::outputs, column = i % M::P::outputs;
        float all = 0;
        XB_UNROLLED
        for (int t = 0; t < M::P::turns; t++) all += m->room.end.sum[t][row][column];
        f(row, column, all);
    }
}

/* Whether the block is the last one of its tile. It sees what the others have stored. */
template <class M> static __device__ __forceinline__ bool is_last(M *m, int64_t slices)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t *there = &slices_there[blockIdx.y * gridDim.x + blockIdx.x];
        __threadfence();
        m->last = atomicAdd(there, 1u) + 1 == (uint32_t)slices;
        if (m->last) *there = 0;
        __threadfence();
    }
    __syncthreads();
    return m->last;
}

/* Stores the outputs. If inputs are cut into slices, the last block of a tile adds them
 * in their order. */
template <class M, class H>
static __device__ __forceinline__ void put_outputs(M *m, const float sum[WORDS][4],
                                                   const xbc_grouped &job, const H &here,
                                                   int64_t slices)
{
    const int64_t corner = here.row0 * job.out + blockIdx.x * M::P::outputs,
                  all = job.rows * job.out;
    const float *bias =
        job.bias ? job.bias + blockIdx.y * job.out + blockIdx.x * M::P::outputs : nullptr;
    float *part = job.room + corner, *y = job.y + corner;
    if (slices == 1) {
        each_sum(m, sum, here, [&](int row, int column, float v) {
            y[row * job.out + column] = bias ? v + bias[column] : v;
        });
        return;
    }
    each_sum(m, sum, here, [&](int row, int column, float v) {
        part[blockIdx.z * all + row * job.out + column] = v;
    });
    if (!is_last(m, slices)) return;
    for (int i = (int)threadIdx.x; i < here.rows * M::P::outputs; i += ALL) {
        const int64_t at = i / M::P::outputs * job.out + i % M::P::outputs;
        float v = 0;
        XB_BY_FOUR
        for (int64_t s = 0; s < slices; s++) v += part[s * all + at];
        y[at] = bias ? v + bias[i % M::P::outputs] : v;
    }
}

/* Where a warp is. */
struct warp_walk {
    int step;
    uint32_t number, place; /* the thread's first counter of the step; as in notes */
    uint32_t parity;        /* of the stages' phases */
    uint32_t waiting;       /* notes */
    bool fetches; /* one thread of a step's warps; they are spread over the schedulers */

    template <class H>
    __device__ __forceinline__ warp_walk(const H &here)
        : step(here.step(here.warp, 0)), place((uint32_t)lane_of()), parity(0), waiting(0)
    {
        const int across = H::P::across, turn = here.warp / across;
        number = here.counter(step * STEP + input_at(place),
                              here.lane0(here.warp) + lane_at(place));
        fetches = lane_of() == 0 && here.warp % across == turn % across;
    }
};

/* The warp's steps before `end`; x of step `first` is the first one in memory. */
template <class S, class M, class H>
static __device__ __forceinline__ void multiply_steps(
    float sum[WORDS][4], M *m, warp_walk *at, const own_copy<S> &own,
    const stream_keys &keys, const H &here, const box_map &mu, const box_map &sigma,
    const stage_place<H::panel_count> &stage, int first, int end)
{
    const int turns = H::P::turns, turn = here.warp / H::P::across;
    const uint4 *x = &m->x[at->step - first][0][lane_of()];
    for (; at->step < end; at->step += turns, x += turns * 64) {
        step_tiles w;
        XB_UNROLLED
        for (int p = 0; p < 2; p++) {
            float z[PAIR * WORDS];
            draw_half<S>(z, m->note[here.warp], own, keys,
                         at->number + (uint32_t)(p * HALF) * here.input_counters,
                         here.input_counters, at->place + 32 * (uint32_t)p, &at->waiting);
            /* the other half of the stages, which was used before this one */
            const int next = p == 0 ? at->step : at->step + turns;
            if (at->fetches && (p == 0 ? at->place >= PLACES : next < here.end)) {
                barrier_wait(&m->empty[turn][1 - p], at->parity ^ (1 - (unsigned)p));
                fetch_half(m, mu, sigma, turn, next, 1 - p);
            }
            __syncwarp();
            barrier_wait(&m->full[turn][p], at->parity);
            make_half(&w, stage, z, p);
            __syncwarp();
            if (lane_of() == 0) barrier_arrive(&m->empty[turn][p]);
        }
        multiply_step(sum, w, x[0], x[32]);
        at->number += (uint32_t)(turns * STEP) * here.input_counters;
        at->place += PLACES, at->parity ^= 1;
    }
}

template <class S, int PANELS>
static __global__ void __launch_bounds__(ALL, 1)
    sixteen_rows(const __grid_constant__ xbc_grouped job,
                 const __grid_constant__ stream_keys keys,
                 const __grid_constant__ box_map mu,
                 const __grid_constant__ box_map sigma, int64_t slices)
{
    typedef sixteen_memory<S, PANELS> M;
    XBC_ALIGNED(memory, 1024);
    M *m = (M *)(void *)memory;
    const sixteen_place<PANELS> here(job, slices);
    if (here.rows <= 0) return; /* the whole block */
    warp_walk at(here);
    const int turn = here.warp / M::P::across;
    if (threadIdx.x == 0) start_barriers(m), m->count = 0, m->more = 0;
    next_may_start(), previous_done();
    load_inputs(m, job, here, here.begin);
    near_load<S>(&m->near, job.source);
    table_load<S, ALL>(m->table, job.source.at, job.negate ? -1.0f : 1.0f);
    /* x and the table would wait for these: they are needed first */
    if (at.fetches && at.step < here.end)
        fetch_half(m, mu, sigma, turn, at.step, 0),
            fetch_half(m, mu, sigma, turn, at.step, 1);
    __syncwarp();
    const own_copy<S> own(m->table);
    const stage_place<PANELS> stage(m->room.stage[turn], here.lane0(here.warp));
    float sum[WORDS][4] = {};
    for (int first = here.begin; first < here.end; first += CHUNK) {
        if (first > here.begin) {
            __syncthreads();
            load_inputs(m, job, here, first);
            __syncthreads();
        }
        multiply_steps<S>(sum, m, &at, own, keys, here, mu, sigma, stage, first,
                          here.end < first + CHUNK ? here.end : first + CHUNK);
    }
    add_slow<S>(sum, m, own, job, keys, here, at.waiting);
    put_outputs(m, sum, job, here, slices);
}

/* ---- the host's side */

enum { SLICE_LEAST = 4 }; /* steps of a slice */

/* Two panels share what x costs, and with one there are fewer slices to add, which takes
 * less time if there are few weights. */
#if defined(XB_EMULATED)
enum { FEW_WEIGHTS = 1 << 15 }; /* so that tests cover both */
#else
enum { FEW_WEIGHTS = 1 << 22 };
#endif
static int panels_of(const xbc_grouped *job)
{
    const bool few = job->in * job->out * job->groups <= FEW_WEIGHTS;
    return job->out % (2 * WIDTH) == 0 && !few ? 2 : 1;
}

static int64_t slices_of(const xbc_grouped *job, int64_t tiles)
{
    const int64_t wanted = xbc_processors() / tiles, most = job->in / STEP / SLICE_LEAST;
    return wanted < 1 || most < 1 || tiles > TILES_MOST ? 1
           : wanted < most                              ? wanted
                                                        : most;
}

template <class S, int PANELS>
static void launch_as(const xbc_grouped *job, const box_map &mu, const box_map &sigma)
{
    typedef sixteen_memory<S, PANELS> M;
    const int64_t columns = job->out / M::P::outputs,
                  slices = slices_of(job, columns * job->groups);
    const dim3 blocks((unsigned)columns, (unsigned)job->groups, (unsigned)slices);
    static_assert(sizeof(M) <= 227 << 10, "a Hopper GPU has room for this");
    XBC_LAUNCH_EARLY("multiplying draws", (sixteen_rows<S, PANELS>), blocks,
                     (unsigned)ALL, sizeof(M), *job, keys_of(job->where), mu, sigma,
                     slices);
}

bool xbc_sixteen_forward(const xbc_grouped *job)
{
    const uintptr_t places = (uintptr_t)job->mu | (uintptr_t)job->sigma;
    const int count = panels_of(job), blocks = count * WIDTH / BOX_LINE;
    box_map mu, sigma;
    if (!xbc_hopper() || job->group > ROWS || places % 16 != 0 ||
        !make_box_map(&mu, job->mu, job->in, job->out, blocks) ||
        !make_box_map(&sigma, job->sigma, job->in, job->out, blocks))
        return false;
    for_grouped_shape(job->source, [&](auto shape) {
        typedef decltype(shape) S;
        if (count == 1)
            launch_as<S, 1>(job, mu, sigma);
        else
            launch_as<S, 2>(job, mu, sigma);
    });
    return true;
}
