/* sinh_arcsinh.c: the law of x = sinh((asinh y + epsilon) / delta), y standard normal
 * (Jones & Pewsey 2009); maths L29, L30. epsilon skews, delta below 1 makes the tails
 * heavier than the Gaussian's and above 1 lighter; epsilon = 0, delta = 1 is the
 * Gaussian.
 *
 * Distribution function and quantile are closed forms. Far out S = sinh(delta asinh x -
 * epsilon) must be known better than a double holds it, as the mass changes by S^2 times
 * its relative error: it is computed in long double, and the part that does not fit into
 * a double is applied to first order. Moments and entropy use equal steps of y, whose
 * error vanishes exponentially. */
#include <math.h>

#include "law/family.h"
#include "law/normal.h"

enum { EPSILON, DELTA }; /* parameters */

static const double FAR = 40; /* |y| beyond which nothing is left */

static xb_status setup(xb_ctx *ctx, xb_law *law)
{
    (void)ctx;
    law->param[EPSILON] += 0.0; /* no -0 */
    law->lower = -INFINITY;
    law->upper = INFINITY;
    law->symmetric = law->param[EPSILON] == 0;
    return XB_OK;
}

/* y(x), and its remainder beyond a double. */
typedef struct split {
    double high, low;
} split;

static split to_normal(const xb_law *law, double x)
{
    long double w = (long double)law->param[DELTA] * asinhl((long double)x) -
                    (long double)law->param[EPSILON];
    long double y = sinhl(w);
    double high = (double)y;
    return (split){high, fabs(high) < FAR ? (double)(y - (long double)high) : 0};
}

static double from_normal(const xb_law *law, double y)
{
    return sinh((asinh(y) + law->param[EPSILON]) / law->param[DELTA]);
}

static double pdf(const xb_law *law, double x)
{
    split y = to_normal(law, x);
    if (!(fabs(y.high) < FAR)) return isnan(x) ? x : 0;
    double bell = xb_normal_pdf(y.high) * (1 - y.high * y.low);
    return bell * law->param[DELTA] * hypot(1, y.high) / hypot(1, x); /* (L29) */
}

static double log_pdf(const xb_law *law, double x)
{
    double y = to_normal(law, x).high;
    if (isinf(x) || isinf(y)) return -INFINITY;
    return xb_normal_log_pdf(y) + log(law->param[DELTA] * hypot(1, y) / hypot(1, x));
}

static double tail(const xb_law *law, double x, bool upper)
{
    split y = to_normal(law, x);
    double sign = upper ? -1 : 1;
    if (!(fabs(y.high) < FAR)) return xb_normal_cdf(sign * y.high);
    return xb_normal_cdf(sign * y.high) + sign * xb_normal_pdf(y.high) * y.low;
}

static xb_tail_point tail_quantile(const xb_law *law, double v, bool upper)
{
    double y = xb_normal_tail_quantile(v);
    return (xb_tail_point){from_normal(law, upper ? -y : y), INFINITY};
}

/* Mean of f over the law by steps of y that f's singularities leave room for: `width` is
 * how far they are from the real line. (L30) */
typedef double (*of_point)(const xb_law *law, double y, double x, const double *arg);

static double mean_of(const xb_law *law, of_point f, const double *arg, double reach,
                      double width)
{
    const double depth = 42; /* exp(-42) = 6e-19 */
    double step = 2 * M_PI * 0.95 * width / depth, sum = 0;
    for (int i = 0; (i + 0.5) * step < reach; i++) {
        double y = (i + 0.5) * step, mass = step * xb_normal_pdf(y);
        sum += mass * (f(law, y, from_normal(law, y), arg) +
                       f(law, -y, from_normal(law, -y), arg));
    }
    return sum;
}

/* Where |x|^k times the normal density has fallen by far more than rounding. */
static double reach_of(const xb_law *law, double k)
{
    return 10 + sqrt(2 * k / law->param[DELTA]);
}

static double power(const xb_law *law, double y, double x, const double *arg)
{
    (void)law, (void)y;
    return pow(x - arg[0], arg[1]);
}

