/* device_narrow.cu: many steps of training of a narrow net in one launch of one block:
 * layers of up to NARROW units, batches of up to 128 rows, the estimator `shared`; maths
 * N1, N7, N8, N13, N14, N16, V1-V8. device_steps.cu has all other small nets.
 *
 * A step of such a net is so short that waiting sets its time: for barriers, for chains
 * of loads, for indices. So four neighbouring threads take one or two rows of the batch
 * through the whole net and back, and wait for their warp alone. Meanwhile the last warps
 * fetch the rows of the next step and draw its weights. Then all threads compute the
 * gradients of tiles of 4 x 4 weights, each from an eighth of the rows. Each weight has
 * one thread, which adds these up and keeps the weight's parameters and moments in
 * registers. A step has four barriers. All sums have a fixed order. */
#include "narrow.cuh"
#include "narrow_pass.cuh"
#include "steps_update.cuh"

/* ---- the list of steps */

/* Some steps of the list, in shared memory: one warp fetches a step long before it is
 * needed, a word for each thread, so that nobody waits for the list's memory. */
enum { STEP_RING = 4, STEP_WORDS = sizeof(xbc_step) / sizeof(uint32_t) };
struct step_ring {
    xbc_step step[STEP_RING];

    __device__ __forceinline__ const xbc_step &at(int64_t i) const
    {
        return step[i % STEP_RING];
    }
    __device__ __forceinline__ void put(int64_t i, int lane, uint32_t word)
    {
        char *to = (char *)(void *)&step[i % STEP_RING];
        if (lane < STEP_WORDS) memcpy(to + lane * sizeof word, &word, sizeof word);
    }
};

/* A word of step i; beyond the end, of the last one. */
static __device__ __forceinline__ uint32_t step_word(const xbc_steps &job, int64_t i,
                                                     int lane)
{
    const xbc_step *step = &job.step[i < job.count ? i : job.count - 1];
    const char *from = (const char *)(const void *)step + lane * sizeof(uint32_t);
    uint32_t word = 0;
    if (lane < STEP_WORDS)
        memcpy(&word, __builtin_assume_aligned(from, sizeof word), sizeof word);
    return word;
}

/* What threads share beside the room: `table` is a copy of the law's; `which` are the numbers
 * of the rows of the next steps. */
struct narrow_shared {
    step_shared s;
    step_ring steps;
    xb_draw_table table;
    int32_t which[2][2 * CHAIN_ROWS];
};

/* ---- weights: their threads keep them in registers */

struct narrow_weight {
    int place, turned, part; /* in w and z; in turned, -1: it has none; in part */
    int64_t number;          /* among the parameters; -1: the thread has no weight */
    xbc_step_tensor tensor;
    float mu, rho, sigma, z, first[2], second[2];
};

/* Weight `n` of all. */
static __device__ __forceinline__ narrow_weight weight_at(const xbc_steps &job, int n)
{
    narrow_weight w = {};
    w.number = -1;
    for (int l = 0; l < job.links; l++) {
        const xbc_step_link &k = job.link[l];
        const int size = (k.in + k.bias) * k.out;
        if (n >= 0 && n < size) {
            const int line = divided(n, k.by_out), o = n - line * k.out;
            const bool bias = line >= k.in;
            const int i = bias ? NARROW : line;
            w.place = l * KERNEL + i * NARROW + o;
            w.turned = bias ? -1 : l * TURNED + o * NARROW + i;
            w.part = l * TILED + i * NARROW + o;
            w.number = k.offset + n, w.tensor = k.tensor[bias];
        }
        n -= size;
    }
    return w;
}

static __device__ __forceinline__ void load_weight(const xbc_steps &job, narrow_weight *w)
{
    const int64_t i = w->number;
    if (i < 0) return;
    w->mu = job.theta[i], w->first[0] = job.first[i], w->second[0] = job.second[i];
    if (!w->tensor.random) return;
    w->sigma = job.sigma[i], w->rho = job.theta[job.rho + i];
    w->first[1] = job.first[job.rho + i], w->second[1] = job.second[job.rho + i];
}

