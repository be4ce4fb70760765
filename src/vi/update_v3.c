/* update_v3.c: the kernels of update.h for x86-64-v3. */
#if defined(__x86_64__)
#define XB_UPDATE_NAME xb_update_v3
#define XB_UPDATE_LEVEL "v3"
#include "vi/update_body.h"
#endif
