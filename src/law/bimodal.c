/* bimodal.c: half N(-m, s^2), half N(m, s^2), m^2 + s^2 = 1; maths L8.
 *
 * For m near 1 the two modes are far apart with almost no mass between them. Quantiles
 * near the median are therefore solved from the mass between the median and the point,
 * which is accurate however small it is, so that no mode is lost. */
#include <math.h>
#include <string.h>

#include "law/family.h"
#include "law/normal.h"
#include "law/solve.h"

enum { M }; /* parameter */
enum { S }; /* constant: sqrt(1 - m^2) */

static xb_status setup(xb_ctx *ctx, xb_law *law)
{
    (void)ctx;
    double m = law->param[M];
    law->k[S] = sqrt((1 - m) * (1 + m));
    law->lower = -INFINITY;
    law->upper = INFINITY;
    law->symmetric = true;
    return XB_OK;
}

static double pdf(const xb_law *law, double x)
{
    double m = law->param[M], s = law->k[S];
    return 0.5 * (xb_normal_pdf((x + m) / s) + xb_normal_pdf((x - m) / s)) / s;
}

static double log_pdf(const xb_law *law, double x)
{
    double m = law->param[M], s = law->k[S];
    double near = (fabs(x) - m) / s;
    double ratio = -2 * fabs(x) * m / (s * s); /* log of far mode over near mode */
    return xb_normal_log_pdf(near) - log(2 * s) + log1p(exp(ratio));
}

static double tail(const xb_law *law, double x, bool upper)
{
    double m = law->param[M], s = law->k[S];
    double y = upper ? -x : x;
    return 0.5 * (xb_normal_cdf((y + m) / s) + xb_normal_cdf((y - m) / s));
}

typedef struct bimodal_target {
    const xb_law *law;
    double log_mass;
} bimodal_target;

static double tail_residual(const void *arg, double x, double *slope)
{
    const bimodal_target *at = arg;
    double mass = tail(at->law, x, false);
    *slope = mass > 0 ? pdf(at->law, x) / mass : INFINITY;
    return mass > 0 ? log(mass) - at->log_mass : -INFINITY;
}

/* Mass between -a and 0, as log; (L8). */
static double centre_residual(const void *arg, double a, double *slope)
{
    const bimodal_target *at = arg;
    double m = at->law->param[M], s = at->law->k[S];
    double mass = 0.5 * (xb_normal_cdf((a - m) / s) - xb_normal_cdf((-a - m) / s));
    *slope = mass > 0 ? pdf(at->law, a) / mass : INFINITY;
    return mass > 0 ? log(mass) - at->log_mass : -INFINITY;
}

static xb_tail_point tail_quantile(const xb_law *law, double v, bool upper)
{
    double m = law->param[M], s = law->k[S];
    double x = 0;
    if (v <= 0.25) {
        bimodal_target at = {law, log(v)};
        double guess = -m - s * sqrt(fmax(0, -2 * log(2 * v)));
        x = xb_solve(tail_residual, &at, -m - 40 * s, 0, guess);
    } else if (v < 0.5) {
        bimodal_target at = {law, log(0.5 - v)};
        x = -xb_solve(centre_residual, &at, 0, m + 2 * s, 0.5 * m);
    }
    return (xb_tail_point){upper ? -x : x, INFINITY};
}

static double raw_moment(const xb_law *law, int k)
{
    if (k % 2) return 0;
    double m = law->param[M], s = law->k[S];
    double older = 1, moment = m; /* of N(m, s^2): M_k = m M_{k-1} + (k-1) s^2 M_{k-2} */
    if (k == 0) return 1;
    for (int j = 2; j <= k; j++) {
        double next = m * moment + (j - 1) * s * s * older;
        older = moment;
        moment = next;
    }
    return moment;
}

static double named(const xb_law *law, const char *name)
{
    return strcmp(name, "s") == 0 ? law->k[S] : NAN;
}

static int modes(const xb_law *law, xb_law_mode *out)
{
    double m = law->param[M], s = law->k[S];
    out[0] = (xb_law_mode){0.5, -m, s};
    out[1] = (xb_law_mode){0.5, m, s};
    return 2;
}

/* Steps of two widths over both modes; the empty gap between them is one panel. */
static int64_t panels(const xb_law *law, double *out, int64_t capacity)
{
    double m = law->param[M], s = law->k[S];
    double from = -m - 38 * s, reach = fmin(m, 38 * s);
    int64_t n = 0;
    int steps = (int)ceil((38 * s + reach) / (2 * s));
    for (int i = 0; i <= steps; i++)
        n = xb_panel_add(out, capacity, n, from + (38 * s + reach) * i / steps);
    if (reach < m) n = xb_panel_add(out, capacity, n, m - reach);
    for (int i = 1; i <= steps; i++)
        n = xb_panel_add(out, capacity, n, m - reach + (38 * s + reach) * i / steps);
    return n;
}

const xb_family xb_family_bimodal = {
    .name = "bimodal",
    .about = "two Gaussians at -m and m, with a total variance of 1",
    .n_param = 1,
    .param = {{"m", 0.9, 0, 0.999999}},
    .setup = setup,
    .pdf = pdf,
    .log_pdf = log_pdf,
    .tail = tail,
    .tail_quantile = tail_quantile,
    .raw_moment = raw_moment,
    .named = named,
    .modes = modes,
    .panels = panels,
};