static __device__ __forceinline__ void store_weight(const xbc_steps &job,
                                                    const narrow_weight &w)
{
    const int64_t i = w.number;
    if (i < 0) return;
    job.theta[i] = w.mu, job.first[i] = w.first[0], job.second[i] = w.second[0];
    if (!w.tensor.random) return;
    job.sigma[i] = w.sigma, job.theta[job.rho + i] = w.rho;
    job.first[job.rho + i] = w.first[1], job.second[job.rho + i] = w.second[1];
}

/* (N7) theta of the next pass, from its draw. */
static __device__ __forceinline__ void put_theta(const xbc_steps &job,
                                                 const narrow_room &r, narrow_weight *w)
{
    if (w->number < 0) return;
    w->z = job.noisy && w->tensor.random ? r.z[w->place] : 0;
    const float theta = w->mu + w->sigma * w->z;
    r.w[w->place] = theta;
    if (w->turned >= 0) r.turned[w->turned] = theta;
}

/* (N8, V2) The gradients of a weight by mu and rho, and its KL; returns whether one is
 * not finite. */
static __device__ __forceinline__ bool weight_gradient(const xbc_steps &job,
                                                       const narrow_room &r,
                                                       const narrow_weight &w,
                                                       float by[2], double *kl)
{
    by[0] = by[1] = 0;
    if (w.number < 0) return false;
    float part[SLICES];
    XB_UNROLLED
    for (int s = 0; s < SLICES; s++) part[s] = r.part[s * r.apart + w.part];
    by[0] = ((part[0] + part[1]) + (part[2] + part[3])) +
            ((part[4] + part[5]) + (part[6] + part[7]));
    if (w.tensor.random) {
        by[1] = by[0] * w.z;
        *kl += add_kl(job, w.tensor, &by[0], &by[1], w.mu, w.sigma, w.rho);
    }
    return !(fabsf(by[0]) < 0x1p64f) || !(fabsf(by[1]) < 0x1p64f);
}

static __device__ __forceinline__ void update_weight(const xbc_steps &job,
                                                     const xbc_step &step,
                                                     narrow_weight *w, const float by[2])
{
    if (w->number < 0 || !w->tensor.moves) return;
    w->mu = adam_of(job, w->mu, &w->first[0], &w->second[0], by[0], step.rate);
    if (!w->tensor.random) return;
    w->rho = adam_of(job, w->rho, &w->first[1], &w->second[1], by[1], step.sigma_rate);
    w->sigma = least_sigma(w->rho);
}

/* ---- what the other threads do meanwhile; `u`: a thread's number among them */

/* Rows come from memory a step ahead, the first numbers of each into registers; which
 * rows these are was loaded a step before. */
enum { ROW_EARLY = 4 };
struct narrow_row {
    float value[ROW_EARLY]; /* inputs, then targets */
};

static __device__ __forceinline__ void put_value(const xbc_steps &job,
                                                 const narrow_room &r, int turn, int u,
                                                 int k, float value)
{
    const int in = job.link[0].in, line = turn * r.rows + u;
    if (k < in)
        r.x[line * LINE + k] = value;
    else
        r.target[line * job.targets + k - in] = value;
}

/* Number k of a row, inputs then targets. */
static __device__ __forceinline__ float value_of_row(const xbc_steps &job, int64_t row, int k)
{
    const int in = job.link[0].in;
    return k < in ? job.x[row * in + k] : job.target[row * job.targets + k - in];
}

/* The number of row u of a step. */
static __device__ __forceinline__ int32_t fetch_number(const xbc_steps &job,
                                                       const xbc_step &step, int u)
{
    return u < step.rows ? job.order[step.first + u] : 0;
}

static __device__ __forceinline__ narrow_row fetch_row(const xbc_steps &job,
                                                       const xbc_step &step,
                                                       const int32_t *which, int u)
{
    const int each = job.link[0].in + job.targets;
    narrow_row row;
    XB_UNROLLED
    for (int k = 0; k < ROW_EARLY; k++)
        row.value[k] = u < step.rows && k < each ? value_of_row(job, which[u], k) : 0;
    return row;
}

static __device__ __forceinline__ void put_row(const xbc_steps &job, const narrow_room &r,
                                               const xbc_step &step, const int32_t *which,
                                               const narrow_row &row, int turn, int u)
{
    const int each = job.link[0].in + job.targets;
    if (u >= step.rows) return;
    XB_UNROLLED
    for (int k = 0; k < ROW_EARLY; k++)
        if (k < each) put_value(job, r, turn, u, k, row.value[k]);
    for (int k = ROW_EARLY; k < each; k++)
        put_value(job, r, turn, u, k, value_of_row(job, which[u], k));
}

