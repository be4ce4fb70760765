/* grouped.cuh: dense layers in which groups of examples have a draw each, in four ways:
 * few examples of a group (device_few.cu), any number (device_grouped.cu, which chooses
 * and adds the sums), and on Hopper GPUs up to 16 (device_sixteen.cu) and any number
 * (device_wide.cu). */
#ifndef XBC_GROUPED_CUH
#define XBC_GROUPED_CUH

#include "late.cuh"
#include "tensor.cuh"

/* Calls f(Shape) for the table's shape, one of those that xbc_grouped_suits() allows. */
template <class F> static void for_grouped_shape(const xbc_source &source, F f)
{
    if (source.halves == 2)
        f(Shape<XB_COLUMNS, 3, 2>());
    else if (source.degree == 3)
        f(Shape<XB_COLUMNS, 3, 1>());
    else
        f(Shape<XB_COLUMNS, 4, 1>());
}

/* ---- what the kernels for few examples share */

/* A block's rows, those of draw blockIdx.y, and its steps, those of slice blockIdx.z. */
struct group_slice {
    int64_t row0;
    int rows;       /* 0 or less: there is nothing to do */
    int begin, end; /* steps */

    __device__ __forceinline__ group_slice(const xbc_grouped &job, int64_t slices)
    {
        const int64_t steps = (job.in + STEP - 1) / STEP,
                      from = blockIdx.y * job.group - job.skip, to = from + job.group;
        row0 = from < 0 ? 0 : from;
        rows = (int)((to < job.rows ? to : job.rows) - row0);
        begin = (int)(blockIdx.z * steps / slices);
        end = (int)((blockIdx.z + 1) * steps / slices);
    }
};

/* A thread's share of x at four inputs of a step, `k` [0], its neighbour, `k` [1] and its
 * neighbour, for rows g and g + 8. Numbers beyond the last row or input are 0. */
struct some_inputs {
    float x[4][2];

    template <class H>
    __device__ __forceinline__ void ask(const xbc_grouped &job, const H &here, int row,
                                        const int k[2])
    {
        const bool aligned = job.in % 2 == 0 && (uintptr_t)job.x % sizeof(float2) == 0;
        XB_UNROLLED
        for (int n = 0; n < 4; n++) {
            const int r = row + n % 2 * 8, first = k[n / 2];
            const float *from = job.x + (here.row0 + r) * job.in + first;
            x[n][0] = x[n][1] = 0;
            if (r < here.rows && aligned && first < (int)job.in)
                ask_two(x[n], from);
            else if (r < here.rows && first < (int)job.in)
                x[n][0] = from[0], x[n][1] = first + 1 < (int)job.in ? from[1] : 0;
        }
    }
    __device__ __forceinline__ void split(uint4 *hi, uint4 *lo) const
    {
        const split_pair a(x[0][0], x[0][1]), b(x[1][0], x[1][1]), c(x[2][0], x[2][1]),
            d(x[3][0], x[3][1]);
        *hi = uint4{a.hi, b.hi, c.hi, d.hi}, *lo = uint4{a.lo, b.lo, c.lo, d.lo};
    }
};

/* sigma times the draws of a counter, slow ones too; the four words belong to outputs
 * that are 16 apart. */
template <class S>
static __device__ __noinline__ float4 late_weights(const own_copy<S> own,
                                                   const near_pieces<S> *near,
                                                   const xbc_grouped &job,
                                                   const stream_keys &keys,
                                                   uint32_t number, const float *sigma)
{
    float z[4];
    counter_values<S>(z, own, keys, number, job.negate, [&](uint32_t word) {
        return near_value<S>(near, job.source.at, word);
    });
    return float4{sigma[0] * z[0], sigma[16] * z[1], sigma[32] * z[2], sigma[48] * z[3]};
}

/* ---- groups of up to XBC_FEW_MOST examples */

enum { XBC_FEW_MOST = 32 };
int64_t xbc_few_slices(const xbc_grouped *job);
/* The number of floats of room for this number of rows and any smaller one. */
int64_t xbc_few_room(int64_t rows, int64_t out);
/* Writes the sums of the slices [slices][rows][out] to the job's room. */
const float *xbc_few_product(const xbc_grouped *job, int64_t slices);

/* ---- on Hopper GPUs, the same for groups of up to 16 examples */

enum { XBC_SIXTEEN = 16 };
/* The whole layer. Returns false if it did nothing, because this device or this job do
 * not suit. */
bool xbc_sixteen_forward(const xbc_grouped *job);

/* ---- on Hopper GPUs, the same for any group */

/* Whether this device and this job allow it. */
bool xbc_wide_suits(const xbc_grouped *job);
int64_t xbc_wide_slices(const xbc_grouped *job);
int64_t xbc_wide_room(int64_t groups, int64_t rows, int64_t group, int64_t in,
                      int64_t out);
const float *xbc_wide_product(const xbc_grouped *job, int64_t slices);

#endif
