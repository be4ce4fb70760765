/* level_v4.c: all kernels for x86-64-v4. */
#if defined(__x86_64__)
#define XB_LEVEL v4
#define XB_LEVEL_NEEDS 4
#include "kernel/level_body.h"
#endif
