/* draw_levels.c: draws by the kernels of one instruction-set level, for bench_draw.py:
 * the library's users have the fastest alone. Linked with the library's own objects. */
#include "draw/kernel.h"

#define LEVELS_API __attribute__((visibility("default")))

LEVELS_API const char *levels_best(void);
LEVELS_API bool levels_fill(const xb_sampler *s, const char *level, float *z, int64_t n,
                            const xb_stream *where, int64_t first);

const char *levels_best(void) { return xb_kernel_best()->level; }

bool levels_fill(const xb_sampler *s, const char *level, float *z, int64_t n,
                 const xb_stream *where, int64_t first)
{
    return xb_sampler_fill_level(s, level, z, n, where, first);
}
