/* sigma_transform.c: sigma > 0 from a free parameter rho, one at a time in double; maths
 * V8. Whole blocks are a backend's (backend/update_ops.c). */
#include "crossbayes/vi.h"

#include <math.h>

#include "backend/host.h"
#include "base/choice.h"

static const char *const names[] = {
    [XB_SIGMA_TRANSFORM_EXP] = "exp",
    [XB_SIGMA_TRANSFORM_SOFTPLUS] = "softplus",
};

const char *xb_sigma_transform_name(xb_sigma_transform transform)
{
    return names[transform];
}

xb_status xb_sigma_transform_parse(xb_ctx *ctx, xb_sigma_transform *out, const char *text)
{
    int found = 0;
    XB_TRY(xb_choice_parse(ctx, &found, "sigma_transform", text, names, XB_COUNT(names)));
    *out = (xb_sigma_transform)found;
    return XB_OK;
}

double xb_sigma_transform_apply(xb_sigma_transform transform, double rho)
{
    if (transform == XB_SIGMA_TRANSFORM_EXP) return exp(rho);
    return fmax(rho, 0) + log1p(exp(-fabs(rho))); /* no overflow on either side */
}

double xb_sigma_transform_slope(xb_sigma_transform transform, double rho)
{
    if (transform == XB_SIGMA_TRANSFORM_EXP) return exp(rho);
    return -expm1(-xb_sigma_transform_apply(transform, rho));
}

double xb_sigma_transform_inverse(xb_sigma_transform transform, double sigma)
{
    if (transform == XB_SIGMA_TRANSFORM_EXP) return log(sigma);
    if (sigma < 1) return log(expm1(sigma)); /* tiny sigma: log sigma, to the last bit */
    return sigma + log(-expm1(-sigma));      /* large sigma: expm1 would overflow */
}

void xb_sigma_transform_fill(const xb_ctx *ctx, xb_sigma_transform transform,
                             float *sigma, const float *rho, int64_t n)
{
    xb_host_spread_fill(NULL, ctx, transform, sigma, rho, n);
}

void xb_sigma_transform_chain(const xb_ctx *ctx, xb_sigma_transform transform,
                              float *gradient, const float *sigma, int64_t n)
{
    xb_host_spread_chain(NULL, ctx, transform, gradient, sigma, n);
}
