/* spread.c: sigma > 0 from a free parameter rho, one at a time in double; maths V8. Whole
 * blocks are a backend's (backend/update_ops.c). */
#include "crossbayes/vi.h"

#include <math.h>

#include "backend/host.h"
#include "base/choice.h"

static const char *const names[] = {
    [XB_SPREAD_EXP] = "exp",
    [XB_SPREAD_SOFTPLUS] = "softplus",
};

const char *xb_spread_name(xb_spread spread) { return names[spread]; }

xb_status xb_spread_parse(xb_ctx *ctx, xb_spread *out, const char *text)
{
    int found = 0;
    XB_TRY(xb_choice_parse(ctx, &found, "spread", text, names, XB_COUNT(names)));
    *out = (xb_spread)found;
    return XB_OK;
}

double xb_spread_sigma(xb_spread spread, double rho)
{
    if (spread == XB_SPREAD_EXP) return exp(rho);
    return fmax(rho, 0) + log1p(exp(-fabs(rho))); /* no overflow on either side */
}

double xb_spread_slope(xb_spread spread, double rho)
{
    if (spread == XB_SPREAD_EXP) return exp(rho);
    return -expm1(-xb_spread_sigma(spread, rho));
}

double xb_spread_rho(xb_spread spread, double sigma)
{
    if (spread == XB_SPREAD_EXP) return log(sigma);
    if (sigma < 1) return log(expm1(sigma)); /* tiny sigma: log sigma, to the last bit */
    return sigma + log(-expm1(-sigma));      /* large sigma: expm1 would overflow */
}

void xb_spread_fill(const xb_ctx *ctx, xb_spread spread, float *sigma, const float *rho,
                    int64_t n)
{
    xb_host_spread_fill(NULL, ctx, spread, sigma, rho, n);
}

void xb_spread_chain(const xb_ctx *ctx, xb_spread spread, float *gradient,
                     const float *sigma, int64_t n)
{
    xb_host_spread_chain(NULL, ctx, spread, gradient, sigma, n);
}
