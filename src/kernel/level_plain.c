/* level_plain.c: all kernels for any machine. */
#define XB_LEVEL plain
#define XB_LEVEL_NEEDS 0
#include "kernel/level_body.h"
