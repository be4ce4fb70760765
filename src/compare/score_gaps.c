/* score_gaps.c: two models on the same rows: differences of scores row by row, with a
 * verdict (maths C23) by the machinery of gaps (gap.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/gap.h"
#include "compare/summary.h"
#include "crossbayes/score.h"

enum { SCORES = 3, ROWS_LEAST = 20, GROUPS_MOST = 1 << 20 };

/* A score and the array of its points. `root`: the score is the root of their mean. */
typedef struct scored {
    const char *name, *points;
    bool root;
} scored;

static const scored of_numbers[SCORES] = {
    {"nll", "nll", false}, {"rmse", "square_error", true}, {"crps", "crps", false}};
static const scored of_classes[SCORES] = {
    {"nll", "nll", false}, {"accuracy", "hit", false}, {"brier", "brier", false}};

struct xb_score_gaps {
    const scored *score; /* [count] */
    int count;
    xb_score difference[SCORES];
    xb_gap gap[SCORES];
    int64_t better[SCORES];
};

/* A point's contribution to the score: its value, or, for the root of a mean, the
 * first-order term. */
static double weight_of(const xb_scores *s, const scored *what)
{
    const double root = what->root ? xb_scores_get(s, what->name).value : 0;
    return root > 0 ? 0.5 / root : what->root ? 0 : 1;
}

/* (C23) */
static xb_status difference_of(xb_ctx *ctx, xb_score *out, const scored *what,
                               const xb_scores *a, const xb_scores *b, double *room)
{
    const int64_t n = xb_scores_points(a);
    const double *u = xb_scores_array_get(a, what->points, NULL);
    const double *v = xb_scores_array_get(b, what->points, NULL);
    const double p = weight_of(a, what), q = weight_of(b, what);
    const xb_score first = xb_scores_get(a, what->name);
    const xb_score second = xb_scores_get(b, what->name);
    for (int64_t i = 0; i < n; i++) room[i] = p * u[i] - q * v[i];
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(room[i]))
            return xb_fail(ctx, XB_E_NUMERIC,
                           "%s of row %lld is not finite: the models cannot be compared",
                           what->name, (long long)i + 1);
    *out = (xb_score){first.value - second.value, xb_score_mean(room, n).std_error,
                      hypot(first.mc_error, second.mc_error)};
    return XB_OK;
}

/* Judges one difference, whose error is that over rows and draws; a verdict needs enough
 * rows. */
static void judge(xb_score_gaps *g, int i, int64_t n, int64_t better)
{
    const xb_score d = g->difference[i];
    const double mc = isfinite(d.mc_error) ? d.mc_error : 0;
    const xb_gap_case c = {.n = 1,
                           .draws = n,
                           .groups = (int)(n < GROUPS_MOST ? n : GROUPS_MOST),
                           .least = ROWS_LEAST};
    xb_gap_sums sums = {0};
    xb_gap_add(&sums, d.value, hypot(d.std_error, mc), 0);
    g->gap[i] = xb_gap_of(&sums, &c);
    if (g->gap[i].verdict == XB_VERDICT_DIFFERENT)
        g->better[i] = d.value > 0 ? better : -better;
}

static xb_status fill(xb_ctx *ctx, xb_score_gaps *g, const xb_scores *a,
                      const xb_scores *b)
{
    const int64_t n = xb_scores_points(a);
    double *room = xb_new(ctx, n, sizeof *room);
    xb_status status = room ? XB_OK : XB_E_MEMORY;
    for (int i = 0; i < g->count && status == XB_OK; i++) {
        const scored *what = &g->score[i];
        status = difference_of(ctx, &g->difference[i], what, a, b, room);
        if (status == XB_OK)
            judge(g, i, n, xb_scores_better(a, xb_scores_find(a, what->name)));
    }
    free(room);
    return status;
}

xb_status xb_score_gaps_create(xb_ctx *ctx, xb_score_gaps **out, const xb_scores *a,
                               const xb_scores *b)
{
    if (xb_scores_points(a) != xb_scores_points(b) ||
        xb_scores_classes(a) != xb_scores_classes(b))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "scores of %lld rows, %lld classes, and of %lld rows, %lld"
                       " classes: expected the same",
                       (long long)xb_scores_points(a), (long long)xb_scores_classes(a),
                       (long long)xb_scores_points(b), (long long)xb_scores_classes(b));
    if (xb_scores_target_count(a) != xb_scores_target_count(b))
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "scores of %lld and of %lld targets: expected the same number",
                       (long long)xb_scores_target_count(a),
                       (long long)xb_scores_target_count(b));
    xb_score_gaps *g = xb_new(ctx, 1, sizeof *g);
    if (!g) return XB_E_MEMORY;
    g->score = xb_scores_classes(a) > 0 ? of_classes : of_numbers;
    g->count = xb_scores_target_count(a) > 1 ? 1 : SCORES; /* nll of all together (C30) */
    xb_status status = fill(ctx, g, a, b);
    if (status == XB_OK)
        *out = g;
    else
        xb_score_gaps_destroy(g);
    return status;
}

void xb_score_gaps_destroy(xb_score_gaps *gaps) { free(gaps); }

static bool there(const xb_score_gaps *g, int64_t i) { return i >= 0 && i < g->count; }

int64_t xb_score_gaps_count(const xb_score_gaps *gaps) { return gaps->count; }

const char *xb_score_gaps_name(const xb_score_gaps *gaps, int64_t i)
{
    return there(gaps, i) ? gaps->score[i].name : NULL;
}

int64_t xb_score_gaps_find(const xb_score_gaps *gaps, const char *name)
{
    for (int64_t i = 0; name && i < gaps->count; i++)
        if (strcmp(gaps->score[i].name, name) == 0) return i;
    return -1;
}

xb_score xb_score_gaps_difference(const xb_score_gaps *gaps, int64_t i)
{
    return there(gaps, i) ? gaps->difference[i] : (xb_score){NAN, NAN, NAN};
}

xb_gap xb_score_gaps_at(const xb_score_gaps *gaps, int64_t i)
{
    return there(gaps, i) ? gaps->gap[i] : xb_gap_none();
}

int64_t xb_score_gaps_better(const xb_score_gaps *gaps, int64_t i)
{
    return there(gaps, i) ? gaps->better[i] : 0;
}
