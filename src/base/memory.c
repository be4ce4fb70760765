/* memory.c: checked allocation; see memory.h. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool fits(int64_t count, size_t item)
{
    return count >= 0 && (item == 0 || (uint64_t)count <= (uint64_t)PTRDIFF_MAX / item);
}

static void *or_fail(xb_ctx *ctx, void *block, int64_t count, size_t item)
{
    if (!block)
        xb_fail(ctx, XB_E_MEMORY, "not enough memory for %lld %s of %zu bytes",
                (long long)count, xb_plural(count, "item", "items"), item);
    return block;
}

void *xb_new(xb_ctx *ctx, int64_t count, size_t item)
{
    void *block = NULL;
    if (fits(count, item)) block = calloc(count > 0 ? (size_t)count : 1, item);
    return or_fail(ctx, block, count, item);
}

void *xb_room(xb_ctx *ctx, int64_t count, size_t item)
{
    void *block = NULL;
    if (fits(count, item)) block = malloc((count > 0 ? (size_t)count : 1) * item);
    return or_fail(ctx, block, count, item);
}

void xb_free(void *memory) { free(memory); }

xb_status xb_grow(xb_ctx *ctx, void **block, int64_t *capacity, int64_t need, size_t item)
{
    if (need <= *capacity) return XB_OK;
    int64_t larger = *capacity < INT64_MAX / 2 ? *capacity * 2 : need;
    if (larger < need) larger = need;
    if (larger < 64) larger = 64;
    void *grown = fits(larger, item) ? realloc(*block, (size_t)larger * item) : NULL;
    if (!grown)
        return xb_fail(ctx, XB_E_MEMORY, "not enough memory for %lld items of %zu bytes",
                       (long long)larger, item);
    *block = grown;
    *capacity = larger;
    return XB_OK;
}

char *xb_strdup(xb_ctx *ctx, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = xb_new(ctx, (int64_t)size, 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}
