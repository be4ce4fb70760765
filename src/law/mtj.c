/* mtj.c: the Bayes-MTJ noise law of the paper; maths L1, L4.
 *     q1 = (exp(-|x|/B) - e) / Z1,  e = exp(-1/B),  on [-1, 1]
 *
 * With y = t/B and g(y) = 1 - (1 + y) exp(-y):
 *     density  exp(-|x|/B) (1 - exp(-y)) / Z1,   Z1 = 2 B g(1/B)
 *     mass     1/2 exp(-|x|/B) g(y) / g(1/B)
 * both free of cancellation for every B (the textbook forms lose everything
 * near the edge and at large B). g is summed as a series for y < 1. */
#include <math.h>

#include "law/device.h"

/* g(y) = exp(-y) (y^2/2! + y^3/3! + ...), y >= 0. (L4) */
static double g(double y)
{
    if (y >= 1) return 1 - (1 + y) * exp(-y);
    double term = 0.5 * y * y, sum = term;
    for (int k = 3; k < 24 && term > 1e-18 * sum; k++) {
        term *= y / k;
        sum += term;
    }
    return sum * exp(-y);
}

/* exp(-ax / b), accurate to the last bits even when ax / b is in the hundreds: it is
 * corrected to first order for the rounding of the quotient. */
static double exp_quotient(double ax, double b)
{
    double quotient = ax / b;
    double rest = fma(-quotient, b, ax) / b;
    return exp(-quotient) * (1 - rest);
}

static double density(const xb_law *law, double ax, double t)
{
    double b = law->param[XB_DEVICE_B];
    return exp_quotient(ax, b) * -expm1(-t / b) / (2 * b * law->k[XB_DEVICE_NORM]);
}

static double log_density(const xb_law *law, double ax, double t)
{
    double b = law->param[XB_DEVICE_B];
    return -ax / b + log(-expm1(-t / b)) - log(2 * b * law->k[XB_DEVICE_NORM]);
}

static double edge_mass(const xb_law *law, double ax, double t)
{
    double b = law->param[XB_DEVICE_B];
    return 0.5 * exp_quotient(ax, b) * g(t / b) / law->k[XB_DEVICE_NORM];
}

static double normaliser(const xb_law *law)
{
    return 2 * law->param[XB_DEVICE_B] * law->k[XB_DEVICE_NORM];
}

static double edge_slope(const xb_law *law) /* e / (B Z1) */
{
    double b = law->param[XB_DEVICE_B];
    return exp_quotient(1, b) / (b * normaliser(law));
}

static double length(double b) { return b; }

static const xb_device_peak peak = {
    .density = density,
    .log_density = log_density,
    .edge_mass = edge_mass,
    .normaliser = normaliser,
    .edge_slope = edge_slope,
    .length = length,
};

static xb_status setup(xb_ctx *ctx, xb_law *law)
{
    (void)ctx;
    law->k[XB_DEVICE_NORM] = g(1 / law->param[XB_DEVICE_B]);
    return xb_device_setup(law);
}

const xb_family xb_family_mtj = {
    .name = "mtj",
    .about = "magnetic tunnel junction: exp(-|x|/B) peak and a parabola on [-1, 1]",
    .n_param = 2,
    .param = {{"B", 0.15, 1e-6, 1e9}, {"w", 0.5, 0, 1}},
    .setup = setup,
    .peak = &peak,
    .pdf = xb_device_pdf,
    .log_pdf = xb_device_log_pdf,
    .tail = xb_device_tail,
    .tail_quantile = xb_device_tail_quantile,
    .named = xb_device_named,
    .panels = xb_device_panels,
};
