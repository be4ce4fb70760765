/* table.cuh: draws inside a kernel: a law's table in a block's shared memory. */
#ifndef XBC_TABLE_CUH
#define XBC_TABLE_CUH

#include "base/philox.h"
#include "launch.cuh"

/* The shape of a table, known when a kernel is compiled. A narrow one is there eight
 * times, once for each of eight neighbouring threads, so that none waits for another's
 * bank. */
template <int COLUMNS, int DEGREE, int HALVES> struct Shape {
    static const int columns = COLUMNS, degree = DEGREE, halves = HALVES;
    static const int copies = COLUMNS == XB_COLUMNS_WIDE ? 1 : 8;
    static const int rows = DEGREE < XB_ROW ? 1 : 2;              /* used, of a column */
    static const int stored = COLUMNS == XB_COLUMNS_WIDE ? 1 : 2; /* in the source */
    static const int quads = COLUMNS * HALVES * copies; /* of one row of all columns */
    static const int floats = quads * rows * XB_ROW;
};

template <class S>
static __device__ __forceinline__ void table_load(float *table, const xb_draw_source *d)
{
    const float4 *from = (const float4 *)(const void *)d->table.row;
    float4 *to = (float4 *)(void *)table;
    for (int i = (int)threadIdx.x; i < S::quads * S::rows; i += THREADS) {
        int row = i / S::quads, column = i % S::quads / S::copies;
        to[i] = from[column * S::stored + row];
    }
    __syncthreads();
}

/* What is NAN in a slow cell. */
template <class S>
static __device__ __forceinline__ float fast_value(const float *table, uint32_t word)
{
    float r;
    int column = xb_table_column(&r, word, S::columns, S::halves);
    const float4 *from = (const float4 *)(const void *)table;
    __align__(16) float coef[2 * XB_ROW];
    int at = column * S::copies + (int)threadIdx.x % S::copies;
    *(float4 *)(void *)coef = from[at];
    if (S::degree == XB_ROW) /* one number of the second row */
        coef[XB_ROW] = from[S::quads + at].x;
    else if (S::degree > XB_ROW)
        *(float4 *)(void *)(coef + XB_ROW) = from[S::quads + at];
    return xb_table_signed(xb_polynomial(coef, S::degree, r), word);
}

static __device__ __noinline__ float slow_value(const xb_draw_source *d, uint32_t word)
{
    return xb_source_slow(d, word);
}

template <class S>
static __device__ __forceinline__ float value_of(const float *table,
                                                 const xb_draw_source *d, uint32_t word)
{
    float z = fast_value<S>(table, word);
    return z == z ? z : slow_value(d, word);
}

/* Slow draws that a thread puts aside, for threads to make theirs side by side at the
 * end: one at a time would hold up the 31 beside it each time. */
enum { LATE = 4 };

struct late_draws {
    uint32_t word[LATE][THREADS], place[LATE][THREADS];
};

/* False: there is no more room. */
static __device__ __forceinline__ bool put_late(late_draws *late, int *count,
                                                uint32_t word, uint32_t place)
{
    if (*count == LATE) return false;
    late->word[*count][threadIdx.x] = word;
    late->place[*count][threadIdx.x] = place;
    ++*count;
    return true;
}

/* f(Shape) for the table's shape. */
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
