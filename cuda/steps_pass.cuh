/* steps_pass.cuh: forward and backward through a net that trains inside one block;
 * maths N1, N2, N6, N11. A thread computes tiles of R rows and four columns. Sums run
 * in the order of their terms' numbers, so each result is one chain of multiply-adds. */
#ifndef XBC_STEPS_PASS_CUH
#define XBC_STEPS_PASS_CUH

#include "steps.cuh"

static __device__ __forceinline__ float4 quad_at(const float *p)
{
    return *(const float4 *)(const void *)p;
}
static __device__ __forceinline__ void put_quad(float *p, const float v[4])
{
    const float4 q = {v[0], v[1], v[2], v[3]};
    *(float4 *)(void *)p = q;
}
static __device__ __forceinline__ float part_of(const float4 &q, int j)
{
    return j == 0 ? q.x : j == 1 ? q.y : j == 2 ? q.z : q.w;
}

/* sum += a times four neighbouring numbers */
static __device__ __forceinline__ void add_quad(float sum[4], float a, const float4 &q)
{
    sum[0] = fmaf(a, q.x, sum[0]), sum[1] = fmaf(a, q.y, sum[1]);
    sum[2] = fmaf(a, q.z, sum[2]), sum[3] = fmaf(a, q.w, sum[3]);
}

/* A row of a tile; beyond the end it is the last row again, whose results are then not
 * stored. */
static __device__ __forceinline__ int row_within(int row, int rows)
{
    return row < rows ? row : rows - 1;
}

/* m [R][4] = x w and, with LOCAL, v [R][4] = x^2 s, summed over `depth` numbers. Rows
 * of x are `stride` apart, rows of w and s have `width` numbers. With PAIR, x times a
 * second array `e` of the same shape takes the place of x^2. */
template <bool LOCAL, bool PAIR, int R>
static __device__ __forceinline__ void add_product(float m[R][4], float v[R][4],
                                                   const float *const x[R],
                                                   const float *const e[R], int depth,
                                                   const float *w, const float *s, int width)
{
    const int whole = depth & ~3;
    for (int k = 0; k < whole; k += 4) {
        float4 a[R], b[R];
        XB_UNROLLED
        for (int i = 0; i < R; i++) {
            a[i] = quad_at(x[i] + k);
            if (LOCAL && PAIR) b[i] = quad_at(e[i] + k);
        }
        XB_UNROLLED
        for (int j = 0; j < 4; j++) {
            const float4 q = quad_at(w + (k + j) * width);
            float4 u = {};
            if (LOCAL) u = quad_at(s + (k + j) * width);
            XB_UNROLLED
            for (int i = 0; i < R; i++) {
                const float f = part_of(a[i], j);
                add_quad(m[i], f, q);
                if (LOCAL) add_quad(v[i], f * (PAIR ? part_of(b[i], j) : f), u);
            }
        }
    }
    for (int k = whole; k < depth; k++) {
        const float4 q = quad_at(w + k * width);
        float4 u = {};
        if (LOCAL) u = quad_at(s + k * width);
        XB_UNROLLED
        for (int i = 0; i < R; i++) {
            const float f = x[i][k];
            add_quad(m[i], f, q);
            if (LOCAL) add_quad(v[i], f * (PAIR ? e[i][k] : f), u);
        }
    }
}

/* ---- forward */

/* (N11) Computes y from mean and variance, and replaces e with e / sqrt(v). */
static __device__ __forceinline__ void local_quad(float y[4], float *e, const float v[4])
{
    const float4 draws = quad_at(e);
    float ratio[4];
    XB_UNROLLED
    for (int j = 0; j < 4; j++) {
        const float root = sqrtf(v[j]), z = part_of(draws, j);
        y[j] += root * z;
        ratio[j] = v[j] > 0 ? z / root : 0;
    }
    put_quad(e, ratio);
}

