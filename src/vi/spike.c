/* spike.c: the expectation of a mixture prior's spike; maths V5, V6.
 *
 * With s the narrow scale, kappa is smooth on the scale s and a law on the scale
 * sigma. Where sigma is below s a Gauss rule of the law in z converges fast;
 * where it is above, the spike is cut into |x - y| kernels, whose expectation
 * under the law is exact:
 *
 *     E kappa(mu + sigma z) = sum_k c_k sigma A((mu - y_k) / sigma)
 *
 * No exponential is computed per weight: kappa and A are tables. Worst error for
 * sigma / s from 0.01 to 1000: 2e-5 for the reference device, 2e-6 for the
 * Gaussian; the rest in maths V6. */
#include "vi/spike.h"

#include <complex.h>
#include <math.h>

enum { FEW = 12, MANY = 32 };

/* E of log(1 + e^d) is below rounding if d is less than minus this. */
#define CURVE_DEPTH 39.0 /* exp(-39) = 1e-17 */
#define RULE_DEPTH 25.0  /* exp(-25) = 1e-11 */

#define TOLERANCE 1e-12
#define DECAY 22.0    /* the rule across the spike misses by exp(-22) = 3e-10 */
#define PEAKED 2.5    /* how far the other rule goes: this times the law's peak, */
#define MANY_MOST 8.0 /* from 1 (MANY points) to 8 (as many times more) */

/* kappa = log1p(exp d), d = height - slant u^2 / 2, u = x / narrow. (V5) */
typedef struct shape {
    double height, slant;
} shape;

static xb_curve_point kappa(void *arg, double u)
{
    const shape *k = arg;
    double d = k->height - 0.5 * k->slant * u * u;
    double share = 1 / (1 + exp(-d)); /* of the narrow part */
    double slope = -k->slant * u;
    return (xb_curve_point){fmax(d, 0) + log1p(exp(-fabs(d))), share * slope,
                            share * ((1 - share) * slope * slope - k->slant)};
}

/* The position at which d has fallen to -depth, or the top of the spike if it is further
 * out. */
static double half_width(const shape *k, double depth)
{
    return sqrt(2 * (fmax(k->height, 0) + depth) / k->slant);
}

/* Trapezoid rule on the real line: kappa'' decays like exp(-u^2/2) and its
 * nearest singularity, d = i pi, is `reach` away from the line, so the error is
 * exp(-2 pi reach / h). The weights are made to add up to zero, as kappa'' does:
 * what is linear in x then vanishes whatever sigma is. */
static void spike_rule(xb_spike *s, const shape *k)
{
    double width = half_width(k, RULE_DEPTH), h = 2 * M_PI * s->reach / DECAY;
    int half = (int)ceil(width / h);
    if (2 * half + 1 > XB_SPIKE_NODES) half = (XB_SPIKE_NODES - 1) / 2;
    h = width / half;
    double sum = 0;
    s->nodes = 2 * half + 1;
    for (int i = 0; i < s->nodes; i++) {
        double u = (i - half) * h;
        s->y[i] = u * s->narrow;
        s->c[i] = 0.5 * h * kappa((void *)(uintptr_t)k, u).curvature / s->narrow;
        sum += s->c[i];
    }
    s->c[half] -= sum;
}

/* For a law with heavy tails: `n` points on each panel. */
static xb_status panel_rule(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n)
{
    xb_rule one; /* one point per panel, to count the panels */
    XB_TRY(xb_rule_fill_composite(ctx, &one, law, 1, XB_COMPOSITE_SMOOTH, NULL));
    int64_t points = n * one.n < XB_RULE_MAX ? n * one.n : XB_RULE_MAX;
    xb_rule_free(&one);
    return xb_rule_fill_composite(ctx, out, law, points, XB_COMPOSITE_SMOOTH, NULL);
}

static xb_status standard_rule(xb_ctx *ctx, xb_rule *out, const xb_law *law, int64_t n)
{
    /* the nodes of a Gauss rule go where heavy tails are, and too few to the peak */
    const double heavy = 30;
    if (xb_rule_gauss_max(law) < n || xb_law_moments(law).excess_kurtosis > heavy)
        XB_TRY(panel_rule(ctx, out, law, n));
    else
        XB_TRY(xb_rule_fill_gauss(ctx, out, law, n, XB_RECURRENCE_STABLE));
    for (int64_t i = 0; i < out->n; i++)
        out->nodes[i] = (out->nodes[i] - xb_law_mean(law)) / xb_law_sd(law);
    return XB_OK;
}

/* A law with a narrow peak is not smooth on the scale sigma: its Gauss rule, whose
 * nodes know the peak, must go on to larger sigma. The density is A''/2. */
static double many_below(const xb_meanabs *table)
{
    double peak = 0;
    for (int64_t i = 0; i < table->curve.pieces; i++) {
        const xb_curve_piece *p = &table->curve.piece[i];
        peak = fmax(peak, p->c[2] * p->inverse_width * p->inverse_width);
    }
    return fmin(fmax(PEAKED * peak, 1), MANY_MOST);
}

static xb_status make_tables(xb_ctx *ctx, xb_spike *s, const xb_law *law, shape *k)
{
    double end = half_width(k, CURVE_DEPTH);
    XB_TRY(xb_curve_build(ctx, &s->curve, kappa, k, 0, end, TOLERANCE));
    XB_TRY(xb_meanabs_make(ctx, &s->meanabs, law));
    XB_TRY(standard_rule(ctx, &s->few, law, FEW));
    s->many_below = many_below(&s->meanabs);
    return standard_rule(ctx, &s->many, law, (int64_t)ceil(MANY * s->many_below));
}

xb_status xb_spike_make(xb_ctx *ctx, xb_spike *out, const xb_law *law,
                        const xb_prior *mixture)
{
    xb_spike s = {.wide = fmax(mixture->s1, mixture->s2),
                  .narrow = fmin(mixture->s1, mixture->s2)};
    double share = mixture->s1 > mixture->s2 ? mixture->pi : 1 - mixture->pi;
    double ratio = s.narrow / s.wide;
    s.log_wide_weight = log(share);
    shape k = {log1p(-share) - log(share) - log(ratio), (1 - ratio) * (1 + ratio)};
    s.reach = cimag(csqrt((k.height + I * M_PI) * 2 / k.slant));
    spike_rule(&s, &k);
    xb_status status = make_tables(ctx, &s, law, &k);
    if (status == XB_OK) *out = s;
    if (status != XB_OK) xb_spike_free(&s);
    return status;
}

void xb_spike_free(xb_spike *s)
{
    xb_curve_free(&s->curve);
    xb_meanabs_free(&s->meanabs);
    xb_rule_free(&s->few);
    xb_rule_free(&s->many);
}

static xb_cross_rule lent(const xb_rule *rule)
{
    return (xb_cross_rule){rule->nodes, rule->weights, rule->n};
}

void xb_spike_lend(xb_cross *cross, const xb_spike *s)
{
    cross->wide = s->wide, cross->narrow = s->narrow;
    cross->reach = s->reach, cross->many_below = s->many_below;
    cross->kappa = s->curve;
    cross->meanabs = s->meanabs;
    cross->few = lent(&s->few), cross->many = lent(&s->many);
    cross->spike = (xb_cross_rule){s->y, s->c, s->nodes};
}
