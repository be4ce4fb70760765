/* cpu_v4.c: the cpu backend for x86-64-v4. */
#if defined(__x86_64__)
#define XB_CPU_NAME xb_kernels_cpu_v4
#define XB_CPU_LEVEL "v4"
#include "kernel/cpu_body.h"
#endif
