/* narrow_pass.cuh: a narrow net's arrays in shared memory, and the pass of a batch's rows
 * through the net and back, four threads for each row; device_narrow.cu has the rest of a
 * step. */
#ifndef XBC_NARROW_PASS_CUH
#define XBC_NARROW_PASS_CUH

#include "steps_update.cuh"

/* Lines of activations have LINE numbers: those of the units, then 1, the input of the
 * bias, then 0. With this length, eight neighbouring lines lie in different banks. */
enum { NARROW = 16, LINE = NARROW + 4 };
enum { CHAIN = 256, HELPERS = 160, NARROW_THREADS = CHAIN + HELPERS };
enum { CHAIN_ROWS = CHAIN / 4 };                    /* rows that threads begin at once */
enum { SLICES = 8, TILES_EACH = 2, EACH_MOST = 2 }; /* of a thread: tiles, weights */
enum { KERNEL = (NARROW + 1) * NARROW, TURNED = NARROW * NARROW, TILED = LINE * NARROW };

/* ---- the block's arrays */

struct narrow_room {
    double *row_sum;  /* [sums][batch] */
    float *w;         /* [links][NARROW + 1][NARROW]: theta; the last line is the bias */
    float *turned;    /* [links][NARROW][NARROW]: the kernels transposed */
    float *z;         /* as w: draws of the next step */
    float *x, *y, *d; /* [2], [links], [links] of [rows][LINE]: inputs of this step and of
                         the next one; outputs; gradients by the sums */
    float *target;    /* [2][rows][targets] */
    float *part;      /* [SLICES], `apart` from each other: [links][LINE][NARROW] */
    int rows, apart;  /* rows: as many as there is room for */
};

static __host__ __device__ __forceinline__ int apart_of(const xbc_steps &job)
{
    return job.links * TILED + 4; /* slices begin in different banks */
}

static __device__ __forceinline__ narrow_room narrow_room_of(const xbc_steps &job,
                                                             int rows, float *at)
{
    narrow_room r;
    r.rows = rows, r.apart = apart_of(job);
    r.row_sum = (double *)(void *)at, at += whole_quads(2 * job.sums_each * job.batch);
    r.w = at, at += job.links * KERNEL;
    r.turned = at, at += job.links * TURNED;
    r.z = at, at += job.links * KERNEL;
    r.x = at, at += 2 * rows * LINE;
    r.y = at, at += job.links * rows * LINE;
    r.d = at, at += job.links * rows * LINE;
    r.target = at, at += whole_quads(2 * rows * job.targets);
    r.part = at;
    return r;
}

/* The number of floats of all these arrays. */
static __host__ __device__ __forceinline__ int narrow_floats(const xbc_steps &job,
                                                             int rows)
{
    return whole_quads(2 * job.sums_each * job.batch) +
           job.links * (2 * KERNEL + TURNED + 2 * rows * LINE) + 2 * rows * LINE +
           whole_quads(2 * rows * job.targets) + SLICES * apart_of(job);
}

/* ---- forward and back */

static __device__ __noinline__ float seldom_activated(float x, xbc_act act)
{
    return activated(x, act);
}

/* What is seldom used is a call, so that the code of a step stays in the nearest cache.
 */
static __device__ __forceinline__ void activate(float v[4], xbc_act act)
{
    if (act == XBC_NONE) return;
    XB_UNROLLED
    for (int j = 0; j < 4; j++)
        v[j] = act == XBC_ELU    ? quick_elu(v[j])
               : act == XBC_RELU ? activated(v[j], XBC_RELU)
                                 : seldom_activated(v[j], act);
}

/* sum [R][4] += lines of `from`, CHAIN_ROWS apart, times four columns of a matrix with
 * lines of NARROW, of which `depth` count. */
template <int R>
static __device__ __forceinline__ void add_lines(float sum[R][4], const float *from,
                                                 const float *w, int depth)
{
    XB_UNROLLED
    for (int k = 0; k < NARROW; k += 4) {
        if (k >= depth) break;
        float4 a[R];
        XB_UNROLLED
        for (int i = 0; i < R; i++) a[i] = quad_at(from + i * CHAIN_ROWS * LINE + k);
        XB_UNROLLED
        for (int j = 0; j < 4; j++) {
            const float4 q = quad_at(w + (k + j) * NARROW);
            XB_UNROLLED
            for (int i = 0; i < R; i++) add_quad(sum[i], part_of(a[i], j), q);
        }
    }
}

