/* cpu_local.h: the local reparameterisation in vectors, with the activation beside it;
 * maths N11. Forward takes a root, which runs beside the multiplications of elu; backward
 * 1 / sqrt(v) at once, and 0 where v is. */
#ifndef XB_KERNEL_CPU_LOCAL_H
#define XB_KERNEL_CPU_LOCAL_H

#include <float.h>

#include "kernel/cpu_linear.h"
#include "kernel/noise_kernel.h"

/* 1 / sqrt(v), to 2 ulp: three steps of Newton's method take half the time of a root and
 * a division, and unlike the processor's own guess give the same bytes everywhere. */
LANE_INLINE vec root_inverse_of(vec v)
{
    v = vec_max(vec_set(FLT_MIN), v); /* NaN stays */
    vec r = vec_root_guess(v), half = vec_set(0.5f) * v;
    for (int i = 0; i < 3; i++) r = vec_fma(r, vec_fma(-half * r, r, vec_set(0.5f)), r);
    return r;
}

LANE_INLINE vec some_load(const float *p, int64_t width)
{
    return width == LANES ? vec_load(p) : vec_load_part(p, width);
}

LANE_INLINE void some_store(float *p, vec a, int64_t width)
{
    if (width == LANES)
        vec_store(p, a);
    else
        vec_store_part(p, a, width);
}

LANE_INLINE void local_forward_lanes(float *y, const float *v, const float *e,
                                     int64_t width, gemm_end end)
{
    vec root = vec_sqrt(some_load(v, width));
    vec sum = vec_fma(root, some_load(e, width), some_load(y, width));
    some_store(y, ended(sum, sum, end), width);
}

static void cpu_local_forward(float *y, const float *v, const float *e, int64_t n,
                              xb_act f)
{
    gemm_end end = end_of(f, false);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        local_forward_lanes(y + i, v + i, e + i, LANES, end);
    if (i < n) local_forward_lanes(y + i, v + i, e + i, n - i, end);
    finish_activation(y, n, f);
}

LANE_INLINE void local_backward_lanes(float *dv, const float *dy, const float *v,
                                      const float *e, int64_t width)
{
    vec square = some_load(v, width), zero = vec_set(0);
    vec d = some_load(dy, width) * some_load(e, width);
    d = d * (vec_set(0.5f) * root_inverse_of(square));
    some_store(dv, vec_if_more(square, zero, d, zero), width);
}

static void cpu_local_backward(float *dv, const float *dy, const float *v, const float *e,
                               int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        local_backward_lanes(dv + i, dy + i, v + i, e + i, LANES);
    if (i < n) local_backward_lanes(dv + i, dy + i, v + i, e + i, n - i);
}

LANE_INLINE void local_input_lanes(float *dx, const float *dxx, const float *x,
                                   float factor, int64_t width, gemm_end end)
{
    vec in = some_load(x, width);
    vec d = vec_fma(vec_set(factor) * in, some_load(dxx, width), some_load(dx, width));
    some_store(dx, ended(d, in, end), width);
}

/* dx + factor x dxx */
static void input_span(float *dx, const float *dxx, const float *x, float factor,
                       int64_t n, xb_act f)
{
    gemm_end end = end_of(f, true);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        local_input_lanes(dx + i, dxx + i, x + i, factor, LANES, end);
    if (i < n) local_input_lanes(dx + i, dxx + i, x + i, factor, n - i, end);
    finish_slope(dx, x, n, f);
}

static void cpu_local_input(float *dx, const float *dxx, const float *x, int64_t n,
                            xb_act f)
{
    input_span(dx, dxx, x, 2, n, f);
}

#endif
