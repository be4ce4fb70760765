/* device_product.cu: dense and conv, forward and backward, as products of matrices
 * whose elements are read where they are (implicit im2col); maths N1, N2. Every output
 * is one chain of fused multiply-adds in the order of the inner index, or, if a
 * product has 64 rows or more, of steps of 16 on tensor cores (tensor.cuh). There are
 * no atomic operations, so the bytes are the same each time. Parts of the batch run
 * side by side (blockIdx.z). */
#include "tensor.cuh"

enum { TILE = 64, DEPTH = 16, SIDE = 16, MICRO = TILE / SIDE, THIN = 8 };
static const int64_t PARTS_MOST = 32768; /* of one launch */

/* One part: rows [row, row + rows) of the batch, and the sizes of its product. */
struct part_sizes {
    int64_t row;
    int m, n, k;
};

/* Division of 0 <= n < 2^31 by a number that is known on the host: a multiplication by
 * 2^(31 + shift) / by, rounded up (Granlund, Montgomery 1994). */
struct divisor {
    uint32_t by, factor;
    int shift;

    divisor(int n = 1)
    {
        by = (uint32_t)n;
        for (shift = 0; (UINT64_C(1) << shift) < by;) shift++;
        factor = (uint32_t)(((UINT64_C(1) << (31 + shift)) + by - 1) / by);
    }
    __device__ __forceinline__ int over(int n) const
    {
        return (int)((uint64_t)(uint32_t)n * factor >> (31 + shift));
    }
    /* Returns the quotient and leaves the remainder in n. */
    __device__ __forceinline__ int cut(int *n) const
    {
        int q = over(*n);
        *n -= q * (int)by;
        return q;
    }
};

struct common {
    xbc_window g;
    xbc_parts p;
    int64_t first; /* part */
    bool one_pixel;
    divisor by_pixels, by_ow, by_c, by_kw, by_oc, by_size, by_w; /* size: h w */

    __device__ __forceinline__ int64_t part() const { return first + blockIdx.z; }
    __device__ __forceinline__ int rows(int64_t *row) const
    {
        int64_t begin = part() * p.rows - p.skip, end = begin + p.rows;
        *row = begin < 0 ? 0 : begin;
        return (int)((end < p.batch ? end : p.batch) - *row);
    }
    __device__ __forceinline__ int kernel() const { return g.kh * g.kw * g.c; }
    __device__ __forceinline__ int pixels() const { return g.oh * g.ow; }

    /* x at element k of the window of output pixel m, where pixels are counted over
     * all examples */
    __device__ __forceinline__ float input(const float *x, int64_t row, int m,
                                           int k) const
    {
        if (one_pixel) return x[(row + m) * g.c + k];
        int ox = m, kx, c = k;
        int r = by_pixels.cut(&ox), oy = by_ow.cut(&ox);
        kx = by_c.cut(&c);
        int ky = by_kw.cut(&kx);
        int y = oy * g.stride - g.top + ky, at = ox * g.stride - g.left + kx;
        if (y < 0 || y >= g.h || at < 0 || at >= g.w) return 0;
        return x[(((row + r) * g.h + y) * g.w + at) * g.c + c];
    }
};

struct forward_op : common {
    enum { A_ALONG_K = 1, B_ALONG_K = 0 };
    const float *x, *w;
    float *y;
    bool bias;

    __device__ __forceinline__ part_sizes sizes() const
    {
        part_sizes s;
        s.m = rows(&s.row) * pixels(), s.n = g.oc, s.k = kernel();
        return s;
    }
    __device__ __forceinline__ float a(const part_sizes &s, int m, int k) const
    {
        return input(x, s.row, m, k);
    }
    __device__ __forceinline__ float b(const part_sizes &, int k, int n) const
    {
        return w[part() * p.stride + (int64_t)k * g.oc + n];
    }
    __device__ __forceinline__ void store(const part_sizes &s, int m, int n,
                                          float v) const
    {
        if (bias) v += w[part() * p.stride + (int64_t)s.k * g.oc + n];
        y[(s.row * pixels() + m) * g.oc + n] = v;
    }
};

struct input_op : common {
    enum { A_ALONG_K = 1, B_ALONG_K = 1 };
    const float *dy, *w;
    float *dx;