static double about(const xb_law *law, double centre, int k)
{
    return mean_of(law, power, (double[]){centre, k}, reach_of(law, k), 1);
}

static double raw_moment(const xb_law *law, int k)
{
    return law->symmetric && k % 2 ? 0 : about(law, 0, k);
}

static void moments(const xb_law *law, xb_moments *out)
{
    out->mean = law->symmetric ? 0 : about(law, 0, 1);
    out->variance = about(law, out->mean, 2);
    double sd = sqrt(out->variance);
    out->skewness = law->symmetric ? 0 : about(law, out->mean, 3) / (sd * sd * sd);
    out->excess_kurtosis = about(law, out->mean, 4) / (out->variance * out->variance) - 3;
}

static double log_stretch(const xb_law *law, double y, double x, const double *arg)
{
    (void)arg;
    return log(law->param[DELTA] * hypot(1, y) / hypot(1, x));
}

static double entropy(const xb_law *law)
{
    double near = sin(M_PI_2 * fmin(law->param[DELTA], 1)); /* x = i is this far away */
    double width = fmin(1, cosh(law->param[EPSILON]) * near);
    return 0.5 * (1 + log(2 * M_PI)) -
           mean_of(law, log_stretch, NULL, reach_of(law, 2), width); /* (L30) */
}

/* Steps of at most 2 in y and 1.2 in asinh x: the density is smooth on both scales. */
static int64_t panels(const xb_law *law, double *out, int64_t capacity)
{
    const double step_y = 2, step_x = 1.2, end = 38;
    double y = -end, e = law->param[EPSILON], d = law->param[DELTA];
    int64_t n = 0;
    while (y < end) {
        double x = (asinh(y) + e) / d; /* asinh of the panel's edge */
        n = xb_panel_add(out, capacity, n, sinh(x));
        double next = fmin(y + step_y, sinh(d * (x + step_x) - e));
        y = next > y ? next : y + step_y;
    }
    return xb_panel_add(out, capacity, n, from_normal(law, end));
}

/* (F15) By epsilon and log delta. */
static void jet(xb_log_jet *out, const double *v, const double *x, int64_t n)
{
    double e = v[EPSILON], d = exp(v[DELTA]);
    for (int64_t i = 0; i < n; i++) {
        double r = 1 / hypot(1, x[i]), a = d * asinh(x[i]), w = a - e;
        double s = sinh(w), c = cosh(w), t = s / c;
        double slope = t - s * c, bend = 1 - t * t - c * c - s * s; /* by w */
        xb_log_jet *o = &out[i];
        o->value = xb_normal_log_pdf(s) + log(d * c * r);
        o->v[EPSILON] = -slope;
        o->v[DELTA] = slope * a + 1;
        o->vv[EPSILON][EPSILON] = bend;
        o->vv[EPSILON][DELTA] = o->vv[DELTA][EPSILON] = -bend * a;
        o->vv[DELTA][DELTA] = bend * a * a + slope * a;
        o->x = slope * d * r - x[i] * r * r;
        o->xx = bend * d * d * r * r - slope * d * x[i] * r * r * r -
                r * r * (1 - 2 * x[i] * x[i] * r * r);
        o->vx[EPSILON] = -bend * d * r;
        o->vx[DELTA] = (bend * a + slope) * d * r;
    }
}

const xb_family xb_family_sinh_arcsinh = {
    .name = "sinh-arcsinh",
    .about = "sinh((asinh y + epsilon) / delta) of a Gaussian y: skewness and tails",
    .n_param = 2,
    .param = {{"epsilon", 0, -5, 5}, {"delta", 1, 0.2, 20}},
    .from_normal = from_normal,
    .jet = jet,
    .fit_by = {XB_FIT_ITSELF, XB_FIT_LOG},
    .n_starts = 4,
    .start = {{0, 1}, {0.3, 0.9}, {-0.3, 0.9}, {0, 0.6}},
    .setup = setup,
    .pdf = pdf,
    .log_pdf = log_pdf,
    .tail = tail,
    .tail_quantile = tail_quantile,
    .raw_moment = raw_moment,
    .moments = moments,
    .entropy = entropy,
    .panels = panels,
};
