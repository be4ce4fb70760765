/* kernel_ref.c: the draws in plain scalar C. It is the reference with which the vector
 * kernels are compared bit for bit. */
#include <math.h>
#include <string.h>

#include "draw/kernel.h"

static void words(uint32_t *out, int64_t blocks, const xb_stream *where, int64_t first)
{
    for (int64_t i = 0; i < blocks * XB_BLOCK; i++)
        out[i] = xb_stream_word(where, first * XB_BLOCK + i);
}

static void values(float *z, int64_t blocks, const xb_draw_source *source,
                   const uint32_t *word)
{
    for (int64_t i = 0; i < blocks * XB_BLOCK; i++) {
        z[i] = xb_table_value(&source->table, word[i]);
        if (isnan(z[i])) z[i] = xb_source_slow(source, word[i]);
    }
}

static void draws(float *z, int64_t blocks, const xb_draw_source *source,
                  const xb_stream *where, int64_t first)
{
    for (int64_t b = 0; b < blocks; b++) {
        uint32_t word[XB_BLOCK];
        words(word, 1, where, first + b);
        values(z + b * XB_BLOCK, 1, source, word);
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