    __device__ __forceinline__ part_sizes sizes() const
    {
        part_sizes s;
        s.m = rows(&s.row) * g.h * g.w, s.n = g.c, s.k = g.kh * g.kw * g.oc;
        return s;
    }
    /* dy of the output pixel whose window has input pixel m at place k / oc */
    __device__ __forceinline__ float a(const part_sizes &s, int m, int k) const
    {
        if (one_pixel) return dy[(s.row + m) * g.oc + k];
        int at = m, o = k;
        int r = by_size.cut(&at), y = by_w.cut(&at);
        int kx = by_oc.cut(&o), ky = by_kw.cut(&kx);
        int oy = y + g.top - ky, ox = at + g.left - kx;
        if (oy < 0 || ox < 0) return 0;
        if (g.stride > 1) {
            if (oy % g.stride || ox % g.stride) return 0;
            oy /= g.stride, ox /= g.stride;
        }
        if (oy >= g.oh || ox >= g.ow) return 0;
        return dy[(((s.row + r) * g.oh + oy) * g.ow + ox) * g.oc + o];
    }
    __device__ __forceinline__ float b(const part_sizes &, int k, int n) const
    {
        int o = k, place = by_oc.cut(&o);
        return w[part() * p.stride + ((int64_t)place * g.c + n) * g.oc + o];
    }
    __device__ __forceinline__ void store(const part_sizes &s, int m, int n,
                                          float v) const
    {
        dx[(s.row * g.h * g.w + m) * g.c + n] = v;
    }
};

/* The bias is one more row of the kernel, whose input is 1. */
struct weight_op : common {
    enum { A_ALONG_K = 0, B_ALONG_K = 0 };
    const float *x, *dy;
    float *dw;
    bool bias;

    __device__ __forceinline__ part_sizes sizes() const
    {
        part_sizes s;
        s.k = rows(&s.row) * pixels(), s.n = g.oc, s.m = kernel() + bias;
        return s;
    }
    __device__ __forceinline__ float a(const part_sizes &s, int m, int k) const
    {
        return m < kernel() ? input(x, s.row, k, m) : 1.0f;
    }
    __device__ __forceinline__ float b(const part_sizes &s, int k, int n) const
    {
        return dy[(s.row * pixels() + k) * g.oc + n];
    }
    __device__ __forceinline__ void store(const part_sizes &s, int m, int n,
                                          float v) const
    {
        dw[part() * ((int64_t)s.m * g.oc) + (int64_t)m * g.oc + n] = v;
    }
};

template <class Op>
static __device__ __forceinline__ void load_tiles(float a[DEPTH][TILE],
                                                  float b[DEPTH][TILE], const Op &op,
                                                  const part_sizes &s, int m0, int n0,
                                                  int k0)
{
    int t = (int)threadIdx.x;
    for (int i = 0; i < DEPTH * TILE / THREADS; i++) {
        int ka = Op::A_ALONG_K ? t % DEPTH : t / TILE + THREADS / TILE * i;
        int m = Op::A_ALONG_K ? t / DEPTH + THREADS / DEPTH * i : t % TILE;
        int kb = Op::B_ALONG_K ? t % DEPTH : t / TILE + THREADS / TILE * i;
        int n = Op::B_ALONG_K ? t / DEPTH + THREADS / DEPTH * i : t % TILE;
        bool has_a = m0 + m < s.m && k0 + ka < s.k, has_b = n0 + n < s.n && k0 + kb < s.k;
        a[ka][m] = has_a ? op.a(s, m0 + m, k0 + ka) : 0;
        b[kb][n] = has_b ? op.b(s, k0 + kb, n0 + n) : 0;
    }
}

