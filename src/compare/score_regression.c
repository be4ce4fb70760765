/* score_regression.c: scores of a regression's predictives; maths C2-C11.
 *
 * Checks, plans the memory, cuts the test points into at most 64 pieces with their
 * own scratch, and sums up: leave-one-group-out sums per piece, added in the order of
 * the pieces, so the bytes do not depend on threads. 1000 draws x 1000 points in
 * about 0.45 s on one core. The arithmetic of one point is in point_scores.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "compare/calibration.h"
#include "compare/point_scores.h"
#include "compare/summary.h"

enum { PIECES = 64 };

typedef struct work {
    const xb_mixture *in;
    const double *y;
    const xb_score_options *opt;
    xb_jackknife groups;
    xb_normal_table normal;
    int64_t pieces;
    xb_point *point; /* [pieces], scratch */
    double *value;   /* [columns][n], all draws */
    double *sum;     /* [pieces][columns][versions] */
    double *pit;     /* [versions][n] */
    double *numbers; /* blocks behind the above */
    xb_tagged *tagged;
} work;

static xb_status check_row(xb_ctx *ctx, const double *row, const char *name, int64_t draw,
                           int64_t n, double least)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(row[i]) || row[i] < least)
            return xb_fail(ctx, XB_E_INPUT,
                           "%s of draw %lld at point %lld is %g, expected %s", name,
                           (long long)draw + 1, (long long)i + 1, row[i],
                           least == 0 ? "a finite number, 0 or more" : "a finite number");
    return XB_OK;
}

static xb_status check(xb_ctx *ctx, const xb_mixture *in, const double *y)
{
    if (in->n < 1 || in->draws < 1 || !in->mean || !y)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld draws at %lld points: expected 1 or more of each",
                       (long long)in->draws, (long long)in->n);
    for (int64_t s = 0; s < in->draws; s++) {
        XB_TRY(check_row(ctx, in->mean + s * in->n, "the mean", s, in->n, -INFINITY));
        if (in->sd && (s == 0 || !in->sd_shared))
            XB_TRY(check_row(ctx, in->sd + s * in->n, "the standard deviation", s, in->n,
                             0));
    }
    for (int64_t i = 0; i < in->n; i++)
        if (!isfinite(y[i]))
            return xb_fail(ctx, XB_E_INPUT, "target %lld is %g, expected a finite number",
                           (long long)i + 1, y[i]);
    return XB_OK;
}

static void work_free(work *w)
{
    free(w->point);
    free(w->numbers);
    free(w->tagged);
    free(w);
}

/* Cuts one block into the scratch of every piece. */
static void share_out(work *w, double *block)
{
    int64_t draws = w->in->draws;
    xb_tagged *tagged = w->tagged;
    for (int64_t i = 0; i < w->pieces; i++) {
        xb_point *p = &w->point[i];
        *p = (xb_point){.groups = &w->groups, .normal = &w->normal, .draws = draws};
        double **part[] = {&p->m, &p->a, &p->inverse, &p->plain};
        for (int j = 0; j < XB_COUNT(part); j++) *part[j] = block, block += draws;
        p->grid.all = block, block += XB_GRID_MAX;
        p->grid.group = block, block += (int64_t)XB_JACKKNIFE_GROUPS * XB_GRID_MAX;
        p->sorted = tagged, tagged += draws;
        p->spare = tagged, tagged += draws;
    }
}

static xb_status work_make(xb_ctx *ctx, work **out, const xb_mixture *in, const double *y,
                           const xb_score_options *opt)
{
    work *w = xb_new(ctx, 1, sizeof *w);
    if (!w) return XB_E_MEMORY;
    w->in = in, w->y = y, w->opt = opt;
    w->groups = xb_jackknife_make(in->draws);
    w->pieces = in->n < PIECES ? in->n : PIECES;
    xb_normal_table_fill(&w->normal);
    int64_t values = XB_COLUMNS * in->n, pits = w->groups.versions * in->n;
    int64_t sums = w->pieces * XB_COLUMNS * XB_VERSIONS;
    int64_t scratch = 4 * in->draws + (int64_t)XB_VERSIONS * XB_GRID_MAX;
    w->point = xb_new(ctx, w->pieces, sizeof *w->point);
    w->numbers = xb_new(ctx, values + pits + sums + w->pieces * scratch, sizeof(double));
    w->tagged = xb_new(ctx, 2 * w->pieces * in->draws, sizeof *w->tagged);
    if (!w->point || !w->numbers || !w->tagged) {
        work_free(w);
        return XB_E_MEMORY;
    }
    w->value = w->numbers;
    w->pit = w->value + values;
    w->sum = w->pit + pits;
    share_out(w, w->sum + sums);
    *out = w;
    return XB_OK;
}

/* The columns of one point out of the rows of all. */
static void gather(xb_point *p, const xb_mixture *in, int64_t i)
{
    for (int64_t s = 0; s < in->draws; s++) {
        p->m[s] = in->mean[s * in->n + i];
        p->a[s] = !in->sd ? 0 : in->sd_shared ? in->sd[i] : in->sd[s * in->n + i];
    }
}

