/* crossbayes/compare.h: scores of a predictive, and distances between two samples.
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
 * Arrays are row-major and borrowed. A value that is not finite is refused, with its
 * position. Results have the same bytes for any number of threads. Formulas:
 * docs/maths.md, section C.
 */
#ifndef CROSSBAYES_COMPARE_H
#define CROSSBAYES_COMPARE_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A score and its two errors. The first is the variation between data sets of this size,
 * the second the variation between runs of the same model, which alone shrinks with more
 * weight draws. A frozen value. */
typedef struct xb_score {
    double value;
    double std_error; /* over test points, assumed to be independent; NAN for n = 1 */
    double mc_error; /* over weight draws, by a grouped jackknife (C2), or by perturbation
                        for scores that count points (C20); NAN for one draw */
} xb_score;

/* A predictive at n test points: at each point, an equal mixture of N(mean, sd^2) over
 * weight draws. With sd NULL the means are plain predictive samples. A frozen value. */
typedef struct xb_mixture {
    const double *mean; /* [draws][n] */
    const double *sd;   /* [draws][n], or [n] if sd_shared; >= 0; or NULL */
    int64_t draws;
    int64_t n;
    bool sd_shared;
} xb_mixture;

typedef struct xb_score_options {
    size_t struct_size;
    double interval; /* 0.95: probability inside the interval of coverage and width, in
                        (0, 1) */
    const double *quantile; /* levels of the pinball loss; NULL: 0.1, 0.2, .. 0.9 */
    int64_t quantiles;      /* number of levels, 1 or more */
    int64_t bins;           /* 15: bins of the expected calibration error, 1 to 1000000 */
    bool fair;              /* true: CRPS without the bias from few draws (C5) */
} xb_score_options;

XB_OPTIONS(score);

/* The scores of a predictive, by name.
 *
 * Numbers, in the target's own units, with the predictive mean as the point forecast:
 *     rmse, mae
 *     nll          per point; INFINITY if a predictive has no spread; for plain samples
 *                  that of a kernel estimate (C4)
 *     crps
 *     coverage     share of targets in the central interval
 *     coverage_uncertain
 *                  the same among the quarter of the points with the largest epistemic
 *                  sd (C26)
 *     width        of that interval
 *     pinball      mean over points and levels
 *     miscalibration_area
 *                  between the calibration curve and the diagonal
 *     miscalibration_floor
 *                  its mean for a perfectly calibrated predictive
 *     sharpness    root mean predictive variance, and its parts epistemic and aleatoric
 *     disagreement_share
 *                  of the epistemic variance: the part between an ensemble's members (P7)
 *
 * Classes:
 *     accuracy, nll, brier
 *     ece          expected calibration error, which noise biases upwards
 *     ece_floor    its mean for a perfectly calibrated classifier (C21)
 *     entropy      of the predictive
 *     information  mutual information of class and weights: the epistemic part
 *     disagreement_share
 *                  of the information: the part between an ensemble's members (P7)
 *
 * disagreement_share is NAN unless xb_score_model scored an ensemble. The floors have no
 * errors of their own (NAN). These names will stay; later versions may add others. */
typedef struct xb_scores xb_scores;

XB_API void xb_scores_destroy(xb_scores *s); /* NULL is fine */

XB_API int64_t xb_scores_points(const xb_scores *s); /* test points, n */
XB_API int64_t xb_scores_draws(const xb_scores *s);
XB_API int64_t xb_scores_classes(const xb_scores *s); /* 0: numbers */

/* Score i, 0 <= i < count; beyond the last, the name and the texts are NULL and the
 * numbers NAN. */
XB_API int64_t xb_scores_count(const xb_scores *s);
XB_API const char *xb_scores_name(const xb_scores *s, int64_t i);
XB_API int64_t xb_scores_find(const xb_scores *s, const char *name); /* -1: none */
XB_API xb_score xb_scores_at(const xb_scores *s, int64_t i);
XB_API xb_score xb_scores_get(const xb_scores *s, const char *name); /* NAN: none */
/* Its meaning in a few words; its unit: "target" (the target's own), "nats", or "" for
 * shares; and 1 if larger is better, -1 if smaller is better, 0 if neither. */
XB_API const char *xb_scores_about(const xb_scores *s, int64_t i);
XB_API const char *xb_scores_unit(const xb_scores *s, int64_t i);
XB_API int64_t xb_scores_better(const xb_scores *s, int64_t i);

