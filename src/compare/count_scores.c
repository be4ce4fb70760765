/* count_scores.c: see count_scores.h; maths C40-C43. Masses at the target are exact;
 * scores that need the whole cdf use the grid of count_grid.c. 1000 draws at rates of
 * some tens take 0.5 ms per point. */
#include "compare/count_scores.h"

#include <math.h>

#include "base/count_mass.h"
#include "compare/target_scorer.h"
#include "crossbayes/random.h"

typedef double scores[XB_COLUMNS][XB_VERSIONS];

double xb_count_uniform(int64_t row)
{
    /* Stream of XB_PURPOSE_DATA that does not collide with the seeds of members. */
    enum { STREAM = 1002 };
    const xb_stream where = {.key = xb_key_make(1, XB_PURPOSE_DATA), .tensor = STREAM};
    return xb_stream_uniform(&where, row);
}

static void fill_sds(xb_point *p, const xb_count_draws *d)
{
    for (int64_t s = 0; s < p->draws; s++)
        p->a[s] = sqrt(xb_count_variance(p->m[s], d->size[s % d->members]));
}

/* (C40) */
static void score_mass(scores score, const xb_point *p, const xb_count_draws *d, double y)
{
    const xb_jackknife *g = p->groups;
    xb_log_sum group[XB_JACKKNIFE_GROUPS];
    for (int b = 0; b < g->count; b++) {
        group[b] = (xb_log_sum){-INFINITY, 0};
        for (int64_t s = g->start[b]; s < g->start[b + 1]; s++)
            xb_log_add(&group[b],
                       xb_count_log_mass(y, d->rate[s], d->size[s % d->members]), 1);
    }
    xb_log_means(score[XB_COLUMN_NLL], group, g, 0);
    for (int v = 0; v < g->versions; v++) score[XB_COLUMN_NLL][v] *= -1;
}

/* The share of the mass at or below y, linear between nodes; y is a node unless it is
 * beyond all of them. */
static double share_to(const xb_count_grid *grid, double y, int without, double kept)
{
    int low = 0, high = grid->count;
    while (low < high) { /* the first node above y */
        const int middle = (low + high) / 2;
        if (grid->at[middle] <= y)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : fmin(1, xb_count_grid_below(grid, low - 1, without) / kept);
}

/* (C41) */
static void score_pit(scores score, const xb_point *p, const xb_count_grid *grid,
                      double y, double u)
{
    for (int v = 0; v < p->groups->versions; v++) {
        const double kept = p->groups->kept[v];
        const double before = y > 0 ? share_to(grid, y - 1, v - 1, kept) : 0;
        const double to = share_to(grid, y, v - 1, kept);
        score[XB_COLUMN_PIT][v] = before + u * (to - before);
    }
}

/* (C42) Sums over whole numbers, node by node: of F below y, of 1 - F from y on, and of
 * F (1 - F); kept draws have mass 1 each. Beyond the nodes F is 0 or 1. */
static void score_crps(scores score, const xb_point *p, const xb_count_grid *grid,
                       double y, bool fair)
{
    const xb_jackknife *g = p->groups;
    double self[XB_VERSIONS];
    xb_jackknife_fold(self, grid->self, g);
    for (int v = 0; v < g->versions; v++) {
        const double kept = g->kept[v], last = grid->at[grid->count - 1];
        double before = 0, first = fmax(0, grid->at[0] - y), pairs = 0;
        for (int j = 0; j < grid->count; j++) {
            const double h = j > 0 ? grid->at[j] - grid->at[j - 1] : 1;
            const double to = fmin(kept, xb_count_grid_below(grid, j, v - 1));
            const double sum = xb_count_sum(before, to, h) / kept;
            first += grid->at[j] < y ? sum : h - sum;
            pairs += 2 * xb_count_pairs(before, to, h, kept);
            before = to;
        }
        first += fmax(0, y - 1 - last);
        const double spread = fair && kept > 1 ? (pairs - self[v]) / (kept * (kept - 1))
                                               : pairs / (kept * kept);
        score[XB_COLUMN_CRPS][v] = first - 0.5 * spread;
    }
}

static void score_quantiles(scores score, const xb_point *p, const xb_count_grid *grid,
                            double y, const xb_score_options *opt)
{
    for (int v = 0; v < p->groups->versions; v++) {
        const double kept = p->groups->kept[v];
        const double low =
            xb_count_grid_quantile(grid, 0.5 * (1 - opt->interval) * kept, v - 1);
        const double high =
            xb_count_grid_quantile(grid, 0.5 * (1 + opt->interval) * kept, v - 1);
        double loss = 0;
        for (int64_t i = 0; i < opt->quantiles; i++) {
            const double level = opt->quantile[i];
            const double at = xb_count_grid_quantile(grid, level * kept, v - 1);
            loss += xb_pinball(y, at, level) / (double)opt->quantiles;
        }
        score[XB_COLUMN_WIDTH][v] = high - low;
        score[XB_COLUMN_PINBALL][v] = loss;
    }
}

void xb_count_point_score(double score[XB_COLUMNS][XB_VERSIONS], xb_point *p,
                          xb_count_grid *grid, const xb_count_draws *draws, double y,
                          double u, const xb_score_options *opt)
{
    fill_sds(p, draws);
    xb_point_moments(score, p, y);
    score_mass(score, p, draws, y);
    xb_count_grid_make(grid, draws, p->groups->start, y);
    score_crps(score, p, grid, y, opt->fair);
    score_quantiles(score, p, grid, y, opt);
    score_pit(score, p, grid, y, u);
}

void xb_count_joint_mass(double *version, const xb_mixture *in, int64_t first,
                         int64_t targets, const double *y, const double *size,
                         int64_t members, const xb_jackknife *g)
{
    xb_log_sum group[XB_JACKKNIFE_GROUPS];
    for (int b = 0; b < g->count; b++) {
        group[b] = (xb_log_sum){-INFINITY, 0};
        for (int64_t s = g->start[b]; s < g->start[b + 1]; s++) {
            const double *rate = in->mean + s * in->n + first;
            double sum = 0;
            for (int64_t k = 0; k < targets; k++)
                sum += xb_count_log_mass(y[k], rate[k], size[k * members + s % members]);
            xb_log_add(&group[b], sum, 1);
        }
    }
    xb_log_means(version, group, g, 0);
}