static void score_piece(void *arg, int64_t piece)
{
    work *w = arg;
    int64_t n = w->in->n;
    double score[XB_COLUMNS][XB_VERSIONS];
    double *sum = w->sum + piece * XB_COLUMNS * XB_VERSIONS;
    int64_t last = n * (piece + 1) / w->pieces;
    for (int64_t i = n * piece / w->pieces; i < last; i++) {
        gather(&w->point[piece], w->in, i);
        xb_point_score(score, &w->point[piece], w->y[i], !w->in->sd, w->opt);
        for (int c = 0; c < XB_COLUMNS; c++) {
            w->value[c * n + i] = score[c][0];
            for (int v = 0; v < w->groups.versions; v++)
                sum[c * XB_VERSIONS + v] += score[c][v];
        }
        for (int v = 0; v < w->groups.versions; v++)
            w->pit[v * n + i] = score[XB_COLUMN_PIT][v];
    }
}

static xb_score column_score(const work *w, xb_column column)
{
    double version[XB_VERSIONS] = {0};
    for (int64_t p = 0; p < w->pieces; p++)
        for (int v = 0; v < w->groups.versions; v++)
            version[v] += w->sum[(p * XB_COLUMNS + column) * XB_VERSIONS + v];
    for (int v = 0; v < w->groups.versions; v++) version[v] /= (double)w->in->n;
    xb_score score = xb_score_mean(w->value + column * w->in->n, w->in->n);
    score.mc_error = xb_score_mc_error(version, &w->groups);
    return score;
}

static void score_columns(xb_regression_scores *out, const work *w)
{
    out->rmse = xb_score_root(column_score(w, XB_COLUMN_SQUARE));
    out->mae = column_score(w, XB_COLUMN_ABSOLUTE);
    out->nll = column_score(w, XB_COLUMN_NLL);
    out->crps = column_score(w, XB_COLUMN_CRPS);
    out->width = column_score(w, XB_COLUMN_WIDTH);
    out->pinball = column_score(w, XB_COLUMN_PINBALL);
    out->epistemic = xb_score_root(column_score(w, XB_COLUMN_EPISTEMIC));
    out->aleatoric = xb_score_root(column_score(w, XB_COLUMN_ALEATORIC));
    out->sharpness = xb_score_root(column_score(w, XB_COLUMN_TOTAL));
}

static void score_curve(xb_regression_scores *out, const double *mass, int64_t n)
{
    for (int i = 0; i < XB_CALIBRATION_LEVELS; i++) {
        out->level[i] = (i + 1.0) / (XB_CALIBRATION_LEVELS + 1);
        out->share[i] = xb_calibration_share(mass, n, out->level[i]);
        out->share_error[i] = xb_share_error(out->share[i], n);
    }
}

/* Everything that needs the masses of all points: each version is sorted in place. */
static xb_status score_calibration(xb_ctx *ctx, xb_regression_scores *out, work *w)
{
    int64_t n = w->in->n;
    double area[XB_VERSIONS] = {0}, inside[XB_VERSIONS] = {0};
    for (int v = 0; v < w->groups.versions; v++) {
        double *mass = w->pit + v * n;
        XB_TRY(xb_central_masses(ctx, mass, mass, n));
        area[v] = xb_miscalibration_area(NULL, mass, n);
        inside[v] = xb_calibration_share(mass, n, w->opt->interval);
    }
    score_curve(out, w->pit, n);
    out->coverage = (xb_score){inside[0], xb_share_error(inside[0], n),
                               xb_score_mc_error(inside, &w->groups)};
    out->miscalibration_area.mc_error = xb_score_mc_error(area, &w->groups);
    out->miscalibration_area.value =
        xb_miscalibration_area(&out->miscalibration_area.std_error, w->pit, n);
    out->miscalibration_floor = xb_miscalibration_floor(n);
    return XB_OK;
}

static void copy_points(const xb_point_scores *to, const work *w)
{
    int64_t n = w->in->n;
    const struct {
        double *to;
        xb_column column;
    } wanted[] = {{to->square_error, XB_COLUMN_SQUARE},
                  {to->absolute_error, XB_COLUMN_ABSOLUTE},
                  {to->nll, XB_COLUMN_NLL},
                  {to->crps, XB_COLUMN_CRPS},
                  {to->pit, XB_COLUMN_PIT}};
    for (int i = 0; i < XB_COUNT(wanted); i++)
        if (wanted[i].to)
            memcpy(wanted[i].to, w->value + wanted[i].column * n,
                   (size_t)n * sizeof(double));
}

xb_status xb_score_regression(xb_ctx *ctx, xb_regression_scores *out,
                              const xb_point_scores *points, const xb_mixture *predictive,
                              const double *y, const xb_score_options *opt)
{
    xb_score_options chosen = opt ? *opt : xb_score_options_default();
    if (!chosen.quantile) {
        chosen.quantile = xb_score_options_default().quantile;
        chosen.quantiles = xb_score_options_default().quantiles;
    }
    work *w = NULL;
    XB_TRY(xb_score_options_check(ctx, &chosen));
    XB_TRY(check(ctx, predictive, y));
    XB_TRY(work_make(ctx, &w, predictive, y, &chosen));
    xb_parallel_for(ctx, w->pieces, score_piece, w);
    xb_regression_scores found = {.n = predictive->n, .draws = predictive->draws};
    score_columns(&found, w);
    xb_status status = score_calibration(ctx, &found, w);
    if (status == XB_OK) {
        if (points) copy_points(points, w);
        *out = found;
    }
    work_free(w);
    return status;
}
