/* mixture.c: cdf, log density and quantiles of a mixture over draws, of normal components
 * or of Student's t (P9); maths C3, C4, C6, C7.
 *
 * Quantiles by Halley's steps inside a shrinking bracket, started on the grid that the
 * CRPS has made: two evaluations of the mixture each. The versions without a group are
 * one Newton step away. A mixture without any spread is a sample, so its quantiles are
 * order statistics. Quantiles agree with their cdf to 1e-12 (tests/test_score.c). */
#include "compare/mixture.h"

#include <float.h>
#include <string.h>

static void order_means(xb_point *p)
{
    const xb_jackknife *g = p->groups;
    for (int b = 0; b < g->count; b++)
        for (int64_t s = g->start[b]; s < g->start[b + 1]; s++)
            p->sorted[s] = (xb_tagged){p->m[s], b, 0};
    xb_tagged_sort(p->sorted, p->spare, p->draws);
}

void xb_point_prepare(xb_point *p)
{
    const double far = p->heavy ? XB_STUDENT_END : XB_NORMAL_FAR;
    p->a_min = p->lower = INFINITY;
    p->a_max = p->upper = -INFINITY;
    for (int64_t s = 0; s < p->draws; s++) {
        double a = p->a[s], m = p->m[s];
        p->inverse[s] = a >= DBL_MIN ? 1 / a : 0;
        p->a_min = fmin(p->a_min, a);
        p->a_max = fmax(p->a_max, a);
        p->lower = fmin(p->lower, m - far * a);
        p->upper = fmax(p->upper, m + far * a);
    }
    p->discrete = p->a_max < DBL_MIN;
    p->grid.count = 0;
    if (p->discrete) order_means(p);
}

/* The part of a point mass at m that lies below z. */
static double step_at(double z, double m) { return z > m ? 1 : z == m ? 0.5 : 0; }

typedef struct sums {
    double cdf[XB_JACKKNIFE_GROUPS],
        pdf[XB_JACKKNIFE_GROUPS]; /* sums over the draws of each group */
    double slope;                 /* slope of the density, sum over all draws */
} sums;

/* (P9) The same of heavy components. */
static void heavy_sums_at(sums *out, const xb_point *p, double z)
{
    const xb_jackknife *g = p->groups;
    out->slope = 0;
    for (int b = 0; b < g->count; b++) {
        double cdf = 0, pdf = 0;
        for (int64_t s = g->start[b]; s < g->start[b + 1]; s++) {
            const xb_student_table *heavy = xb_heavy_of(p->heavy, p->members, s);
            const double scale = p->inverse[s], t = (z - p->m[s]) * scale;
            if (scale == 0) {
                cdf += step_at(z, p->m[s]);
                continue;
            }
            const xb_student_pair at = xb_student_above(heavy, fabs(t));
            const double density = at.pdf * scale, nu = heavy->degrees;
            cdf += t > 0 ? 1 - at.above : at.above;
            pdf += density;
            out->slope -= (nu + 1) * t / (nu + t * t) * density * scale;
        }
        out->cdf[b] = cdf;
        out->pdf[b] = pdf;
    }
}

static void sums_at(sums *out, const xb_point *p, double z)
{
    const xb_jackknife *g = p->groups;
    if (p->heavy) {
        heavy_sums_at(out, p, z);
        return;
    }
    out->slope = 0;
    for (int b = 0; b < g->count; b++) {
        double cdf = 0, pdf = 0;
        for (int64_t s = g->start[b]; s < g->start[b + 1]; s++) {
            double scale = p->inverse[s], t = (z - p->m[s]) * scale;
            if (scale == 0) {
                cdf += step_at(z, p->m[s]);
                continue;
            }
            xb_normal_pair at = xb_normal_at(p->normal, t);
            double density = at.pdf * scale;
            cdf += at.cdf;
            pdf += density;
            out->slope -= t * density * scale;
        }
        out->cdf[b] = cdf;
        out->pdf[b] = pdf;
    }
}

void xb_mixture_pit(double *version, const xb_point *p, double y)
{
    sums at;
    sums_at(&at, p, y);
    xb_jackknife_fold(version, at.cdf, p->groups);
    for (int v = 0; v < p->groups->versions; v++) {
        double kept = p->groups->kept[v];
        version[v] = p->discrete ? (version[v] + 0.5) / (kept + 1) /* (C6) */
                                 : version[v] / kept;
    }
}

