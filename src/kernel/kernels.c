/* kernels.c: kernels of nets by name. A pass looks them up when it is made. The double
 * build of the tests has only the plain ones. */
#include "kernel/kernels.h"

#include <string.h>

#include "base/level.h"

#if defined(XB_REAL_DOUBLE)
static const xb_kernels *vectors_at(int i) { return i < 0 ? &xb_kernels_ref : NULL; }
#else
static const xb_kernels *vectors_at(int i)
{
    const xb_level *level = xb_level_at(i);
    return level && level->needs > 0 ? level->net : NULL;
}
#endif

int64_t xb_backend_count(void)
{
    int count = 1;
    while (vectors_at(count - 1)) count++;
    return count;
}

/* Best first; the plain one is always the last. */
static const xb_kernels *kernels_at(int i)
{
    const xb_kernels *found = vectors_at(i);
    return found ? found : &xb_kernels_ref;
}

const char *xb_backend_name(int64_t i) { return kernels_at((int)i)->name; }

const xb_kernels *xb_kernels_find(const char *name)
{
    if (!name || strcmp(name, "cpu") == 0) return kernels_at(0);
    for (int i = 0; i < xb_backend_count(); i++)
        if (strcmp(kernels_at(i)->name, name) == 0) return kernels_at(i);
    return NULL;
}