/* The scores of each of several targets, borrowed; with one target (count 1) these are
 * the scores themselves. Beyond the last they are NULL, and so is a name that was not
 * given; scores of a model with several targets have the targets' names. */
XB_API int64_t xb_scores_target_count(const xb_scores *s);
XB_API const char *xb_scores_target_name(const xb_scores *s, int64_t k);
XB_API const xb_scores *xb_scores_target_at(const xb_scores *s, int64_t k);

/* Arrays behind the scores, by name; `size` (NULL is fine) receives their length.
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

/* Reasons why these scores may be unreliable, one sentence each. */
XB_API int64_t xb_scores_doubt_count(const xb_scores *s);
XB_API const char *xb_scores_doubt_at(const xb_scores *s, int64_t i);

/* y: [n]. `opt` may be NULL. n >= 1, draws >= 1. */
XB_API xb_status xb_score_regression(xb_ctx *ctx, xb_scores **out,
                                     const xb_mixture *predictive, const double *y,
                                     const xb_score_options *opt);

/* Scores several targets of each of n points at once: predictive->n is n times targets,
 * with the values of one point side by side, as in y [n][targets]. Targets have
 * independent noise and share the weight draws. The scores of each target are in
 * xb_scores_target_at. The joint scores are nll, of the joint density of a point's
 * targets (C30), with its array, and coverage, the mean over targets; the others are NAN.
 * With targets = 1 this is xb_score_regression. */
XB_API xb_status xb_score_targets(xb_ctx *ctx, xb_scores **out,
                                  const xb_mixture *predictive, const double *y,
                                  int64_t targets, const xb_score_options *opt);

/* Class probabilities of each weight draw; each row adds up to 1 within 1e-4. A frozen
 * value. */
typedef struct xb_class_draws {
    const double *p; /* [draws][n][classes] */
    int64_t draws, n, classes;
} xb_class_draws;

/* label: [n], 0 <= label < classes. */
XB_API xb_status xb_score_classes(xb_ctx *ctx, xb_scores **out,
                                  const xb_class_draws *predictive, const int64_t *label,
                                  const xb_score_options *opt);

/* The mean of a - b over points scored by both, with a standard error that accounts for
 * the pairing. mc_error is NAN. */
XB_API xb_status xb_score_difference(xb_ctx *ctx, xb_score *out, const double *a,
                                     const double *b, int64_t n);

/* (C24) The area under the ROC curve of a measure that should be larger `outside`, [m],
 * than `inside`, [n]: the share of pairs where it is larger, with ties counted as half;
 * its error is DeLong's. n and m are 1 or more, and values are finite. mc_error is NAN.
 */
XB_API xb_status xb_auroc(xb_ctx *ctx, xb_score *out, const double *inside, int64_t n,
                          const double *outside, int64_t m);

/* (C25) Risk against coverage: risk[k] is the mean loss of the k + 1 most certain of n
 * points, and *area is the mean of risk, which for a random order is the mean loss.
 * Points of equal uncertainty share their mean loss. n is 1 or more, and values are
 * finite. */
XB_API xb_status xb_selective_risk(xb_ctx *ctx, double *risk, double *area,
                                   const double *uncertainty, const double *loss,
                                   int64_t n);

/* A distance between two samples at each of n points, averaged over the points. A frozen
 * value.
 */
typedef struct xb_distance {
    double value;
    double std_error; /* grouped jackknife over draws (C2); NAN for one draw */
    double p_value;   /* p-value of the hypothesis that both have the same law, by
                         permutation (C16); NAN without permutations */
    double floor; /* root mean square distance of two samples of the same law, a mixture
                     of both (C16): smaller distances are not resolved. NAN without
                     permutations */
} xb_distance;

typedef enum xb_verdict {
    XB_VERDICT_SAME,      /* at most the tolerance apart, noise included */
    XB_VERDICT_DIFFERENT, /* more than the tolerance apart, even after noise is subtracted
                           */
    XB_VERDICT_UNRESOLVED /* cannot tell: too few draws; always with fewer than 20 */
} xb_verdict;

/* The largest number of draws that is considered feasible. */
#define XB_DRAWS_MAX 1e7

/* A difference over n points and its Monte Carlo noise (C17). The true root mean square
 * lies in [lower, upper] with 95 % confidence, jointly for all three gaps of
 * xb_distances: if upper is below the tolerance, the verdict is same; if lower is above
 * it, different. A frozen value. */