template <bool LOCAL, int R>
static __device__ __forceinline__ void forward_link(const step_room &r,
                                                    const xbc_step_link &k, const float *x,
                                                    int rows)
{
    const int columns = k.outp / 4, tiles = (rows + R - 1) / R * columns;
    const float *w = (LOCAL ? r.mu : r.w) + k.at, *s = r.w + k.at;
    for (int i = (int)threadIdx.x; i < tiles; i += STEP_THREADS) {
        const int tile = divided(i, k.by_columns), o = (i - tile * columns) * 4,
                  row = tile * R;
        float m[R][4] = {}, v[R][4] = {};
        const float *from[R];
        XB_UNROLLED
        for (int t = 0; t < R; t++) from[t] = x + row_within(row + t, rows) * k.inp;
        add_product<LOCAL, false, R>(m, v, from, from, k.in, w + o, s + o, k.outp);
        float4 bias = {}, spread = {};
        if (k.bias)
            bias = quad_at(w + k.in * k.outp + o), spread = quad_at(s + k.in * k.outp + o);
        XB_UNROLLED
        for (int t = 0; t < R; t++) {
            if (row + t >= rows) break;
            const int at = k.y + (row + t) * k.outp + o;
            XB_UNROLLED
            for (int j = 0; j < 4; j++) {
                m[t][j] += part_of(bias, j);
                v[t][j] += part_of(spread, j);
            }
            if (LOCAL) local_quad(m[t], r.e + at, v[t]);
            XB_UNROLLED
            for (int j = 0; j < 4 && k.act == XBC_ELU; j++) m[t][j] = quick_elu(m[t][j]);
            XB_UNROLLED
            for (int j = 0; j < 4 && k.act != XBC_ELU; j++)
                m[t][j] = activated(m[t][j], k.act);
            put_quad(r.y + at, m[t]);
        }
    }
}

/* ---- backward */

/* Where a tile of weights reads row `from` of the batch, and the distance to the next
 * row. */
struct tile_reads {
    const float *x, *d, *e;
    int inp, outp;
    bool bias;
};

/* Adds T rows to the sums. All rows are read first, so that no load waits for the one
 * before it. */
template <bool LOCAL, int R, int T>
static __device__ __forceinline__ void add_tile_rows(float m[R][4], float v[R][4],
                                                     tile_reads *at)
{
    float4 d[T], u[T];
    float a[T][4];
    XB_UNROLLED
    for (int i = 0; i < T; i++) {
        d[i] = quad_at(at->d + i * at->outp);
        if (LOCAL) u[i] = quad_at(at->e + i * at->outp);
        if (R == 1) a[i][0] = at->bias ? 1 : at->x[i * at->inp];
        if (R == 4) {
            const float4 q = quad_at(at->x + i * at->inp);
            a[i][0] = at->bias ? 1 : q.x, a[i][1] = q.y, a[i][2] = q.z, a[i][3] = q.w;
        }
    }
    XB_UNROLLED
    for (int i = 0; i < T; i++) {
        if (LOCAL)
            u[i] = {d[i].x * u[i].x, d[i].y * u[i].y, d[i].z * u[i].z, d[i].w * u[i].w};
        XB_UNROLLED
        for (int t = 0; t < R; t++) {
            add_quad(m[t], a[i][t], d[i]);
            if (LOCAL) add_quad(v[t], a[i][t] * a[i][t], u[i]);
        }
    }
    at->x += T * at->inp, at->d += T * at->outp, at->e += T * at->outp;
}

/* Gradients with respect to the kernel's rows first .. first + R - 1, or to the bias,
 * from rows from .. to - 1 of the batch; those with respect to sigma^2 are twice as
 * large (N11). */
