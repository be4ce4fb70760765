/* adam.h: the parts of Adam that only training needs; its step is in crossbayes/vi.h. */
#ifndef XB_VI_ADAM_H
#define XB_VI_ADAM_H

#include "backend/backend.h"

xb_status xb_adam_check(xb_ctx *ctx, const xb_adam_options *options);

/* xb_adam_step on every block of the backend's buffers. */
void xb_adam_step_within(const xb_backend *backend, const xb_ctx *ctx,
                         const xb_adam_options *options, const xb_adam_block *blocks,
                         int n_blocks, int64_t step, double rate);

#endif
