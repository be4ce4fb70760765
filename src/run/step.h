/* step.h: forward, loss and backward as one; what a step of training is. Defined in
 * pass.c, where small nets go in one call of the backend. */
#ifndef XB_RUN_STEP_H
#define XB_RUN_STEP_H

#include "backend/backend.h"

/* As xb_pass_forward in mode TRAIN, a loss of the caller's own, and xb_pass_backward;
 * there is nothing to go back through after it. `fresh`: gradients by mu and sigma are
 * set, not added to. */
xb_status xb_pass_step(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                       bool fresh, const xb_real *x, int64_t batch,
                       const xb_weights *weights, const xb_noise *noise, xb_loss_fn loss,
                       void *arg);

#endif
