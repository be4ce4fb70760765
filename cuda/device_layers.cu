/* device_layers.cu: operations on single elements or channels: activations, the
 * estimators' noise, maxpool, batchnorm; maths N3-N6, N9-N11. They round as the plain
 * kernels of the CPU do, except for exponentials. */
#include "activation.cuh"

/* ---- activations (N6) */

static __device__ __forceinline__ float slope(float y, xbc_act f)
{
    switch (f) {
    case XBC_ELU: return y > 0 ? 1 : y + 1;
    case XBC_RELU: return y > 0 ? 1 : 0;
    case XBC_TANH: return 1 - y * y;
    case XBC_SIGMOID: return y * (1 - y);
    default: return 1;
    }
}

static __global__ void activate(float *y, const float *x, int64_t n, xbc_act f)
{
    for
        EACH(i, n) y[i] = activated(x[i], f);
}

/* relu's gradient is 0, not 0 times dy, where y is not positive */
static __global__ void deactivate(float *dx, const float *dy, const float *y, int64_t n,
                                  xbc_act f)
{
    for
        EACH(i, n)
    dx[i] = f == XBC_RELU ? (y[i] > 0 ? dy[i] : 0) : dy[i] * slope(y[i], f);
}

void xbc_activate(float *y, const float *x, int64_t n, xbc_act f)
{
    XBC_LAUNCH("activating", activate, blocks_for(n), THREADS, y, x, n, f);
}

void xbc_deactivate(float *dx, const float *dy, const float *y, int64_t n, xbc_act f)
{
    XBC_LAUNCH("activating backwards", deactivate, blocks_for(n), THREADS, dx, dy, y, n,
               f);
}

/* ---- the estimators' noise */

static __global__ void multiply(float *out, const float *a, const float *b, int64_t n)
{
    for
        EACH(i, n) out[i] = a[i] * b[i];
}

void xbc_multiply(float *out, const float *a, const float *b, int64_t n)
{
    if (n > 0) XBC_LAUNCH("multiplying", multiply, blocks_for(n), THREADS, out, a, b, n);
}

static __global__ void add_parts(float *to, const float *dw, int64_t dw_stride,
                                 const float *c, int64_t stride, int64_t count, int64_t n,
                                 float factor)
{
    for
        EACH(i, n)
        {
            double sum = 0;
            for (int64_t p = 0; p < count; p++) {
                double part = dw[p * dw_stride + i];
                sum += c ? part * (double)c[p * stride + i] : part;
            }
            to[i] += (float)((double)factor * sum);
        }
}

/* If there are many parts, SIDE threads share those of an element, and the first of
 * these threads adds their sums. */
enum { SIDE = 16 };

static __global__ void __launch_bounds__(THREADS)
    add_many_parts(float *to, const float *dw, int64_t dw_stride, const float *c,
                   int64_t stride, int64_t count, int64_t n, float factor)
{
    __shared__ double room[THREADS];
    const int64_t i = (int64_t)blockIdx.x * SIDE + threadIdx.x % SIDE;
    double sum = 0;
    for (int64_t p = threadIdx.x / SIDE; i < n && p < count; p += THREADS / SIDE) {
        const double part = dw[p * dw_stride + i];
        sum += c ? part * (double)c[p * stride + i] : part;
    }
    room[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= SIDE || i >= n) return;
    for (int l = 1; l < THREADS / SIDE; l++) sum += room[threadIdx.x + l * SIDE];
    to[i] += (float)((double)factor * sum);
}

void xbc_add_parts(float *to, const float *dw, int64_t dw_stride, const float *c,
                   int64_t stride, int64_t count, int64_t n, float factor)
{
    const int64_t MANY = 16;
    if (n > 0 && count >= MANY)
        XBC_LAUNCH("adding gradients", add_many_parts, (unsigned)((n + SIDE - 1) / SIDE),
                   THREADS, to, dw, dw_stride, c, stride, count, n, factor);
    else if (n > 0)
        XBC_LAUNCH("adding gradients", add_parts, blocks_for(n), THREADS, to, dw,
                   dw_stride, c, stride, count, n, factor);
}

static __global__ void channels(float *out, const float *x, const float *r, int64_t n,
                                int64_t pixels, int64_t c, bool add)
{
    for
        EACH(i, n)
        {
            float product = x[i] * r[i / (pixels * c) * c + i % c];
            out[i] = add ? out[i] + product : product;
        }
}

