/* tensor.cuh: products on tensor cores, accurate to 16 bits. A number is split into
 * two of bf16, hi + lo, which together keep 17 bits. Of the four products of two such
 * numbers the smallest is left out, and the others are added in float: the error of a
 * product is at most 3 2^-18 |a| |b| (tests/cuda_draws.c). */
#ifndef XBC_TENSOR_CUH
#define XBC_TENSOR_CUH

#include "launch.cuh"

/* The number of inputs of a step, and of 32-bit words of a row of them in shared
 * memory: pairs of bf16, and four words of padding, so that the eight rows of a
 * fragment are in different banks. */
enum { STEP = 16, STEP_WORDS = STEP / 2 + 4 };

/* A tile of rows: hi, then lo. */
template <int ROWS> struct split_tile {
    uint32_t part[2][ROWS][STEP_WORDS];
};

#if defined(XB_EMULATED)
static inline uint32_t bf16_pair(float a, float b)
{
    const float both[2] = {a, b};
    uint32_t pair = 0, bits;
    for (int i = 0; i < 2; i++) {
        memcpy(&bits, &both[i], sizeof bits);
        pair |= ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) << 16 * i;
    }
    return pair;
}
static inline float bf16_value(uint32_t upper)
{
    float value;
    memcpy(&value, &upper, sizeof value);
    return value;
}
#define warp_mma emulated_mma
#else
/* Rounds to nearest; a goes to the lower half. */
static __device__ __forceinline__ uint32_t bf16_pair(float a, float b)
{
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(b), "f"(a));
    return pair;
}
static __device__ __forceinline__ float bf16_value(uint32_t upper)
{
    return __uint_as_float(upper);
}
/* c [16][8] += a [16][16] b [16][8], each thread of a warp with its share. */
static __device__ __forceinline__ void warp_mma(float c[4], const uint32_t a[4],
                                                const uint32_t b[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

/* ---- memory: a load that the compiler does not move to a later place, and copies to
 * shared memory that run by themselves */

#if defined(XB_EMULATED)
static inline void ask_two(float *to, const float *from)
{
    memcpy(to, from, 2 * sizeof *to);
}
static inline void copy_four(float *to, const float *from, bool)
{
    memcpy(to, from, 4 * sizeof *to);
}
static inline void copies_end(void) {}
static inline void copies_wait(void) {}
static inline void copies_wait_all(void) {}
#else
/* The address is a multiple of 8. */
static __device__ __forceinline__ void ask_two(float *to, const float *from)
{
    asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];"
                 : "=f"(to[0]), "=f"(to[1])
                 : "l"(from));
}
/* `aligned`: both addresses are multiples of 16; else the copy is made at once. */
static __device__ __forceinline__ void copy_four(float *to, const float *from,
                                                 bool aligned)
{
    if (aligned)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                         (uint32_t)__cvta_generic_to_shared(to)),
                     "l"(__cvta_generic_to_global(from))
                     : "memory");
    else
        to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = from[3];
}
/* Ends a group of copies. */
static __device__ __forceinline__ void copies_end(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* Waits for the thread's groups before the last one; other threads see them after a
 * barrier. */
static __device__ __forceinline__ void copies_wait(void)
{
    asm volatile("cp.async.wait_group 1;" ::: "memory");
}
static __device__ __forceinline__ void copies_wait_all(void)
{
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}
#endif

/* ---- tf32: 11 bits, of which a number and the rest of it together keep 21 */

static __device__ __forceinline__ float tf32_part(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0xffffe000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#if defined(XB_EMULATED)
#define warp_mma_tf32 emulated_mma_tf32
#else
/* c [16][8] += a [16][8] b [8][8]; the lower 13 bits of a and b do not count. */
static __device__ __forceinline__ void warp_mma_tf32(float c[4], const float a[4],
                                                     const float b[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])),
                   "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
                   "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}
#endif

/* ---- pairs of bf16 */

/* Two numbers that are neighbours along the inner index. */
struct split_pair {
    uint32_t hi, lo;

    __device__ __forceinline__ split_pair(float a, float b)
    {
        hi = bf16_pair(a, b);
        lo = bf16_pair(a - bf16_value(hi << 16), b - bf16_value(hi & 0xffff0000u));
    }
};

/* A warp's MT x NT fragments of 16 x 8 outputs, rows from m0 of a, columns from n0 of b
 * (a row of the tile is a column of the matrix). */
template <int MT, int NT, int M, int N>
static __device__ __forceinline__ void multiply_step(float sum[MT][NT][4],
                                                     const split_tile<M> &a,
                                                     const split_tile<N> &b, int m0,
                                                     int n0)
{
    const int lane = (int)threadIdx.x % 32, row = lane / 4, pair = lane % 4;
    uint32_t right[2][NT][2];
    XB_UNROLLED
    for (int h = 0; h < 2; h++) XB_UNROLLED
    for (int j = 0; j < NT; j++) {
        const uint32_t *at = b.part[h][n0 + 8 * j + row] + pair;
        right[h][j][0] = at[0], right[h][j][1] = at[4];
    }
    XB_UNROLLED
    for (int i = 0; i < MT; i++) {
        uint32_t left[2][4];
        XB_UNROLLED
        for (int h = 0; h < 2; h++) {
            const uint32_t *at = a.part[h][m0 + 16 * i + row] + pair;
            left[h][0] = at[0], left[h][1] = at[8 * STEP_WORDS];
            left[h][2] = at[4], left[h][3] = at[8 * STEP_WORDS + 4];
        }
        XB_UNROLLED
        for (int j = 0; j < NT; j++) warp_mma(sum[i][j], left[1], right[0][j]);
        XB_UNROLLED
        for (int j = 0; j < NT; j++) warp_mma(sum[i][j], left[0], right[1][j]);
        XB_UNROLLED
        for (int j = 0; j < NT; j++) warp_mma(sum[i][j], left[0], right[0][j]);
    }
}

/* Calls f(row, column, value) for each of a warp's outputs. */
template <int MT, int NT, class F>
static __device__ __forceinline__ void each_output(const float sum[MT][NT][4], int m0,
                                                   int n0, F f)
{
    const int lane = (int)threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;
    XB_UNROLLED
    for (int i = 0; i < MT; i++) XB_UNROLLED
    for (int j = 0; j < NT; j++) XB_UNROLLED
    for (int k = 0; k < 4; k++)
        f(m0 + 16 * i + row + k / 2 * 8, n0 + 8 * j + column + k % 2, sum[i][j][k]);
}

#endif
