/* adam.h: the parts of Adam that only training needs; its step is in crossbayes/vi.h. */
#ifndef XB_VI_ADAM_H
#define XB_VI_ADAM_H

#include "backend/backend.h"

xb_status xb_adam_check(xb_ctx *ctx, const xb_adam_options *options);

/* xb_adam_step on every block of the backend's buffers. */
void xb_adam_step_within(const xb_backend *backend, const xb_ctx *ctx,
                         const xb_adam_options *options, const xb_adam_block *blocks,
                         int n_blocks, int64_t step, double rate);

/* (V7) The rate of step number `step` with the bias corrections in it, and a step's
 * numbers at such a rate. */
double xb_adam_corrected(const xb_adam_options *options, int64_t step, double rate);
xb_adam_rates xb_adam_rates_of(const xb_adam_options *options, double rate);

#endif
