/* kernel_plain.c: the draw kernel for machines that are not x86-64, in GCC's
 * vector types. */
#if !defined(__x86_64__)
#define XB_KERNEL_NAME xb_kernel_plain
#define XB_KERNEL_LEVEL "plain"
#include "draw/kernel_body.h"
#endif
