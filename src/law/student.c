/* student.c: Student's t law with nu > 2 degrees of freedom, unscaled; maths L26-L28.
 *
 * Moments of order nu and above do not exist, so a Gauss rule has fewer than nu / 2 + 1
 * points; its coefficients are Romanovski's, in closed form.
 *
 * With z = nu / 2: the normaliser needs D(z) = log G(z + 1/2) - log G(z), which is
 * summed from its asymptotic series at z >= 12 and brought down by its recurrence, so
 * nothing cancels however large nu is. Tails: the density times a continued fraction
 * beyond sqrt 3, the density times a series of positive terms (the mass from the median)
 * below. Quantiles: Newton's method on log mass against log |x|, on the mass from the
 * median near it. Worst relative error against mpmath in tests/fixtures. */
#include <math.h>
#include <string.h>

#include "law/family.h"
#include "law/normal.h"
#include "law/solve.h"

enum { NU };              /* parameter */
enum { LOG_NORM, SLOPE }; /* constants: log density at 0, D'(nu / 2) */

static const double NEAR = 1.7320508075688772; /* |x| up to which the series is used */

/* (L27) c(eta) = log density at 0 and its first two derivatives with respect to eta = 1 /
 * nu: -log(2 pi) / 2 + sum of c_k (2 eta)^(2k + 1), and for large eta the recurrence of
 * D. */
static void norm_jet(double c[3], double eta)
{
    enum { TERMS = 8 };
    static const double series[TERMS] = {
        -1.0 / 8,      1.0 / 192,      -1.0 / 640,       17.0 / 14336,
        -31.0 / 18432, 691.0 / 180224, -5461.0 / 425984, 929569.0 / 15728640};
    const double large = 12;
    double z = 0.5 / eta, shift[3] = {0};
    for (; z < large; z += 1) { /* D(z) - log(z) / 2 less the same at z + 1 */
        double up = z + 0.5;
        shift[0] += 0.5 * log1p(1 / z) - log1p(0.5 / z);
        shift[1] += 0.5 / (z * up) - 0.5 / (z * (z + 1));
        shift[2] += 0.5 * (2 * z + 1) / (z * z * (z + 1) * (z + 1)) -
                    0.5 * (z + up) / (z * z * up * up);
    }
    double r = 1 / z, power = r, sum[3] = {shift[0], shift[1], shift[2]};
    for (int k = 0; k < TERMS; k++, power *= r * r) {
        double m = 2 * k + 1;
        sum[0] += series[k] * power;
        sum[1] -= m * series[k] * power * r;
        sum[2] += m * (m + 1) * series[k] * power * r * r;
    }
    double slope = -0.5 / (eta * eta); /* dz / d eta */
    c[0] = -0.5 * log(2 * M_PI) + sum[0];
    c[1] = sum[1] * slope;
    c[2] = sum[2] * slope * slope + sum[1] / (eta * eta * eta);
}

static xb_status setup(xb_ctx *ctx, xb_law *law)
{
    (void)ctx;
    double nu = law->param[NU], c[3];
    norm_jet(c, 1 / nu);
    law->k[LOG_NORM] = c[0];
    law->k[SLOPE] = (1 - 2 * c[1] / nu) / nu; /* by the chain rule */
    law->lower = -INFINITY;
    law->upper = INFINITY;
    law->symmetric = true;
    return XB_OK;
}

static double log_pdf(const xb_law *law, double x)
{
    double nu = law->param[NU], ax = fabs(x);
    const double far = 1e100; /* x^2 stays finite */
    double growth = ax < far ? log1p(x * x / nu) : 2 * log(ax) - log(nu);
    return law->k[LOG_NORM] - 0.5 * (nu + 1) * growth; /* (L26) */
}

static double pdf(const xb_law *law, double x) { return exp(log_pdf(law, x)); }

