/* comparetest.h: normal numbers, and distances between samples, for the tests of scores
 * and distances. Each has its own key, because the tolerances were set with these
 * numbers. */
#ifndef COMPARETEST_H
#define COMPARETEST_H

#include "xbtest.h"

static inline xb_sampler *normal_sampler(void)
{
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    xb_sampler *sampler = NULL;
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, NULL));
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
    return sampler;
}

static inline double mean_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

/* n standard normal numbers, stream `sample` of the tests of scores. */
static inline void fill_normals(double *z, int64_t n, uint32_t sample)
{
    xb_sampler *sampler = normal_sampler();
    const xb_stream where = {xb_key_make(20, XB_PURPOSE_TEST), 0, sample, 0};
    xb_sampler_fill_double(sampler, z, n, &where, 0);
    xb_sampler_destroy(sampler);
}

static inline double *new_normals(int64_t n, uint32_t sample)
{
    double *z = malloc((size_t)n * sizeof *z);
    assert_non_null(z);
    fill_normals(z, n, sample);
    return z;
}

/* n numbers N(mean, sd^2), stream `sample` of the tests of distances. */
static inline double *normals(const xb_sampler *sampler, int64_t n, uint32_t sample,
                              double mean, double sd)
{
    double *z = malloc((size_t)n * sizeof *z);
    assert_non_null(z);
    xb_stream where = {xb_key_make(30, XB_PURPOSE_TEST), 0, sample, 0};
    xb_sampler_fill_double(sampler, z, n, &where, 0);
    for (int64_t i = 0; i < n; i++) z[i] = mean + sd * z[i];
    return z;
}

/* Scores and distances as values, every one read by its name. */
typedef struct number_scores {
    int64_t n, draws;
    xb_score rmse, mae, nll, crps, coverage, width, pinball, miscalibration_area;
    double miscalibration_floor;
    xb_score sharpness, epistemic, aleatoric;
    double level[XB_CALIBRATION_LEVELS], share[XB_CALIBRATION_LEVELS],
        share_error[XB_CALIBRATION_LEVELS];
} number_scores;

enum { BINS_READ = 100 }; /* at most, by class_scores */

typedef struct class_scores {
    int64_t n, draws, classes, bins;
    xb_score accuracy, nll, brier, ece;
    double ece_floor;
    xb_score entropy, information;
    double bin_share[BINS_READ], bin_confidence[BINS_READ], bin_accuracy[BINS_READ];
} class_scores;

/* Each NULL, or [n] for the score of each point. */
typedef struct point_scores {
    double *square_error, *absolute_error, *nll, *crps, *pit;
} point_scores;

typedef struct measured {
    int64_t n, draws_a, draws_b, neighbours, kl_points;
    xb_distance kl, energy, wasserstein, ks;
    xb_gap mean, sd, whole;
    xb_verdict verdict;
} measured;

static inline void copy_array(double *out, const xb_scores *s, const char *name)
{
    int64_t size = -1;
    const double *x = xb_scores_array_get(s, name, &size);
    if (!out) return;
    assert_non_null(x);
    for (int64_t i = 0; i < size; i++) out[i] = x[i];
}

static inline void read_numbers(number_scores *out, const xb_scores *s)
{
    *out = (number_scores){.n = xb_scores_points(s),
                           .draws = xb_scores_draws(s),
                           .rmse = xb_scores_get(s, "rmse"),
                           .mae = xb_scores_get(s, "mae"),
                           .nll = xb_scores_get(s, "nll"),
                           .crps = xb_scores_get(s, "crps"),
                           .coverage = xb_scores_get(s, "coverage"),
                           .width = xb_scores_get(s, "width"),
                           .pinball = xb_scores_get(s, "pinball"),
                           .miscalibration_area = xb_scores_get(s, "miscalibration_area"),
                           .miscalibration_floor =
                               xb_scores_get(s, "miscalibration_floor").value,
                           .sharpness = xb_scores_get(s, "sharpness"),
                           .epistemic = xb_scores_get(s, "epistemic"),
                           .aleatoric = xb_scores_get(s, "aleatoric")};
    copy_array(out->level, s, "level");
    copy_array(out->share, s, "share");
    copy_array(out->share_error, s, "share_error");
}

