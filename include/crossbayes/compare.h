/* crossbayes/compare.h: how good a predictive is, and how far two samples are apart.
 *
 *     xb_mixture p = {.mean = m, .sd = a, .draws = 1000, .n = n};  // m, a: [1000][n]
 *     xb_scores *s = NULL;
 *     if (xb_score_regression(ctx, &s, &p, y, NULL) != XB_OK) ...
 *     xb_score crps = xb_scores_get(s, "crps");
 *     printf("crps %g +- %g\n", crps.value, crps.std_error);
 *     xb_scores_destroy(s);
 *
 *     xb_distances *d = NULL;                           // the same draws under two laws
 *     xb_distance_options opt = xb_distance_options_default();
 *     opt.paired = true;
 *     if (xb_distance_samples(ctx, &d, m, 1000, m_other, 1000, n, &opt) != XB_OK) ...
 *     puts(xb_verdict_name(xb_distances_verdict(d)));
 *     xb_distances_destroy(d);
 *
 * Arrays are row-major and borrowed. A value that is not finite is refused with its
 * place. The same bytes at any number of threads. Formulas: docs/maths.md, section C.
 */
#ifndef CROSSBAYES_COMPARE_H
#define CROSSBAYES_COMPARE_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A score and its two errors. The first tells two data sets of this size apart, the
 * second two runs of the same model: only it shrinks with more weight draws. Frozen: it
 * gets no further fields. */
typedef struct xb_score {
    double value;
    double std_error; /* over test points, taken as independent; NAN for n = 1 */
    double mc_error;  /* over weight draws, grouped jackknife (C2), or shaken where points
                         are counted (C20); NAN for one draw */
} xb_score;

/* A predictive at n test points: at each an equal mixture over weight draws of
 * N(mean, sd^2). With sd NULL the means are plain predictive samples. Frozen. */
typedef struct xb_mixture {
    const double *mean; /* [draws][n] */
    const double *sd;   /* [draws][n], or [n] if sd_shared; >= 0; or NULL */
    int64_t draws;
    int64_t n;
    bool sd_shared;
} xb_mixture;

typedef struct xb_score_options {
    size_t struct_size;
    double interval;        /* 0.95: of coverage and width, in (0, 1) */
    const double *quantile; /* levels of the pinball loss; NULL: 0.1, 0.2, .. 0.9 */
    int64_t quantiles;      /* how many, 1 or more */
    int64_t bins;           /* 15: of the expected calibration error, 1 to 1000000 */
    bool fair;              /* true: CRPS free of the bias of few draws (C5) */
} xb_score_options;

XB_OPTIONS(score);

/* The scores of a predictive, by name.
 *
 * Numbers, in the target's own units; the point forecast is the predictive mean:
 *     rmse, mae, nll (per point; INFINITY where a predictive has no spread; for plain
 *     samples that of a kernel estimate, C4), crps, coverage (share of targets in the
 *     central interval), coverage_uncertain (the same among the quarter of the points
 *     with the largest epistemic sd, C26) and width of that interval, pinball (mean over
 * points and levels), miscalibration_area (between the calibration curve and the
 * diagonal), miscalibration_floor (its mean for a perfectly calibrated predictive),
 * sharpness (root mean predictive variance) and its parts epistemic, aleatoric;
 * disagreement (share of the epistemic variance that lies between an ensemble's members,
 * P7) Classes: accuracy, nll, brier, ece (expected calibration error, biased upwards by
 * noise), ece_floor (its mean for a perfectly calibrated classifier, C21), entropy (of
 * the predictive), information (mutual information of class and weights: epistemic),
 *     disagreement (the share of it that lies between an ensemble's members, P7)
 *
 * disagreement is NAN where xb_score_model did not score an ensemble.
 * The floors have no errors of their own (NAN). Names that are here stay; more may come.
 */
typedef struct xb_scores xb_scores;

XB_API void xb_scores_destroy(xb_scores *s); /* NULL is fine */

