/* needed.c: how many equal shares make a sum of draws Gaussian enough; maths A3.
 *
 * Up to EXACT terms the KL of the sum is computed (a net of one dense layer is such a
 * sum), beyond by its leading order in the law's cumulants, which is within 10 % from 17
 * terms on for the laws at hand. KL falls with every further term of a sum of equal
 * shares, so bisection finds the smallest number. */
#include <math.h>
#include <stdlib.h>

#include "plan/shares.h"
#include "predict/charfn.h"

enum { EXACT = 64 };

static xb_status sum_kl(xb_ctx *ctx, double *kl, const xb_law *const laws[2], int n)
{
    xb_real x[EXACT], mu[EXACT] = {0}, sigma[EXACT];
    for (int k = 0; k < n; k++) x[k] = 1, sigma[k] = (xb_real)(1 / sqrt(n));
    const xb_weights weights = {mu, sigma, NULL, NULL};
    xb_net *net = NULL;
    xb_densities *d = NULL;
    xb_density_options opt = xb_density_options_default();
    opt.blocks = 2; /* nothing is random below the sum */
    XB_TRY(xb_net_parse(ctx, &net, "dense 1 nobias", (xb_shape){1, 1, n}, NULL));
    xb_status status = xb_densities_create(ctx, &d, net, &weights, x, laws, 2, &opt);
    if (status == XB_OK) *kl = xb_densities_kl(d, 1, 0).value;
    xb_densities_destroy(d);
    xb_net_destroy(net);
    return status;
}

/* The smallest n <= EXACT within the tolerance; EXACT + 1 if there is none. */
static xb_status search_exact(xb_ctx *ctx, int *n, const xb_law *const laws[2],
                              double tolerance)
{
    int low = 0, high = EXACT + 1;
    while (high - low > 1) {
        int middle = high > EXACT ? (low == 0 ? 1 : 2 * low) : (low + high) / 2;
        double kl = 0;
        XB_TRY(sum_kl(ctx, &kl, laws, middle));
        if (kl <= tolerance)
            high = middle;
        else if (middle == EXACT)
            break;
        else
            low = middle;
    }
    *n = high;
    return XB_OK;
}

/* (A2) at equal shares: falls with n. */
static double leading_order(const xb_charfn *law, double n)
{
    double power[XB_PLAN_ORDER + 1], part[XB_PLAN_ORDER + 1];
    for (int m = 0; m <= XB_PLAN_ORDER; m++) power[m] = pow(n, 1 - m / 2.0);
    return xb_weight_shares_rule(part, law, power);
}

static double search_leading(const xb_charfn *law, double tolerance)
{
    const double most = 1e15;
    double low = EXACT, high = 2 * EXACT;
    while (leading_order(law, high) > tolerance && high < most) low = high, high *= 2;
    while (high - low > 1 && high < most) {
        double middle = floor((low + high) / 2);
        *(leading_order(law, middle) > tolerance ? &low : &high) = middle;
    }
    return high;
}

static xb_status search(xb_ctx *ctx, double *n, const xb_law *law, const xb_law *gaussian,
                        double tolerance)
{
    const xb_law *const laws[2] = {gaussian, law};
    int exact = 0;
    XB_TRY(search_exact(ctx, &exact, laws, tolerance));
    *n = exact;
    if (exact <= EXACT) return XB_OK;
    xb_charfn charfn;
    XB_TRY(xb_charfn_make(ctx, &charfn, law));
    *n = search_leading(&charfn, tolerance);
    xb_charfn_free(&charfn);
    return XB_OK;
}

xb_status xb_plan_find_n_eff_needed(xb_ctx *ctx, double *n, const xb_law *law,
                                    double tolerance)
{
    xb_law *gaussian = NULL;
    double found = 0;
    XB_TRY(xb_law_parse(ctx, &gaussian, "gaussian"));
    xb_status status = search(ctx, &found, law, gaussian, tolerance);
    xb_law_destroy(gaussian);
    if (status == XB_OK) *n = found;
    return status;
}
