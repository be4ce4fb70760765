/* level_v3.c: all kernels for x86-64-v3. */
#if defined(__x86_64__)
#define XB_LEVEL v3
#define XB_LEVEL_NEEDS 3
#include "kernel/level_body.h"
#endif