XB_API int64_t xb_scores_points(const xb_scores *s); /* test points, n */
XB_API int64_t xb_scores_draws(const xb_scores *s);
XB_API int64_t xb_scores_classes(const xb_scores *s); /* 0: numbers */

/* Score i, 0 <= i < count; beyond, the name and the texts are NULL, the numbers NAN. */
XB_API int64_t xb_scores_count(const xb_scores *s);
XB_API const char *xb_scores_name(const xb_scores *s, int64_t i);
XB_API int64_t xb_scores_find(const xb_scores *s, const char *name); /* -1: none */
XB_API xb_score xb_scores_at(const xb_scores *s, int64_t i);
XB_API xb_score xb_scores_get(const xb_scores *s, const char *name); /* NAN: none */
/* What it is, in a few words; its unit: "target" (the target's own), "nats", or "" for
 * shares; 1 if larger is better, -1 if smaller is, 0 if neither. */
XB_API const char *xb_scores_about(const xb_scores *s, int64_t i);
XB_API const char *xb_scores_unit(const xb_scores *s, int64_t i);
XB_API int64_t xb_scores_better(const xb_scores *s, int64_t i);

/* Scores of each of several targets, borrowed; of one target (count 1) the scores
 * themselves. Beyond the last NULL, as is a name that nobody gave: those of a model have
 * its targets' names where there are several. */
XB_API int64_t xb_scores_target_count(const xb_scores *s);
XB_API const char *xb_scores_target_name(const xb_scores *s, int64_t k);
XB_API const xb_scores *xb_scores_target_at(const xb_scores *s, int64_t k);

/* Arrays behind the scores, by name; `size` (NULL is fine) is how long each is.
 *
 * Numbers: the calibration curve of Kendall & Gal, XB_CALIBRATION_LEVELS long: level
 *     0.01 .. 0.99, share of the targets inside the central interval of that level, and
 *     share_error over test points; for each point, n long: square_error,
 *     absolute_error, nll, crps, pit (the predictive cdf at the target, C6), epistemic
 *     (sd)
 * Classes: the reliability diagram, one number for each bin (b, b+1] / bins: bin_share of
 *     the points, bin_confidence and bin_accuracy, NAN in an empty bin; for each point:
 *     hit, nll, brier, entropy, information, confidence
 *
 * The same points under two laws differ by far less than two data sets do: see
 * xb_score_difference. */
XB_API int64_t xb_scores_array_count(const xb_scores *s);
XB_API const char *xb_scores_array_name(const xb_scores *s, int64_t i);
XB_API int64_t xb_scores_array_find(const xb_scores *s, const char *name); /* -1: none */
XB_API const double *xb_scores_array_at(const xb_scores *s, int64_t i, int64_t *size);
XB_API const double *xb_scores_array_get(const xb_scores *s, const char *name,
                                         int64_t *size); /* NULL: none */

#ifndef XB_CALIBRATION_LEVELS
#define XB_CALIBRATION_LEVELS 99
#endif

/* Reasons not to rely on these scores, a sentence each. */
XB_API int64_t xb_scores_doubt_count(const xb_scores *s);
XB_API const char *xb_scores_doubt_at(const xb_scores *s, int64_t i);

/* y: [n]. `opt` may be NULL. n >= 1, draws >= 1. */
XB_API xb_status xb_score_regression(xb_ctx *ctx, xb_scores **out,
                                     const xb_mixture *predictive, const double *y,
                                     const xb_score_options *opt);

/* Several targets of each of n points at once: predictive->n is n targets, values of one
 * point side by side, and so is y [n][targets]; independent noise on each, the draws
 * shared. The scores of each target are in xb_scores_target_at; of all together there are
 * nll, of the joint density of a point's targets (C30), with its array, and coverage, the
 * mean of theirs; the others are NAN. targets 1: as xb_score_regression. */
XB_API xb_status xb_score_targets(xb_ctx *ctx, xb_scores **out,
                                  const xb_mixture *predictive, const double *y,
                                  int64_t targets, const xb_score_options *opt);

