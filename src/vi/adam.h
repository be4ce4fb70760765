/* adam.h: Adam on blocks of float parameters; maths V7. */
#ifndef XB_VI_ADAM_H
#define XB_VI_ADAM_H

#include "backend/backend.h"

xb_status xb_adam_check(xb_ctx *ctx, const xb_adam_options *options);

/* Step number `step` (1 is the first) on every block of the backend's buffers; `rate`
 * multiplies the learning rate (a schedule). Each element on its own: the same bytes for
 * any number of threads. No allocation. */
void xb_adam_step(const xb_backend *backend, const xb_ctx *ctx,
                  const xb_adam_options *options, const xb_adam_block *blocks,
                  int n_blocks, int64_t step, double rate);

#endif
