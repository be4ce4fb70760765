/* crossbayes/compare.h: how good a predictive is, and how far two samples are apart.
 *
 *     xb_mixture p = {.mean = m, .sd = a, .draws = 1000, .n = n};  // m, a: [1000][n]
 *     xb_regression_scores s;
 *     xb_score_regression(ctx, &s, NULL, &p, y, NULL);
 *     printf("crps %g +- %g\n", s.crps.value, s.crps.std_error);
 *
 *     xb_distances d;                                   // the same draws under two laws
 *     xb_distance_options opt = xb_distance_options_default();
 *     opt.paired = true;
 *     xb_distance_samples(ctx, &d, m, 1000, m_other, 1000, n, &opt);
 *
 * Pure numbers in, plain structs out: nothing to free. Arrays are row-major and
 * borrowed. A value that is not finite is refused with its place. The same bytes at
 * any number of threads. Formulas: docs/maths.md, section C.
 */
#ifndef CROSSBAYES_COMPARE_H
#define CROSSBAYES_COMPARE_H

#include "crossbayes/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A score and its two errors. The first tells two data sets of this size apart, the
 * second two runs of the same model: only it shrinks with more weight draws. */
typedef struct xb_score {
    double value;
    double std_error; /* over test points, taken as independent; NAN for n = 1 */
    double mc_error;  /* over weight draws, grouped jackknife (C2), or shaken where points
                         are counted (C20); NAN for one draw */
} xb_score;

/* A predictive at n test points: at each an equal mixture over weight draws of
 * N(mean, sd^2). With sd NULL the means are plain predictive samples. */
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
    int quantiles;          /* how many, at most XB_SCORE_QUANTILES */
    bool fair;              /* true: CRPS free of the bias of few draws (C5) */
    int bins;               /* 15: of the expected calibration error */
} xb_score_options;

#define XB_SCORE_QUANTILES 64
#define XB_CALIBRATION_LEVELS 99
#define XB_CALIBRATION_BINS 100

XB_OPTIONS(score);

/* All in the target's own units. The point forecast of rmse and mae is the
 * predictive mean. nll is per point; INFINITY is possible where a predictive has no
 * spread; for plain samples it is that of a kernel estimate (C4). */
typedef struct xb_regression_scores {
    int64_t n, draws;
    xb_score rmse, mae, nll, crps;
    xb_score coverage;            /* share of targets in the central interval */
    xb_score width;               /* mean width of that interval */
    xb_score pinball;             /* mean over points and levels */
    xb_score miscalibration_area; /* between the calibration curve and the diagonal */
    double miscalibration_floor;  /* its mean for a perfectly calibrated predictive */
    xb_score sharpness;           /* root mean predictive variance, and its parts */
    xb_score epistemic, aleatoric;
    /* Kendall & Gal: share of targets inside the central level-interval. */
    double level[XB_CALIBRATION_LEVELS]; /* 0.01 .. 0.99 */
    double share[XB_CALIBRATION_LEVELS];
    double share_error[XB_CALIBRATION_LEVELS]; /* over test points */
} xb_regression_scores;

/* Per point, where wanted (each NULL or [n]): the same points under two laws differ
 * by far less than two data sets do, see xb_score_difference. */
typedef struct xb_point_scores {
    double *square_error, *absolute_error, *nll, *crps;
    double *pit; /* predictive cdf at the target, (C6) */
} xb_point_scores;

/* y: [n]. `points` and `opt` may be NULL. n >= 1, draws >= 1. */
XB_API xb_status xb_score_regression(xb_ctx *ctx, xb_regression_scores *out,
                                     const xb_point_scores *points,
                                     const xb_mixture *predictive, const double *y,
                                     const xb_score_options *opt);

/* Class probabilities of each weight draw; each row adds up to 1 within 1e-4. */
typedef struct xb_class_draws {
    const double *p; /* [draws][n][classes] */
    int64_t draws, n, classes;
} xb_class_draws;