/* (L28) The mass between 0 and x over the density, 0 <= x. */
static double centre_ratio(double nu, double x)
{
    double w = x * x / (nu + x * x), term = 1, sum = 1;
    for (int k = 0; k < 1000 && term > 1e-17 * sum; k++) {
        term *= w * (0.5 * (nu + 1) + k) / (1.5 + k);
        sum += term;
    }
    return x * sum;
}

/* (L28) The mass beyond x over the density, x > NEAR: a continued fraction whose terms
 * are positive, 2F1(1/2, 1; nu/2 + 1; -nu/x^2), by Lentz's method. */
static double tail_ratio(double nu, double x)
{
    enum { TERMS = 1000 };
    double a = 0.5 * nu, y = nu / x / x, c = 1, d = 0, f = 1;
    for (int j = 1; j <= TERMS; j++) {
        const int half = j / 2;
        double m = half, even = m * (a + m - 0.5), odd = (m + 0.5) * (a + m);
        double e = (j % 2 ? odd : even) * y / ((a + j - 1) * (a + j));
        d = 1 / (1 + e * d);
        c = 1 + e / c;
        f *= c * d;
        if (fabs(c * d - 1) < 1e-16) break;
    }
    return (1 / x + x / nu) / f;
}

/* The mass above x >= 0. */
static double mass_above(const xb_law *law, double x)
{
    double nu = law->param[NU];
    if (isinf(x)) return 0;
    double q = pdf(law, x);
    const double least = 1e-290; /* the density underflows before the mass does */
    if (x <= NEAR) return 0.5 - q * centre_ratio(nu, x);
    if (q > least) return q * tail_ratio(nu, x);
    return exp(log_pdf(law, x) + log(tail_ratio(nu, x)));
}

static double tail(const xb_law *law, double x, bool upper)
{
    if (isnan(x)) return x;
    double y = upper ? x : -x; /* mass above y */
    return y >= 0 ? mass_above(law, y) : 1 - mass_above(law, -y);
}

typedef struct student_target {
    const xb_law *law;
    double v;
} student_target;

/* log v - log mass above exp(y): grows with y. */
static double far_residual(const void *arg, double y, double *slope)
{
    const student_target *at = arg;
    double x = exp(y), ratio = tail_ratio(at->law->param[NU], x);
    *slope = x / ratio;
    return log(at->v) - log_pdf(at->law, x) - log(ratio);
}

/* Mass between 0 and x, less what is wanted. */
static double near_residual(const void *arg, double x, double *slope)
{
    const student_target *at = arg;
    *slope = pdf(at->law, x);
    return *slope * centre_ratio(at->law->param[NU], x) - (0.5 - at->v);
}

static xb_tail_point tail_quantile(const xb_law *law, double v, bool upper)
{
    student_target at = {law, v};
    double nu = law->param[NU], x;
    double z = -xb_normal_tail_quantile(v), guess = z * (1 + (z * z + 1) / (4 * nu));
    if (v >= mass_above(law, NEAR)) {
        x = v == 0.5 ? 0 : xb_solve(near_residual, &at, 0, NEAR, guess);
    } else {
        /* (L26) the power law of the tail */
        double power = (law->k[LOG_NORM] + 0.5 * (nu - 1) * log(nu) - log(v)) / nu;
        double start = fmax(fmin(power, 340), log(fmax(guess, NEAR)));
        const double most = 345; /* of log x: nu > 2 and v > 1e-300 are below */
        x = exp(xb_solve(far_residual, &at, log(NEAR), most, start));
    }
    return (xb_tail_point){upper ? x : -x, INFINITY};
}

/* (L28) Infinite from order nu on; odd ones are 0 as long as they exist. */
static double raw_moment(const xb_law *law, int k)
{
    double nu = law->param[NU], moment = 1;
    if (k >= nu) return k % 2 ? NAN : INFINITY;
    if (k % 2) return 0;
    for (int j = 2; j <= k; j += 2) moment *= nu * (j - 1) / (nu - j);
    return moment;
}

