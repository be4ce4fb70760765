/* staged.h: passes of a backend whose memory is its own, with the caller's memory; see
 * staged.c. */
#ifndef XB_RUN_STAGED_H
#define XB_RUN_STAGED_H

#include "run/pass.h"

/* The same as the functions of crossbayes/net.h, for arguments that have been checked. */
xb_status xb_staged_forward(xb_ctx *ctx, xb_pass *pass, xb_real *y, const xb_real *x,
                            int64_t batch, const xb_weights *weights,
                            const xb_noise *noise, xb_mode mode);
xb_status xb_staged_backward(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                             const xb_real *dy);
xb_status xb_staged_step(xb_ctx *ctx, xb_pass *pass, const xb_gradient *gradient,
                         bool fresh, const xb_real *x, int64_t batch,
                         const xb_weights *weights, const xb_noise *noise,
                         xb_loss_fn loss, void *arg);
void xb_staged_destroy(xb_staged *stage, const xb_backend *backend); /* NULL is fine */

#endif
