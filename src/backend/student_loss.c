/* student_loss.c: minus the log-likelihood under Student's t and its gradients; maths
 * N20. The scale is expressed by the standard deviation, so that the noise has the same
 * meaning under every likelihood. */
#include <math.h>

#include "backend/host.h"

/* psi(x + 1/2) - psi(x), x > 0: by its asymptotic series at 12 and above, brought down by
 * the recurrence of psi, so that nothing cancels for large x. */
static double digamma_step(double x)
{
    const double large = 12;
    double sum = 0;
    for (; x < large; x += 1) sum += 1 / x - 1 / (x + 0.5);
    const double r = 1 / x, q = r * r;
    return sum +
           r * (0.5 + r * (0.125 - q * (1.0 / 64 - q * (1.0 / 128 - q * 17.0 / 2048))));
}

double xb_student_degrees(double shape) { return 2 + exp(shape); }

double xb_nll_student(xb_real *dy, double *d_log_sd, double *d_shape, const xb_real *y,
                      const xb_real *target, double log_sd, double shape, int64_t n,
                      int64_t stride)
{
    const double nu = xb_student_degrees(shape);
    const double log_s = log_sd + 0.5 * log((nu - 2) / nu), inverse = exp(-log_s);
    double sum = 0, by_scale = 0, by_nu = 0;
    for (int64_t i = 0; i < n * stride; i += stride) {
        const double e = ((double)y[i] - (double)target[i]) * inverse, square = e * e;
        const double weight = (nu + 1) / (nu + square), far = log1p(square / nu);
        sum += 0.5 * (nu + 1) * far;
        by_scale += 1 - weight * square;
        by_nu += 0.5 * far - 0.5 * weight * square / nu;
        if (dy) dy[i] = (xb_real)(weight * e * inverse);
    }
    const double each = lgamma(0.5 * nu) - lgamma(0.5 * nu + 0.5) + 0.5 * log(M_PI * nu);
    by_nu += (double)n * (0.5 / nu - 0.5 * digamma_step(0.5 * nu));
    if (d_log_sd) *d_log_sd = by_scale;
    if (d_shape) *d_shape = by_nu * (nu - 2) + by_scale / nu;
    return sum + (double)n * (each + log_s); /* (N20) */
}
