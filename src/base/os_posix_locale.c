/* os_posix_locale.c: a thread's locale; see os_print.h. */
#define _GNU_SOURCE /* newlocale */
#include <langinfo.h>
#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "base/os_print.h"

xb_os_locale xb_os_locale_take(void)
{
    xb_os_locale taken = {0};
    const char *point = nl_langinfo(RADIXCHAR);
    if (point[0] == '.' && point[1] == '\0') return taken;
    taken.own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (taken.own) taken.before = uselocale(taken.own);
    return taken;
}

void xb_os_locale_give(xb_os_locale taken)
{
    if (!taken.own) return;
    uselocale(taken.before);
    freelocale(taken.own);
}
