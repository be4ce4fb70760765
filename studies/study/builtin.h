/* builtin.h: synthetic noise, for when nobody brings measured samples. */
#ifndef XB_STUDY_BUILTIN_H
#define XB_STUDY_BUILTIN_H

#include "base/ctx.h"
#include "crossbayes/law.h"

/* n draws of `law` on its own support, by its exact quantile. free() them. */
xb_status xb_noise_draw(xb_ctx *ctx, double **out, const xb_law *law, int64_t n,
                        uint64_t seed);

#endif
