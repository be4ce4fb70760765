/* sweep_v3.c: the kernels of sweep.h for x86-64-v3. */
#if defined(__x86_64__)
#define XB_SWEEP_NAME xb_sweep_v3
#define XB_SWEEP_LEVEL "v3"
#include "law/sweep_body.h"
#endif
