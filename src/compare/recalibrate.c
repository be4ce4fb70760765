/* recalibrate.c: quantiles that have the right share of held-out targets below them
 * (maths C27), after Kuleshov, Fenner & Ermon (2018): the cdf values at the targets,
 * which are uniform if the predictive is calibrated, are ranked, and level p is replaced
 * by the value that a share p of them is below. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/calibration.h"
#include "crossbayes/score.h"
#include "vi/model.h"

enum { LEVELS = XB_CALIBRATION_LEVELS, LEAST = 50 };

/* (C27) Levels [LEVELS] from n ascending cdf values. */
static void find_levels(double *level, const double *pit, int64_t n)
{
    for (int i = 0; i < LEVELS; i++) {
        const double place = (double)(i + 1) / (LEVELS + 1) * (double)(n + 1);
        const int64_t k = (int64_t)floor(place);
        const double low = k < 1 ? 0 : pit[k - 1], high = k < n ? pit[k] : 1;
        level[i] = low + (place - (double)k) * (high - low);
    }
}

/* The recalibrated share of mass below: the inverse of the levels, linear between knots,
 * and in the middle if several knots have the same value. */
static double share_below(const double *level, double pit)
{
    int below = 0, reached = 0;
    while (below < LEVELS && level[below] < pit) below++;
    reached = below;
    while (reached < LEVELS && level[reached] <= pit) reached++;
    if (reached > below) return 0.5 * (below + 1 + reached) / (LEVELS + 1);
    const double low = below > 0 ? level[below - 1] : 0;
    const double high = below < LEVELS ? level[below] : 1;
    const double part = high > low ? (pit - low) / (high - low) : 0.5;
    return (below + part) / (LEVELS + 1);
}

static xb_status check(xb_ctx *ctx, const xb_scores *s)
{
    if (xb_scores_classes(s) > 0 || xb_scores_target_count(s) > 1)
        return xb_fail(ctx, XB_E_ARGUMENT,
                       "recalibration needs exactly one target, of numbers; this model "
                       "has %s",
                       xb_scores_classes(s) > 0 ? "classes" : "several targets");
    if (xb_scores_points(s) >= LEAST) return XB_OK;
    const int64_t rows = xb_scores_points(s);
    return xb_fail(ctx, XB_E_ARGUMENT, "%lld %s to recalibrate on: expected %d or more",
                   (long long)rows, xb_plural(rows, "row", "rows"), LEAST);
}

/* Uses every `stride`-th value from `first` on, in ascending order. */
static xb_status levels_of(xb_ctx *ctx, double *level, const double *pit, int64_t n,
                           int64_t first, int64_t stride)
{
    const int64_t count = (n - first + stride - 1) / stride;
    double *some = xb_new(ctx, count, sizeof *some);
    if (!some) return XB_E_MEMORY;
    for (int64_t i = 0; i < count; i++) some[i] = pit[first + i * stride];
    xb_status status = xb_sort_doubles(ctx, some, count);
    if (status == XB_OK) find_levels(level, some, count);
    free(some);
    return status;
}

xb_status xb_model_calibrate(xb_ctx *ctx, xb_model *model, const xb_scores *held)
{
    double level[LEVELS];
    XB_TRY(check(ctx, held));
    XB_TRY(levels_of(ctx, level, xb_scores_array_get(held, "pit", NULL),
                     xb_scores_points(held), 0, 1));
    return xb_model_set_calibration(ctx, model, level);
}

/* Recalibrates each half by the levels of the other half, or all by those of the
 * model. */
static xb_status recalibrate(xb_ctx *ctx, double *mass, const double *pit, int64_t n,
                             const xb_model *model)
{
    double level[2][LEVELS];
    for (int half = 0; half < 2; half++) {
        if (model)
            memcpy(level[half], xb_model_calibration(model), sizeof level[half]);
        else
            XB_TRY(levels_of(ctx, level[half], pit, n, 1 - half, 2));
    }
    for (int64_t i = 0; i < n; i++) mass[i] = share_below(level[i % 2], pit[i]);
    return xb_central_masses(ctx, mass, mass, n);
}

xb_status xb_score_calibrated(xb_ctx *ctx, xb_score *coverage, xb_score *area,
                              const xb_scores *s, const xb_model *model, double interval)
{
    const int64_t n = xb_scores_points(s);
    if (!model || xb_scores_classes(s) > 0) XB_TRY(check(ctx, s));
    if (model && !xb_model_calibration(model))
        return xb_fail(ctx, XB_E_ARGUMENT, "the model was not recalibrated");
    double *mass = xb_new(ctx, n, sizeof *mass);
    if (!mass) return XB_E_MEMORY;
    xb_status status =
        recalibrate(ctx, mass, xb_scores_array_get(s, "pit", NULL), n, model);
    if (status == XB_OK) {
        const double share = xb_calibration_share(mass, n, interval);
        *coverage = (xb_score){share, xb_share_error(share, n), NAN};
        area->value = xb_miscalibration_area(&area->std_error, mass, n);
        area->mc_error = NAN;
    }
    free(mass);
    return status;
}
