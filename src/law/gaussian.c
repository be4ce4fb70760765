/* gaussian.c: the standard normal law; maths L7. Tails by erfc, quantiles by
 * Newton on log tail (far out) or on the mass from the median (near it). */
#include <math.h>

#include "law/family.h"
#include "law/normal.h"
#include "law/solve.h"

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
    return xb_normal_pdf(x);
}

static double log_pdf(const xb_law *law, double x)
{
    (void)law;
    return xb_normal_log_pdf(x);
}

static double tail(const xb_law *law, double x, bool upper)
{
    (void)law;
    return xb_normal_cdf(upper ? -x : x);
}

static double tail_residual(const void *arg, double x, double *slope)
{
    double mass = xb_normal_cdf(x);
    *slope = mass > 0 ? xb_normal_pdf(x) / mass : INFINITY;
    return mass > 0 ? log(mass) - log(*(const double *)arg) : -INFINITY;
}

/* mass between -a and 0, minus the one wanted */
static double centre_residual(const void *arg, double a, double *slope)
{
    *slope = xb_normal_pdf(a);
    return 0.5 * erf(a * M_SQRT1_2) - *(const double *)arg;
}

static xb_tail_point tail_quantile(const xb_law *law, double v, bool upper)
{
    (void)law;
    double x;
    if (v > 0.25) {
        double from_median = 0.5 - v; /* exact */
        x = -xb_solve(centre_residual, &from_median, -0.1, 1,
                      from_median / xb_normal_pdf(0));
    } else {
        x = xb_solve(tail_residual, &v, -40, -0.5, -sqrt(-2 * log(v)) + 0.5);
    }
    return (xb_tail_point){upper ? -x : x, INFINITY};
}

static double raw_moment(const xb_law *law, int k)
{
    (void)law;
    double moment = k % 2 == 0;
    for (int j = k - 1; j > 1; j -= 2) moment *= j;
    return moment;
}

static double entropy(const xb_law *law)
{
    (void)law;
    return 0.5 * (1 + log(2 * M_PI));
}

static int64_t panels(const xb_law *law, double *out, int64_t capacity)
{
    (void)law;
    int64_t n = 0;
    for (int x = -38; x <= 38; x += 2) n = xb_panel_add(out, capacity, n, x);
    return n;
}

const xb_family xb_family_gaussian = {
    .name = "gaussian",
    .about = "the standard normal law",
    .setup = setup,
    .pdf = pdf,
    .log_pdf = log_pdf,
    .tail = tail,
    .tail_quantile = tail_quantile,
    .raw_moment = raw_moment,
    .entropy = entropy,
    .panels = panels,
};
