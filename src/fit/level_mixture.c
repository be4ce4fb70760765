/* level_mixture.c: a mixture of k Gaussian levels on weighted points: EM (Dempster, Laird
 * & Rubin 1977), which converges from any start, followed by Newton's method with the
 * exact Hessian; maths F16. Cost of a step: points times levels exponentials, and for
 * Newton's points times variables squared over two. */
#include "fit/level_mixture.h"

#include <math.h>
#include <string.h>

enum { MOST = XB_LAW_MODES };

int xb_level_mixture_variables(const xb_level_mixture *m)
{
    return m->n + (m->common ? 1 : m->n) + m->n - 1;
}

static int width_at(const xb_level_mixture *m, int i)
{
    return m->n + (m->common ? 0 : i);
}
static int logit_at(const xb_level_mixture *m, int i)
{
    return m->n + (m->common ? 1 : m->n) + i - 1; /* 1 <= i */
}

static void to_theta(double *theta, const xb_level_mixture *m)
{
    for (int i = 0; i < m->n; i++) {
        theta[i] = m->at[i].mean;
        theta[width_at(m, i)] = log(m->at[i].sd);
        if (i > 0) theta[logit_at(m, i)] = log(m->at[i].weight / m->at[0].weight);
    }
}

void xb_level_mixture_from_theta(xb_level_mixture *m, const double *theta)
{
    double sum = 0;
    for (int i = 0; i < m->n; i++) {
        double weight = i > 0 ? exp(theta[logit_at(m, i)]) : 1;
        m->at[i] = (xb_law_mode){weight, theta[i], exp(theta[width_at(m, i)])};
        sum += weight;
    }
    for (int i = 0; i < m->n; i++) m->at[i].weight /= sum;
}

/* Finds the share of each level in the density at x; returns the log density. */
static double shares_at(double *share, const xb_level_mixture *m, const double *head,
                        double x)
{
    double largest = -INFINITY, sum = 0;
    for (int i = 0; i < m->n; i++) {
        double y = (x - m->at[i].mean) / m->at[i].sd;
        share[i] = head[i] - 0.5 * y * y;
        largest = fmax(largest, share[i]);
    }
    for (int i = 0; i < m->n; i++) sum += share[i] = exp(share[i] - largest);
    for (int i = 0; i < m->n; i++) share[i] /= sum;
    return largest + log(sum);
}

static void heads(double *head, const xb_level_mixture *m)
{
    for (int i = 0; i < m->n; i++)
        head[i] = log(m->at[i].weight / m->at[i].sd) - 0.5 * log(2 * M_PI);
}

/* (F16) Does one step; returns the mean log density before it. */
static double em_step(xb_level_mixture *m, const xb_points *points, double thinnest)
{
    double head[MOST], share[MOST], mass[MOST] = {0}, first[MOST] = {0}, value = 0;
    double second[MOST] = {0}, all = 0;
    heads(head, m);
    for (int64_t j = 0; j < points->n; j++) {
        double count = points->count[j];
        value += count * shares_at(share, m, head, points->x[j]);
        for (int i = 0; i < m->n; i++) {
            double d = points->x[j] - m->at[i].mean, part = count * share[i];
            mass[i] += part, first[i] += part * d, second[i] += part * d * d;
        }
    }
    const double empty = 1e-9;
    for (int i = 0; i < m->n; i++) {
        double part = fmax(mass[i], empty * points->total), shift = first[i] / part;
        double variance = fmax(second[i] / part - shift * shift, thinnest * thinnest);
        m->at[i] =
            (xb_law_mode){part / points->total, m->at[i].mean + shift, sqrt(variance)};
        all += part * variance;
    }
    for (int i = 0; i < m->n && m->common; i++) m->at[i].sd = sqrt(all / points->total);
    return value / points->total;
}

double xb_level_mixture_em(xb_level_mixture *m, const xb_points *points, int steps,
                           double thinnest)
{
    double value = -INFINITY;
    for (int s = 0; s < steps; s++) value = em_step(m, points, thinnest);
    return value;
}

/* ---- Newton's method */

typedef struct mixture_data {
    const xb_points *points;
    const xb_level_mixture *shape; /* n and common */
} mixture_data;

enum { VARIABLES = XB_VARIABLES_MAX };

