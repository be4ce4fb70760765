/* kernel_ref.c: the draws in plain scalar C. Defines what is right; the vector
 * kernels are compared with it bit for bit. */
#include <math.h>

#include "draw/kernel.h"

static void words(uint32_t *out, int64_t blocks, const xb_stream *where, int64_t first)
{
    for (int64_t i = 0; i < blocks * XB_BLOCK; i++)
        out[i] = xb_stream_word(where, first * XB_BLOCK + i);
}

static int64_t draws(float *z, xb_slow_draw *slow, int64_t blocks,
                     const xb_draw_table *table, const xb_stream *where, int64_t first)
{
    int64_t count = 0;
    for (int64_t i = 0; i < blocks * XB_BLOCK; i++) {
        uint32_t word = xb_stream_word(where, first * XB_BLOCK + i);
        z[i] = xb_table_value(table, word);
        if (isnan(z[i])) slow[count++] = (xb_slow_draw){(int32_t)i, word};
    }
    return count;
}

const xb_kernel xb_kernel_ref = {
    .level = "ref",
    .fused = true,
    .words = words,
    .draws = draws,
};
