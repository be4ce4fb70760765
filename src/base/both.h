/* both.h: for the few headers whose functions run on the GPU as well: plain C, no calls
 * but of each other, the multiply-add and the root as below. Their arithmetic stands
 * once. */
#ifndef XB_BASE_BOTH_H
#define XB_BASE_BOTH_H

#include <math.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define XB_BOTH static __host__ __device__ __forceinline__
#define XB_UNROLLED _Pragma("unroll")
#else
#define XB_BOTH static inline
#define XB_UNROLLED
#endif

/* The correctly rounded square root of a normal number, without the compiler's check for
 * others: exact for every argument a draw has (tests of the GPU try all of them). */
#if defined(__CUDA_ARCH__)
XB_BOTH float xb_root(float x)
{
    float y, root, half;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    root = x * y, half = 0.5f * y;
    return fmaf(fmaf(-root, root, x), half, root);
}
#else
XB_BOTH float xb_root(float x) { return sqrtf(x); }
#endif

#endif
