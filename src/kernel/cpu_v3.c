/* cpu_v3.c: the cpu backend for x86-64-v3. */
#if defined(__x86_64__)
#define XB_CPU_NAME xb_kernels_cpu_v3
#define XB_CPU_LEVEL "v3"
#include "kernel/cpu_body.h"
#endif
