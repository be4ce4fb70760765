/* os_module.h: code that is loaded when it is asked for: a shared library beside the
 * program or this library, or where the system looks for such. */
#ifndef XB_BASE_OS_MODULE_H
#define XB_BASE_OS_MODULE_H

#include <stddef.h>

typedef void (*xb_os_symbol)(void);

/* The function `symbol` of the module `file`, which stays loaded to the end; `path`, if
 * not NULL, is where it is. NULL: `why` says what is missing, in `size` bytes at most. */
xb_os_symbol xb_os_module(const char *file, const char *path, const char *symbol,
                          char *why, size_t size);

#endif
