/* sweep_v4.c: the kernels of sweep.h for x86-64-v4. */
#if defined(__x86_64__)
#define XB_SWEEP_NAME xb_sweep_v4
#define XB_SWEEP_LEVEL "v4"
#include "law/sweep_body.h"
#endif
