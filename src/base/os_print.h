/* os_print.h: functions of the C library as they are in the C locale; a part of os.h. */
#ifndef XB_BASE_OS_PRINT_H
#define XB_BASE_OS_PRINT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* MinGW's functions print as the C standard says; the system's library does not. */
#ifdef __MINGW32__
#define XB_OS_FORMAT(kind, text, first) __attribute__((format(gnu_##kind, text, first)))
#else
#define XB_OS_FORMAT(kind, text, first) __attribute__((format(kind, text, first)))
#endif

/* Sets the C locale for this thread if numbers would have no decimal point; and restores
 * the previous one. */
typedef struct xb_os_locale {
    void *before, *own; /* both NULL: nothing was changed */
    int mode;
} xb_os_locale;
xb_os_locale xb_os_locale_take(void);
void xb_os_locale_give(xb_os_locale taken);

int xb_os_snprintf(char *out, size_t size, const char *format, ...)
    XB_OS_FORMAT(printf, 3, 4);
int xb_os_vsnprintf(char *out, size_t size, const char *format, va_list args)
    XB_OS_FORMAT(printf, 3, 0);
int xb_os_fprintf(FILE *stream, const char *format, ...) XB_OS_FORMAT(printf, 2, 3);
int xb_os_sscanf(const char *text, const char *format, ...) XB_OS_FORMAT(scanf, 2, 3);
double xb_os_strtod(const char *text, char **end);

#endif
