/* kernel_ref.c: the draws in plain scalar C. Defines what is right; the vector
 * kernels are compared with it bit for bit. */
#include <math.h>

#include "draw/kernel.h"

static void words(uint32_t *out, int64_t blocks, const xb_stream *where, int64_t first)
{
    for (int64_t i = 0; i < blocks * XB_BLOCK; i++)
        out[i] = xb_stream_word(where, first * XB_BLOCK + i);
}

static int64_t values(float *z, xb_slow_draw *slow, int64_t blocks,
                      const xb_draw_table *table, const uint32_t *word)
{
    int64_t count = 0;
    for (int64_t i = 0; i < blocks * XB_BLOCK; i++) {
        z[i] = xb_table_value(table, word[i]);
        if (isnan(z[i])) slow[count++] = (xb_slow_draw){(int32_t)i, word[i]};
    }
    return count;
}

static int64_t draws(float *z, xb_slow_draw *slow, int64_t blocks,
                     const xb_draw_table *table, const xb_stream *where, int64_t first)
{
    int64_t count = 0;
    for (int64_t b = 0; b < blocks; b++) {
        uint32_t word[XB_BLOCK];
        words(word, 1, where, first + b);
        int64_t more = values(z + b * XB_BLOCK, slow + count, 1, table, word);
        for (int64_t j = count; j < count + more; j++)
            slow[j].at += (int32_t)(b * XB_BLOCK);
        count += more;
    }
    return count;
}

const xb_kernel xb_kernel_ref = {
    .level = "ref",
    .fused = true,
    .words = words,
    .draws = draws,
    .values = values,
};
