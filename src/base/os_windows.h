/* os_windows.h: what the files of the layer share on Windows; see os.h. */
#ifndef XB_BASE_OS_WINDOWS_H
#define XB_BASE_OS_WINDOWS_H

#include <stdbool.h>

#include <wchar.h>

#include <windows.h>

#include "base/os.h"

/* UTF-8 to what the system takes. False: too long, or no UTF-8. */
bool xb_os_widen(wchar_t out[XB_OS_PATH_MAX], const char *text);
/* Back; `size` is bytes. */
bool xb_os_narrow(char *out, int size, const wchar_t *text);

/* Sets errno from GetLastError(). Returns false, for those who fail with it. */
bool xb_os_failed(void);

#endif
