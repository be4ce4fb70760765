/* kl_bound.c: a lower bound of the KL divergence between the laws of two samples; maths
 * C22. Samples cannot bound KL from above: it is infinite if the first law reaches,
 * however rarely, a place where the second has no density. A lower bound is possible. For
 * every function f, KL(P || Q) >= E_P f - E_Q exp(f) + 1 (Nguyen, Wainwright & Jordan
 * 2010), with equality at f = log p/q. So f is learnt from the first half of the draws,
 * the logarithm of ratios in bins that hold equal shares of Q, and both means are taken
 * over the second half: an unbiased estimate of a quantity that is at most KL, with a
 * known error. Too few bins resolve too little and too many learn noise, so several
 * numbers are tried, and their errors are bounded jointly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "compare/gap.h"
#include "compare/jackknife.h"

/* 4, 16, .. 4096 bins, each with at least this many values of Q where f is learnt.
 * xb_gap_reach is for six bounds on one side. */
enum { LEVELS = 6, BINS_MOST = 1 << (2 * LEVELS), BIN_LEAST = 25, PIECES = 8 };

typedef struct work {
    const double *a, *b;
    int64_t draws, n, half; /* `half` is the number of draws learnt from */
    int levels;
    xb_jackknife groups; /* groups of the other draws */
    double *sorted;      /* [PIECES][half] */
    double *sum;         /* [n][LEVELS][XB_JACKKNIFE_GROUPS] */
    xb_status status[PIECES];
} work;

/* What was learnt at one point. */
typedef struct ratios {
    int bins;                                          /* bins of the finest level */
    double edge[BINS_MOST];                            /* [bins - 1], ascending */
    int32_t a[BINS_MOST], b[BINS_MOST];                /* numbers of values of the first
                                                          half */
    double f[LEVELS][BINS_MOST], e[LEVELS][BINS_MOST]; /* f, exp(f) - 1 */
} ratios;

/* The number of edges that are at most x. Bins of a coarser level are unions of 4, 16,
 * ... of these bins. */
