/* memory.h: checked allocation, which is public (crossbayes/extend.h), and the parts of
 * it that only the library needs. Free with free(). */
#ifndef XB_BASE_MEMORY_H
#define XB_BASE_MEMORY_H

#include "base/ctx.h"

/* As xb_new, but not zeroed, for memory that is about to be filled. */
void *xb_room(xb_ctx *ctx, int64_t count, size_t item);

#endif
