/* fittest.h: samples of laws, fits of them, and access to fitted parameters, for the
 * tests of fitting. */
#ifndef FITTEST_H
#define FITTEST_H

#include "xbtest.h"
#include "fit/fit_results.h"

/* n values of a law at `offset`, times `scale`. */
static inline double *draw(xb_ctx *ctx, const char *text, int64_t n, uint64_t seed,
                           double offset, double scale)
{
    xb_law *law = test_law(ctx, text);
    xb_stream s = {xb_key_make(seed, XB_PURPOSE_TEST), 0, 0, 0};
    double *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++)
        x[i] = offset + scale * xb_law_quantile(law, xb_stream_uniform(&s, i));
    xb_law_destroy(law);
    return x;
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline xb_fit *run(xb_ctx *ctx, const double *x, int64_t n, const char *family)
{
    xb_fit_options opt = xb_fit_options_default();
    opt.family = family;
    xb_fit *fit = NULL;
    assert_ok(ctx, xb_fit_run(ctx, &fit, x, n, &opt));
    return fit;
}

static inline int index_of(const xb_fit_family *f, const char *name)
{
    for (int i = 0; i < f->n_named; i++)
        if (strcmp(f->name[i], name) == 0) return i;
    fail_msg("%s has no %s", f->family, name);
    return -1;
}

static inline double value_of(const xb_fit_family *f, const char *name)
{
    return f->value[index_of(f, name)];
}

static inline double error_of(const xb_fit_family *f, const char *name)
{
    return f->std_error[index_of(f, name)];
}

#endif
