/* charfn.c: the characteristic function of a law, in two forms; maths E2, E3.
 *
 * A table: phi and its first three derivatives by a quadrature rule of the law at
 * equally spaced x, joined by polynomials of degree 7: error step^8 E z^8 / 10321920,
 * 2e-15 for z near Gaussian (worst measured against the closed form of `bimodal`:
 * 1e-15). The nodes' phases turn by a fixed angle from one x to the next. The other form
 * is a series of log phi in cumulants, for weights so small that only their power sums
 * count; its range is measured against the table. */
#include "predict/charfn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "rule/standard.h"

enum { CELLS = 4096, NODES = 1024 };
static const double STEP = 1.0 / 16;
static const double SERIES_ERROR = 1e-11, REACH_MOST = 3, REACH_SHRINK = 0.9;

void xb_charfn_free(xb_charfn *c)
{
    free(c->re);
    free(c->im);
    free(c->envelope);
    *c = (xb_charfn){0};
}

/* ---- cumulants */

/* (E3) k_n / n! from m_n / n! of a standardised law: n k_n = n m_n - sum j k_j m_(n-j) */
static void cumulants(double *series, const xb_rule *rule)
{
    double m[XB_CUMULANTS + 1] = {0};
    for (int64_t i = 0; i < rule->n; i++) {
        double term = rule->weights[i];
        for (int n = 0; n <= XB_CUMULANTS; n++) {
            m[n] += term;
            term *= rule->nodes[i] / (n + 1);
        }
    }
    series[0] = 0;
    for (int n = 1; n <= XB_CUMULANTS; n++) {
        double sum = n * m[n];
        for (int j = 1; j < n; j++) sum -= j * series[j] * m[n - j];
        series[n] = sum / n;
    }
}

/* The law's rule moved to mean 0 and variance 1, its weights adding up to 1. */
static xb_status standard_rule(xb_ctx *ctx, xb_rule *rule, const xb_law *law)
{
    XB_TRY(xb_rule_fill_composite(ctx, rule, law, NODES, XB_COMPOSITE_SMOOTH, NULL));
    double sum = 0, mean = xb_law_mean(law), sd = xb_law_sd(law);
    for (int64_t i = 0; i < rule->n; i++) {
        rule->nodes[i] = (rule->nodes[i] - mean) / sd;
        sum += rule->weights[i];
    }
    for (int64_t i = 0; i < rule->n; i++) rule->weights[i] /= sum;
    return XB_OK;
}

/* ---- the table */

typedef struct jet {
    double d[4]; /* one part, real or imaginary, and its derivatives at one x */
} jet;

/* The polynomial in r = (x - x_k) / step that meets both ends to third order. */
static void join(double *c, const jet *a, const jet *b)
{
    const double h = STEP, hh = h * h, hhh = h * h * h;
    c[0] = a->d[0], c[1] = h * a->d[1], c[2] = hh * a->d[2] / 2, c[3] = hhh * a->d[3] / 6;
    double e0 = b->d[0] - (c[0] + c[1] + c[2] + c[3]);
    double e1 = h * b->d[1] - (c[1] + 2 * c[2] + 3 * c[3]);
    double e2 = (hh * b->d[2] - (2 * c[2] + 6 * c[3])) / 2;
    double e3 = (hhh * b->d[3] - 6 * c[3]) / 6;
    c[4] = 35 * e0 - 15 * e1 + 5 * e2 - e3;
    c[5] = -84 * e0 + 39 * e1 - 14 * e2 + 3 * e3;
    c[6] = 70 * e0 - 34 * e1 + 13 * e2 - 3 * e3;
    c[7] = -20 * e0 + 10 * e1 - 4 * e2 + e3;
}

/* phi = sum of w exp(i x z): both parts with three derivatives, the phases given. */
static void sum_jets(jet *re, jet *im, const xb_rule *rule, const double *cosine,
                     const double *sine)
{
    double c0 = 0, c1 = 0, c2 = 0, c3 = 0, s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int64_t i = 0; i < rule->n; i++) {
        double z = rule->nodes[i], c = rule->weights[i] * cosine[i];
        double s = rule->weights[i] * sine[i];
        c0 += c, c *= z, c1 += c, c *= z, c2 += c, c *= z, c3 += c;
        s0 += s, s *= z, s1 += s, s *= z, s2 += s, s *= z, s3 += s;
    }
    *re = (jet){{c0, -s1, -c2, s3}};
    *im = (jet){{s0, c1, -s2, -c3}};
}

enum { RENEW = 64 }; /* steps after which the phases are recomputed */

static void turn(double *cosine, double *sine, const double *step_c, const double *step_s,
                 int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double c = cosine[i] * step_c[i] - sine[i] * step_s[i];
        sine[i] = sine[i] * step_c[i] + cosine[i] * step_s[i];
        cosine[i] = c;
    }
}

