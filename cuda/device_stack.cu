/* device_stack.cu: blocks in a row (device_block.cu), each with a batchnorm after it, if
 * there is no backward pass; maths N2-N4, N6, N18. One kernel splits the weights of all
 * blocks and makes one multiplication and one addition of each batchnorm; then each block
 * is one kernel (device_stack_block.cu), and so are small dense layers after them
 * (device_tail.cu). */
#include "stack.cuh"

/* ---- weights and batchnorms of all blocks */

struct ready_block {
    const float *w, *bias; /* w NULL: only a batchnorm */
    xbc_affine after;
    int c, oc;
    uint4 *weights; /* as in stack_part */
    float4 *ends;
};

struct ready_blocks {
    ready_block block[XBC_STACK + 1];
};

/* Input 2 pair + i of a step, for output `out`. */
static __device__ __forceinline__ float ready_weight(const ready_block &b, int step,
                                                     int pair, int i, int out)
{
    if (b.c != 3)
        return b.w[((int64_t)(step % TAPS * b.c) + step / TAPS * STEP + 2 * pair + i) *
                       b.oc +
                   out];
    const int pixel = pair % 4, channel = pair / 4 * 2 + i;
    return pixel < 3 && channel < 3 ? b.w[((step * 3 + pixel) * 3 + channel) * b.oc + out]
                                    : 0;
}

/* (N4) */
static __device__ __forceinline__ float4 ready_end(const ready_block &b, int k)
{
    const float bias = b.bias ? b.bias[k] : 0;
    if (!b.after.scale) return float4{bias, 0, 1, 0};
    const float inverse =
        (float)(1 / sqrt((double)b.after.variance[k] + b.after.epsilon));
    return float4{bias, b.after.mean[k], b.after.scale[k] * inverse, b.after.shift[k]};
}

static __global__ void __launch_bounds__(THREADS)
    stack_ready(const __grid_constant__ ready_blocks job)
{
    const ready_block &b = job.block[blockIdx.y];
    for
        EACH(i, b.oc) b.ends[i] = ready_end(b, (int)i);
    if (!b.w) return;
    for
        EACH(i, (int64_t)stack_steps(b.c) * (b.oc / OUTS) * 32)
        {
            const int lane = (int)i % 32, part = (int)i / 32, tile = part % (b.oc / OUTS),
                      step = part / (b.oc / OUTS);
            uint32_t hi[4], lo[4];
            XB_UNROLLED
            for (int j = 0; j < 4; j++) {
                const int out = OUTS * tile + lane / 4 + j % 2 * 8;
                const int pair = lane % 4 + j / 2 * 4;
                const split_pair two(ready_weight(b, step, pair, 0, out),
                                     ready_weight(b, step, pair, 1, out));
                hi[j] = two.hi, lo[j] = two.lo;
            }
            b.weights[(int64_t)part * 64 + lane] = uint4{hi[0], hi[1], hi[2], hi[3]};
            b.weights[(int64_t)part * 64 + 32 + lane] = uint4{lo[0], lo[1], lo[2], lo[3]};
        }
}

/* ---- inputs that no block of the stack made */

static __global__ void __launch_bounds__(THREADS)
    stack_enter(uint4 *to, const float *x, const float4 *ends, int64_t quads, int c)
{
    for
        EACH(i, quads)
        {
            const int64_t first = i / 4 * STEP;
            const int q = (int)(i % 4), k = (int)(first % c) + 2 * q;
            float v[4];
            XB_UNROLLED
            for (int j = 0; j < 4; j++) {
                const int at = j / 2 * 8 + j % 2;
                const float4 e = ends[k + at];
                v[j] = (x[first + 2 * q + at] - e.y) * e.z + e.w;
            }
            const split_pair low(v[0], v[1]), high(v[2], v[3]);
            to[i] = uint4{low.hi, high.hi, low.lo, high.lo};
        }
}

/* ---- the whole stack; its room: weights and ends of each block, ends of `before`, and
 * two buffers in turn */

static int64_t weight_quads(const xbc_window &g)
{
    return (int64_t)stack_steps(g.c) * g.oc * 4;
}

/* The largest buffer between blocks, and before the dense layers. */
static int64_t widest_of(const xbc_stack *job)
{
    int64_t widest = 0;
    for (int i = 0; i < job->blocks; i++) {
        const xbc_window &g = job->block[i].conv;
        const int64_t size = g.c == 3 ? 0 : job->rows * g.h * g.w * g.c;
        widest = size > widest ? size : widest;
    }
    const xbc_stack_block &last = job->block[job->blocks - 1];
    const int64_t end = job->rows * last.ph * last.pw * last.conv.oc;
    return job->tail.links > 0 && end > widest ? end : widest;
}

int64_t xbc_stack_room(const xbc_stack *job)
{
    int64_t quads = job->block[0].conv.c;
    for (int i = 0; i < job->blocks; i++)
        quads += weight_quads(job->block[i].conv) + job->block[i].conv.oc;
    return 4 * quads + 2 * widest_of(job);
}

/* Prepares all blocks; returns the room that is left. */
static float *make_ready(const xbc_stack *job, ready_blocks *ready)
{
    float4 *room = (float4 *)(void *)job->room;
    int64_t most = 0;
    for (int i = 0; i <= job->blocks; i++) {
        ready_block *to = &ready->block[i];
        const xbc_stack_block *b = &job->block[i];
        const bool is = i < job->blocks;
        const int64_t quads = is ? weight_quads(b->conv) : 0;
        *to = {};
        to->after = is ? b->after : job->before;
        to->c = is ? b->conv.c : 0, to->oc = is ? b->conv.oc : job->block[0].conv.c;
        if (is) to->w = b->w, to->bias = b->bias;
        to->weights = (uint4 *)(void *)room, room += quads;
        to->ends = room, room += to->oc;
        most = quads > most ? quads : most;
    }
    XBC_LAUNCH("splitting weights", stack_ready,
               dim3((unsigned)up(most, THREADS), (unsigned)job->blocks + 1), THREADS,
               *ready);
    return (float *)room;
}

void xbc_stack_forward(const xbc_stack *job)
{
    ready_blocks ready;
    float *buffer[2] = {make_ready(job, &ready), NULL};
    buffer[1] = buffer[0] + widest_of(job);
    const xbc_window &first = job->block[0].conv;
    const void *x = job->x;
    if (first.c != 3) {
        const int64_t quads = job->rows * first.h * first.w * first.c / 4;
        x = buffer[1];
        XBC_LAUNCH("splitting inputs", stack_enter, blocks_for(quads), THREADS,
                   (uint4 *)(void *)buffer[1], job->x, ready.block[job->blocks].ends,
                   quads, first.c);
    }
    for (int i = 0; i < job->blocks; i++) {
        const xbc_stack_block *b = &job->block[i];
        const bool last = i == job->blocks - 1, end = last && job->tail.links == 0;
        const ready_block &with = ready.block[i];
        const bool cut = 2 * b->ph > b->conv.oh || 2 * b->pw > b->conv.ow;
        const stack_part part = {b->conv,      b->ph,     b->pw,
                                 job->rows,    x,         with.weights,
                                 with.ends,    end ? job->y : buffer[i % 2],
                                 last,         cut};
        xbc_stack_part_forward(&part);
        x = part.y;
    }
    if (job->tail.links == 0) return;
    xbc_tail tail = job->tail;
    tail.rows = job->rows, tail.x = (const float *)x, tail.y = job->y;
    xbc_tail_forward(&tail);
}