void xbc_channels(float *out, const float *x, const float *r, int64_t rows,
                  int64_t pixels, int64_t c, bool add)
{
    int64_t n = rows * pixels * c;
    XBC_LAUNCH("turning signs", channels, blocks_for(n), THREADS, out, x, r, n, pixels, c,
               add);
}

static __global__ void local_forward(float *y, const float *v, const float *e, int64_t n)
{
    for
        EACH(i, n) y[i] += sqrtf(v[i]) * e[i];
}

void xbc_local_forward(float *y, const float *v, const float *e, int64_t n)
{
    XBC_LAUNCH("adding noise", local_forward, blocks_for(n), THREADS, y, v, e, n);
}

static __global__ void local_backward(float *dv, const float *dy, const float *v,
                                      const float *e, int64_t n)
{
    for
        EACH(i, n) dv[i] = v[i] > 0 ? dy[i] * e[i] / (2 * sqrtf(v[i])) : 0;
}

void xbc_local_backward(float *dv, const float *dy, const float *v, const float *e,
                        int64_t n)
{
    XBC_LAUNCH("noise backwards", local_backward, blocks_for(n), THREADS, dv, dy, v, e,
               n);
}

static __global__ void local_input(float *dx, const float *dxx, const float *x, int64_t n)
{
    for
        EACH(i, n) dx[i] += 2 * (x[i] * dxx[i]);
}

void xbc_local_input(float *dx, const float *dxx, const float *x, int64_t n)
{
    XBC_LAUNCH("noise backwards", local_input, blocks_for(n), THREADS, dx, dxx, x, n);
}

/* ---- maxpool (N3) */

struct pixel {
    int64_t row;
    int y, x, c;
};

static __device__ __forceinline__ pixel pixel_at(int64_t i, int h, int w, int c)
{
    pixel p;
    p.c = (int)(i % c), i /= c;
    p.x = (int)(i % w), i /= w;
    p.y = (int)(i % h), p.row = i / h;
    return p;
}

/* The place of a window's largest value; the first of equal values wins, and a NaN
 * wins over all numbers. */
static __device__ __forceinline__ int largest(float *best, const float *image,
                                              const xbc_window &g, int oy, int ox, int c)
{
    int y0 = oy * g.stride, x0 = ox * g.stride, place = 0;
    *best = image[((int64_t)y0 * g.w + x0) * g.c + c];
    for (int ky = 0; ky < g.kh && y0 + ky < g.h; ky++)
        for (int kx = 0; kx < g.kw && x0 + kx < g.w; kx++) {
            float v = image[((int64_t)(y0 + ky) * g.w + x0 + kx) * g.c + c];
            if (v <= *best || *best != *best) continue;
            *best = v, place = ky * g.kw + kx;
        }
    return place;
}

static __global__ void maxpool(float *y, const float *x, int64_t n, xbc_window g)
{
    for
        EACH(i, n)
        {
            pixel p = pixel_at(i, g.oh, g.ow, g.c);
            largest(y + i, x + p.row * g.h * g.w * g.c, g, p.y, p.x, p.c);
        }
}

void xbc_maxpool(float *y, const float *x, int64_t rows, const xbc_window *g)
{
    int64_t n = rows * g->oh * g->ow * g->c;
    XBC_LAUNCH("pooling", maxpool, blocks_for(n), THREADS, y, x, n, *g);
}

/* For an input, looks at all windows that contain it and at the place that each of
 * them chose. */
static __global__ void maxpool_backward(float *dx, const float *dy, const float *x,
                                        int64_t n, xbc_window g)
{
    for
        EACH(i, n)
        {
            pixel p = pixel_at(i, g.h, g.w, g.c);
            const float *image = x + p.row * g.h * g.w * g.c;
            float sum = 0;
            int oy = p.y < g.kh ? 0 : (p.y - g.kh) / g.stride + 1;
            for (; oy < g.oh && oy * g.stride <= p.y; oy++) {
                int ox = p.x < g.kw ? 0 : (p.x - g.kw) / g.stride + 1;
                for (; ox < g.ow && ox * g.stride <= p.x; ox++) {
                    float best;
                    int mine = (p.y - oy * g.stride) * g.kw + p.x - ox * g.stride;
                    if (largest(&best, image, g, oy, ox, p.c) == mine)
                        sum += dy[((p.row * g.oh + oy) * g.ow + ox) * g.c + p.c];
                }
            }
            dx[i] = sum;
        }
}

