/* fit_kernels_v4.c: the kernels of fit_kernels.h for x86-64-v4. */
#if defined(__x86_64__)
#define XB_FIT_KERNELS_NAME xb_fit_kernels_v4
#define XB_FIT_KERNELS_LEVEL "v4"
#include "fit/fit_kernels_body.h"
#endif
