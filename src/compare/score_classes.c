/* score_classes.c: scores of class probabilities given per weight draw; maths C18-C21.
 *
 * The predictive is the mean over draws; every score is also computed without each group
 * of draws, and scores that count points are perturbed (jackknife.h). Points are divided
 * into at most 64 pieces whose sums are added in order. 1000 draws x 1000 points x 10
 * classes take about 0.13 s on one core, mostly for the entropies of single draws. Points
 * may come in parts (scorer.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/extend.h"
#include "compare/calibration.h"
#include "compare/scorer.h"
#include "compare/summary.h"

enum { PIECES = 64, BINS_MAX = 1000000 };

typedef enum column { HIT, NLL, BRIER, ENTROPY, INFORMATION, COLUMNS } column;

/* The sums over the points of a piece for one version, as positions in one block. */
typedef struct tally {
    double *sum;                       /* [COLUMNS] */
    double *count, *confidence, *hits; /* [bins] each */
} tally;

struct xb_class_scorer {
    const xb_class_draws *in; /* the current part */
    const int64_t *label;
    int64_t at; /* index of its first point */
    int64_t n, draws, classes;
    int64_t bins;
    xb_jackknife groups;
    int64_t pieces;
    double *scratch;    /* [pieces][groups + versions + shakes][classes] */
    double *value;      /* [columns][n], from all draws */
    double *confidence; /* [n] */
    double *part;       /* [pieces + 1][versions][COLUMNS + 3 bins]; the last is the
                           total */
    double *shaken;     /* [pieces][shakes][1 + bins]: hits, excess confidence */
    double *numbers;
};

typedef xb_class_scorer work;

static xb_status check_row(xb_ctx *ctx, const double *p, int64_t classes, int64_t draw,
                           int64_t point)
{
    const double tolerance = 1e-4; /* softmax outputs of many classes in float32 are
                                      within it */
    double sum = 0;
    for (int64_t c = 0; c < classes; c++) {
        if (!(p[c] >= 0 && p[c] <= 1 + tolerance))
            return xb_fail(ctx, XB_E_INPUT,
                           "probability of class %lld in draw %lld at point %lld is %g",
                           (long long)c, (long long)draw + 1, (long long)point + 1, p[c]);
        sum += p[c];
    }
    if (fabs(sum - 1) > tolerance)
        return xb_fail(ctx, XB_E_INPUT,
                       "probabilities of draw %lld at point %lld add up to %g, not 1",
                       (long long)draw + 1, (long long)point + 1, sum);
    return XB_OK;
}

static xb_status check(xb_ctx *ctx, const work *w)
{
    const xb_class_draws *in = w->in;
    const int64_t *label = w->label;
    if (!in->p || !label || in->n < 1 || in->n > w->n - w->at || in->draws != w->draws ||
        in->classes != w->classes)
        return xb_fail(
            ctx, XB_E_ARGUMENT,
            "%lld %s, %lld %s, %lld classes: they do not match those of this score",
            (long long)in->draws, xb_plural(in->draws, "draw", "draws"), (long long)in->n,
            xb_plural(in->n, "point", "points"), (long long)in->classes);
    for (int64_t i = 0; i < in->n; i++)
        if (label[i] < 0 || label[i] >= in->classes)
            return xb_fail(ctx, XB_E_INPUT, "label %lld is %lld: expected 0 to %lld",
                           (long long)(w->at + i) + 1, (long long)label[i],
                           (long long)in->classes - 1);
    for (int64_t s = 0; s < in->draws; s++)
        for (int64_t i = 0; i < in->n; i++)
            XB_TRY(check_row(ctx, in->p + (s * in->n + i) * in->classes, in->classes, s,
                             w->at + i));
    return XB_OK;
}

void xb_class_scorer_destroy(work *w)
{
    if (!w) return;
    free(w->numbers);
    free(w->part);
    free(w->shaken);
    free(w);
}

static xb_status check_sizes(xb_ctx *ctx, int64_t n, int64_t draws, int64_t classes,
                             int64_t bins)
{
    if (bins < 1 || bins > BINS_MAX)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld bins: expected 1 to %d", (long long)bins,
                       BINS_MAX);
    if (n >= 1 && draws >= 1 && classes >= 2) return XB_OK;
    return xb_fail(ctx, XB_E_ARGUMENT,
                   "draws: %lld, points: %lld, classes: %lld; expected 1 or more, 1 or"
                   " more, 2 or more",
                   (long long)draws, (long long)n, (long long)classes);
}

