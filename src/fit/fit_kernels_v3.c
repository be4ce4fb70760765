/* fit_kernels_v3.c: the kernels of fit_kernels.h for x86-64-v3. */
#if defined(__x86_64__)
#define XB_FIT_KERNELS_NAME xb_fit_kernels_v3
#define XB_FIT_KERNELS_LEVEL "v3"
#include "fit/fit_kernels_body.h"
#endif
