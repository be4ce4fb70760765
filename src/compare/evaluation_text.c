/* evaluation_text.c: sentences on how a law compares with the first one. Each is made
 * from the numbers and the verdict that it states. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "compare/evaluation.h"
#include "crossbayes/data.h"

enum { DRAWS_FEW = 20 }; /* (C17) */

XB_PRINTF(3, 4) static xb_status say(xb_ctx *ctx, char **out, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int size = vsnprintf(NULL, 0, format, args);
    *out = xb_new(ctx, size + 1, 1);
    if (*out) vsnprintf(*out, (size_t)size + 1, format, again);
    va_end(again);
    va_end(args);
    return *out ? XB_OK : XB_E_MEMORY;
}

/* "at most 0.014", the bounds of a gap without its noise, which decide the verdict. */
static const char *bounds_text(char *out, size_t size, const xb_gap *gap)
{
    if (gap->verdict == XB_VERDICT_DIFFERENT)
        snprintf(out, size, "at least %.2g", gap->lower);
    else if (gap->verdict == XB_VERDICT_SAME || !(gap->lower > 0))
        snprintf(out, size, "at most %.2g", gap->upper);
    else
        snprintf(out, size, "%.2g to %.2g", gap->lower, gap->upper);
    return out;
}

/* "0.012 of the epistemic sd (noise alone 0.003; without it 0.0041 to 0.02)". What is
 * measured includes the noise. The bounds are left out where they did not decide the
 * verdict beside them: with few draws, or if another gap decided it. */
static const char *gap_text(char *out, size_t size, const xb_gap *gap, const char *of,
                            xb_verdict verdict, int64_t draws)
{
    char bounds[48];
    if (isnan(gap->noise))
        snprintf(out, size, "%.2g of %s (noise unknown)", gap->rms, of);
    else if (draws < DRAWS_FEW || gap->verdict != verdict)
        snprintf(out, size, "%.2g of %s (noise alone %.2g)", gap->rms, of, gap->noise);
    else
        snprintf(out, size, "%.2g of %s (noise alone %.2g; without it %s)", gap->rms, of,
                 gap->noise, bounds_text(bounds, sizeof bounds, gap));
    return out;
}

static char **next(xb_evaluated_law *law) { return &law->finding[law->findings++]; }

static xb_status describe_gaps(xb_ctx *ctx, xb_evaluated_law *law)
{
    static const char *const what[][3] = {
        {"mean", "means differ by", "the epistemic sd"},
        {"sd", "epistemic sds differ by", "the epistemic sd"},
        {"whole",
         "distributions, including their shape, differ as much as a mean shift of",
         "the epistemic sd"}};
    const int64_t draws = xb_distances_draws_a(law->outputs);
    char text[160];
    for (int i = 0; i < XB_COUNT(what); i++) {
        const xb_gap gap = xb_distances_gap_get(law->outputs, what[i][0]);
        XB_TRY(say(ctx, next(law), "%s %s: %s", what[i][1],
                   gap_text(text, sizeof text, &gap, what[i][2], gap.verdict, draws),
                   xb_verdict_name(gap.verdict)));
    }
    return XB_OK;
}

/* A bound, not an estimate: samples cannot say how large KL is at most (maths C22). */
static xb_status describe_kl(xb_ctx *ctx, xb_evaluated_law *law, const char *first)
{
    const double nats = law->kl_at_least;
    char text[96] = "indistinguishable from 0 with this many draws";
    if (isnan(nats))
        snprintf(text, sizeof text, "unknown: fewer than 200 draws");
    else if (nats > 0)
        snprintf(text, sizeof text, "at least %.2g nats (95 %% confidence)", nats);
    return say(ctx, next(law), "KL(%s‖%s), mean over rows, is %s", law->name, first,
               text);
}

/* ", because of their means and sds": which gaps decided the verdict on the predictives,
 * where the gap of the whole distributions alone would have another one. */
static const char *deciders_text(char *out, size_t size, const xb_distances *d)
{
    const xb_verdict verdict = xb_distances_verdict(d);
    const bool mean = xb_distances_gap_get(d, "mean").verdict == verdict;
    const bool sd = xb_distances_gap_get(d, "sd").verdict == verdict;
    const bool whole = xb_distances_gap_get(d, "whole").verdict == verdict;
    if (whole || !(mean || sd) || xb_distances_draws_a(d) < DRAWS_FEW) return "";
    snprintf(out, size, ", because of their %s%s%s", mean ? "means" : "",
             mean && sd ? " and " : "", sd ? "sds" : "");
    return out;
}

static xb_status describe_predictive(xb_ctx *ctx, xb_evaluated_law *law)
{
    char text[160], deciders[48];
    if (!law->predictive)
        return say(ctx, next(law), "predicted probabilities (the means) differ by %.2g",
                   law->probability_gap);
    const xb_gap whole = xb_distances_gap_get(law->predictive, "whole");
    const xb_verdict verdict = xb_distances_verdict(law->predictive);
    XB_TRY(say(ctx, next(law),
               "predictives, with the data's noise, differ as much as a mean shift of"
               " %s: %s%s",
               gap_text(text, sizeof text, &whole, "their sd", verdict,
                        xb_distances_draws_a(law->predictive)),
               xb_verdict_name(verdict),
               deciders_text(deciders, sizeof deciders, law->predictive)));
    xb_number_with_error(text, sizeof text, law->nll_difference.value,
                         law->nll_difference.std_error);
    return say(ctx, next(law), "NLL differs by %s (error over rows)", text);
}

/* The number of draws for which C17 expects a verdict, if that number is feasible. */
static xb_status describe_needed(xb_ctx *ctx, xb_evaluated_law *law)
{
    const xb_distances *d = law->outputs;
    const double needed = xb_distances_draws_needed(d);
    const int64_t draws = xb_distances_draws_a(d);
    if (xb_distances_verdict(d) != XB_VERDICT_UNRESOLVED) return XB_OK;
    if (draws < DRAWS_FEW)
        return say(ctx, &law->needed, "fewer than %d draws cannot decide", DRAWS_FEW);
    if (!(needed <= XB_DRAWS_MAX))
        return say(ctx, &law->needed,
                   "the gap is so close to the tolerance that more than %.0f million "
                   "draws, the largest number possible, would be needed",
                   XB_DRAWS_MAX / 1e6);
    if (needed <= (double)draws)
        return say(ctx, &law->needed, "a few more draws would decide");
    const double unit = pow(10, floor(log10(needed)) - 1); /* two digits are shown */
    return say(ctx, &law->needed, "about %.0f draws would decide",
               unit * round(needed / unit));
}

xb_status xb_evaluation_describe(xb_ctx *ctx, xb_evaluation *e)
{
    for (int64_t i = 1; i < e->laws; i++) {
        xb_evaluated_law *law = &e->law[i];
        XB_TRY(describe_needed(ctx, law));
        /* With one draw there is no spread and no noise, so gaps would be 0 or NaN. */
        if (e->draws < 2) continue;
        XB_TRY(describe_gaps(ctx, law));
        XB_TRY(describe_kl(ctx, law, e->law[0].name));
        XB_TRY(describe_predictive(ctx, law));
    }
    return XB_OK;
}
