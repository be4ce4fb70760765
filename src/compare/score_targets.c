/* score_targets.c: scores of several targets at once; maths C30.
 *
 * Each target is scored as if it were alone (score_regression.c). Together a point has
 * the density of all its targets under the same weights, averaged over draws: where the
 * weights are uncertain the targets depend on each other, and the sum of their own log
 * densities would miss that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/count_scores.h"
#include "compare/mixture.h"
#include "compare/summary.h"
#include "compare/target_scorer.h"
#include "crossbayes/extend.h"

enum { PIECES = 64 };

struct xb_target_scorer {
    int64_t n, at, draws, targets;
    double interval;
    xb_regression_scorer **each; /* [targets] */
    double *mean, *sd, *y;       /* memory for one target of a part: [draws][part] twice,
                                    [part] */
    xb_jackknife groups;
    double *nll;          /* [versions][n]; for several targets */
    bool density;         /* whether predictives have noise, so that there is a joint
                             density */
    const xb_mixture *in; /* the current part ... */
    const double *all;    /* ... and its y; both are set only while it is added */
    double *size;         /* [targets][members] sizes for counts; NULL: other numbers */
    const xb_student_table *heavy; /* [members] for heavy tails; NULL: normal noise */
    int64_t members;
};

void xb_target_scorer_destroy(xb_target_scorer *s)
{
    if (!s) return;
    for (int64_t k = 0; s->each && k < s->targets; k++)
        xb_regression_scorer_destroy(s->each[k]);
    free(s->each);
    free(s->mean);
    free(s->nll);
    free(s->size);
    free(s);
}

static xb_status take_memory(xb_ctx *ctx, xb_target_scorer *s, int64_t part,
                             const xb_score_options *opt)
{
    const bool several = s->targets > 1;
    const int64_t values = several ? s->draws * part : 0;
    s->each = xb_new(ctx, s->targets, sizeof(xb_regression_scorer *));
    s->mean = xb_new(ctx, 2 * values + (several ? part : 0), sizeof *s->mean);
    s->nll = xb_new(ctx, several ? s->groups.versions * s->n : 0, sizeof *s->nll);
    if (!s->each || !s->mean || !s->nll) return XB_E_MEMORY;
    s->sd = s->mean + values;
    s->y = s->sd + values;
    for (int64_t k = 0; k < s->targets; k++)
        XB_TRY(xb_regression_scorer_create(ctx, &s->each[k], s->n, s->draws, opt));
    return XB_OK;
}

xb_status xb_target_scorer_create(xb_ctx *ctx, xb_target_scorer **out, int64_t n,
                                  int64_t part, int64_t draws, int64_t targets,
                                  const xb_score_options *opt)
{
    const xb_score_options standard = xb_score_options_default();
    if (targets < 1 || n < 1 || draws < 1)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "draws: %lld, points: %lld, targets: %lld; expected 1 or more of"
                       " each",
                       (long long)draws, (long long)n, (long long)targets);
    xb_target_scorer *s = xb_new(ctx, 1, sizeof *s);
    if (!s) return XB_E_MEMORY;
    *s = (xb_target_scorer){.n = n,
                            .draws = draws,
                            .targets = targets,
                            .interval = opt ? opt->interval : standard.interval,
                            .groups = xb_jackknife_make(draws)};
    xb_status status = take_memory(ctx, s, part, opt);
    if (status == XB_OK)
        *out = s;
    else
        xb_target_scorer_destroy(s);
    return status;
}

xb_status xb_target_scorer_count(xb_ctx *ctx, xb_target_scorer *s, const double *size,
                                 int64_t members)
{
    s->size = xb_new(ctx, s->targets * members, sizeof *s->size);
    s->members = members;
    if (!s->size) return XB_E_MEMORY;
    for (int64_t k = 0; k < s->targets; k++) {
        for (int64_t m = 0; m < members; m++)
            s->size[k * members + m] = size[m * s->targets + k];
        XB_TRY(
            xb_regression_scorer_count(ctx, s->each[k], s->size + k * members, members));
    }
    return XB_OK;
}

void xb_target_scorer_student(xb_target_scorer *s, const xb_student_table *heavy,
                              int64_t members)
{
    s->heavy = heavy, s->members = members;
    for (int64_t k = 0; k < s->targets; k++)
        xb_regression_scorer_student(s->each[k], heavy, members);
}

/* Copies target k of the part to where a scorer of numbers expects it. */
static xb_status add_target(xb_ctx *ctx, xb_target_scorer *s, int64_t k)
{
    const xb_mixture *in = s->in;
    const int64_t targets = s->targets, n = in->n / targets;
    const int64_t sds = !in->sd ? 0 : in->sd_shared ? 1 : in->draws;
    for (int64_t i = 0; i < in->draws * n; i++) s->mean[i] = in->mean[i * targets + k];
    for (int64_t i = 0; i < sds * n; i++) s->sd[i] = in->sd[i * targets + k];
    for (int64_t i = 0; i < n; i++) s->y[i] = s->all[i * targets + k];
    const xb_mixture one = {s->mean, in->sd ? s->sd : NULL, in->draws, n,
                            .sd_shared = in->sd_shared};
    return xb_regression_scorer_add(ctx, s->each[k], &one, s->y);
}

static void joint_piece(void *arg, int64_t piece)
{
    xb_target_scorer *s = arg;
    const int64_t targets = s->targets, n = s->in->n / targets;
    double version[XB_VERSIONS];
    for (int64_t i = n * piece / PIECES; i < n * (piece + 1) / PIECES; i++) {
        if (s->size)
            xb_count_joint_mass(version, s->in, i * targets, targets,
                                s->all + i * targets, s->size, s->members, &s->groups);
        else
            xb_mixture_joint_density(version, s->in, i * targets, targets,
                                     s->all + i * targets, &s->groups, s->heavy,
                                     s->members);
        for (int v = 0; v < s->groups.versions; v++)
            s->nll[v * s->n + s->at + i] = -version[v];
    }
}

