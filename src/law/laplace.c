/* laplace.c: the two-sided exponential law exp(-|x|) / 2; maths L25. Published for the
 * read noise of RRAM (Lin et al. 2023). Its shape has no parameter: a width b is the
 * scale of the placement, and networks use the law standardised. Everything is in closed
 * form; Gauss rules join two Laguerre rules (rule/discrete.c). */
#include <math.h>

#include "law/family.h"

static xb_status setup(xb_ctx *ctx, xb_law *law)
{
    (void)ctx;
    law->lower = -INFINITY;
    law->upper = INFINITY;
    law->symmetric = true;
    return XB_OK;
}

static double pdf(const xb_law *law, double x)
{
    (void)law;
    return 0.5 * exp(-fabs(x)); /* (L25) */
}

static double log_pdf(const xb_law *law, double x)
{
    (void)law;
    return -fabs(x) - M_LN2;
}

static double tail(const xb_law *law, double x, bool upper)
{
    (void)law;
    double y = upper ? -x : x;
    return y > 0 ? 1 - 0.5 * exp(-y) : 0.5 * exp(y);
}

static xb_tail_point tail_quantile(const xb_law *law, double v, bool upper)
{
    (void)law;
    double x = v > 0.25 ? log1p(2 * v - 1) : log(2 * v); /* 2 v - 1 is exact there */
    return (xb_tail_point){upper ? -x : x, INFINITY};
}

static double raw_moment(const xb_law *law, int k)
{
    (void)law;
    return k % 2 ? 0 : tgamma(k + 1.0);
}

static double entropy(const xb_law *law)
{
    (void)law;
    return 1 + M_LN2;
}

/* The corner at 0 is an edge of a panel; steps grow outwards to where the mass is 1e-302.
 */
static int64_t panels(const xb_law *law, double *out, int64_t capacity)
{
    (void)law;
    static const double edge[] = {694, 500, 350, 250, 180, 130, 90,
                                  64,  44,  30,  20,  12,  6,   2};
    int64_t n = 0;
    for (int i = 0; i < XB_COUNT(edge); i++) n = xb_panel_add(out, capacity, n, -edge[i]);
    n = xb_panel_add(out, capacity, n, 0);
    for (int i = XB_COUNT(edge) - 1; i >= 0; i--)
        n = xb_panel_add(out, capacity, n, edge[i]);
    return n;
}

const xb_family xb_family_laplace = {
    .name = "laplace",
    .about = "two-sided exponential: exp(-|x|) / 2",
    .two_sided = true,
    .setup = setup,
    .pdf = pdf,
    .log_pdf = log_pdf,
    .tail = tail,
    .tail_quantile = tail_quantile,
    .raw_moment = raw_moment,
    .entropy = entropy,
    .panels = panels,
};
