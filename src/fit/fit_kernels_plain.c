/* fit_kernels_plain.c: the kernels of fit_kernels.h for any machine. */
#define XB_FIT_KERNELS_NAME xb_fit_kernels_plain
#define XB_FIT_KERNELS_LEVEL "plain"
#include "fit/fit_kernels_body.h"
