/* cross_kernel.h: the cross entropy -E log p(mu + sigma z) of one weight under a prior p,
 * by tables that were made for prior and law; maths V2-V6. It is for loops over millions
 * of weights on the CPU and on the GPU, whose arithmetic is written once. vi/kl.c,
 * vi/meanabs.c and vi/spike.c make the tables. */
#ifndef XB_KERNEL_CROSS_KERNEL_H
#define XB_KERNEL_CROSS_KERNEL_H

#include "base/both.h"
#include "crossbayes/vi.h"

/* ---- a function of one variable as a table of quintic pieces */

enum { XB_CURVE_COEFFICIENTS = 6 };

/* value = sum of c[k] s^k, s = (t - start) * inverse_width in [0, 1]: 64 bytes. */
typedef struct xb_curve_piece {
    double start;
    double inverse_width;
    double c[XB_CURVE_COEFFICIENTS];
} xb_curve_piece;

typedef struct xb_curve_table {
    double lower, upper;
    double buckets_per_unit;
    int32_t *first;        /* [buckets + 1] piece in which a bucket begins */
    xb_curve_piece *piece; /* [pieces + 1], the last one starting at INFINITY */
    int64_t buckets, pieces;
} xb_curve_table;

/* lower <= t < upper. */
XB_BOTH double xb_curve_at(const xb_curve_table *curve, double t, double *slope)
{
    int64_t i = curve->first[(int64_t)((t - curve->lower) * curve->buckets_per_unit)];
    while (t >= curve->piece[i + 1].start) i++;
    const xb_curve_piece *p = &curve->piece[i];
    double s = (t - p->start) * p->inverse_width;
    const double *c = p->c;
    double value = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))));
    *slope = p->inverse_width *
             (c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (4 * c[4] + s * (5 * c[5])))));
    return value;
}

/* A(t) = E|t + z| of a standardised law, between the ends of the law; outside, A is |t|.
 */
typedef struct xb_meanabs {
    xb_curve_table curve;
} xb_meanabs;

XB_BOTH double xb_meanabs_at(const xb_meanabs *table, double t, double *slope)
{
    if (t >= table->curve.lower && t < table->curve.upper)
        return xb_curve_at(&table->curve, t, slope);
    *slope = t > 0 ? 1 : -1;
    return fabs(t);
}

/* ---- the tables of a prior */

/* Nodes and weights [n]. */
typedef struct xb_cross_rule {
    const double *node, *weight;
    int64_t n;
} xb_cross_rule;

typedef enum xb_cross_kind {
    XB_CROSS_NORMAL,
    XB_CROSS_LAPLACE, /* meanabs */
    XB_CROSS_MIXTURE, /* meanabs, kappa, few, many, spike */
    XB_CROSS_RULE     /* any prior: few, the law's rule */
} xb_cross_kind;

typedef struct xb_cross {
    xb_cross_kind kind;
    xb_prior prior;
    xb_meanabs meanabs;       /* of the law */
    double wide, narrow;      /* scales of a mixture */
    double reach, many_below; /* which method to use: see xb_cross_spike() */
    xb_curve_table kappa;     /* the spike of |x| / narrow; 0 beyond the table */
    xb_cross_rule few, many;  /* of the law, standardised */
    xb_cross_rule spike;      /* across the spike: y, weight times kappa''(y) / 2 */
} xb_cross;

/* ---- priors of one weight */

XB_BOTH double xb_cross_log_normal(double x, double sd)
{
    return -0.5 * (x / sd) * (x / sd) - log(sd) - 0.5 * log(2 * M_PI);
}

/* Logarithms of the two parts of a mixture. */
XB_BOTH void xb_cross_parts(const xb_prior *p, double x, double part[2])
{
    part[0] = log(p->pi) + xb_cross_log_normal(x, p->s1);
    part[1] = log1p(-p->pi) + xb_cross_log_normal(x, p->s2);
}

XB_BOTH double xb_cross_log_density(const xb_prior *p, double x)
{
    double part[2];
    switch (p->kind) {
    case XB_PRIOR_NORMAL: return xb_cross_log_normal(x - p->mean, p->sd);  /* (V3) */
    case XB_PRIOR_LAPLACE: return -fabs(x) / p->scale - log(2 * p->scale); /* (V4) */
    case XB_PRIOR_MIXTURE: break;
    }
    xb_cross_parts(p, x, part); /* (V5); the larger part leads, so nothing overflows */
    return fmax(part[0], part[1]) + log1p(exp(-fabs(part[0] - part[1])));
}

XB_BOTH double xb_cross_slope(const xb_prior *p, double x)
{
    double part[2];
    switch (p->kind) {
    case XB_PRIOR_NORMAL: return -(x - p->mean) / (p->sd * p->sd);
    case XB_PRIOR_LAPLACE: return x == 0 ? 0 : -copysign(1 / p->scale, x);
    case XB_PRIOR_MIXTURE: break;
    }
    xb_cross_parts(p, x, part);
    double share = 1 / (1 + exp(part[1] - part[0])); /* of the first; 0 if exp is inf */
    return -x * (share / (p->s1 * p->s1) + (1 - share) / (p->s2 * p->s2));
}

/* ---- the spike of a mixture (V5, V6) */

XB_BOTH xb_kl_value xb_cross_value(double kl, double d_mu, double d_sigma)
{
    xb_kl_value v;
    v.kl = kl, v.d_mu = d_mu, v.d_sigma = d_sigma;
    return v;
}

