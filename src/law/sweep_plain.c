/* sweep_plain.c: the kernels of sweep.h for any machine. */
#define XB_SWEEP_NAME xb_sweep_plain
#define XB_SWEEP_LEVEL "plain"
#include "law/sweep_body.h"
