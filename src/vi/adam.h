/* adam.h: what only training needs of Adam; its step is in crossbayes/vi.h. */
#ifndef XB_VI_ADAM_H
#define XB_VI_ADAM_H

#include "base/ctx.h"
#include "crossbayes/vi.h"

xb_status xb_adam_check(xb_ctx *ctx, const xb_adam_options *options);

#endif
