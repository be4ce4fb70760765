/* array_kernel.h: the arithmetic of simulated arrays (src/crossbar) in plain C, which
 * the compiler turns into vectors at each level; maths X8, X10, X13. */
#ifndef XB_KERNEL_ARRAY_KERNEL_H
#define XB_KERNEL_ARRAY_KERNEL_H

#include <tgmath.h>

#include "base/compiler.h"
#include "kernel/kernels.h"

static inline xb_real to_steps(xb_real x, xb_steps s)
{
    x = x * s.inverse;
    x = x > s.low ? x : s.low;
    x = x < s.high ? x : s.high;
    return s.step * rint(x);
}

static inline void quantise(xb_real *out, const xb_real *x, const xb_steps *steps,
                            int64_t n)
{
    const xb_steps s = *steps;
    XB_INDEPENDENT /* out may be x */
    for (int64_t i = 0; i < n; i++) out[i] = to_steps(x[i], s);
}

static inline void quantise_add(xb_real *restrict sum, const xb_real *x,
                                const xb_steps *steps, int64_t n)
{
    const xb_steps s = *steps;
    for (int64_t i = 0; i < n; i++) sum[i] += to_steps(x[i], s);
}

static inline void quantise_onto(xb_real *y, const xb_real *b, const xb_steps *steps,
                                 int64_t rows, int64_t out)
{
    const xb_steps s = *steps;
    for (int64_t r = 0; r < rows; r++, y += out)
        for (int64_t j = 0; j < out; j++) y[j] = (b ? b[j] : 0) + to_steps(y[j], s);
}

static inline void bend(xb_real *restrict out, const xb_curve *c, const xb_real *z,
                        int64_t n)
{
    const xb_real *level = c->level, *slope = c->slope, *square = c->square;
    for (int64_t i = 0; i < n; i++)
        out[i] = level[i] + z[i] * (slope[i] + square[i] * z[i]);
}

static inline void hold(xb_real *restrict z, const xb_real *fresh, const uint32_t *word,
                        uint32_t below, int64_t n)
{
    for (int64_t i = 0; i < n; i++) z[i] = word[i] < below ? z[i] : fresh[i];
}

static inline void hold_level(xb_real *restrict z, int32_t *restrict level,
                              const xb_real *fresh, const uint32_t *word,
                              const uint32_t *below, int top, int64_t n)
{
    int32_t next[64] = {0}; /* n is at most that */
    for (int j = 0; j < top; j++)
        for (int64_t i = 0; i < n; i++) next[i] += word[i] >= below[j];
    for (int64_t i = 0; i < n; i++) {
        z[i] = level[i] <= top ? fresh[i] : z[i];
        level[i] = level[i] <= top ? next[i] : level[i];
    }
}

#endif
