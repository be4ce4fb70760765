/* table.cuh: draws inside a kernel: a law's table in a block's shared memory. */
#ifndef XBC_TABLE_CUH
#define XBC_TABLE_CUH

#include "base/philox.h"
#include "launch.cuh"

/* ---- words */

/* (R1) The keys of all rounds, computed once on the host. They are among a kernel's
 * constants, where they cost no register and no addition. */
struct stream_keys {
    uint32_t tensor, sample, step;
    uint32_t key[XB_PHILOX_ROUNDS][2];
};

static stream_keys keys_of(const xb_stream &where)
{
    stream_keys s = {where.tensor, where.sample, where.step, {}};
    for (uint32_t r = 0; r < XB_PHILOX_ROUNDS; r++) {
        s.key[r][0] = where.key.word[0] + r * XB_PHILOX_W0;
        s.key[r][1] = where.key.word[1] + r * XB_PHILOX_W1;
    }
    return s;
}

static __device__ __forceinline__ void counter_words(uint32_t word[4],
                                                     const stream_keys &s,
                                                     uint32_t number)
{
    word[0] = number, word[1] = s.tensor, word[2] = s.sample, word[3] = s.step;
    XB_UNROLLED
    for (int r = 0; r < XB_PHILOX_ROUNDS; r++)
        xb_philox_round(word, s.key[r][0], s.key[r][1]);
}

/* ---- tables */

/* The shape of a table, known at compile time. A narrow table is stored eight times,
 * once for each of eight neighbouring threads, so that no thread waits for another's
 * memory bank. The one coefficient of degree 4, which does not fit into a row, is
 * stored once for each thread of a warp. */
template <int COLUMNS, int DEGREE, int HALVES> struct Shape {
    static const int columns = COLUMNS, degree = DEGREE, halves = HALVES;
    static const int copies = COLUMNS == XB_COLUMNS_WIDE ? 1 : 8;
    static const int rows = DEGREE <= XB_ROW ? 1 : 2;             /* whole, of a column */
    static const int stored = COLUMNS == XB_COLUMNS_WIDE ? 1 : 2; /* in the source */
    static const int quads = COLUMNS * HALVES * copies; /* of one row of all columns */
    static const int single = DEGREE == XB_ROW ? COLUMNS * HALVES * 32 : 0;
    static const int floats = quads * rows * XB_ROW + single;
};

/* Coefficients are multiplied by `turn`, 1 or -1, and so, exactly, are the values. */
template <class S, int STRIDE = THREADS>
static __device__ __forceinline__ void table_load(float *table, const xb_draw_source *d,
                                                  float turn)
{
    const float4 *from = (const float4 *)(const void *)d->table.row;
    float4 *to = (float4 *)(void *)table;
    for (int i = (int)threadIdx.x; i < S::quads * S::rows; i += STRIDE) {
        int row = i / S::quads, column = i % S::quads / S::copies;
        float4 q = from[column * S::stored + row];
        q.x *= turn, q.y *= turn, q.z *= turn, q.w *= turn;
        to[i] = q;
    }
    for (int i = (int)threadIdx.x; i < S::single; i += STRIDE)
        table[S::quads * XB_ROW + i] = turn * from[i / 32 * S::stored + 1].x;
    __syncthreads();
}

/* A thread's own copies of the coefficients; columns are whole numbers in floats. On the
 * device an address in shared memory is the lowest bits of a float, whose unit is 2^-149,
 * so that one multiply-add takes a column to its address: the integer units are busy with
 * words. Make this object after the table was loaded, and use the table's memory for
 * nothing else: the compiler does not know when it is read. (In the second block of a
 * cluster addresses have a higher bit, with which the float would have another unit.) */
template <class S> struct own_copy {
    static const int row_bytes = S::copies * (int)sizeof(float4),
                     one_bytes = 32 * (int)sizeof(float);
#if defined(__CUDA_ARCH__)
    static const int least = 0x00800000; /* the bits of the least normal number */
    float row, one;

    static __device__ __forceinline__ float place_of(const float *table, uint32_t bytes)
    {
        return __int_as_float(least + (int)__cvta_generic_to_shared(table) + (int)bytes);
    }
    __device__ __forceinline__ own_copy(const float *table)
    {
        row = place_of(table, threadIdx.x % S::copies * (uint32_t)sizeof(float4));
        one = place_of(table + S::quads * XB_ROW,
                       threadIdx.x % 32 * (uint32_t)sizeof(float));
        asm volatile("" : "+f"(row), "+f"(one));
    }
    template <int OFFSET> __device__ __forceinline__ float4 quad(float column) const
    {
        const float at = fmaf(column, (float)row_bytes * 0x1p-149f, row);
        float4 q;
        asm("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4 + %5];"
            : "=f"(q.x), "=f"(q.y), "=f"(q.z), "=f"(q.w)
            : "r"(__float_as_int(at)), "n"(OFFSET - least));
        return q;
    }
    __device__ __forceinline__ float single(float column) const
    {
        const float at = fmaf(column, (float)one_bytes * 0x1p-149f, one);
        float c;
        asm("ld.shared.f32 %0, [%1 + %2];"
            : "=f"(c)
            : "r"(__float_as_int(at)), "n"(-least));
        return c;
    }
#else
    const char *row, *one;

    __device__ __forceinline__ own_copy(const float *table)
    {
        row =
            (const char *)(const void *)table + threadIdx.x % S::copies * sizeof(float4);
        one = (const char *)(const void *)(table + S::quads * XB_ROW) +
              threadIdx.x % 32 * sizeof(float);
    }
    template <int OFFSET> __device__ __forceinline__ float4 quad(float column) const
    {
        return *(const float4 *)(const void *)(row + (int)column * row_bytes + OFFSET);
    }
    __device__ __forceinline__ float single(float column) const
    {
        return *(const float *)(const void *)(one + (int)column * one_bytes);
    }
#endif
};