static int64_t tally_size(const work *w) { return COLUMNS + 3 * w->bins; }

/* Piece number w->pieces is the total of all pieces. */
static tally tally_of(const work *w, int64_t piece, int version)
{
    double *at = w->part + (piece * w->groups.versions + version) * tally_size(w);
    return (tally){at, at + COLUMNS, at + COLUMNS + w->bins, at + COLUMNS + 2 * w->bins};
}

static tally all_of(const work *w, int version)
{
    return tally_of(w, w->pieces, version);
}

static int64_t scratch_rows(const work *w)
{
    return w->groups.count + w->groups.versions + XB_SHAKES;
}

xb_status xb_class_scorer_create(xb_ctx *ctx, xb_class_scorer **out, int64_t n,
                                 int64_t draws, int64_t classes, int64_t bins)
{
    XB_TRY(check_sizes(ctx, n, draws, classes, bins));
    work *w = xb_new(ctx, 1, sizeof *w);
    if (!w) return XB_E_MEMORY;
    *w = (work){.n = n, .draws = draws, .classes = classes, .bins = bins};
    w->groups = xb_jackknife_make(draws);
    w->pieces = n < PIECES ? n : PIECES;
    int64_t scratch = w->pieces * scratch_rows(w) * classes;
    w->numbers = xb_new(ctx, scratch + (COLUMNS + 1) * n, sizeof *w->numbers);
    w->part = xb_new(ctx, (w->pieces + 1) * w->groups.versions,
                     (size_t)tally_size(w) * sizeof *w->part);
    w->shaken = xb_new(ctx, w->pieces * XB_SHAKES * (1 + bins), sizeof *w->shaken);
    if (!w->numbers || !w->part || !w->shaken) {
        xb_class_scorer_destroy(w);
        return XB_E_MEMORY;
    }
    w->scratch = w->numbers;
    w->value = w->scratch + scratch;
    w->confidence = w->value + COLUMNS * n;
    *out = w;
    return XB_OK;
}

static double entropy(const double *p, int64_t classes)
{
    double sum = 0;
    for (int64_t c = 0; c < classes; c++)
        if (p[c] > 0) sum -= p[c] * log(p[c]); /* 0 log 0 is 0 */
    return sum;
}

/* Sums of the probabilities and of the entropies over the draws of each group. */
static void add_draws(double *group, double *entropies, const work *w, int64_t point)
{
    const xb_class_draws *in = w->in;
    int64_t classes = in->classes;
    memset(group, 0, (size_t)(w->groups.count * classes) * sizeof *group);
    for (int b = 0; b < w->groups.count; b++) {
        entropies[b] = 0;
        for (int64_t s = w->groups.start[b]; s < w->groups.start[b + 1]; s++) {
            const double *p = in->p + (s * in->n + point) * classes;
            for (int64_t c = 0; c < classes; c++) group[b * classes + c] += p[c];
            entropies[b] += entropy(p, classes);
        }
    }
}

static void mean_without(double *mean, const double *group, const work *w, int version)
{
    int64_t classes = w->classes;
    memset(mean, 0, (size_t)classes * sizeof *mean);
    for (int b = 0; b < w->groups.count; b++)
        for (int64_t c = 0; b != version - 1 && c < classes; c++)
            mean[c] += group[b * classes + c];
    for (int64_t c = 0; c < classes; c++) mean[c] /= w->groups.kept[version];
}

/* The index of the largest probability; the first one if several are equal. */
static int64_t best_of(const double *p, int64_t classes)
{
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++)
        if (p[c] > p[best]) best = c;
    return best;
}

/* (C18) Returns the confidence, the largest probability. */
static double score_mean(double score[COLUMNS], const double *mean, int64_t classes,
                         int64_t label, double mean_entropy)
{
    int64_t best = best_of(mean, classes);
    double brier = 0;
    for (int64_t c = 0; c < classes; c++) {
        double d = mean[c] - (c == label);
        brier += d * d;
    }
    score[HIT] = best == label;
    score[NLL] = -log(mean[label]);
    score[BRIER] = brier;
    score[ENTROPY] = entropy(mean, classes);
    score[INFORMATION] = score[ENTROPY] - mean_entropy;
    return mean[best];
}