xb_status xb_target_scorer_add(xb_ctx *ctx, xb_target_scorer *s,
                               const xb_mixture *predictive, const double *y)
{
    s->in = predictive;
    s->all = y;
    s->density = predictive->sd || s->size;
    if (s->targets == 1) return xb_regression_scorer_add(ctx, s->each[0], predictive, y);
    for (int64_t k = 0; k < s->targets; k++) XB_TRY(add_target(ctx, s, k));
    if (s->density) xb_parallel_for(ctx, PIECES, joint_piece, s);
    s->at += predictive->n / s->targets;
    return XB_OK;
}

/* The joint density of all targets; plain samples have none. */
static void score_joint(xb_scores *out, const xb_target_scorer *s)
{
    double *each = out->array[xb_scores_array_find(out, "nll")];
    double version[XB_VERSIONS];
    if (!s->density) return;
    memcpy(each, s->nll, (size_t)s->n * sizeof *each);
    for (int v = 0; v < s->groups.versions; v++)
        version[v] = xb_score_mean(s->nll + v * s->n, s->n).value;
    xb_score *nll = &out->score[XB_NUMBER_NLL];
    *nll = xb_score_mean(each, s->n);
    nll->mc_error = xb_score_mc_error(version, &s->groups);
}

/* The mean of all targets' shares. Points are independent, but targets of a point are
 * not; nor are their Monte Carlo errors, whose mean is an upper bound of the error of the
 * mean. */
static void score_coverage(xb_scores *out, const xb_target_scorer *s, double *inside)
{
    const double targets = (double)s->targets;
    xb_score *all = &out->score[XB_NUMBER_COVERAGE];
    double share = 0, mc_error = 0;
    for (int64_t k = 0; k < s->targets; k++) {
        const xb_score one = xb_scores_get(out->target[k], "coverage");
        const double *pit = xb_scores_array_get(out->target[k], "pit", NULL);
        share += one.value / targets;
        mc_error += one.mc_error / targets;
        for (int64_t i = 0; i < s->n; i++)
            inside[i] += (fabs(2 * pit[i] - 1) <= s->interval) / targets;
    }
    *all = (xb_score){share, xb_score_mean(inside, s->n).std_error, mc_error};
}

static xb_status sum_all(xb_ctx *ctx, xb_scores *out, xb_target_scorer *s)
{
    out->target = xb_new(ctx, s->targets, sizeof(xb_scores *));
    double *inside = xb_new(ctx, s->n, sizeof *inside);
    xb_status status = out->target && inside ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) out->targets = s->targets;
    for (int64_t k = 0; k < s->targets && status == XB_OK; k++)
        status = xb_regression_scorer_sum(ctx, &out->target[k], s->each[k]);
    for (int i = 0; i < xb_scores_array_count(out); i++) {
        int64_t size = 0;
        (void)xb_scores_array_at(out, i, &size);
        for (int64_t j = 0; j < size; j++) out->array[i][j] = NAN;
    }
    if (status == XB_OK) score_joint(out, s);
    if (status == XB_OK) score_coverage(out, s, inside);
    free(inside);
    return status;
}

xb_status xb_target_scorer_sum(xb_ctx *ctx, xb_scores **out, xb_target_scorer *s)
{
    if (s->targets == 1) return xb_regression_scorer_sum(ctx, out, s->each[0]);
    xb_scores *found = NULL;
    XB_TRY(xb_scores_create(ctx, &found, s->n, s->draws, 0, XB_CALIBRATION_LEVELS));
    xb_status status = sum_all(ctx, found, s);
    if (status == XB_OK)
        *out = found;
    else
        xb_scores_destroy(found);
    return status;
}

static xb_status score_all(xb_ctx *ctx, xb_scores **out, const xb_mixture *predictive,
                           const double *y, int64_t targets, const double *size,
                           const xb_student_table *heavy, int64_t members,
                           const xb_score_options *opt)
{
    const int64_t n = targets > 0 ? predictive->n / targets : 0;
    xb_target_scorer *s = NULL;
    if (n * targets != predictive->n)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld values cannot be split into %lld targets per point",
                       (long long)predictive->n, (long long)targets);
    XB_TRY(xb_target_scorer_create(ctx, &s, n, n, predictive->draws, targets, opt));
    xb_status status = size ? xb_target_scorer_count(ctx, s, size, members) : XB_OK;
    if (heavy) xb_target_scorer_student(s, heavy, members);
    if (status == XB_OK) status = xb_target_scorer_add(ctx, s, predictive, y);
    if (status == XB_OK) status = xb_target_scorer_sum(ctx, out, s);
    xb_target_scorer_destroy(s);
    return status;
}

xb_status xb_score_targets(xb_ctx *ctx, xb_scores **out, const xb_mixture *predictive,
                           const double *y, int64_t targets, const xb_score_options *opt)
{
    return score_all(ctx, out, predictive, y, targets, NULL, NULL, 0, opt);
}

xb_status xb_score_counts(xb_ctx *ctx, xb_scores **out, const xb_mixture *predictive,
                          const double *y, int64_t targets, const double *size,
                          int64_t members)
{
    return score_all(ctx, out, predictive, y, targets, size, NULL, members, NULL);
}

xb_status xb_score_student(xb_ctx *ctx, xb_scores **out, const xb_mixture *predictive,
                           const double *y, int64_t targets,
                           const xb_student_table *heavy, int64_t members)
{
    return score_all(ctx, out, predictive, y, targets, NULL, heavy, members, NULL);
}