template <bool LOCAL, int R>
static __device__ __forceinline__ void weight_tile(const xbc_steps &job, const step_room &r,
                                                   const xbc_step_link &k, const float *x,
                                                   const float *dy, int first, int o,
                                                   int from, int to, float *part)
{
    float m[R][4] = {}, v[R][4] = {};
    const int in = k.in, inp = k.inp, outp = k.outp;
    const bool bias = first >= in;
    tile_reads at = {x + from * inp + (bias ? 0 : first), dy + from * outp + o,
                     r.e + k.y + from * outp + o, inp, outp, bias};
    int left = to - from;
    for (; left >= 4; left -= 4) add_tile_rows<LOCAL, R, 4>(m, v, &at);
    for (; left > 0; left--) add_tile_rows<LOCAL, R, 1>(m, v, &at);
    XB_UNROLLED
    for (int t = 0; t < R; t++) {
        if (bias ? t > 0 : first + t >= in) break;
        float *to_part = part + k.at + (first + t) * outp + o;
        put_quad(to_part, m[t]);
        if (LOCAL) put_quad(to_part + job.weights, v[t]);
    }
}

/* The slope of an activation at its output y: one polynomial above 0, another
 * elsewhere. */
static __device__ __forceinline__ float slope_at(float y, const float c[2][3])
{
    const bool up = y > 0;
    const float c0 = up ? c[1][0] : c[0][0], c1 = up ? c[1][1] : c[0][1],
                c2 = up ? c[1][2] : c[0][2];
    return fmaf(fmaf(c2, y, c1), y, c0);
}

/* (N2, N11) dx of some rows and four inputs, times the slope of the activation that
 * made these inputs. */
template <bool LOCAL, int R>
static __device__ __forceinline__ void input_tile(const step_room &r, const xbc_step_link &k,
                                                  float *dx, const float *dy, const float *x,
                                                  const float below[2][3], int row, int at,
                                                  int rows)
{
    float m[R][4] = {}, v[R][4] = {};
    const float *from[R], *e[R];
    XB_UNROLLED
    for (int t = 0; t < R; t++) {
        const int one = row_within(row + t, rows) * k.outp;
        from[t] = dy + one, e[t] = r.e + k.y + one;
    }
    add_product<LOCAL, true, R>(m, v, from, e, k.outp, r.turned + k.turned + at,
                                r.turned_variance + k.turned + at, k.inp);
    XB_UNROLLED
    for (int t = 0; t < R; t++) {
        if (row + t >= rows) break;
        const float4 q = quad_at(x + (row + t) * k.inp + at);
        float to[4];
        XB_UNROLLED
        for (int j = 0; j < 4; j++) {
            const float value = part_of(q, j);
            const float d = LOCAL ? m[t][j] + value * v[t][j] : m[t][j];
            to[j] = at + j < k.in ? d * slope_at(value, below) : 0;
        }
        put_quad(dx + (row + t) * k.inp + at, to);
    }
}

/* Both gradients, as one run of tiles; dx NULL: not wanted. */
template <bool LOCAL, int R>
static __device__ __forceinline__ void backward_link(const xbc_steps &job,
                                                     const step_room &r,
                                                     const xbc_step_link &k, float *dx,
                                                     const float *dy, const float *x,
                                                     const float below[2][3], int rows)
{
    const int columns = k.outp / 4, kernel = (k.in + R - 1) / R;
    const int weights = (kernel + k.bias) * columns, across = k.inp / 4;
    const int inputs = dx ? (rows + R - 1) / R * across : 0;
    const int all = weights * job.slices + inputs;
    for (int i = (int)threadIdx.x; i < all; i += STEP_THREADS) {
        if (i < inputs) {
            const int line = divided(i, k.by_across);
            input_tile<LOCAL, R>(r, k, dx, dy, x, below, line * R, (i - line * across) * 4,
                                 rows);
            continue;
        }
        int slice = 0, tile = i - inputs;
        for (; tile >= weights; slice++) tile -= weights;
        const int line = divided(tile, k.by_columns), o = (tile - line * columns) * 4;
        weight_tile<LOCAL, R>(job, r, k, x, dy, line < kernel ? line * R : k.in, o,
                              slice * rows / job.slices, (slice + 1) * rows / job.slices,
                              r.part + (int64_t)2 * job.weights * slice);
    }
}

#endif