/* Draws for all weights; the counters of all tensors are one run. */
static __device__ __forceinline__ void narrow_draws(const xbc_steps &job,
                                                    const narrow_room &r,
                                                    const xb_draw_table &table,
                                                    stream_keys keys, uint32_t step,
                                                    int u)
{
    keys.step = step;
    for (int i = HELPERS - 1 - u; i < job.counters && job.noisy; i += HELPERS) {
        int l = 0, from = 0;
        while (i >= job.link[l].end[1]) from = job.link[l++].end[1];
        const xbc_step_link &k = job.link[l];
        const int b = i >= k.end[0], c = i - (b ? k.end[0] : from);
        float *to = r.z + l * KERNEL + b * TURNED;
        if (!k.tensor[b].random) continue;
        keys.tensor = k.tensor[b].number;
        four_draws(
            keys, c, b ? k.out : k.in * k.out,
            [&](uint32_t word) { return value_by(table, job.source.at, word); },
            [&](int e, float value) {
                const int line = divided(e, k.by_out);
                to[line * NARROW + e - line * k.out] = value;
            });
    }
}

/* One warp adds up the KL of step `number` and reports its sums. */
static __device__ __forceinline__ void narrow_report(const xbc_steps &job,
                                                     narrow_shared *sh, int lane,
                                                     int64_t number)
{
    double sum = 0;
    if (number < 0) return;
    XB_UNROLLED
    for (int i = 0; i < NARROW_THREADS / STEP_LANES; i++)
        sum += sh->s.kl[i * STEP_LANES + lane];
    sh->s.kl_lane[lane] = sum;
    __syncwarp();
    if (lane > 0) return;
    double loss = 0;
    for (int k = 0; k < job.sums_each; k++) loss += sh->s.value[k];
    job.sums[2 * number] = loss;
    job.sums[2 * number + 1] = lanes_sum(sh->s.kl_lane);
}

/* One warp adds up the loss; returns whether it is not finite. */
static __device__ __forceinline__ bool narrow_sums(const xbc_steps &job,
                                                   const narrow_room &r, step_shared *s,
                                                   const xbc_step &step, int lane)
{
    step_room sums = {};
    sums.row_sum = r.row_sum;
    for (int k = 0; k < job.sums_each; k++) add_rows(job, sums, s, step.rows, k, lane);
    __syncwarp();
    return find_sums(job, s, step, lane);
}

/* ---- gradients: tiles of 4 x 4 weights, each by SLICES neighbouring threads */

struct narrow_tile {
    int from, dy, part; /* the first input, output and weight; part is -1 if there is no
                           tile */
    int inputs;         /* the layer whose outputs are its inputs, -1: the net's inputs */
};

static __host__ __device__ __forceinline__ int tiles_of(const xbc_step_link &k)
{
    return ((k.in + 3) / 4 + k.bias) * (k.outp / 4);
}

static __device__ __forceinline__ narrow_tile tile_at(const xbc_steps &job,
                                                      const narrow_room &r, int n)
{
    narrow_tile t = {0, 0, -1, -1};
    for (int l = 0; l < job.links; l++) {
        const xbc_step_link &k = job.link[l];
        const int tiles = tiles_of(k);
        if (n >= 0 && n < tiles) {
            const int line = divided(n, k.by_columns), o = (n - line * (k.outp / 4)) * 4;
            const int i = line * 4 < k.in ? line * 4 : NARROW;
            t.from = i, t.inputs = l - 1;
            t.dy = l * r.rows * LINE + o;
            t.part = l * TILED + i * NARROW + o;
        }
        n -= tiles;
    }
    return t;
}

