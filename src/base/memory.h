/* memory.h: checked allocation, which is public (crossbayes/extend.h), and what only the
 * library needs of it. Free with free(). */
#ifndef XB_BASE_MEMORY_H
#define XB_BASE_MEMORY_H

#include "base/ctx.h"

/* As xb_new with whatever is in it, for what is about to be filled. */
void *xb_room(xb_ctx *ctx, int64_t count, size_t item);

#endif
