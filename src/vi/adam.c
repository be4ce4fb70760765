/* adam.c: Kingma & Ba's Adam in the form TensorFlow computes it: the bias
 * corrections go into the rate, and epsilon is added to the uncorrected root; maths V7.
 *
 * 1 - beta^t comes from expm1(t log beta) in double: exact from the first step to
 * the last, where 1 - powf(beta, t) in float loses three digits at beta 0.999. */
#include "vi/adam.h"

#include <math.h>

xb_adam_options xb_adam_options_default(void)
{
    return (xb_adam_options){.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
}

xb_status xb_adam_check(xb_ctx *ctx, const xb_adam_options *o)
{
    bool good = o->rate > 0 && isfinite(o->rate) && o->beta1 >= 0 && o->beta1 < 1 &&
                o->beta2 >= 0 && o->beta2 < 1 && o->epsilon > 0 && isfinite(o->epsilon);
    if (good) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "Adam with rate %g, betas %g and %g, epsilon %g: expected rate and "
                   "epsilon above 0, betas in [0, 1)",
                   o->rate, o->beta1, o->beta2, o->epsilon);
}

/* 1 - beta^t, t >= 1. */
static double correction(double beta, int64_t t)
{
    return beta > 0 ? -expm1((double)t * log(beta)) : 1;
}

double xb_adam_corrected(const xb_adam_options *o, int64_t step, double rate)
{
    return o->rate * rate * sqrt(correction(o->beta2, step)) / correction(o->beta1, step);
}

xb_adam_rates xb_adam_rates_of(const xb_adam_options *o, double rate)
{
    return (xb_adam_rates){(float)rate,           (float)o->beta1,
                           (float)o->beta2,       (float)(1 - o->beta1),
                           (float)(1 - o->beta2), (float)o->epsilon};
}

void xb_adam_step_within(const xb_backend *backend, const xb_ctx *ctx,
                         const xb_adam_options *o, const xb_adam_block *blocks,
                         int n_blocks, int64_t step, double rate)
{
    const double corrected = xb_adam_corrected(o, step, rate);
    for (int k = 0; k < n_blocks; k++) {
        const xb_adam_rates rates = xb_adam_rates_of(o, corrected * blocks[k].rate);
        backend->adam(backend, ctx, &blocks[k], &rates);
    }
}

void xb_adam_step(const xb_ctx *ctx, const xb_adam_options *o,
                  const xb_adam_block *blocks, int64_t n_blocks, int64_t step,
                  double rate)
{
    xb_adam_step_within(&xb_backend_host, ctx, o, blocks, (int)n_blocks, step, rate);
}