static inline void read_classes(class_scores *out, const xb_scores *s)
{
    *out = (class_scores){.n = xb_scores_points(s),
                          .draws = xb_scores_draws(s),
                          .classes = xb_scores_classes(s),
                          .accuracy = xb_scores_get(s, "accuracy"),
                          .nll = xb_scores_get(s, "nll"),
                          .brier = xb_scores_get(s, "brier"),
                          .ece = xb_scores_get(s, "ece"),
                          .ece_floor = xb_scores_get(s, "ece_floor").value,
                          .entropy = xb_scores_get(s, "entropy"),
                          .information = xb_scores_get(s, "information")};
    xb_scores_array_get(s, "bin_share", &out->bins);
    assert_true(out->bins <= BINS_READ);
    copy_array(out->bin_share, s, "bin_share");
    copy_array(out->bin_confidence, s, "bin_confidence");
    copy_array(out->bin_accuracy, s, "bin_accuracy");
}

static inline xb_status score_numbers(xb_ctx *ctx, number_scores *out,
                                      const point_scores *points, const xb_mixture *p,
                                      const double *y, const xb_score_options *opt)
{
    xb_scores *s = NULL;
    *out = (number_scores){.n = 0};
    xb_status status = xb_score_regression(ctx, &s, p, y, opt);
    if (status != XB_OK) return status;
    read_numbers(out, s);
    if (points) {
        copy_array(points->square_error, s, "square_error");
        copy_array(points->absolute_error, s, "absolute_error");
        copy_array(points->nll, s, "nll");
        copy_array(points->crps, s, "crps");
        copy_array(points->pit, s, "pit");
    }
    xb_scores_destroy(s);
    return XB_OK;
}

static inline xb_status score_classes(xb_ctx *ctx, class_scores *out,
                                      const xb_class_draws *p, const int64_t *label,
                                      const xb_score_options *opt)
{
    xb_scores *s = NULL;
    *out = (class_scores){.n = 0};
    xb_status status = xb_score_classes(ctx, &s, p, label, opt);
    if (status != XB_OK) return status;
    read_classes(out, s);
    xb_scores_destroy(s);
    return XB_OK;
}

static inline xb_status measure(xb_ctx *ctx, measured *out, const double *a,
                                int64_t draws_a, const double *b, int64_t draws_b,
                                int64_t n, const xb_distance_options *opt)
{
    xb_distances *d = NULL;
    xb_status status = xb_distance_samples(ctx, &d, a, draws_a, b, draws_b, n, opt);
    if (status != XB_OK) return status;
    *out = (measured){.n = xb_distances_points(d),
                      .draws_a = xb_distances_draws_a(d),
                      .draws_b = xb_distances_draws_b(d),
                      .neighbours = xb_distances_neighbours(d),
                      .kl_points = xb_distances_kl_points(d),
                      .kl = xb_distances_get(d, "kl"),
                      .energy = xb_distances_get(d, "energy"),
                      .wasserstein = xb_distances_get(d, "wasserstein"),
                      .ks = xb_distances_get(d, "ks"),
                      .mean = xb_distances_gap_get(d, "mean"),
                      .sd = xb_distances_gap_get(d, "sd"),
                      .whole = xb_distances_gap_get(d, "whole"),
                      .verdict = xb_distances_verdict(d)};
    xb_distances_destroy(d);
    return XB_OK;
}

static inline measured distances(const double *a, int64_t n, const double *b, int64_t m,
                                 const xb_distance_options *opt)
{
    xb_ctx *ctx = test_ctx();
    measured d;
    assert_ok(ctx, measure(ctx, &d, a, n, b, m, 1, opt));
    xb_ctx_destroy(ctx);
    return d;
}

#endif
