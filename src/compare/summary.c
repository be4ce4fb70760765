/* summary.c: means over test points and their errors; maths C2, C11. */
#include "compare/summary.h"

#include <math.h>

static const double deciles[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

void xb_score_options_init(xb_score_options *opt, size_t size)
{
    const xb_score_options standard = {
        .interval = 0.95,
        .quantile = deciles,
        .quantiles = XB_COUNT(deciles),
        .fair = true,
        .bins = 15,
    };
    xb_options_fill(opt, size, &standard, sizeof standard);
}

xb_status xb_score_options_check(xb_ctx *ctx, const xb_score_options *opt)
{
    if (!(opt->interval > 0 && opt->interval < 1))
        return xb_fail(ctx, XB_E_ARGUMENT, "interval %g: expected between 0 and 1",
                       opt->interval);
    if (opt->quantiles < 1)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld quantile levels: expected 1 or more",
                       (long long)opt->quantiles);
    for (int64_t i = 0; i < opt->quantiles; i++)
        if (!(opt->quantile[i] > 0 && opt->quantile[i] < 1))
            return xb_fail(ctx, XB_E_ARGUMENT, "quantile level %g: expected in (0, 1)",
                           opt->quantile[i]);
    return XB_OK;
}

xb_score xb_score_mean(const double *x, int64_t n)
{
    double sum = 0, square = 0, count = (double)n;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    double mean = sum / count;
    for (int64_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    double error = n > 1 ? sqrt(square / (count - 1) / count) : NAN; /* (C11) */
    return (xb_score){mean, error, NAN};
}

xb_score xb_score_root(xb_score mean)
{
    double root = sqrt(mean.value);
    double slope = root > 0 ? 0.5 / root : 0; /* an exact zero has no error either */
    return (xb_score){root, slope * mean.std_error, slope * mean.mc_error};
}

double xb_score_mc_error(const double *version, const xb_jackknife *g)
{
    return g->versions > 1 ? xb_jackknife_error(version + 1, g->count) : NAN;
}

xb_status xb_score_difference(xb_ctx *ctx, xb_score *out, const double *a,
                              const double *b, int64_t n)
{
    if (n < 1)
        return xb_fail(ctx, XB_E_ARGUMENT, "%lld points: expected 1 or more",
                       (long long)n);
    double sum = 0, square = 0, count = (double)n;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i]))
            return xb_fail(ctx, XB_E_INPUT,
                           "scores %g and %g of point %lld: expected finite numbers",
                           a[i], b[i], (long long)i + 1);
        sum += a[i] - b[i];
    }
    double mean = sum / count;
    for (int64_t i = 0; i < n; i++) {
        double d = a[i] - b[i] - mean;
        square += d * d;
    }
    *out = (xb_score){mean, n > 1 ? sqrt(square / (count - 1) / count) : NAN, NAN};
    return XB_OK;
}
