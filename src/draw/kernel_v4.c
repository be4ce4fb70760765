/* kernel_v4.c: the draw kernel for x86-64-v4. */
#if defined(__x86_64__)
#define XB_KERNEL_NAME xb_kernel_v4
#define XB_KERNEL_LEVEL "v4"
#include "draw/kernel_body.h"
#endif
