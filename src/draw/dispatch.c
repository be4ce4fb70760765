/* dispatch.c: which kernel this machine runs. Asked anew at every fill: it is a
 * few loads, and so the library needs no writable global. */
#include <string.h>

#include "draw/kernel.h"

#if defined(__x86_64__)
/* The features that tell the levels apart, by names that GCC and Clang know. */
static bool has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_v4(void)
{
    return has_v3() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool machine_has(const xb_kernel *kernel)
{
    __builtin_cpu_init();
    if (kernel == &xb_kernel_v4) return has_v4();
    if (kernel == &xb_kernel_v3) return has_v3();
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
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
