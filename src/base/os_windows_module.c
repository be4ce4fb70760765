/* os_windows_module.c: see os_module.h. No module is built for Windows. */
#include "base/os_module.h"

xb_status xb_module_find(xb_ctx *ctx, xb_module_symbol *out, const char *file,
                         const char *symbol, const char *path)
{
    (void)out, (void)symbol, (void)path;
    return xb_fail(ctx, XB_E_ARGUMENT, "%s cannot be loaded on this system", file);
}
