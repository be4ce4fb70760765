/* score_regression.c: scores of a regression's predictives; maths C2-C11.
 *
 * Checks the arguments, plans the memory, divides the test points into at most 64 pieces
 * with their own scratch, and sums up: leave-one-group-out sums per piece, added in the
 * order of the pieces, so the bytes do not depend on threads. 1000 draws x 1000 points
 * take about 0.45 s on one core. Points may come in parts (scorer.h); the sums continue.
 * The arithmetic of one point is in point_scores.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "compare/calibration.h"
#include "compare/count_scores.h"
#include "compare/point_scores.h"
#include "compare/scorer.h"
#include "compare/target_scorer.h"
#include "compare/summary.h"

enum { PIECES = 64 };

/* Below this limit the square of a squared error, which errors of scores need, stays
 * finite. */
#define SCORED_MOST 1e75

struct xb_regression_scorer {
    const xb_mixture *in; /* the current part */
    const double *y;
    int64_t at; /* index of its first point */
    int64_t n, draws;
    xb_score_options opt;
    xb_jackknife groups;
    xb_normal_table normal;
    int64_t pieces;
    xb_point *point; /* [pieces], scratch */
    double *value;   /* [columns][n], from all draws */
    double *sum;     /* [pieces][columns][versions] */
    double *pit;     /* [versions][n] */
    double *numbers; /* the block that holds the arrays above */
    xb_tagged *tagged;
    const double *size;            /* [members] sizes for counts; NULL: other numbers */
    const xb_student_table *heavy; /* [members] for heavy tails; NULL: normal noise */
    int64_t members;
    double *room; /* [pieces] memory for the grids of counts */
};

typedef xb_regression_scorer work;

static xb_status check_row(xb_ctx *ctx, const double *row, const char *name, int64_t draw,
                           const work *w, double least)
{
    int64_t n = w->in->n;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(row[i]) <= SCORED_MOST) || row[i] < least)
            return xb_fail(
                ctx, XB_E_INPUT, "%s of draw %lld at point %lld is %g, expected %s%g",
                name, (long long)draw + 1, (long long)(w->at + i) + 1, row[i],
                least == 0 ? "a finite number, 0 to " : "a finite number, in size up to ",
                SCORED_MOST);
    return XB_OK;
}

static xb_status check_sizes(xb_ctx *ctx, int64_t draws, int64_t n)
{
    if (n >= 1 && draws >= 1) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "draws: %lld, points: %lld; expected 1 or more of each",
                   (long long)draws, (long long)n);
}

static xb_status check(xb_ctx *ctx, const work *w)
{
    const xb_mixture *in = w->in;
    if (!in->mean || !w->y || in->n < 1 || in->n > w->n - w->at || in->draws != w->draws)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld draws at %lld more points: expected %lld draws at no more "
                       "than %lld points",
                       (long long)in->draws, (long long)in->n, (long long)w->draws,
                       (long long)(w->n - w->at));
    for (int64_t s = 0; s < in->draws; s++) {
        XB_TRY(check_row(ctx, in->mean + s * in->n, "the mean", s, w, -INFINITY));
        if (in->sd && (s == 0 || !in->sd_shared))
            XB_TRY(check_row(ctx, in->sd + s * in->n, "the standard deviation", s, w, 0));
    }
    for (int64_t i = 0; i < in->n; i++)
        if (w->size && !(w->y[i] >= 0 && w->y[i] == floor(w->y[i]) && w->y[i] < 1e15))
            return xb_fail(ctx, XB_E_INPUT,
                           "target %lld is %g, expected a whole number, 0 or more, "
                           "because the model predicts counts",
                           (long long)(w->at + i) + 1, w->y[i]);
        else if (!(fabs(w->y[i]) <= SCORED_MOST))
            return xb_fail(
                ctx, XB_E_INPUT,
                "target %lld is %g, expected a finite number, in size up to %g",
                (long long)(w->at + i) + 1, w->y[i], SCORED_MOST);
    return XB_OK;
}

void xb_regression_scorer_destroy(work *w)
{
    if (!w) return;
    free(w->point);
    free(w->numbers);
    free(w->tagged);
    free(w->room);
    free(w);
}

