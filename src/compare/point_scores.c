/* point_scores.c: see point_scores.h; maths C3-C7, C10. Each score comes in all
 * versions of the jackknife. With 1000 draws a point takes about 0.4 ms, mostly for CRPS
 * and quantiles. */
#include "compare/point_scores.h"

#include "compare/crps.h"

typedef double scores[XB_COLUMNS][XB_VERSIONS];

void xb_point_moments(scores score, const xb_point *p, double y)
{
    const xb_jackknife *g = p->groups;
    double d[XB_JACKKNIFE_GROUPS] = {0}, d2[XB_JACKKNIFE_GROUPS] = {0},
           a2[XB_JACKKNIFE_GROUPS] = {0};
    double sum[XB_VERSIONS], sum2[XB_VERSIONS], noise[XB_VERSIONS], centre = 0;
    for (int64_t s = 0; s < p->draws; s++) centre += p->m[s] / (double)p->draws;
    for (int b = 0; b < g->count; b++)
        for (int64_t s = g->start[b]; s < g->start[b + 1]; s++) {
            double e = p->m[s] - centre; /* about the mean, so that nothing cancels */
            d[b] += e, d2[b] += e * e;
            a2[b] += p->heavy ? p->a[s] * p->a[s] *
                                    xb_heavy_of(p->heavy, p->members, s)->variance
                              : p->a[s] * p->a[s];
        }
    xb_jackknife_fold(sum, d, g);
    xb_jackknife_fold(sum2, d2, g);
    xb_jackknife_fold(noise, a2, g);
    for (int v = 0; v < g->versions; v++) { /* (C10) */
        double kept = g->kept[v], shift = sum[v] / kept, error = y - centre - shift;
        double spread = sum2[v] - kept * shift * shift;
        score[XB_COLUMN_SQUARE][v] = error * error;
        score[XB_COLUMN_ABSOLUTE][v] = fabs(error);
        score[XB_COLUMN_EPISTEMIC][v] = kept > 1 ? fmax(0, spread / (kept - 1)) : 0;
        score[XB_COLUMN_ALEATORIC][v] = noise[v] / kept;
        score[XB_COLUMN_TOTAL][v] =
            score[XB_COLUMN_EPISTEMIC][v] + score[XB_COLUMN_ALEATORIC][v];
    }
}

/* (C3), or (C4) for plain samples; called after the moments. */
static void score_density(scores score, const xb_point *p, double y, bool samples)
{
    const double *sd = p->a;
    if (samples) {
        double kernel = xb_mixture_kernel(p, sqrt(score[XB_COLUMN_EPISTEMIC][0]));
        for (int64_t s = 0; s < p->draws; s++) p->plain[s] = kernel;
        sd = p->plain;
    }
    xb_mixture_log_density(score[XB_COLUMN_NLL], p, sd, y);
    for (int v = 0; v < p->groups->versions; v++) score[XB_COLUMN_NLL][v] *= -1;
}

/* (C7) */
double xb_pinball(double y, double quantile, double level)
{
    double d = y - quantile;
    return d >= 0 ? level * d : (level - 1) * d;
}

static void score_quantiles(scores score, const xb_point *p, double y,
                            const xb_score_options *opt)
{
    double low[XB_VERSIONS], high[XB_VERSIONS], at[XB_VERSIONS];
    int versions = p->groups->versions;
    xb_mixture_quantile(low, p, 0.5 * (1 - opt->interval));
    xb_mixture_quantile(high, p, 0.5 * (1 + opt->interval));
    for (int v = 0; v < versions; v++) {
        score[XB_COLUMN_WIDTH][v] = high[v] - low[v];
        score[XB_COLUMN_PINBALL][v] = 0;
    }
    for (int64_t i = 0; i < opt->quantiles; i++) {
        xb_mixture_quantile(at, p, opt->quantile[i]);
        for (int v = 0; v < versions; v++)
            score[XB_COLUMN_PINBALL][v] +=
                xb_pinball(y, at[v], opt->quantile[i]) / (double)opt->quantiles;
    }
}

void xb_point_score(double score[XB_COLUMNS][XB_VERSIONS], xb_point *p, double y,
                    bool samples, const xb_score_options *opt)
{
    xb_point_prepare(p);
    xb_point_moments(score, p, y);
    score_density(score, p, y, samples);
    xb_crps(score[XB_COLUMN_CRPS], p, y, opt->fair);
    score_quantiles(score, p, y, opt); /* uses the grid that CRPS left */
    xb_mixture_pit(score[XB_COLUMN_PIT], p, y);
}
