/* device_array.cu: simulated arrays: converters, windows of images as rows, and
 * products on tiles, each of whose sums is converted separately; maths X13, X14, X50,
 * X51. Every sum is one chain of multiply-adds in the order of the inputs. */
#include "launch.cuh"

enum { TILE_ROWS = 4 }; /* rows of a thread, which reads each weight once for all */

/* (X13) */
static __device__ __forceinline__ float to_steps(float x, const xbc_converter &c)
{
    x = x * c.inverse;
    x = x > c.low ? x : c.low;
    x = x < c.high ? x : c.high;
    return c.step * rintf(x);
}

static __global__ void quantise(float *y, const float *x, xbc_converter c, int64_t n)
{
    for
        EACH(i, n) y[i] = to_steps(x[i], c);
}

void xbc_quantise(float *y, const float *x, const xbc_converter *c, int64_t n)
{
    if (n > 0) XBC_LAUNCH("converting", quantise, blocks_for(n), THREADS, y, x, *c, n);
}

/* ---- windows of output lines from `from` on; what lies outside the image is 0 */

static __global__ void windows(float *columns, const float *x, xbc_window g, int from,
                               int64_t n)
{
    const int line = g.kw * g.c, size = g.kh * line;
    for
        EACH(i, n)
    {
        const int64_t place = i / size;
        const int at = (int)(i % size), c = at % g.c, kx = at / g.c % g.kw, ky = at / line;
        const int row = (from + (int)(place / g.ow)) * g.stride - g.top + ky,
                  column = (int)(place % g.ow) * g.stride - g.left + kx;
        const bool is = row >= 0 && row < g.h && column >= 0 && column < g.w;
        columns[i] = is ? x[((int64_t)row * g.w + column) * g.c + c] : 0;
    }
}

void xbc_windows(float *columns, const float *x, const xbc_window *g, int64_t from,
                 int64_t to)
{
    const int64_t n = (to - from) * g->ow * g->kh * g->kw * g->c;
    if (n > 0)
        XBC_LAUNCH("taking windows", windows, blocks_for(n), THREADS, columns, x, *g,
                   (int)from, n);
}

/* ---- tiles */

/* (X50, X51) A tile's sum after conversion and correction. */
static __device__ __forceinline__ float converted(float sum, const xbc_tiles &job,
                                                  int64_t at)
{
    if (job.pre) sum *= job.pre[at];
    if (job.convert) sum = to_steps(sum, job.adc);
    return job.pre ? job.post[at] * sum + job.shift[at] : sum;
}

/* (X14) A thread computes one output of TILE_ROWS rows; rows beyond the last one
 * repeat it. */
static __global__ void __launch_bounds__(THREADS) tiles(const __grid_constant__ xbc_tiles job)
{
    const int64_t blocks = (job.rows + TILE_ROWS - 1) / TILE_ROWS;
    for
        EACH(i, blocks * job.out)
    {
        const int64_t o = i % job.out, first = i / job.out * TILE_ROWS;
        const float *x[TILE_ROWS];
        float y[TILE_ROWS];
        XB_UNROLLED
        for (int r = 0; r < TILE_ROWS; r++)
            x[r] = job.x +
                   (first + r < job.rows ? first + r : job.rows - 1) * job.in;
        for (int64_t from = 0, tile = 0; from < job.in; from += job.tile, tile++) {
            const int64_t end = from + job.tile < job.in ? from + job.tile : job.in;
            float sum[TILE_ROWS] = {};
            for (int64_t k = from; k < end; k++) {
                const float w = job.w[k * job.out + o];
                XB_UNROLLED
                for (int r = 0; r < TILE_ROWS; r++) sum[r] = fmaf(x[r][k], w, sum[r]);
            }
            XB_UNROLLED
            for (int r = 0; r < TILE_ROWS; r++) {
                const float v = converted(sum[r], job, tile * job.out + o);
                y[r] = tile > 0 ? y[r] + v : job.b ? job.b[o] + v : v;
            }
        }
        XB_UNROLLED
        for (int r = 0; r < TILE_ROWS; r++)
            if (first + r < job.rows) job.y[(first + r) * job.out + o] = y[r];
    }
}

void xbc_tiles_forward(const xbc_tiles *job)
{
    const int64_t n = (job->rows + TILE_ROWS - 1) / TILE_ROWS * job->out;
    if (n > 0) XBC_LAUNCH("reading tiles", tiles, blocks_for(n), THREADS, *job);
}
