/* kernels.c: kernels by name. Asked when a pass is made; which levels the machine
 * has is looked at each time, so the library needs no writable global. */
#include "kernel/kernels.h"

#include <string.h>

#include "base/machine.h"

/* The double build of the tests has no vector kernels. */
#if defined(__x86_64__) && !defined(XB_REAL_DOUBLE)
static const xb_kernels *const levels[] = {&xb_kernels_cpu_v4, &xb_kernels_cpu_v3,
                                           &xb_kernels_cpu_v2, &xb_kernels_ref};

static bool machine_has(const xb_kernels *backend)
{
    int level = xb_machine_level();
    if (backend == &xb_kernels_cpu_v4) return level >= 4;
    if (backend == &xb_kernels_cpu_v3) return level >= 3;
    return backend == &xb_kernels_ref || level >= 2;
}
#else
static const xb_kernels *const levels[] = {&xb_kernels_ref};

static bool machine_has(const xb_kernels *backend) { return backend != NULL; }
#endif

int xb_backend_count(void)
{
    int count = 0;
    for (int i = 0; i < XB_COUNT(levels); i++) count += machine_has(levels[i]);
    return count;
}

/* Best first: the i-th that the machine has; the plain one is always the last. */
static const xb_kernels *backend_at(int i)
{
    const xb_kernels *found = &xb_kernels_ref;
    for (int level = 0; level < XB_COUNT(levels) && i >= 0; level++)
        if (machine_has(levels[level])) {
            found = levels[level];
            i--;
        }
    return found;
}

const char *xb_backend_name_at(int i) { return backend_at(i)->name; }

const xb_kernels *xb_kernels_find(const char *name)
{
    if (!name || strcmp(name, "cpu") == 0) return backend_at(0);
    for (int i = 0; i < xb_backend_count(); i++)
        if (strcmp(backend_at(i)->name, name) == 0) return backend_at(i);
    return NULL;
}
