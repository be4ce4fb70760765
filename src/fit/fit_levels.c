/* fit_levels.c: how many Gaussian levels a sample has, and which; maths F16.
 *
 * k levels grow from k - 1: every level is split in turn, one is added at either end, and
 * k levels are spread evenly. Each try takes a few steps of EM on about a thousand
 * points, the best two continue, and Newton's method finishes the better one, with one
 * width for all levels and with one each. k and the kind of width are those of the least
 * BIC, which counts the sample as n_eff values; a kind is dropped when a further level
 * has not helped. The chosen mixture is then optimised on the whole (condensed) sample.
 * 1e5 values: 10 to 100 ms.
 *
 * The law found has mean 0 and variance 1, so offset and scale are the mean and the
 * standard deviation of what was fitted. Errors by the delta method from the observed
 * information. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fit/fit_family.h"
#include "fit/level_mixture.h"

enum { MOST = XB_LAW_MODES, ROUGH = 1024, TRY_STEPS = 8, GOOD_STEPS = 40 };

static const double SEARCH_AIM = 1e-5; /* gradient that is small enough to count levels */
/* The least width on the rough points, which are far apart. */
static const double ROUGH_WIDTH = 0.02;

typedef struct level_search {
    const xb_fit_task *task;
    xb_points fine, rough; /* (x - mean) / sd */
    double thinnest;       /* smallest width, in the same units */
} level_search;

/* A fitted mixture with what its errors need. */
typedef struct candidate {
    xb_level_mixture m;
    xb_problem problem;
    xb_optimum at;
    double bic;
} candidate;

/* (F2) Joins neighbouring points until about ROUGH of them are left. */
static xb_status make_rough(xb_ctx *ctx, xb_points *out, const xb_points *fine)
{
    int64_t together = (fine->n + ROUGH - 1) / ROUGH;
    int64_t n = (fine->n + together - 1) / together;
    *out = (xb_points){.x = xb_new(ctx, 2 * n, sizeof *out->x), .total = fine->total};
    if (!out->x) return XB_E_MEMORY;
    out->count = out->x + n;
    out->n = n;
    for (int64_t i = 0; i < fine->n; i++) {
        int64_t at = i / together;
        out->x[at] += fine->count[i] * fine->x[i];
        out->count[at] += fine->count[i];
    }
    for (int64_t i = 0; i < n; i++) out->x[i] /= out->count[i];
    return XB_OK;
}

/* The position below which the share u of the rough points lies. */
static double rough_quantile(const level_search *s, double u)
{
    double sum = 0;
    for (int64_t i = 0; i < s->rough.n; i++)
        if ((sum += s->rough.count[i]) >= u * s->rough.total) return s->rough.x[i];
    return s->rough.x[s->rough.n - 1];
}

/* ---- starts */

static xb_level_mixture spread_evenly(const level_search *s, int k)
{
    xb_level_mixture m = {.n = k, .common = true};
    for (int i = 0; i < k; i++)
        m.at[i] = (xb_law_mode){1.0 / k, rough_quantile(s, (i + 0.5) / k), 1.0 / k};
    return m;
}

/* Replaces level i by two, half a width to either side. */
static xb_level_mixture split_level(const xb_level_mixture *from, int i)
{
    xb_level_mixture m = *from;
    xb_law_mode *one = &m.at[i], *two = &m.at[m.n++];
    one->weight *= 0.5;
    one->sd *= 0.7;
    *two = *one;
    one->mean -= one->sd;
    two->mean += one->sd;
    return m;
}

/* Adds a small level beyond the others, where 2 % of the sample are. */
static xb_level_mixture add_at_end(const level_search *s, const xb_level_mixture *from,
                                   bool upper)
{
    const double share = 0.02;
    xb_level_mixture m = *from;
    for (int i = 0; i < m.n; i++) m.at[i].weight *= 1 - share;
    double x = rough_quantile(s, upper ? 1 - 0.5 * share : 0.5 * share);
    m.at[m.n++] = (xb_law_mode){share, x, 0.1};
    return m;
}

typedef struct two_best {
    xb_level_mixture m[2];
    double value[2];
} two_best;