/* By the law's Gauss rule: the spike seen at each node. */
XB_BOTH xb_kl_value xb_cross_by_rule(const xb_cross *s, const xb_cross_rule *rule,
                                     double mu, double sigma)
{
    xb_kl_value mean = xb_cross_value(0, 0, 0);
    double inverse = 1 / s->narrow, end = s->kappa.upper * s->narrow;
    if (mu + sigma * rule->node[0] > end || mu + sigma * rule->node[rule->n - 1] < -end)
        return mean; /* no node reaches the spike */
    for (int64_t i = 0; i < rule->n; i++) {
        double x = mu + sigma * rule->node[i], u = fabs(x) * inverse, slope;
        if (!(u < s->kappa.upper)) continue;
        mean.kl += rule->weight[i] * xb_curve_at(&s->kappa, u, &slope);
        slope = copysign(slope, -x) * inverse * rule->weight[i]; /* it falls outwards */
        mean.d_mu += slope;
        mean.d_sigma += slope * rule->node[i];
    }
    return mean;
}

/* By kernels |x - y| across the spike. (V6) */
XB_BOTH xb_kl_value xb_cross_by_kernels(const xb_cross *s, double mu, double sigma)
{
    xb_kl_value mean = xb_cross_value(0, 0, 0);
    double inverse = 1 / sigma, half = s->spike.node[s->spike.n - 1];
    if ((mu + half) * inverse < s->meanabs.curve.lower ||
        (mu - half) * inverse > s->meanabs.curve.upper)
        return mean; /* A is linear across the spike: the law does not reach it */
    for (int64_t k = 0; k < s->spike.n; k++) {
        double t = (mu - s->spike.node[k]) * inverse, slope;
        double a = xb_meanabs_at(&s->meanabs, t, &slope);
        mean.kl += s->spike.weight[k] * a;
        mean.d_mu += s->spike.weight[k] * slope;
        mean.d_sigma += s->spike.weight[k] * (a - t * slope);
    }
    mean.kl *= sigma;
    return mean;
}

#define XB_CROSS_FEW_BELOW 0.25 /* sigma / (reach narrow) up to which few points do */

/* E kappa(mu + sigma z) and its derivatives. */
XB_BOTH xb_kl_value xb_cross_spike(const xb_cross *s, double mu, double sigma)
{
    double ratio = sigma / (s->reach * s->narrow);
    if (ratio <= XB_CROSS_FEW_BELOW) return xb_cross_by_rule(s, &s->few, mu, sigma);
    if (ratio <= s->many_below) return xb_cross_by_rule(s, &s->many, mu, sigma);
    return xb_cross_by_kernels(s, mu, sigma);
}

/* ---- one weight, without the constant */

XB_BOTH xb_kl_value xb_cross_normal(const xb_cross *c, double mu, double sigma)
{
    double d = (mu - c->prior.mean) / c->prior.sd, s = sigma / c->prior.sd;
    return xb_cross_value(0.5 * (s * s + d * d), d / c->prior.sd,
                          s / c->prior.sd); /* (V3) */
}

XB_BOTH xb_kl_value xb_cross_laplace(const xb_cross *c, double mu, double sigma)
{
    double t = mu / sigma, slope, inverse = 1 / c->prior.scale;
    double a = xb_meanabs_at(&c->meanabs, t, &slope); /* (V4) */
    if (isinf(t)) return xb_cross_value(fabs(mu) * inverse, slope * inverse, 0);
    return xb_cross_value(sigma * a * inverse, slope * inverse,
                          (a - t * slope) * inverse);
}

XB_BOTH xb_kl_value xb_cross_mixture(const xb_cross *c, double mu, double sigma)
{
    double wide = 1 / c->wide, d = mu * wide, s = sigma * wide;
    xb_kl_value k = xb_cross_spike(c, mu, sigma); /* (V5) */
    return xb_cross_value(0.5 * (s * s + d * d) - k.kl, d * wide - k.d_mu,
                          s * wide - k.d_sigma);
}

XB_BOTH xb_kl_value xb_cross_by_law(const xb_cross *c, double mu, double sigma)
{
    xb_kl_value sum = xb_cross_value(0, 0, 0);
    for (int64_t i = 0; i < c->few.n; i++) {
        double z = c->few.node[i], x = mu + sigma * z, w = c->few.weight[i];
        double slope = w * xb_cross_slope(&c->prior, x);
        sum.kl -= w * xb_cross_log_density(&c->prior, x); /* (V2) */
        sum.d_mu -= slope;
        sum.d_sigma -= z * slope;
    }
    return sum;
}

XB_BOTH xb_kl_value xb_cross_at(const xb_cross *c, double mu, double sigma)
{
    switch (c->kind) {
    case XB_CROSS_NORMAL: return xb_cross_normal(c, mu, sigma);
    case XB_CROSS_LAPLACE: return xb_cross_laplace(c, mu, sigma);
    case XB_CROSS_MIXTURE: return xb_cross_mixture(c, mu, sigma);
    case XB_CROSS_RULE: break;
    }
    return xb_cross_by_law(c, mu, sigma);
}

/* (V2) Its share of the KL without the constant; if gradients are wanted, `weight` times
 * them is added. */
XB_BOTH double xb_cross_add(const xb_cross *c, float *grad_mu, float *grad_sigma,
                            float mu, float sigma, double weight)
{
    double s = sigma;
    xb_kl_value v = xb_cross_at(c, (double)mu, s);
    if (grad_mu) {
        *grad_mu += (float)(weight * v.d_mu);
        *grad_sigma += (float)(weight * (v.d_sigma - 1 / s));
    }
    return v.kl - log(s);
}

#endif
