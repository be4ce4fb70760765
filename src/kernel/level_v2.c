/* level_v2.c: all kernels for x86-64-v2. */
#if defined(__x86_64__)
#define XB_LEVEL v2
#define XB_LEVEL_NEEDS 2
#include "kernel/level_body.h"
#endif
