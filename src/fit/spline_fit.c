/* spline_fit.c: from groups of values to an `empirical` law; maths L23, L24.
 *
 * Knots lie evenly in the blend of the sample's own distribution and an even
 * spread over its (asinh-compressed) range; weights maximise the likelihood by
 * EM, which is concave, monotone and keeps them non-negative; the number of cells is the
 * one that makes held-out blocks of time most likely. All folds and the whole sample are
 * fitted in parallel, one lane each. Each number of cells tried costs about 2 ms,
 * whatever the sample's size. */
#include "fit/spline_fit.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "law/empirical.h"
#include "law/mspline.h"
#include "fit/spline_groups.h"

enum {
    CELLS_MAX = 192,
    OUTER = 3, /* knots beyond each end of the sample */
    KNOTS_MAX = CELLS_MAX + 1 + 2 * OUTER,
    WEIGHTS_MAX = KNOTS_MAX - 4,
    EM_STEPS = 40,
    PATIENCE = 3, /* number of sizes that may do worse before the search stops */
};

static const int sizes[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, CELLS_MAX};

typedef double lanes[XB_LANES];

/* A number of cells, its knots and the weights of every lane. */
typedef struct candidate {
    int64_t cells;                 /* number of cells between the sample's ends */
    double knot[KNOTS_MAX];        /* [cells + 1 + 2 OUTER] */
    lanes weight[WEIGHTS_MAX + 6]; /* three zeros at either end */
    double cross_validated; /* (L24) log likelihood of the blocks that the folds' lanes
                               did not see */
} candidate;

typedef struct basis {
    int64_t *cell;      /* [groups] */
    double (*value)[4]; /* [groups][4] M-splines at the group's mean */
} basis;

/* (L23) Knots: evenly in the blend, capped so that none are closer than the
 * resolution; then one cell beyond each end, cut in three. */
static void lay_knots(candidate *c, const xb_groups *g, int size)
{
    double allowed[XB_GROUPS_MAX + 1]; /* knots up to each edge */
    assert(g->n > 0);
    allowed[0] = 0;
    for (int64_t j = 0; j < g->n; j++) {
        double wanted = size * (g->blend[j + 1] - g->blend[j]);
        double most = (g->edge[j + 1] - g->edge[j]) / g->resolution[j];
        allowed[j + 1] = allowed[j] + fmin(wanted, most);
    }
    c->cells = (int64_t)floor(allowed[g->n] + 1e-9);
    if (c->cells < 1) c->cells = 1;
    double *knot = c->knot + OUTER;
    knot[0] = g->edge[0];
    int64_t j = 0;
    for (int64_t k = 1; k < c->cells; k++) {
        double at = allowed[g->n] * (double)k / (double)c->cells;
        while (j + 1 < g->n && allowed[j + 1] < at) j++;
        double part = (at - allowed[j]) / (allowed[j + 1] - allowed[j]);
        knot[k] = g->edge[j] + part * (g->edge[j + 1] - g->edge[j]);
    }
    knot[c->cells] = g->edge[g->n];
    double below = fmin(knot[1] - knot[0], g->ramp[0]) / OUTER;
    double above = fmin(knot[c->cells] - knot[c->cells - 1], g->ramp[1]) / OUTER;
    for (int i = 1; i <= OUTER; i++) {
        knot[-i] = knot[0] - i * below;
        knot[c->cells + i] = knot[c->cells] + i * above;
    }
}

static void fill_basis(basis *b, const candidate *c, const xb_groups *g)
{
    int64_t cells = c->cells + 2 * OUTER;
    for (int64_t j = 0; j < g->n; j++) {
        b->cell[j] = xb_cell_find(c->knot, cells, g->mean[j]);
        xb_mspline_values(b->value[j], c->knot, cells, b->cell[j], g->mean[j]);
    }
}

