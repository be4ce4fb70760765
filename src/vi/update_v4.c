/* update_v4.c: the kernels of update.h for x86-64-v4. */
#if defined(__x86_64__)
#define XB_UPDATE_NAME xb_update_v4
#define XB_UPDATE_LEVEL "v4"
#include "vi/update_body.h"
#endif
