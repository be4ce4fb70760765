/* kernel_v3.c: the draw kernel for x86-64-v3. */
#if defined(__x86_64__)
#define XB_KERNEL_NAME xb_kernel_v3
#define XB_KERNEL_LEVEL "v3"
#include "draw/kernel_body.h"
#endif