/* Each slice takes every eighth row. */
template <int R>
static __device__ __forceinline__ void tile_gradient(const narrow_room &r,
                                                     const narrow_tile &t, const float *x,
                                                     int slice)
{
    if (t.part < 0) return;
    const float *a = (t.inputs < 0 ? x : r.y + t.inputs * r.rows * LINE) + t.from;
    const float *d = r.d + t.dy;
    float m[4][4] = {};
    XB_BY_FOUR
    for (int k = 0; k < R * CHAIN_ROWS / SLICES; k++) {
        const int at = (slice + k * SLICES) * LINE;
        const float4 q = quad_at(a + at), dy = quad_at(d + at);
        XB_UNROLLED
        for (int i = 0; i < 4; i++) add_quad(m[i], part_of(q, i), dy);
    }
    float *to = r.part + slice * r.apart + t.part;
    XB_UNROLLED
    for (int i = 0; i < 4; i++) put_quad(to + i * NARROW, m[i]);
}

/* ---- a launch */

static __device__ __forceinline__ void begin_room(const xbc_steps &job,
                                                  const narrow_room &r, narrow_shared *sh,
                                                  float *all)
{
    const int floats = narrow_floats(job, r.rows);
    for (int i = (int)threadIdx.x; i < floats; i += NARROW_THREADS) all[i] = 0;
    const uint4 *from =
        job.noisy ? (const uint4 *)(const void *)&job.source.at->table : NULL;
    uint4 *to = (uint4 *)(void *)&sh->table;
    for (size_t i = threadIdx.x; from && i < sizeof sh->table / sizeof *to;
         i += NARROW_THREADS)
        to[i] = from[i];
    for (int i = 0; i < STEP_RING - 1; i++)
        sh->steps.put(i, (int)threadIdx.x, step_word(job, i, (int)threadIdx.x));
    load_noise(job, &sh->s);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < 2 * r.rows; i += NARROW_THREADS)
        r.x[i * LINE + NARROW] = 1;
    for (int i = (int)threadIdx.x; i < job.links * r.rows; i += NARROW_THREADS)
        r.y[i * LINE + NARROW] = 1;
}

/* The rows of the first step, and which rows the second one has. */
static __device__ __forceinline__ void begin_rows(const xbc_steps &job,
                                                  const narrow_room &r, narrow_shared *sh,
                                                  int u)
{
    const xbc_step &first = sh->steps.at(0);
    if (u >= r.rows) return;
    sh->which[0][u] = fetch_number(job, first, u);
    sh->which[1][u] = fetch_number(job, sh->steps.at(1), u);
    put_row(job, r, first, sh->which[0], fetch_row(job, first, sh->which[0], u), 0, u);
}

/* Prepares the step after `done`, and reports the one before it. */
static __device__ __forceinline__ void prepare(const xbc_steps &job, const narrow_room &r,
                                               narrow_shared *sh, const stream_keys &keys,
                                               int64_t done, int u)
{
    const int turn = (int)(done % 2);
    const xbc_step &next = sh->steps.at(done + 1);
    const int32_t which = fetch_number(job, sh->steps.at(done + 2), u);
    const uint32_t word = step_word(job, done + 3, u);
    const narrow_row row = fetch_row(job, next, sh->which[1 - turn], u);
    if (u < STEP_LANES) narrow_report(job, sh, u, done - 1);
    narrow_draws(job, r, sh->table, keys, next.number, u);
    put_row(job, r, next, sh->which[1 - turn], row, 1 - turn, u);
    if (u < r.rows) sh->which[turn][u] = which;
    sh->steps.put(done + 3, u, word);
}