/* log N(y; m, sd^2); a point mass is infinite at its position and 0 elsewhere. */
static double log_normal(double y, double m, double sd)
{
    if (sd < DBL_MIN) return y == m ? INFINITY : -INFINITY;
    double t = (y - m) / sd;
    return -0.5 * t * t - log(sd);
}

/* (P9) The same of m plus `scale` times Student's t; here with its constant. */
static double log_student(const xb_student_table *heavy, double y, double m, double scale)
{
    if (scale < DBL_MIN) return y == m ? INFINITY : -INFINITY;
    return xb_student_log_pdf(heavy, (y - m) / scale) - log(scale);
}

void xb_log_add(xb_log_sum *l, double top, double sum)
{
    if (top == -INFINITY) return;
    if (top == INFINITY && l->top == INFINITY) {
        l->sum += sum;
    } else if (top > l->top) {
        l->sum = sum + l->sum * exp(l->top - top);
        l->top = top;
    } else {
        l->sum += sum * exp(top - l->top);
    }
}

void xb_log_means(double *version, const xb_log_sum group[XB_JACKKNIFE_GROUPS],
                  const xb_jackknife *g, double constant)
{
    for (int v = 0; v < g->versions; v++) {
        xb_log_sum all = {-INFINITY, 0};
        for (int b = 0; b < g->count; b++)
            if (b != v - 1) xb_log_add(&all, group[b].top, group[b].sum);
        version[v] =
            all.sum > 0 ? all.top + log(all.sum / g->kept[v]) - constant : -INFINITY;
    }
}

void xb_mixture_log_density(double *version, const xb_point *p, const double *sd,
                            double y)
{
    const xb_jackknife *g = p->groups;
    xb_log_sum group[XB_JACKKNIFE_GROUPS];
    for (int b = 0; b < g->count; b++) {
        group[b] = (xb_log_sum){-INFINITY, 0};
        for (int64_t s = g->start[b]; s < g->start[b + 1]; s++)
            xb_log_add(&group[b],
                       p->heavy ? log_student(xb_heavy_of(p->heavy, p->members, s), y,
                                              p->m[s], sd[s])
                                : log_normal(y, p->m[s], sd[s]),
                       1);
    }
    xb_log_means(version, group, g, p->heavy ? 0 : 0.5 * log(2 * M_PI)); /* (C3) */
}

void xb_mixture_joint_density(double *version, const xb_mixture *in, int64_t first,
                              int64_t targets, const double *y, const xb_jackknife *g,
                              const xb_student_table *heavy, int64_t members)
{
    const double constant = heavy ? 0 : 0.5 * (double)targets * log(2 * M_PI);
    xb_log_sum group[XB_JACKKNIFE_GROUPS];
    for (int b = 0; b < g->count; b++) {
        group[b] = (xb_log_sum){-INFINITY, 0};
        for (int64_t s = g->start[b]; s < g->start[b + 1]; s++) {
            const double *m = in->mean + s * in->n + first;
            const double *sd = in->sd + (in->sd_shared ? 0 : s * in->n) + first;
            double sum = 0;
            const xb_student_table *own = heavy ? xb_heavy_of(heavy, members, s) : NULL;
            for (int64_t k = 0; k < targets; k++)
                sum += own ? log_student(own, y[k], m[k], own->scale * sd[k])
                           : log_normal(y[k], m[k], sd[k]);
            xb_log_add(&group[b], sum, 1);
        }
    }
    xb_log_means(version, group, g, constant); /* (C30) */
}

/* (C7) Order statistics, linear between them; positions count from 1. */
static double order_quantile(const double *x, int64_t n, double level)
{
    double place = level * (double)(n + 1);
    if (place <= 1) return x[0];
    if (place >= (double)n) return x[n - 1];
    int64_t below = (int64_t)place;
    double part = place - (double)below;
    return x[below - 1] + part * (x[below] - x[below - 1]);
}

static void discrete_quantile(double *version, const xb_point *p, double level)
{
    for (int v = 0; v < p->groups->versions; v++) {
        int64_t kept = 0;
        for (int64_t s = 0; s < p->draws; s++)
            if (p->sorted[s].tag != v - 1) p->plain[kept++] = p->sorted[s].x;
        version[v] = order_quantile(p->plain, kept, level);
    }
}

