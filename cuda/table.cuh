/* table.cuh: draws inside a kernel: a law's table in a block's shared memory. */
#ifndef XBC_TABLE_CUH
#define XBC_TABLE_CUH

#include "base/philox.h"
#include "launch.cuh"

/* The shape of a table, known when a kernel is compiled. */
template <int COLUMNS, int DEGREE, int HALVES> struct Shape {
    enum {
        columns = COLUMNS,
        degree = DEGREE,
        halves = HALVES,
        floats = COLUMNS * HALVES * (COLUMNS == XB_COLUMNS_WIDE ? 1 : 2) * XB_ROW
    };
};

template <class S>
static __device__ __forceinline__ void table_load(float *table, const xb_draw_source *d)
{
    const float4 *from = (const float4 *)(const void *)d->table.row;
    for (unsigned i = threadIdx.x; i < S::floats / 4; i += blockDim.x)
        ((float4 *)(void *)table)[i] = from[i];
    __syncthreads();
}

static __device__ __noinline__ float slow_value(const xb_draw_source *d, uint32_t word)
{
    return xb_source_slow(d, word);
}

template <class S>
static __device__ __forceinline__ float value_of(const float *table,
                                                 const xb_draw_source *d, uint32_t word)
{
    float z = xb_rows_value(table, word, S::columns, S::degree, S::halves);
    return z == z ? z : slow_value(d, word);
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
