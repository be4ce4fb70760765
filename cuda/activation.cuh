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

/* (N6) elu is accurate to 2.4e-7, the rounding error of a sum of numbers near 1. */
static __device__ __forceinline__ float quick_elu(float x)
{
    const float power = power_of_two(x * 1.44269504f) - 1;
    return x > 0 ? x : power;
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