/* The entry that is NAN in a slow cell. */
template <class S>
static __device__ __forceinline__ float fast_value(const own_copy<S> &own, uint32_t word)
{
    const float root = xb_table_root(word, S::columns);
    float column = floorf(root);   /* one instruction, of a unit that has time for it */
    const float r = root - column; /* exact */
    if (S::halves == 2 && word >> 31) column += (float)S::columns;
    __align__(16) float coef[2 * XB_ROW];
    *(float4 *)(void *)coef = own.template quad<0>(column);
    if (S::degree == XB_ROW)
        coef[XB_ROW] = own.single(column);
    else if (S::degree > XB_ROW)
        *(float4 *)(void *)(coef + XB_ROW) =
            own.template quad<S::quads *(int)sizeof(float4)>(column);
    return xb_table_signed(xb_polynomial(coef, S::degree, r), word);
}

template <class S, int N>
static __device__ __forceinline__ void fast_values(float (&value)[N],
                                                   const own_copy<S> &own,
                                                   const uint32_t (&word)[N])
{
    XB_UNROLLED
    for (int j = 0; j < N; j++) value[j] = fast_value<S>(own, word[j]);
}

/* As xb_source_slow(), with the piece loaded by 16 bytes. */
static __device__ __noinline__ float slow_value(const xb_draw_source *d, uint32_t word)
{
    xb_slow_place at = xb_source_place(d, word);
    __align__(16) xb_piece piece;
    static_assert(sizeof piece % sizeof(double2) == 0,
                  "a piece is some pairs of doubles");
    const double2 *from = (const double2 *)(const void *)at.piece;
    double2 *to = (double2 *)(void *)&piece;
    XB_UNROLLED
    for (unsigned i = 0; i < sizeof piece / sizeof(double2); i++) to[i] = __ldg(from + i);
    at.piece = &piece;
    return xb_source_value(d, &at, word);
}

/* The same for any cell; `turn` is the value that the table was loaded with. */
template <class S>
static __device__ __forceinline__ float value_of(const own_copy<S> &own,
                                                 const xb_draw_source *d, float turn,
                                                 uint32_t word)
{
    float z = fast_value<S>(own, word);
    return z == z ? z : turn * slow_value(d, word);
}

/* A value of any law from its table `t`, which may stay in memory because weights are
 * few. Coefficients beyond the degree count as 0, which does not change the result, so
 * four values need no loop. */
static __device__ __forceinline__ float value_by(const xb_draw_table &t,
                                                 const xb_draw_source *d, uint32_t word)
{
    const bool wide = t.columns == XB_COLUMNS_WIDE;
    float r;
    const uint32_t column =
        (uint32_t)xb_table_column(&r, word, t.columns, t.halves) - XB_CELL_BIAS;
    const float *coef = t.row[wide ? column : 2 * column];
    float y = 0;
    XB_UNROLLED
    for (int j = XB_TABLE_DEGREE_MAX; j >= 0; j--) {
        const float c = j <= t.degree ? coef[j] : 0;
        y = j <= t.degree ? xb_fused(y, r, c) : 0;
    }
    const float z = xb_table_signed(y, word);
    return z == z ? z : slow_value(d, word);
}

static __device__ __forceinline__ bool unordered(float a, float b)
{
    return !(a < b) && !(a >= b);
}

/* Whether one of N values is slow, that is NAN: then so is a fused product and sum with
 * it. If all values are numbers, the result may also be NAN because numbers are too
 * large; so see which it is. */
template <int N> static __device__ __forceinline__ bool any_slow(const float (&v)[N])
{
    static_assert(N % 2 == 0 && N >= 4, "pairs of values");
    float all = v[0];
    XB_UNROLLED
    for (int i = 1; i + 1 < N; i += 2) all = fmaf(all, v[i], v[i + 1]);
    return unordered(all, v[N - 1]);
}

/* Calls f(word [j], j) for each of N values that is slow; threads whose slow values have
 * different places make them together. */
template <int N, class F>
static __device__ __forceinline__ void each_slow(const uint32_t (&word)[N],
                                                 const float (&value)[N], F f)
{
    unsigned left = 0;
    XB_UNROLLED
    for (unsigned j = 0; j < N; j++) left |= value[j] != value[j] ? 1u << j : 0;
    while (left) {
        const unsigned lowest = left & (0 - left);
        uint32_t w = word[0];
        unsigned at = 0;
        XB_UNROLLED
        for (unsigned j = 1; j < N; j++)
            if (lowest == 1u << j) w = word[j], at = j;
        f(w, at);
        left -= lowest;
    }
}

/* Calls f(Shape) for the table's shape. */
template <int HALVES, class F> static void for_degree(const xbc_source &source, F f)
{
    if (source.columns == XB_COLUMNS_WIDE)
        f(Shape<XB_COLUMNS_WIDE, XB_WIDE_DEGREE, HALVES>());
    else if (source.degree == 3)
        f(Shape<XB_COLUMNS, 3, HALVES>());
    else if (source.degree == 4)
        f(Shape<XB_COLUMNS, 4, HALVES>());
    else if (source.degree == 5)
        f(Shape<XB_COLUMNS, 5, HALVES>());
    else if (source.degree == 6)
        f(Shape<XB_COLUMNS, 6, HALVES>());
    else
        f(Shape<XB_COLUMNS, 7, HALVES>());
}

template <class F> static void for_shape(const xbc_source &source, F f)
{
    if (source.halves == 1)
        for_degree<1>(source, f);
    else
        for_degree<2>(source, f);
}

#endif