static void density(lanes out, const lanes *weight, const double value[4])
{
    for (int l = 0; l < XB_LANES; l++)
        out[l] = value[0] * weight[0][l] + value[1] * weight[1][l] +
                 value[2] * weight[2][l] + value[3] * weight[3][l];
}

/* (L24) One step of EM in every lane: a fold's lane sees all but the fold. */
static void em_step(candidate *c, const basis *b, const xb_groups *g)
{
    const double tiny = 1e-300; /* prevents 0/0 if a lane has no values */
    lanes gain[WEIGHTS_MAX + 6];
    memset(gain, 0, sizeof gain);
    for (int64_t j = 0; j < g->n; j++) {
        if (g->held[j][XB_FOLDS] == 0) continue;
        const double *v = b->value[j];
        lanes f, ratio;
        density(f, c->weight + b->cell[j], v);
        double all = g->held[j][XB_FOLDS];
        for (int l = 0; l < XB_FOLDS; l++)
            ratio[l] = (all - g->held[j][l]) / (f[l] + tiny);
        ratio[XB_FOLDS] = all / (f[XB_FOLDS] + tiny);
        lanes *to = gain + b->cell[j];
        for (int i = 0; i < 4; i++)
            for (int l = 0; l < XB_LANES; l++) to[i][l] += v[i] * ratio[l];
    }
    lanes per_value;
    for (int l = 0; l < XB_LANES; l++)
        per_value[l] = 1 / (g->total[XB_FOLDS] - (l < XB_FOLDS ? g->total[l] : 0));
    for (int64_t k = 0; k < c->cells + 2 * OUTER + 3; k++)
        for (int l = 0; l < XB_LANES; l++) c->weight[k][l] *= gain[k][l] * per_value[l];
}

/* (L24) The likelihood of held-out blocks under the law of the others. Values outside
 * their range are still possible: the share 2/(n + 1) of all values lies beyond the range
 * of n of them, and is spread evenly (asinh). */
static void score(candidate *c, const basis *b, const xb_groups *g)
{
    double share = fmax(1e-3, 2 / (g->total[XB_FOLDS] + 1));
    c->cross_validated = 0;
    for (int64_t j = 0; j < g->n; j++) {
        if (g->held[j][XB_FOLDS] == 0) continue;
        double even = (g->even[j + 1] - g->even[j]) / (g->edge[j + 1] - g->edge[j]);
        lanes f;
        density(f, c->weight + b->cell[j], b->value[j]);
        for (int l = 0; l < XB_FOLDS; l++)
            if (g->held[j][l] > 0)
                c->cross_validated +=
                    g->held[j][l] * log((1 - share) * f[l] + share * even);
    }
}

static void fit_candidate(candidate *c, basis *b, const xb_groups *g)
{
    fill_basis(b, c, g);
    int64_t count = c->cells + 2 * OUTER - 3;
    memset(c->weight, 0, sizeof c->weight);
    for (int64_t k = 0; k < count; k++)
        for (int l = 0; l < XB_LANES; l++) c->weight[k + 3][l] = 1 / (double)count;
    for (int step = 0; step < EM_STEPS; step++) em_step(c, b, g);
    score(c, b, g);
}

/* (L24) Tries the sizes from small to large; returns the best. */
static const candidate *search(candidate *trial, basis *b, const xb_groups *g)
{
    const double values_a_cell = 4;
    int count = 0, best = 0;
    for (int i = 0; i < XB_COUNT(sizes) && count - best <= PATIENCE; i++) {
        bool too_many = sizes[i] * values_a_cell > g->total[XB_FOLDS];
        if (i > 0 && too_many && !g->few_levels) break;
        lay_knots(&trial[count], g, sizes[i]);
        if (count > 0 && trial[count].cells == trial[count - 1].cells) continue;
        fit_candidate(&trial[count], b, g);
        if (trial[count].cross_validated > trial[best].cross_validated) best = count;
        count++;
    }
    return &trial[best];
}