/* R: rows of four threads; EACH: weights of a thread. */
template <int R, int EACH>
static __global__ void __launch_bounds__(NARROW_THREADS, 1)
    narrow_steps(const __grid_constant__ xbc_steps job,
                 const __grid_constant__ stream_keys keys)
{
    XBC_DYNAMIC(shared_room);
    __shared__ narrow_shared sh;
    const narrow_room r = narrow_room_of(job, R * CHAIN_ROWS, shared_room);
    const int t = (int)threadIdx.x, u = t - CHAIN;
    narrow_weight weight[EACH];
    narrow_tile tile[TILES_EACH];
    begin_room(job, r, &sh, shared_room);
    for (int i = 0; i < EACH; i++) {
        weight[i] = weight_at(job, t + i * NARROW_THREADS);
        load_weight(job, &weight[i]);
    }
    for (int i = 0; i < TILES_EACH; i++)
        tile[i] = tile_at(job, r, (t + i * NARROW_THREADS) / SLICES);
    if (u >= 0) begin_rows(job, r, &sh, u);
    __syncthreads();
    if (u >= 0) narrow_draws(job, r, sh.table, keys, sh.steps.at(0).number, u);
    __syncthreads();
    for (int i = 0; i < EACH; i++) put_theta(job, r, &weight[i]);
    __syncthreads();
    int64_t done = 0;
    for (; done < job.count; done++) {
        const int turn = (int)(done % 2);
        const xbc_step &step = sh.steps.at(done);
        if (u < 0)
            chain<R>(job, r, &sh.s, step, turn);
        else
            prepare(job, r, &sh, keys, done, u);
        __syncthreads();
        XB_UNROLLED
        for (int i = 0; i < TILES_EACH; i++)
            tile_gradient<R>(r, tile[i], r.x + turn * r.rows * LINE, t % SLICES);
        bool bad = u >= HELPERS - STEP_LANES &&
                   narrow_sums(job, r, &sh.s, step, u - (HELPERS - STEP_LANES));
        __syncthreads();
        float by[EACH][2];
        double kl = 0;
        XB_UNROLLED
        for (int i = 0; i < EACH; i++)
            bad |= weight_gradient(job, r, weight[i], by[i], &kl);
        sh.s.kl[t] = kl;
        if (__syncthreads_or(bad || !(fabs(kl) < INFINITY))) break;
        XB_UNROLLED
        for (int i = 0; i < EACH; i++) {
            update_weight(job, step, &weight[i], by[i]);
            put_theta(job, r, &weight[i]);
            if (step.keep >= 0 && weight[i].number >= 0)
                job.kept[step.keep * (job.noises + job.parameters) + job.noises +
                         weight[i].number] = weight[i].sigma;
        }
        const int k = t - (NARROW_THREADS - STEP_LANES);
        if (k >= 0 && k < job.noises) {
            update_noise(job, &sh.s, step, k);
            if (step.keep >= 0)
                job.kept[step.keep * (job.noises + job.parameters) + k] = sh.s.noise[k];
        }
        __syncthreads();
    }
    if (u >= 0 && u < STEP_LANES && done == job.count)
        narrow_report(job, &sh, u, done - 1);
    for (int i = 0; i < EACH; i++) store_weight(job, weight[i]);
    __syncthreads();
    store_noise(job, &sh.s);
    if (t == 0) *job.done = done;
}

template <int R, int EACH> static void launch(const xbc_steps &job, cudaStream_t on)
{
    const size_t bytes = (size_t)narrow_floats(job, R * CHAIN_ROWS) * sizeof(float);
    xbc_good(cudaFuncSetAttribute((const void *)narrow_steps<R, EACH>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  (int)bytes),
             "taking shared memory");
    if (!xbc_sound()) return;
    XBC_START_ON((narrow_steps<R, EACH>), 1, NARROW_THREADS, bytes, on, job,
                 keys_of(job.where));
    xbc_good(cudaGetLastError(), "training");
}

static int weights_of(const xbc_steps *job)
{
    int n = 0;
    for (int l = 0; l < job->links; l++)
        n += (job->link[l].in + job->link[l].bias) * job->link[l].out;
    return n;
}

bool xbc_narrow_suits(const xbc_steps *job)
{
    int tiles = 0;
    bool narrow = true;
    for (int l = 0; l < job->links; l++) {
        narrow = narrow && job->link[l].in <= NARROW && job->link[l].out <= NARROW;
        tiles += tiles_of(job->link[l]);
    }
    return narrow && !job->local && job->loss != XBC_ENERGY && job->x &&
           job->batch <= 2 * CHAIN_ROWS &&
           weights_of(job) <= EACH_MOST * NARROW_THREADS &&
           tiles * SLICES <= TILES_EACH * NARROW_THREADS &&
           narrow_floats(*job, 2 * CHAIN_ROWS) * (int64_t)sizeof(float) +
                   (int64_t)sizeof(narrow_shared) <=
               xbc_shared_bytes();
}

void xbc_narrow_launch(const xbc_steps *job, cudaStream_t on)
{
    const bool few = job->batch <= CHAIN_ROWS, one = weights_of(job) <= NARROW_THREADS;
    if (few && one) launch<1, 1>(*job, on);
    if (few && !one) launch<1, EACH_MOST>(*job, on);
    if (!few && one) launch<2, 1>(*job, on);
    if (!few && !one) launch<2, EACH_MOST>(*job, on);
}
