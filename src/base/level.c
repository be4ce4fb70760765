/* level.c: which kernels this machine runs. Every call checks again, so the library needs
 * no writable global. */
#include "base/level.h"

#include "base/ctx.h"
#include "base/machine.h"

#if defined(__x86_64__)
extern const xb_level xb_level_v2, xb_level_v3, xb_level_v4;
#elif defined(__aarch64__)
extern const xb_level xb_level_neon;
#endif
extern const xb_level xb_level_plain;

static const xb_level *const levels[] = {
#if defined(__x86_64__)
    &xb_level_v4,
    &xb_level_v3,
    &xb_level_v2,
#elif defined(__aarch64__)
    &xb_level_neon,
#endif
    &xb_level_plain,
};

const xb_level *xb_level_at(int i)
{
    int has = xb_machine_level();
    for (int l = 0; l < XB_COUNT(levels); l++)
        if (levels[l]->needs <= has && i-- == 0) return levels[l];
    return NULL;
}