typedef struct xb_class_scores {
    int64_t n, draws, classes;
    xb_score accuracy, nll, brier;
    xb_score ece;         /* expected calibration error; biased upwards by noise */
    double ece_floor;     /* its mean for a perfectly calibrated classifier (C21) */
    xb_score entropy;     /* of the predictive, nats */
    xb_score information; /* mutual information of class and weights: epistemic */
    int bins;             /* reliability diagram: bin b is (b, b+1] / bins */
    double bin_share[XB_CALIBRATION_BINS];      /* of the points */
    double bin_confidence[XB_CALIBRATION_BINS]; /* NAN in an empty bin */
    double bin_accuracy[XB_CALIBRATION_BINS];
} xb_class_scores;

/* label: [n], 0 <= label < classes. */
XB_API xb_status xb_score_classes(xb_ctx *ctx, xb_class_scores *out,
                                  const xb_class_draws *predictive, const int64_t *label,
                                  const xb_score_options *opt);

/* Mean of a - b over points scored by both, its standard error knowing the pairs.
 * mc_error is NAN. */
XB_API xb_status xb_score_difference(xb_ctx *ctx, xb_score *out, const double *a,
                                     const double *b, int64_t n);

/* A distance between two samples, at each of n points, averaged over the points. */
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
 * 95 %: below the tolerance is the same, above it different. */
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

typedef struct xb_distances {
    int64_t n, draws_a, draws_b;
    int neighbours;          /* k used */
    xb_distance kl;          /* KL(a || b), nats, k nearest neighbours (C15); may be
                                negative. Its error is that of the draws alone, without
                                the bias, which is large where KL is (xb_kl_at_least
                                holds). Points where more than k values coincide are
                                left out; NAN if no other is there or k is -1 */
    int64_t kl_points;       /* those it is the mean of */
    xb_distance energy;      /* 2E|a-b|^e - E|a-a'|^e - E|b-b'|^e, unbiased (C14) */
    xb_distance wasserstein; /* W1 (C12) */
    xb_distance ks;          /* largest distance of the cdfs (C13) */
    xb_gap mean;             /* mean a - mean b */
    xb_gap sd;               /* (sd a - sd b) / pooled sd */
    xb_gap whole;            /* the distributions, shape and all: the shift of one of two
                                equal Gaussians that has the same energy distance */
    xb_verdict verdict;      /* of the three: different if one is, the same if all are */
} xb_distances;

typedef struct xb_distance_options {
    size_t struct_size;
    bool paired;      /* draw i of a and draw i of b share their random numbers: say so,
                         or energy and kl are biased low */
    bool standardise; /* energy, wasserstein and mean in units of each point's pooled
                         standard deviation (own units where that is 0) */
    double exponent;  /* 1: of the energy distance, in (0, 2); other than 1 costs
                         (draws_a + draws_b)^2 and allows 65536 draws a sample */
    int neighbours;   /* 0: square root of the smaller number of draws; -1: no kl */
    int permutations; /* 199; 0: no p-values and floors */
    double tolerance; /* 0.01: of the verdicts */
    uint64_t seed;    /* of the permutations */
    double memory;    /* 0: draws are independent of each other. Else their integrated
                         autocorrelation time in draws, as of reads of devices that
                         remember: only pairs of draws of different groups of the
                         jackknife count (C14), and a verdict needs groups of five
                         times as many draws. For paired draws and exponent 1 */
} xb_distance_options;

XB_OPTIONS(distance);

/* a: [draws_a][n], b: [draws_b][n]; n = 1 for two plain samples. Draws in the order
 * they were made: neighbours that depend on each other (antithetic pairs) stay
 * together in the groups of the jackknife. opt NULL: the defaults. */
XB_API xb_status xb_distance_samples(xb_ctx *ctx, xb_distances *out, const double *a,
                                     int64_t draws_a, const double *b, int64_t draws_b,
                                     int64_t n, const xb_distance_options *opt);

/* A lower bound of KL(a || b), nats, the mean over n points: it holds with 95 % (C22). 0
 * where nothing is resolved, NAN for fewer than 200 draws. There is no upper one: where b
 * never goes KL is infinite, and no sample tells how rarely a does. a, b: [draws][n],
 * with shared random numbers or without. */
XB_API xb_status xb_kl_at_least(xb_ctx *ctx, double *nats, const double *a,
                                const double *b, int64_t draws, int64_t n);

/* "same", "different", "cannot tell"; never NULL. */
XB_API const char *xb_verdict_text(xb_verdict verdict);

#ifdef __cplusplus
}
#endif
#endif
