/* kernel_ref.c: the draws in plain scalar C. Defines what is right; the vector
 * kernels are compared with it bit for bit. */
#include <math.h>
#include <string.h>

#include "draw/kernel.h"

static void words(uint32_t *out, int64_t blocks, const xb_stream *where, int64_t first)
{
    for (int64_t i = 0; i < blocks * XB_BLOCK; i++)
        out[i] = xb_stream_word(where, first * XB_BLOCK + i);
}

static void values(float *z, int64_t blocks, const xb_draw_table *table,
                   const uint32_t *word, xb_redo_fn redo, const xb_sampler *s)
{
    for (int64_t i = 0; i < blocks * XB_BLOCK; i++) {
        z[i] = xb_table_value(table, word[i]);
        if (isnan(z[i])) redo(s, z + i, &(xb_slow_draw){0, word[i]}, 1);
    }
}

static void draws(float *z, int64_t blocks, const xb_draw_table *table,
                  const xb_stream *where, int64_t first, xb_redo_fn redo,
                  const xb_sampler *s)
{
    for (int64_t b = 0; b < blocks; b++) {
        uint32_t word[XB_BLOCK];
        words(word, 1, where, first + b);
        values(z + b * XB_BLOCK, 1, table, word, redo, s);
    }
}

const xb_kernel xb_kernel_ref = {
    .level = "ref",
    .fused = true,
    .words = words,
    .draws = draws,
    .values = values,
};

const xb_kernel *xb_kernel_find(const char *level)
{
    for (int i = 0; xb_level_at(i); i++)
        if (strcmp(xb_level_at(i)->name, level) == 0) return xb_level_at(i)->draw;
    return strcmp(level, "ref") == 0 ? &xb_kernel_ref : NULL;
}