/* Class probabilities of each weight draw; each row adds up to 1 within 1e-4. Frozen. */
typedef struct xb_class_draws {
    const double *p; /* [draws][n][classes] */
    int64_t draws, n, classes;
} xb_class_draws;

/* label: [n], 0 <= label < classes. */
XB_API xb_status xb_score_classes(xb_ctx *ctx, xb_scores **out,
                                  const xb_class_draws *predictive, const int64_t *label,
                                  const xb_score_options *opt);

/* Mean of a - b over points scored by both, its standard error knowing the pairs.
 * mc_error is NAN. */
XB_API xb_status xb_score_difference(xb_ctx *ctx, xb_score *out, const double *a,
                                     const double *b, int64_t n);

/* (C24) The area under the ROC curve of a measure that should be larger `outside`, [m],
 * than `inside`, [n]: the share of pairs where it is, ties half; its error is DeLong's. n
 * and m 1 or more, values finite. mc_error is NAN. */
XB_API xb_status xb_auroc(xb_ctx *ctx, xb_score *out, const double *inside, int64_t n,
                          const double *outside, int64_t m);

/* (C25) Risk against coverage: risk[k] is the mean loss of the k + 1 most certain of n
 * points, *area the mean of risk, which for an order by chance is the mean loss. Points
 * of one uncertainty share their mean loss. n 1 or more, values finite. */
XB_API xb_status xb_selective_risk(xb_ctx *ctx, double *risk, double *area,
                                   const double *uncertainty, const double *loss,
                                   int64_t n);

/* A distance between two samples, at each of n points, averaged over the points. Frozen.
 */
typedef struct xb_distance {
    double value;
    double std_error; /* grouped jackknife over draws (C2); NAN for one draw */
    double p_value;   /* that one law made both, by permutation (C16); NAN without */
    double floor;     /* what two samples of one law, a mixture of both, would read
                         (root mean square, C16): below it nothing is resolved. NAN
                         without permutations */
} xb_distance;

typedef enum xb_verdict {
    XB_VERDICT_SAME,      /* at most the tolerance apart, noise included */
    XB_VERDICT_DIFFERENT, /* more than the tolerance apart, noise taken off */
    XB_VERDICT_UNRESOLVED /* cannot tell: not enough draws; always with fewer than 20 */
} xb_verdict;

/* More draws than this are out of reach. */
#define XB_DRAWS_MOST 1e7

/* A difference over n points and what Monte Carlo noise does to it (C17). The true root
 * mean square lies in [least, bound], for all three gaps of xb_distances at once, with
 * 95 %: below the tolerance is the same, above it different. Frozen. */
typedef struct xb_gap {
    double rms;    /* root mean square over points as measured, noise included */
    double noise;  /* root mean square of its Monte Carlo error */
    double excess; /* sqrt(rms^2 - noise^2), 0 if noise explains all */
    double least, bound;
    double largest; /* the difference of largest size, with its sign */
    double largest_error;
    int64_t largest_at;
    double draws_needed; /* for a verdict, if the gap is `excess`: never fewer than there
                            were; INFINITY beyond XB_DRAWS_MOST, where the gap is too
                            near the tolerance */
    xb_verdict verdict;
} xb_gap;

/* How far two samples a and b are apart, by name.
 *
 * Distances:
 *     kl           KL(a || b), nats, k nearest neighbours (C15); may be negative. Its
 *                  error is that of the draws alone, without the bias, which is large
 *                  where KL is (xb_kl_at_least holds). Points where more than k values
 *                  coincide are left out; NAN if no other is there or k is -1
 *     energy       2E|a-b|^e - E|a-a'|^e - E|b-b'|^e, unbiased (C14)
 *     wasserstein  W1 (C12)
 *     ks           largest distance of the cdfs (C13)
 * Gaps, each with a verdict:
 *     mean         mean a - mean b
 *     sd           (sd a - sd b) / pooled sd
 *     whole        the distributions, shape and all: the shift of one of two equal
 *                  Gaussians that has the same energy distance */
