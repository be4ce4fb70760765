/* sized_options.c: options whose struct may grow. The caller states the size of its
 * struct, so that callers older and newer than the library both work. Fields that an
 * older caller does not know keep their defaults; fields of a newer caller that the
 * library does not know have to be 0. */
#include <string.h>

#include "crossbayes/extend.h"

/* No options are larger, so a larger size means that it was never set. */
enum { SIZE_MOST = 4096 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

void xb_options_fill(void *opt, size_t size, const void *standard, size_t own)
{
    if (size < sizeof size) return;
    memset(opt, 0, size);
    memcpy(opt, standard, smaller(size, own));
    memcpy(opt, &size, sizeof size);
}

static bool is_set(const unsigned char *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (bytes[i]) return true;
    return false;
}

xb_status xb_options_read(xb_ctx *ctx, void *out, size_t own, size_t first,
                          const void *opt, const char *name)
{
    if (!opt) return XB_OK;
    size_t size;
    memcpy(&size, opt, sizeof size);
    if (size < first || size > SIZE_MOST)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "options were not initialised; use xb_%s_options_default()", name);
    if (is_set(opt, own, size))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "xb_%s_options set a field that version %s of the library does not"
                       " know",
                       name, xb_version());
    memcpy(out, opt, smaller(size, own));
    memcpy(out, &own, sizeof own);
    return XB_OK;
}
