/* device_likelihood.c: log likelihood of the device laws with its first and second
 * derivatives; maths F3.
 *
 * With u = 1/B and p = |y| (mtj) or y^2 (ecram) the peak is
 *     q1 = exp(-u p) k / Z,   k = 1 - exp(-u (1 - p)),
 * and everything else follows by differentiating k and Z, whose derivatives in u
 * are short: Z' = 2 exp(-u) - c Z/u with c = 1 or 1/2. expm1 gives k where it is small,
 * so no digits are lost near the edge or at large B. Domain 1e-3 <= B <= 1e3 (ecram from
 * 1e-6). A point costs one exp, one expm1, one log and about 80 flops: 50 ns.
 */
#include "fit/device_likelihood.h"

#include <math.h>
#include <string.h>

#include "law/device.h"
#include "fit/optimise.h"

/* A function of (w, beta = log B, lambda = log S) with its derivatives. */
enum { W, BETA, LAMBDA };
enum { WW, WB, WL, BB, BL, LL, SECOND };

typedef struct jet {
    double value, first[3], second[SECOND];
} jet;

/* The numbers that depend on B alone. */
typedef struct peak_constants {
    double u, inverse_z, z1, z2; /* Z'/Z, Z''/Z */
    double w;
    bool square;
} peak_constants;

/* Z of mtj is 2 g(u) / u with g(u) = 1 - (1 + u) exp(-u), and a series for small u. */
static double mtj_normaliser(double u)
{
    if (u >= 1) return 2 * (1 - (1 + u) * exp(-u)) / u;
    double term = u, sum = term; /* 2/u times exp(-u) (u^2/2! + u^3/3! + ...) */
    for (int k = 3; k < 24; k++) sum += term *= u / k;
    return sum * exp(-u);
}

/* Z of ecram. It loses digits, 1e-13 at B = 1e3, which does not matter here. */
static double ecram_normaliser(double u)
{
    return sqrt(M_PI / u) * erf(sqrt(u)) - 2 * exp(-u);
}

static peak_constants constants(double w, double log_b, bool square)
{
    double u = exp(-log_b);
    double z = square ? ecram_normaliser(u) : mtj_normaliser(u);
    double c = square ? 0.5 : 1, edge = 2 * exp(-u) / z;
    double z1 = edge - c / u;
    double z2 = -edge - c * z1 / u + c / (u * u);
    return (peak_constants){u, 1 / z, z1, z2, w, square};
}

/* log q(y) with derivatives, y = d / S in [0, 1). */
static void point_jet(jet *out, const peak_constants *c, double y)
{
    double t = 1 - y, u = c->u, w = c->w;
    double p = c->square ? y * y : y, rest = c->square ? t * (2 - t) : t; /* 1 - p */
    double p1 = c->square ? 2 * y : 1, p2 = c->square ? 2 : 0;
    double far = u * rest, k = far < 1 ? -expm1(-far) : 1 - exp(-far),
           front = exp(-u * p) * c->inverse_z;
    double k_u = rest - k, k_uu = k - rest * (1 + p); /* divided by exp(-u p) */
    double k_y = -u * p1, k_yy = u * (u * p1 * p1 - p2), k_uy = p1 * (u * p - 1);
    double q1 = front * k, q2 = 0.75 * t * (2 - t);
    double q1_u = front * (k_u - c->z1 * k);
    double q1_uu = front * (k_uu - 2 * c->z1 * k_u + (2 * c->z1 * c->z1 - c->z2) * k);
    double q1_uy = front * (k_uy - c->z1 * k_y);
    double q1_b = -u * q1_u, q1_bb = u * (q1_u + u * q1_uu), q1_by = -u * q1_uy;
    double q1_y = front * k_y, q2_y = -1.5 * y;
    double q_y = w * q1_y + (1 - w) * q2_y;
    double q_yy = w * front * k_yy - (1 - w) * 1.5;
    double q = w * q1 + (1 - w) * q2, over = 1 / q;
    double f_w = (q1 - q2) * over, f_b = w * q1_b * over, f_l = -y * q_y * over;
    out->value = log(q);
    out->first[W] = f_w, out->first[BETA] = f_b, out->first[LAMBDA] = f_l;
    out->second[WW] = -f_w * f_w;
    out->second[WB] = q1_b * over - f_w * f_b;
    out->second[WL] = -y * (q1_y - q2_y) * over - f_w * f_l;
    out->second[BB] = w * q1_bb * over - f_b * f_b;
    out->second[BL] = -y * w * q1_by * over - f_b * f_l;
    out->second[LL] = y * (q_y + y * q_yy) * over - f_l * f_l;
}

