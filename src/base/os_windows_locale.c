/* os_windows_locale.c: a thread's locale; see os_print.h. */
#include <locale.h>
#include <string.h>

#include "base/os_print.h"

xb_os_locale xb_os_locale_take(void)
{
    xb_os_locale taken = {0};
    if (strcmp(localeconv()->decimal_point, ".") == 0) return taken;
    taken.mode = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    taken.before = _strdup(setlocale(LC_NUMERIC, NULL));
    if (taken.before) setlocale(LC_NUMERIC, "C");
    return taken;
}

void xb_os_locale_give(xb_os_locale taken)
{
    if (!taken.before) return;
    setlocale(LC_NUMERIC, taken.before);
    _configthreadlocale(taken.mode);
    free(taken.before);
}