/* Divides one block into the scratch memory of all pieces. */
static void share_out(work *w, double *block)
{
    int64_t draws = w->draws;
    xb_tagged *tagged = w->tagged;
    for (int64_t i = 0; i < w->pieces; i++) {
        xb_point *p = &w->point[i];
        *p = (xb_point){.groups = &w->groups, .normal = &w->normal, .draws = draws};
        double **part[] = {&p->m, &p->a, &p->inverse, &p->plain};
        for (int j = 0; j < XB_COUNT(part); j++) *part[j] = block, block += draws;
        p->grid.at = block, block += XB_GRID_MAX;
        p->grid.all = block, block += XB_GRID_MAX;
        p->grid.group = block, block += (int64_t)XB_JACKKNIFE_GROUPS * XB_GRID_MAX;
        p->sorted = tagged, tagged += draws;
        p->spare = tagged, tagged += draws;
    }
}

static xb_status take_memory(xb_ctx *ctx, work *w)
{
    int64_t values = XB_COLUMNS * w->n, pits = w->groups.versions * w->n;
    int64_t sums = w->pieces * XB_COLUMNS * XB_VERSIONS;
    int64_t scratch = 4 * w->draws + (int64_t)(XB_VERSIONS + 1) * XB_GRID_MAX;
    w->point = xb_new(ctx, w->pieces, sizeof *w->point);
    w->numbers = xb_new(ctx, values + pits + sums + w->pieces * scratch, sizeof(double));
    w->tagged = xb_new(ctx, 2 * w->pieces * w->draws, sizeof *w->tagged);
    if (!w->point || !w->numbers || !w->tagged) return XB_E_MEMORY;
    w->value = w->numbers;
    w->pit = w->value + values;
    w->sum = w->pit + pits;
    share_out(w, w->sum + sums);
    return XB_OK;
}

xb_status xb_regression_scorer_create(xb_ctx *ctx, xb_regression_scorer **out, int64_t n,
                                      int64_t draws, const xb_score_options *opt)
{
    const xb_score_options standard = xb_score_options_default();
    xb_score_options o;
    XB_TRY(XB_OPTIONS_READ(ctx, score, &o, opt, fair));
    if (!o.quantile) o.quantile = standard.quantile, o.quantiles = standard.quantiles;
    XB_TRY(xb_score_options_check(ctx, &o));
    XB_TRY(check_sizes(ctx, draws, n));
    work *w = xb_new(ctx, 1, sizeof *w);
    if (!w) return XB_E_MEMORY;
    w->n = n, w->draws = draws, w->opt = o;
    w->groups = xb_jackknife_make(draws);
    w->pieces = n < PIECES ? n : PIECES;
    xb_normal_table_fill(&w->normal);
    xb_status status = take_memory(ctx, w);
    if (status == XB_OK)
        *out = w;
    else
        xb_regression_scorer_destroy(w);
    return status;
}

xb_status xb_regression_scorer_count(xb_ctx *ctx, work *w, const double *size,
                                     int64_t members)
{
    w->size = size, w->members = members;
    w->room =
        xb_new(ctx, w->pieces * xb_count_grid_room(w->groups.count), sizeof *w->room);
    return w->room ? XB_OK : XB_E_MEMORY;
}

void xb_regression_scorer_student(work *w, const xb_student_table *heavy, int64_t members)
{
    w->heavy = heavy, w->members = members;
    for (int64_t i = 0; i < w->pieces; i++)
        w->point[i].heavy = heavy, w->point[i].members = members;
}

/* (C40) Scores the current point of a piece, which is row `at` of all. */
static void score_count(double score[XB_COLUMNS][XB_VERSIONS], work *w, int64_t piece,
                        double y, int64_t at)
{
    const int groups = w->groups.count;
    xb_count_grid grid =
        xb_count_grid_in(w->room + piece * xb_count_grid_room(groups), groups);
    const xb_count_draws draws = {w->point[piece].m, w->draws, w->size, w->members};
    xb_count_point_score(score, &w->point[piece], &grid, &draws, y, xb_count_uniform(at),
                         &w->opt);
}

/* Collects the values of one point from the rows of all draws. */
static void gather(xb_point *p, const xb_mixture *in, int64_t i)
{
    for (int64_t s = 0; s < in->draws; s++) {
        p->m[s] = in->mean[s * in->n + i];
        p->a[s] = !in->sd ? 0 : in->sd_shared ? in->sd[i] : in->sd[s * in->n + i];
        if (p->heavy) p->a[s] *= xb_heavy_of(p->heavy, p->members, s)->scale; /* (P9) */
    }
}

