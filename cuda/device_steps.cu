/* device_steps.cu: many steps of training of a small dense net in one launch of one
 * block; maths N1, N7, N8, N11, N13, N14, N16, V1-V8.
 *
 * A step of the scalar net has some 200,000 multiply-adds, which a block does in fewer
 * microseconds than one launch takes. So parameters, Adam's moments and activations
 * stay with the block from step to step, in its shared memory, or in the L2 cache if
 * there are too many of them; a barrier separates layers. Blocks of other nets run
 * beside it, each launch on a stream of its own. The order of every sum depends only
 * on the net and its batch, so the bytes are the same from run to run, and however
 * steps are divided into launches. Narrow nets have a kernel of their own
 * (device_narrow.cu). */
#include <time.h>

#include "narrow.cuh"
#include "steps_update.cuh"

/* The Gaussian draws of units (N11) come from a table of this shape. */
typedef Shape<XB_COLUMNS, 4, 1> gaussian_shape;

/* The draws of the weights of a step with the estimator `shared`; they are made while
 * the previous step runs. */
static __device__ __forceinline__ void draw_ahead(const xbc_steps &job, const step_room &r,
                                                  stream_keys keys, const xbc_step &step,
                                                  int turn)
{
    if (job.local || !job.noisy) return;
    keys.step = step.number;
    draw_weights(job, r.z + turn * job.weights, keys);
}

/* Whether a thread computes the loss of the rows whose outputs it has computed itself. */
template <int R> static __device__ __forceinline__ bool loss_follows(const xbc_steps &job)
{
    return R == 1 && job.loss != XBC_ENERGY && job.link[job.links - 1].outp == 4;
}

/* Computes the outputs of the last link, which other threads do not see yet; threads
 * that have none of them make draws for the next step. */
template <bool LOCAL, int R>
static __device__ __forceinline__ void forward(const xbc_steps &job, const step_room &r,
                                               const stream_keys &keys, const float *x,
                                               const xbc_step &step, const xbc_step &next,
                                               int turn)
{
    for (int l = 0; l < job.links; l++) {
        if (l > 0) __syncthreads();
        forward_link<LOCAL, R>(r, job.link[l], x, step.rows);
        x = r.y + job.link[l].y;
    }
    if (!LOCAL) draw_ahead(job, r, keys, next, 1 - turn);
}

template <bool LOCAL, int R>
static __device__ __forceinline__ void backward(const xbc_steps &job, const step_room &r,
                                                const float *input, int rows)
{
    const float *dy = r.gradient;
    for (int l = job.links - 1; l >= 0; l--) {
        const int turn = (job.links - l) % 2;
        const float *x = l > 0 ? r.y + job.link[l - 1].y : input;
        float *dx = l > 0 ? r.gradient + turn * job.batch * job.widest : NULL;
        backward_link<LOCAL, R>(job, r, job.link[l], dx, dy, x,
                                job.link[l > 0 ? l - 1 : 0].slope, rows);
        dy = dx;
        __syncthreads();
    }
}

/* Returns false if the step is not finite; no parameter has then changed. `early` are
 * rows of the next step. */
template <bool LOCAL, int R>
static __device__ __forceinline__ bool one_step(const xbc_steps &job, const step_room &r,
                                                const stream_keys &keys, step_shared *s,
                                                const xbc_step &step,
                                                const xbc_step &next,
                                                const early_rows &early, int turn)
{
    const float *x = r.x + turn * job.batch * job.link[0].inp,
                *z = r.z + turn * job.weights, *z_next = r.z + (1 - turn) * job.weights;
    forward<LOCAL, R>(job, r, keys, x, step, next, turn);
    if (!loss_follows<R>(job)) __syncthreads();
    find_loss(job, r, s, step, turn);
    __syncthreads();
    add_rows(job, r, s, step.rows, (int)threadIdx.x / STEP_LANES,
             (int)threadIdx.x % STEP_LANES);
    backward<LOCAL, R>(job, r, x, step.rows);
    put_rows(job, r, next, early, 1 - turn);
    const bool bad = find_gradients<LOCAL>(job, r, s, z);
    if (__syncthreads_or(find_sums(job, s, step, (int)threadIdx.x) || bad)) return false;
    add_threads(s);
    update_weights<LOCAL>(job, r, step, job.noisy ? z_next : NULL);
    update_noise(job, s, step, (int)threadIdx.x);
    __syncthreads();
    return true;
}

/* What the host reads after a step: its sums, and after some steps its noise and
 * sigma. */
static __device__ __forceinline__ void report(const xbc_steps &job, const step_room &r,
                                              const step_shared *s, const xbc_step &step,
                                              int64_t number)
{
    if (threadIdx.x == STEP_THREADS - 1) {
        double loss = 0;
        for (int k = 0; k < job.sums_each; k++) loss += s->value[k];
        job.sums[2 * number] = loss;
        job.sums[2 * number + 1] = lanes_sum(s->kl_lane);
    }
    if (step.keep < 0) return;
    float *kept = job.kept + step.keep * (job.noises + job.parameters);
    if ((int)threadIdx.x < job.noises) kept[threadIdx.x] = s->noise[threadIdx.x];
    each_parameter(job, [&](int at, int64_t i, int) { kept[job.noises + i] = r.sigma[at]; });
}

