/* os_windows.h: declarations shared by the files of this layer on Windows; see os.h. */
#ifndef XB_BASE_OS_WINDOWS_H
#define XB_BASE_OS_WINDOWS_H

#include <stdbool.h>

#include <wchar.h>

#include <windows.h>

#include "base/os.h"

/* Converts UTF-8 to the system's UTF-16. False: too long, or not UTF-8. */
bool xb_os_widen(wchar_t out[XB_OS_PATH_MAX], const char *text);
/* Converts back; `size` is in bytes. */
bool xb_os_narrow(char *out, int size, const wchar_t *text);

/* Sets errno from GetLastError(). Returns false, so that callers can return it. */
bool xb_os_failed(void);

#endif