static void count_point(tally t, const double score[COLUMNS], double confidence,
                        int64_t bins)
{
    int64_t bin = xb_confidence_bin(confidence, bins);
    for (int c = 0; c < COLUMNS; c++) t.sum[c] += score[c];
    t.count[bin] += 1;
    t.confidence[bin] += confidence;
    t.hits[bin] += score[HIT];
}

/* The hits of a shake, and for each bin the sum by which confidences exceed hits. */
static double *shaken_sums(const work *w, int64_t piece, int shake)
{
    return w->shaken + (piece * XB_SHAKES + shake) * (1 + w->bins);
}

/* (C20) mean: [versions][classes]; shaken: room for [shakes][classes]. */
static void score_shakes(const work *w, int64_t piece, double *shaken, const double *mean,
                         int64_t label)
{
    double version[XB_VERSIONS], one[XB_SHAKES];
    int64_t classes = w->classes;
    for (int64_t c = 0; c < classes; c++) {
        for (int v = 0; v < w->groups.versions; v++) version[v] = mean[v * classes + c];
        xb_jackknife_shake(one, version, &w->groups);
        for (int r = 0; r < XB_SHAKES; r++) shaken[r * classes + c] = one[r];
    }
    for (int r = 0; r < XB_SHAKES; r++) {
        const double *p = shaken + r * classes;
        int64_t best = best_of(p, classes);
        bool hit = best == label;
        double *sums = shaken_sums(w, piece, r);
        sums[0] += hit;
        sums[1 + xb_confidence_bin(p[best], w->bins)] += p[best] - hit;
    }
}

static void score_point(work *w, int64_t piece, int64_t i)
{
    int64_t classes = w->classes, n = w->n, at = w->at + i;
    double *group = w->scratch + piece * scratch_rows(w) * classes;
    double *means = group + w->groups.count * classes;
    double *shaken = means + w->groups.versions * classes;
    double entropies[XB_JACKKNIFE_GROUPS], entropy_sum[XB_VERSIONS], score[COLUMNS];
    add_draws(group, entropies, w, i);
    xb_jackknife_fold(entropy_sum, entropies, &w->groups);
    for (int v = 0; v < w->groups.versions; v++) {
        double *mean = means + v * classes;
        mean_without(mean, group, w, v);
        double confidence = score_mean(score, mean, classes, w->label[i],
                                       entropy_sum[v] / w->groups.kept[v]);
        count_point(tally_of(w, piece, v), score, confidence, w->bins);
        if (v > 0) continue;
        for (int c = 0; c < COLUMNS; c++) w->value[c * n + at] = score[c];
        w->confidence[at] = confidence;
    }
    score_shakes(w, piece, shaken, means, w->label[i]);
}

static void score_piece(void *arg, int64_t piece)
{
    work *w = arg;
    int64_t n = w->in->n, last = n * (piece + 1) / w->pieces;
    for (int64_t i = n * piece / w->pieces; i < last; i++) score_point(w, piece, i);
}

static void add_pieces(work *w)
{
    const int64_t numbers = w->groups.versions * tally_size(w);
    double *to = w->part + w->pieces * numbers;
    for (int64_t p = 0; p < w->pieces; p++)
        for (int64_t j = 0; j < numbers; j++) to[j] += w->part[p * numbers + j];
}

static xb_score column_score(const work *w, column c)
{
    double version[XB_VERSIONS];
    for (int v = 0; v < w->groups.versions; v++)
        version[v] = all_of(w, v).sum[c] / (double)w->n;
    xb_score score = xb_score_mean(w->value + c * w->n, w->n);
    score.mc_error = xb_score_mc_error(version, &w->groups);
    return score;
}

/* (C19) */
static double calibration_error(const work *w)
{
    const tally t = all_of(w, 0);
    double sum = 0;
    for (int64_t b = 0; b < w->bins; b++) sum += fabs(t.confidence[b] - t.hits[b]);
    return sum / (double)w->n;
}

/* Each point counts with the sign of its bin's excess of confidence. */
static double calibration_std_error(const work *w)
{
    const tally t = all_of(w, 0);
    double *signed_gap = w->value + INFORMATION * w->n; /* this memory is free: its scores
                                                           have been taken */
    for (int64_t i = 0; i < w->n; i++) {
        int64_t b = xb_confidence_bin(w->confidence[i], w->bins);
        double excess = t.confidence[b] - t.hits[b];
        double gap = w->confidence[i] - w->value[HIT * w->n + i];
        signed_gap[i] = excess >= 0 ? gap : -gap;
    }
    return xb_score_mean(signed_gap, w->n).std_error;
}

