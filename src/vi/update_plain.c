/* update_plain.c: the kernels of update.h for any machine. */
#define XB_UPDATE_NAME xb_update_plain
#define XB_UPDATE_LEVEL "plain"
#include "vi/update_body.h"