void xbc_maxpool_backward(float *dx, const float *dy, const float *x, int64_t rows,
                          const xbc_window *g)
{
    int64_t n = rows * g->h * g->w * g->c;
    XBC_LAUNCH("pooling backwards", maxpool_backward, blocks_for(n), THREADS, dx, dy, x,
               n, *g);
}

/* ---- batchnorm (N4, N5): sums over pieces of the rows, then over pieces, in double */

static const int64_t NORM_PIECES = 1056, NORM_ROWS = 16;

static int64_t pieces_of(int64_t rows)
{
    int64_t pieces = (rows + NORM_ROWS - 1) / NORM_ROWS;
    return pieces < NORM_PIECES ? pieces : NORM_PIECES;
}

int64_t xbc_norm_room(int64_t rows, int64_t c) { return pieces_of(rows) * 2 * c; }

/* A channel's sums: of x; of (x - mean)^2; of dy and of dy (x - mean). */
enum norm_sums { SUM_X, SUM_SQUARES, SUM_GRADIENTS };

/* A block has a piece of the rows and up to THREADS channels; if channels are few,
 * neighbouring threads share its rows, and the first of them adds their sums. */
template <norm_sums WHAT>
static __global__ void __launch_bounds__(THREADS)
    norm_sum(xbc_norm job, int64_t pieces, const float *x, const float *dy)
{
    __shared__ double room[2][THREADS];
    const int64_t c = job.c, across = c < THREADS ? c : (int64_t)THREADS;
    const int64_t lanes = THREADS / across, lane = threadIdx.x / across;
    const int64_t channel = blockIdx.y * THREADS + threadIdx.x % across;
    const int64_t begin = blockIdx.x * job.rows / pieces,
                  end = (blockIdx.x + 1) * job.rows / pieces;
    const bool is = channel < c && lane < lanes;
    double first = 0, second = 0;
    const float mean = is ? job.keep[channel] : 0;
    for (int64_t r = begin + lane; is && r < end; r += lanes) {
        const float v = x[r * c + channel];
        const double d = (double)(v - mean);
        if (WHAT == SUM_X) first += (double)v;
        if (WHAT == SUM_SQUARES) first += d * d;
        if (WHAT != SUM_GRADIENTS) continue;
        const double g = (double)dy[r * c + channel];
        first += g, second += g * d;
    }
    room[0][threadIdx.x] = first, room[1][threadIdx.x] = second;
    __syncthreads();
    if (!is || lane > 0) return;
    for (int64_t l = 1; l < lanes; l++) {
        first += room[0][threadIdx.x + l * across];
        second += room[1][threadIdx.x + l * across];
    }
    job.room[2 * blockIdx.x * c + channel] = first;
    job.room[(2 * blockIdx.x + 1) * c + channel] = second;
}

/* The total of a block's channel, for thread 0. */
static __device__ __forceinline__ double total(double *sum, const xbc_norm &job,
                                               int64_t pieces, int64_t at)
{
    double mine = 0;
    for (int64_t p = threadIdx.x; p < pieces; p += THREADS)
        mine += job.room[2 * p * job.c + at];
    return block_sum(sum, mine);
}

static __global__ void __launch_bounds__(THREADS) norm_mean(xbc_norm job, int64_t pieces)
{
    __shared__ double sum[THREADS];
    const int64_t i = blockIdx.x;
    const double mean = total(sum, job, pieces, i) / (double)job.rows;
    if (threadIdx.x > 0) return;
    job.keep[i] = (float)mean;
    job.moved[i] =
        (float)(job.momentum * (double)job.state[i] + (1 - job.momentum) * mean);
}

