/* both.h: for the few headers whose functions also run on the GPU. They are plain C and
 * call only each other and the multiply-add and square root below, so that their
 * arithmetic is written once. */
#ifndef XB_BASE_BOTH_H
#define XB_BASE_BOTH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__)
#define XB_BOTH static __host__ __device__ __forceinline__
#define XB_UNROLLED _Pragma("unroll")
#define XB_ROLLED _Pragma("unroll 1")
#else
#define XB_BOTH static inline
#define XB_UNROLLED
#define XB_ROLLED
#endif

/* a b + c, rounded once: the product is exact in double, and a sum in double whose last
 * bit is made odd if it is inexact rounds to float as the true sum does. */
XB_BOTH float xb_fused_by_double(float a, float b, float c)
{
    double product = (double)a * b, sum = product + c, part = sum - product;
    double rest = (product - (sum - part)) + (c - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (rest != 0 && rest == rest && !(bits & 1))
        bits += (rest > 0) == (sum > 0) ? 1 : -1;
    memcpy(&sum, &bits, sizeof bits);
    return (float)sum;
}

/* Windows' fmaf rounds twice. */
#if defined(_WIN32) && !defined(__FMA__)
XB_BOTH float xb_fused(float a, float b, float c) { return xb_fused_by_double(a, b, c); }
#else
XB_BOTH float xb_fused(float a, float b, float c) { return fmaf(a, b, c); }
#endif

/* The correctly rounded square root of a normal number, without the compiler's check for
 * others: exact for every argument a draw has (tests of the GPU try all of them). */
#if defined(__CUDA_ARCH__)
XB_BOTH float xb_root(float x)
{
    float y, root, half;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    root = x * y;
    half = __int_as_float(__float_as_int(y) - 0x00800000); /* y / 2, exactly */
    return fmaf(fmaf(-root, root, x), half, root);
}
#else
XB_BOTH float xb_root(float x) { return sqrtf(x); }
#endif

#endif
