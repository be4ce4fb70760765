/* level_body.h: the kernels of one instruction set, included by one level_*.c each, which
 * defines XB_LEVEL, its name, and XB_LEVEL_NEEDS, the machine's level. All levels share
 * this source; only lanes.h contains the instructions. */
#include "base/level.h"

#define XB_JOINED(a, b) a##b
#define XB_OF_LEVEL_(name, level) XB_JOINED(name, level)
#define XB_OF_LEVEL(name) XB_OF_LEVEL_(name##_, XB_LEVEL)
#define XB_QUOTED_(text) #text
#define XB_QUOTED(text) XB_QUOTED_(text)
#define XB_LEVEL_NAME XB_QUOTED(XB_LEVEL)

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define XB_LEVEL_FUSED 1 /* multiply-adds: all such levels give the same bytes */
#else
#define XB_LEVEL_FUSED 0
#endif

#if XB_LEVEL_NEEDS > 0
#include "draw/kernel_body.h"
#include "kernel/cpu_body.h"
#define XB_DRAW_KERNEL XB_OF_LEVEL(xb_kernel)
#define XB_NET_KERNELS XB_OF_LEVEL(xb_kernels)
#else /* any machine: the reference is fast enough */
#include "draw/kernel.h"
#include "kernel/kernels.h"
#define XB_DRAW_KERNEL xb_kernel_ref
#define XB_NET_KERNELS xb_kernels_ref
#endif
#include "kernel/update_body.h"
#include "fit/fit_kernels_body.h"

extern const xb_level XB_OF_LEVEL(xb_level);
const xb_level XB_OF_LEVEL(xb_level) = {
    .name = XB_LEVEL_NAME,
    .needs = XB_LEVEL_NEEDS,
    .draw = &XB_DRAW_KERNEL,
    .net = &XB_NET_KERNELS,
    .update = &XB_OF_LEVEL(xb_update),
    .trace = &XB_OF_LEVEL(xb_trace_kernels),
    .fit = &XB_OF_LEVEL(xb_fit_kernels),
};