static __global__ void __launch_bounds__(THREADS)
    norm_variance(xbc_norm job, int64_t pieces)
{
    __shared__ double sum[THREADS];
    const int64_t c = job.c, i = blockIdx.x;
    const bool batch = job.moved != NULL;
    const double all = batch ? total(sum, job, pieces, i) : 0;
    if (threadIdx.x > 0) return;
    if (!batch) job.keep[i] = job.state[i];
    const double v = batch ? all / (double)job.rows : (double)job.state[c + i];
    const float inverse = (float)(1 / sqrt(v + job.epsilon));
    job.keep[c + i] = inverse;
    job.keep[2 * c + i] = job.scale[i] * inverse;
    if (batch)
        job.moved[c + i] =
            (float)(job.momentum * (double)job.state[c + i] + (1 - job.momentum) * v);
}

/* i % c. A remainder of 64-bit numbers would take longer than everything else here. */
static __device__ __forceinline__ int64_t channel_of(int64_t i, int64_t c)
{
    return i <= UINT32_MAX ? (int64_t)((uint32_t)i % (uint32_t)c) : i % c;
}

static __global__ void norm_apply(xbc_norm job, float *y, const float *x)
{
    const int64_t c = job.c;
    for
        EACH(i, job.rows * c)
        {
            const int64_t k = channel_of(i, c);
            y[i] = (x[i] - job.keep[k]) * job.keep[2 * c + k] + job.shift[k];
        }
}

static dim3 norm_blocks(const xbc_norm *job)
{
    return dim3((unsigned)pieces_of(job->rows),
                (unsigned)((job->c + THREADS - 1) / THREADS));
}

void xbc_norm_ready(const xbc_norm *job, const float *x)
{
    const int64_t pieces = pieces_of(job->rows);
    const unsigned channels = (unsigned)job->c;
    if (job->moved) {
        XBC_LAUNCH("normalising", norm_sum<SUM_X>, norm_blocks(job), THREADS, *job, pieces,
                   x, (const float *)NULL);
        XBC_LAUNCH("normalising", norm_mean, channels, THREADS, *job, pieces);
        XBC_LAUNCH("normalising", norm_sum<SUM_SQUARES>, norm_blocks(job), THREADS, *job,
                   pieces, x, (const float *)NULL);
    }
    XBC_LAUNCH("normalising", norm_variance, channels, THREADS, *job, pieces);
}

void xbc_norm_forward(const xbc_norm *job, float *y, const float *x)
{
    xbc_norm_ready(job, x);
    XBC_LAUNCH("normalising", norm_apply, blocks_for(job->rows * job->c), THREADS, *job,
               y, x);
}

/* (N5) With running statistics mean and variance do not depend on x: a = b = 0. */
static __global__ void __launch_bounds__(THREADS)
    norm_slopes(xbc_norm job, int64_t pieces, float *d_scale, float *d_shift)
{
    __shared__ double sum[THREADS];
    const int64_t c = job.c, i = blockIdx.x;
    const double inverse = (double)job.keep[c + i];
    const double share = job.moved ? 1 / (double)job.rows : 0;
    const double shift = total(sum, job, pieces, i);
    __syncthreads();
    const double scale = total(sum, job, pieces, c + i) * inverse;
    if (threadIdx.x > 0) return;
    d_scale[i] += (float)scale;
    d_shift[i] += (float)shift;
    job.keep[3 * c + i] = (float)(share * shift);
    job.keep[4 * c + i] = (float)(share * scale * inverse);
}

static __global__ void norm_back(xbc_norm job, float *dx, const float *dy, const float *x)
{
    const int64_t c = job.c;
    for
        EACH(i, job.rows * c)
        {
            const int64_t k = channel_of(i, c);
            dx[i] = job.keep[2 * c + k] * (dy[i] - job.keep[3 * c + k] -
                                           (x[i] - job.keep[k]) * job.keep[4 * c + k]);
        }
}

void xbc_norm_backward(const xbc_norm *job, float *dx, float *d_scale, float *d_shift,
                       const float *dy, const float *x)
{
    const int64_t pieces = pieces_of(job->rows);
    XBC_LAUNCH("normalising backwards", norm_sum<SUM_GRADIENTS>, norm_blocks(job), THREADS,
               *job, pieces, x, dy);
    XBC_LAUNCH("normalising backwards", norm_slopes, (unsigned)job->c, THREADS, *job,
               pieces, d_scale, d_shift);
    if (dx)
        XBC_LAUNCH("normalising backwards", norm_back, blocks_for(job->rows * job->c),
                   THREADS, *job, dx, dy, x);
}