static jet mean_jet(const xb_points *points, const peak_constants *c, double scale)
{
    jet sum = {0}, one;
    for (int64_t i = 0; i < points->n; i++) {
        point_jet(&one, c, points->x[i] / scale);
        double n = points->count[i];
        sum.value += n * one.value;
        for (int j = 0; j < 3; j++) sum.first[j] += n * one.first[j];
        for (int j = 0; j < SECOND; j++) sum.second[j] += n * one.second[j];
    }
    sum.value = sum.value / points->total - log(scale);
    for (int j = 0; j < 3; j++) sum.first[j] /= points->total;
    for (int j = 0; j < SECOND; j++) sum.second[j] /= points->total;
    sum.first[LAMBDA] -= 1;
    return sum;
}

/* Converts derivatives by (w, log B, log S) to derivatives by the free variables. */
static void chain(double *gradient, double *hessian, const jet *m, double w, double part)
{
    /* Derivatives of the logistic function. */
    double w1 = w * (1 - w), w2 = w1 * (1 - 2 * w);
    double l1 = part, l2 = part * (1 - part); /* derivatives of log(1 + e^s) */
    gradient[XB_LOGIT_W] = w1 * m->first[W];
    gradient[XB_LOG_B] = m->first[BETA];
    gradient[XB_LOG_MARGIN] = l1 * m->first[LAMBDA];
    if (!hessian) return;
    double aa = w1 * w1 * m->second[WW] + w2 * m->first[W];
    double ss = l1 * l1 * m->second[LL] + l2 * m->first[LAMBDA];
    double ab = w1 * m->second[WB], as = w1 * l1 * m->second[WL];
    double bs = l1 * m->second[BL], bb = m->second[BB];
    const double full[9] = {aa, ab, as, ab, bb, bs, as, bs, ss};
    memcpy(hessian, full, sizeof full);
}

double xb_device_likelihood(void *data, const double *theta, double *gradient,
                            double *hessian)
{
    const xb_device_data *d = data;
    double w = 1 / (1 + exp(-theta[XB_LOGIT_W]));
    double margin = exp(theta[XB_LOG_MARGIN]);
    peak_constants c = constants(w, theta[XB_LOG_B], d->square);
    jet m = mean_jet(d->points, &c, 1 + margin);
    chain(gradient, hessian, &m, w, margin / (1 + margin));
    return isnan(m.value) ? -INFINITY : m.value;
}

void xb_device_scores(double *out[XB_DEVICE_SCORES], const xb_law *law, const double *x,
                      int n)
{
    const double *param = law->param;
    peak_constants c =
        constants(param[XB_DEVICE_W], log(param[XB_DEVICE_B]), law->family->peak->square);
    for (int i = 0; i < n; i++) {
        jet at;
        double y = fabs(x[i]);
        point_jet(&at, &c, y);
        out[XB_SCORE_B][i] = at.first[BETA];
        out[XB_SCORE_W][i] = at.first[W];
        out[XB_SCORE_SCALE][i] = at.first[LAMBDA] - 1;
        out[XB_SCORE_OFFSET][i] = at.first[LAMBDA] / x[i];
    }
}