typedef struct bracket {
    double low, high, guess;
} bracket;

/* The interval in which the grid's cdf passes the level. */
static bracket grid_bracket(const xb_point *p, double level)
{
    const xb_grid *g = &p->grid;
    if (g->count == 0) return (bracket){p->lower, p->upper, 0.5 * (p->lower + p->upper)};
    double want = level * (double)p->draws;
    int low = 0, high = g->count - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(g->all[middle] < want ? &low : &high) = middle;
    }
    double rise = g->all[high] - g->all[low];
    double part = rise > 0 ? (want - g->all[low]) / rise : 0.5;
    double left = g->start + low * g->step, right = left + g->step;
    if (p->heavy) { /* the last nodes are no bounds of a heavy tail */
        left = want <= g->all[0] ? p->lower : g->at[low];
        right = want >= g->all[g->count - 1] ? p->upper : g->at[high];
        return (bracket){left, right, left + fmin(fmax(part, 0), 1) * (right - left)};
    }
    return (bracket){left, right, left + fmin(fmax(part, 0), 1) * g->step};
}

static double total(const double *group, int count)
{
    double sum = 0;
    for (int b = 0; b < count; b++) sum += group[b];
    return sum;
}

/* One Halley step from z towards `want`; the result is meaningless if the density is
 * 0. */
static double halley(const sums *at, int count, double z, double want)
{
    double pdf = total(at->pdf, count);
    double newton = (total(at->cdf, count) - want) / pdf;
    return z - newton / (1 - 0.5 * newton * at->slope / pdf);
}

/* Returns the quantile; *z and *at are the last point evaluated, which is next to it. */
static double solve(const xb_point *p, double level, double *z, sums *at)
{
    enum { STEPS = 200 };
    const double close = 1e-4; /* in units of the sd: the remaining error is of the order
                                  of its cube */
    bracket b = grid_bracket(p, level);
    double want = level * (double)p->draws, next = b.guess;
    for (int i = 0; i < STEPS; i++) {
        *z = next;
        sums_at(at, p, *z);
        *(total(at->cdf, p->groups->count) > want ? &b.high : &b.low) = *z;
        next = halley(at, p->groups->count, *z, want);
        bool inside = next >= b.low && next <= b.high;
        if (inside && fabs(next - *z) <= close * p->a_min) break;
        if (!inside) next = 0.5 * (b.low + b.high);
        if (b.high - b.low <= 4 * DBL_EPSILON * (fabs(b.low) + fabs(b.high))) break;
    }
    return next;
}

/* (C45) Bounds of a version's quantile, from the grid of all draws. */
static void version_bounds(double *low, double *high, const xb_point *p, double level,
                           double kept)
{
    const double share = kept / (double)p->draws;
    *low = grid_bracket(p, level * share).low;
    *high = grid_bracket(p, level * share + 1 - share).high;
}

void xb_mixture_quantile(double *version, const xb_point *p, double level)
{
    if (p->discrete) {
        discrete_quantile(version, p, level);
        return;
    }
    sums at;
    double z, cdf[XB_VERSIONS], pdf[XB_VERSIONS];
    double found = solve(p, level, &z, &at);
    xb_jackknife_fold(cdf, at.cdf, p->groups);
    xb_jackknife_fold(pdf, at.pdf, p->groups);
    for (int v = 1; v < p->groups->versions; v++) {
        double step = pdf[v] > 0 ? (cdf[v] - level * p->groups->kept[v]) / pdf[v] : 0;
        double low = p->lower, high = p->upper;
        if (p->heavy) version_bounds(&low, &high, p, level, p->groups->kept[v]);
        version[v] = fmin(fmax(z - step, low), high);
    }
    version[0] = found;
}

double xb_mixture_kernel(const xb_point *p, double sd)
{
    const double scott = 1.06, normal_range = 1.34; /* (C4) */
    for (int64_t s = 0; s < p->draws; s++) p->plain[s] = p->sorted[s].x;
    double range = order_quantile(p->plain, p->draws, 0.75) -
                   order_quantile(p->plain, p->draws, 0.25);
    double spread = range > 0 ? fmin(sd, range / normal_range) : sd;
    return scott * spread * pow((double)p->draws, -0.2);
}