/* The bins, and each point's columns, of which confidence is the last. */
static void fill_arrays(xb_scores *out, const work *w)
{
    const tally t = all_of(w, 0);
    for (int64_t b = 0; b < w->bins; b++) {
        out->array[XB_ARRAY_BIN_SHARE][b] = t.count[b] / (double)w->n;
        out->array[XB_ARRAY_BIN_CONFIDENCE][b] =
            t.count[b] > 0 ? t.confidence[b] / t.count[b] : NAN;
        out->array[XB_ARRAY_BIN_ACCURACY][b] =
            t.count[b] > 0 ? t.hits[b] / t.count[b] : NAN;
    }
    for (int c = 0; c <= COLUMNS; c++)
        memcpy(out->array[XB_ARRAY_POINTS + c], w->value + c * w->n,
               (size_t)w->n * sizeof(double));
}

/* Accuracy and ECE of each shake, from the tallies of all pieces. */
static void sum_shakes(double hits[XB_SHAKES], double ece[XB_SHAKES], const work *w)
{
    for (int r = 0; r < XB_SHAKES; r++) {
        hits[r] = ece[r] = 0;
        for (int64_t p = 0; p < w->pieces; p++)
            hits[r] += shaken_sums(w, p, r)[0] / (double)w->n;
        for (int64_t b = 0; b < w->bins; b++) {
            double excess = 0;
            for (int64_t p = 0; p < w->pieces; p++) excess += shaken_sums(w, p, r)[1 + b];
            ece[r] += fabs(excess) / (double)w->n;
        }
    }
}

static void score_columns(xb_score *score, const work *w)
{
    double hits[XB_SHAKES], ece[XB_SHAKES];
    sum_shakes(hits, ece, w);
    double accuracy = all_of(w, 0).sum[HIT] / (double)w->n;
    score[XB_CLASS_ACCURACY] = (xb_score){accuracy, xb_share_error(accuracy, w->n),
                                          xb_jackknife_shake_error(hits, &w->groups)};
    score[XB_CLASS_NLL] = column_score(w, NLL);
    score[XB_CLASS_BRIER] = column_score(w, BRIER);
    score[XB_CLASS_ENTROPY] = column_score(w, ENTROPY);
    score[XB_CLASS_INFORMATION] = column_score(w, INFORMATION);
    score[XB_CLASS_ECE] = (xb_score){calibration_error(w), calibration_std_error(w),
                                     xb_jackknife_shake_error(ece, &w->groups)};
    score[XB_CLASS_ECE_FLOOR].value = xb_ece_floor(w->confidence, w->n, w->bins);
}

xb_status xb_class_scorer_sum(xb_ctx *ctx, xb_scores **out, xb_class_scorer *w)
{
    xb_scores *found = NULL;
    XB_TRY(xb_scores_create(ctx, &found, w->n, w->draws, w->classes, w->bins));
    add_pieces(w);
    fill_arrays(found, w);
    score_columns(found->score, w);
    *out = found;
    return XB_OK;
}

xb_status xb_class_scorer_add(xb_ctx *ctx, xb_class_scorer *w,
                              const xb_class_draws *predictive, const int64_t *label)
{
    w->in = predictive, w->label = label;
    XB_TRY(check(ctx, w));
    xb_parallel_for(ctx, w->pieces, score_piece, w);
    w->at += predictive->n;
    return XB_OK;
}

xb_status xb_score_classes(xb_ctx *ctx, xb_scores **out, const xb_class_draws *predictive,
                           const int64_t *label, const xb_score_options *opt)
{
    xb_score_options chosen;
    XB_TRY(XB_OPTIONS_READ(ctx, score, &chosen, opt, fair));
    xb_class_scorer *w = NULL;
    XB_TRY(xb_class_scorer_create(ctx, &w, predictive->n, predictive->draws,
                                  predictive->classes, chosen.bins));
    xb_status status = xb_class_scorer_add(ctx, w, predictive, label);
    if (status == XB_OK) status = xb_class_scorer_sum(ctx, out, w);
    xb_class_scorer_destroy(w);
    return status;
}
