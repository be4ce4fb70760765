/* level.c: the instruction-set level that $XB_LEVEL asks for (1 to 4), where the machine
 * has it. Linked into a program of its own with --wrap, so that tests run whole commands
 * on every level of one machine; the product knows nothing of it. */
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