/* (N1) Rows beyond the batch have outputs 0. */
template <int R>
static __device__ __forceinline__ void chain_forward(const xbc_steps &job,
                                                     const narrow_room &r, const float *x,
                                                     int row, int o, int rows)
{
    const float *from = x + row * LINE;
    for (int l = 0; l < job.links; l++) {
        const xbc_step_link &k = job.link[l];
        const float *w = r.w + l * KERNEL + o;
        float *to = r.y + (l * r.rows + row) * LINE;
        const float4 bias = quad_at(w + NARROW * NARROW);
        float sum[R][4];
        XB_UNROLLED
        for (int i = 0; i < R; i++)
            sum[i][0] = bias.x, sum[i][1] = bias.y, sum[i][2] = bias.z,
            sum[i][3] = bias.w;
        add_lines<R>(sum, from, w, k.in);
        XB_UNROLLED
        for (int i = 0; i < R; i++) {
            activate(sum[i], k.act);
            XB_UNROLLED
            for (int j = 0; j < 4; j++)
                sum[i][j] = row + i * CHAIN_ROWS < rows ? sum[i][j] : 0;
            put_quad(to + i * CHAIN_ROWS * LINE + o, sum[i]);
        }
        from = to;
        __syncwarp();
    }
}

/* (N13, N14) A row's squares and their gradients by the last layer's sums. */
static __device__ __forceinline__ void chain_squares(const xbc_steps &job,
                                                     const narrow_room &r,
                                                     const step_shared *s, double scale,
                                                     float *dy, const float *y,
                                                     const float *target, int row)
{
    const bool gaussian = job.loss == XBC_GAUSSIAN;
    const xbc_step_link &k = job.link[job.links - 1];
    double all = 0;
    for (int o = 0; o < job.outputs; o++) {
        float d;
        const double square = square_of(y[o], target[o], gaussian ? s->inverse[o] : 1,
                                        scale, gaussian ? 1 : 2, &d);
        dy[o] = d * slope_at(y[o], k.slope);
        if (gaussian) r.row_sum[o * job.batch + row] = square;
        all += square;
    }
    if (!gaussian) r.row_sum[row] = all;
}

/* The loss of one row. Its gradients beyond the outputs stay 0, and so do all those of
 * rows beyond the batch. */
static __device__ __forceinline__ void chain_loss(const xbc_steps &job,
                                                  const narrow_room &r,
                                                  const step_shared *s,
                                                  const xbc_step &step,
                                                  const float *targets, int row)
{
    const xbc_step_link &k = job.link[job.links - 1];
    const int at = ((job.links - 1) * r.rows + row) * LINE;
    const float *y = r.y + at, *target = targets + row * job.targets;
    float *dy = r.d + at;
    if (row >= step.rows) {
        for (int o = 0; o < job.outputs; o++) dy[o] = 0;
    } else if (job.loss == XBC_SOFTMAX) {
        r.row_sum[row] = softmax_of(dy, y, job.outputs, label_in(target), step.scale);
        for (int o = 0; o < job.outputs; o++) dy[o] *= slope_at(y[o], k.slope);
    } else {
        chain_squares(job, r, s, step.scale, dy, y, target, row);
    }
}

/* (N2) */
template <int R>
static __device__ __forceinline__ void chain_backward(const xbc_steps &job,
                                                      const narrow_room &r, int row,
                                                      int o)
{
    for (int l = job.links - 1; l > 0; l--) {
        const float *from = r.d + (l * r.rows + row) * LINE;
        const int at = ((l - 1) * r.rows + row) * LINE + o;
        float sum[R][4] = {};
        add_lines<R>(sum, from, r.turned + l * TURNED + o, job.link[l].out);
        XB_UNROLLED
        for (int i = 0; i < R; i++) {
            const float4 y = quad_at(r.y + at + i * CHAIN_ROWS * LINE);
            XB_UNROLLED
            for (int j = 0; j < 4; j++)
                sum[i][j] *= slope_at(part_of(y, j), job.link[l - 1].slope);
            put_quad(r.d + at + i * CHAIN_ROWS * LINE, sum[i]);
        }
        __syncwarp();
    }
}

template <int R>
static __device__ __forceinline__ void chain(const xbc_steps &job, const narrow_room &r,
                                             const step_shared *s, const xbc_step &step,
                                             int turn)
{
    const int t = (int)threadIdx.x, row = t / 4, mine = t % 4;
    chain_forward<R>(job, r, r.x + turn * r.rows * LINE, row, mine * 4, step.rows);
    if (mine < R)
        chain_loss(job, r, s, step, r.target + turn * r.rows * job.targets,
                   row + mine * CHAIN_ROWS);
    __syncwarp();
    chain_backward<R>(job, r, row, mine * 4);
}

#endif