static void try_start(two_best *best, const level_search *s, xb_level_mixture m,
                      bool common)
{
    m.common = common;
    double value = xb_level_mixture_em(&m, &s->rough, TRY_STEPS, ROUGH_WIDTH);
    int at = value > best->value[0] ? 0 : value > best->value[1] ? 1 : 2;
    if (at == 0) best->m[1] = best->m[0], best->value[1] = best->value[0];
    if (at < 2) best->m[at] = m, best->value[at] = value;
}

static double bic_of(const level_search *s, const candidate *c)
{
    const xb_fit_sample *info = &s->task->sample->info;
    return -2 * c->at.value * info->n_effective +
           xb_level_mixture_variables(&c->m) * log(info->n_effective); /* (F5) */
}

/* The best mixture of one level more than `from`. */
static candidate grow(const level_search *s, const xb_level_mixture *from, bool common)
{
    two_best best = {.value = {-INFINITY, -INFINITY}};
    for (int i = 0; i < from->n; i++) try_start(&best, s, split_level(from, i), common);
    try_start(&best, s, add_at_end(s, from, false), common);
    try_start(&best, s, add_at_end(s, from, true), common);
    try_start(&best, s, spread_evenly(s, from->n + 1), common);
    for (int i = 0; i < 2; i++)
        best.value[i] =
            xb_level_mixture_em(&best.m[i], &s->rough, GOOD_STEPS, ROUGH_WIDTH);
    candidate c = {.m = best.m[best.value[1] > best.value[0]]};
    c.at = xb_level_mixture_newton(&c.problem, &c.m, &s->fine, s->thinnest, SEARCH_AIM);
    c.bic = bic_of(s, &c);
    return c;
}

/* One level, which is the Gaussian. */
static candidate single(const level_search *s)
{
    candidate c = {.m = {.n = 1, .common = true, .at = {{1, 0, 1}}}};
    c.at = xb_level_mixture_newton(&c.problem, &c.m, &s->fine, s->thinnest, SEARCH_AIM);
    c.bic = bic_of(s, &c);
    return c;
}

static int by_mean(const void *a, const void *b)
{
    double x = ((const xb_law_mode *)a)->mean, y = ((const xb_law_mode *)b)->mean;
    return (x > y) - (x < y);
}

/* Finds the optimum on the whole sample, with the levels in ascending order. */
static void finish(candidate *c, const level_search *s)
{
    int before = c->at.iterations;
    qsort(c->m.at, (size_t)c->m.n, sizeof *c->m.at, by_mean);
    c->at = xb_level_mixture_newton(&c->problem, &c->m, &s->fine, s->thinnest, 0);
    c->at.iterations += before;
}

/* Finds the least BIC for one kind of width. */
static void search_kind(const level_search *s, candidate *best, bool common)
{
    candidate last = single(s);
    for (int k = 2; k <= MOST && k <= s->task->sample->info.distinct; k++) {
        double before = last.bic;
        last = grow(s, &last.m, common);
        if (last.bic < best->bic) *best = last;
        /* a third and a fourth level may help together where one alone does not */
        if (k > 2 && !(last.bic < before)) return;
    }
}

static void search(const level_search *s, candidate *best)
{
    *best = single(s);
    search_kind(s, best, true);
    search_kind(s, best, false);
    finish(best, s);
}

/* ---- the answer */

/* Writes positions, weights and widths in units of the law's own mean and standard
 * deviation (or relative to the given offset), then the standard deviation and the mean.
 */
static void answers(double *out, const xb_level_mixture *m, bool given, double offset)
{
    double mean = 0, variance = 0;
    for (int i = 0; i < m->n; i++) mean += m->at[i].weight * m->at[i].mean;
    for (int i = 0; i < m->n; i++) {
        double d = m->at[i].mean - mean;
        variance += m->at[i].weight * (d * d + m->at[i].sd * m->at[i].sd);
    }
    double sd = sqrt(variance), centre = given ? offset : mean;
    for (int i = 0; i < m->n; i++) {
        out[i] = (m->at[i].mean - centre) / sd;
        out[m->n + i] = m->at[i].weight;
        out[2 * m->n + i] = m->at[i].sd / sd;
    }
    out[3 * m->n] = sd;
    out[3 * m->n + 1] = centre;
}

