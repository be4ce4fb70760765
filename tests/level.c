/* level.c: the instruction-set level that $XB_LEVEL asks for (1 to 4), where the machine
 * has it, and the locale that the environment asks for. Linked into a program of its own
 * with --wrap, so that tests run whole commands on every level of one machine and under a
 * decimal comma, as programs that use the library may have set it; the product knows
 * nothing of it. */
#include <locale.h>
#include <stdlib.h>

#include "base/machine.h"

int __real_xb_machine_level(void);
int __wrap_xb_machine_level(void);

int __wrap_xb_machine_level(void)
{
    const char *asked = getenv("XB_LEVEL");
    int has = __real_xb_machine_level(), level = asked ? atoi(asked) : has;
    return level < has ? level : has;
}

__attribute__((constructor)) static void take_locale(void) { setlocale(LC_ALL, ""); }
