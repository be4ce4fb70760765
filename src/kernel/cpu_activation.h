/* cpu_activation.h: elu, tanh and sigmoid by a vector exponential; maths N6, N12.
 *
 *     x = n log 2 + r, |r| <= log(2) / 2;   expm1(x) = 2^n expm1(r) + (2^n - 1)
 *
 * expm1(r) = r + r^2 p(r), p of degree 4 (base/expseries.h). For x <= 0 nothing cancels:
 * 2^n - 1 is exact or dominates. Arguments below -87 act as -87 (there exp is 1.6e-38).
 * NaN goes through. Worst error over all floats with a step, against double: elu 1.0,
 * tanh 2.5, sigmoid 2.4 ulp (tests/test_net_cpu.c). */
#ifndef XB_KERNEL_CPU_ACTIVATION_H
#define XB_KERNEL_CPU_ACTIVATION_H

#include "base/expseries.h"
#include "draw/lanes.h"

static const float EXP_LEAST = -87.0f;
static const float ROUND_BIASED = XB_ROUND + 127; /* its low bits then say 2^n */

/* |r| <= log(2) / 2 */
LANE_INLINE vec expm1_near_0(vec r)
{
    vec p = vec_set(XB_EXP_SERIES[4]);
#pragma GCC unroll 4
    for (int k = 3; k >= 0; k--) p = vec_fma(p, r, vec_set(XB_EXP_SERIES[k]));
    return vec_fma(p, r * r, r);
}

typedef struct vec_exp {
    vec power, rest; /* exp(x) = power + rest, power = 2^n */
} vec_exp;

/* x <= 0 */
LANE_INLINE vec_exp exp_parts(vec x)
{
    x = vec_max(vec_set(EXP_LEAST), x);
    vec n = vec_fma(x, vec_set(XB_LOG2_E), vec_set(XB_ROUND)) - vec_set(XB_ROUND);
    vec r = vec_fma(n, vec_set(-XB_LOG_2_HIGH), x);
    r = vec_fma(n, vec_set(-XB_LOG_2_LOW), r);
    vec power = vec_power_of_two(n);
    return (vec_exp){power, power * expm1_near_0(r)};
}

/* max(x, expm1(min(x, 0))): expm1(x) >= x. A rounded log 2 is accurate enough here: what
 * n times its error makes is small beside 1 once n is not 0. */
LANE_INLINE vec elu_of(vec x)
{
    vec low = vec_max(vec_set(EXP_LEAST), vec_min(vec_set(0), x));
    vec biased = vec_fma(low, vec_set(XB_LOG2_E), vec_set(ROUND_BIASED));
    vec r = vec_fma(biased - vec_set(ROUND_BIASED), vec_set(-XB_LOG_2), low);
    vec power = vec_low_bits_up(biased);
    return vec_max(vec_fma(power, expm1_near_0(r), power - vec_set(1)), x);
}

LANE_INLINE vec relu_of(vec x) { return vec_max(vec_set(0), x); /* NaN stays */ }

/* tanh |x| = -t / (t + 2), t = expm1(-2 |x|) */
LANE_INLINE vec tanh_of(vec x)
{
    vec_exp e = exp_parts(vec_set(-2) * vec_abs(x));
    vec t = e.rest + (e.power - vec_set(1));
    return vec_copysign(t / (t + vec_set(2)), x);
}

/* With t = exp(-|x|): 1 / (1 + t) above 0, t / (1 + t) below. */
LANE_INLINE vec sigmoid_of(vec x)
{
    vec_exp e = exp_parts(-vec_abs(x));
    vec t = e.power + e.rest;
    return vec_if_more(x, vec_set(0), vec_set(1), t) / (vec_set(1) + t);
}

#define CPU_ACTIVATION(NAME)                                                             \
    static void cpu_##NAME##_forward(float *y, const float *x, int64_t n)                \
    {                                                                                    \
        int64_t i = 0;                                                                   \
        for (; i + LANES <= n; i += LANES) vec_store(y + i, NAME##_of(vec_load(x + i))); \
        if (i < n) vec_store_part(y + i, NAME##_of(vec_load_part(x + i, n - i)), n - i); \
    }

CPU_ACTIVATION(elu)
CPU_ACTIVATION(tanh)
CPU_ACTIVATION(sigmoid)

#endif
