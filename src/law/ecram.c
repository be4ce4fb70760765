/* ecram.c: the ECRAM noise law of the paper; maths L1, L5.
 *     q1 = (exp(-x^2/B) - e) / Z1,  e = exp(-1/B),  on [-1, 1]
 *
 * With p = 1 - x^2 = t (2 - t) the density is exp(-x^2/B) (1 - exp(-p/B)) / Z1.
 * The mass within t of the edge is e times
 *     F(t) = integral over s in [0, t] of expm1((2 s - s^2) / B).
 * Where p/B is small (near the edge, or everywhere at large B) the closed form in erf
 * cancels completely, so F is integrated: the integrand is entire and of one sign, and 20
 * Gauss-Legendre points are accurate to the last bits for p/B <= 4. Beyond that erfc is
 * safe, with a correction for the rounding of its argument. */
#include <math.h>
#include <stdlib.h>

#include "base/gauss.h"
#include "base/memory.h"
#include "law/device.h"

enum { POINTS = 20 };

static const double SERIES_LIMIT = 4; /* p/B below which F is integrated */

typedef struct ecram_rule {
    double node[POINTS]; /* on [0, 1] */
    double weight[POINTS];
} ecram_rule;

/* exp(-(a/b)), corrected for the rounding of the quotient. */
static double exp_quotient(double a, double a_low, double b)
{
    double quotient = a / b;
    double rest = (fma(-quotient, b, a) + a_low) / b;
    return exp(-quotient) * (1 - rest);
}

/* exp(-ax^2 / b), also corrected for the rounding of the square. */
static double gauss_peak(double ax, double b)
{
    double square = ax * ax;
    return exp_quotient(square, fma(ax, ax, -square), b);
}

/* erfc(ax / sqrt b), relative precision kept for arguments up to 26. */
static double erfc_peak(double ax, double b)
{
    double root = sqrt(b);
    double y = ax / root;
    /* how far y is off ax / sqrt b, relatively: the quotient's and the root's part */
    double slip = fma(y, root, -ax) / ax - 0.5 * fma(root, root, -b) / b;
    double derivative = -2 / sqrt(M_PI) * exp(-y * y);
    return ax > 0 ? erfc(y) - derivative * y * slip : 1;
}

/* Integral of exp(-x^2/B) - e over the distance t from the edge. (L5) */
static double edge_integral(const xb_law *law, double ax, double t)
{
    double b = law->param[XB_DEVICE_B];
    if (t * (2 - t) <= SERIES_LIMIT * b) {
        const ecram_rule *rule = law->data;
        double sum = 0;
        for (int i = 0; i < POINTS; i++) {
            double s = t * rule->node[i];
            sum += rule->weight[i] * expm1(s * (2 - s) / b);
        }
        return exp_quotient(1, 0, b) * t * sum;
    }
    double half = 0.5 * sqrt(M_PI * b);
    return half * (erfc_peak(ax, b) - erfc_peak(1, b)) - exp_quotient(1, 0, b) * t;
}

static double density(const xb_law *law, double ax, double t)
{
    double b = law->param[XB_DEVICE_B];
    return gauss_peak(ax, b) * -expm1(-t * (2 - t) / b) / (2 * law->k[XB_DEVICE_NORM]);
}

static double log_density(const xb_law *law, double ax, double t)
{
    double b = law->param[XB_DEVICE_B];
    return -ax * ax / b + log(-expm1(-t * (2 - t) / b)) - log(2 * law->k[XB_DEVICE_NORM]);
}

static double edge_mass(const xb_law *law, double ax, double t)
{
    return 0.5 * edge_integral(law, ax, t) / law->k[XB_DEVICE_NORM];
}

static double normaliser(const xb_law *law) { return 2 * law->k[XB_DEVICE_NORM]; }

static double edge_slope(const xb_law *law) /* 2 e / (B Z1) */
{
    double b = law->param[XB_DEVICE_B];
    return exp_quotient(1, 0, b) / (b * law->k[XB_DEVICE_NORM]);
}

static double length(double b) { return sqrt(b); }

static const xb_device_peak peak = {
    .square = true,
    .density = density,
    .log_density = log_density,
    .edge_mass = edge_mass,
    .normaliser = normaliser,
    .edge_slope = edge_slope,
    .length = length,
};

static xb_status setup(xb_ctx *ctx, xb_law *law)
{
    ecram_rule *rule = xb_new(ctx, 1, sizeof *rule);
    if (!rule) return XB_E_MEMORY;
    law->data = rule;
    XB_TRY(xb_gauss_legendre(ctx, rule->node, rule->weight, POINTS));
    for (int i = 0; i < POINTS; i++) {
        rule->node[i] = 0.5 * (1 + rule->node[i]);
        rule->weight[i] *= 0.5;
    }
    law->k[XB_DEVICE_NORM] = edge_integral(law, 0, 1);
    return xb_device_setup(law);
}

const xb_family xb_family_ecram = {
    .name = "ecram",
    .about = "electrochemical memory: exp(-x^2/B) peak and a parabola on [-1, 1]",
    .n_param = 2,
    .param = {{"B", 0.1, 1e-6, 1e9}, {"w", 0.6, 0, 1}},
    .setup = setup,
    .peak = &peak,
    .pdf = xb_device_pdf,
    .log_pdf = xb_device_log_pdf,
    .tail = xb_device_tail,
    .tail_quantile = xb_device_tail_quantile,
    .named = xb_device_named,
    .panels = xb_device_panels,
};