static int bin_of(const ratios *r, double x)
{
    int low = 0, high = r->bins - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (r->edge[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int shift_of(const work *w, int level) { return 2 * (w->levels - 1 - level); }

/* (C22) If ties leave a bin with too few values of Q, f is 0, which is also valid. */
static void learn_level(ratios *r, const work *w, int level)
{
    int shift = shift_of(w, level), width = 1 << shift;
    for (int bin = 0; bin < r->bins >> shift; bin++) {
        double a = 0, b = 0;
        for (int j = bin * width; j < (bin + 1) * width; j++) a += r->a[j], b += r->b[j];
        double ratio = b < BIN_LEAST ? 1 : (a + 0.5) / (b + 0.5);
        r->f[level][bin] = log(ratio), r->e[level][bin] = ratio - 1;
    }
}

static void learn(ratios *r, double *sorted, const work *w, int64_t point)
{
    r->bins = 4 << shift_of(w, 0);
    for (int j = 0; j + 1 < r->bins; j++)
        r->edge[j] = sorted[(j + 1) * w->half / r->bins];
    memset(r->a, 0, sizeof r->a);
    memset(r->b, 0, sizeof r->b);
    for (int64_t s = 0; s < w->half; s++) {
        r->a[bin_of(r, w->a[s * w->n + point])]++;
        r->b[bin_of(r, sorted[s])]++;
    }
    for (int level = 0; level < w->levels; level++) learn_level(r, w, level);
}

static void add_point(const ratios *r, const work *w, int64_t point)
{
    for (int g = 0; g < w->groups.count; g++)
        for (int64_t s = w->groups.start[g]; s < w->groups.start[g + 1]; s++) {
            int64_t at = (w->half + s) * w->n + point;
            int in_a = bin_of(r, w->a[at]), in_b = bin_of(r, w->b[at]);
            for (int level = 0; level < w->levels; level++) {
                int shift = shift_of(w, level);
                w->sum[(point * LEVELS + level) * XB_JACKKNIFE_GROUPS + g] +=
                    r->f[level][in_a >> shift] - r->e[level][in_b >> shift];
            }
        }
}

static void run_piece(void *arg, int64_t piece)
{
    work *w = arg;
    double *sorted = w->sorted + piece * w->half;
    ratios *r = xb_new(NULL, 1, sizeof *r);
    w->status[piece] = r ? XB_OK : XB_E_MEMORY;
    for (int64_t i = piece; i < w->n && w->status[piece] == XB_OK; i += PIECES) {
        for (int64_t s = 0; s < w->half; s++) sorted[s] = w->b[s * w->n + i];
        w->status[piece] = xb_sort_doubles(NULL, sorted, w->half);
        if (w->status[piece] != XB_OK) break;
        learn(r, sorted, w, i);
        add_point(r, w, i);
    }
    free(r);
}

/* (C22) The best of the levels, each minus its joint error bound. */
static double best_bound(const work *w)
{
    double best = 0;
    for (int level = 0; level < w->levels; level++) {
        double group[XB_JACKKNIFE_GROUPS] = {0}, version[XB_VERSIONS];
        for (int64_t i = 0; i < w->n; i++)
            for (int g = 0; g < w->groups.count; g++)
                group[g] +=
                    w->sum[(i * LEVELS + level) * XB_JACKKNIFE_GROUPS + g] / (double)w->n;
        xb_jackknife_fold(version, group, &w->groups);
        for (int v = 0; v < w->groups.versions; v++) version[v] /= w->groups.kept[v];
        double error = xb_jackknife_error(version + 1, w->groups.count);
        best = fmax(best, version[0] - xb_gap_reach(w->groups.count) * error);
    }
    return best;
}

static xb_status check(xb_ctx *ctx, const work *w)
{
    if (w->draws < 1 || w->n < 1 || !w->a || !w->b)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "%lld draws at %lld points: expected 1 or more of each",
                       (long long)w->draws, (long long)w->n);
    for (int64_t i = 0; i < w->draws * w->n; i++)
        if (!isfinite(w->a[i]) || !isfinite(w->b[i]))
            return xb_fail(
                ctx, XB_E_INPUT,
                "draw %lld at point %lld is %g and %g: expected finite numbers",
                (long long)(i / w->n) + 1, (long long)(i % w->n) + 1, w->a[i], w->b[i]);
    return XB_OK;
}

static xb_status run(xb_ctx *ctx, double *nats, work *w)
{
    w->sorted = xb_new(ctx, PIECES * w->half, sizeof *w->sorted);
    w->sum = xb_new(ctx, w->n * LEVELS * XB_JACKKNIFE_GROUPS, sizeof *w->sum);
    if (!w->sorted || !w->sum) return XB_E_MEMORY;
    xb_parallel_for(ctx, PIECES, run_piece, w);
    for (int p = 0; p < PIECES; p++)
        if (w->status[p] != XB_OK)
            return xb_fail(ctx, w->status[p], "not enough memory to compare samples");
    *nats = best_bound(w);
    return XB_OK;
}

xb_status xb_distance_kl_lower(xb_ctx *ctx, double *nats, const double *a,
                               const double *b, int64_t draws, int64_t n)
{
    work w = {.a = a, .b = b, .draws = draws, .n = n, .half = draws / 2};
    XB_TRY(check(ctx, &w));
    while (w.levels < LEVELS && w.half >> (2 * w.levels + 2) >= BIN_LEAST) w.levels++;
    if (w.levels == 0) {
        *nats = NAN;
        return XB_OK;
    }
    w.groups = xb_jackknife_make(draws - w.half);
    xb_status status = run(ctx, nats, &w);
    free(w.sorted);
    free(w.sum);
    return status;
}