static void phases(double *cosine, double *sine, const xb_rule *rule, double x)
{
    for (int64_t i = 0; i < rule->n; i++) {
        cosine[i] = cos(x * rule->nodes[i]);
        sine[i] = sin(x * rule->nodes[i]);
    }
}

/* room: [4][rule->n] */
static void fill_table(xb_charfn *c, const xb_rule *rule, double *room)
{
    double *cosine = room, *sine = room + rule->n;
    double *step_c = room + 2 * rule->n, *step_s = room + 3 * rule->n;
    jet re, im, next_re, next_im;
    phases(step_c, step_s, rule, STEP);
    phases(cosine, sine, rule, 0);
    sum_jets(&re, &im, rule, cosine, sine);
    for (int64_t k = 0; k < CELLS; k++, re = next_re, im = next_im) {
        if ((k + 1) % RENEW == 0)
            phases(cosine, sine, rule, STEP * (double)(k + 1));
        else
            turn(cosine, sine, step_c, step_s, rule->n);
        sum_jets(&next_re, &next_im, rule, cosine, sine);
        c->envelope[k] = hypot(re.d[0], im.d[0]);
        join(c->re + k * XB_CHARFN_TERMS, &re, &next_re);
        if (c->im) join(c->im + k * XB_CHARFN_TERMS, &im, &next_im);
    }
    c->envelope[CELLS] = 0;
    for (int64_t k = CELLS - 1; k >= 0; k--)
        c->envelope[k] = fmax(c->envelope[k], c->envelope[k + 1]);
}

xb_complex xb_charfn_at(const xb_charfn *c, double x)
{
    if (c->gaussian) return (xb_complex){exp(-0.5 * x * x), 0};
    xb_complex phi = {xb_charfn_real(c, x), 0};
    double at = fabs(x) * (1 / c->step);
    if (!c->im || !(at < (double)c->cells)) return phi;
    int64_t k = (int64_t)at;
    phi.im = copysign(1, x) * xb_charfn_poly(c->im + k * XB_CHARFN_TERMS, at - (double)k);
    return phi;
}

/* ---- how far the series reaches */

static xb_complex series_at(const xb_charfn *c, double x)
{
    double re = 0, im = 0, power = x;
    for (int n = 1; n <= XB_CUMULANTS; n++, power *= x) {
        double term = c->series[n] * power * (n % 4 < 2 ? 1 : -1);
        *(n % 2 ? &im : &re) += term;
    }
    return (xb_complex){exp(re) * cos(im), exp(re) * sin(im)};
}

static double measured_reach(const xb_charfn *c)
{
    double x = REACH_MOST;
    for (;; x *= REACH_SHRINK) {
        xb_complex a = series_at(c, x), b = xb_charfn_at(c, x);
        if (hypot(a.re - b.re, a.im - b.im) <= SERIES_ERROR) return x;
    }
}

static xb_status with_rule(xb_ctx *ctx, xb_charfn *c, const xb_rule *rule)
{
    double *room = xb_new(ctx, 4 * rule->n, sizeof *room);
    c->re = xb_new(ctx, CELLS * XB_CHARFN_TERMS, sizeof *c->re);
    c->envelope = xb_new(ctx, CELLS + 1, sizeof *c->envelope);
    if (!c->symmetric) c->im = xb_new(ctx, CELLS * XB_CHARFN_TERMS, sizeof *c->im);
    xb_status status = XB_E_MEMORY;
    if (room && c->re && c->envelope && (c->symmetric || c->im)) {
        cumulants(c->series, rule);
        for (int n = 1; c->symmetric && n <= XB_CUMULANTS; n += 2) c->series[n] = 0;
        c->step = STEP, c->cells = CELLS;
        fill_table(c, rule, room);
        c->reach = measured_reach(c);
        status = XB_OK;
    }
    free(room);
    return status;
}

xb_status xb_charfn_make(xb_ctx *ctx, xb_charfn *out, const xb_law *law)
{
    xb_moments moments = xb_law_moments(law);
    xb_charfn c = {.gaussian = xb_law_is_gaussian(law),
                   .symmetric = xb_law_is_symmetric(law),
                   .skewness = moments.skewness,
                   .excess_kurtosis = moments.excess_kurtosis};
    xb_rule rule;
    xb_status status = XB_OK;
    if (!c.gaussian) {
        XB_TRY(standard_rule(ctx, &rule, law));
        status = with_rule(ctx, &c, &rule);
        xb_rule_free(&rule);
    }
    if (status == XB_OK)
        *out = c;
    else
        xb_charfn_free(&c);
    return status;
}
