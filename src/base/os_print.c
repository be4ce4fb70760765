/* os_print.c: functions of the C library as they are in the C locale; see os_print.h. */
#include "base/os_print.h"

int xb_os_vsnprintf(char *out, size_t size, const char *format, va_list args)
{
    const xb_os_locale taken = xb_os_locale_take();
    const int length = vsnprintf(out, size, format, args);
    xb_os_locale_give(taken);
    return length;
}

int xb_os_snprintf(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = xb_os_vsnprintf(out, size, format, args);
    va_end(args);
    return length;
}

int xb_os_fprintf(FILE *stream, const char *format, ...)
{
    const xb_os_locale taken = xb_os_locale_take();
    va_list args;
    va_start(args, format);
    const int length = vfprintf(stream, format, args);
    va_end(args);
    xb_os_locale_give(taken);
    return length;
}

int xb_os_sscanf(const char *text, const char *format, ...)
{
    const xb_os_locale taken = xb_os_locale_take();
    va_list args;
    va_start(args, format);
    const int found = vsscanf(text, format, args);
    va_end(args);
    xb_os_locale_give(taken);
    return found;
}

double xb_os_strtod(const char *text, char **end)
{
    const xb_os_locale taken = xb_os_locale_take();
    const double value = strtod(text, end);
    xb_os_locale_give(taken);
    return value;
}