typedef struct xb_distances xb_distances;

XB_API void xb_distances_destroy(xb_distances *d); /* NULL is fine */

XB_API int64_t xb_distances_points(const xb_distances *d); /* n */
XB_API int64_t xb_distances_draws_a(const xb_distances *d);
XB_API int64_t xb_distances_draws_b(const xb_distances *d);
XB_API int64_t xb_distances_neighbours(const xb_distances *d); /* k used */
XB_API int64_t xb_distances_kl_points(const xb_distances *d); /* that kl is the mean of */

/* Beyond the last the name is NULL and the numbers are NAN, as for a name there is not.
 */
XB_API int64_t xb_distances_count(const xb_distances *d);
XB_API const char *xb_distances_name(const xb_distances *d, int64_t i);
XB_API int64_t xb_distances_find(const xb_distances *d, const char *name); /* -1: none */
XB_API xb_distance xb_distances_at(const xb_distances *d, int64_t i);
XB_API xb_distance xb_distances_get(const xb_distances *d, const char *name);

XB_API int64_t xb_distances_gap_count(const xb_distances *d);
XB_API const char *xb_distances_gap_name(const xb_distances *d, int64_t i);
XB_API int64_t xb_distances_gap_find(const xb_distances *d, const char *name);
XB_API xb_gap xb_distances_gap_at(const xb_distances *d, int64_t i);
XB_API xb_gap xb_distances_gap_get(const xb_distances *d, const char *name);

/* Of the three gaps: different if one is, the same if all are. */
XB_API xb_verdict xb_distances_verdict(const xb_distances *d);
/* The most that a gap asks for (xb_gap.draws_needed). */
XB_API double xb_distances_draws_needed(const xb_distances *d);

typedef struct xb_distance_options {
    size_t struct_size;
    bool paired;        /* draw i of a and draw i of b share their random numbers: say so,
                           or energy and kl are biased low */
    bool standardise;   /* energy, wasserstein and mean in units of each point's pooled
                           standard deviation (own units where that is 0) */
    double exponent;    /* 1: of the energy distance, in (0, 2); other than 1 costs
                           (draws_a + draws_b)^2 and allows 65536 draws a sample */
    int64_t neighbours; /* 0: square root of the smaller number of draws; -1: no kl */
    int64_t permutations; /* 199; 0: no p-values and floors */
    double tolerance;     /* 0.01: of the verdicts */
    uint64_t seed;        /* of the permutations */
    double memory;        /* 0: draws are independent of each other. Else their integrated
                             autocorrelation time in draws, as of reads of devices that
                             remember: only pairs of draws of different groups of the
                             jackknife count (C14), and a verdict needs groups of five
                             times as many draws. For paired draws and exponent 1 */
} xb_distance_options;

XB_OPTIONS(distance);

/* a: [draws_a][n], b: [draws_b][n]; n = 1 for two plain samples. Draws in the order
 * they were made: neighbours that depend on each other (antithetic pairs) stay
 * together in the groups of the jackknife. opt NULL: the defaults. */
XB_API xb_status xb_distance_samples(xb_ctx *ctx, xb_distances **out, const double *a,
                                     int64_t draws_a, const double *b, int64_t draws_b,
                                     int64_t n, const xb_distance_options *opt);

/* A lower bound of KL(a || b), nats, the mean over n points: it holds with 95 % (C22). 0
 * where nothing is resolved, NAN for fewer than 200 draws. There is no upper one: where b
 * never goes KL is infinite, and no sample tells how rarely a does. a, b: [draws][n],
 * with shared random numbers or without. */
XB_API xb_status xb_kl_at_least(xb_ctx *ctx, double *nats, const double *a,
                                const double *b, int64_t draws, int64_t n);

/* "same", "different", "cannot tell"; never NULL. */
XB_API const char *xb_verdict_name(xb_verdict verdict);

#ifdef __cplusplus
}
#endif
#endif
