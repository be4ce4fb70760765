/* os_module.h: code that is loaded when it is asked for: a shared library beside the
 * program or this library, or where the system looks for such. */
#ifndef XB_BASE_OS_MODULE_H
#define XB_BASE_OS_MODULE_H

#include "base/ctx.h"

typedef void (*xb_module_symbol)(void);

/* The function `symbol` of the module `file`, which stays loaded to the end; `path`, if
 * not NULL, is where it is. Fails with XB_E_ARGUMENT and one line that says why. */
xb_status xb_module_find(xb_ctx *ctx, xb_module_symbol *out, const char *file,
                         const char *symbol, const char *path);

#endif