template <class Op> static __global__ void __launch_bounds__(THREADS) tiles(Op op)
{
    __shared__ float a[DEPTH][TILE], b[DEPTH][TILE];
    part_sizes s = op.sizes();
    int m0 = (int)blockIdx.x * TILE, n0 = (int)blockIdx.y * TILE;
    int x = (int)threadIdx.x % SIDE, y = (int)threadIdx.x / SIDE;
    float sum[MICRO][MICRO] = {};
    if (m0 >= s.m) return; /* the whole block */
    for (int k0 = 0; k0 < s.k; k0 += DEPTH) {
        load_tiles(a, b, op, s, m0, n0, k0);
        __syncthreads();
        XB_UNROLLED
        for (int k = 0; k < DEPTH; k++) XB_UNROLLED
        for (int i = 0; i < MICRO; i++) XB_UNROLLED
        for (int j = 0; j < MICRO; j++)
            sum[i][j] = fmaf(a[k][y + SIDE * i], b[k][x + SIDE * j], sum[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < MICRO; i++)
        for (int j = 0; j < MICRO; j++) {
            int m = m0 + y + SIDE * i, n = n0 + x + SIDE * j;
            if (m < s.m && n < s.n) op.store(s, m, n, sum[i][j]);
        }
}

/* ---- on tensor cores: four warps by two, 16 MT x 32 outputs each */

/* Products that are large enough to gain from tensor cores; smaller ones keep the
 * accuracy of float at no measurable cost. */
static bool suits_tensor(int64_t m, int64_t n, int64_t k)
{
    return m >= 64 && k >= 32 && n > 1 && m * n * k >= 1 << 18;
}

/* Two blocks for each multiprocessor. If there would be fewer, tiles of half the
 * height keep more multiprocessors busy. */
static bool enough_tiles(int64_t tiles) { return tiles >= 2 * (int64_t)xbc_processors(); }

/* Where a thread loads its pair number i from: the row or column, and the first inner
 * index of the pair. */
template <int ALONG_K, int SIZE>
static __device__ __forceinline__ void pair_at(int *row, int *k, int i)
{
    int p = (int)threadIdx.x + i * THREADS;
    *row = ALONG_K ? p / (STEP / 2) : p % SIZE;
    *k = 2 * (ALONG_K ? p % (STEP / 2) : p / SIZE);
}

/* The next step's numbers while they are loaded from memory. */
template <int TALL> struct step_pairs {
    enum { A = TALL * STEP / 2 / THREADS, B = TILE * STEP / 2 / THREADS };
    float a[A][2], b[B][2];

    template <class Op>
    __device__ __forceinline__ void load(const Op &op, const part_sizes &s, int m0, int n0,
                                         int k0)
    {
        int row, k;
        XB_UNROLLED
        for (int i = 0; i < A; i++) {
            pair_at<Op::A_ALONG_K, TALL>(&row, &k, i);
            XB_UNROLLED
            for (int h = 0; h < 2; h++)
                a[i][h] = m0 + row < s.m && k0 + k + h < s.k ? op.a(s, m0 + row, k0 + k + h)
                                                             : 0;
        }
        XB_UNROLLED
        for (int i = 0; i < B; i++) {
            pair_at<Op::B_ALONG_K, TILE>(&row, &k, i);
            XB_UNROLLED
            for (int h = 0; h < 2; h++)
                b[i][h] = n0 + row < s.n && k0 + k + h < s.k ? op.b(s, k0 + k + h, n0 + row)
                                                             : 0;
        }
    }
    template <class Op>
    __device__ __forceinline__ void store(split_tile<TALL> *left,
                                          split_tile<TILE> *right) const
    {
        int row, k;
        XB_UNROLLED
        for (int i = 0; i < A; i++) {
            pair_at<Op::A_ALONG_K, TALL>(&row, &k, i);
            const split_pair p(a[i][0], a[i][1]);
            left->part[0][row][k / 2] = p.hi, left->part[1][row][k / 2] = p.lo;
        }
        XB_UNROLLED
        for (int i = 0; i < B; i++) {
            pair_at<Op::B_ALONG_K, TILE>(&row, &k, i);
            const split_pair p(b[i][0], b[i][1]);
            right->part[0][row][k / 2] = p.hi, right->part[1][row][k / 2] = p.lo;
        }
    }
};

template <class Op, int MT>
static __global__ void __launch_bounds__(THREADS) tensor_tiles(Op op)
{
    const int TALL = 64 * MT;
    __shared__ split_tile<TALL> a;
    __shared__ split_tile<TILE> b;
    part_sizes s = op.sizes();
    const int m0 = (int)blockIdx.x * TALL, n0 = (int)blockIdx.y * TILE;
    const int warp = (int)threadIdx.x / 32, m = warp % 4 * 16 * MT,
              n = warp / 4 * 32;
    float sum[MT][4][4] = {};
    step_pairs<TALL> next;
    if (m0 >= s.m) return; /* the whole block */
    next.load(op, s, m0, n0, 0);
    for (int k0 = 0; k0 < s.k; k0 += STEP) {
        next.template store<Op>(&a, &b);
        __syncthreads();
        if (k0 + STEP < s.k) next.load(op, s, m0, n0, k0 + STEP);
        multiply_step<MT, 4>(sum, a, b, m, n);
        __syncthreads();
    }
    each_output<MT, 4>(sum, m0 + m, n0 + n, [&](int row, int column, float v) {
        if (row < s.m && column < s.n) op.store(s, row, column, v);
    });
}

/* For few rows: one thread for each output. */
template <class Op> static __global__ void __launch_bounds__(THREADS) thin(Op op)
{
    part_sizes s = op.sizes();
    int n = (int)(blockIdx.x * THREADS + threadIdx.x), m = (int)blockIdx.y;
    if (n >= s.n || m >= s.m) return;
    float sum = 0;
    for (int k = 0; k < s.k; k++) sum = fmaf(op.a(s, m, k), op.b(s, k, n), sum);
    op.store(s, m, n, sum);
}

static unsigned cut(int64_t n, int size) { return (unsigned)((n + size - 1) / size); }

/* The sizes of the product of the largest part. */
template <class Op>
static void launch(Op op, const char *what, int64_t m, int64_t n, int64_t k)
{
    const bool tensor = suits_tensor(m, n, k);
    for (op.first = 0; op.first < op.p.count; op.first += PARTS_MOST) {
        int64_t left = op.p.count - op.first;
        unsigned parts = (unsigned)(left < PARTS_MOST ? left : PARTS_MOST);
        if (m <= THIN)
            XBC_LAUNCH(what, thin<Op>, dim3(cut(n, THREADS), (unsigned)m, parts), THREADS,
                       op);
        else if (tensor && enough_tiles((int64_t)cut(m, 128) * cut(n, TILE) * parts))
            XBC_LAUNCH(what, (tensor_tiles<Op, 2>), dim3(cut(m, 128), cut(n, TILE), parts),
                       THREADS, op);
        else if (tensor)
            XBC_LAUNCH(what, (tensor_tiles<Op, 1>), dim3(cut(m, 64), cut(n, TILE), parts),
                       THREADS, op);
        else
            XBC_LAUNCH(what, tiles<Op>, dim3(cut(m, TILE), cut(n, TILE), parts), THREADS,
                       op);
    }
}

template <class Op> static Op op_of(const xbc_window *g, const xbc_parts *p)
{
    Op op;
    op.g = *g, op.p = *p, op.first = 0;
    op.one_pixel = g->kh * g->kw * g->oh * g->ow * g->h * g->w == 1;
    op.by_pixels = g->oh * g->ow, op.by_ow = g->ow, op.by_c = g->c, op.by_kw = g->kw;
    op.by_oc = g->oc, op.by_size = g->h * g->w, op.by_w = g->w;
    return op;
}

static int64_t most_rows(const xbc_parts *p)
{
    return p->rows < p->batch ? p->rows : p->batch;
}

void xbc_forward(float *y, const float *x, const float *w, bool bias, const xbc_window *g,
                 const xbc_parts *p)
{
    forward_op op = op_of<forward_op>(g, p);
    op.x = x, op.w = w, op.y = y, op.bias = bias;
    launch(op, "multiplying", most_rows(p) * g->oh * g->ow, g->oc,
           (int64_t)g->kh * g->kw * g->c);
}

void xbc_backward_input(float *dx, const float *dy, const float *w, const xbc_window *g,
                        const xbc_parts *p)
{
    input_op op = op_of<input_op>(g, p);
    op.dx = dx, op.dy = dy, op.w = w;
    launch(op, "multiplying backwards", most_rows(p) * g->h * g->w, g->c,
           (int64_t)g->kh * g->kw * g->oc);
}

void xbc_backward_weight(float *dw, const float *x, const float *dy, bool bias,
                         const xbc_window *g, const xbc_parts *p)
{
    weight_op op = op_of<weight_op>(g, p);
    op.dw = dw, op.x = x, op.dy = dy, op.bias = bias;
    launch(op, "finding gradients", (int64_t)g->kh * g->kw * g->c + bias, g->oc,
           most_rows(p) * g->oh * g->ow);
}
