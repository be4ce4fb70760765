/* cpu_draw.h: a dense layer whose weights are one example's own; maths N9. With one row
 * for each draw nothing can be reused, so theta is never stored: mu, sigma and z are
 * combined in registers, one vector of outputs at a time, and the gradients of mu and
 * sigma are added in the same sweep. */
#ifndef XB_KERNEL_CPU_DRAW_H
#define XB_KERNEL_CPU_DRAW_H

#include "draw/lanes.h"

/* Inputs i, i + 2, ... of one strip of outputs, onto `sum`. */
LANE_INLINE vec draw_strip(vec sum, const float *x, const float *mu, const float *sigma,
                           const float *z, int64_t in, int64_t out, int64_t i,
                           int64_t width)
{
    for (; i < in; i += 2) {
        vec s = vec_load_part(sigma + i * out, width);
        vec w = vec_fma(s, vec_load_part(z + i * out, width),
                        vec_load_part(mu + i * out, width));
        sum = vec_fma(vec_set(x[i]), w, sum);
    }
    return sum;
}

static void cpu_dense_draw_forward(float *y, const float *x, const float *mu,
                                   const float *sigma, const float *z, const float *b,
                                   int64_t in, int64_t out)
{
    for (int64_t j = 0; j < out; j += LANES) {
        int64_t width = out - j < LANES ? out - j : LANES;
        vec even = b ? vec_load_part(b + j, width) : vec_set(0);
        even = draw_strip(even, x, mu + j, sigma + j, z + j, in, out, 0, width);
        vec odd = draw_strip(vec_set(0), x, mu + j, sigma + j, z + j, in, out, 1, width);
        vec_store_part(y + j, even + odd, width);
    }
}

/* One input's weights: adds to their gradients, and returns the input's own gradient. */
LANE_INLINE float draw_line(float *d_mu, float *d_sigma, const float *dy, vec input,
                            const float *mu, const float *sigma, const float *z,
                            int64_t out)
{
    vec_lanes sum = lanes_zero();
    for (int64_t j = 0; j < out; j += SUM_LANES)
        for (int p = 0; p < SUM_VECTORS; p++) {
            int64_t at = j + p * LANES, width = lanes_left(out, at);
            if (width == 0) break;
            vec d = vec_load_part(dy + at, width), draw = vec_load_part(z + at, width);
            vec w = vec_fma(vec_load_part(sigma + at, width), draw,
                            vec_load_part(mu + at, width));
            vec g = input * d;
            vec_store_part(d_mu + at, vec_load_part(d_mu + at, width) + g, width);
            vec_store_part(d_sigma + at,
                           vec_fma(g, draw, vec_load_part(d_sigma + at, width)), width);
            sum.part[p] = vec_fma(w, d, sum.part[p]);
        }
    return lanes_sum(sum);
}

static void cpu_dense_draw_backward(float *dx, float *d_mu, float *d_sigma,
                                    const float *dy, const float *x, const float *mu,
                                    const float *sigma, const float *z, int64_t in,
                                    int64_t out)
{
    for (int64_t i = 0; i < in; i++) {
        int64_t at = i * out;
        float sum = draw_line(d_mu + at, d_sigma + at, dy, vec_set(x[i]), mu + at,
                              sigma + at, z + at, out);
        if (dx) dx[i] = sum;
    }
}

#endif
