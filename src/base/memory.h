/* memory.h: checked allocation. Free with free(). */
#ifndef XB_BASE_MEMORY_H
#define XB_BASE_MEMORY_H

#include "base/ctx.h"

/* Zeroed room for `count` items; NULL with the reason in ctx when the product
 * overflows or memory is out. count 0 gives a valid pointer. */
void *xb_new(xb_ctx *ctx, int64_t count, size_t item);

/* The same with whatever is in it, for what is about to be filled. */
void *xb_room(xb_ctx *ctx, int64_t count, size_t item);

/* Grows *block (of *capacity items) to hold at least `need`; contents kept. */
xb_status xb_grow(xb_ctx *ctx, void **block, int64_t *capacity, int64_t need,
                  size_t item);

char *xb_strdup(xb_ctx *ctx, const char *text);

#endif