static void score_piece(void *arg, int64_t piece)
{
    work *w = arg;
    int64_t n = w->n, part = w->in->n;
    double score[XB_COLUMNS][XB_VERSIONS];
    double *sum = w->sum + piece * XB_COLUMNS * XB_VERSIONS;
    int64_t last = part * (piece + 1) / w->pieces;
    for (int64_t i = part * piece / w->pieces; i < last; i++) {
        gather(&w->point[piece], w->in, i);
        if (w->size)
            score_count(score, w, piece, w->y[i], w->at + i);
        else
            xb_point_score(score, &w->point[piece], w->y[i], !w->in->sd, &w->opt);
        for (int c = 0; c < XB_COLUMNS; c++) {
            w->value[c * n + w->at + i] = score[c][0];
            for (int v = 0; v < w->groups.versions; v++)
                sum[c * XB_VERSIONS + v] += score[c][v];
        }
        for (int v = 0; v < w->groups.versions; v++)
            w->pit[v * n + w->at + i] = score[XB_COLUMN_PIT][v];
    }
}

static xb_score column_score(const work *w, xb_column column)
{
    double version[XB_VERSIONS] = {0};
    for (int64_t p = 0; p < w->pieces; p++)
        for (int v = 0; v < w->groups.versions; v++)
            version[v] += w->sum[(p * XB_COLUMNS + column) * XB_VERSIONS + v];
    for (int v = 0; v < w->groups.versions; v++) version[v] /= (double)w->n;
    xb_score score = xb_score_mean(w->value + column * w->n, w->n);
    score.mc_error = xb_score_mc_error(version, &w->groups);
    return score;
}

static void score_columns(xb_score *score, const work *w)
{
    score[XB_NUMBER_RMSE] = xb_score_root(column_score(w, XB_COLUMN_SQUARE));
    score[XB_NUMBER_MAE] = column_score(w, XB_COLUMN_ABSOLUTE);
    score[XB_NUMBER_NLL] = column_score(w, XB_COLUMN_NLL);
    score[XB_NUMBER_CRPS] = column_score(w, XB_COLUMN_CRPS);
    score[XB_NUMBER_WIDTH] = column_score(w, XB_COLUMN_WIDTH);
    score[XB_NUMBER_PINBALL] = column_score(w, XB_COLUMN_PINBALL);
    score[XB_NUMBER_EPISTEMIC] = xb_score_root(column_score(w, XB_COLUMN_EPISTEMIC));
    score[XB_NUMBER_ALEATORIC] = xb_score_root(column_score(w, XB_COLUMN_ALEATORIC));
    score[XB_NUMBER_SHARPNESS] = xb_score_root(column_score(w, XB_COLUMN_TOTAL));
    if (w->draws < 3) /* only one draw is left, which has no spread that could vary */
        score[XB_NUMBER_EPISTEMIC].mc_error = score[XB_NUMBER_SHARPNESS].mc_error = NAN;
}

static void score_curve(xb_scores *out, const double *mass)
{
    for (int64_t i = 0; i < out->curve; i++) {
        const double level = (double)(i + 1) / (double)(out->curve + 1);
        const double share = xb_calibration_share(mass, out->n, level);
        out->array[XB_ARRAY_LEVEL][i] = level;
        out->array[XB_ARRAY_SHARE][i] = share;
        out->array[XB_ARRAY_SHARE_ERROR][i] = xb_share_error(share, out->n);
    }
}

static bool is_inside(double pit, const work *w)
{
    return fabs(2 * pit - 1) <= w->opt.interval;
}

/* The coverage of the `count` points whose epistemic variance is `least` or more, with
 * (C20) its error over draws. */
static xb_score coverage_of(const work *w, double least, int64_t count)
{
    double version[XB_VERSIONS], pit[XB_SHAKES], inside[XB_SHAKES] = {0}, all = 0;
    for (int64_t i = 0; i < w->n; i++) {
        if (w->value[XB_COLUMN_EPISTEMIC * w->n + i] < least) continue;
        for (int v = 0; v < w->groups.versions; v++) version[v] = w->pit[v * w->n + i];
        xb_jackknife_shake(pit, version, &w->groups);
        for (int r = 0; r < XB_SHAKES; r++) inside[r] += is_inside(pit[r], w);
        all += is_inside(version[0], w);
    }
    const double n = (double)count;
    return (xb_score){all / n, xb_share_error(all / n, count),
                      xb_jackknife_shake_error(inside, &w->groups) / n};
}

