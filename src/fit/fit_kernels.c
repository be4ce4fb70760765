/* fit_kernels.c: which kernels this machine runs; asked at every call, a few loads, so
 * the library needs no writable global. */
#include "fit/fit_kernels.h"

#include "base/machine.h"

const xb_fit_kernels *xb_fit_kernels_at(int i)
{
    int n = 0;
    const xb_fit_kernels *have[3];
#if defined(__x86_64__)
    int level = xb_machine_level();
    if (level >= 4) have[n++] = &xb_fit_kernels_v4;
    if (level >= 3) have[n++] = &xb_fit_kernels_v3;
#endif
    have[n++] = &xb_fit_kernels_plain;
    return i < n ? have[i] : 0;
}
