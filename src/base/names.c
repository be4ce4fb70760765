/* names.c: see names.h. */
#include "base/names.h"

#include <string.h>

#include "base/memory.h"

char *xb_names_join(xb_ctx *ctx, char *const *name, int64_t n)
{
    size_t size = 1, used = 0;
    for (int64_t k = 0; k < n; k++) size += strlen(name[k]) + 1;
    char *text = xb_new(ctx, (int64_t)size, 1);
    for (int64_t k = 0; text && k < n; k++) {
        const size_t length = strlen(name[k]);
        if (k > 0) text[used++] = ',';
        memcpy(text + used, name[k], length);
        used += length;
    }
    return text;
}
