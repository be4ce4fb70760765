/* cpu_array.h: output sums of a simulated array's tile; maths X13, X14. It computes what
 * array_kernel.h does in plain C, which compiles to slow code if rows are not whole
 * vectors. */
#ifndef XB_KERNEL_CPU_ARRAY_H
#define XB_KERNEL_CPU_ARRAY_H

#include "kernel/array_kernel.h"
#include "draw/lanes.h"

/* (X13) */
LANE_INLINE vec steps_of(vec x, const xb_steps *s)
{
    x = vec_max(x * vec_set(s->inverse), vec_set(s->low));
    return vec_set(s->step) * vec_rint(vec_min(x, vec_set(s->high)));
}

/* n numbers, one bias for all. */
static void onto_one(float *y, float bias, const xb_steps *steps, int64_t n)
{
    const xb_steps s = *steps;
    for (int64_t i = 0; i < n; i += LANES) {
        int64_t some = lanes_left(n, i);
        vec sum = vec_set(bias) + steps_of(vec_load_part(y + i, some), &s);
        vec_store_part(y + i, sum, some);
    }
}

static void cpu_quantise_onto(float *y, const float *b, const xb_steps *steps,
                              int64_t rows, int64_t out)
{
    if (!b || out == 1) {
        onto_one(y, b ? b[0] : 0, steps, rows * out);
        return;
    }
    const xb_steps s = *steps;
    int64_t whole = out - out % LANES, rest = out - whole;
    for (int64_t r = 0; r < rows; r++, y += out) {
        for (int64_t j = 0; j < whole; j += LANES)
            vec_store(y + j, vec_load(b + j) + steps_of(vec_load(y + j), &s));
        if (rest == 0) continue;
        vec sum = steps_of(vec_load_part(y + whole, rest), &s);
        vec_store_part(y + whole, vec_load_part(b + whole, rest) + sum, rest);
    }
}

#endif
