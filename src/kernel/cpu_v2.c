/* cpu_v2.c: the cpu backend for x86-64-v2. */
#if defined(__x86_64__)
#define XB_CPU_NAME xb_kernels_cpu_v2
#define XB_CPU_LEVEL "v2"
#include "kernel/cpu_body.h"
#endif