typedef struct xb_gap {
    double rms;    /* root mean square over points as measured, noise included */
    double noise;  /* root mean square of its Monte Carlo error */
    double excess; /* sqrt(rms^2 - noise^2), 0 if noise explains everything */
    double lower, upper;
    double largest; /* the difference of largest size, with its sign */
    double largest_error;
    int64_t largest_at;
    double draws_needed; /* for a verdict, if the true gap is `excess`; never fewer than
                            there were; INFINITY beyond XB_DRAWS_MAX, when the gap is too
                            close to the tolerance */
    xb_verdict verdict;
} xb_gap;

/* The distances between two samples a and b, by name.
 *
 * Distances:
 *
 * - kl: KL(a || b) in nats, by k nearest neighbours (C15); it may be negative. Its error
 * covers the draws alone, not the bias, which is large where KL is large
 * (xb_distance_kl_lower is a reliable bound). Points where more than k values coincide
 * are left out; NAN if no point is left or k is -1
 * - energy: 2E|a-b|^e - E|a-a'|^e - E|b-b'|^e, unbiased (C14)
 * - wasserstein: W1 (C12)
 * - ks: largest distance of the cdfs (C13)
 *
 * Gaps, each with a verdict:
 *
 * - mean: mean a - mean b
 * - sd: (sd a - sd b) / pooled sd
 * - whole: the whole distributions, including their shape, given as the shift between two
 * equal Gaussians that have the same energy distance */
typedef struct xb_distances xb_distances;

XB_API void xb_distances_destroy(xb_distances *d); /* NULL is fine */

XB_API int64_t xb_distances_points(const xb_distances *d); /* n */
XB_API int64_t xb_distances_draws_a(const xb_distances *d);
XB_API int64_t xb_distances_draws_b(const xb_distances *d);
XB_API int64_t xb_distances_neighbours(const xb_distances *d); /* k used */
XB_API int64_t xb_distances_kl_points(
    const xb_distances *d); /* number of points that kl averages over */

/* Beyond the last distance the name is NULL and the numbers are NAN, as for an unknown
 * name.
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

/* The verdict of the three gaps together: different if one is different, same if all are
 * the same. */
XB_API xb_verdict xb_distances_verdict(const xb_distances *d);
/* The largest xb_gap.draws_needed of the three gaps. */
XB_API double xb_distances_draws_needed(const xb_distances *d);

typedef struct xb_distance_options {
    size_t struct_size;
    bool paired; /* draw i of a and draw i of b share their random numbers. Set this if
                    they do, else energy and kl are biased low */
    bool standardise;     /* energy, wasserstein and mean in units of each point's pooled
                             standard deviation (in own units if that is 0) */
    double exponent;      /* 1: of the energy distance, in (0, 2); other than 1 costs
                             (draws_a + draws_b)^2 and allows 65536 draws per sample */
    int64_t neighbours;   /* 0: square root of the smaller number of draws; -1: no kl */
    int64_t permutations; /* 199; 0: no p-values and floors */
    double tolerance; /* 0.01: largest gap that counts as the same, in the units of the
                         gaps: with `standardise` in pooled standard deviations */
    uint64_t seed;    /* 0: seed of the permutations */
    double memory; /* 0: draws are independent of each other. Otherwise their integrated
                      autocorrelation time in draws, e.g. for correlated reads of devices:
                      then only pairs of draws from different groups of the jackknife
                      count (C14), and a verdict needs groups of five times as many draws.
                      For paired draws and exponent 1 only */
} xb_distance_options;

XB_OPTIONS(distance);

/* a: [draws_a][n], b: [draws_b][n]; n = 1 for two plain samples. Draws must be in the
 * order they were made, so that dependent neighbours (antithetic pairs) stay together in
 * the groups of the jackknife. opt NULL: the defaults. */
XB_API xb_status xb_distance_samples(xb_ctx *ctx, xb_distances **out, const double *a,
                                     int64_t draws_a, const double *b, int64_t draws_b,
                                     int64_t n, const xb_distance_options *opt);

/* A lower bound of KL(a || b) in nats, averaged over n points, with 95 % confidence
 * (C22). It is 0 if nothing is resolved, and NAN with fewer than 200 draws. There is no
 * upper bound: KL is infinite if a reaches values that b never takes, and no sample shows
 * how rarely that happens. a, b: [draws][n], with shared random numbers or without. */
XB_API xb_status xb_distance_kl_lower(xb_ctx *ctx, double *nats, const double *a,
                                      const double *b, int64_t draws, int64_t n);

/* "same", "different", "cannot tell"; never NULL. */
XB_API const char *xb_verdict_name(xb_verdict verdict);

#ifdef __cplusplus
}
#endif
#endif
