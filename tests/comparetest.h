/* comparetest.h: normal numbers, and distances between samples, for the tests of scores
 * and distances. Each has a key of its own: their bands were set with these numbers. */
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

static inline xb_distances distances(const double *a, int64_t n, const double *b,
                                     int64_t m, const xb_distance_options *opt)
{
    xb_ctx *ctx = test_ctx();
    xb_distances d;
    assert_ok(ctx, xb_distance_samples(ctx, &d, a, n, b, m, 1, opt));
    xb_ctx_destroy(ctx);
    return d;
}

#endif