typedef struct mixture_sums {
    double value, g[VARIABLES], h[VARIABLES][VARIABLES]; /* lower triangle */
} mixture_sums;

/* (F16) One point: with r_i the shares and l_i the log of a level's part, the gradient is
 * sum r_i l_i' and the Hessian sum r_i (l_i'' + l_i' l_i'^T) less the gradient's square.
 */
static void add_point(mixture_sums *to, const xb_level_mixture *m, const double *share,
                      double x, double count)
{
    double g[VARIABLES] = {0};
    const int n = xb_level_mixture_variables(m);
    for (int i = 0; i < m->n; i++) {
        double inverse = 1 / m->at[i].sd, y = (x - m->at[i].mean) * inverse;
        double by_x = y * inverse, by_s = y * y - 1, r = share[i], part = count * r;
        int w = width_at(m, i);
        g[i] += r * by_x;
        g[w] += r * by_s;
        to->h[i][i] += part * (by_x * by_x - inverse * inverse);
        to->h[w][i] += part * by_x * (by_s - 2);
        to->h[w][w] += part * (by_s * by_s - 2 * y * y);
        if (i == 0) continue;
        int a = logit_at(m, i);
        g[a] += r - m->at[i].weight;
        to->h[a][i] += part * by_x;
        to->h[a][w] += part * by_s;
        to->h[a][a] += part;
    }
    for (int a = 0; a < n; a++) {
        to->g[a] += count * g[a];
        for (int b = 0; b <= a; b++) to->h[a][b] -= count * g[a] * g[b];
    }
    /* the logits' common part: l_i' has -p_b at every logit b of every level i */
    for (int i = 1; i < m->n; i++) {
        int a = logit_at(m, i);
        double p = m->at[i].weight;
        for (int b = 0; b < m->n; b++) to->h[a][b] -= count * p * g[b];
        for (int b = 0; b < (m->common ? 1 : m->n); b++)
            to->h[a][m->n + b] -= count * p * g[m->n + b];
        for (int k = 1; k <= i; k++) {
            int b = logit_at(m, k);
            double q = m->at[k].weight;
            to->h[a][b] -= count * (share[i] * q + share[k] * p - 2 * p * q);
            if (k == i) to->h[a][b] -= count * p;
        }
    }
}

static double objective(void *arg, const double *theta, double *gradient, double *hessian)
{
    const mixture_data *d = arg;
    xb_level_mixture m = *d->shape;
    double head[MOST], share[MOST], total = d->points->total;
    mixture_sums sums = {.value = 0};
    xb_level_mixture_from_theta(&m, theta);
    heads(head, &m);
    for (int64_t j = 0; j < d->points->n; j++) {
        double x = d->points->x[j], count = d->points->count[j];
        sums.value += count * shares_at(share, &m, head, x);
        add_point(&sums, &m, share, x, count);
    }
    const int n = xb_level_mixture_variables(&m);
    for (int a = 0; a < n; a++) {
        gradient[a] = sums.g[a] / total;
        for (int b = 0; b <= a && hessian; b++)
            hessian[a * n + b] = hessian[b * n + a] = sums.h[a][b] / total;
    }
    return isnan(sums.value) ? -INFINITY : sums.value / total;
}

xb_optimum xb_level_mixture_newton(xb_problem *p, xb_level_mixture *m,
                                   const xb_points *points, double thinnest, double aim)
{
    const double logit_most = 16;
    double theta[VARIABLES] = {0};
    const xb_level_mixture shape = *m;
    mixture_data data = {points, &shape};
    *p = (xb_problem){.f = objective, .arg = &data, .n = xb_level_mixture_variables(m)};
    p->aim = aim;
    for (int i = 0; i < p->n; i++) {
        bool width = i >= m->n && i < logit_at(m, 1), place = i < m->n;
        p->lower[i] = place ? -1e6 : width ? log(thinnest) : -logit_most;
        p->upper[i] = place ? 1e6 : width ? 14 : logit_most;
    }
    to_theta(theta, m);
    for (int i = 0; i < p->n; i++)
        theta[i] = fmax(p->lower[i], fmin(p->upper[i], theta[i]));
    xb_optimum best = xb_newton(p, theta);
    xb_level_mixture_from_theta(m, best.theta);
    p->arg = NULL; /* the data that it points to end with this call */
    return best;
}