/* The step with this number; beyond the end, the last one. */
static __device__ __forceinline__ xbc_step step_at(const xbc_steps &job, int64_t i)
{
    return job.step[i < job.count ? i : job.count - 1];
}

/* A tile has R rows; with one row, the arrays are in shared memory. */
template <bool LOCAL, int R>
static __global__ void __launch_bounds__(STEP_THREADS)
    run_steps(const __grid_constant__ xbc_steps job, const __grid_constant__ stream_keys keys)
{
    XBC_DYNAMIC(shared_room);
    __shared__ __align__(16) float table[LOCAL ? gaussian_shape::floats : 4];
    __shared__ step_shared s;
    float *at = R == 1 ? shared_room : job.room;
    const step_room r = room_of(job, at);
    if (LOCAL) table_load<gaussian_shape, STEP_THREADS>(table, job.source.at, 1);
    const own_copy<gaussian_shape> own(table);
    xbc_step step = job.step[0], next = step_at(job, 1);
    load_state(job, r, at, job.room_floats);
    load_noise(job, &s);
    fill_energy(job, &s);
    put_rows(job, r, step, fetch_rows(job, step), 0);
    if (!LOCAL) draw_ahead(job, r, keys, step, 0);
    __syncthreads();
    if (!LOCAL && job.noisy) put_weights(job, r, r.z);
    __syncthreads();
    int64_t done = 0;
    for (; done < job.count; done++) {
        const xbc_step after = step_at(job, done + 2);
        const early_rows early = fetch_rows(job, next);
        if (LOCAL) {
            stream_keys here = keys;
            here.step = step.number;
            draw_units<gaussian_shape>(job, r, own, here, step.rows);
            __syncthreads();
        }
        if (!one_step<LOCAL, R>(job, r, keys, &s, step, next, early, (int)(done % 2)))
            break;
        report(job, r, &s, step, done);
        step = next, next = after;
    }
    store_state(job, r);
    store_noise(job, &s);
    if (threadIdx.x == 0) *job.done = done;
}

/* ---- streams: each launch has a stream of its own until the host has waited for it */

enum { STREAMS = 64 };
static cudaStream_t stream[STREAMS];
static bool made[STREAMS], busy[STREAMS];

static int free_stream(void)
{
    for (int i = 0; i < STREAMS; i++) {
        if (busy[i]) continue;
        if (!made[i] && !xbc_good(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking),
                                  "making a stream"))
            return -1;
        made[i] = true;
        return i;
    }
    return -1;
}

template <bool LOCAL, int R> static void launch(const xbc_steps &job, cudaStream_t on)
{
    const size_t bytes = R == 1 ? (size_t)job.room_floats * sizeof(float) : 0;
    if (bytes > 0)
        xbc_good(cudaFuncSetAttribute((const void *)run_steps<LOCAL, R>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                 "taking shared memory");
    if (!xbc_sound()) return;
    XBC_START_ON((run_steps<LOCAL, R>), 1, STEP_THREADS, bytes, on, job, keys_of(job.where));
    xbc_good(cudaGetLastError(), "training");
}

/* The shared memory that the kernel's own variables leave. */
static const int64_t SHARED_OWN = 32 << 10;

bool xbc_steps_shared(const xbc_steps *job)
{
    return room_floats(job) * (int64_t)sizeof(float) + SHARED_OWN <= xbc_shared_bytes();
}
int64_t xbc_steps_floats(const xbc_steps *job) { return room_floats(job); }

bool xbc_steps_draws(const xbc_source *source)
{
    return source->columns == gaussian_shape::columns && source->halves == 1 &&
           source->degree == gaussian_shape::degree;
}

int xbc_steps_start(const xbc_steps *job)
{
    xbc_steps one = *job;
    one.room_floats = room_floats(job);
    xbc_wait(); /* earlier operations are finished first */
    const int i = free_stream();
    if (i < 0 || !xbc_sound()) return -1;
    busy[i] = true;
    const bool within = xbc_steps_shared(job);
    if (xbc_narrow_suits(job)) {
        xbc_narrow_launch(&one, stream[i]);
        return i;
    }
    if (job->local && within) launch<true, 1>(one, stream[i]);
    if (job->local && !within) launch<true, 4>(one, stream[i]);
    if (!job->local && within) launch<false, 1>(one, stream[i]);
    if (!job->local && !within) launch<false, 4>(one, stream[i]);
    return i;
}

/* The thread sleeps between two checks, so that its processor is free for others. */
int xbc_steps_wait(int number)
{
    const struct timespec pause = {0, 50000};
    if (number < 0) return 0;
    cudaError_t status = cudaStreamQuery(stream[number]);
    for (; status == cudaErrorNotReady; status = cudaStreamQuery(stream[number]))
        nanosleep(&pause, NULL);
    return (int)status;
}

void xbc_steps_end(int number, int status)
{
    if (number >= 0) busy[number] = false;
    xbc_good((cudaError_t)status, "training");
}
