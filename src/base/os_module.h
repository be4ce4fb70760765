/* os_module.h: code that is loaded on demand: a shared library beside the program or this
 * library, or in the system's library folders. */
#ifndef XB_BASE_OS_MODULE_H
#define XB_BASE_OS_MODULE_H

#include <stddef.h>

typedef void (*xb_os_symbol)(void);

/* The function `symbol` of the module `file`, which stays loaded until the program ends;
 * `path`, if not NULL, receives its location. NULL: `why` says what is missing, in at
 * most `size` bytes. */
xb_os_symbol xb_os_module(const char *file, const char *path, const char *symbol,
                          char *why, size_t size);

#endif
