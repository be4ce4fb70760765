/* energy_keep.h: the penalty that keeps many weights behind a net's output; maths G5. */
#ifndef XB_ENERGY_KEEP_H
#define XB_ENERGY_KEEP_H

#include "crossbayes/extend.h"
#include "crossbayes/net.h"

typedef struct xb_energy_keep xb_energy_keep;

/* One input, one output; `net` is borrowed. */
xb_status xb_energy_keep_create(xb_ctx *ctx, xb_energy_keep **out, const xb_net *net,
                                const char *backend);
void xb_energy_keep_destroy(xb_energy_keep *keep); /* NULL is fine */

/* Evaluates one draw of the net at x = 0 (`noise`, whose `sample` differs from those of
 * the step's own draws) and adds `weight` times the penalty's gradient with respect to
 * sigma to d_sigma [param_count]. No allocation. */
xb_status xb_energy_keep_add(xb_ctx *ctx, xb_energy_keep *keep, float *d_sigma,
                             const xb_weights *weights, const xb_noise *noise,
                             double weight);

#endif
