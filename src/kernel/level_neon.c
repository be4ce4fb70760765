/* level_neon.c: all kernels for AArch64, every processor of which has NEON. */
#if defined(__aarch64__)
#define XB_LEVEL neon
#define XB_LEVEL_NEEDS 1
#include "kernel/level_body.h"
#endif
