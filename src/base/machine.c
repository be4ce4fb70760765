/* machine.c: the level of the instruction set: on x86-64 it is found from the features
 * that distinguish the levels, by names that GCC and Clang both know; AArch64 has one
 * level. */
#include "base/machine.h"

#include <stdbool.h>

#if defined(__x86_64__)
static bool has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_v4(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

int xb_machine_level(void)
{
    __builtin_cpu_init();
    if (has_v3()) return has_v4() ? 4 : 3;
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") ? 2 : 1;
}
#elif defined(__aarch64__)
int xb_machine_level(void) { return 1; }
#else
int xb_machine_level(void) { return 0; }
#endif