/* (C26) Finds the smallest epistemic variance in the quarter of the points with the
 * largest ones, and the number of points with that variance or more, which is larger than
 * a quarter if several have the same variance. */
static xb_status find_uncertain(xb_ctx *ctx, const work *w, double *least, int64_t *count)
{
    const double *variance = w->value + XB_COLUMN_EPISTEMIC * w->n;
    double *sorted = xb_new(ctx, w->n, sizeof *sorted);
    if (!sorted) return XB_E_MEMORY;
    memcpy(sorted, variance, (size_t)w->n * sizeof *sorted);
    xb_status status = xb_sort_doubles(ctx, sorted, w->n);
    *least = sorted[w->n - (w->n + 3) / 4];
    free(sorted);
    *count = 0;
    for (int64_t i = 0; i < w->n; i++) *count += variance[i] >= *least;
    return status;
}

/* Computes everything that needs the masses of all points; each version is sorted in
 * place. */
static xb_status score_calibration(xb_ctx *ctx, xb_scores *out, work *w)
{
    int64_t n = w->n, uncertain = 0;
    double area[XB_VERSIONS] = {0}, least = 0;
    XB_TRY(find_uncertain(ctx, w, &least, &uncertain));
    out->score[XB_NUMBER_COVERAGE] = coverage_of(w, 0, n);
    out->score[XB_NUMBER_COVERAGE_UNCERTAIN] = coverage_of(w, least, uncertain);
    for (int v = 0; v < w->groups.versions; v++) {
        double *mass = w->pit + v * n;
        XB_TRY(xb_central_masses(ctx, mass, mass, n));
        area[v] = xb_miscalibration_area(NULL, mass, n);
    }
    score_curve(out, w->pit);
    xb_score *whole = &out->score[XB_NUMBER_AREA];
    whole->mc_error = xb_score_mc_error(area, &w->groups);
    whole->value = xb_miscalibration_area(&whole->std_error, w->pit, n);
    out->score[XB_NUMBER_AREA_FLOOR].value = xb_miscalibration_floor(n);
    return XB_OK;
}

/* Copies the points in the order of the arrays. */
static void copy_points(xb_scores *to, const work *w)
{
    static const xb_column column[] = {XB_COLUMN_SQUARE, XB_COLUMN_ABSOLUTE,
                                       XB_COLUMN_NLL, XB_COLUMN_CRPS, XB_COLUMN_PIT};
    for (int i = 0; i < XB_COUNT(column); i++)
        memcpy(to->array[XB_ARRAY_POINTS + i], w->value + column[i] * w->n,
               (size_t)w->n * sizeof(double));
    double *sd = to->array[XB_ARRAY_POINTS + XB_COUNT(column)];
    for (int64_t i = 0; i < w->n; i++)
        sd[i] = sqrt(w->value[XB_COLUMN_EPISTEMIC * w->n + i]);
}

xb_status xb_regression_scorer_add(xb_ctx *ctx, xb_regression_scorer *w,
                                   const xb_mixture *predictive, const double *y)
{
    w->in = predictive, w->y = y;
    XB_TRY(check(ctx, w));
    xb_parallel_for(ctx, w->pieces, score_piece, w);
    w->at += predictive->n;
    return XB_OK;
}

xb_status xb_regression_scorer_sum(xb_ctx *ctx, xb_scores **out, xb_regression_scorer *w)
{
    xb_scores *found = NULL;
    XB_TRY(xb_scores_create(ctx, &found, w->n, w->draws, 0, XB_CALIBRATION_LEVELS));
    score_columns(found->score, w);
    copy_points(found, w);
    xb_status status = score_calibration(ctx, found, w);
    if (status == XB_OK)
        *out = found;
    else
        xb_scores_destroy(found);
    return status;
}

xb_status xb_score_regression(xb_ctx *ctx, xb_scores **out, const xb_mixture *predictive,
                              const double *y, const xb_score_options *opt)
{
    xb_regression_scorer *w = NULL;
    XB_TRY(xb_regression_scorer_create(ctx, &w, predictive->n, predictive->draws, opt));
    xb_status status = xb_regression_scorer_add(ctx, w, predictive, y);
    if (status == XB_OK) status = xb_regression_scorer_sum(ctx, out, w);
    xb_regression_scorer_destroy(w);
    return status;
}
