/* adam.h: Adam on blocks of float parameters; maths V7. */
#ifndef XB_VI_ADAM_H
#define XB_VI_ADAM_H

#include "base/ctx.h"
#include "crossbayes/vi.h"

/* One block with its gradient and moments, all [n]; moments start at zero. */
typedef struct xb_adam_block {
    float *parameter;
    float *first;  /* moving mean of the gradient */
    float *second; /* of its square */
    const float *gradient;
    int64_t n;
    double rate;  /* times options->rate; 0 leaves the parameters alone */
    float *sigma; /* becomes exp(parameter) (V8); NULL: not wanted */
} xb_adam_block;

xb_status xb_adam_check(xb_ctx *ctx, const xb_adam_options *options);

/* Step number `step` (1 is the first) on every block; `rate` multiplies the
 * learning rate (a schedule). Each element on its own: the same bytes for any
 * number of threads. No allocation. */
void xb_adam_step(const xb_ctx *ctx, const xb_adam_options *options,
                  const xb_adam_block *blocks, int n_blocks, int64_t step, double rate);

#endif