/* (F6) Writes the variance of each answer: J cov J^T, with J by central differences. */
static void spread_errors(double *variance, const candidate *c, int count, bool given,
                          double offset)
{
    const double step = 1e-6;
    double cov[XB_VARIABLES_MAX * XB_VARIABLES_MAX], theta[XB_VARIABLES_MAX];
    double up[XB_FIT_NAMED_MAX], down[XB_FIT_NAMED_MAX];
    double slope[XB_FIT_NAMED_MAX][XB_VARIABLES_MAX];
    const int n = xb_level_mixture_variables(&c->m);
    xb_covariance(cov, &c->problem, &c->at);
    for (int v = 0; v < n; v++) {
        for (int side = 0; side < 2; side++) {
            xb_level_mixture m = c->m;
            memcpy(theta, c->at.theta, sizeof theta);
            theta[v] += side ? -step : step;
            xb_level_mixture_from_theta(&m, theta);
            answers(side ? down : up, &m, given, offset);
        }
        for (int i = 0; i < count; i++) slope[i][v] = (up[i] - down[i]) / (2 * step);
    }
    for (int i = 0; i < count; i++) {
        variance[i] = 0;
        for (int v = 0; v < n; v++)
            for (int w = 0; w < n; w++)
                variance[i] += slope[i][v] * cov[v * n + w] * slope[i][w];
    }
}

static void describe(xb_fit_family *out, const candidate *c, const level_search *s)
{
    const xb_fit_sample *info = &s->task->sample->info;
    const int k = c->m.n, count = 3 * k + 2;
    bool given = s->task->opt->has_fixed_offset;
    double value[XB_FIT_NAMED_MAX] = {0}, variance[XB_FIT_NAMED_MAX] = {0};
    double unit = s->task->inflate / sqrt((double)info->n);
    double offset = (s->task->offset - info->mean) / info->sd;
    answers(value, &c->m, given, offset);
    spread_errors(variance, c, count, given, offset);
    const double exact =
        1e-10; /* of a variance: below it the answer does not depend on the fit */
    for (int i = 0; i < 3 * k; i++) {
        char name[16];
        snprintf(name, sizeof name, "%c%d", "xps"[i / k], i % k + 1);
        xb_fit_name(out, name, value[i],
                    variance[i] > exact ? sqrt(variance[i]) * unit : NAN);
    }
    xb_fit_name(out, "scale", info->sd * value[3 * k],
                info->sd * sqrt(variance[3 * k]) * unit);
    xb_fit_name(out, "offset",
                given ? s->task->offset : info->mean + info->sd * value[3 * k + 1],
                given ? NAN : info->sd * sqrt(variance[3 * k + 1]) * unit);
    out->n_param = xb_level_mixture_variables(&c->m);
    out->converged = c->at.converged;
    out->iterations = c->at.iterations;
    out->gradient_norm = c->at.gradient_norm;
    out->log_likelihood = (double)info->n * (c->at.value - log(info->sd));
}

xb_status xb_fit_levels(xb_ctx *ctx, xb_fit_family *out, const xb_fit_task *task)
{
    const xb_sample *s = task->sample;
    level_search all = {.task = task};
    XB_TRY(xb_points_make(ctx, &all.fine, s->sorted, s->n));
    for (int64_t i = 0; i < all.fine.n; i++)
        all.fine.x[i] = (all.fine.x[i] - s->info.mean) / s->info.sd;
    xb_status status = make_rough(ctx, &all.rough, &all.fine);
    candidate *best = xb_new(ctx, 1, sizeof *best);
    if (status == XB_OK && !best) status = XB_E_MEMORY;
    if (status == XB_OK) {
        const double least = 2e-3, of_range = 2e-5; /* as bimodal's; a law can have */
        double range = (s->info.max - s->info.min) / s->info.sd;
        all.thinnest = fmax(fmax(least, of_range * range),
                            xb_level_reach(s->step, s->info.distinct) / s->info.sd);
        search(&all, best);
        describe(out, best, &all);
    }
    free(best);
    xb_points_free(&all.rough);
    xb_points_free(&all.fine);
    return status;
}
