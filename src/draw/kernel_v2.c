/* kernel_v2.c: the draw kernel for x86-64-v2. */
#if defined(__x86_64__)
#define XB_KERNEL_NAME xb_kernel_v2
#define XB_KERNEL_LEVEL "v2"
#include "draw/kernel_body.h"
#endif
