/* device.c: the mixture that `mtj` and `ecram` share; maths L1-L6.
 *
 * Everything is expressed in t, the distance from the nearer edge, so that no digit is
 * lost where the density vanishes: the parabola is 3/4 t (2 - t), its mass t^2 (3 - t)
 * / 4. Quantiles are solved in log t near the edge and in |x| near the centre, in the
 * variable that represents the answer accurately.
 *
 * Domain: 0 <= w <= 1, 1e-6 <= B <= 1e9. Relative error of pdf and cdf at most
 * 1e-13 for B from 5e-4 to 1e6, down to t = 1e-12 (tests/test_law.c, mpmath). */
#include "law/device.h"

#include <math.h>
#include <string.h>

#include "law/solve.h"

static double parabola(double t) { return 0.75 * t * (2 - t); }
static double parabola_mass(double t) { return 0.25 * t * t * (3 - t); }

static double density_at(const xb_law *law, double ax, double t)
{
    double w = law->param[XB_DEVICE_W];
    double q = (1 - w) * parabola(t); /* (L1) */
    return w > 0 ? q + w * law->family->peak->density(law, ax, t) : q;
}

/* Mass between the edge and t, 0 <= t <= 1. (L3) */
static double mass_at(const xb_law *law, double ax, double t)
{
    double w = law->param[XB_DEVICE_W];
    double mass = (1 - w) * parabola_mass(t);
    return w > 0 ? mass + w * law->family->peak->edge_mass(law, ax, t) : mass;
}

xb_status xb_device_setup(xb_law *law)
{
    double w = law->param[XB_DEVICE_W];
    law->lower = -1;
    law->upper = 1;
    law->symmetric = true;
    law->k[XB_DEVICE_A] = w / law->family->peak->normaliser(law);
    law->k[XB_DEVICE_C] = 0.75 * (1 - w);
    law->k[XB_DEVICE_SLOPE] = w * law->family->peak->edge_slope(law) + 1.5 * (1 - w);
    return XB_OK;
}

double xb_device_pdf(const xb_law *law, double x)
{
    double ax = fabs(x);
    return ax < 1 ? density_at(law, ax, 1 - ax) : (isnan(x) ? x : 0);
}

double xb_device_log_pdf(const xb_law *law, double x)
{
    double ax = fabs(x);
    if (!(ax < 1)) return isnan(x) ? x : -INFINITY;
    /* With w = 1 the density may underflow while its logarithm is harmless. */
    if (law->param[XB_DEVICE_W] == 1)
        return law->family->peak->log_density(law, ax, 1 - ax);
    return log(density_at(law, ax, 1 - ax));
}

double xb_device_tail(const xb_law *law, double x, bool upper)
{
    if (isnan(x)) return x;
    double toward = upper ? -x : x; /* mass below `toward`, by symmetry */
    if (toward <= -1) return 0;
    if (toward >= 1) return 1;
    double ax = fabs(toward);
    double mass = mass_at(law, ax, 1 - ax);
    return toward <= 0 ? mass : 1 - mass;
}

typedef struct device_target {
    const xb_law *law;
    double v;
    double log_v;
} device_target;

/* (L9) log mass - log v as a function of log t. */
static double edge_residual(const void *arg, double log_t, double *slope)
{
    const device_target *at = arg;
    double t = exp(log_t);
    double mass = mass_at(at->law, 1 - t, t);
    *slope = mass > 0 ? density_at(at->law, 1 - t, t) * t / mass : INFINITY;
    return mass > 0 ? log(mass) - at->log_v : -INFINITY;
}

/* (L9) v - mass as a function of |x|: increasing, since mass falls with |x|. */
static double centre_residual(const void *arg, double ax, double *slope)
{
    const device_target *at = arg;
    *slope = density_at(at->law, ax, 1 - ax);
    return at->v - mass_at(at->law, ax, 1 - ax);
}

xb_tail_point xb_device_tail_quantile(const xb_law *law, double v, bool upper)
{
    device_target at = {law, v, log(v)};
    xb_tail_point p;
    double t_half = 0.5; /* which side of |x| = 1/2 the answer lies on */
    if (v < mass_at(law, 1 - t_half, t_half)) {
        /* the mass is K t^2 / 2 near the edge (L6); -745 is log of the least double */
        double guess = 0.5 * (log(2 * v) - log(law->k[XB_DEVICE_SLOPE]));
        p.from_edge = exp(xb_solve(edge_residual, &at, -745, log(t_half), guess));
        p.x = -1 + p.from_edge;
    } else {
        double ax = v >= 0.5 ? 0 : xb_solve(centre_residual, &at, 0, 1 - t_half, 0.5 - v);
        p.from_edge = 1 - ax;
        p.x = -ax;
    }
    if (upper) p.x = -p.x;
    return p;
}

int64_t xb_device_panels(const xb_law *law, double *out, int64_t capacity)
{
    /* Split at 0 (mtj has a kink there) and, where the peak is narrow, where it has
     * fallen by exp(-4), exp(-16) and exp(-40): past that it is below rounding. */
    static const double multiples[] = {40, 16, 4};
    double length = law->family->peak->length(law->param[XB_DEVICE_B]);
    if (law->param[XB_DEVICE_W] == 0) length = 1;
    int64_t n = xb_panel_add(out, capacity, 0, -1);
    for (int i = 0; i < XB_COUNT(multiples); i++)
        if (multiples[i] * length < 1)
            n = xb_panel_add(out, capacity, n, -multiples[i] * length);
    n = xb_panel_add(out, capacity, n, 0);
    for (int i = XB_COUNT(multiples) - 1; i >= 0; i--)
        if (multiples[i] * length < 1)
            n = xb_panel_add(out, capacity, n, multiples[i] * length);
    return xb_panel_add(out, capacity, n, 1);
}

double xb_device_named(const xb_law *law, const char *name)
{
    if (strcmp(name, "A") == 0) return law->k[XB_DEVICE_A];
    if (strcmp(name, "C") == 0) return law->k[XB_DEVICE_C];
    if (strcmp(name, "K") == 0) return law->k[XB_DEVICE_SLOPE];
    return NAN;
}
