/* gaussian.c: the standard normal law; maths L7. Tails by erfc. Quantiles from a guess
 * to 5e-4 by two steps of third order, on the mass from the median near it; beyond
 * |x| = 36, where masses come near the smallest doubles, by Newton on the log tail. */
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

enum { STEPS = 2 }; /* from 5e-4 to 5e-8 at worst, then below any rounding */

/* (L7) x with mass(x) as wanted, from how much too large the mass is at x. */
static double improved(double x, double excess)
{
    double h = excess / xb_normal_pdf(x);
    return x - h + 0.5 * x * h * h;
}

/* 0 < mass <= 1/4, between the quantile and the median: the inverse's series. */
static double near_quantile(double mass)
{
    double m = mass * sqrt(2 * M_PI), mm = m * m;
    double a = m * (1 + mm * (1.0 / 6 + mm * (7.0 / 120 + mm * (127.0 / 5040))));
    for (int i = 0; i < STEPS; i++) a = improved(a, 0.5 * erf(a * M_SQRT1_2) - mass);
    return -a;
}

/* From the rational guess of Hastings (Abramowitz & Stegun 26.2.23). */
static double far_quantile(double v)
{
    double t = sqrt(-2 * log(v));
    double x = (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
               t;
    for (int i = 0; i < STEPS; i++) x = improved(x, xb_normal_cdf(x) - v);
    return x;
}

static const double LEAST = 1e-284; /* mass beyond 36 */

double xb_normal_tail_quantile(double v)
{
    if (v > 0.25) return near_quantile(0.5 - v); /* exact */
    if (v > LEAST) return far_quantile(v);
    return xb_solve(tail_residual, &v, -40, -0.5, -sqrt(-2 * log(v)));
}

static xb_tail_point tail_quantile(const xb_law *law, double v, bool upper)
{
    (void)law;
    double x = xb_normal_tail_quantile(v);
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

static void recurrence(const xb_law *law, double *alpha, double *beta, int64_t n)
{
    (void)law;
    for (int64_t k = 0; k < n; k++) {
        alpha[k] = 0;
        beta[k] = k > 0 ? (double)k : 1; /* (Q5) */
    }
}

const xb_family xb_family_gaussian = {
    .name = "gaussian",
    .about = "the standard normal law",
    .normal = true,
    .recurrence = recurrence,
    .setup = setup,
    .pdf = pdf,
    .log_pdf = log_pdf,
    .tail = tail,
    .tail_quantile = tail_quantile,
    .raw_moment = raw_moment,
    .entropy = entropy,
    .panels = panels,
};
