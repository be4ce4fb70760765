/* activation.cuh: a layer's activation; maths N6. */
#ifndef XBC_ACTIVATION_CUH
#define XBC_ACTIVATION_CUH

#include "launch.cuh"

#if defined(XB_EMULATED)
static inline float power_of_two(float x) { return exp2f(x); }
#else
/* Accurate to 2 units in the last place. */
static __device__ __forceinline__ float power_of_two(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif

/* The larger of the two, or a NaN if either is one. */
static __device__ __forceinline__ float nan_max(float a, float b)
{
#if defined(XB_EMULATED)
    return a > b || a != a ? a : b;
#else
    float m;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
    return m;
#endif
}

/* The part of x within 0 and 1. */
static __device__ __forceinline__ float within_one(float x)
{
#if defined(XB_EMULATED)
    return x > 0 ? x < 1 ? x : 1 : 0;
#else
    return __saturatef(x);
#endif
}

/* (N6) elu is accurate to 2.4e-7, the rounding error of a sum of numbers near 1. Where x
 * is positive, what it is compared with is 0. */
static __device__ __forceinline__ float quick_elu(float x)
{
    return nan_max(x, -within_one(1 - power_of_two(x * 1.44269504f)));
}

static __device__ __forceinline__ float activated(float x, xbc_act f)
{
    switch (f) {
    case XBC_ELU: return x > 0 ? x : expm1f(x);
    case XBC_RELU: return x <= 0 ? 0 : x; /* NaN stays NaN */
    case XBC_TANH: return tanhf(x);
    case XBC_SIGMOID: return 1 / (1 + expf(-x));
    default: return x;
    }
}

#endif