static double entropy(const xb_law *law)
{
    return 0.5 * (law->param[NU] + 1) * law->k[SLOPE] - law->k[LOG_NORM];
}

static int64_t rule_most(const xb_law *law)
{
    return (int64_t)ceil(0.5 * law->param[NU]); /* 2 n - 2 < nu */
}

static void recurrence(const xb_law *law, double *alpha, double *beta, int64_t n)
{
    double nu = law->param[NU];
    for (int64_t j = 0; j < n; j++) {
        double k = (double)j;
        alpha[j] = 0;
        beta[j] = j == 0 ? 1 : nu * k * (nu + 1 - k) / ((nu + 2 - 2 * k) * (nu - 2 * k));
    }
}

/* Steps of two up to where the tail is a power, of a factor of four from there. */
static int64_t panels(const xb_law *law, double *out, int64_t capacity)
{
    enum { EDGES = 400 };
    const double least = 1e-302;
    double edge[EDGES], x = 0, power = 2 + 2 * sqrt(law->param[NU]);
    int count = 0;
    for (; count < EDGES; x = x < power ? x + 2 : 4 * x) {
        edge[count++] = x;
        if (mass_above(law, x) < least) break;
    }
    int64_t n = 0;
    for (int i = count - 1; i > 0; i--) n = xb_panel_add(out, capacity, n, -edge[i]);
    for (int i = 0; i < count; i++) n = xb_panel_add(out, capacity, n, edge[i]);
    return n;
}

/* log1p(t) / t and its first two derivatives, t >= 0. */
static void log_slope(double l[3], double t)
{
    const double small = 0.1;
    if (t < small) {
        double power = 1, before = 0, two_before = 0;
        l[0] = l[1] = l[2] = 0;
        for (int k = 0; k < 20; k++) {
            double c = (k % 2 ? -1.0 : 1.0) / (k + 1);
            l[0] += c * power, l[1] += c * k * before,
                l[2] += c * k * (k - 1) * two_before;
            two_before = before, before = power, power *= t;
        }
        return;
    }
    double u = 1 / (1 + t);
    l[0] = log1p(t) / t;
    l[1] = (u - l[0]) / t;
    l[2] = -(u * u + 2 * l[1]) / t;
}

/* (F15) In eta = 1 / nu, in which the Gaussian is the smooth limit eta = 0. */
static void jet(xb_log_jet *out, const double *v, const double *x, int64_t n)
{
    double eta = v[NU], c[3], l[3];
    norm_jet(c, eta);
    for (int64_t i = 0; i < n; i++) {
        double xx = x[i] * x[i], t = eta * xx, u = 1 / (1 + t);
        log_slope(l, t);
        out[i].value = c[0] - 0.5 * xx * l[0] - 0.5 * log1p(t);
        out[i].v[NU] = c[1] - 0.5 * xx * (xx * l[1] + u);
        out[i].vv[NU][NU] = c[2] - 0.5 * xx * xx * (xx * l[2] - u * u);
        out[i].x = -(1 + eta) * x[i] * u;
        out[i].xx = -(1 + eta) * (1 - t) * u * u;
        out[i].vx[NU] = x[i] * (xx - 1) * u * u;
    }
}

const xb_family xb_family_student = {
    .name = "student",
    .about = "Student's t, nu > 2: tails that fall as a power of |x|",
    .n_param = 1,
    .param = {{"nu", 5, 2.05, 1e4}},
    .setup = setup,
    .recurrence = recurrence,
    .rule_most = rule_most,
    .jet = jet,
    .fit_by = {XB_FIT_RECIPROCAL},
    .n_starts = 3,
    .start = {{5}, {30}, {2.5}},
    .pdf = pdf,
    .log_pdf = log_pdf,
    .tail = tail,
    .tail_quantile = tail_quantile,
    .raw_moment = raw_moment,
    .entropy = entropy,
    .panels = panels,
};
