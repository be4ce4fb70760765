/* os_windows_module.c: see os_module.h. No module is built for Windows. */
#include <stdio.h>

#include "base/os_module.h"

xb_os_symbol xb_os_module(const char *file, const char *path, const char *symbol,
                          char *why, size_t size)
{
    (void)file, (void)path, (void)symbol;
    snprintf(why, size, "not on this system");
    return NULL;
}
