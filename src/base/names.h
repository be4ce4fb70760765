/* names.h: joins several names into one text. */
#ifndef XB_BASE_NAMES_H
#define XB_BASE_NAMES_H

#include "base/ctx.h"

/* Writes "a,b,c"; free() it. NULL: memory has run out. */
char *xb_names_join(xb_ctx *ctx, char *const *name, int64_t n);

#endif
