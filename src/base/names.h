/* names.h: several names as one text. */
#ifndef XB_BASE_NAMES_H
#define XB_BASE_NAMES_H

#include "base/ctx.h"

/* "a,b,c"; free() it. NULL: no memory. */
char *xb_names_join(xb_ctx *ctx, char *const *name, int64_t n);

#endif