static double likelihood_of(const xb_law *law, const xb_groups *g)
{
    double sum = 0;
    for (int64_t j = 0; j < g->n; j++)
        if (g->held[j][XB_FOLDS] > 0)
            sum += g->held[j][XB_FOLDS] * xb_law_log_pdf(law, g->mean[j]);
    return sum;
}

/* A spline of few cells is wider than the sample. If shifting and scaling it to the
 * sample's mean and variance makes it more likely, the result is used. */
static xb_status standardise(xb_ctx *ctx, xb_law **law, double *log_likelihood,
                             const double *knot, const double *weight, int64_t n_knots,
                             const xb_groups *g)
{
    double moved[KNOTS_MAX];
    for (int64_t i = 0; i < n_knots; i++)
        moved[i] = (knot[i] - xb_law_mean(*law)) / xb_law_sd(*law);
    xb_law *other = NULL;
    XB_TRY(xb_empirical_make(ctx, &other, moved, weight, n_knots));
    double here = likelihood_of(*law, g), there = likelihood_of(other, g);
    bool better = there > here;
    *log_likelihood = better ? there : here;
    xb_law_destroy(better ? *law : other);
    if (better) *law = other;
    return XB_OK;
}

/* A weight that represents less than a thousandth of a value is set to zero: every value
 * keeps nearly all of its density, and gaps become true gaps. */
static xb_status make_law(xb_ctx *ctx, xb_law **out, double *log_likelihood,
                          const candidate *c, const xb_groups *g)
{
    double smallest = 1e-3 / g->total[XB_FOLDS];
    double weight[WEIGHTS_MAX];
    int64_t n_knots = c->cells + 1 + 2 * OUTER;
    for (int64_t k = 0; k < n_knots - 4; k++) {
        double w = c->weight[k + 3][XB_FOLDS];
        weight[k] = w < smallest ? 0 : w;
    }
    xb_law *law = NULL;
    XB_TRY(xb_empirical_make(ctx, &law, c->knot, weight, n_knots));
    xb_status status =
        standardise(ctx, &law, log_likelihood, c->knot, weight, n_knots, g);
    if (status == XB_OK)
        *out = law;
    else
        xb_law_destroy(law);
    return status;
}

static xb_status fit_groups(xb_ctx *ctx, xb_law **out, xb_spline_report *report,
                            const xb_groups *g, const xb_sample *sample)
{
    candidate *trial = xb_new(ctx, XB_COUNT(sizes), sizeof *trial);
    basis b = {xb_new(ctx, g->n, sizeof *b.cell), xb_new(ctx, g->n, sizeof *b.value)};
    xb_status status = trial && b.cell && b.value ? XB_OK : XB_E_MEMORY;
    if (status == XB_OK) {
        const candidate *best = search(trial, &b, g);
        double log_likelihood, units = (double)sample->n * log(sample->info.sd);
        status = make_law(ctx, out, &log_likelihood, best, g);
        if (status == XB_OK) {
            xb_law_set_place(*out, sample->info.mean, sample->info.sd, "");
            *report = (xb_spline_report){best->cells, log_likelihood - units,
                                         best->cross_validated - units};
        }
    }
    free(trial);
    free(b.cell);
    free(b.value);
    return status;
}

xb_status xb_spline_fit(xb_ctx *ctx, xb_law **out, xb_spline_report *report,
                        const xb_sample *sample)
{
    xb_groups g;
    XB_TRY(xb_groups_make(ctx, &g, sample));
    xb_status status = fit_groups(ctx, out, report, &g, sample);
    xb_groups_free(&g);
    return status;
}

xb_status xb_law_from_samples(xb_ctx *ctx, xb_law **out, const double *x, int64_t n)
{
    xb_sample sample;
    xb_spline_report report;
    XB_TRY(xb_sample_make(ctx, &sample, x, n));
    xb_status status = xb_spline_fit(ctx, out, &report, &sample);
    xb_sample_free(&sample);
    return status;
}
