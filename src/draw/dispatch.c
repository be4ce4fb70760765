/* dispatch.c: which kernel this machine runs. Asked anew at every fill: it is a
 * few loads, and so the library needs no writable global. */
#include <string.h>

#include "base/machine.h"
#include "draw/kernel.h"

#if defined(__x86_64__)
static bool machine_has(const xb_kernel *kernel)
{
    int level = xb_machine_level();
    if (kernel == &xb_kernel_v4) return level >= 4;
    if (kernel == &xb_kernel_v3) return level >= 3;
    return level >= 2;
}

static const xb_kernel *const kernels[] = {&xb_kernel_v4, &xb_kernel_v3, &xb_kernel_v2};

const xb_kernel *xb_kernel_best(void)
{
    for (int i = 0; i < XB_COUNT(kernels); i++)
        if (machine_has(kernels[i])) return kernels[i];
    return &xb_kernel_ref;
}

const xb_kernel *xb_kernel_find(const char *level)
{
    for (int i = 0; i < XB_COUNT(kernels); i++)
        if (strcmp(kernels[i]->level, level) == 0)
            return machine_has(kernels[i]) ? kernels[i] : NULL;
    return strcmp(level, "ref") == 0 ? &xb_kernel_ref : NULL;
}
#else
const xb_kernel *xb_kernel_best(void) { return &xb_kernel_plain; }
const xb_kernel *xb_kernel_find(const char *level)
{
    if (strcmp(level, xb_kernel_plain.level) == 0) return &xb_kernel_plain;
    return strcmp(level, "ref") == 0 ? &xb_kernel_ref : NULL;
}
#endif
